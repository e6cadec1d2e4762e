"""Code in the documents is code of the tree: blocks that say where they are from are compared with it, byte for byte.

    check_guide.py ROOT [--write]     exit code 1 and a line for each block that differs, or each example that no document shows

Before a fenced block stands `<!-- file: PATH -->` (the whole file) or `<!-- lines: PATH -->` (lines that follow each other in it; the
indentation that they share may be left out). --write puts the present text of whole files into the blocks.
"""
import pathlib
import re
import sys
import textwrap

BLOCK = re.compile(r"<!-- (file|lines): (\S+) -->\n```(\w*)\n(.*?)```\n", re.DOTALL)
EXAMPLES = "tests/docs/examples"


def dedented_pieces(text, lines):
    """Whether `lines` stand in `text` one after another, with whatever indentation."""
    wanted = textwrap.dedent(lines).splitlines()
    have = text.splitlines()
    for start in range(len(have) - len(wanted) + 1):
        piece = textwrap.dedent("\n".join(have[start:start + len(wanted)]))
        if piece.splitlines() == wanted:
            return True
    return False


def main():
    root, write = pathlib.Path(sys.argv[1]).resolve(), "--write" in sys.argv[2:]
    problems, shown, blocks = [], set(), 0
    for document in sorted((root / "docs").rglob("*.md")):
        text = document.read_text()
        for kind, path, language, code in BLOCK.findall(text):
            blocks += 1
            shown.add(path)
            where = f"{document.relative_to(root)}: block of {path}"
            if not (root / path).is_file():
                problems.append(f"{where}: there is no such file")
                continue
            file = (root / path).read_text()
            if kind == "file" and file != code:
                if write:
                    text = text.replace(f"<!-- file: {path} -->\n```{language}\n{code}```\n", f"<!-- file: {path} -->\n```{language}\n{file}```\n")
                else:
                    problems.append(f"{where}: is not the file (check_guide.py ROOT --write)")
            if kind == "lines" and not dedented_pieces(file, code):
                problems.append(f"{where}: these lines do not stand there")
        if write and text != document.read_text():
            document.write_text(text)
    for example in sorted((root / EXAMPLES).iterdir()):
        if example.is_file() and example.relative_to(root).as_posix() not in shown:
            problems.append(f"{example.relative_to(root)}: no document shows it")
    print("\n".join(problems) or f"{blocks} blocks are as in the tree")
    return 1 if problems or blocks == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
