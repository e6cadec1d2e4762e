"""What a notebook waits for beside `rocm-perf analyze` of the same file: open, all tables, and sums by kernel and by API call.

    python3 bench/python_open.py [--sizes 10000000] [--runs 3] [--folder /tmp/rocm-perf-bench]

Needs `make release`, the target make_rocpd, numpy and pandas. Both are run alternately as processes of their own, the best of --runs
counts, and the target of the project is checked: time ratio below 1.2. Databases are those of analyze_scale.py.
"""
import argparse
import os
import pathlib
import subprocess
import sys

import analyze_scale

LIBRARY = analyze_scale.BUILD / "src/api/librocm-perf-lab.so"
NOTEBOOK = """
import sys
import rocm_perf
run = rocm_perf.open(sys.argv[1])
rows = {name: len(run.table(name).frame) for name in run.table_names}
for frame, name in ((run.dispatches, "kernel"), (run.api_calls, "name")):
    totals = (frame["end"] - frame["start"]).groupby(frame[name], observed=True).agg(["count", "sum"])
print(rows, totals, run.verdicts)
"""


def bench(size, runs, folder):
    database = analyze_scale.database_of(size, folder)
    environment = dict(os.environ, PYTHONPATH=str(analyze_scale.ROOT / "python"), ROCM_PERF_LIBRARY=str(LIBRARY))
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)  # into the page cache, for both
    analyze, notebook = [], []
    for _ in range(runs):
        analyze.append(analyze_scale.measured([str(analyze_scale.BUILD / "src/cli/rocm-perf"), "analyze", str(database), "--out",
                                               str(folder / "report")]))
        notebook.append(analyze_scale.measured([sys.executable, "-c", NOTEBOOK, str(database)], folder / "notebook.txt", environment))
    return min(analyze), min(notebook)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--sizes", default="10000000")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench"))
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores; best of {options.runs}, alternating")
    print("  dispatches   analyze s   python s   ratio   analyze MB   python MB")
    good = True
    for size in map(int, options.sizes.split(",")):
        analyze, notebook = bench(size, options.runs, options.folder)
        ratio = notebook[0] / analyze[0]
        good = good and ratio < 1.2
        print(f"{size:12d} {analyze[0]:11.2f} {notebook[0]:10.2f} {ratio:7.2f} {analyze[1] / 1e6:12.0f} {notebook[1] / 1e6:11.0f}")
    print("the target holds" if good else "the target is missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
