"""Runs every command of a document, one after the other, as a reader would type them.

    run_commands.py DOCUMENT --playground DIR --folder DIR     in a copy of the playground (playground.py)
    run_commands.py DOCUMENT --where package --folder DIR      with what is installed on this machine, in an empty folder
    run_commands.py DOCUMENT --playground DIR --folder DIR --write    puts the outputs that differ into the document

Commands share one folder and one environment: `cd` and `export` last. Each has to end with exit code 0, or with what commands.toml
says of it. A command that is not run needs a reason there; a row that no command of the document matches is an error, too.
What the playground makes smaller or fakes stands in commands.toml ([[environment]]) and in playground.py: no command is changed."""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

import chat_server
import documents

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LIMIT_S = 1200  # of one command; many times what it takes on a machine that does nothing else


def without_comment(text):
    """A command without the comment behind it, on one line with single blanks: how commands.toml names it."""
    quote, out = "", ""
    for at, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and (at == 0 or text[at - 1].isspace()):
            # Up to the end of the line; a here-document goes on behind it.
            rest = text[at:].split("\n", 1)
            return " ".join((out + (without_comment("\n" + rest[1]) if len(rest) > 1 else "")).replace("\\\n", " ").split())
        out += char
    return " ".join(out.replace("\\\n", " ").split())


class Table:
    """commands.toml for one document."""

    def __init__(self, path, document, where):
        data = tomllib.loads(path.read_text())
        self.rows = [row for row in data.get("command", []) if document in row["in"]]
        self.environments = data.get("environment", [])
        rows = data.get("document", [])
        self.document = next((row for row in rows if fnmatch.fnmatch(document, row["in"])), {})
        self.where = where
        self.used = set()

    def row(self, words):
        for at, row in enumerate(self.rows):
            if row["text"] == words:
                self.used.add(at)
                return row
        return {}

    def why_not(self, row):
        """The reason why the command is not run here; None: it is."""
        if "not_run" in row:
            return row["not_run"]
        if "runs_in" in row:
            return f"{row['runs_in']} has the same command, and runs it"
        if "only" in row and self.where not in row["only"]:
            return "only in: " + ", ".join(row["only"])
        return None

    def set_for(self, words):
        found = {}
        for row in self.environments:
            if re.search(row["match"], words):
                found.update(row["set"])
        return found

    def unused(self):
        return [row["text"] for at, row in enumerate(self.rows) if at not in self.used]


class Shell:
    """Runs commands with bash; the folder and the exported variables of one are those of the next."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.state = pathlib.Path(tempfile.mkdtemp(prefix="docs-"))
        self.environment = environment
        (self.state / "here").write_text(str(folder))
        (self.state / "exports").write_text("")

    def run(self, command, more, limit):
        """(exit code, seconds, output). The whole process group ends with the command."""
        script = ('. "$STATE/exports"; cd "$(cat "$STATE/here")" || exit 98\n'
                  'eval "$COMMAND"; code=$?\n'
                  'pwd >"$STATE/here"; export -p | grep -v " COMMAND=\\| STATE=" >"$STATE/exports"\nexit $code')
        environment = {**self.environment, "STATE": str(self.state), "COMMAND": command}
        begin = time.monotonic()
        # Settings of [[environment]] are for this command alone.
        for name, value in more.items():
            environment[name] = value
            script = script.replace("exit $code", f'sed -i "/ {name}=/d" "$STATE/exports"\nexit $code')
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                       env=environment, start_new_session=True)
            try:
                code = process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                code = "timed out"
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            output.seek(0)
            text = output.read().decode(errors="replace")
        return code, time.monotonic() - begin, text

    def close(self):
        shutil.rmtree(self.state)


def not_shown(text, command, output, written):
    """What is wrong with the output that the document shows; with `written`, whole outputs are noted there instead."""
    printed = [line.rstrip() for line in output.rstrip().split("\n")]
    block = documents.output_after(text, command.line)
    if block is None:
        return "commands.toml says shows, and no fence of text follows"
    if documents.shows(block.lines, printed):
        return None
    if written is not None and "…" not in (line.strip() for line in block.lines):
        written.append((block, printed))
        return None
    return "the document shows another output than\n" + "\n".join(printed)


def with_outputs(text, written):
    """The document with these outputs in place of those that it shows."""
    lines = text.split("\n")
    for block, printed in sorted(written, key=lambda each: -each[0].line):
        lines[block.line - 1:block.line - 1 + len(block.lines)] = printed
    return "\n".join(lines)


def run_document(name, text, table, shell, settings):
    commands, problems = documents.commands_of(text)
    problems = [f"{name}:{problem}" for problem in problems]
    ran = 0
    for command in commands:
        words = without_comment(command.text)
        row = table.row(words)
        if other := row.get("runs_in"):
            same = [without_comment(each.text) for each in documents.commands_of((ROOT / other).read_text())[0]]
            if words not in same or other == name:
                problems.append(f"{name}:{command.line}: {other} has no such command: {words}")
        if reason := table.why_not(row):
            print(f"  not run  {words}\n           ({reason})")
            continue
        more = {key: value.format(**settings) for key, value in table.set_for(words).items()} if settings["playground"] else {}
        code, seconds, output = shell.run(command.text, more, row.get("limit", LIMIT_S))
        measured = "real_times" in row and table.where != "playground"
        wanted = row["real_times"] if measured else row.get("exit", 0)
        good = code in (wanted if isinstance(wanted, list) else [wanted])
        if good and code == 0 and "prints" in row and not measured and not re.search(row["prints"], output):
            good, code = False, f"{code}, but does not print {row['prints']}"
        ran += 1
        print(f"{seconds:6.1f} s {'' if good else 'FAILED '}[{code}] {words}", flush=True)
        if good and "shows" in row and not measured:
            if problem := not_shown(text, command, output, settings.get("written")):
                problems.append(f"{name}:{command.line}: {problem}: {words}")
        if not good:
            problems.append(f"{name}:{command.line}: exit code {code}, expected {wanted}: {words}\n" + output[-3000:])
    problems += [f"{name}: commands.toml has a row that matches no command: {words}" for words in table.unused()]
    if commands and table.document.get("no_commands"):
        problems.append(f"{name}: commands.toml says no_commands, and there are {len(commands)}")
    if ran == 0 and not table.document.get("none_run" if commands else "no_commands"):
        problems.append(f"{name}: no command was run; [[document]] of commands.toml can say no_commands, or none_run, with a reason")
    return problems


def environment_of(playground, folder, port):
    if not playground:
        return {**os.environ, "COLUMNS": "100"}  # as in the playground: outputs are compared
    variables = json.loads((playground / "variables.json").read_text())
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("ROCM_PATH", "HSA_RESERVE_SVM", "HSA_TOOLS_LIB", "ROCPROFV3", "NO_COLOR")}
    environment.update({key: value.replace("{folder}", str(folder)) for key, value in variables.items()})
    environment["ROCM_PERF_LLM_BASE_URL"] = f"http://127.0.0.1:{port}/v1"
    pathlib.Path(environment["HOME"]).mkdir(exist_ok=True)
    return environment


def prepare(arguments, table):
    folder = pathlib.Path(arguments.folder).absolute()
    if folder.exists():
        shutil.rmtree(folder)
    work = folder / "work"
    if not arguments.playground:
        work.mkdir(parents=True)
        if table.where == "clone":
            # The clone itself stays as it is: what is written to is copied.
            root = pathlib.Path(arguments.root).absolute()
            (work / "build").symlink_to(root / "build")
            shutil.copytree(root / "examples", work / "examples")
        return work
    shutil.copytree(pathlib.Path(arguments.playground) / "files", work, symlinks=True)
    for name in table.document.get("without", []):
        path = work / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return work


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("document", help="its path from the root of the repository")
    parser.add_argument("--playground")
    parser.add_argument("--folder", required=True, help="made anew")
    parser.add_argument("--where", default="playground", help="clone, package or playground: [[command]] rows can say only = [...]")
    parser.add_argument("--root", default=str(ROOT))
    parser.add_argument("--write", action="store_true", help="put outputs that differ into the document (commands.toml: shows)")
    parser.add_argument("--table", default=str(HERE / "commands.toml"))
    arguments = parser.parse_args()
    table = Table(pathlib.Path(arguments.table), arguments.document, arguments.where)
    if reason := table.document.get("not_run"):
        print(f"{arguments.document}: not run: {reason}")
        return 0
    text = (pathlib.Path(arguments.root) / arguments.document).read_text(encoding="utf-8")
    if not documents.commands_of(text)[0]:  # nothing is run: no folder is made
        problems = run_document(arguments.document, text, table, None, {})
        print("\n".join(problems))
        return 1 if problems else 0
    work = prepare(arguments, table)
    playground = pathlib.Path(arguments.playground).absolute() if arguments.playground else None
    settings = {"playground": playground, "files": work, "root": arguments.root}
    if playground:
        settings.update(json.loads((playground / "variables.json").read_text()))
    settings["written"] = [] if arguments.write else None
    answer = (playground / "llm_answer.txt").read_text() if playground else ""
    with chat_server.ChatServer(answer) as server:
        shell = Shell(work, environment_of(playground, work, server.port))
        problems = run_document(arguments.document, text, table, shell, settings)
        shell.close()
    if settings["written"]:
        document = pathlib.Path(arguments.root) / arguments.document
        document.write_text(with_outputs(text, settings["written"]), encoding="utf-8")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
