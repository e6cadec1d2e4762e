"""scripts/device-zoo from end to end with programs that stand in: nvcc, what it builds, the library, CUPTI's count. No GPU, no compiler."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import made_up  # noqa: E402

# What a built program does here: leaves what its library would leave, and says what it did.
PROGRAM = """#!{python}
import json, os, pathlib, sys, time
sys.dont_write_bytecode = True
sys.path.insert(0, {here!r})
import made_up
library, words = os.environ.get("CUDA_INJECTION64_PATH", ""), sys.argv[1:]
if library.endswith("librocm_perf_record.so"):
    folder = pathlib.Path(os.environ["PERFLAB_RECORD_OUT"]) / "host"
    folder.mkdir(parents=True)
    if "forever" in words:
        made_up.MadeUp(folder / f"{{os.getpid()}}_results.db.partial", extdata={{"complete": False}})
    elif "memory" not in words:  # that one leaves nothing
        made = made_up.MadeUp(folder / f"{{os.getpid()}}_results.db")
        if "threads" not in words:
            made.change("UPDATE `{{info_process}}` SET command = 'flow'")
elif library:
    counted = json.loads(json.dumps(made_up.COUNTED))
    if "graph" in words:
        counted["kernels"]["_Z3mulv"]["count"] = 5
    pathlib.Path(os.environ["ZOO_COUNT_OUT"], "1.count.json").write_text(json.dumps(counted))
while "forever" in words:
    print(3, f"{{time.monotonic():.3f}}", flush=True)
    time.sleep(0.25)
said = json.loads(json.dumps(made_up.SAID))
said |= {{"figures": {{"us_per_launch": 4.0}}, "expect": []}}
if "streams" in words:
    said["did"]["copies"] = 2
if "ranges" in words:
    sys.exit("no GPU")
with open(os.environ["ZOO_SAY"], "a") as file:
    file.write("ZOO " + json.dumps(said) + "\\n")
"""
COMPILER = """#!/bin/sh
while [ $# -gt 1 ]; do shift; [ "$1" = -o ] && out=$2; done
cp "{program}" "$out"
"""


class Runner(unittest.TestCase):
    def test_each_fault_is_found_and_stops_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            here = str(pathlib.Path(__file__).resolve().parent)
            (folder / "program").write_text(PROGRAM.format(python=sys.executable, here=here))
            (folder / "bin").mkdir()
            (folder / "carried").mkdir()
            (folder / "carried/librocm_perf_record.so").touch()
            for compiler in ("nvcc", "g++"):
                (folder / "bin" / compiler).write_text(COMPILER.format(program=folder / "program"))
            for file in [folder / "program", *(folder / "bin").iterdir()]:
                file.chmod(0o755)
            ran = subprocess.run([sys.executable, ROOT / "scripts/device-zoo", "run", "--quick", "--carried", folder / "carried", "--out", folder / "out",
                                  "--work", folder / "work", "--only", "build,counts,hip.vector_add,kill.recorded,critical_path.storm"],
                                 env=os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}, capture_output=True, text=True, check=False, timeout=200)
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            found = {entry["check"]: entry for entry in json.loads((folder / "out/zoo.json").read_text())["checks"]}
            lines = {line.split()[1]: line for line in ran.stdout.splitlines()}
            for check, part in {"counts.streams": "copies 1 instead of 2", "counts.graph": "kernel _Z3mulv: 2 instead of 5",
                                "counts.ranges": "exit 1: no GPU", "counts.memory": "0 databases", "critical_path.storm": "rocm-perf is not there"}.items():
                self.assertIs(found[check]["ok"], False, found[check])
                self.assertIn(part, lines[check])
                self.assertTrue(lines[check].startswith("FAILED"), lines[check])
            for check in ("build", "counts.threads", "counts.limits", "counts.storm", "hip.vector_add", "kill.recorded"):
                self.assertIs(found[check]["ok"], True, found[check])
                self.assertTrue(lines[check].startswith("ok "), lines[check])
            with tarfile.open(folder / "out/zoo.tar.gz") as archive:
                self.assertIn("zoo/unscrubbed/threads.db", archive.getnames())  # its command has somebody's folder
                self.assertIn("zoo/storm.db", archive.getnames())
            self.assertIn(" 5 failed", ran.stdout.splitlines()[-1])


class Sample(unittest.TestCase):
    def test_an_archive_of_recordings(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for run in ("run_1", "pass_1", "pass_2"):
                (folder / "from" / run).mkdir(parents=True)
                made = made_up.MadeUp(folder / "from" / run / "7_results.db", extdata={"version": "0.1.0", "driver_version": "13.0", "cupti_version": 130001})
                made.change("UPDATE `{info_process}` SET command = 'python3 decode.py'")
                if run != "run_1":
                    made.add("pmc_event", pmc_id=made.add("info_pmc", name="flops.sum"), event_id=made.last, value=1.0)
                    made.db.commit()
                made.db.close()
            words = [sys.executable, ROOT / "scripts/record-sample", "--from", folder / "from", "--versions", "PyTorch 9", "--date", "2026-01-02"]
            ran = subprocess.run([*words, "--out", folder / "sample.tar.xz", "--work", folder / "work"], capture_output=True, text=True, check=False)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            with tarfile.open(folder / "sample.tar.xz") as archive:
                self.assertEqual(sorted(archive.getnames()), [f"decode_step_recorded/{name}" for name in (
                    "SOURCE.md", "counters/pass_1/1_results.db", "counters/pass_2/1_results.db", "decode_step.db")])
                note = archive.extractfile("decode_step_recorded/SOURCE.md").read().decode()
            for part in ("NVIDIA H200, 2026-01-02", "PyTorch 9", "3 kernels, 1 decode steps, 2 counter passes"):
                self.assertIn(part, note)
            made_up.MadeUp(folder / "from/run_2_results.db").db.close()
            ran = subprocess.run([*words, "--out", folder / "other.tar.xz", "--work", folder / "work2"], capture_output=True, text=True, check=False)
            self.assertIn("two recordings without counters", ran.stderr)
            self.assertFalse((folder / "other.tar.xz").exists())


if __name__ == "__main__":
    unittest.main()
