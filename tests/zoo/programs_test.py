"""Every program of examples/nvidia, and the HIP examples with examples/cuda, compile for sm_90. Exit code 77: no nvcc here."""
import concurrent.futures
import os
import pathlib
import py_compile
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def main():
    nvidia = ROOT / "examples/nvidia"
    with tempfile.TemporaryDirectory() as folder:
        for script in sorted(nvidia.glob("*.py")):
            py_compile.compile(str(script), cfile=f"{folder}/x.pyc", doraise=True)
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.path.exists(nvcc):
            print("skipped: no nvcc on the PATH or in /usr/local/cuda/bin")
            return SKIPPED
        toolkit = pathlib.Path(nvcc).resolve().parent.parent
        jobs = []
        for source in sorted([*nvidia.glob("*.cu"), *(ROOT / "examples").glob("*.hip"), *(ROOT / "examples/optimize").glob("*.hip")]):
            jobs.append([nvcc, "-x", "cu", "-c", "-O0", "-std=c++17", "-arch=sm_90", "-Werror", "all-warnings", "-I", ROOT / "examples/cuda", source,
                         "-o", f"{folder}/{source.stem}.o"])
        if (toolkit / "include/cupti.h").exists():
            jobs.append(["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-isystem", toolkit / "include", nvidia / "cupti_count.cpp"])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            done = list(pool.map(lambda job: subprocess.run([str(word) for word in job], capture_output=True, text=True, check=False), jobs))
    failed = [(job, one) for job, one in zip(jobs, done) if one.returncode]
    for job, one in failed:
        print(" ".join(str(word) for word in job), one.stdout, one.stderr, sep="\n", file=sys.stderr)
    print(f"{len(jobs)} programs, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
