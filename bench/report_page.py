"""What a page costs: `rocm-perf analyze FILE --json` without and with `--html`, of a trace of 10 million dispatches.

    python3 bench/report_page.py [--millions 10] [--runs 3] [--folder /tmp/rocm-perf-bench] [--program build/release/src/cli/rocm-perf]

Needs `make release` and the target make_rocpd of that build (another one with --program and --make-rocpd). Both alternate, the best of --runs
counts. The database is that of bench/critical_path_scale.py: launches, events, waits across streams, synchronisations. Target: a page of at most 5 MB.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

from analyze_scale import BUILD

MOST_BYTES = 5_000_000


def measured(command):
    """Runs a command; returns (seconds, seconds of processors, peak resident bytes of it)."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command[0]} failed with exit code {process.returncode}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--millions", type=int, default=10)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench"))
    arguments.add_argument("--program", type=pathlib.Path, default=BUILD / "src/cli/rocm-perf")
    arguments.add_argument("--make-rocpd", type=pathlib.Path, default=BUILD / "tests/support/make-rocpd")
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    database = options.folder / f"critical_path_{options.millions}M.db"
    if not database.exists():
        subprocess.run([options.make_rocpd, "--dispatches", str(options.millions * 1_000_000), "--queues", "8", "--processes", "1", "--events", "--out", database],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)  # into the page cache
    page = options.folder / "page.html"
    command = [str(options.program), "analyze", str(database), "--json"]
    without, with_page = [], []
    for _ in range(options.runs):
        without.append(measured(command))
        with_page.append(measured([*command, "--html", str(page)]))
    size = page.stat().st_size
    print(f"{os.cpu_count()} cores; best of {options.runs}, alternating; {options.program}")
    print(f"{options.millions} million dispatches, {database.stat().st_size / 1e6:.0f} MB")
    for name, results in (("analyze --json", without), ("with --html", with_page)):
        print(f"{name}: {min(r[0] for r in results):.1f} s, {min(r[1] for r in results):.1f} s of processors, {max(r[2] for r in results) / 1e6:.0f} MB")
    print(f"the page: {size / 1e6:.2f} MB, {'within' if size <= MOST_BYTES else 'above'} the target of {MOST_BYTES / 1e6:.0f} MB")
    return 0 if size <= MOST_BYTES else 1


if __name__ == "__main__":
    sys.exit(main())
