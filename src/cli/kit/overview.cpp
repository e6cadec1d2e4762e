// The groups, and the page made of them. The descriptions are those of the commands themselves.
#include "cli/kit/overview.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <array>
#include <string_view>
#include <vector>

#include "cli/kit/help.h"

namespace perflab::cli {
namespace {

/// Wide enough for "dispatch-table".
constexpr std::size_t kNameColumn = 18;

struct Group {
  std::string_view title;
  std::vector<std::string_view> commands;
};

/// In the order in which they are shown.
const std::array<Group, 4>& groups() {
  static const std::array<Group, 4> kAll = {{
      {.title = "Measure a run and understand it",
       .commands = {"profile", "analyze", "critical-path", "ranks", "rank-summary", "roofline",
                    "compare", "report", "calibrate"}},
      {.title = "Look at a kernel and make it faster",
       .commands = {"inspect", "occupancy", "autotune", "autotune-app", "dispatch-table",
                    "optimize"}},
      {.title = "Take one dispatch out of a program and run it again",
       .commands = {"isolate", "capture", "replay"}},
      {.title = "This machine, agents, shells, formats",
       .commands = {"doctor", "mcp", "completion", "schema"}},
  }};
  return kAll;
}

}  // namespace

std::shared_ptr<CLI::Formatter> overview_formatter(std::size_t width) {
  const auto formatter = std::make_shared<HelpFormatter>(width);
  formatter->column_width(kNameColumn);
  return formatter;
}

std::string overview(const CLI::App& app, const CLI::Formatter& formatter) {
  std::string out = fmt::format("usage: {} COMMAND [OPTIONS]\n", app.get_name());
  for (const Group& group : groups()) {
    out += fmt::format("\n{}\n", group.title);
    for (const std::string_view name : group.commands)
      out += formatter.make_subcommand(app.get_subcommand(std::string(name)));
  }
  return out + fmt::format("\n{}\n", app.get_footer());
}

}  // namespace perflab::cli
