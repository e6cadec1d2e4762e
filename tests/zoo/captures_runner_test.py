"""scripts/device-captures from end to end with programs that stand in: nvcc, what it builds, rocm-perf. No GPU, no compiler."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Answers as rocm-perf would; on the capture of "shared" another address, of "mixed" another result, of "counter" none.
PROGRAM = """#!{python}
import json, pathlib, sys
words = sys.argv[1:]
folder = next((word for word in words if "capture" in word and "/" in word), "")
def out(document, code=0):
    print("a line of progress")
    print(json.dumps(document, indent=1))
    sys.exit(code)
if words[0] == "isolate":
    assert "--json" in words[: words.index("--")], "--json behind the program's words"
    pathlib.Path(words[words.index("--out") + 1]).mkdir(parents=True)
    captured = "counter" not in folder
    out({{"captured": captured, "reason": None if captured else "it waits for the host", "capture":
         {{"memory_bytes": 1 << 20, "stored_bytes": 1000, "regions": 2, "written_pages": 3}}}})
if words[:2] == ["capture", "check"]:
    sys.exit(0)
if "reserve-check" in words:
    exact = "shared" not in folder
    out({{"summary": {{"exact": 2 if exact else 1, "ranges": 2}}, "verdict": "exact" if exact else "relocated",
         "environment": {{"not_exact": []}}}}, 0 if exact else 2)
if "verify" in words:
    other = next((pathlib.Path(word).stem for word in words if word.endswith(".cubin")), "right")
    good = other == "right" and "mixed" not in folder
    out({{"verdict": "bitwise" if good else "differs", "sentence": "one sentence"}}, 0 if good else 1)
out({{"timing": {{"unit": "ns", "median": 10, "cv": 0.1, "captured": 11, "ratio_to_captured": 0.9, "wall": 1000}},
     "execution": {{"restored_bytes_per_iteration": 4096}}, "notes": []}})
"""
COMPILER = """#!/bin/sh
while [ $# -gt 1 ]; do shift; [ "$1" = -o ] && out=$2; done
printf '#!/bin/sh\\n' > "$out"
chmod +x "$out"
"""


class Runner(unittest.TestCase):
    def test_each_fault_is_found_and_stops_nothing(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, text in ((folder / "carried/rocm-perf", PROGRAM.format(python=sys.executable)), (folder / "bin/nvcc", COMPILER)):
                path.parent.mkdir()
                path.write_text(text)
                path.chmod(0o755)
            ran = subprocess.run([sys.executable, ROOT / "scripts/device-captures", "run", "--carried", folder / "carried", "--work", folder / "work",
                                  "--out", folder / "out"], env=os.environ | {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}, capture_output=True,
                                 text=True, timeout=200, check=False)
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            checks = {entry["check"]: entry for entry in json.loads((folder / "out/captures.json").read_text())["checks"]}
            failed = {name: entry["faults"][0] for name, entry in checks.items() if entry["ok"] is not True}
            self.assertEqual(set(failed), {"shared", "counter", "mixed"}, failed)
            self.assertIn("reserve-check: relocated", failed["shared"])
            self.assertIn("it waits for the host", failed["counter"])
            self.assertIn("verify: differs", failed["mixed"])
            self.assertEqual(checks["candidates"]["figures"]["racy"], "differs")
            self.assertGreater(len(checks), 20)


if __name__ == "__main__":
    unittest.main()
