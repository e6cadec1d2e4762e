// What people see fits their terminal: tables, at 80 columns and wider (help: kit/help_test.cpp).
#include <gmock/gmock.h>

#include <sstream>

#include "base/system/files.h"
#include "cli/program.h"
#include "report/kit/text_table.h"
#include "support/code_samples.h"

namespace perflab::cli {
namespace {

using testing::Not;

/// The lines of a text that take more columns than there are.
std::vector<std::string> lines_beyond(const std::string& text, std::size_t width) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (report::display_width(line) > width) found.push_back(line);
  return found;
}

/// What a command prints on a terminal of that width.
std::string seen_at(const test::TempFolder& folder, const std::vector<std::string>& arguments,
                    std::size_t width) {
  ProcessOptions options;
  options.set_environment = {{"COLUMNS", std::to_string(width)}};
  const Outcome outcome = rocm_perf(folder.path(), arguments, options);
  EXPECT_EQ(outcome.exit_code, 0) << arguments.front() << outcome.err;
  return outcome.out;
}

/// Commands that print tables of the sample trace, of a code object and of figures given.
std::vector<std::vector<std::string>> commands_with_tables(const test::TempFolder& folder) {
  std::vector<std::string> passes = {"roofline", "--details"};
  std::vector<std::string> analyze = {"analyze", PERFLAB_SAMPLE, "--details", "--counters"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(PERFLAB_SAMPLE_PASSES))
    if (entry.path().extension() == ".db") {
      passes.push_back(entry.path().string());
      analyze.push_back(entry.path().string());
    }
  const std::filesystem::path object = folder.path() / "kernels.hsaco";
  EXPECT_TRUE(write_file_atomically(object, test::code_object_samples().front().bytes));
  return {analyze,
          passes,
          {"critical-path", PERFLAB_SAMPLE, "--what-if", "gemm|Cijk=2x", "--details"},
          {"compare", PERFLAB_SAMPLE, PERFLAB_SAMPLE},
          {"inspect", object.string()},
          {"inspect", object.string(), "--details"},
          {"doctor"},
          {"doctor", "--details"},
          {"occupancy", "--arch", "gfx942", "--vgpr", "72", "--lds", "16384", "--block", "256",
           "--sweep", "vgpr"}};
}

TEST(Width, TablesFitTheTerminal) {
  const test::TempFolder folder;
  for (const auto& command : commands_with_tables(folder))
    for (const std::size_t width : {80U, 100U, 132U})
      EXPECT_THAT(lines_beyond(seen_at(folder, command, width), width), testing::IsEmpty())
          << command.front() << " at " << width;
}

TEST(Width, PagesFitTheTerminalButForCommandsToPaste) {
  const test::TempFolder folder;
  for (std::vector<std::string> command : commands_with_tables(folder)) {
    if (std::erase(command, "--details") == 0) continue;
    for (const std::size_t width : {80U, 100U, 132U}) {
      const std::string page = seen_at(folder, command, width);
      EXPECT_LE(lines(page), 40) << command.front() << " at " << width;
      for (const std::string& line : lines_beyond(page, width))
        EXPECT_THAT(line, testing::StartsWith("  rocm-perf ")) << command.front();
    }
  }
}

TEST(Width, NothingIsColouredAwayFromATerminal) {
  const test::TempFolder folder;
  for (const auto& command : commands_with_tables(folder))
    EXPECT_THAT(seen_at(folder, command, 100), Not(testing::HasSubstr("\033["))) << command.front();
}

}  // namespace
}  // namespace perflab::cli
