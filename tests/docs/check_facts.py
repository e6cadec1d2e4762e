"""Citations of documents lead somewhere: pages of docs/facts exist, and so do the headings that are named behind a page, as in
docs/facts/rocpd.md "Links". Nothing cites what is not in the repository. In tests/hsa_sim a heading alone is one of hsa_runtime.md.

    check_facts.py ROOT [FILE...]     exit code 1 and a line for each citation that leads nowhere; without FILEs: the whole tree"""
import pathlib
import re
import sys

import documents

FOLDERS = "bench cmake docs examples fuzz packaging schemas python scripts src tests web"
NO_SOURCES = {"node_modules", "dist", "__pycache__", "golden"}
# A citation goes on behind a line's end and the sign of the next comment line.
NEXT_LINE = re.compile(r"\n[ \t]*(?:///?<?|#|\*)?[ \t]*")
CITED = re.compile(r'(docs/(?:\w+/)*\w+\.md)((?:,? (?:and )?"[^"]+")*)')
ALONE = re.compile(r'^ *// "([A-Z][^"]+)"', re.MULTILINE)
PRIVATE = re.compile(r"(?<!\]\()(?<![\w/])facts/\w+\.md|\bDESIGN(?: section|: |\.md)|\bhsa_observed\b|\bhal_facts\.md")


def headings_of(page):
    """Headings, and the bold words that begin a paragraph."""
    text = page.read_text(encoding="utf-8")
    found = [match[2] for line in text.split("\n") if (match := documents.HEADING.match(line))]
    found += re.findall(r"^\*\*(.+?)\*\*", text, re.MULTILINE)
    return {title.replace("`", "").rstrip(".") for title in found}


def problems_of(root, file):
    text = NEXT_LINE.sub(" ", raw := file.read_text(encoding="utf-8"))
    yield from (f"{private[0]} is not in the repository" for private in PRIVATE.finditer(text))
    for page, titles in CITED.findall(text):
        if not (root / page).is_file():
            if titles or page.startswith("docs/facts/"):
                yield f"there is no {page}"
            continue
        for title in re.findall(r'"([^"]+)"', titles):
            if title not in headings_of(root / page):
                yield f'{page} has no "{title}"'
    if "hsa_sim" in file.parts:
        for title in ALONE.findall(raw):
            if title not in headings_of(root / "docs/facts/hsa_runtime.md"):
                yield f'hsa_runtime.md has no "{title}"'


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [root / name for name in sys.argv[2:]]
    if not files:
        files = [f for folder in FOLDERS.split() for f in (root / folder).rglob("*")
                 if f.is_file() and not NO_SOURCES & set(f.relative_to(root).parts) and f.name != "facts_sample.md"
                 and f.suffix in {"", ".h", ".c", ".cpp", ".py", ".txt", ".cmake", ".md", ".ts", ".mjs", ".json", ".hip", ".toml"}]
        files += [f for f in root.iterdir() if f.suffix in {".txt", ".md"}]
    found = [f"{file.relative_to(root)}: {problem}" for file in sorted(files) for problem in problems_of(root, file)]
    print("\n".join([*found, f"{len(found)} citations in {len(files)} files lead nowhere"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
