#!/usr/bin/env python3
"""False alarms of `compare` where nothing differs: one captured launch replayed again and again, each time by a process of its own, and compared with itself.

    bench/aa_compare.py --program build/release/src/cli/rocm-perf [--comparisons 200] [--seconds 230] [--runs 7] [--out aa.json] CAPTURE...

Pairs: two processes of ITERATIONS dispatches each, compared dispatch by dispatch (--samples single); no process is in two comparisons.
Runs: the medians of RUNS processes against those of RUNS others, drawn anew from all processes of a capture; the draws share processes, so that
their number of alarms has no simple error. Processes of the captures take turns, so that what drifts falls on all. An alarm is FASTER or SLOWER;
"covers" says how often the interval has the ratio 1. Dispatches of one process vary less than processes do
(docs/COMPARE.md), so that pairs may be too sure; what a gate should compare are runs. Exit code 1: their alarms are more than nominal."""
import argparse
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time


def call(words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def replay(options, capture, file):
    document = call([options.program, "replay", "full-vm", "--capture-dir", capture, "--iterations", options.iterations, "--warmup", 3, "--json"])
    file.write_text(json.dumps(document))
    return {"file": file, "median": document["timing"]["median"], "conditions": document["timing"]["conditions"]}


def compare(options, a, b, *words):
    document = call([options.program, "compare", a, b, "--json", "--threads", 1, *words])
    kernel = document["kernels"][0]
    interval = kernel["interval"]
    return {"verdict": kernel["verdict"], "nominal": 1 - document["confidence_each"],
            "covers": interval is not None and interval["low"] <= 1 <= interval["high"],
            "width": None if interval is None else interval["high"] - interval["low"]}


def tail(alarms, number, rate):
    """Probability of so many alarms or more."""
    return sum(math.comb(number, k) * rate**k * (1 - rate)**(number - k) for k in range(alarms, number + 1))


def summary(results):
    verdicts = {verdict: sum(one["verdict"] == verdict for one in results) for verdict in ("SAME", "FASTER", "SLOWER", "UNDECIDED")}
    alarms = verdicts["FASTER"] + verdicts["SLOWER"]
    widths = [one["width"] for one in results if one["width"] is not None]
    return {"comparisons": len(results), "alarms": alarms, "rate": alarms / max(len(results), 1),
            "nominal": results[0]["nominal"] if results else None, "covers": sum(one["covers"] for one in results), "verdicts": verdicts,
            "median_width": statistics.median(widths) if widths else None}


def take_runs(options, folder):
    """As many processes of each capture as there is time for, two for each pair."""
    wanted = 2 * math.ceil(options.comparisons / len(options.captures))
    runs = {capture: [] for capture in options.captures}
    begin = time.monotonic()
    for number in range(wanted):
        for capture in options.captures:
            if time.monotonic() - begin > options.seconds * 0.85:
                return runs
            runs[capture].append(replay(options, capture, folder / f"{options.captures.index(capture)}_{number}.json"))
    return runs


def judge(options, runs, folder):
    """Comparisons of one capture's processes."""
    dice = random.Random(1)
    pairs = []
    for i in range(0, len(runs) - 1, 2):  # which of two neighbours is A takes turns
        sides = [runs[i]["file"], runs[i + 1]["file"]]
        pairs.append(compare(options, *(sides if i % 4 == 0 else sides[::-1]), "--samples", "single"))
    drawn = []
    if len(runs) >= 2 * options.runs:
        for _ in range(math.ceil(options.comparisons / len(options.captures))):
            chosen = [str(run["median"]) + "\n" for run in dice.sample(runs, 2 * options.runs)]
            (folder / "a.txt").write_text("".join(chosen[:options.runs]))
            (folder / "b.txt").write_text("".join(chosen[options.runs:]))
            drawn.append(compare(options, folder / "a.txt", folder / "b.txt", "--unit", "ns"))
    medians = [run["median"] for run in runs]
    return pairs, drawn, {"processes": len(runs), "median_ns": statistics.median(medians),
                          "spread_of_medians": (max(medians) - min(medians)) / statistics.median(medians),
                          "sensors": runs[0]["conditions"]["source"], "no_sensors_because": runs[0]["conditions"]["no_source_because"],
                          "repeated_turns": sum(run["conditions"]["repeated"] for run in runs),
                          "disturbed_turns": sum(run["conditions"]["disturbed"] for run in runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("captures", nargs="+")
    parser.add_argument("--program", required=True)
    parser.add_argument("--comparisons", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=230)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--out")
    options = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        runs = take_runs(options, pathlib.Path(folder))
        taken = time.monotonic() - begin
        all_pairs, all_drawn, captures = [], [], {}
        for capture, of_capture in runs.items():
            if len(of_capture) < 2:
                sys.exit(f"{capture}: there was no time for two processes in {options.seconds} s")
            pairs, drawn, figures = judge(options, of_capture, pathlib.Path(folder))
            all_pairs += pairs
            all_drawn += drawn
            captures[capture] = figures | {"pairs": summary(pairs), "runs": summary(drawn)}
    pairs, drawn = summary(all_pairs), summary(all_drawn)
    chance = tail(pairs["alarms"], pairs["comparisons"], pairs["nominal"])
    result = {"iterations": options.iterations, "runs_of_a_side": options.runs, "pairs": pairs | {"chance_of_so_many": chance}, "runs": drawn,
              "captures": captures, "seconds": {"replays": taken, "all": time.monotonic() - begin}}
    text = json.dumps(result, indent=2)
    if options.out:
        pathlib.Path(options.out).write_text(text + "\n")
    print(text)
    for name, figures in (("pairs of processes", pairs), (f"{options.runs} processes against {options.runs}", drawn)):
        print(f"{name}: {figures['alarms']} alarms in {figures['comparisons']} ({figures['rate']:.1%}; nominal {figures['nominal'] or 0:.1%}), "
              f"the interval has 1 in {figures['covers']}", file=sys.stderr)
    return 1 if drawn["nominal"] is not None and drawn["rate"] > drawn["nominal"] else 0


if __name__ == "__main__":
    sys.exit(main())
