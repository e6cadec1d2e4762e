"""What many ranks cost, from outside: recordings to summaries (`rank-summary`), and their merge (`ranks`).

    python3 bench/ranks_scale.py ranks [--ranks 64] [--dispatches 1000000] [--every 332] [--jobs 1] [--compare 3]
    python3 bench/ranks_scale.py merge [--ranks 1024] [--dispatches 1000000] [--every 332]

Needs `make release` and the targets bench_rank_recordings and bench_ranks_align of that build. `ranks` writes one database after another,
summarises it twice (the second time nothing is to be done; the first --compare of them beside plain `analyze --json`, in turns) and removes it; then it merges the summaries. `merge` writes the
summaries of such recordings directly. Both merges stand beside a program that reads the same summaries and does nothing with them.
A collective stands behind --every kernels: 1 million dispatches with 332 have 3,003 collectives. JSON lines: seconds of processor and clock, MB.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
PROGRAM = BUILD / "src/cli/rocm-perf"


def measured(command, output=os.devnull):
    """Runs a command; what it took: processor seconds, seconds, peak resident MB."""
    with open(output, "wb") as out:
        begin = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {process.returncode}")
    return {"processor_s": round(usage.ru_utime + usage.ru_stime, 2), "s": round(seconds, 2), "peak_mb": round(usage.ru_maxrss / 1024)}


def made_up(what, folder, options, first, count):
    subprocess.run([BUILD / "bench/bench_rank_recordings", what, folder, str(options.ranks), str(options.dispatches), str(options.every),
                    str(first), str(count)], check=True)


def say(what, **figures):
    print(json.dumps({"what": what, **figures}), flush=True)


def best(runs):
    return min(runs, key=lambda run: run["processor_s"])


def summarise(options, folder, summaries):
    """All recordings to summaries, one file at a time."""
    whole, beside, again = [], [], []
    for rank in range(options.ranks):
        made_up("databases", folder, options, rank, 1)
        (database,) = folder.glob("*.db")
        size = database.stat().st_size
        subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)  # into the page cache
        whole.append(measured([PROGRAM, "rank-summary", database, "-o", summaries]))
        again.append(measured([PROGRAM, "rank-summary", database, "-o", summaries]))
        if rank < options.compare:
            beside.append(measured([PROGRAM, "analyze", database, "--json"]))
            say("rank", rank=rank, database_mb=round(size / 1e6), summary=whole[-1], analyze=beside[-1])
        database.unlink()
    files = [file.stat().st_size for file in summaries.iterdir()]
    say("rank-summary", ranks=options.ranks, best=best(whole), again=best(again), processor_s=round(sum(run["processor_s"] for run in whole), 1),
        peak_mb=max(run["peak_mb"] for run in whole), largest_mb=round(max(files) / 1e6, 2), all_mb=round(sum(files) / 1e6, 1),
        to_analyze=round(best(whole)["processor_s"] / best(beside)["processor_s"], 2) if beside else None)


def merge(options, summaries):
    files = [file.stat().st_size for file in summaries.iterdir()]
    for _ in range(options.runs):
        reading = measured([BUILD / "bench/bench_ranks_align", "read", summaries])
        merging = measured([PROGRAM, "ranks", summaries, "--json"], options.folder / "ranks.json")
        say("merge", ranks=len(files), all_mb=round(sum(files) / 1e6, 1), largest_mb=round(max(files) / 1e6, 2), ranks_json_mb=round((options.folder / "ranks.json").stat().st_size / 1e6, 1),
            merge=merging, reading=reading, to_reading=round(merging["processor_s"] / reading["processor_s"], 1))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("what", choices=["ranks", "merge"])
    arguments.add_argument("--ranks", type=int)
    arguments.add_argument("--dispatches", type=int, default=1_000_000)
    arguments.add_argument("--every", type=int, default=332)
    arguments.add_argument("--compare", type=int, default=3)
    arguments.add_argument("--runs", type=int, default=1)
    arguments.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench/ranks"))
    options = arguments.parse_args()
    options.ranks = options.ranks or (64 if options.what == "ranks" else 1024)
    shutil.rmtree(options.folder, ignore_errors=True)
    summaries = options.folder / "summaries"
    summaries.mkdir(parents=True)
    if options.what == "ranks":
        summarise(options, options.folder, summaries)
    else:
        made_up("summaries", summaries, options, 0, options.ranks)
    merge(options, summaries)


if __name__ == "__main__":
    main()
