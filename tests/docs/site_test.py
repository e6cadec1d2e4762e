"""scripts/site: its checks find planted mistakes, its hooks read lists as GitHub does, and the site of this tree has what it is for.

    site_test.py [--program ROCM_PERF --share DIR --out DIR]    without a program, all but the site itself; exit code 77: no mkdocs"""
import argparse
import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77


def module(name, path):
    loader = importlib.machinery.SourceFileLoader(name, str(path))
    loaded = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(loaded)
    return loaded


def hooks():
    """scripts/site_pages.py, where mkdocs belongs to another Python than this one as well."""
    for name in ("markdown", "markdown.extensions", "mkdocs", "mkdocs.exceptions"):
        sys.modules.setdefault(name, types.ModuleType(name))
    sys.modules["markdown.extensions"].toc = types.SimpleNamespace()
    sys.modules["mkdocs.exceptions"].PluginError = ValueError
    return module("site_pages", ROOT / "scripts/site_pages.py")


class Checks(unittest.TestCase):
    def faults(self, page):
        folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "search").mkdir()
        for name in ("search_index.json", "lunr.js", "worker.js"):
            (folder / "search" / name).write_text("")
        (folder / "other.html").write_text('<h1 id="top">Other</h1><a href="index.html">back</a>')
        (folder / "index.html").write_text(page)
        return list(module("site", ROOT / "scripts/site").faults(folder.resolve()))

    def test_a_good_page_has_no_faults(self):
        self.assertEqual(self.faults("<p>a - b, 2 * 3 * 4</p><pre>- x\n| a |</pre><code>**x**</code>"
                                     '<a href="other.html#top">o</a><a href="https://example.com/">e</a>'), [])

    def test_each_mistake_is_named(self):
        for page, words in (('<a href="gone.html">x</a>', "gone.html: there is no such file"),
                            ('<a href="other.html#gone">x</a>', "other.html#gone: there is no such anchor"),
                            ('<a href="../index.html">x</a>', "../index.html: there is no such file"),
                            ('<img src="gone.png">', "gone.png: there is no such file"),
                            ('<script src="https://cdn.example.com/x.js"></script>', "comes from another server"),
                            ('<link rel="stylesheet" href="//cdn.example.com/x.css">', "comes from another server"),
                            ("<p>One:\n- two</p>", "this is still Markdown: - two"),
                            ("<p>[a](b.md)</p>", "this is still Markdown: ](b.md)"),
                            ("<p>**bold**</p>", "this is still Markdown: **bold**")):
            found = self.faults(page + '<a href="other.html">o</a>')
            self.assertEqual(len(found), 1, found)
            self.assertIn(words, found[0])


class Hooks(unittest.TestCase):
    def test_lists_are_indented_by_four(self):
        read = hooks().on_page_markdown
        for text, expected in (("a:\n- b\n  c\n  - d\n- e", "a:\n\n- b\n    c\n    - d\n- e"),
                               ("1. a\n   - b\n     - c\n2. d", "1. a\n    - b\n        - c\n2. d"),
                               ("- a\n\n  b\n- c", "- a\n\n    b\n\n- c"),
                               ("- a\n\n      code", "- a\n\n        code"),
                               ("a\n\n    - code\n    - code", "a\n\n    - code\n    - code"),
                               ("```text\na\n  - b\n```\n- c", "```text\na\n  - b\n```\n- c"),
                               ("- a\n\nb\n\n    code", "- a\n\nb\n\n    code")):
            self.assertEqual(read(text), expected)

    def test_anchors_are_those_of_github(self):
        pages, taken = hooks(), set()
        for title, anchor in (("What it does: `a` & b", "what-it-does-a--b"), ("A_b - c", "a_b---c"), ("A_b - c", "a_b---c-1")):
            self.assertEqual(pages.unique(pages.slug(title, "-"), taken), anchor)

    def test_a_page_that_nav_lacks_is_an_error(self):
        pages = hooks()
        one, two = types.SimpleNamespace(src_uri="a.md"), types.SimpleNamespace(src_uri="b.md")
        nav = types.SimpleNamespace(pages=[types.SimpleNamespace(file=one)])
        self.assertIs(pages.on_nav(nav, None, types.SimpleNamespace(documentation_pages=lambda: [one])), nav)
        with self.assertRaisesRegex(ValueError, "nav lacks b.md"):
            pages.on_nav(nav, None, types.SimpleNamespace(documentation_pages=lambda: [one, two]))


class Site(unittest.TestCase):
    said = None

    def test_the_site_of_this_tree(self):
        if not self.said.program:
            self.skipTest("--program says for which program")
        out = pathlib.Path(self.said.out)
        done = subprocess.run([ROOT / "scripts/site", "--program", self.said.program, "--share", self.said.share, "--out", out],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for page in sorted(ROOT.glob("docs/**/*.md")):
            name = page.relative_to(ROOT)
            self.assertTrue((out / name.with_name("index.html" if name.name == "README.md" else name.stem + ".html")).is_file(), name)
        self.assertIn("ratio", (out / "docs/formats/comparison.html").read_text())
        self.assertIn("SYNTHETIC", (out / "sample/report.html").read_text().upper())
        self.assertIn("sample/report.html", (out / "sample.html").read_text())
        found = {one["location"] for one in json.loads((out / "search/search_index.json").read_text())["docs"] if "UNDECIDED" in one["text"]}
        self.assertIn("docs/COMPARE.html#verdicts", found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for option in ("--program", "--share", "--out"):
        parser.add_argument(option)
    Site.said, rest = parser.parse_known_args()
    if Site.said.program and not shutil.which("mkdocs"):
        print("skipped: mkdocs is not installed (scripts/bootstrap site)")
        sys.exit(SKIPPED)
    unittest.main(argv=[__file__, *rest], verbosity=1)
