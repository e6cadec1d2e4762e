"""The checkers of the guides find what is wrong: scripts/formats over made-up schemas, check_guide.py over made-up documents. And the
pages of the real schemas name every field."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
SCHEMAS = pathlib.Path(os.environ.get("PERFLAB_SCHEMAS", ROOT / "build/dev/schemas"))  # complete ones


def fields_of(schema):
    """Names of all members, wherever they stand."""
    if isinstance(schema, dict):
        for name, value in schema.items():
            if name == "properties":
                yield from value
            yield from fields_of(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from fields_of(value)


class Formats(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        shutil.copytree(SCHEMAS, self.root / "schemas")
        (self.root / "docs").mkdir()

    def run_formats(self, *more):
        folders = {"--schemas": "schemas", "--docs": "docs", "--pages": "pages"}
        words = [word for option, folder in folders.items() for word in (option, str(self.root / folder))]
        return subprocess.run([sys.executable, str(ROOT / "scripts/formats"), *words, *more], capture_output=True, text=True)

    def change(self, name, change):
        path = self.root / "schemas" / f"{name}.schema.json"
        schema = json.loads(path.read_text())
        change(schema)
        path.write_text(json.dumps(schema))

    def test_every_field_of_every_schema_is_there(self):
        self.assertEqual(self.run_formats().returncode, 0)
        common = (self.root / "pages/common.md").read_text()
        schemas = sorted((self.root / "schemas").glob("*.schema.json"))
        self.assertGreater(len(schemas), 14)
        for path in schemas:
            name = path.name.removesuffix(".schema.json")
            page = (self.root / "pages" / f"{name}.md").read_text() + common
            for field in fields_of(json.loads(path.read_text())):
                self.assertRegex(page, rf"`[^`]*\b{field}`", f"{name}: {field}")

    def test_a_changed_schema_is_seen(self):
        self.run_formats()
        self.assertEqual(self.run_formats("--check").returncode, 0)
        self.change("replay", lambda schema: schema.update(description="another word"))
        checked = self.run_formats("--check")
        self.assertEqual(checked.returncode, 1)
        self.assertIn("FORMATS.md: not what the schemas say", checked.stdout)

    def test_a_page_without_a_schema_is_removed(self):
        self.run_formats()
        (self.root / "pages/gone.md").write_text("old")
        self.assertEqual(self.run_formats().returncode, 0)
        self.assertFalse((self.root / "pages/gone.md").exists())
        self.assertTrue((self.root / "pages/replay.md").exists())

    def test_what_it_does_not_know_is_an_error(self):
        self.change("replay", lambda schema: schema["properties"]["kernel"].update({"if": {}}))
        done = self.run_formats()
        self.assertEqual(done.returncode, 1)
        self.assertIn("uses if", done.stderr)

    def test_a_document_that_nobody_writes_is_an_error(self):
        shutil.copy(HERE / "examples/hotspots.schema.json", self.root / "schemas")
        done = self.run_formats()
        self.assertEqual(done.returncode, 1)
        self.assertIn("who writes hotspots", done.stderr)


class Guide(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)
        (self.root / "docs").mkdir()
        (self.root / "tests/docs/examples").mkdir(parents=True)
        (self.root / "tests/docs/examples/a.cpp").write_text("int a() {\n  return 1;\n}\n")

    def check(self, text, *more):
        (self.root / "docs/guide.md").write_text(text)
        return subprocess.run([sys.executable, str(HERE / "check_guide.py"), str(self.root), *more], capture_output=True, text=True)

    def test_what_is_the_file_passes(self):
        block = "<!-- file: tests/docs/examples/a.cpp -->\n```cpp\nint a() {\n  return 1;\n}\n```\n"
        self.assertEqual(self.check(block).returncode, 0)

    def test_a_difference_is_seen_and_mended(self):
        block = "<!-- file: tests/docs/examples/a.cpp -->\n```cpp\nint a() {\n  return 2;\n}\n```\n"
        self.assertIn("is not the file", self.check(block).stdout)
        self.check(block, "--write")
        self.assertIn("return 1", (self.root / "docs/guide.md").read_text())

    def test_lines_may_lose_their_indentation_and_nothing_else(self):
        whole = "<!-- file: tests/docs/examples/a.cpp -->\n```cpp\nint a() {\n  return 1;\n}\n```\n"
        lines = "<!-- lines: tests/docs/examples/a.cpp -->\n```cpp\n{}\n```\n"
        self.assertEqual(self.check(whole + lines.format("return 1;")).returncode, 0)
        self.assertIn("do not stand there", self.check(whole + lines.format("return 3;")).stdout)

    def test_an_example_that_no_document_shows_is_seen(self):
        other = "<!-- lines: docs/guide.md -->\n```text\n```\n"
        self.assertIn("no document shows it", self.check(other).stdout)


if __name__ == "__main__":
    unittest.main()
