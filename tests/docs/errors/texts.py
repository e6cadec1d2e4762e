"""What a C++ expression that makes a message can say: its fixed words, with holes named in words (FILE, LINE).
Follows literals, fmt::format, +, ?:, constants, local variables, members, and functions that return texts. Where an expression
depends on a parameter of the function around it, NeedsCaller says so, and the caller of this module looks at the calls."""
import re
from itertools import product

# Words of an expression that say nothing about what it stands for, and names for those that do.
NOISE = {"std", "fmt", "string", "string_view", "c_str", "get", "front", "back", "data", "message", "what", "to_string", "begin",
         "end", "native", "str", "static_cast", "double", "uint64_t", "size_t", "int64_t", "int", "dump", "value", "first", "second",
         "count", "view", "filename", "join", "ptr", "load", "move", "GetMsg", "text", "type_name", "exchange", "path", "error",
         "value_or", "parent_path", "fs", "filesystem", "views", "ranges", "this", "code", "error_number", "error_number_",
         "error_code", "strerror", "trimmed", "uint32_t", "unsigned", "auto", "at", "describe", "shown_text", "shown", "abbreviated",
         "kind_of", "options", "options_", "request", "request_", "arguments", "detail", "data_", "cat", "it", "get_name", "long",
         "named", "fixed", "c", "capture", "i", "j"}
NAMES = {"errno": "REASON", "errno_text": "REASON", "error.message": "REASON", "error.what": "REASON", "path": "FILE", "text": "TEXT",
         "path_": "FILE", "name_": "NAME", "what_": "WHAT", "what": "WHAT", "file_": "FILE", "argv": "PROGRAM", "code": "CODE",
         "error": "REASON", "value": "VALUE", "count": "COUNT", "first": "FIRST", "second": "SECOND", "capture": "CAPTURE",
         "shown": "TEXT", "i": "NUMBER", "it": "VALUE", "options": "OPTIONS", "request": "REQUEST", "named": "NAME", "at": "PLACE",
         "at_": "PLACE", "describe_end": "ENDING", "files_text": "FILES", "type_name": "TYPE",
         "representative_index": "FILE"}
# Functions and parameters whose texts are values in a message, and no words of it.
NO_WORDS = {"to_string", "describe", "join", "describe_end", "status_text", "duration_text", "join_command_line", "quoted", "call", "key"}
# Members that a function elsewhere fills with sentences, and which of them are errors: the others say that all is well.
SENTENCES = {"certificate . sentence": ("replay/verify/verdict.cpp", "sentence_of", r"Nothing was compared|not deterministic|does not (end|reproduce|compute)")}
ENDINGS = {"describe_end": "ENDING", "status_text": "STATUS", "duration_text": "TIME", "join_command_line": "COMMAND"}
MOST_VARIANTS = 48
MOST_FORMS_OF_A_PART = 24
MOST_DEPTH = 10


class Unreadable(Exception):
    """An expression whose words cannot be told."""


class NeedsCaller(Exception):
    """The words come from a parameter: the calls of the function have to be looked at."""

    def __init__(self, function, index):
        super().__init__(f"parameter {index} of {function.name}")
        self.function, self.index = function, index


class Call:
    """One call of a function, and its arguments."""

    def __init__(self, source, place, arguments):
        self.source, self.place, self.arguments = source, place, arguments


def has_words(text):
    """Whether a text has fixed words besides its holes."""
    return bool(re.search(r"[a-z]{2}", text))


def unique(texts):
    out = list(dict.fromkeys(texts))
    if len(out) > MOST_VARIANTS:
        raise Unreadable(f"more than {MOST_VARIANTS} forms")
    return out


def alternatives(texts):
    """The texts of a choice: one that may be empty is put in brackets."""
    full = [t for t in texts if t]
    if len(full) == 2 and not any(" " in t for t in full) and full[0][:2] == full[1][:2]:
        full = texts = [max(full, key=len)]  # "try" or "tries"
    if len(full) == len(texts):
        return unique(full)
    return unique([t if t.startswith("[") and t.endswith("]") and t.count("[") == 1 else f"[{t}]" for t in full]) or [""]


class Reader:
    """Reads expressions of a set of sources ({path: Source})."""

    def __init__(self, sources):
        self.sources = sources
        self.by_name = {}
        self.calls = {}
        self.constants = {}
        self.busy = set()
        self.known_to_speak = {}
        self.definitions = set()
        for source in sources.values():
            for function in source.functions:
                self.definitions.add((source.path, function.name_at))
                self.by_name.setdefault(function.name, []).append(function)
            for i, token in enumerate(source.tokens):
                if token.kind == "word" and source.is_sign(i + 1, "("):
                    self.calls.setdefault(token.text, []).append((source, i))
                if token.kind == "word" and re.match(r"k[A-Z]", token.text) and not source.functions_around(i):
                    self.constants.setdefault(token.text, []).append((source, i))

    # Calls ------------------------------------------------------------------------------------------------------------------

    def calls_of(self, function):
        """Calls of a function: within its file for lambdas and where the file has any, else everywhere in the folder, else anywhere."""
        def is_call(source, i):
            if (source.path, i) in self.definitions or source.is_sign(i - 1, "::") and not source.is_word(i - 2):
                return False
            if any(f.source is source and f.first <= i < f.last for f in [function]) and function.is_lambda:
                return False
            before = source.sign(i - 1)
            defined_in = function.source.sign(function.name_at - 2) if function.source.is_sign(function.name_at - 1, "::") else ""
            if before == "::" and defined_in and source.is_word(i - 2) and source.sign(i - 2) != defined_in:
                return False
            declared = source.is_word(i - 1) and before not in ("return", "co_return", "else", "throw") or before in (">", "*", "~") \
                or before == "&" and not source.is_sign(i - 2, "(")
            if before == "&" and source.sign(i - 2) in ("=", ",", "return"):
                declared = False
            arguments = source.split(i + 2, source.partner[i + 1], ",")
            required = sum(1 for p in function.parameters if p[1] >= p[2])
            return not declared and required <= len(arguments) <= len(function.parameters)
        found = [(s, i) for s, i in self.calls.get(function.name, []) if is_call(s, i)]
        own = [c for c in found if c[0] is function.source]
        if own or function.is_lambda:
            if function.is_lambda:
                return [c for c in own if self.in_scope(function, c[1])]
            return own
        return [c for c in found if c[0].folder == function.source.folder] or found

    def in_scope(self, function, place):
        around = function.source.functions_around(function.first - 1)
        around = [f for f in around if f is not function]
        return not around or around[0].first <= place < around[0].last

    @staticmethod
    def call_at(source, i):
        return Call(source, i, source.split(i + 2, source.partner[i + 1], ","))

    def argument(self, function, index, call, outer, depth):
        """What a call gives for a parameter; `outer` has the calls of the functions around it, where they are known."""
        outer = {f: c for f, c in outer.items() if f is not function}
        if index < len(call.arguments):
            first, last = call.arguments[index]
            return self.read(call.source, first, last, outer, depth + 1)
        _, first, last, _ = function.parameters[index]
        return self.read(function.source, first, last, {}, depth + 1) if first < last else [""]

    def speaks(self, function, index):
        """Whether calls give fixed words for a parameter."""
        key = (function, index)
        if key in self.known_to_speak:
            return self.known_to_speak[key]
        if not function.parameters[index][3] or function.parameters[index][0] in NO_WORDS or key in self.busy:
            return False
        self.known_to_speak[key] = self.find_out_whether_it_speaks(function, index, key)
        return self.known_to_speak[key]

    def find_out_whether_it_speaks(self, function, index, key):
        self.busy.add(key)
        try:
            for source, i in self.calls_of(function):
                try:
                    texts = self.argument(function, index, self.call_at(source, i), {}, 0)
                except Unreadable:
                    continue
                except NeedsCaller as needs:
                    if self.speaks(needs.function, needs.index):
                        return True
                    continue
                if any(has_words(t) for t in texts):
                    return True
            return False
        finally:
            self.busy.discard(key)

    # Expressions ------------------------------------------------------------------------------------------------------------

    def read(self, source, first, last, outer, depth=0):
        """Texts that the expression of tokens first..last can have."""
        if depth > MOST_DEPTH:
            raise Unreadable("too deep")
        while last - first > 1 and source.is_sign(first, "(") and source.partner[first] == last - 1:
            first, last = first + 1, last - 1
        if first >= last or source.text(first, last) in ("{ }", "std :: nullopt"):
            return [""]
        question = self.top_level(source, first, last, "?")
        if question is not None:
            colon = self.colon_of(source, question, last)
            return alternatives(self.read(source, question + 1, colon, outer, depth + 1) +
                                self.read(source, colon + 1, last, outer, depth + 1))
        plus = source.split(first, last, "+")
        if len(plus) > 1:
            return unique("".join(t) for t in product(*(self.part(source, a, b, outer, depth + 1) for a, b in plus)))
        if all(t.kind == "string" for t in source.tokens[first:last]):
            return ["".join(t.text for t in source.tokens[first:last])]
        token = source.tokens[first]
        if last - first == 1 and token.kind in ("char", "number"):
            return [token.text]
        while source.is_sign(first, "*") or source.is_sign(first, "&"):
            first += 1
        if source.is_sign(last - 1, ")") or source.is_sign(last - 1, "}"):
            opening = source.partner[last - 1]
            if opening > first:
                return self.read_call(source, first, opening, last, outer, depth)
        if last - first == 1 and source.is_word(first):
            return self.read_name(source, first, outer, depth)
        if last - first >= 3 and source.sign(last - 2) in (".", "->") and source.is_word(last - 1):
            if source.sign(last - 1) == "message":
                return ["MESSAGE"]  # of another error, which is listed itself
            if source.text(first, last) in SENTENCES:
                return self.sentences(*SENTENCES[source.text(first, last)])
            return self.read_member(source, first, last, outer, depth)
        raise Unreadable(source.text(first, last))

    @staticmethod
    def top_level(source, first, last, sign):
        parts = source.split(first, last, sign)
        return parts[0][1] if len(parts) > 1 else None

    @staticmethod
    def colon_of(source, question, last):
        depth, i = 0, question + 1
        while i < last:
            if source.sign(i) in ("(", "[", "{"):
                i = source.partner[i]
            elif source.is_sign(i, "?"):
                depth += 1
            elif source.is_sign(i, ":"):
                if depth == 0:
                    return i
                depth -= 1
            i += 1
        raise Unreadable("a choice without its colon")

    def part(self, source, first, last, outer, depth, subject=False):
        """A part of a message: its words, or else a hole with a name."""
        hole = [self.name_of_hole(source, first, last, outer)]
        if subject and hole[0] in ("WHAT", "NAME"):
            hole = ["FILE"]
        if subject and not any(source.is_sign(i, "?") or source.tokens[i].kind == "string" for i in range(first, last)):
            return hole
        if source.is_sign(last - 1, ")") and source.sign(source.partner[last - 1] - 1) in NO_WORDS:
            return [ENDINGS.get(source.sign(source.partner[last - 1] - 1), hole[0])]
        sums = source.split(first, last, "+")
        if len(sums) > 1 and not any(t.kind == "string" for t in source.tokens[first:last]):
            return [self.name_of_hole(source, *sums[0], outer)]  # a sum of numbers
        try:
            texts = self.read(source, first, last, outer, depth + 1)
        except Unreadable:
            return hole
        except NeedsCaller as needs:
            if self.speaks(needs.function, needs.index):
                raise
            return hole
        if len(texts) > MOST_FORMS_OF_A_PART:
            return hole
        if not any(re.search(r"[^\W\d_]|^\[", t) for t in texts) and not all(
                source.tokens[i].kind in ("string", "char") for i in range(first, last)):
            if texts == [""]:
                return texts
            constant = re.match(r"k[A-Z]|\d", source.tokens[last - 1].text)
            return texts if constant and all(re.fullmatch(r"[\d.,x']+", t) for t in texts) else hole
        return texts

    @staticmethod
    def name_of_hole(source, first, last, outer):
        """As hole_name(); a parameter that has no name of its own gets the name of what the call gives."""
        if last - first == 1 and source.tokens[first].text in ("why", "how", "problem", "text", "message", "detail", "reason"):
            for function in source.functions_around(first):
                for index, parameter in enumerate(function.parameters):
                    if parameter[0] == source.tokens[first].text and function in outer and \
                            index < len(outer[function].arguments):
                        return hole_name(outer[function].source, *outer[function].arguments[index])
        return hole_name(source, first, last)

    def read_call(self, source, first, opening, last, outer, depth):
        name = source.sign(opening - 1)
        inside = source.split(opening + 1, last - 1, ",")
        callee = source.text(first, opening)
        if callee == "fmt :: format":
            return self.read_format(source, inside, outer, depth)
        if callee in ("std :: move", "std :: string", "std :: string_view", "std :: exchange", "std :: forward", "trimmed",
                      "FixedText", "shown_text") and inside:
            return self.read(source, *inside[0], outer, depth + 1)
        if callee in ("std :: string", "std :: string_view"):
            return [""]
        if name in ("value_or", "c_str", "get", "string", "str") and source.sign(opening - 2) in (".", "->"):
            return self.read(source, first, opening - 2, outer, depth + 1)
        if source.is_sign(opening, "{"):
            raise Unreadable(source.text(first, last))
        return self.read_function(source, opening - 1, outer, depth)

    def read_format(self, source, arguments, outer, depth):
        out = []
        for pattern in self.read(source, *arguments[0], outer, depth + 1):
            pieces = re.split(r"(\{\{|\}\}|\{[^{}]*\})", pattern)
            slots, at = [], 1
            for n, piece in enumerate(pieces):
                if piece in ("{{", "}}"):
                    slots.append([piece[0]])
                elif piece.startswith("{"):
                    if at >= len(arguments):
                        raise Unreadable("a format with fewer arguments than holes")
                    before, behind = "".join(pieces[:n]), "".join(pieces[n + 1:])
                    if before[-1:] in ("'", '"') and before[-1:] == behind[:1]:
                        slots.append([hole_name(source, *arguments[at])])  # what the user wrote
                    else:
                        subject = not before and behind.startswith(": ")
                        slots.append(self.part(source, *arguments[at], outer, depth, subject))
                    at += 1
                else:
                    slots.append([piece])
            out += ["".join(t) for t in product(*slots)]
            if len(out) > 4 * MOST_VARIANTS:
                raise Unreadable("too many forms")
        return unique(out)

    def read_function(self, source, name_at, outer, depth):
        """What the functions of a name return; those of the file first, then of its folder."""
        name = source.tokens[name_at].text
        arguments = source.split(name_at + 2, source.partner[name_at + 1], ",")
        # Exact overloads only: as many parameters as the call has arguments.
        found = [f for f in self.by_name.get(name, []) if len(f.parameters) == len(arguments)]
        stem = source.path.rsplit(".", 1)[0]
        near = [f for f in found if f.source is source] or \
               [f for f in found if f.source.path.rsplit(".", 1)[0] == stem] or \
               [f for f in found if f.source.folder == source.folder] or found
        if not near or name in ("to_string", "describe", "join"):
            raise Unreadable(source.text(name_at, source.partner[name_at + 1] + 1))
        out = []
        for function in near:
            if (function, "r") in self.busy:
                continue
            self.busy.add((function, "r"))
            try:
                inner = dict(outer)
                inner[function] = Call(source, name_at, arguments)
                for first, last in self.returns_of(function):
                    out += self.read(function.source, first, last, inner, depth + 1)
            finally:
                self.busy.discard((function, "r"))
        if not out:
            raise Unreadable(f"{name} returns nothing that can be read")
        return unique([t for t in out if t] or [""])

    def returns_of(self, function):
        source, i, out = function.source, function.first, []
        inner = [f for f in source.functions if function.first < f.first and f.last < function.last]
        while i < function.last:
            if source.sign(i) == "return" and not any(f.first <= i < f.last for f in inner):
                end = self.statement_end(source, i + 1, function.last)
                out.append((i + 1, end))
                i = end
            i += 1
        return out

    @staticmethod
    def statement_end(source, i, last):
        while i < last and not source.is_sign(i, ";"):
            i = source.partner[i] if source.sign(i) in ("(", "[", "{") else i
            i += 1
        return i

    # Names ------------------------------------------------------------------------------------------------------------------

    def read_name(self, source, i, outer, depth):
        name = source.tokens[i].text
        for function in source.functions_around(i):
            for index, parameter in enumerate(function.parameters):
                if parameter[0] == name:
                    if function in outer:
                        return self.argument(function, index, outer[function], outer, depth)
                    raise NeedsCaller(function, index)
            local = self.values_in(source, name, function.first, function.last, i)
            if local:
                texts = self.combined(source, local, outer, depth)
                if any(re.match(r"[-\d.']+(\[|$)", t) for t in texts):
                    raise Unreadable(name)  # a number that is counted up
                return texts
        if name in self.constants:
            for place, at in sorted(self.constants[name], key=lambda c: (c[0] is not source, c[0].folder != source.folder)):
                values = self.values_in(place, name, at, min(at + 400, len(place.tokens)), None)
                if values:
                    return self.combined(place, values[:1], outer, depth)
        if name.endswith("_"):
            stem = source.path.rsplit(".", 1)[0]
            out = []
            for near in [s for p, s in self.sources.items() if p.rsplit(".", 1)[0] == stem]:
                for value in self.values_in(near, name, 0, len(near.tokens), None):
                    out += self.inlined(near, value[1], value[2], outer, depth)
            if any(out):
                return unique([t for t in out if t])
        raise Unreadable(name)

    def inlined(self, source, first, last, outer, depth):
        """Texts of an expression; what depends on a parameter is looked up in all calls at once."""
        try:
            return self.read(source, first, last, outer, depth + 1)
        except NeedsCaller as needs:
            if depth > MOST_DEPTH // 2:
                raise Unreadable("too deep") from needs
            out = []
            for where, i in self.calls_of(needs.function):
                inner = dict(outer)
                inner[needs.function] = self.call_at(where, i)
                out += self.inlined(source, first, last, inner, depth + 1)
            return unique(out)

    def values_in(self, source, name, first, last, before):
        """Values that a variable gets in a range of tokens: [(how, first, last)], how is "=" or "+="."""
        out = []
        for i in source.places_of.get(name, []):
            if not first <= i < last or source.sign(i - 1) in (".", "->", "::") and source.sign(i - 2) != "this":
                continue
            behind = i + 1
            if source.is_sign(behind, "[") and source.is_sign(source.partner[behind] + 1, "="):
                behind = source.partner[behind] + 1
            sign = source.sign(behind)
            if sign in ("=", "+="):
                end = self.statement_end(source, behind + 1, last)
                commas = source.split(behind + 1, end, ",")
                out.append((sign, behind + 1, commas[0][1] if commas else end))
            elif sign in ("(", "{") and (source.is_word(i - 1) and source.sign(i - 1) not in ("return", "else") or
                                         source.sign(i - 1) in (">", "&", "*") or name.endswith("_") and sign == "("
                                         and source.sign(i - 1) in (",", ":")):
                out.append(("=", behind + 1, source.partner[behind]))
            elif sign == ";" and source.is_word(i - 1) and source.sign(i - 1) not in ("return",):
                out.append(("=", behind, behind))
        if before is not None and not any(v[0] == "=" for v in out):
            return []
        return out

    def combined(self, source, values, outer, depth):
        """One text per first value; what is appended later may be there or not."""
        firsts, more = [], []
        for how, first, last in values:
            texts = self.part(source, first, last, outer, depth + 1) if how == "+=" else \
                self.read(source, first, last, outer, depth + 1)
            if how == "+=":
                more.append(alternatives(texts + [""]))
            else:
                firsts += texts
        firsts = [t for t in dict.fromkeys(firsts)]
        if len(firsts) > 1 and not more:
            firsts = [t for t in firsts if t]
        return unique("".join(t) for t in product(firsts, *more))

    def read_member(self, source, first, last, outer, depth):
        """x.field where x is caught: what is thrown."""
        owner = source.sign(first)
        for i in range(first, max(first - 400, 0), -1):
            if source.sign(i) == "catch" and source.is_sign(i + 1, "("):
                words = [source.sign(j) for j in range(i + 2, source.partner[i + 1]) if source.is_word(j)]
                if words and words[-1] == owner and len(words) > 1:
                    return self.thrown(source, words[-2], outer, depth)
        raise Unreadable(source.text(first, last))

    def sentences(self, path, name, of_errors):
        """What a function of a file returns, for a member that it fills elsewhere; texts that match only."""
        source = self.sources.get(path)
        out = []
        for function in (f for f in (source.functions if source else []) if f.name == name):
            for first, last in self.returns_of(function):
                out += self.inlined(source, first, last, {}, 0)
        if not any(re.search(of_errors, t) for t in out):
            raise Unreadable(f"{path} has no {name} that returns texts")
        return unique([t for t in out if re.search(of_errors, t)])

    def thrown(self, source, kind, outer, depth):
        out = []
        for i in source.places_of.get("throw", []):
            if source.sign(i + 1) == kind:
                opening = i + 2
                first, last = source.split(opening + 1, source.partner[opening], ",")[0]
                out += self.inlined(source, first, last, outer, depth)
        if not out:
            raise Unreadable(f"nothing is thrown as {kind}")
        return unique(out)


def hole_name(source, first, last):
    """The name of a hole, from the words of its expression: "path.string()" is FILE."""
    words = [t.text for t in source.tokens[first:last] if t.kind == "word"]
    if words[-1:] == ["message"] and not source.is_sign(last - 1, ")"):
        return "MESSAGE"  # another error, which is listed itself
    if "/" in [t.text for t in source.tokens[first:last]] and "string" in words:
        return "FILE"
    if not words:
        return "VALUE"
    if words[-1] in ("size", "length"):
        words = words[:-1] + ["count"]
    for known in (".".join(words[-2:]), *(w for w in reversed(words) if w not in NOISE)):
        if known in NAMES:
            return NAMES[known]
        if "." not in known and len(known) > 1:
            name = re.sub(r"^k(?=[A-Z])", "", known.rstrip("_"))
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
            return name.upper().replace("_", "-")
    for word in reversed(words):
        if word in NAMES:
            return NAMES[word]
    return "VALUE"
