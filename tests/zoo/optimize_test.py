"""scripts/device-optimize without a GPU: its kernels exist, its proposer answers for those that have it, and the corpus of cheats is
read as tests/cheats/corpus.h reads it."""
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
loader = importlib.machinery.SourceFileLoader("device_optimize", str(ROOT / "scripts/device-optimize"))
trial = importlib.util.module_from_spec(importlib.util.spec_from_loader("device_optimize", loader))
loader.exec_module(trial)


def main():
    for name, kernel in trial.KERNELS.items():
        text = (ROOT / "examples" / kernel["source"]).read_text()
        begin = text.index("__global__")
        definition = text[begin:text.index("\n}", begin) + 2]
        assert f" {name}(" in definition, f"{kernel['source']} has no kernel {name}"
        if kernel["proposer"] == "rules":
            continue
        task = json.dumps({"round": 1, "kernel": name, "source": text, "kernel_source": definition})
        answer = subprocess.run(kernel["proposer"].removeprefix("exec:").split(), input=task, capture_output=True, text=True, check=True)
        assert definition not in answer.stdout and f" {name}(" in answer.stdout and answer.stderr, f"no idea for {name}"
    original = (ROOT / "tests/cheats/original.hip").read_text()
    cheats = [trial.read_cheat(path, original) for path in sorted((ROOT / "tests/cheats/corpus").glob("*.txt"))]
    assert len(cheats) >= 40 and all(source != original or name == "same_again" or expected & {"unchanged", "no_code"}
                                     for name, expected, source in cheats), "a cheat is the original"
    assert [name for name, expected, _ in cheats if "accepted" in expected] == ["right"]
    try:
        trial.read_cheat(ROOT / "tests/cheats/corpus/reads_clock.txt", "another original")
    except trial.Fault:
        print(f"{len(trial.KERNELS)} kernels, {len(cheats)} cheats")
        return
    raise AssertionError("a cheat that does not fit the original was read")


main()
