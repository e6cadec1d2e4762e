"""Reads the project's Markdown documents: the commands in their code blocks, their links and their headings.

A command stands in an indented block or in a fence of `sh`. A line that ends in a backslash goes on in the next one; `<<EOF`
takes the lines up to EOF. Lines that begin with # are comments, lines that begin with { are JSON and have to be valid. Fences of
other languages (`text`, `json`, `cpp`) are no commands; but when a line in one begins with `rocm-perf`, it counts as one, so
that no command hides there: it needs a place in commands.toml."""
import dataclasses
import importlib.machinery
import importlib.util
import json
import pathlib
import re

SHELL = {"sh", "bash", "shell"}
FENCE = re.compile(r"^( {0,3})(```+|~~~+)\s*([A-Za-z0-9_+-]*)\s*$")
HERE = re.compile(r"<<-?\s*'?(\w+)'?")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


@dataclasses.dataclass
class Command:
    line: int  # of the document, from 1
    text: str


@dataclasses.dataclass
class Block:
    line: int
    language: str  # "" of an indented block
    lines: list


def blocks_of(text):
    """Code blocks in their order; a fence without language has the language "none"."""
    blocks, block, fence, before = [], None, None, ""
    for number, line in enumerate(text.split("\n"), 1):
        if fence:
            if line.strip() == fence:
                fence, block = None, None
            else:
                block.lines.append(line)
        elif found := FENCE.match(line):
            fence = found[2]
            block = Block(number + 1, found[3] or "none", [])
            blocks.append(block)
        elif line.startswith("    ") and line.strip():
            if block is None and not before.strip():
                block = Block(number, "", [])
                blocks.append(block)
            if block is not None:
                block.lines.append(line[4:])
        elif line.strip():
            block = None
        elif block is not None:  # a blank line may stand inside of an indented block
            block.lines.append("")
        before = line
    return blocks


def _joined(lines, start):
    """(line, text) of each command: continued lines and here-documents together."""
    at = 0
    while at < len(lines):
        first, text = at, lines[at].rstrip()
        while text.endswith("\\") and at + 1 < len(lines):
            at += 1
            text += "\n" + lines[at].rstrip()
        if here := HERE.search(text):
            while at + 1 < len(lines) and lines[at].strip() != here[1]:
                at += 1
                text += "\n" + lines[at]
        at += 1
        if text.strip() and not text.lstrip().startswith("#"):
            yield start + first, text.strip()


def commands_of(text):
    """The commands, and what is wrong with the blocks themselves ("LINE: sentence")."""
    commands, problems = [], []
    for block in blocks_of(text):
        if block.language and block.language not in SHELL:
            if block.language == "none":
                problems.append(f"{block.line}: a fence without language: `sh` for commands, `text` for what they print")
            commands += [Command(line, words) for line, words in _joined(block.lines, block.line)
                         if words.startswith("rocm-perf ")]
            continue
        for line, words in _joined(block.lines, block.line):
            if words.startswith("{"):
                try:
                    json.loads(words)
                except ValueError as error:
                    problems.append(f"{line}: not JSON: {error}")
            else:
                commands.append(Command(line, words))
    return commands, problems


def output_after(text, line):
    """The fence of text right after the block with that line, which shows what its command prints; None: there is none."""
    lines, blocks = text.split("\n"), blocks_of(text)
    for block, following in zip(blocks, blocks[1:]):
        if block.line <= line < block.line + len(block.lines) and following.language == "text":
            end = block.line + len(block.lines) - 1  # of an indented block; a fence has its last line after that
            between = [each for each in lines[end:following.line - 2] if each.strip()]
            return None if [each for each in between if not each.startswith(("```", "~~~"))] else following
    return None


def shows(shown, printed):
    """Whether these lines are what was printed. A line "…" means lines that are left out."""
    pieces, at = [[]], 0
    for each in shown:
        if each.strip() == "…":
            pieces.append([])
        else:
            pieces[-1].append(each.rstrip())
    for number, piece in enumerate(pieces):
        last = len(printed) - len(piece)
        fits = [start for start in range(at, last + 1) if printed[start:start + len(piece)] == piece
                and (number > 0 or start == 0) and (number + 1 < len(pieces) or start == last)]
        if not fits:
            return False
        at = fits[0] + len(piece)
    return True


def _prose(text):
    """(line number, line) outside of code blocks, without inline code."""
    code = set()
    for block in blocks_of(text):
        code.update(range(block.line, block.line + len(block.lines)))
    for number, line in enumerate(text.split("\n"), 1):
        if number not in code:
            yield number, re.sub(r"`[^`]*`", "", line)


def links_of(text):
    """(line, target) of every link and picture; those in inline code are none."""
    return [(number, target) for number, line in _prose(text) for _, target in LINK.findall(line)]


def anchors_of(text):
    """The anchors that GitHub gives to the headings."""
    anchors, seen = set(), {}
    code = set()
    for block in blocks_of(text):
        code.update(range(block.line, block.line + len(block.lines)))
    for number, line in enumerate(text.split("\n"), 1):
        found = None if number in code else HEADING.match(line)
        if not found:
            continue
        title = LINK.sub(r"\1", found[2]).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        anchors.add(slug if count == 0 else f"{slug}-{count}")
    return anchors


def formats_script(root):
    """scripts/formats as a module."""
    loader = importlib.machinery.SourceFileLoader("formats", str(pathlib.Path(root) / "scripts/formats"))
    formats = importlib.util.module_from_spec(importlib.util.spec_from_loader("formats", loader))
    loader.exec_module(formats)
    return formats


def format_pages(root):
    """The pages of the formats, which scripts/formats writes: where they lie when they are installed, and their texts. A tree of
    the checkers' own tests has none."""
    if not (pathlib.Path(root) / "scripts/formats").exists():
        return {}
    formats = formats_script(root)
    return {f"docs/formats/{name}": text for name, text in formats.pages(formats.schema_folder())[1].items()}


def documents(root):
    """Every document of the project, by its path from the root: where a newcomer reads; and the pages of the formats."""
    root = pathlib.Path(root)
    found = [root / "README.md", root / "HACKING.md", root / "CHANGELOG.md"]
    for pattern in ("docs/**/*.md", "examples/**/*.md", "bench/*.md", "tests/*/README.md", "web/*.md"):
        found += sorted(root.glob(pattern))
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in found if path.exists()} | format_pages(root)
