"""The messages that docs/ERRORS.md quotes are those of the program: their fixed words stand in the sources' string literals.

    check_errors.py ROOT [DOCUMENT]     exit code 1 and a line for each message that the sources do not have

A quoted message is a list item that begins with a code span. Words in capitals stand for what varies.
"""
import pathlib
import re
import sys

MESSAGE = re.compile(r"^- `([^`]+)`", re.MULTILINE)
VARIES = re.compile(r"(?<![\w$/_-])[A-Z]{3,}S?(?![\w_/])")  # FILE, REASON; not ROCPROFV3, HSA_TOOLS_LIB, rocpd_op
NAMES = {"ELF", "HIP", "AMDGPU", "GPU", "GPUS", "JSON", "ISA", "PATH", "ROCPROFV3", "SQL", "CSV", "LLVM"}
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def literals_of(source):
    """The text of the string literals, adjacent ones joined; what is put in between them or for {} is a line end."""
    text = re.sub(r"^\s*//.*$", "", source, flags=re.MULTILINE)
    joined = re.sub(r'(?<!\\)"\s*"', "", text)
    found = "\n".join(match[1] for match in LITERAL.finditer(joined))
    found = found.replace("{{", "\x01").replace("}}", "\x02")
    found = re.sub(r"\{[^{}]*\}", "\n", found).replace("\x01", "{").replace("\x02", "}")
    return found.replace('\\"', '"').replace("\\\\", "\\")


def fixed_words(message):
    """The parts of a message between what varies, and between colons, where messages are put together; without the shortest."""
    marked = VARIES.sub(lambda match: match[0] if match[0] in NAMES else "\n", message)
    return [part.strip() for part in re.split(r"\n|: ", marked) if len(part.strip()) >= 5]


def main():
    root = pathlib.Path(sys.argv[1])
    document = root / (sys.argv[2] if len(sys.argv) > 2 else "docs/ERRORS.md")
    literals = "\n".join(literals_of(file.read_text()) for file in (root / "src").rglob("*") if file.suffix in {".cpp", ".h"})
    messages = MESSAGE.findall(document.read_text())
    wrong = []
    for message in messages:
        parts = fixed_words(message)
        if max(map(len, parts), default=0) < 10 or any(part not in literals for part in parts):
            wrong.append(message)
    for message in wrong:
        print(f"{document.name}: no source has this message: {message}")
    print(f"{len(messages)} messages, {len(wrong)} of them in no source")
    return 1 if wrong or not messages else 0


if __name__ == "__main__":
    sys.exit(main())
