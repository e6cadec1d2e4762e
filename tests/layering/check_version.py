"""Checks that the version stands in one place, project(... VERSION) of CMakeLists.txt: nothing else that is built or packed from has it as
text, and CHANGELOG.md has a heading for it. Not looked at: tests and documents, where versions of documents stand too."""
import pathlib
import re
import sys

PLACES = ["CMakeLists.txt", "CMakePresets.json", "Makefile", "cmake", "packaging", "scripts", "src", "web/package.json", "web/src"]


def files(root):
    for place in PLACES:
        path = root / place
        yield from ([path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file() and "__pycache__" not in p.parts))


def main():
    root = pathlib.Path(sys.argv[1])
    version = re.search(r"^project\(\S+ VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    # Written out, and not a part of a longer version.
    literal = re.compile(r"(?<![0-9.])" + re.escape(version) + r"(?![0-9]|\.[0-9])")
    found, looked_at = [], 0
    for path in files(root):
        name = path.relative_to(root)
        looked_at += 1
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if literal.search(line) and "schema" not in line and not (str(name) == "CMakeLists.txt" and line.startswith("project(")):
                found.append(f"{name}:{number}: {line.strip()[:100]}")
    if not re.search(r"^## " + re.escape(version) + r"\b", (root / "CHANGELOG.md").read_text(), re.MULTILINE):
        found.append(f"CHANGELOG.md has no heading for {version}")
    print("\n".join(found) or f"{looked_at} files, the version {version} stands in CMakeLists.txt alone")
    return 1 if found or looked_at < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
