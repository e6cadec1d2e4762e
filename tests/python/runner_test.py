"""run.py skips with a reason where something is missing, and hands on what a test says otherwise."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import run


class Runner(unittest.TestCase):
    def run_with(self, folder, text):
        """run.py over a test of this text, with modules of `folder` in place of numpy, pandas and rocm_perf."""
        test = pathlib.Path(folder) / "a_test.py"
        test.write_text(text)
        code = f"""import sys, pathlib
sys.path.insert(0, {str(pathlib.Path(run.__file__).parent)!r})
import run
run.PACKAGE, run.SYSTEM, sys.argv = pathlib.Path({folder!r}), "/nowhere", ["run.py", {str(test)!r}]
sys.exit(run.main())"""
        environment = {**os.environ, "PYTHONPATH": ""}
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)

    def test_skips_with_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "numpy.py").write_text("raise ImportError('no numpy in this test')\n")
            result = self.run_with(folder, "raise SystemExit(0)")
        self.assertEqual(result.returncode, run.SKIPPED)
        self.assertIn("skipped: ", result.stdout)
        self.assertIn("no numpy in this test", result.stdout)

    def test_hands_on_what_the_test_says(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("numpy", "pandas"):
                (pathlib.Path(folder) / f"{name}.py").write_text("")
            (pathlib.Path(folder) / "rocm_perf.py").write_text("def library_version(): return '0'\n")
            self.assertEqual(self.run_with(folder, "raise SystemExit(3)").returncode, 3)
            self.assertEqual(self.run_with(folder, "raise SystemExit(0)").returncode, 0)


if __name__ == "__main__":
    unittest.main()
