"""How fast thread traces are read, next to simdjson's DOM parsing the same bytes and doing nothing with them.

    python3 bench/att_read.py [--megabytes 520] [--runs 5] [--folder /tmp/rocm-perf-bench]

Needs `make release` and the bench_att_read target of that build. The folder is written once. Both run alternately, the best of --runs counts
(the machine is shared). Targets: 500 MB in a few seconds; on one thread at least 0.7 of the speed of simdjson on one thread.
"""
import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build/release/bench/bench_att_read"


def run(*arguments):
    return json.loads(subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--megabytes", type=int, default=520)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench"))
    options = parser.parse_args()
    if not PROGRAM.exists():
        sys.exit(f"{PROGRAM} is missing: cmake --build build/release --target bench_att_read")
    trace = options.folder / f"ui_output_agent_1_dispatch_{options.megabytes}"
    if not trace.exists():
        subprocess.run([PROGRAM, "generate", trace, str(options.megabytes * 1_000_000)], check=True)
    modes = {"one": ("ours", trace, 1), "all": ("ours", trace, 0), "dom": ("dom", trace)}
    results = {name: [] for name in modes}
    for _ in range(options.runs):
        for name, arguments in modes.items():
            results[name].append(run(*arguments))
    best = {name: {key: min(result[key] for result in runs) for key in runs[0]} for name, runs in results.items()}
    one, every, dom = best["one"], best["all"], best["dom"]
    if one["bytes"] != dom["bytes"]:
        sys.exit(f"not the same bytes: {one['bytes']} and {dom['bytes']}")
    print(f"{one['bytes'] / 1e6:.0f} MB, {one['instructions']} instructions; load average "
          f"{pathlib.Path('/proc/loadavg').read_text().split()[0]}")
    for label, result in [("read + read_waves, 1 thread", one), ("read + read_waves, all cores", every), ("simdjson DOM, 1 thread", dom)]:
        print(f"{label:<30}{result['s']:7.3f} s, CPU {result['cpu_s']:6.3f} s, {one['bytes'] / result['cpu_s'] / 1e6:5.0f} MB per CPU second, "
              f"{result['peak'] / 1e6:4.0f} MB peak")
    print(f"simdjson DOM without reading the files: CPU {dom['parse_cpu_s']:.3f} s")
    without = dom["parse_cpu_s"] / one["cpu_s"]
    print(f"speed of ours next to simdjson, by CPU time: {dom['cpu_s'] / one['cpu_s']:.2f}; next to its parsing alone: {without:.2f}")
    if dom["cpu_s"] / one["cpu_s"] < 0.7:
        sys.exit("below 0.7 of the speed of simdjson")


if __name__ == "__main__":
    main()
