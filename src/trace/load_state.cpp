// The parts of reading that do not depend on the format of the file.
#include "trace/load_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/text/numbers.h"

namespace perflab::trace {
namespace {

constexpr std::string_view kAccumulator = "SQ_ACCUM_PREV_HIRES";
constexpr std::string_view kAccumulated = "_ACCUM";

/// Counters of how many of something are under way, which is what the accumulator adds up
/// (rocprof-compute's counter definitions: accumulate(X, HIGH_RES)).
bool is_level_counter(std::string_view name) {
  return name == "SQ_LEVEL_WAVES" || name == "SQ_IFETCH_LEVEL" ||
         name.starts_with("SQ_INST_LEVEL_") ||
         (name.starts_with("SQC_") && name.ends_with("_INFLIGHT_LEVEL"));
}

/// What the dispatches of one recording can name their accumulator after.
struct Levels {
  Index level = kNone;
  bool several = false;  ///< two level counters, or the accumulated one is there by name already
};

}  // namespace

Index LoadState::counter(std::string_view name) {
  const Index string = trace.strings.intern(name);
  const auto [entry, added] =
      counter_by_name.try_emplace(string, static_cast<Index>(trace.counter_infos.size()));
  if (added)
    trace.counter_infos.push_back(
        {.name = string, .block = {}, .units = {}, .description = {}, .derived = false});
  return entry->second;
}

std::optional<int> pass_of(const std::filesystem::path& file) {
  namespace fs = std::filesystem;
  for (fs::path folder = file.parent_path(); !folder.empty() && folder != folder.root_path();
       folder = folder.parent_path()) {
    const std::string name = folder.filename().string();
    for (const std::string_view prefix : {"pass_", "pmc_"})
      if (name.starts_with(prefix))
        if (const auto number = whole_number<int>(name.substr(prefix.size()))) return number;
  }
  return std::nullopt;
}

std::unexpected<Error> given_twice(std::string_view file, std::string_view recording,
                                   std::string remedy) {
  return fail(ErrorCode::bad_input,
              fmt::format("{}: recording {} was given already, by this file or an earlier one",
                          file, recording),
              std::move(remedy));
}

void name_accumulators(LoadState& state, std::size_t first_row, std::string_view table) {
  CounterColumns& rows = state.trace.counters;
  StringPool& strings = state.trace.strings;
  const auto known = state.counter_by_name.find(strings.intern(kAccumulator));
  if (known == state.counter_by_name.end()) return;
  const Index accumulator = known->second;
  const auto recorded = std::ranges::subrange(
      rows.counter.begin() + static_cast<std::ptrdiff_t>(first_row), rows.counter.end());
  if (std::ranges::find(recorded, accumulator) == recorded.end()) return;
  const auto name_of = [&](Index counter) {
    return strings.view(state.trace.counter_infos[counter].name);
  };
  std::vector<bool> is_level(state.trace.counter_infos.size());
  std::vector<bool> is_accumulated(state.trace.counter_infos.size());
  for (std::size_t i = 0; i < is_level.size(); ++i) {
    std::string_view name = name_of(static_cast<Index>(i));
    is_level[i] = is_level_counter(name);
    if (!name.ends_with(kAccumulated)) continue;
    name.remove_suffix(kAccumulated.size());
    is_accumulated[i] = is_level_counter(name);
  }

  std::unordered_map<Index, Levels> levels;  // by dispatch
  for (std::size_t i = first_row; i < rows.size(); ++i) {
    const Index counter = rows.counter[i];
    if (!is_level[counter] && !is_accumulated[counter]) continue;
    Levels& of = levels[rows.dispatch[i]];
    of.several =
        of.several || is_accumulated[counter] || (of.level != kNone && of.level != counter);
    if (is_level[counter]) of.level = counter;
  }
  std::uint64_t nameless = 0;
  std::size_t kept = first_row;
  for (std::size_t i = first_row; i < rows.size(); ++i) {
    Index counter = rows.counter[i];
    if (counter == accumulator) {
      const auto found = levels.find(rows.dispatch[i]);
      if (found == levels.end() || found->second.several) {
        ++nameless;
        continue;
      }
      counter =
          state.counter(std::string(name_of(found->second.level)) + std::string(kAccumulated));
    }
    rows.dispatch[kept] = rows.dispatch[i];
    rows.counter[kept] = counter;
    rows.instances[kept] = rows.instances[i];
    for (auto* column : {&rows.sum, &rows.min, &rows.max}) (*column)[kept] = (*column)[i];
    ++kept;
  }
  for (auto* column : {&rows.dispatch, &rows.counter}) column->resize(kept);
  rows.instances.resize(kept);
  for (auto* column : {&rows.sum, &rows.min, &rows.max}) column->resize(kept);
  count(
      state.trace.report.dropped,
      {std::string(table),
       fmt::format("{} next to no level counter, or to several: it is unknown which it belongs to",
                   kAccumulator)},
      nameless);
}

}  // namespace perflab::trace
