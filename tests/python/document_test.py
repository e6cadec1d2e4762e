"""docs/PYTHON.md: its code runs, block after block, on the sample recording under the names that it uses; its tables are all there are."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from support import SAMPLE, sample, sample_passes

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/PYTHON.md"

try:
    import matplotlib  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Page(unittest.TestCase):
    def test_its_code_runs(self):
        blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
        self.assertGreaterEqual(len(blocks), 4)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(SAMPLE, f"{folder}/run.db")
            for file in map(pathlib.Path, sample_passes()):
                shutil.copytree(file.parent, f"{folder}/{file.parent.name}")
            result = subprocess.run([sys.executable, "-c", "\n".join(blocks)], cwd=folder, capture_output=True, text=True, check=False,
                                    env=dict(os.environ))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("bad_input", result.stdout)  # of the last block
            for made in ("report.html", "roofline.png", "path.png"):
                self.assertTrue(os.path.getsize(f"{folder}/{made}"))

    def test_its_tables_are_all(self):
        rows = re.findall(r"^- `(\w+)`: ((?:`\w+`(?:,\s+)?)+)$", PAGE.read_text(), re.MULTILINE)
        self.assertEqual({name: re.findall(r"`(\w+)`", columns) for name, columns in rows},
                         {name: [column.name for column in sample().table(name)] for name in sample().table_names})


if __name__ == "__main__":
    unittest.main()
