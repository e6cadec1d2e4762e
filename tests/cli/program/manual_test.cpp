// Manual pages: what `rocm-perf manual` writes, read by groff and mandoc, and against the help.
#include <gmock/gmock.h>

#include <regex>

#include "base/system/files.h"
#include "cli/help_text.h"
#include "cli/program/manual_page.h"

namespace perflab::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The pages of the program, written into a folder `man1`.
class ManualPages : public testing::Test {
 protected:
  ManualPages() { write("man1", {}); }

  void write(const std::string& folder, const std::string& epoch) {
    ProcessOptions options;
    options.unset_environment = {"SOURCE_DATE_EPOCH"};
    if (!epoch.empty()) options.set_environment = {{"SOURCE_DATE_EPOCH", epoch}};
    const Outcome outcome = rocm_perf(folder_.path(), {"manual", folder}, options);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out + outcome.err, "");
  }

  [[nodiscard]] std::string page(const std::string& name) const {
    return test::text_of(folder_.path() / "man1" / (name + ".1"));
  }

  [[nodiscard]] Outcome run(const std::vector<std::string>& argv) const {
    return run_in(folder_.path(), argv);
  }

  /// The page as a terminal shows it, without its line breaks and bold type.
  [[nodiscard]] std::string shown(const std::string& name) const {
    std::string text =
        run({"groff", "-man", "-Tascii", "-P-c", "-P-b", "-P-u", "man1/" + name + ".1"}).out;
    return std::regex_replace(text, std::regex("\\s+"), " ");
  }

  test::TempFolder folder_;
};

std::string page_name_of(const HelpOfCommand& command) {
  std::string name = "rocm-perf";
  for (const std::string& word : command.words) name += "-" + word;
  return name;
}

TEST_F(ManualPages, HasAPageForEveryCommandAndNothingElse) {
  std::vector<std::string> expected;
  for (const HelpOfCommand& command : help_of_all_commands(folder_.path()))
    expected.push_back(page_name_of(command) + ".1");
  std::ranges::sort(expected);
  EXPECT_GT(expected.size(), 15U);
  EXPECT_EQ(names_in(folder_.path() / "man1"), expected);
}

TEST_F(ManualPages, EveryPageHasItsSectionsAndEveryOptionOfTheHelp) {
  for (const HelpOfCommand& command : help_of_all_commands(folder_.path())) {
    const std::string name = page_name_of(command);
    const std::string text = page(name);
    EXPECT_THAT(text, AllOf(HasSubstr("\n.SH NAME\n" + roff_text(name) + " \\- "),
                            HasSubstr("\n.SH SYNOPSIS\n"), HasSubstr("\n.SH DESCRIPTION\n"),
                            HasSubstr("\n.SH OPTIONS\n"), HasSubstr("\n.SH EXIT STATUS\n"),
                            HasSubstr("\n.SH SEE ALSO\n")));
    EXPECT_THAT(text, HasSubstr("\n.SH EXAMPLES\n.RS 4\n.nf\nrocm\\-perf ")) << name;
    for (const std::string& option : names_of(help_section(command.help, "Options")))
      EXPECT_THAT(text, HasSubstr("\\fB" + roff_text(option) + "\\fR")) << name;
    for (const std::string& below : command.below)
      EXPECT_THAT(text, HasSubstr("\\fB" + roff_text(name + "-" + below) + "\\fR(1)"));
  }
}

TEST_F(ManualPages, APageShowsWhatTheHelpSays) {
  if (!find_program("groff")) GTEST_SKIP() << "groff is not installed";
  const std::string optimize = shown("rocm-perf-optimize");
  EXPECT_THAT(optimize, HasSubstr("rocm-perf optimize [OPTIONS] [SOURCE] [-- WORD...]"));
  EXPECT_THAT(optimize, HasSubstr("--metric-regex TEXT Times in the command's output: 'time_ms: "
                                  "([0-9.]+)'"));
  EXPECT_THAT(optimize,
              HasSubstr("--provider CHOICE Interface that the server speaks One of: openai, "
                        "anthropic."));
  EXPECT_THAT(optimize, HasSubstr("--min-gain TEXT Smallest gain that is accepted Default: 2%."));
  EXPECT_THAT(optimize, HasSubstr("Words after -- are arguments of the compiler."));
  EXPECT_THAT(optimize, HasSubstr("EXIT STATUS 0 Done. 1 Done, and the answer is no. 2 The "));
  EXPECT_THAT(optimize, HasSubstr("Exit codes: 0 something was accepted"));
  EXPECT_THAT(optimize, HasSubstr("EXAMPLES rocm-perf optimize kernel.hip --capture capture "));
  EXPECT_THAT(optimize, HasSubstr("--run '{build_dir}/k {seed}' \\ --metric-regex"));
  EXPECT_THAT(shown("rocm-perf-replay-verify"),
              AllOf(HasSubstr("rocm-perf replay verify [OPTIONS] DIR"),
                    HasSubstr("ARGUMENTS DIR, --capture-dir TEXT Folder of the capture Required."),
                    HasSubstr("Replay even if `capture check` finds errors"),
                    HasSubstr("SEE ALSO rocm-perf(1), rocm-perf-replay(1)")));
  EXPECT_THAT(shown("rocm-perf"),
              AllOf(HasSubstr("SYNOPSIS rocm-perf [OPTIONS] COMMAND DESCRIPTION"),
                    HasSubstr("schema Print the JSON Schema of a document. See "
                              "rocm-perf-schema(1).")));
}

TEST_F(ManualPages, GroffHasNothingToSay) {
  if (!find_program("groff")) GTEST_SKIP() << "groff is not installed";
  for (const std::string& name : names_in(folder_.path() / "man1")) {
    const Outcome groff = run({"groff", "-man", "-Tutf8", "-ww", "man1/" + name});
    EXPECT_EQ(groff.exit_code, 0) << name;
    EXPECT_EQ(groff.err, "") << name;
  }
}

TEST_F(ManualPages, MandocHasNothingToSay) {
  if (!find_program("mandoc")) GTEST_SKIP() << "mandoc is not installed";
  write("dated", "1700000000");  // a page without a date is one of its warnings
  for (const std::string& name : names_in(folder_.path() / "dated")) {
    const Outcome mandoc = run({"mandoc", "-T", "lint", "-W", "warning", "dated/" + name});
    EXPECT_EQ(mandoc.out + mandoc.err, "") << name;
  }
}

TEST_F(ManualPages, TwoWritingsAreTheSameBytesAndTheDateIsThatOfTheSource) {
  write("again", {});
  write("dated", "1700000000");
  for (const std::string& name : names_in(folder_.path() / "man1")) {
    const std::string text = test::text_of(folder_.path() / "man1" / name);
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text, test::text_of(folder_.path() / "again" / name));
    EXPECT_THAT(text, HasSubstr("\" 1 \"\" \"rocm"));
    EXPECT_THAT(test::text_of(folder_.path() / "dated" / name),
                HasSubstr("\" 1 \"2023-11-14\" \"rocm"));
  }
}

TEST_F(ManualPages, AWrongDateOrPlaceIsAUsageError) {
  for (const char* epoch : {"yesterday", "-1", "1e9", "999999999999999999999"}) {
    ProcessOptions options;
    options.set_environment = {{"SOURCE_DATE_EPOCH", epoch}};
    const Outcome outcome = rocm_perf(folder_.path(), {"manual", "wrong"}, options);
    EXPECT_EQ(outcome.exit_code, 2) << epoch;
    EXPECT_THAT(outcome.err, HasSubstr("SOURCE_DATE_EPOCH"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "wrong"));
  EXPECT_EQ(rocm_perf(folder_.path(), {"manual"}).exit_code, 2);
  const auto file = folder_.write("file", "");
  EXPECT_EQ(rocm_perf(folder_.path(), {"manual", "file/man1"}).exit_code, 2);
  EXPECT_THAT(rocm_perf(folder_.path(), {"--help"}).out, Not(HasSubstr("manual")));
}

TEST_F(ManualPages, WhatCmakeInstallsIsWhatTheProgramWrites) {
  const Outcome install = run({PERFLAB_CMAKE, "--install", PERFLAB_BINARY_DIR, "--prefix",
                               folder_ / "prefix", "--component", "terminal"});
  ASSERT_EQ(install.exit_code, 0) << install.err;
  const std::filesystem::path share = folder_.path() / "prefix/share";
  EXPECT_EQ(names_in(share / "man/man1"), names_in(folder_.path() / "man1"));
  const std::vector<std::pair<std::string, std::string>> scripts = {
      {"bash", "bash-completion/completions/rocm-perf"},
      {"zsh", "zsh/site-functions/_rocm-perf"},
      {"fish", "fish/vendor_completions.d/rocm-perf.fish"}};
  for (const auto& [shell, place] : scripts)
    EXPECT_EQ(test::text_of(share / place), rocm_perf(folder_.path(), {"completion", shell}).out);
}

TEST(RoffText, ShowsEverySignAsItStands) {
  EXPECT_EQ(roff_text(".so /etc/passwd"), "\\&.so /etc/passwd");
  EXPECT_EQ(roff_text("a\n.b\n'c"), "a\n\\&.b\n\\(aqc");
  EXPECT_EQ(roff_text("1.5 x"), "1.5 x");
  EXPECT_EQ(roff_text("\\fB\\n --x"), "\\(rsfB\\(rsn \\-\\-x");
  EXPECT_EQ(roff_text("\"a\" `b` ~ ^ @"), "\\(dqa\\(dq \\(gab\\(ga \\(ti \\(ha \\(at");
  EXPECT_EQ(roff_text("µ → 😀"), "\\[u00B5] \\[u2192] \\[u1F600]");
  EXPECT_EQ(roff_text("\xe2"), "\\[uFFFD]");  // no more is read than there is
  EXPECT_EQ(roff_text("\xe2-\x80"), "\\[uFFFD]\\-\\[uFFFD]");
}

}  // namespace
}  // namespace perflab::cli
