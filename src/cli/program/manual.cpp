// rocm-perf manual, not in the help: writes the manual pages into a folder, for the build. The date
// on them is SOURCE_DATE_EPOCH's (reproducible-builds.org), or none: never today's.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/system/files.h"
#include "base/text/numbers.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/program/manual_page.h"

namespace perflab::cli {
namespace {

Result<std::string> date_of_source() {
  const char* const variable = std::getenv("SOURCE_DATE_EPOCH");
  if (variable == nullptr || *variable == '\0') return std::string();
  const std::string_view text = variable;
  constexpr std::int64_t kLastSecond = 253402300799;  // of the year 9999
  const std::int64_t seconds = whole_number<std::int64_t>(text).value_or(-1);
  if (seconds < 0 || seconds > kLastSecond)
    return fail(ErrorCode::usage,
                fmt::format("SOURCE_DATE_EPOCH '{}' is not a number of seconds since 1970", text),
                "seconds since 1970, or unset it");
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

Result<void> write_manual(const CLI::App& app, const std::filesystem::path& folder) {
  PERFLAB_TRY(const std::string date, date_of_source());
  PERFLAB_TRY_VOID(make_directories(folder));
  for (const ManualPage& page : manual_pages(app, date))
    PERFLAB_TRY_VOID(write_file_atomically(folder / page.file, page.text));
  return {};
}

}  // namespace

void add_manual(CLI::App& app, int& exit_code) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("manual", "Write the manual pages into a folder")->group("");
  set_examples(*command, {"rocm-perf manual share/man/man1"});
  command->add_option("FOLDER", *folder, "Folder for the pages")->required();
  command->callback([&app, folder, &exit_code] {
    if (const auto done = write_manual(app, *folder); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
