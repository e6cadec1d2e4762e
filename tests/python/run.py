"""Runs a test file with a python3 that has numpy and pandas: this one, or the system's. Where there is none, or the library cannot be
loaded, prints why and ends with 77, which CTest takes as skipped.

    run.py TEST.py [TEST...]     variables as in CMakeLists.txt beside this file
"""
import os
import pathlib
import subprocess
import sys

SKIPPED = 77
PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python"
SYSTEM = "/usr/bin/python3"
TRIAL = """import sys
assert sys.version_info >= (3, 10), "python3 is older than 3.10"
import numpy, pandas, rocm_perf
rocm_perf.library_version()"""


def environment_of(variables):
    """Variables for python3 with the package of this tree, and without files that it would leave there."""
    path = [str(PACKAGE)] + ([variables["PYTHONPATH"]] if variables.get("PYTHONPATH") else [])
    environment = {**variables, "PYTHONPATH": os.pathsep.join(path), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"}
    if preload := variables.get("PERFLAB_PRELOAD"):
        # What python3 itself never frees is no leak of ours.
        environment |= {"LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"}
    return environment


def python_that_can(pythons, environment):
    """The first that can import everything, and why the others cannot."""
    reasons = []
    for python in pythons:
        tried = subprocess.run([python, "-c", TRIAL], env=environment, capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return python, reasons
        # The exception stands behind the indented lines of its traceback.
        said = [line for line in tried.stderr.splitlines() if line and not line.startswith((" ", "Traceback"))]
        reasons.append(f"{python}: {' '.join(said) or 'ended with ' + str(tried.returncode)}")
    return None, reasons


def main():
    environment = environment_of(os.environ)
    pythons = dict.fromkeys([sys.executable] + [SYSTEM] * os.path.exists(SYSTEM))
    python, reasons = python_that_can(pythons, environment)
    if python is None:
        print("skipped: " + "; ".join(reasons))
        return SKIPPED
    return subprocess.run([python, *sys.argv[1:]], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
