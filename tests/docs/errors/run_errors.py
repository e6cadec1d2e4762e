"""Makes the program fail in many ways and looks each message up in docs/ERRORS.md as a user would: `run_errors.py PROGRAM DOCUMENT`.
The message has to be listed under the exit code that the program ended with, with the remedy that it printed."""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from check_errors import BEGIN, ELSE, MESSAGE, PRINTED, listed_in
from messages import CODES

# Command lines that fail, by the exit code that each ends with. In the folder: text (not a database), empty (0 bytes), folder/,
# elf (the head of an ELF file), space.json and broken.json, table.csv, kernel.hip, capture/ (begun and never finished).
COMMANDS = {
    2: """
        --quiet
        nonsense
        replay nonsense
        analyze --nonsense text
        analyze
        analyze text --segment x
        analyze --att folder --roofs table.csv
        isolate
        isolate --kernel
        isolate --kernel k
        isolate --kernel '' -- true
        isolate --kernel '(' --out new -- true
        isolate --kernel k --out folder -- true
        replay full-vm --capture-dir capture --iterations 0
        replay verify capture --type f99
        autotune --space space.json --objective nonsense
        autotune
        autotune --space space.json
        autotune --space space.json --cmd-template "true {Y}"
        autotune --space space.json --cmd-template "true {X}" --metric-regex "time: [0-9]+"
        occupancy --arch gfx942 --arch gfx90a --vgpr 8 --block 64
        occupancy --arch gfx942 --vgpr 8 --block 64 --waves-per-eu x
        inspect kernel.hip
        inspect kernel.hip --arch nonsense
        inspect elf --min-occupancy many
        compare text
        compare text text --threshold much
        compare text text --confidence 1
        critical-path text --what-if nonsense
        profile
        profile -- ./missing-program
        profile -- ./folder
        profile --timeout soon -- true
        profile "unbalanced 'quote"
        profile --runs 0 -- true
        profile --roofs table.csv -- true
        optimize
        optimize kernel.hip
        optimize kernel.hip --run true --capture capture
        optimize kernel.hip --run true --min-gain much
        schema nonsense
        schema profile -- word
        doctor nonsense
        mcp --max-answer 1
        completion tcsh
    """,
    3: """
        analyze missing.db
        analyze text
        analyze empty
        analyze folder
        analyze --att folder
        analyze --att missing
        roofline table.csv
        inspect missing.hsaco
        inspect text
        inspect empty
        inspect elf
        inspect missing.hip --arch gfx942
        capture check missing
        capture check folder
        capture check capture
        compare missing text
        compare words words
        autotune --space broken.json --cmd-template "true {X}"
        autotune --space text --cmd-template "true {X}"
        autotune --simulate text
        autotune --simulate empty
        optimize missing.hip --run true
        optimize --recheck broken.json
        report text --html page.html
    """,
    4: """
        autotune --space space.json --cmd-template "./missing-program {X}"
        profile --runs 2 -- true
    """,
    5: """
        profile --no-rocprof -- false
        profile --no-rocprof --timeout 1s -- sleep 9
    """,
}
# What fails only where ROCm is not installed in its own place.
if pathlib.Path("/opt/rocm/bin/rocprofv3").exists():
    COMMANDS[4] = COMMANDS[4].replace("profile --runs 2 -- true", "")


# Command lines that give the values themselves: exit code 2, for what would be a bad input in a file (code 3 in the list).
VALUES = ["occupancy --arch gfx942 --vgpr 8 --block 4096", "occupancy --arch gfx942 --vgpr 8 --block 64 --lds 999999999"]


def in_words(entry):
    """An expression for a message of the list: words in capitals stand for anything, parts in brackets may be missing."""
    out = ""
    for piece in re.split(r"(\[[^\]]*\]|(?<![A-Za-z])[A-Z][A-Z0-9-]*[A-Z0-9](?![A-Za-z0-9]))", entry):
        if piece.startswith("["):
            out += f"(?:{in_words(piece[1:-1])})?"
        elif re.fullmatch(r"[A-Z][A-Z0-9-]*[A-Z0-9]", piece):
            out += ".*"
        else:
            out += re.escape(piece)
    return out


def entries_of(text):
    """[(exit code, expression, remedy)] of the list and of the section about options."""
    listed, _ = listed_in(text)
    out = [(CODES[group], re.compile(in_words(message), re.DOTALL), remedy)
           for (group, message), (remedy, _) in listed.items() if group in CODES]
    for line in text.partition(BEGIN)[0].splitlines():
        if match := MESSAGE.match(line):
            out.append((CODES["usage"], re.compile(in_words(match[2]), re.DOTALL), PRINTED))
    return out


def make_folder(folder):
    (folder / "folder").mkdir()
    (folder / "capture" / "pre").mkdir(parents=True)
    (folder / "text").write_text("This is a text.\n")
    (folder / "words").write_text("1.5\nno number\n")
    (folder / "empty").write_text("")
    (folder / "elf").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(20))
    (folder / "space.json").write_text('{"tune_params": {"X": [1, 2]}}')
    (folder / "broken.json").write_text('{"tune_params": ')
    (folder / "table.csv").write_text("Dispatch_Id,Kernel_Name\n1,k\n")
    (folder / "kernel.hip").write_text("__global__ void k(float* x) { x[0] = 1; }\n")


def problem_of(program, folder, code, listed_code, line, entries):
    """What is wrong with the message of a command line; empty: nothing."""
    words = [] if line.startswith("#") else shlex.split(line)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8",
                   "PERFLAB_ISOLATE_LIBRARY": str(folder / "text")}  # never loaded here
    done = subprocess.run([program, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != code:
        return f"ended with {done.returncode}, not with {code}: {done.stderr}"
    if not done.stderr.startswith("rocm-perf: "):
        return f"does not begin with the program's name: {done.stderr}"
    message, _, rest = done.stderr.removeprefix("rocm-perf: ").rstrip("\n").partition("\n  ")
    tries = [part for part in ("  " + rest).split("\n") if part.startswith("  try: ")]
    # On its way up a message may get a name in front: "--cmd-template: ...".
    ends = [message] + [message[m.end():] for m in re.finditer(": ", message)]
    of_code = [(e, r) for c, e, r in entries if c == listed_code]
    found = [r for end in ends for e, r in of_code if e.fullmatch(end) and re.search("[a-z]{3}", e.pattern)] or \
            [r for e, r in of_code if e.fullmatch(message)]  # "FILE: REASON", what the system says alone
    if not found:
        return f"not in the list: {message}"
    if tries and not any(remedy.startswith(PRINTED) for remedy in found):
        return f"{tries[0].strip()}: the list has no such remedy for: {message}"
    if not tries and all(remedy.startswith(PRINTED) and ELSE not in remedy for remedy in found):
        return f"printed no remedy, and the list says that it does: {message}"
    return ""


def main():
    program, document = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    entries = entries_of(document.read_text())
    lines = [(code, code, line.strip()) for code, text in COMMANDS.items() for line in text.strip().splitlines()]
    lines += [(2, 3, line) for line in VALUES]
    problems = []
    for code, listed_code, line in lines:
        with tempfile.TemporaryDirectory() as name:
            make_folder(pathlib.Path(name))
            if problem := problem_of(program, pathlib.Path(name), code, listed_code, line, entries):
                problems.append(f"rocm-perf {line}\n    {problem}")
    print("\n".join(problems) or f"{len(lines)} command lines fail with a message that is listed, each with the remedy that is printed")
    return 1 if problems or not entries else 0


if __name__ == "__main__":
    sys.exit(main())
