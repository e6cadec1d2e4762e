"""All error messages of the program, from its sources: every call of fail(), every Error{}, what validators of options refuse with,
answers of `rocm-perf mcp`, findings of the lint of captures, problems that doctor finds. A call that cannot be read is a problem
of its own, never skipped."""
import re
from dataclasses import dataclass, field

from cpp_source import Source, SourceError
from texts import NeedsCaller, Reader, Unreadable, unique

CODES = {"usage": 2, "bad_input": 3, "missing_tool": 4, "target_failed": 5, "refused": 1, "interrupted": 130, "internal": 70}
# Places that make no message of their own: (file, a part of the message's expression), with the reason.
PASSED_ON = {
    ("base/error.cpp", "std :: move ( message )"): "the function fail() itself",
    ("base/text/error_json.cpp", "json ["): "an error of another process of this program, listed where it is made",
    ("replay/failures.cpp", "to_string ( failure )"): "the function fail() of named failures: its calls are listed with the name",
    ("tune/evaluate/slurm_executor.cpp", '"on {}: {}" , node_ , message'): "an error of this program on another node, with that node's name",
    ("cli/kit/wrong_command_line.cpp", "refusal . what"): "a text of CLI11: those stand in the section Options of docs/ERRORS.md",
    ("api/perflab.cpp", ". message = message"): "an error as a program in C sees it, listed where it is made",
    ("api/perflab.cpp", "-> message = describe ("): "an error as a program in C sees it, listed where it is made",
    ("cli/kit/analysis_options.cpp", '. message = "--handover "'): "a name in front of a message that is listed",
    ("cli/kit/output_file.cpp", '. message = fmt :: format ( "{} {}" , file . option'): "a name in front of a message that is listed",
    ("measure/autotune.cpp", '. message = fmt :: format ( "{}: {}" , option'): "a name in front of a message that is listed",
    ("optimize/loop/recheck.cpp", ". message = document . string ( )"): "a name in front of a message that is listed",
    ("optimize/workshop/workshop_build.cpp", '. message = fmt :: format ( "{}: {}" , option'): "a name in front of a message that is listed",
    ("tune/space/command_template.cpp", '. message = fmt :: format ( "command template'): "a name in front of a message that is listed",
    ("tune/space/expression.cpp", '. message = fmt :: format ( "{}: {}" , shown_text'): "the expression in front of a message that is listed",
    ("tune/space/rules.cpp", '. message = fmt :: format ( "{}{}: {}" , message_start'): "the rule in front of a message that is listed",
    ("tune/space/rules.cpp", ". message = message_start ( description )"): "the rule in front of a message that is listed, the values behind it",
    ("hal/arch_table.cpp", "problem"): "damage of a table that is part of the program: cannot reach a user, tests read every table",
}


@dataclass
class Entry:
    """One message: its forms, what the source says to do, and where it is made."""
    group: str  # a code's name, or mcp, lint, doctor
    folder: str
    texts: list
    remedies: list  # what the program prints as "try: ..."; "" where it prints none
    places: list = field(default_factory=list)

    @property
    def key(self):
        return (self.group, self.folder, tuple(self.texts))


@dataclass
class Root:
    """One place that makes an error: ranges of tokens of its code, message and remedy (None: there is none)."""
    source: Source
    place: int
    code: tuple | None
    message: tuple
    remedy: tuple | None
    group: str = ""
    prefix: str = ""
    later: bool = False  # the message is assigned to an error that there is: nothing says which code and remedy go with it


def load(root):
    sources, problems = {}, []
    for path in sorted(p for p in root.rglob("*") if p.suffix in (".h", ".cpp")):
        name = path.relative_to(root).as_posix()
        try:
            sources[name] = Source(name, path.read_text())
        except SourceError as error:
            problems.append(str(error))
    return sources, problems


def failures_of(sources):
    """The code of every named failure of replay, from the switch that says it."""
    source = sources.get("replay/failures.cpp")
    out, waiting = {}, []
    for i in range(len(source.tokens) if source else 0):
        if source.sign(i) == "case" and source.sign(i + 1) == "Failure":
            waiting.append(source.sign(i + 3))
        elif source.sign(i) == "return" and source.sign(i + 1) == "ErrorCode":
            out.update({name: source.sign(i + 3) for name in waiting})
            waiting = []
    return out


# Roots ----------------------------------------------------------------------------------------------------------------------


def is_declaration(source, i):
    """Whether "fail (" declares or defines a function: a type stands before it."""
    return source.is_word(i - 1) and source.sign(i - 1) not in ("return", "else") or source.is_sign(i - 1, ">")


def roots_of(source, failures):
    """Every place of a source that makes an error."""
    for i, token in enumerate(source.tokens):
        if token.kind != "word":
            if makes_error(source, i):
                yield error_root(source, i)
            continue
        if token.text == "message" and source.sign(i - 1) in (".", "->") and changes(source, i) and source.sign(i - 2) not in ("{", ","):
            yield Root(source, i, None, (i - 1, Reader.statement_end(source, i + 1, len(source.tokens))), None, later=True)
        elif token.text == "fail" and source.is_sign(i + 1, "(") and not is_declaration(source, i):
            yield from fail_root(source, i, failures)
        elif token.text == "ValidationError" and source.is_sign(i + 1, "(") and source.sign(i - 2) == "CLI":
            parts = source.split(i + 2, source.partner[i + 1], ",")
            yield Root(source, i, None, parts[1], None, "usage", "NAME: ")
        elif source.folder == "mcp" and token.text in ("failed", "error_message") and source.is_sign(i + 1, "(") \
                and not is_declaration(source, i):
            parts = source.split(i + 2, source.partner[i + 1], ",")
            if source.text(*parts[2]) != "text":
                yield Root(source, i, None, parts[2], None, "mcp")
        elif source.folder == "isolate" and token.text == "say_refused" and source.is_sign(i + 1, "(") and not is_declaration(source, i):
            words = source.split(i + 2, source.partner[i + 1], ",")[2]
            if source.text(*words) not in ("text", "error . what ( )"):  # of an error, which is listed, or of the C++ library
                yield Root(source, i, None, words, None, "refused")
        elif source.path == "replay/lint.cpp" and token.text == "add" and source.is_sign(i + 1, "(") \
                and not is_declaration(source, i):
            parts = source.split(i + 2, source.partner[i + 1], ",")
            yield Root(source, i, None, parts[2], parts[3] if len(parts) > 3 else None, "lint")
        elif source.folder == "doctor" and token.text == "problem" and source.sign(i - 1) == "." and source.is_sign(i + 1, "="):
            end = Reader.statement_end(source, i + 2, len(source.tokens))
            remedy = None
            if source.sign(end + 3) == "remedy" and source.is_sign(end + 4, "="):
                remedy = (end + 5, Reader.statement_end(source, end + 5, len(source.tokens)))
            if not re.search(r"\. message$|\. value \( \"problem\" , \"\" \)$", source.text(i + 2, end)):
                yield Root(source, i, None, (i + 2, end), remedy, "doctor")
    if source.folder == "cli":
        yield from validator_roots(source)


def is_conditional(source, start, place):
    """Whether the statement of a place behind start is in a block further in, or hangs on a condition without braces."""
    depth = sum({"{": 1, "}": -1}.get(source.sign(i), 0) for i in range(start, place))
    while source.sign(place - 1) not in (";", "{", "}"):
        place -= 1
    return depth > 0 or source.sign(place) in ("if", "else", "for", "while")


def changes(source, i):
    """Whether a member gets another value here."""
    return source.sign(i + 1) in ("=", "+=") or source.is_sign(i + 1, "+") and source.is_sign(i + 2, "=") \
        or source.sign(i + 1) == "." and source.sign(i + 2) in ("append", "assign", "insert", "replace")


def fail_root(source, i, failures):
    parts = source.split(i + 2, source.partner[i + 1], ",")
    if len(parts) < 2:
        raise Unreadable(f"line {source.tokens[i].line}: fail() with fewer than two arguments")
    remedy = parts[2] if len(parts) > 2 else None
    code = source.text(*parts[0]).split()
    if code[0] == "Failure":
        yield Root(source, i, None, parts[1], remedy, failures.get(code[-1], "internal"), f"{code[-1]}: ")
    else:
        yield Root(source, i, parts[0], parts[1], remedy)


def makes_error(source, i):
    """Whether a brace begins the values of an Error: by its name, by the names of its members, or by a code in the first place."""
    if not source.is_sign(i, "{"):
        return False
    behind = source.text(i + 1, i + 4)
    if source.sign(i - 1) == "Error" and source.sign(i - 2) not in ("struct", "class"):
        return True
    members = {source.sign(first + 1) for first, last in source.split(i + 1, source.partner[i], ",") if source.is_sign(first, ".")}
    return behind == ". code =" and "message" in members or behind.startswith("ErrorCode ::") and source.is_sign(i + 4, ",") and source.sign(i + 5) != "ErrorCode"


def error_root(source, i):
    parts = source.split(i + 1, source.partner[i], ",")
    if not parts:
        raise Unreadable(f"line {source.tokens[i].line}: an Error{{}} without values")
    if not source.is_sign(parts[0][0], "."):
        return Root(source, i, parts[0], parts[1], parts[3] if len(parts) > 3 else None)
    fields = {source.sign(first + 1): (first + 3, last) for first, last in parts}
    if "message" not in fields:
        raise Unreadable(f"line {source.tokens[i].line}: an Error{{}} without a message")
    return Root(source, i, fields.get("code"), fields["message"], fields.get("remedy"))


def validator_roots(source):
    """What validators of options return: texts from lambdas within CLI::Validator(...) and check(...)."""
    for i, token in enumerate(source.tokens):
        if token.kind != "word" or token.text not in ("Validator", "check", "transform") or not source.is_sign(i + 1, "(") \
                or source.sign(i - 1) not in ("::", ".", "->") or source.sign(i - 2) == "ranges":
            continue
        for function in source.functions:
            if function.is_lambda and i < function.first and function.last < source.partner[i + 1]:
                yield from (Root(source, first, None, (first, last), None, "usage", "OPTION: ")
                            for first, last in Reader(dict()).returns_of(function)
                            if source.text(first, last) not in ("{ }", "std :: string ( )", "std :: string { }", '""'))


# Entries --------------------------------------------------------------------------------------------------------------------


class Extractor:
    """Turns roots into entries; a function whose parameters make the words gives an entry per call."""

    def __init__(self, sources):
        self.sources = sources
        self.reader = Reader(sources)
        self.problems = []
        self.found = []
        self.passed_on = set()
        self.calls_seen = 0

    def run(self):
        failures = failures_of(self.sources)
        for source in self.sources.values():
            roots = roots_of(source, failures)
            while True:
                try:
                    root = next(roots, None)
                except Unreadable as why:
                    self.problems.append(f"src/{source.path}: {why}")
                    break
                if root is None:
                    break
                self.calls_seen += 1
                if self.is_passed_on(root):
                    continue
                if root.later:
                    self.problems.append(f"src/{source.path}:{source.tokens[root.place].line}: a message that is assigned later is not read: "
                                         "make an error of its own, with code and remedy, or add it to PASSED_ON")
                else:
                    self.add(root, {}, root.source, root.place, 0)
        return self.merged()

    def is_passed_on(self, root):
        expression = root.source.text(*root.message)
        for (path, part), _ in PASSED_ON.items():
            if path == root.source.path and part in expression:
                self.passed_on.add((path, part))
                return True
        # An empty message is the value of a Result before it gets its own.
        return expression == '""'

    def add(self, root, outer, at_source, at, depth):
        where = f"src/{at_source.path}:{at_source.tokens[at].line}"
        try:
            group = root.group or self.code_of(root, outer)
            read = self.reader.read(root.source, *root.message, outer)
            remedies = self.remedies_of(root, outer)
        except Unreadable as why:
            self.problems.append(f"{where}: the message cannot be read: {why}")
            return
        except NeedsCaller as needs:
            self.add_callers(root, outer, needs, where, depth)
            return
        # A validator says nothing where the value is right: its message is no part that may be left out.
        read = [re.sub(r"^\[([^\[\]]*)\]$", r"\1", t) for t in read]
        if group == "internal" and not any(remedies):
            remedies = self.remedy_of_bugs()
        texts = [re.sub(r"\s+", " ", root.prefix + t).strip() for t in read if t and "MESSAGE" not in t]
        if not texts and any("MESSAGE" in t for t in read):
            return  # the message of another error, perhaps with a name before it
        if not any(re.search(r"[a-z]{3}|^[A-Z-]+: REASON$", t) for t in texts):
            self.problems.append(f"{where}: the message has no fixed words: {texts}")
            return
        texts = [t for t in texts if re.search(r"[a-z]{3}|^[A-Z-]+: REASON$", t)]  # a form of holes alone cannot be looked up
        self.found.append(Entry(group, at_source.folder, texts, [r.strip() for r in remedies], [where]))

    def add_callers(self, root, outer, needs, where, depth):
        calls = self.reader.calls_of(needs.function)
        if not calls or depth > 5:
            self.problems.append(f"{where}: the words come from {needs}, and no call of it is found")
            return
        for source, i in calls:
            inner = dict(outer)
            inner[needs.function] = self.reader.call_at(source, i)
            self.add(root, inner, source, i, depth + 1)

    def code_of(self, root, outer):
        if root.code is None:
            return "internal"
        first, last = root.code
        words = [root.source.sign(i) for i in range(first, last)]
        for n, word in enumerate(words):
            if word == "ErrorCode" and words[n + 2] in CODES:
                return words[n + 2]
        for function in root.source.functions_around(first):
            for index, parameter in enumerate(function.parameters):
                if parameter[0] == words[-1]:
                    if function not in outer:
                        raise NeedsCaller(function, index)
                    call = outer[function]
                    inner = Root(call.source, call.place, call.arguments[index], root.message, None)
                    return self.code_of(inner, outer)
        for function in root.source.functions_around(first):
            for how, a, b in self.reader.values_in(root.source, words[-1], function.first, function.last, first):
                for n in range(a, b):
                    if root.source.sign(n) == "ErrorCode":
                        return root.source.sign(n + 2)
        raise Unreadable("the code " + " ".join(words))

    def remedies_of(self, root, outer):
        if root.prefix in ("OPTION: ", "NAME: "):
            return self.remedy_of_options()
        if not root.remedy:
            return self.later_remedy(root, outer)
        source, (first, last) = root.source, root.remedy
        if re.search(r"(\.|->) remedy( \))?$", source.text(first, last)):
            return [""]  # one that goes with a reason, finding or error from elsewhere
        own = self.reader.read(source, first, last, outer)
        return own if any(own) else self.later_remedy(root, outer)

    def remedy_of_options(self):
        """What stands below everything that the parser of the command line refuses."""
        source = self.sources.get("cli/kit/wrong_command_line.cpp")
        for root in roots_of(source, {}) if source else []:
            if "refusal . what" in source.text(*root.message):
                return self.reader.read(source, *root.remedy, {})
        return [""]

    def remedy_of_bugs(self):
        """What describe() says below an internal error that has no remedy of its own."""
        source = self.sources.get("base/error.cpp")
        for i in source.places_of.get("kReportBug", [])[:1] if source else []:
            return self.reader.read(source, *self.reader.values_in(source, "kReportBug", i, i + 60, None)[0][1:], {})
        return [""]

    def later_remedy(self, root, outer):
        """A remedy that the function gives to the variable that the error is made in; one that is given in a block further in is not
        always printed."""
        source = root.source
        start = root.place
        while start > 0 and source.sign(start - 1) not in (";", "{", "}"):
            start -= 1
        names = [source.sign(i) for i in range(start, root.place) if source.is_word(i)]
        around = source.functions_around(root.place)
        if not around or source.sign(start) == "return":
            return [""]
        out, always = [], False
        for i in range(root.place, around[0].last):
            if source.sign(i) == "remedy" and source.sign(i - 1) == "." and source.is_sign(i + 1, "=") \
                    and source.sign(i - 2) in names:
                out += self.reader.read(source, i + 2, Reader.statement_end(source, i + 2, around[0].last), outer)
                always = always or not is_conditional(source, start, i)
        return out if always else [*out, ""]

    def merged(self):
        by_key = {}
        for entry in self.found:
            known = by_key.setdefault(entry.key, entry)
            if known is not entry:
                known.places += [p for p in entry.places if p not in known.places]
                known.remedies = unique(known.remedies + entry.remedies)
        return list(by_key.values())


def messages_of(root):
    """(entries, problems, number of places that make errors) of a folder of sources."""
    sources, problems = load(root)
    extractor = Extractor(sources)
    entries = extractor.run()
    problems += extractor.problems
    problems += [f"src/{path}: the exception in tests/docs/errors/messages.py matches nothing any more: {part}"
                 for path, part in PASSED_ON if path in sources and (path, part) not in extractor.passed_on]
    return entries, problems, extractor.calls_seen
