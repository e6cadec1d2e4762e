"""Hooks of mkdocs (mkdocs.yml): the documents are written for GitHub, and Python-Markdown reads a few things otherwise.

Headings get the anchors that GitHub gives them; a nested list may be indented by two spaces, and a list may follow its sentence
without an empty line. A page that `nav` lacks is an error, and two scripts that Debian 12's theme asks for but lacks are there."""
import pathlib
import re
import shutil

from markdown.extensions import toc
from mkdocs.exceptions import PluginError

ITEM = re.compile(r"( *)([-*+]|\d+[.)]) +\S")
FENCE = re.compile(r" {0,3}(```+|~~~+)")


def slug(title, separator):
    """As tests/docs/documents.py computes it, which checks the links of the documents."""
    return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", separator)


def unique(name, taken):
    count, found = 0, name
    while found in taken or not found:
        count += 1
        found = f"{name}-{count}"
    taken.add(found)
    return found


def on_config(config):
    toc.unique = unique
    config["mdx_configs"].setdefault("toc", {}).update(slugify=slug, toc_depth="2-3")
    return config


def on_page_markdown(markdown, **_):
    """The same text, with lists as Python-Markdown wants them."""
    out, fence, open_items = [], None, []  # of the items that enclose the line: where they and their texts begin
    text = False  # whether the line before belongs to a paragraph that is no item
    for line in markdown.split("\n"):
        found = FENCE.match(line)
        if fence:
            fence = None if line.strip() == fence else fence
        elif found:
            fence = found[1]
        elif (item := ITEM.match(line)) and (open_items or len(item[1]) < 4):
            depth = len(item[1])
            if text:  # an item begins a list only behind an empty line
                out.append("")
                text = False
            while open_items and open_items[-1][0] >= depth:
                open_items.pop()
            open_items.append((depth, depth + len(item[2]) + 1))
            line = "    " * (len(open_items) - 1) + line.lstrip()
        elif open_items and line.startswith(" "):
            text = text or not out[-1].strip()
            depth = len(line) - len(line.lstrip())
            while len(open_items) > 1 and open_items[-1][0] >= depth:
                open_items.pop()
            line = "    " * len(open_items) + " " * max(0, depth - open_items[-1][1]) + line.lstrip()
        elif line.strip() and (not out or not out[-1].strip()):
            text, open_items = True, []
        text = text and bool(line.strip())
        out.append(line)
    return "\n".join(out)


def on_nav(nav, config, files):
    """mkdocs only mentions pages that nobody finds."""
    lacks = sorted({file.src_uri for file in files.documentation_pages()} - {page.file.src_uri for page in nav.pages})
    if lacks:
        raise PluginError(f"mkdocs.yml: nav lacks {', '.join(lacks)}")
    return nav


def on_post_build(config):
    """Debian 12's theme readthedocs loads jquery under the name of another version, and a script for wide tables (bug of mkdocs
    1.4.2+dfsg)."""
    scripts = pathlib.Path(config["site_dir"]) / "js"
    wanted = scripts / "jquery-3.6.0.min.js"
    if not wanted.exists():
        shutil.copyfile(next(iter(sorted(scripts.glob("jquery-*.min.js")))), wanted)
    extra = scripts / "theme_extra.js"
    if not extra.exists():
        extra.write_text("$('div.rst-content table').addClass('docutils');\n")
