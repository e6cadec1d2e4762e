// Templates: splitting first, values after; whatever a value holds, it stays one argument.
#include "tune/space/command_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/system/subprocess.h"

namespace perflab::tune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<std::string> kKnown = {"BM", "BN", "s", "build_dir", "with blank"};

std::vector<std::string> filled(std::string_view text, const std::vector<Binding>& values) {
  Result<CommandTemplate> parsed = CommandTemplate::parse(text, kKnown);
  EXPECT_TRUE(parsed.has_value()) << describe(parsed.error());
  if (!parsed) return {};
  Result<std::vector<std::string>> argv = parsed->fill(values);
  EXPECT_TRUE(argv.has_value()) << describe(argv.error());
  return std::move(argv).value_or(std::vector<std::string>{});
}

Error refused_template(std::string_view text) {
  Result<CommandTemplate> parsed = CommandTemplate::parse(text, kKnown);
  EXPECT_FALSE(parsed.has_value()) << text;
  return parsed ? Error{} : std::move(parsed).error();
}

TEST(CommandTemplate, FillsAfterSplitting) {
  EXPECT_THAT(filled("./k --bm {BM} --bn={BN} '{BM}x{BN}' \"a b\" plain",
                     {{"BM", std::int64_t{16}}, {"BN", 0.5}}),
              ElementsAre("./k", "--bm", "16", "--bn=0.5", "16x0.5", "a b", "plain"));
  EXPECT_THAT(filled("k {with\\ blank} {BM}", {{"BM", true}, {"with blank", std::int64_t{2}}}),
              ElementsAre("k", "2", "true"));
  const CommandTemplate parsed =
      CommandTemplate::parse("  {build_dir}/k {BN} {BM} {BN} ", kKnown).value();
  EXPECT_THAT(parsed.names(), ElementsAre("build_dir", "BN", "BM"));
  EXPECT_EQ(parsed.text(), "  {build_dir}/k {BN} {BM} {BN} ");
  EXPECT_EQ(parsed.fixed_program(), "");
  EXPECT_EQ(CommandTemplate::parse("'./a b{{' {BM}", kKnown).value().fixed_program(), "./a b{");
}

TEST(CommandTemplate, DoubledBracesAreBraces) {
  EXPECT_THAT(filled("awk '{{print $1}}' {{BM}} {{{BM}}} {{ }}", {{"BM", std::int64_t{1}}}),
              ElementsAre("awk", "{print $1}", "{BM}", "{1}", "{", "}"));
}

TEST(CommandTemplate, QuotesAreGoneBeforePlaceholdersAreLookedFor) {
  EXPECT_THAT(filled("k '{BM}' \"{BM}\" \\{BM} {B\"M\"}", {{"BM", std::int64_t{7}}}),
              ElementsAre("k", "7", "7", "7", "7"));
}

TEST(CommandTemplate, AValueStaysOneArgumentWhateverItHolds) {
  for (const std::string& hostile : std::vector<std::string>{
           "; rm -rf /", "a b",      "'",        "\"",       "\\",
           "\n",         "--flag",   "",         "$(id)",    "`id`",
           "*",          "{BM}",     "{{",       "}",        "|",
           "&",          "> /tmp/x", "\x01\x7f", "\xff\xfe", std::string(100'000, 'x')}) {
    const std::vector<Binding> values = {{"s", hostile}, {"BM", std::int64_t{1}}};
    EXPECT_THAT(filled("k {s} -D{s}=1 end", values),
                ElementsAre("k", hostile, "-D" + hostile + "=1", "end"));
  }
}

TEST(CommandTemplate, AProgramReallyGetsThem) {
  const std::string hostile = "; echo \"$(id)\" '\n' *";
  std::vector<std::string> argv = filled("printf %s.%s. {s} x", {{"s", hostile}});
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  const Result<ProcessResult> result = run_program(argv, options);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->output.tail, hostile + ".x.");
}

TEST(CommandTemplate, ANulIsRefused) {
  const CommandTemplate parsed = CommandTemplate::parse("k {s}", kKnown).value();
  const auto argv = parsed.fill(std::vector<Binding>{{"s", std::string("a\0b", 3)}});
  ASSERT_FALSE(argv.has_value());
  EXPECT_EQ(argv.error().code, ErrorCode::bad_input);
  EXPECT_THAT(argv.error().message, HasSubstr("value of s"));
}

TEST(CommandTemplate, SaysWhatIsWrong) {
  const Error unknown = refused_template("./k {BLOCK}");
  EXPECT_EQ(unknown.code, ErrorCode::usage);
  EXPECT_EQ(unknown.message, "command template ./k {BLOCK}: {BLOCK} is not a parameter");
  EXPECT_THAT(unknown.remedy, HasSubstr("there are: BM, BN, s, build_dir, with blank"));
  EXPECT_THAT(refused_template("k {}").message, HasSubstr("{} is not a parameter"));
  EXPECT_THAT(refused_template("k {BM").message, HasSubstr("'{BM' has a { without its }"));
  EXPECT_THAT(refused_template("k {BM {BN}").message, HasSubstr("'{BM' has a { without its }"));
  EXPECT_THAT(refused_template("k {B{M}}").message, HasSubstr("has a { without its }"));
  EXPECT_THAT(refused_template("k BM}").message, HasSubstr("'BM}' has a } without its {"));
  EXPECT_THAT(refused_template("k {BM}}").message, HasSubstr("has a } without its {"));
  EXPECT_THAT(refused_template("").message, HasSubstr("names no program"));
  EXPECT_THAT(refused_template("''").message, HasSubstr("names no program"));
  EXPECT_THAT(refused_template("k 'a").message, HasSubstr("unbalanced '"));
  EXPECT_THAT(refused_template("awk '{print $1}'").remedy, HasSubstr("{{"));
}

TEST(CommandTemplate, NothingIsLeftToAShell) {
  for (const char* text : {"k {BM} | tee log", "k; l", "k > f", "k &"}) {
    const Error error = refused_template(text);
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_THAT(error.message, HasSubstr("only a shell understands"));
    EXPECT_THAT(error.remedy, HasSubstr("sh -c"));
  }
}

}  // namespace
}  // namespace perflab::tune
