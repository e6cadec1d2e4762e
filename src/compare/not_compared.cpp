// Sentences about what was left out.
#include "compare/not_compared.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/enum_names.h"

namespace perflab::compare {

std::string_view to_string(NotComparedReason reason) {
  using enum NotComparedReason;
  static constexpr auto kNames =
      enum_names<NotComparedReason>({{no_databases, "no_databases"},
                                     {other_without_databases, "other_without_databases"},
                                     {not_chosen, "not_chosen"},
                                     {only_in_side, "only_in_side"}});
  return kNames[reason];
}

std::string reason_text(NotComparedReason reason) {
  using enum NotComparedReason;
  switch (reason) {
    case no_databases:
      return "its databases are not there, and profile.json alone has one kernel";
    case other_without_databases:
      return "the other side is a profile.json without its databases, which has one kernel";
    case not_chosen:
      return "--kernel does not match them";
    case only_in_side:
      break;
  }
  return "the other side has no such kernel";
}

std::string remedy_text(NotComparedReason reason) {
  using enum NotComparedReason;
  switch (reason) {
    case no_databases:
    case other_without_databases:
      return "compare the folders of `rocm-perf profile --out`, with their run_N folders";
    case not_chosen:
      return "leave --kernel out";
    case only_in_side:
      break;
  }
  return "";
}

std::string no_databases_warning(const std::vector<NotCompared>& left_out, bool total_tested) {
  std::vector<std::string> sides;
  for (const NotCompared& one : left_out) {
    if (one.reason != NotComparedReason::no_databases) continue;
    std::string side =
        one.kernels ? fmt::format("{} kernel{} of {}", *one.kernels, *one.kernels == 1 ? "" : "s",
                                  one.of_b ? "B" : "A")
                    : fmt::format("an unknown number of kernels of {}", one.of_b ? "B" : "A");
    if (one.share) side += fmt::format(" ({:.1f} % of its time)", 100 * *one.share);
    sides.push_back(std::move(side));
  }
  if (sides.empty()) return {};
  return fmt::format(
      "NOT COMPARED: {}, because the databases of the profile are not there. A regression of "
      "one of them {}. To have them compared, {}",
      fmt::join(sides, " and "), total_tested ? "shows in the total of a run only" : "is not seen",
      remedy_text(NotComparedReason::no_databases));
}

}  // namespace perflab::compare
