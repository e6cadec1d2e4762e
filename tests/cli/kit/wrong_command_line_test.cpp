// What a wrong command line is answered with: one form for all, and commands that exist.
#include <gmock/gmock.h>

#include "cli/program.h"

namespace perflab::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Outcome wrong(const std::vector<std::string>& arguments) {
  const test::TempFolder folder;
  Outcome outcome = rocm_perf(folder.path(), arguments);
  EXPECT_EQ(outcome.exit_code, 2) << testing::PrintToString(arguments);
  EXPECT_EQ(outcome.out, "");
  return outcome;
}

TEST(WrongCommandLine, ACommandThatDoesNotExistIsNamedWithThoseThatDo) {
  EXPECT_THAT(wrong({"nonsense"}).err,
              AllOf(StartsWith("rocm-perf: rocm-perf has no command 'nonsense'\n  try: one of: "),
                    HasSubstr(" analyze, "), HasSubstr(" schema"), Not(HasSubstr("worker"))));
  EXPECT_THAT(wrong({"--nonsense", "nonsense"}).err, HasSubstr("has no command 'nonsense'"));
  EXPECT_THAT(wrong({"replay", "verfy", "x"}).err,
              StartsWith("rocm-perf: rocm-perf replay has no command 'verfy'\n"
                         "  try: one of: full-vm, reserve-check, verify; "));
}

TEST(WrongCommandLine, ACommandThatIsMissingIsAskedFor) {
  EXPECT_THAT(wrong({"--", "app"}).err,
              StartsWith("rocm-perf: rocm-perf needs a command\n  try: one of: "));
  EXPECT_THAT(wrong({"capture"}).err, StartsWith("rocm-perf: rocm-perf capture needs a command\n"));
  EXPECT_THAT(wrong({"--verison"}).err,
              StartsWith("rocm-perf: rocm-perf has no option '--verison'\n  try: one of: "));
  EXPECT_THAT(wrong({"capture", "--quiet=1"}).err,
              StartsWith("rocm-perf: rocm-perf capture has no option '--quiet=1'\n"));
}

TEST(WrongCommandLine, WhatTheParserRefusesNamesTheHelpOfTheCommand) {
  for (const auto& [arguments, message, help] :
       std::vector<std::tuple<std::vector<std::string>, const char*, const char*>>{
           {{"isolate"}, "--kernel is required", "rocm-perf isolate --help"},
           {{"isolate", "--kernel"}, "--kernel: 1 required TEXT missing", "isolate --help"},
           {{"analyze", "--nonsense", "x"},
            "The following argument was not expected: --nonsense",
            "rocm-perf analyze --help"},
           {{"replay", "full-vm", "--capture-dir", "x", "--iterations", "0"},
            "--iterations: Value 0 not in range 1 to 1000000",
            "rocm-perf replay full-vm --help"},
           {{"completion", "tcsh"}, "SHELL: tcsh not in {bash,fish,zsh}", "completion --help"},
           {{"schema", "profile", "--", "x"},
            "schema: takes no words after --",
            "rocm-perf schema --help"}}) {
    const std::string text = wrong(arguments).err;
    EXPECT_THAT(text, StartsWith("rocm-perf: " + std::string(message)));
    EXPECT_THAT(text, AllOf(HasSubstr("\n  try: "), HasSubstr(help)));
  }
}

TEST(WrongCommandLine, HelpAndVersionAreNoErrors) {
  const test::TempFolder folder;
  for (const char* option : {"--help", "--version"}) {
    const Outcome outcome = rocm_perf(folder.path(), {option});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
  }
  EXPECT_THAT(rocm_perf(folder.path(), {"--help"}).out, HasSubstr("docs/ERRORS.md"));
}

}  // namespace
}  // namespace perflab::cli
