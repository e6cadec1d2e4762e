"""Compares docs/ERRORS.md with the messages in the sources: `check_errors.py SOURCES DOCUMENT` fails when a message is not listed,
when one is listed that is gone, when an entry has no remedy, or another one than the program prints; `--write` writes the list
anew and keeps the remedies that were written by hand."""
import argparse
import pathlib
import re
import sys

from messages import CODES, messages_of

BEGIN, END = "<!-- The list: written by scripts/errors -->", "<!-- The end of the list -->"
GROUPS = {
    "usage": "Exit code 2: the command line, or a place that cannot be written",
    "bad_input": "Exit code 3: an input is missing, unreadable, damaged or of another format",
    "missing_tool": "Exit code 4: a tool or a device is missing",
    "target_failed": "Exit code 5: the target program failed",
    "refused": "Exit code 1: it was done, and the answer is no",
    "interrupted": "Exit code 130: interrupted",
    "internal": "Exit code 70: internal errors",
    "lint": "Findings about a capture",
    "doctor": "What doctor finds",
    "mcp": "Answers of rocm-perf mcp",
}
assert set(CODES) <= set(GROUPS)
MESSAGE = re.compile(r"^- (`+) ?(.*?) ?\1$")
REMEDY = "  → "
PRINTED = "prints "
ELSE = "; otherwise: "


def quoted(text):
    """A text as Markdown code, whatever backquotes it has."""
    marks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{marks} {text} {marks}" if len(marks) > 1 else f"`{text}`"


def printed(remedies, mark="try: "):
    """What the list says about remedies that the program prints: "" where it prints none; where it does not always print one, the
    text ends with ELSE, and what to do otherwise has to follow."""
    texts = sorted({re.sub(r"\s+", " ", r.strip()) for r in remedies if r})
    if not texts:
        return ""
    always = all(remedies) and not any(t.startswith("[") and t.endswith("]") for t in texts)
    bare = dict.fromkeys(t[1:-1] if t.startswith("[") and t.endswith("]") else t for t in texts)
    return PRINTED + " or ".join(quoted(mark + t) for t in bare) + ("" if always else ELSE)


def by_hand(remedy):
    """The part of a remedy line that was written by hand."""
    if not remedy.startswith(PRINTED):
        return remedy
    return remedy.partition(ELSE)[2]


def satisfies(written, wanted):
    """Whether a remedy line says what the program prints, and something where it prints nothing."""
    if not wanted or wanted.endswith(ELSE):
        return written.startswith(wanted) and bool(written[len(wanted):].strip()) and (bool(wanted) or not written.startswith(PRINTED))
    return written == wanted


def listed_in(text):
    """{(group, message): (remedy, line)} of the list in the document, and what is wrong with its form."""
    headings = {title: group for group, title in GROUPS.items()}
    listed, problems, waiting = {}, [], []
    group, inside = None, False

    def take(remedy):
        for message, at in waiting:
            if (group, message) in listed:
                problems.append(f"line {at}: `{message}` is listed twice")
            listed[group, message] = (remedy, at)
        waiting.clear()

    for number, line in enumerate(text.splitlines(), 1):
        if line in (BEGIN, END):
            inside = line == BEGIN
        if not inside:
            continue
        if waiting and not line.startswith(("- ", "  ")):
            take("")
        if line.startswith("## "):
            group = headings.get(line[3:])
            if group is None:
                problems.append(f"line {number}: there is no group {line[3:]}")
        elif line.startswith("- "):
            match = MESSAGE.match(line)
            if not match:
                problems.append(f"line {number}: not a message between backquotes")
                continue
            waiting.append((match[2], number))
        elif line.startswith(REMEDY):
            take(line[len(REMEDY):].strip())
    take("")
    return listed, problems


def wanted_from(entries):
    """{(group, message): (folder, what the program prints as remedy, places)}; a message of several folders stands in the first."""
    out = {}
    for entry in sorted(entries, key=lambda e: (e.folder, e.places)):
        for text in entry.texts:
            folder, remedies, places = out.setdefault((entry.group, text), (entry.folder, [], []))
            remedies += entry.remedies
            places += entry.places
    return {key: (folder, printed(remedies, "" if key[0] in ("lint", "doctor") else "try: "), places) for key, (folder, remedies, places) in out.items()}


def compare(wanted, listed):
    for (group, message), (_, remedy, places) in sorted(wanted.items(), key=str):
        if (group, message) not in listed:
            yield f"{places[0]}: not in the list: {message} ({group})"
            continue
        written, line = listed[group, message]
        if satisfies(written, remedy):
            continue
        if remedy and not remedy.endswith(ELSE):
            yield f"line {line}: the program's remedy is another one: {remedy}"
        else:
            yield f"line {line}: `{message}` has no remedy, and the program prints none" + (" always" if remedy else "")
    for key, (_, line) in sorted(listed.items(), key=str):
        if key not in wanted:
            yield f"line {line}: no message of the program any more: {key[1]}"


def rendered(wanted, listed):
    """The list: by group, by folder, messages with the same remedy together."""
    lines = [BEGIN]
    for group, title in GROUPS.items():
        of_group = {key[1]: value for key, value in wanted.items() if key[0] == group}
        if not of_group:
            continue
        lines += ["", f"## {title}"]
        for folder in sorted({value[0] for value in of_group.values()}):
            lines += ["", f"### {folder}" if folder else "### (sources)", ""]
            by_remedy = {}
            for message in sorted(m for m, value in of_group.items() if value[0] == folder):
                kept, remedy = by_hand(listed.get((group, message), ("", 0))[0]), of_group[message][1]
                if not remedy or remedy.endswith(ELSE):
                    remedy = remedy + kept if kept else ""
                by_remedy.setdefault(remedy, []).append(message)
            for remedy, texts in sorted(by_remedy.items(), key=lambda item: item[1]):
                lines += [f"- {quoted(text)}" for text in texts] + ([REMEDY + remedy] if remedy else []) + [""]
            lines.pop()
    return "\n".join(lines + ["", END])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("document", type=pathlib.Path)
    parser.add_argument("--write", action="store_true", help="write the list anew")
    arguments = parser.parse_args()
    entries, problems, calls = messages_of(arguments.sources)
    text = arguments.document.read_text()
    listed, wrong = listed_in(text)
    wanted = wanted_from(entries)
    if arguments.write:
        head, _, rest = text.partition(BEGIN)
        text = head + rendered(wanted, listed) + rest.partition(END)[2]
        arguments.document.write_text(text)
        listed, wrong = listed_in(text)
    if BEGIN not in text or END not in text:
        wrong.append(f"the marks of the list are missing: {BEGIN} and {END}")
    wrong += compare(wanted, listed)
    problems += [f"{arguments.document}: {w}" if w.startswith("line ") else w for w in wrong]
    print("\n".join(problems) or f"{len(wanted)} messages from {calls} places, each listed with its remedy")
    return 1 if problems or not calls else 0


if __name__ == "__main__":
    sys.exit(main())
