"""The proposer of docs/DEVELOPER_GUIDE.md in a whole run of `rocm-perf optimize`, with the guide's own command: it is accepted.
Its programs count work instead of time (tests/support/counted_clock.cpp): what gains does so on a busy machine, too.

    check_proposer.py ROOT PROGRAM
"""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile


def command_of(guide):
    """The words of the guide's command, without the program."""
    found = re.search(r"^    rocm-perf (optimize .*?[^\\])$", guide, re.MULTILINE | re.DOTALL)
    return shlex.split(found.group(1).replace("\\\n", " "))


def main():
    root, program = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    words = command_of((root / "docs/DEVELOPER_GUIDE.md").read_text())
    with tempfile.TemporaryDirectory() as folder:
        # The command runs in a copy of examples/, beside which the proposer lies as it does in the tree.
        examples = pathlib.Path(folder) / "examples"
        shutil.copytree(root / "examples", examples)
        shutil.copytree(root / "tests/docs/examples", pathlib.Path(folder) / "tests/docs/examples")
        compiler = pathlib.Path(folder) / "bin/g++"
        compiler.parent.mkdir()
        clock = root / "tests/support/counted_clock.cpp"
        compiler.write_text(f'#!/bin/sh\nexec "{shutil.which("g++")}" -fsanitize-coverage=trace-pc "$@" "{clock}"\n')
        compiler.chmod(0o755)
        environment = {**os.environ, "PATH": f"{compiler.parent}:{os.environ['PATH']}"}
        run = subprocess.run([program, *words], cwd=examples, env=environment, capture_output=True, text=True)
        print(run.stdout, run.stderr, sep="\n")
        if run.returncode != 0:
            print(f"exit code {run.returncode}: nothing was accepted")
            return 1
        document = json.loads((examples / "optimization/optimization.json").read_text())
        summaries = [candidate["summary"] for candidate in document["candidates"]]
        print(summaries)
        if document["accepted"] is None or not all("accumulators" in summary for summary in summaries):
            print("the accepted proposal is not the guide's")
            return 1
        checked = subprocess.run([program, "optimize", "--recheck", "optimization/optimization.json"], cwd=examples)
        return checked.returncode


if __name__ == "__main__":
    sys.exit(main())
