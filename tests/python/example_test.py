"""The example notebook runs from an empty folder, cell by cell, on the sample recording, and leaves its plots and its page there."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from support import SAMPLE, sample_passes

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/python/decode_step.py"

try:
    import matplotlib  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Notebook(unittest.TestCase):
    def test_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([sys.executable, NOTEBOOK, SAMPLE, *sample_passes()], cwd=folder, capture_output=True, text=True,
                                    check=False, env=dict(os.environ))
            self.assertEqual(result.returncode, 0, result.stderr)
            files = {file.name: file.stat().st_size for file in pathlib.Path(folder).iterdir()}
        self.assertEqual(set(files), {"roofline.png", "path.png", "report.html"})
        self.assertTrue(all(files.values()))
        self.assertRegex(result.stdout, r"memory-bandwidth-bound")

    def test_has_cells_with_a_heading_each(self):
        text = NOTEBOOK.read_text()
        cells = re.findall(r"^# %%.*$", text, re.MULTILINE)
        self.assertGreaterEqual(len(cells), 5)
        self.assertEqual([cell for cell in cells if len(cell.split()) < 3], [])


if __name__ == "__main__":
    unittest.main()
