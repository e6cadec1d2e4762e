"""Checks that every fuzz target is run: the files fuzz/*_fuzz.cpp, the targets of fuzz/CMakeLists.txt and those of `scripts/fuzz
--targets`, each once. With --self-test: in a copy of these files in which one target is not run and one is run twice."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def faults(root):
    files = sorted(path.name.removesuffix("_fuzz.cpp") for path in (root / "fuzz").glob("*_fuzz.cpp"))
    built = sorted(re.findall(r"^perflab_fuzz\((\w+) SOURCES \1_fuzz\.cpp\b", (root / "fuzz/CMakeLists.txt").read_text(), re.M))
    said = subprocess.run(["sh", root / "scripts/fuzz", "--targets"], check=True, capture_output=True, text=True).stdout.split()
    assert files, f"{root}/fuzz: no target"
    for name in files:
        if built.count(name) != 1:
            yield f"fuzz/{name}_fuzz.cpp is a target {built.count(name)} times in fuzz/CMakeLists.txt"
        if said.count(name) != 1:
            yield f"fuzz/{name}_fuzz.cpp is run {said.count(name)} times by scripts/fuzz"
    for name in sorted(set(built + said) - set(files)):
        yield f"there is no fuzz/{name}_fuzz.cpp"


def planted(root, copy):
    shutil.copytree(root / "fuzz", copy / "fuzz")
    (copy / "fuzz/planted_fuzz.cpp").write_text("")
    (copy / "scripts").mkdir()
    text = (root / "scripts/fuzz").read_text()
    line = re.search(r"^kineto .*\n", text, re.M)
    (copy / "scripts/fuzz").write_text(text[:line.end()] + line.group() + text[line.end():])
    return copy


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as copy:
        found = list(faults(planted(root, pathlib.Path(copy)) if "--self-test" in sys.argv else root))
    print("\n".join(found) or "every fuzz target is run")
    print(f"{len(found)} faults")
    sys.exit(bool(found))


main()
