"""Checks CHANGELOG.md: every release has a version and a date or `unreleased`, newest first, the newest is the version of CMakeLists.txt,
and each has entries under the headings of Keep a Changelog (and `Known limits`). With --release the newest has to have a date.

    check_changelog.py ROOT [--release]
"""
import pathlib
import re
import sys

GROUPS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Known limits"]
RELEASE = re.compile(r"([0-9]+)\.([0-9]+)\.([0-9]+) - (unreleased|\d{4}-\d{2}-\d{2})")


def faults(text, version, released):
    """What is wrong with it, a sentence each."""
    versions = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        found = RELEASE.fullmatch(heading.strip())
        if not found:
            yield f"'## {heading}': a heading is VERSION - YYYY-MM-DD, or VERSION - unreleased"
            continue
        versions.append(tuple(int(part) for part in found.groups()[:3]))
        if found[4] == "unreleased" and (released or len(versions) > 1):
            yield f"'## {heading}' has no date"
        groups = re.split(r"^### ", body, flags=re.MULTILINE)[1:]
        for group in groups:
            name, _, entries = group.partition("\n")
            if name.strip() not in GROUPS:
                yield f"'### {name}' is none of {', '.join(GROUPS)}"
            if not re.search(r"^- \S", entries, re.MULTILINE):
                yield f"'### {name}' of {heading} has no entry"
        if not groups:
            yield f"'## {heading}' has no entries"
    if versions != sorted(set(versions), reverse=True):
        yield "releases are not in order, the newest first"
    if not versions or versions[0] != tuple(int(part) for part in version.split(".")):
        yield f"the newest release is not {version}, the version of CMakeLists.txt"


def main():
    root = pathlib.Path(sys.argv[1])
    version = re.search(r"^project\(\S+ VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    text = (root / "CHANGELOG.md").read_text()
    if "--self-test" in sys.argv:
        text = "# Changelog\n\n## 0.0.1 - soon\n\n## 0.0.2 - 2026-01-01\n\n### News\n\nnone\n\n## 0.0.3 - unreleased\n"
    found = list(faults(text, version, "--release" in sys.argv))
    print("\n".join(found) + ("\n" if found else "") + f"{len(found)} faults in CHANGELOG.md")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
