"""Checks that scripts/bootstrap installs every Debian package that cmake/PerflabDependencies.cmake looks for (each stands in
a comment on the line that looks for it, or on the one before)."""
import pathlib
import re
import sys

PACKAGE = re.compile(r"\b((?:lib[a-z0-9.+-]+|nlohmann-json3)-dev)\b")
LOOKS_FOR = re.compile(r"^find_(?:package|path)\((\w+)")


def main():
    root = pathlib.Path(sys.argv[1])
    lines = (root / "cmake/PerflabDependencies.cmake").read_text().splitlines()
    bootstrap = set(re.findall(r"[a-z0-9.+-]+", (root / "scripts/bootstrap").read_text()))
    needed, found = set(), []
    for before, line in zip([""] + lines, lines):
        looks_for = LOOKS_FOR.match(line)
        if not looks_for or looks_for[1] == "Threads":  # part of the compiler
            continue
        packages = PACKAGE.findall(line) or PACKAGE.findall(before)
        if not packages:
            found.append(f"{looks_for[1]}: no Debian package is named beside it")
        needed.update(packages)
    found += [f"scripts/bootstrap does not install {package}" for package in sorted(needed - bootstrap)]
    print("\n".join(found) or f"all {len(needed)} packages that CMake looks for are installed by scripts/bootstrap")
    return 1 if found or not needed else 0


if __name__ == "__main__":
    sys.exit(main())
