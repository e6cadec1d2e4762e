"""How `rocm-perf analyze` scales, next to one sqlite3 shell query that sums the columns it reads of the same file.

    python3 bench/analyze_scale.py [--sizes 1000000,10000000] [--runs 3] [--folder /tmp/rocm-perf-bench] [--load | --packed | --part | --everything]

Needs `make release` and the sqlite3 shell. Both are run alternately, the best of --runs counts (the machine is shared), and the
targets of the project are checked: time ratio <= 1.5, memory <= 120 bytes per dispatch + 100 MB, 10x the rows <= 11x the time.
With --packed `analyze` of a packed database is measured beside unpacking it to a file and then `analyze` of that (zstd -3, gzip -6); with
--part `analyze --from --to` of the middle hundredth of a run beside `analyze` of all of it, both without the critical path.
With --everything `analyze --out` (critical path, all documents) is measured beside the query; the targets are 0.6 of its time and 100 bytes per
dispatch in all.
With --load reading alone is measured (target bench_rocpd_read): from pages, and through SQLite alone, beside the same query.
"""
import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "release"
# The columns that the reader reads (src/trace/rocpd), by table.
COLUMNS = {
    "kernel_dispatch": "start end event_id dispatch_id kernel_id agent_id queue_id stream_id tid private_segment_size "
                       "group_segment_size workgroup_size_x workgroup_size_y workgroup_size_z grid_size_x grid_size_y grid_size_z",
    "event": "id category_id stack_id parent_stack_id",
    "region": "start end event_id name_id tid",
    "memory_copy": "start end event_id name_id tid size dst_agent_id src_agent_id queue_id stream_id",
}


def measured(command, output=None, environment=None):
    """Runs a command; returns (seconds, peak resident bytes of it)."""
    with open(output or os.devnull, "wb") as out:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {process.returncode}")
    return seconds, usage.ru_maxrss * 1024


def sum_query(database):
    """One SELECT that sums the columns of every physical table."""
    names = subprocess.run(["sqlite3", database, "SELECT name FROM sqlite_master WHERE type='table'"],
                           capture_output=True, text=True, check=True).stdout.split()
    parts = []
    for base, columns in COLUMNS.items():
        sums = " + ".join(f'total("{column}")' for column in columns.split())
        parts += [f'(SELECT {sums} FROM "{name}")' for name in names if name.startswith(f"rocpd_{base}_")]
    return "SELECT " + ", ".join(parts)


def database_of(size, folder):
    """A database of so many dispatches, written when it is not there yet."""
    database = folder / f"{size}.db"
    if not database.exists():
        subprocess.run([BUILD / "tests/support/make-rocpd", "--dispatches", str(size), "--queues", "4", "--processes", "2",
                        "--out", database], check=True, stdout=subprocess.DEVNULL)
    return database


def bench(size, runs, folder):
    database = database_of(size, folder)
    query = sum_query(str(database))
    ours, theirs, memory = [], [], 0
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)  # into the page cache, for both
    for _ in range(runs):
        theirs.append(measured(["sqlite3", "-readonly", str(database), query])[0])
        seconds, peak = measured([str(BUILD / "src/cli/rocm-perf"), "analyze", str(database), "--no-critical-path", "--json"], folder / "out.json")
        ours.append(seconds)
        memory = max(memory, peak)
    return {"size": size, "mb": database.stat().st_size / 1e6, "ours": min(ours), "sqlite3": min(theirs), "memory": memory}


def bench_load(size, runs, folder):
    """Best seconds of reading alone and of the query, and processor seconds of the same runs."""
    database = database_of(size, folder)
    query = sum_query(str(database))
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)
    best = {}
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = measured(["sqlite3", "-readonly", str(database), query])[0]
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = {"sqlite3": {"seconds": seconds, "processor_seconds": used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime}}
        for how in ("pages", "sqlite"):
            found[how] = json.loads(subprocess.run([BUILD / "bench/bench_rocpd_read", how, "0", database], capture_output=True, check=True).stdout)
        for how, figures in found.items():
            for key in ("seconds", "processor_seconds"):
                best.setdefault(how, {})[key] = min(figures[key], best.get(how, {}).get(key, figures[key]))
    return best


def bench_packed(size, runs, folder):
    """Best seconds by packing: as it is, and unpacked before."""
    database = database_of(size, folder)
    analyze = [str(BUILD / "src/cli/rocm-perf"), "analyze", "--no-critical-path", "--json"]
    environment = {**os.environ, "TMPDIR": str(folder)}  # on the same disk
    for tool, ending in (("zstd", "zst"), ("gzip", "gz")):
        packed, unpacked = folder / f"{size}.db.{ending}", folder / "unpacked.db"
        if not packed.exists():
            subprocess.run([tool, "-q", "-k", database] if tool == "zstd" else [tool, "-k", database], check=True)
        ours, theirs = [], []
        for _ in range(runs):
            theirs.append(measured([tool, "-dc", str(packed)], unpacked)[0] + measured([*analyze, str(unpacked)])[0])
            unpacked.unlink()
            ours.append(measured([*analyze, str(packed)], environment=environment)[0])
        print(f"{size:12d} {tool} {packed.stat().st_size / 1e6:9.0f} MB: as it is {min(ours):7.2f} s, unpacked before {min(theirs):7.2f} s, "
              f"ratio {min(ours) / min(theirs):.2f}")


def bench_part(size, runs, folder):
    """Best seconds and most memory of the middle hundredth of a run, and of all of it."""
    database = database_of(size, folder)
    analyze = [str(BUILD / "src/cli/rocm-perf"), "analyze", str(database), "--no-critical-path", "--json"]
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)
    document = json.loads(subprocess.run(analyze, capture_output=True, check=True).stdout)
    span = document["totals"]["span_ns"]
    part = ["--from", f"{span // 2000000}ms", "--to", f"{span // 2000000 + max(1, span // 100000000)}ms"]
    kept = json.loads(subprocess.run([*analyze, *part], capture_output=True, check=True).stdout)["totals"]["dispatches"]
    found = {"all": [], "part": []}
    for _ in range(runs):
        found["all"].append(measured(analyze))
        found["part"].append(measured([*analyze, *part]))
    for name, dispatches in (("all", size), ("part", kept)):
        seconds, memory = min(run[0] for run in found[name]), max(run[1] for run in found[name])
        print(f"{size:12d} {name:5s} {dispatches:12d} dispatches {seconds:7.2f} s {memory / 1e6:9.0f} MB")


def bench_everything(size, runs, folder):
    """Best seconds, processor seconds of the same runs and most memory of everything, and of the query."""
    database = database_of(size, folder)
    commands = {"sqlite3": ["sqlite3", "-readonly", str(database), sum_query(str(database))],
                "everything": [str(BUILD / "src/cli/rocm-perf"), "analyze", str(database), "--out", str(folder / "documents")]}
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)
    best = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds, peak = measured(command)
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            best[name].append((seconds, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime, peak))
    base = [min(run[i] for run in best["sqlite3"]) for i in range(2)]
    for name, found in best.items():
        seconds, processor = (min(run[i] for run in found) for i in range(2))
        peak = max(run[2] for run in found)
        print(f"{size:10d} {name:12s} {seconds:7.2f} s ({seconds / base[0]:.2f}) {processor:7.2f} processor s ({processor / base[1]:.2f}) "
              f"{peak / 1e6:7.0f} MB, {peak / size:.0f} bytes per dispatch")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", default="1000000,10000000")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench"))
    arguments.add_argument("--load", action="store_true")
    arguments.add_argument("--packed", action="store_true")
    arguments.add_argument("--part", action="store_true")
    arguments.add_argument("--everything", action="store_true")
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores; best of {options.runs}, alternating")
    if options.packed or options.part or options.everything:
        for size in map(int, options.sizes.split(",")):
            (bench_packed if options.packed else bench_part if options.part else bench_everything)(size, options.runs, options.folder)
        return 0
    if options.load:
        for size in map(int, options.sizes.split(",")):
            best = bench_load(size, options.runs, options.folder)
            for how, name in (("sqlite3", "sqlite3 sums"), ("sqlite", "load through SQLite"), ("pages", "load from pages")):
                ratios = [best[how][key] / best["sqlite3"][key] for key in ("seconds", "processor_seconds")]
                print(f"{size:10d} {name:20s} {best[how]['seconds']:7.2f} s ({ratios[0]:.2f}) {best[how]['processor_seconds']:7.2f} processor s ({ratios[1]:.2f})")
        return 0
    print("  dispatches   file MB   analyze s   sqlite3 s   ratio   peak MB   bytes/dispatch over 100 MB")
    results = [bench(int(size), options.runs, options.folder) for size in options.sizes.split(",")]
    good = True
    for r in results:
        ratio = r["ours"] / r["sqlite3"]
        per_dispatch = max(0, r["memory"] - 100e6) / r["size"]
        good = good and ratio <= 1.5 and per_dispatch <= 120
        print(f"{r['size']:12d} {r['mb']:9.0f} {r['ours']:11.2f} {r['sqlite3']:11.2f} {ratio:7.2f} {r['memory'] / 1e6:9.0f} {per_dispatch:10.1f}")
    for a, b in zip(results, results[1:]):
        growth = (b["ours"] / a["ours"]) / (b["size"] / a["size"])
        good = good and growth <= 1.1
        print(f"{b['size'] // a['size']}x the rows: {b['ours'] / a['ours']:.2f}x the time")
    print("targets hold" if good else "a target is missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
