"""How `rocm-perf roofline` reads counter passes, next to sqlite3 shell queries that sum the same rows.

    python3 bench/roofline_passes.py [--dispatches 100000] [--csv-rows 1000000] [--runs 3] [--folder /tmp/rocm-perf-bench]

Needs `make release`, the make_rocpd target of that build and the sqlite3 shell. Commands alternate; the best of --runs counts.

Passes: a recording with times and one per counter set of gfx942 (src/hal/counters/gfx942.json), 50 kernels each, written by make-rocpd:
8 rows (one per XCC) for a hardware counter, 1 row for what the profiler reduces itself. Next to them one query per file that sums the
values by kernel and counter (target: at most twice its time), and one that only sums the columns, which no reader can beat on one core.

Table: a counter_collection.csv as rocprofv3 writes it, next to Python's csv module, whose parser is C (target: at most 0.3 of its time). awk does not do:
names of kernels hold commas.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys

from analyze_scale import ROOT, measured, sum_query

KERNELS = 50
XCCS = 8
# The same rows: every value, by kernel and counter. This is the fastest of five forms that were tried: SQLite sorts ids, names come last.
PASS_QUERY = """
SELECT k.display_name, p.name, s.n, s.sum, s.low, s.high
  FROM (SELECT d.kernel_id AS kernel_id, v.pmc_id AS pmc_id, count(*) AS n, total(v.value) AS sum, min(v.value) AS low, max(v.value) AS high
          FROM "rocpd_pmc_event{0}" v CROSS JOIN "rocpd_kernel_dispatch{0}" d ON d.event_id = v.event_id GROUP BY 1, 2) s
  JOIN "rocpd_info_kernel_symbol{0}" k ON k.id = s.kernel_id JOIN "rocpd_info_pmc{0}" p ON p.id = s.pmc_id"""
# No more than reading them: what no reader can beat on one core.
SCAN_QUERY = 'SELECT total(event_id) + total(pmc_id) + total(value) FROM "rocpd_pmc_event{0}"'
# The same rows again: every value, by kernel and counter.
CSV_SUM = """
import csv, sys
totals = {}
with open(sys.argv[1], newline="") as file:
    rows = csv.reader(file)
    header = next(rows)
    kernel, counter, value = (header.index(name) for name in ("Kernel_Name", "Counter_Name", "Counter_Value"))
    for row in rows:
        key = row[kernel], row[counter]
        totals[key] = totals.get(key, 0.0) + float(row[value])
print(len(totals), sum(totals.values()))
"""
COLLECTION = ("Correlation_Id,Dispatch_Id,Agent_Id,Queue_Id,Process_Id,Thread_Id,Grid_Size,Kernel_Id,Kernel_Name,Workgroup_Size,"
              "LDS_Block_Size,Scratch_Size,VGPR_Count,Accum_VGPR_Count,SGPR_Count,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp")
AGENT = {"Node_Id": 1, "Logical_Node_Id": 1, "Agent_Type": "GPU", "Simd_Count": 1216, "Max_Waves_Per_Simd": 8, "Wave_Front_Size": 64,
         "Num_Xcc": XCCS, "Cu_Count": 304, "Simd_Per_Cu": 4, "Gfx_Target_Version": 90402, "Max_Engine_Clk_Fcompute": 2100,
         "Max_Waves_Per_Cu": 32, "Name": "gfx942", "Vendor_Name": "AMD", "Product_Name": "AMD Instinct MI300X"}


def counter_sets():
    """Counters of each pass, as `profile --roofline` asks for them on gfx942."""
    table = json.loads((ROOT / "src/hal/counters/gfx942.json").read_text())
    return [sorted({*names, table["in_every_pass"]}) for names in table["sets"]]


def rows_of(counter):
    """Rows per dispatch: what the profiler reduces itself (X_sum, mixed case) comes as one."""
    return 1 if counter != counter.upper() else XCCS


def make_passes(build, folder, dispatches):
    """Databases of the passes, the one with times first."""
    sets = counter_sets()
    listed = sorted(set().union(*sets))
    files = [folder / "base.db"] + [folder / f"pass_{i}" / "run.db" for i in range(1, len(sets) + 1)]
    for number, file in enumerate(files):
        if file.exists():
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        command = [build / "tests/support/make-rocpd", "--dispatches", str(dispatches), "--queues", "1", "--processes", "1",
                   "--kernels", str(KERNELS), "--copies-every", "0", "--pass", str(number), "--out", file]
        if number > 0:
            command += ["--no-launches", "--counted", ",".join(sets[number - 1]), "--listed", ",".join(listed)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return files


def make_table(folder, wanted):
    """A table of about that many rows: one pass of one process."""
    counters = counter_sets()[0]
    file = folder / "1000_counter_collection.csv"
    if file.exists():
        return file
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "1000_agent_info.csv", "w", newline="") as out:
        rows = csv.DictWriter(out, AGENT, quoting=csv.QUOTE_NONNUMERIC)
        rows.writeheader()
        rows.writerow(AGENT)
    start = 3_000_000_000_000
    with open(file, "w", newline="") as out:
        rows = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
        rows.writerow(COLLECTION.split(","))
        for dispatch in range(1, wanted // len(counters) + 1):
            kernel = dispatch * 7 % KERNELS
            waves, duration = 64 * (1 + kernel), 5_000 + 100 * kernel
            name = f"void stage_{kernel:03}<{kernel % 7}>(float*, float const*, int)"
            for counter in counters:
                value = duration * 21 // 10 * XCCS if counter == "GRBM_GUI_ACTIVE" else 0 if counter == "SQ_WAVES_LT_64" else \
                    waves * (1 if counter == "SQ_WAVES" else 8)
                rows.writerow([dispatch, dispatch, "Agent 1", 1, 1000, 1000, 64 * waves, kernel + 1, name, 256, 0, 0, 32, 0, 32, counter,
                               float(value), start, start + duration])
            start += duration + 2_000
    return file


def check(document, passes, dispatches):
    """Stops when the document is not of the rows that were written."""
    roofline = json.loads(document.read_text())
    found = [entry["dispatches"] for entry in roofline["passes"]]
    if found != [dispatches] * passes:
        sys.exit(f"{document}: dispatches by pass are {found}, not {passes} times {dispatches}")
    strange = {counter["name"] for kernel in roofline["kernels"] for counter in kernel["counters"]
               if counter["state"] not in ("measured", "zero")}
    if strange:
        sys.exit(f"{document}: counters are in doubt that were written without any: {', '.join(sorted(strange))}")


def race(name, ours, theirs, rows, runs, document):
    """Runs our command and their list of commands alternately, prints a line; returns the ratio."""
    best_ours, best_theirs, memory, their_memory = float("inf"), float("inf"), 0, 0
    for _ in range(runs):
        results = [measured(command) for command in theirs]
        best_theirs = min(best_theirs, sum(seconds for seconds, _ in results))
        their_memory = max(their_memory, *(peak for _, peak in results))
        seconds, peak = measured(ours, document)
        best_ours, memory = min(best_ours, seconds), max(memory, peak)
    ratio = best_ours / best_theirs
    print(f"{name:22} {rows:11d} {best_ours:9.2f} {best_theirs:9.2f} {ratio:7.2f} {memory / 1e6:9.0f} {their_memory / 1e6:9.0f}",
          flush=True)
    return ratio


def race_passes(options, program):
    folder = options.folder / f"roofline_{options.dispatches}"
    files = make_passes(options.build, folder, options.dispatches)
    subprocess.run(["cat", *files], stdout=subprocess.DEVNULL, check=True)  # into the page cache, for both
    base = ["sqlite3", "-readonly", str(files[0]), sum_query(str(files[0]))]
    queries, scans = [base], [base]
    for file in files[1:]:
        table = subprocess.run(["sqlite3", file, "SELECT name FROM sqlite_master WHERE type='table' AND name LIKE 'rocpd_pmc_event%'"],
                               capture_output=True, text=True, check=True).stdout.strip()
        for commands, query in ((queries, PASS_QUERY), (scans, SCAN_QUERY)):
            commands.append(["sqlite3", "-readonly", str(file), query.format(table.removeprefix("rocpd_pmc_event"))])
    rows = options.dispatches * sum(rows_of(counter) for counters in counter_sets() for counter in counters)
    document = folder / "roofline.json"
    command = [program, "roofline", *map(str, files), "--json"]
    ratio = race(f"{len(files) - 1} passes, sqlite3", command, queries, rows, options.runs, document)
    race("  (sum of columns only)", command, scans, rows, options.runs, document)
    check(document, len(files) - 1, options.dispatches)
    return ratio


def race_table(options, program):
    folder = options.folder / f"counter_csv_{options.csv_rows}"
    file = make_table(folder, options.csv_rows)
    counters = len(counter_sets()[0])
    dispatches = options.csv_rows // counters
    document = folder / "roofline.json"
    ratio = race("CSV, python3 csv", [program, "roofline", str(file), "--json"], [[sys.executable, "-c", CSV_SUM, str(file)]],
                 dispatches * counters, options.runs, document)
    check(document, 1, dispatches)
    return ratio


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--dispatches", type=int, default=100_000)
    arguments.add_argument("--csv-rows", type=int, default=1_000_000)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench"))
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    options = arguments.parse_args()
    program = str(options.build / "src/cli/rocm-perf")
    print(f"{os.cpu_count()} cores; best of {options.runs}, alternating; MB: peak memory")
    print("input                  counter rows    ours s  theirs s   ratio   ours MB theirs MB")
    hold = [race_passes(options, program) <= 2, race_table(options, program) <= 0.3]
    print("targets hold" if all(hold) else "a target is missed")
    return 0 if all(hold) else 1


if __name__ == "__main__":
    sys.exit(main())
