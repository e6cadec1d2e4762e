"""Runs docs/TUTORIAL.md with a program that is installed, as scripts/newcomer does: without its GPU half, in a folder that is removed.

    run_tutorial.py /usr/bin/rocm-perf          from the package: files from /usr/share/rocm-perf-lab
    run_tutorial.py BUILD/src/cli/rocm-perf     any other program: the files of this clone, built with `make release`"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    program = pathlib.Path(sys.argv[1]).absolute()
    where = "package" if program.parent == pathlib.Path("/usr/bin") else "clone"
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="tutorial-") as folder:
        return subprocess.run([sys.executable, HERE / "run_commands.py", "docs/TUTORIAL.md", "--where", where, "--folder", folder],
                              env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
