// Words of severities, and the one finding that needs no code object.
#include "replay/finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_names.h"

namespace perflab::replay {

std::string_view to_string(Severity severity) {
  using enum Severity;
  static constexpr auto kWords =
      enum_names<Severity>({{note, "note"}, {warning, "warning"}, {error, "error"}});
  return kWords[severity];
}

std::vector<Finding> nothing_written(const capture::Description& description) {
  const bool writes = std::ranges::any_of(
      description.regions, [](const capture::MemoryRegion& one) { return !one.written.empty(); });
  if (writes) return {};
  const bool first = description.dispatch.ordinal == 1;
  return {{.severity = Severity::warning,
           .rule = "nothing_written",
           .sentence = fmt::format("dispatch {} changed no byte of the captured memory, as when an "
                                   "earlier one has written the same: equal outputs prove nothing",
                                   description.dispatch.ordinal),
           .remedy = fmt::format(
               "capture {}; or replay verify --poison arguments makes this one "
               "write its outputs anew",
               first ? "another dispatch (--dispatch 2)" : "one that writes (--dispatch 1)")}};
}

}  // namespace perflab::replay
