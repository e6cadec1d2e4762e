// The program as a whole: help, version, usage errors, schemas.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "cli/help_text.h"
#include "cli/program.h"

namespace perflab::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(Program, PrintsItsVersion) {
  const test::TempFolder folder;
  const Outcome outcome = rocm_perf(folder.path(), {"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("rocm-perf 0."));
}

TEST(Program, AloneListsEveryCommandOfItsHelpOnALineOfEightyColumns) {
  const test::TempFolder folder;
  ProcessOptions narrow;
  narrow.set_environment = {{"COLUMNS", "80"}};
  const Outcome outcome = rocm_perf(folder.path(), {}, narrow);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, StartsWith("usage: rocm-perf COMMAND"));
  EXPECT_LE(lines(outcome.out), 34) << outcome.out;
  std::vector<std::string> listed;
  std::istringstream text(outcome.out);
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 80U) << line;
    if (!line.starts_with("  ")) continue;
    EXPECT_FALSE(line.starts_with("   ")) << "a second line: " << line;
    listed.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  std::vector<std::string> there =
      help_section(rocm_perf(folder.path(), {"--help"}, narrow).out, "Subcommands");
  std::ranges::sort(listed);
  std::ranges::sort(there);
  EXPECT_GT(there.size(), 10U);
  EXPECT_EQ(listed, there);
}

TEST(Program, AWrongCommandLineIsExit2AndLeavesStdoutEmpty) {
  const test::TempFolder folder;
  const std::vector<std::vector<std::string>> wrong = {
      {"nonsense"},
      {"analyze"},
      {"analyze", "--nonsense", "x.db"},
      {"capture"},
      {"capture", "info"},
      {"compare"},
      {"compare", "x"},
      {"completion"},
      {"completion", "nonsense"},
      {"critical-path"},
      {"autotune-app"},
      {"dispatch-table"},
      {"doctor", "nonsense"},
      {"isolate"},
      {"isolate", "--kernel", "k"},
      {"manual"},
      {"mcp", "--nonsense"},
      {"optimize"},
      {"optimize", "k.hip"},
      {"optimize", "k.hip", "--run", "true", "--capture", "c"},
      {"optimize", "k.hip", "--run", "true", "--min-gain", "much"},
      {"replay"},
      {"replay", "full-vm"},
      {"replay", "verify"},
      {"profile"},
      {"profile", "--runs", "0", "--", "true"},
      {"profile", "--timeout", "soon", "--", "true"},
      {"profile", "--", ""},
      {"profile", "unbalanced 'quote"},
      {"report"},
      {"report", "x"},
      {"report", "--html", "x.html"},
      {"roofline"},
      {"schema"},
      {"schema", "nonsense"}};
  for (const auto& arguments : wrong) {
    const Outcome outcome = rocm_perf(folder.path(), arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments.back();
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err, "");
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Program, WordsBehindDashesAreRefusedByCommandsThatTakeNone) {
  const test::TempFolder folder;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"analyze", PERFLAB_SAMPLE, "--", "--json"},
        {"report", PERFLAB_SAMPLE, "--html", "x.html", "--", "--json"},
        {"roofline", PERFLAB_SAMPLE, "--", "--json"},
        {"critical-path", PERFLAB_SAMPLE, "--", "--json"},
        {"compare", PERFLAB_SAMPLE, PERFLAB_SAMPLE, "--", "--json"},
        {"completion", "bash", "--", "--json"},
        {"occupancy", "--arch", "gfx942", "--vgpr", "64", "--block", "256", "--", "--json"},
        {"schema", "profile", "--", "--json"}}) {
    const Outcome outcome = rocm_perf(folder.path(), arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments.front();
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(arguments.front() + ": takes no words after --"));
    EXPECT_THAT(outcome.err, HasSubstr("--json"));
  }
  EXPECT_EQ(rocm_perf(folder.path(), {"schema", "profile", "--"}).exit_code, 0);
}

TEST(Program, SchemaPrintsTheSchema) {
  const test::TempFolder folder;
  for (const std::string& name : report::schema_names()) {
    const Outcome outcome = rocm_perf(folder.path(), {"schema", name});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out, report::schema_text(name));
    EXPECT_EQ(outcome.err, "");
  }
}

}  // namespace
}  // namespace perflab::cli
