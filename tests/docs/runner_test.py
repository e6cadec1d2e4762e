"""The runner and the link checker find what they are there for: documents with planted mistakes, each with the sentence that it has to
get, and one without."""
import contextlib
import io
import os
import pathlib
import sys
import tempfile

import check_links
import documents
import run_commands

TABLE = """
[[command]]
in = ["good.md"]
text = "exit 3"
exit = 3

[[command]]
in = ["good.md"]
text = "reboot now"
not_run = "it ends the machine"

[[command]]
in = ["good.md", "differs.md", "shows_nothing.md", "written.md"]
text = "seq 5"
shows = true

[[command]]
in = ["elsewhere.md"]
text = "echo elsewhere"
runs_in = "docs/MODELS.md"

[[command]]
in = ["stale.md"]
text = "gone"
exit = 1

[[command]]
in = ["skipped.md", "all_skipped.md"]
text = "reboot now"
not_run = "it ends the machine"

[[document]]
in = "surprise.md"
no_commands = "words"

[[document]]
in = "word*.md"
no_commands = "words"

[[document]]
in = "all_skipped.md"
none_run = "it ends the machine"
"""

# Documents of which nothing is run, as TABLE says.
QUIET = {"words.md": "Words.\n", "all_skipped.md": "    reboot now\n"}

GOOD = """Text.

    cd folder && export WORD=kept      # both last
    test "$(basename "$PWD") $WORD" = "folder kept"
    exit 3
    reboot now
    test "$(printf '%s' \\
        continued)" = continued

```sh
cat >file <<'EOF'
# no comment
EOF
grep -q comment file
```

```text
not a command
```

    {"json": true}

    seq 5

```text
1
…
4
5
```
"""

BAD = {
    "fails.md": ("    false\n", "exit code 1, expected 0: false"),
    "stale.md": ("    true\n", "matches no command: gone"),
    "elsewhere.md": ("    true\n    echo elsewhere\n", "docs/MODELS.md has no such command"),
    "hidden.md": ("    true\n\n```text\nrocm-perf no-such-command\n```\n", "rocm-perf no-such-command"),
    "fence.md": ("    true\n\n```\nwhat is this\n```\n", "a fence without language"),
    "json.md": ("    true\n\n    {\"json\": tru}\n", "not JSON"),
    "empty.md": ("Nothing.\n", "no command was run"),
    "skipped.md": ("    reboot now\n", "no command was run"),
    "surprise.md": ("    true\n", "says no_commands, and there are 1"),
    "differs.md": ("    seq 5\n\n```text\n1\n2\n3\n5\n```\n", "the document shows another output"),
    "shows_nothing.md": ("    seq 5\n\nWords.\n\n```text\n1\n2\n3\n4\n5\n```\n", "no fence of text follows"),
    "continued.md": ("    true && \\\n    false\n", "exit code 1"),
}

LINKS = "# A title: `code`, twice\n\n[1](#a-title-code-twice) [2](#gone) [3](gone.md) [4](../out.md) `[5](code)`\n"


def problems_of(folder, name, text, written=None):
    (folder / "table.toml").write_text(TABLE)
    (folder / "folder").mkdir(exist_ok=True)
    table = run_commands.Table(folder / "table.toml", name, "playground")
    shell = run_commands.Shell(folder, {"PATH": os.environ["PATH"], "HOME": str(folder)})
    with contextlib.redirect_stdout(io.StringIO()):
        problems = run_commands.run_document(name, text, table, shell, {"playground": None, "written": written})
    shell.close()
    return problems


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        if problems := problems_of(folder, "good.md", GOOD):
            wrong.append(f"good.md: {problems}")
        for name, text in QUIET.items():
            if problems := problems_of(folder, name, "Text.\n\n" + text):
                wrong.append(f"{name}: {problems}")
        for name, (text, sentence) in BAD.items():
            problems = problems_of(folder, name, "Text.\n\n" + text)
            if len(problems) != 1 or sentence not in problems[0]:
                wrong.append(f"{name}: {problems} instead of one with: {sentence}")
        text, written = "    seq 5\n\n```text\n1\n7\n```\n\nMore.\n", []
        if problems := problems_of(folder, "written.md", text, written):
            wrong.append(f"written.md: {problems}")
        if run_commands.with_outputs(text, written) != "    seq 5\n\n```text\n1\n2\n3\n4\n5\n```\n\nMore.\n":
            wrong.append("the output was not put into the document")
        (folder / "README.md").write_text(LINKS)
        found, links = check_links.check(folder)
        if links != 4 or len(found) != 3:
            wrong.append(f"links: {links} of 4 read, 3 wrong ones: {found}")
    if run_commands.without_comment("a '# b' \\\n  c   # d") != "a '# b' c":
        wrong.append("comments: " + run_commands.without_comment("a '# b' \\\n  c   # d"))
    if documents.anchors_of("# A\n## A\n") != {"a", "a-1"}:
        wrong.append("anchors of equal headings")
    print("\n".join(wrong) or f"{len(BAD)} planted mistakes and 3 links were found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
