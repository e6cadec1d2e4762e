"""The checker of docs/ERRORS.md on a small program: every way to make a message is read, and every kind of omission is found."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import check_errors
from messages import messages_of

PROGRAM = r'''
constexpr const char* kRemedy =
    "say it "
    "like 1.5h";  // a comment with "quotes" and fail(
std::unexpected<Error> bad(std::string_view what, std::string message, std::string remedy = {}) {
  return fail(ErrorCode::bad_input, fmt::format("{}: {}", what, std::move(message)), std::move(remedy));
}
Result<int> duration(std::string_view text) {
  if (text.empty()) return fail(ErrorCode::usage, "a duration is empty", kRemedy);
  if (text.size() > 9)
    return fail(ErrorCode::usage, fmt::format("'{}' is a duration "
                                              "of {} digits", text, text.size()),
                std::string(kRemedy));
  return 1;
}
Result<int> read(const fs::path& path, bool old, int line) {
  const auto refuse = [&](std::string why) { return bad(path.string(), fmt::format("line {} {}", line, why)); };
  if (line < 0) return refuse("is below zero");
  if (line > 9) return refuse(old ? "is too old" : "is too new");
  std::string text = "the file " + path.string() + " ends";
  if (old) text += " early";
  if (line == 1) return fail(ErrorCode::bad_input, std::move(text), "copy it again");
  if (line == 2) return bad(path.string(), "is empty", "record it again");
  if (line == 3) return std::unexpected(Error{.code = ErrorCode::missing_tool, .message = "no tool", .notes = {}, .remedy = "install it"});
  return std::unexpected<Error>({.code = ErrorCode::target_failed, .message = fmt::format("the program {}", describe_end(end)), .notes = {}, .remedy = {}});
}
void Reader::fault(std::string why) { fault_ = std::move(why); }
void Reader::run() { if (a) fault("has no name"); else fault(R"(has "two" names)"); }
Result<void> Reader::result() { return fail(ErrorCode::bad_input, fmt::format("{}: {}", name_, fault_)); }
int parse() try { throw Wrong{fmt::format("no {} here", kind)}; } catch (const Wrong& wrong) {
  return fail(ErrorCode::internal, wrong.text, "report it").error().code;
}
'''
MESSAGES = {
    ("usage", "a duration is empty"): "say it like 1.5h",
    ("usage", "'TEXT' is a duration of COUNT digits"): "say it like 1.5h",
    ("bad_input", "FILE: line LINE is below zero"): "",
    ("bad_input", "FILE: line LINE is too old"): "",
    ("bad_input", "FILE: line LINE is too new"): "",
    ("bad_input", "the file FILE ends[ early]"): "copy it again",
    ("bad_input", "FILE: is empty"): "record it again",
    ("missing_tool", "no tool"): "install it",
    ("target_failed", "the program ENDING"): "",
    ("bad_input", "FILE: has no name"): "",
    ("bad_input", 'FILE: has "two" names'): "",
    ("internal", "no KIND here"): "report it",
}


class ErrorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "src").mkdir()
        self.write_program(PROGRAM)
        self.document = self.root / "ERRORS.md"
        self.document.write_text(f"Before.\n{check_errors.BEGIN}\n{check_errors.END}\nBehind.\n")

    def write_program(self, text):
        (self.root / "src" / "program.cpp").write_text(text)

    def check(self, *options):
        """Exit code and output of the checker."""
        done = subprocess.run([sys.executable, "-B", check_errors.__file__, self.root / "src", self.document, *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def write_complete_list(self):
        """The list with a remedy by hand for everything that has none."""
        self.check("--write")
        text = self.document.read_text()
        text = re.sub(r"(^- .*\n)(?=\n|<!--)", r"\1  → Look into the file.\n", text, flags=re.MULTILINE)
        self.document.write_text(text)
        self.assertEqual(self.check()[0], 0, self.check()[1])

    def change(self, old, new):
        text = self.document.read_text()
        self.assertIn(old, text)
        self.document.write_text(text.replace(old, new, 1))

    def test_reads_every_way_to_make_a_message(self):
        entries, problems, _ = messages_of(self.root / "src")
        self.assertEqual(problems, [])
        found = {(e.group, t): " ".join(r for r in e.remedies if r) for e in entries for t in e.texts}
        self.assertEqual(found, MESSAGES)

    def test_writing_keeps_remedies_by_hand_and_the_text_around(self):
        self.write_complete_list()
        before = self.document.read_text()
        self.assertTrue(before.startswith("Before.\n") and before.endswith("Behind.\n"))
        self.assertEqual(self.check("--write")[0], 0)
        self.assertEqual(self.document.read_text(), before)

    def test_an_empty_list_fails(self):
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("program.cpp:9: not in the list: a duration is empty (usage)", output)

    def test_an_omission_is_found(self):
        self.write_complete_list()
        self.change("- `FILE: line LINE is too old`\n", "")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("not in the list: FILE: line LINE is too old (bad_input)", output)

    def test_a_new_message_is_found(self):
        self.write_complete_list()
        self.write_program(PROGRAM.replace('if (line == 2) return bad(', 'if (line == 4) return refuse("is four");\n  if (line == 2) return bad('))
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("not in the list: FILE: line LINE is four", output)

    def test_a_message_that_is_gone_is_found(self):
        self.write_complete_list()
        self.write_program(PROGRAM.replace("a duration is empty", "there is no duration"))
        self.assertIn("no message of the program any more: a duration is empty", self.check()[1])

    def test_a_message_without_remedy_is_found(self):
        self.write_complete_list()
        self.change("  → Look into the file.\n", "")
        code, output = self.check()
        self.assertEqual(code, 1)
        self.assertIn("has no remedy, and the program prints none", output)

    def test_another_remedy_than_the_programs_is_found(self):
        self.write_complete_list()
        self.change("`try: install it`", "`try: buy it`")
        self.assertIn("the program's remedy is another one: prints `try: install it`", self.check()[1])

    def test_a_remedy_that_the_program_does_not_print_any_more_is_found(self):
        self.write_complete_list()
        self.write_program(PROGRAM.replace('.remedy = "install it"', ".remedy = {}"))
        self.assertIn("`no tool` has no remedy, and the program prints none", self.check()[1])

    def test_what_cannot_be_read_is_a_problem(self):
        for call in ("fail(ErrorCode::usage, table[i].sentence)", "fail(ErrorCode::usage, made_elsewhere(x))",
                     "fail(code_from_afar(), \"a text\")", "fail(ErrorCode::usage, fmt::format(\"{}\", x.y()))", "fail(everything)",
                     "std::unexpected(Error{.code = ErrorCode::usage, .notes = {}})"):
            with self.subTest(call=call):
                self.write_program(PROGRAM + f"Result<int> f(int x) {{ return {call}; }}\n")
                _, problems, _ = messages_of(self.root / "src")
                self.assertEqual(len(problems), 1, problems)

    def test_a_message_that_is_assigned_later_is_a_problem(self):
        for change in ('error.message = "other words";', 'error.message += " and more";', 'done.error().message = "it: " + error.message;',
                       'if (late) error->message.append("?");'):
            with self.subTest(change=change):
                self.write_program(PROGRAM + f"void f(Error& error) {{ {change} }}\n")
                _, problems, _ = messages_of(self.root / "src")
                self.assertEqual(len(problems), 1, problems)
                self.assertIn("assigned later", problems[0])

    def test_a_remedy_that_is_given_later_counts_as_always_printed_only_where_it_is(self):
        made = 'Error f(bool late) { Error error{.code = ErrorCode::usage, .message = "it is late", .notes = {}, .remedy = {}}; '
        for given, remedies in (('error.remedy = "wait";', ["wait"]), ('if (late) error.remedy = "wait";', ["wait", ""]),
                                ('if (late) { error.remedy = "wait"; }', ["wait", ""]), ('', [""])):
            with self.subTest(given=given):
                self.write_program(PROGRAM + made + given + " return error; }\n")
                entries, problems, _ = messages_of(self.root / "src")
                self.assertEqual((problems, [e.remedies for e in entries if e.texts == ["it is late"]]), ([], [remedies]))

    def test_a_source_that_cannot_be_split_into_tokens_is_a_problem(self):
        self.write_program(PROGRAM + 'Result<int> f() { return fail(ErrorCode::usage, "never closed); }\n')
        _, problems, _ = messages_of(self.root / "src")
        self.assertEqual(len(problems), 1, problems)


if __name__ == "__main__":
    unittest.main()
