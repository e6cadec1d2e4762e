// Expressions of search spaces: Python's meaning, checked against python3 itself on random
// expressions; limits; what hostile ones do.
#include "tune/space/expression.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "support/prng.h"

namespace perflab::tune {
namespace {

using ::testing::HasSubstr;

/// What an expression without names gives: text with its kind, "error: ..." where it fails.
std::string shown(std::string_view text) {
  const Result<CompiledExpression> compiled = CompiledExpression::compile(text, {});
  if (!compiled) return "error: " + compiled.error().message;
  const Result<Value> value = compiled->evaluate({});
  if (!value) return "error: " + value.error().message;
  return std::holds_alternative<std::string>(*value) ? "'" + to_text(*value) + "'"
                                                     : to_text(*value);
}

std::string shown_list(std::string_view text, std::size_t most = 65'535) {
  const Result<std::vector<Value>> values = evaluate_list(text, most);
  if (!values) return "error: " + values.error().message;
  std::string all;
  for (const Value& value : *values) all += (all.empty() ? "" : " ") + to_text(value);
  return all;
}

struct Case {
  const char* text;
  const char* expected;
};

TEST(TuneExpression, HasPythonsMeaning) {
  const std::vector<Case> cases{
      {"-2**2", "-4"},
      {"2**-1", "0.5"},
      {"2**3**2", "512"},
      {"-7 // 2", "-4"},
      {"-7 % 3", "2"},
      {"7 % -3.5", "-0.0"},
      {"7 / 2", "3.5"},
      {"4 / 2", "2.0"},
      {"9007199254740993 / 3", "3002399751580331.0"},
      {"1 < 2 < 3", "true"},
      {"1 < 3 < 2", "false"},
      {"3 > 2 == 2", "true"},
      {"not 1 == 2", "true"},
      {"True + True", "2"},
      {"1 and 0 or 'x'", "'x'"},
      {"0 or 0.0", "0.0"},
      {"1 or 1 / 0", "1"},
      {"5 if 1 > 2 else 6 if 0 else 7", "7"},
      {"3 in [1, 2, 3]", "true"},
      {"3 not in (1, 2, 3)", "false"},
      {"2.0 in range(0, 10, 2)", "true"},
      {"9 in range(10, 0, -3)", "false"},
      {"7 in range(10, 0, -3)", "true"},
      {"'bc' in 'abcd'", "true"},
      {"1 == 1.0 == True", "true"},
      {"9007199254740993 == 9007199254740992.0", "false"},
      {"'a' < 'b'", "true"},
      {"'a' == 1", "false"},
      {"[1, 2] < [1, 3]", "true"},
      {"(1,) == (1,)", "true"},
      {"[1] == (1,)", "false"},
      {"12 & 10 | 1 ^ 3", "10"},
      {"1 << 4 >> 2", "4"},
      {"~5", "-6"},
      {"(64 & 64 - 1) == 0", "true"},
      {"0x10 + 0b11 + 0o7 + 1_000", "1026"},
      {"min(3, 2.0, 2)", "2.0"},
      {"max([1, 5, 2])", "5"},
      {"sum(i * i for i in range(5) if i % 2)", "10"},
      {"len([a * b for a in range(3) for b in range(a)])", "3"},
      {"any(1 / (2 - i) > 0 for i in range(5))", "true"},
      {"all([])", "true"},
      {"round(2.5)", "2"},
      {"round(0.125, 2)", "0.12"},
      {"int(-3.7)", "-3"},
      {"int('12') + float(' 1.5 ')", "13.5"},
      {"bool('')", "false"},
      {"abs(-3)", "3"},
      {"math.log2(8)", "3.0"},
      {"math.ceil(3.2) * math.floor(3.8)", "12"},
      {"math.sqrt(16)", "4.0"},
      {"len(range(10**12))", "1000000000000"},
      {"'ab' * 2 + 'c'", "'ababc'"},
      {"'it\\'s'", "'it's'"},
      {"1.", "1.0"},
      {".5e1", "5.0"},
      {"1if 1else 2", "error: \"1if 1else 2\": a number that does not end properly at character 1"},
  };
  for (const Case& each : cases) EXPECT_EQ(shown(each.text), each.expected) << each.text;
}

TEST(TuneExpression, ListsAreThoseOfT1) {
  EXPECT_EQ(shown_list("[32*i for i in range(1,5)]"), "32 64 96 128");
  EXPECT_EQ(shown_list("[1]+[2*i for i in range(1,4)]"), "1 2 4 6");
  EXPECT_EQ(shown_list("list(range(32,128+1,32))"), "32 64 96 128");
  EXPECT_EQ(shown_list("[1, 2] + list(range(3, 5))"), "1 2 3 4");
  EXPECT_EQ(shown_list("['a', 1.5, True, ]"), "a 1.5 true");
  EXPECT_EQ(shown_list("(1, 2)"), "1 2");
  EXPECT_EQ(shown_list("[]"), "");
  EXPECT_EQ(shown_list("[1, [2]]"), "error: \"[1, [2]]\": the result is a list");
  EXPECT_THAT(shown_list("3"), HasSubstr("a whole number where a list belongs"));
  EXPECT_THAT(shown_list("[float('nan')]"), HasSubstr("not a finite number"));
  EXPECT_THAT(shown_list("[1, 2, 3]", 2), HasSubstr("more than 2 values"));
}

TEST(TuneExpression, ErrorsAreOneSentenceThatNamesThePlace) {
  const std::vector<Case> cases{
      {"a + 1", "a, which is not known, at character 1"},
      {"1 +", "the end, where something is missing, at character 4"},
      {"(1", "no \")\" at character 3"},
      {"1 = 2", "\"=\", which compares as \"==\", at character 3"},
      {"1 && 2", "\"&&\", which is written \"and\" here, at character 3"},
      {"2 3", "a value that does not belong at character 3"},
      {"open('x')", "open(), which is not a known function, at character 1"},
      {"math.exp(1)", "math.exp(), which is not a known function, at character 1"},
      {"''.join", "\".\" that does not belong at character 3"},
      {"'a", "a quote that is never closed at character 1"},
      {"'\\x41'", "a backslash before something other than a quote or a backslash"},
      {"1e999", "a real number that does not fit at character 1"},
      {"99999999999999999999", "a whole number that does not fit 64 bits at character 1"},
      {"010", "a number with zeros before it at character 1"},
      {"nan", "nan, which is not known, at character 1"},
      {"None", "\"None\" that does not belong"},
      {"lambda: 1", "\"lambda\" that does not belong"},
      {"1 $ 2", "a character that no expression has at character 3"},
      {"", "the end, where something is missing,"},
      {"1 / 0", "\"1 / 0\": division by zero"},
      {"1 % 0.0", "division by zero"},
      {"1 // 0", "division by zero"},
      {"0 ** -1", "division by zero"},
      {"2**10**9", "does not fit 64 bits"},
      {"9223372036854775807 + 1", "does not fit 64 bits"},
      {"(-9223372036854775807 - 1) // -1", "does not fit 64 bits"},
      {"-(-9223372036854775807 - 1)", "does not fit 64 bits"},
      {"1 << 63", "does not fit 64 bits"},
      {"1 << -1", "a shift by a negative number"},
      {"int(1e300)", "does not fit 64 bits"},
      {"int('x')", "\"x\" is not a number that fits"},
      {"(-8) ** 0.5", "a broken power of a negative number"},
      {"10.0 ** 400", "too large"},
      {"float('inf')", "not a finite number"},
      {"1 < 'a'", "a whole number compared with a string"},
      {"'a' - 1", "a string - a whole number"},
      {"1 in 2", "\"in\" a whole number"},
      {"[1]", "the result is a list"},
      {"min([])", "min() of nothing"},
      {"range(1, 2, 0)", "a step of 0"},
      {"len(5)", "len() of a whole number"},
      {"abs()", "abs() with 0 arguments"},
      {"math.log2(0)", "not positive"},
      {"sum(i for i in range(10**12))", "too many list elements"},
      {"list(range(10**12))", "more than 65535 elements"},
      {"[0] * 70000", "more than 65535 elements"},
      {"len('a' * 10**9)", "more than 65535 elements"},
      {"[i for i in range(70000)]", "more than 65535 elements"},
      {"len([0 for i in range(60000) for j in range(60000) if 0])", "too many list elements"},
  };
  for (const Case& each : cases) {
    const std::string error = shown(each.text);
    EXPECT_THAT(error, ::testing::StartsWith("error: ")) << each.text;
    EXPECT_THAT(error, HasSubstr(each.expected)) << each.text;
  }
}

TEST(TuneExpression, DeepNestingIsAnErrorAndLongChainsAreNot) {
  const auto repeated = [](std::string_view piece, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += piece;
    return text;
  };
  constexpr const char* kDeep = "nested too deeply";
  EXPECT_THAT(shown(repeated("(", 100'000) + "1" + repeated(")", 100'000)), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("not ", 100'000) + "1"), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("-", 100'000) + "1"), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("1**", 100'000) + "1"), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("1 if 0 else ", 10'000) + "1"), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("[", 100'000)), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("1+", 10'000) + "1"), HasSubstr(kDeep));
  EXPECT_THAT(shown(repeated("1+", 1'000'000) + "1"), HasSubstr("more than 1048576"));
  EXPECT_EQ(shown(repeated("(", 90) + "1" + repeated(")", 90)), "1");
  EXPECT_EQ(shown(repeated("1+", 300) + "1"), "301");
  EXPECT_EQ(shown(repeated("1 and ", 50'000) + "7"), "7");
  EXPECT_EQ(shown(repeated("1 < ", 1) + repeated("2 <= ", 50'000) + "2"), "true");
}

TEST(TuneExpression, SlotsAreNamesInOrderAndUsedOnesAreSaid) {
  const std::vector<std::string> names{"a", "b", "min", "i"};
  const auto expression =
      CompiledExpression::compile("min + sum(i for i in [a, a]) if a else b", names);
  ASSERT_TRUE(expression) << expression.error().message;
  EXPECT_THAT(expression->used(), ::testing::ElementsAre(0, 1, 2));
  const std::vector<Value> slots{Value(std::int64_t{2}), Value(std::string("no")),
                                 Value(std::int64_t{5}), Value(0.5)};
  std::size_t work = 0;
  EXPECT_EQ(to_text(*expression->evaluate(slots, &work)), "9");
  EXPECT_GT(work, 4U);
  EXPECT_TRUE(*CompiledExpression::compile("b", names)->holds(slots));
  EXPECT_FALSE(*CompiledExpression::compile("b == 'yes'", names)->holds(slots));
}

/// Random expressions over numbers that mean the same in Python where they mean something.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::string number(int depth) {
    if (depth == 0) return leaf();
    switch (random_.below(12)) {
      case 0:
        return fmt::format("({} if {} else {})", number(depth - 1), truth(depth - 1),
                           number(depth - 1));
      case 1:
        return fmt::format("{}({}, {})", pick({"min", "max"}), number(depth - 1),
                           number(depth - 1));
      case 2:
        return fmt::format("{}({})",
                           pick({"abs", "int", "float", "bool", "round", "math.ceil", "math.floor",
                                 "math.sqrt", "+", "-", "not "}),
                           number(depth - 1));
      case 3:
        return fmt::format("{}(x + {} for x in range({}, {}, {}) if {})",
                           pick({"sum", "min", "max", "any", "all"}), leaf(), random_.below(9) - 4,
                           random_.below(9), random_.below(5) - 2, "x % 3 != 1");
      case 4:
        return fmt::format("{} {} {}", truth(depth - 1), pick({"and", "or"}), number(depth - 1));
      case 5:
        return fmt::format("({}) {} ({})", pick({"a", "b", "5", "12", "True"}),
                           pick({"&", "|", "^", "<<", ">>"}), pick({"a", "3", "6", "False"}));
      case 6:
        // Python would take its time for the digits of large powers.
        return fmt::format("{}{} ** {}", pick({"", "-", "3 * "}), operand(depth),
                           pick({"0", "1", "2", "3", "-1", "-2", "0.5", "2 ** 2", "True"}));
      default:
        return fmt::format("{} {} {}", operand(depth), pick({"+", "-", "*", "/", "//", "%"}),
                           operand(depth));
    }
  }

 private:
  std::string operand(int depth) {
    // Without parentheses the precedence is put to the test.
    const std::string inner = number(depth - 1);
    return random_.below(2) == 0 ? inner : "(" + inner + ")";
  }
  std::string truth(int depth) {
    switch (random_.below(4)) {
      case 0:
        return fmt::format("{} {} {} {} {}", operand(depth + 1), comparison(), leaf(), comparison(),
                           leaf());
      case 1:
        return fmt::format("{} {} [{}, {}, {}]", leaf(), pick({"in", "not in"}), leaf(), leaf(),
                           leaf());
      case 2:
        return fmt::format("not {} {} {}", leaf(), comparison(), leaf());
      default:
        return fmt::format("{} {} {}", leaf(), comparison(), operand(depth + 1));
    }
  }
  std::string leaf() {
    return pick({"a", "b", "c", "d", "t", "0", "1", "2", "3", "7", "-5", "64", "1.5", "-0.25",
                 "1e3", "True", "3.0", "1000003"});
  }
  std::string comparison() { return pick({"<", "<=", ">", ">=", "==", "!="}); }
  std::string pick(std::initializer_list<const char*> choices) {
    return *(choices.begin() + random_.below(static_cast<std::int64_t>(choices.size())));
  }

  test::Prng random_;
};

/// As the Python program below writes it.
std::string in_pythons_words(const Result<Value>& value) {
  if (!value) return "error";
  if (const auto* flag = std::get_if<bool>(&*value)) return *flag ? "bool 1" : "bool 0";
  if (const auto* whole = std::get_if<std::int64_t>(&*value)) return fmt::format("int {}", *whole);
  return fmt::format("float {:016x}", std::bit_cast<std::uint64_t>(std::get<double>(*value)));
}

constexpr const char* kPython = R"(
import ast, math, struct, sys, warnings
warnings.simplefilter('ignore')
# A complex number is an error here, also on the way to something else.
def power(a, b):
    value = a ** b
    if isinstance(value, complex): raise ValueError
    return value
class Powers(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        if not isinstance(node.op, ast.Pow): return node
        return ast.Call(ast.Name('power', ast.Load()), [node.left, node.right], [])
names = {'math': math, 'a': 6, 'b': -4, 'c': 0.75, 'd': 1000, 't': True, 'power': power}
for line in open(sys.argv[1]):
    try:
        tree = ast.fix_missing_locations(Powers().visit(ast.parse(line.strip(), mode='eval')))
        value = eval(compile(tree, '', 'eval'), dict(names))
        if isinstance(value, bool): print('bool', int(value))
        elif isinstance(value, int): print('int', value if abs(value) < 10**30 else 'large')
        elif isinstance(value, float) and math.isfinite(value):
            print('float', struct.pack('>d', value).hex())
        else: print('error')
    except Exception:
        print('error')
)";

TEST(TuneExpression, AgreesWithPython) {
  constexpr std::size_t kExpressions = 3000;
  std::vector<std::string> texts;
  Generator generator(20'260);
  std::string file;
  while (texts.size() < kExpressions) {
    texts.push_back(generator.number(3));
    file += texts.back() + "\n";
  }
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto inputs = folder / fmt::format("expressions-{}.txt", ::getpid());
  std::ofstream(inputs) << file;
  std::string output;
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  options.on_stream = [&](int, std::string_view text) { output += text; };
  options.timeout = std::chrono::minutes(2);
  const auto run = run_program({"python3", "-c", kPython, inputs.string()}, options);
  std::filesystem::remove(inputs);
  if (!run) GTEST_SKIP() << "skipped: " << run.error().message;
  ASSERT_TRUE(run->succeeded());

  const std::vector<std::string> names{"a", "b", "c", "d", "t"};
  const std::vector<Value> slots{Value(std::int64_t{6}), Value(std::int64_t{-4}), Value(0.75),
                                 Value(std::int64_t{1000}), Value(true)};
  std::size_t at = 0;
  std::size_t compared = 0;
  std::size_t failed = 0;
  std::size_t longer = 0;
  for (const std::string& text : texts) {
    const std::size_t end = output.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const std::string expected = output.substr(at, end - at);
    at = end + 1;
    const auto expression = CompiledExpression::compile(text, names);
    const Result<Value> value =
        expression ? expression->evaluate(slots) : std::unexpected(expression.error());
    // Python goes on with longer whole numbers where 64 bits end.
    if (!value && value.error().message.find("64 bits") != std::string::npos) {
      ++longer;
      continue;
    }
    EXPECT_EQ(in_pythons_words(value), expected) << text;
    (value ? compared : failed) += 1;
  }
  EXPECT_GT(compared, kExpressions * 6 / 10);
  EXPECT_GT(failed, kExpressions / 100);
  EXPECT_LT(longer, kExpressions / 10);
  RecordProperty("compared", static_cast<int>(compared));
}

}  // namespace
}  // namespace perflab::tune
