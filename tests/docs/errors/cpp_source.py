"""C++ sources as tokens, with the functions and lambdas in them: as much of the language as reading error messages needs.
A source that cannot be split into tokens, or whose brackets do not match, is an error (SourceError), never skipped."""
import re
from dataclasses import dataclass, field

TOKEN = re.compile(r"""
  (?P<space>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
| (?P<raw>(?:u8|u|U|L)?R"(?P<mark>[^\s()\\]{0,16})\((?P<inside>.*?)\)(?P=mark)")
| (?P<string>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*")
| (?P<char>'(?:[^'\\\n]|\\.)+')
| (?P<number>\.?\d(?:[\w.]|'(?=\w)|(?<=[eEpP])[+-])*)
| (?P<word>[A-Za-z_]\w*)
| (?P<sign>::|->|\+\+|--|<<=|<=>|\+=|-=|\*=|/=|==|!=|<=|>=|&&|\|\||\.\.\.|[{}()\[\];,<>=+\-*/%&|^~!?:.@$])
""", re.VERBOSE | re.DOTALL | re.MULTILINE)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", '"': '"', "'": "'", "\\": "\\"}
CONTROL = {"if", "for", "while", "switch", "catch", "constexpr", "return", "sizeof", "alignof", "decltype", "noexcept",
           "static_assert", "requires"}
QUALIFIERS = {"const", "noexcept", "override", "final", "mutable", "&", "&&"}
CLOSING = {"(": ")", "[": "]", "{": "}"}


class SourceError(Exception):
    """A source that this reader does not understand."""


@dataclass(frozen=True)
class Token:
    kind: str  # string, char, number, word or sign
    text: str  # of a string: its characters, without quotes and escapes
    line: int


@dataclass(eq=False)
class Function:
    """A function or a named lambda with a body: tokens first..last of its source stand between the braces."""
    name: str
    parameters: list  # [(name, first token of the default value, last, is text)]; the name is "" when there is none
    first: int
    last: int
    is_lambda: bool
    name_at: int  # the token of the name where it is defined; -1 for lambdas
    source: object = field(repr=False, default=None)


def unescaped(text):
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[0]), text)


def tokens_of(text, path):
    tokens, at, line = [], 0, 1
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise SourceError(f"{path}:{line}: cannot be read from here on: {text[at:at + 30]!r}")
        kind = match.lastgroup  # of nested groups the outermost
        if kind == "raw":
            tokens.append(Token("string", match["inside"], line))
        elif kind == "string":
            tokens.append(Token("string", unescaped(match[0][match[0].index('"') + 1:-1]), line))
        elif kind == "char":
            tokens.append(Token("char", unescaped(match[0][1:-1]), line))
        elif kind != "space":
            tokens.append(Token(kind, match[0], line))
        line += match[0].count("\n")
        at = match.end()
    return tokens


class Source:
    """One file: tokens, matching brackets, functions."""

    def __init__(self, path, text):
        self.path = path
        self.folder = path.split("/")[0] if "/" in path else ""
        self.tokens = tokens_of(text, path)
        self.partner = {}
        self._around = {}
        self.places_of = {}  # word -> its tokens
        for i, token in enumerate(self.tokens):
            if token.kind == "word":
                self.places_of.setdefault(token.text, []).append(i)
        self._match_brackets()
        self.functions = [f for i, t in enumerate(self.tokens) if self.is_sign(i, "{") for f in self._function(i)]

    def sign(self, i):
        """The sign or word at a place; "" outside of the file and for literals."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) and self.tokens[i].kind in ("sign", "word") else ""

    def is_sign(self, i, text):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "sign" and self.tokens[i].text == text

    def is_word(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "word"

    def text(self, first, last):
        return " ".join(f'"{t.text}"' if t.kind == "string" else t.text for t in self.tokens[first:last])

    def _match_brackets(self):
        open_ones = []
        for i, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in CLOSING:
                open_ones.append(i)
            elif token.text in CLOSING.values():
                if not open_ones or CLOSING[self.tokens[open_ones[-1]].text] != token.text:
                    raise SourceError(f"{self.path}:{token.line}: {token.text} has no partner")
                first = open_ones.pop()
                self.partner[first], self.partner[i] = i, first
        if open_ones:
            raise SourceError(f"{self.path}:{self.tokens[open_ones[-1]].line}: a bracket is never closed")

    def _before_qualifiers(self, i):
        """Skips, backwards, what may stand between a parameter list and the body."""
        while self.sign(i) in QUALIFIERS:
            i -= 1
        arrow = i
        while i - arrow > -25 and arrow > 0 and not self.is_sign(arrow, "->"):
            if self.sign(arrow) in (";", "{", "}", "(", "="):
                break
            arrow -= 1
        if self.is_sign(arrow, "->") and (self.is_sign(arrow - 1, ")") or self.sign(arrow - 1) in QUALIFIERS):
            i = arrow - 1
            while self.sign(i) in QUALIFIERS:
                i -= 1
        return i

    def _function(self, brace):
        i = self._before_qualifiers(brace - 1)
        # Behind a constructor's list of members stands "a_(x), b_{y} {".
        while self.sign(i) in (")", "}"):
            name = self.partner[i] - 1
            before = self.sign(name - 1)
            if not self.is_word(name) or before not in (",", ":") or self.sign(name - 2) not in (")", "}", *QUALIFIERS):
                break
            i = name - 2
            if before == ":":
                i = self._before_qualifiers(i)
                break
        if self.is_sign(i, "]"):
            yield self._made(self._name_of_lambda(self.partner[i]), [], brace)
        elif self.is_sign(i, ")"):
            opening = self.partner[i]
            if self.is_sign(opening - 1, "]"):
                name = self._name_of_lambda(self.partner[opening - 1])
                yield self._made(name, self._parameters(opening, i), brace)
            elif self.is_word(opening - 1) and self.sign(opening - 1) not in CONTROL:
                yield self._made(self.sign(opening - 1), self._parameters(opening, i), brace, opening - 1)

    def _name_of_lambda(self, bracket):
        return self.sign(bracket - 2) if self.is_sign(bracket - 1, "=") and self.is_word(bracket - 2) else ""

    def _made(self, name, parameters, brace, name_at=-1):
        return Function(name, parameters, brace + 1, self.partner[brace], name_at < 0, name_at, self)

    def _parameters(self, opening, closing):
        out = []
        for first, last in self.split(opening + 1, closing, ","):
            default = next((i for i in range(first, last) if self.is_sign(i, "=")), last)
            words = [i for i in range(first, default) if self.is_word(i)]
            named = len(words) > 1 and words[-1] == default - 1
            types = {self.sign(i) for i in range(first, default)}
            is_text = bool(types & {"string", "string_view", "char"})
            out.append((self.sign(words[-1]) if named else "", default + 1, last, is_text))
        return out

    def split(self, first, last, sign):
        """Parts of tokens first..last between signs that stand in no brackets; template arguments count as brackets."""
        parts, start, i = [], first, first
        while i < last:
            if self.sign(i) in CLOSING and self.tokens[i].kind == "sign":
                i = self.partner[i]
            elif self.is_sign(i, "<"):
                i = self._behind_template(i, last)
            elif self.is_sign(i, sign):
                parts.append((start, i))
                start = i + 1
            i += 1
        if start < last or parts:
            parts.append((start, last))
        return parts

    def _behind_template(self, i, last):
        """The ">" of template arguments that begin at i; i itself where these are none."""
        depth, j = 0, i
        while j < last and j < i + 60:
            if self.is_sign(j, "<"):
                depth += 1
            elif self.is_sign(j, ">"):
                depth -= 1
                if depth == 0:
                    return j
            elif not (self.is_word(j) or self.sign(j) in ("::", ",", "*", "&", "[", "]") or self.tokens[j].kind == "number"):
                return i
            j += 1
        return i

    def functions_around(self, i):
        """Functions and lambdas that token i stands in, innermost first."""
        if i not in self._around:
            self._around[i] = sorted((f for f in self.functions if f.first <= i < f.last), key=lambda f: f.last - f.first)
        return self._around[i]
