"""Checks the include graph of src/: a folder includes itself and floors below it, nothing else (docs/ARCHITECTURE.md, The house)."""
import pathlib
import re
import sys

FLOORS = {
    "base": 1,
    "stats": 2, "hal": 2, "hsa": 2, "code": 2, "trace": 2, "att": 2, "capture": 2, "llm": 2, "mcp": 2,
    "collect": 3, "analyze": 3, "tune": 3, "isolate": 3, "replay": 3,
    "report": 4, "measure": 4,
    "optimize": 5, "api": 5,
    "doctor": 6,
    "cli": 7,
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"/]+)/', re.MULTILINE)
MOST_LINES = 600


def problems(root):
    for file in sorted(p for p in root.rglob("*") if p.suffix in {".h", ".cpp"}):
        folder = file.relative_to(root).parts[0]
        if folder not in FLOORS:
            yield f"{file}: folder '{folder}' has no floor"
            continue
        text = file.read_text()
        if text.count("\n") > MOST_LINES:
            yield f"{file}: longer than {MOST_LINES} lines"
        for included in INCLUDE.findall(text):
            if included in FLOORS and included != folder and FLOORS[included] >= FLOORS[folder]:
                yield f"{file}: {folder} (floor {FLOORS[folder]}) includes from {included} (floor {FLOORS[included]})"


def main():
    root = pathlib.Path(sys.argv[1])
    files = [p for p in root.rglob("*") if p.suffix in {".h", ".cpp"}]
    found = list(problems(root))
    print("\n".join(found) or f"{len(files)} files, every include goes down")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
