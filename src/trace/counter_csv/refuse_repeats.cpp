// A merged table gives its passes other times (means) and may leave out queue and process, but not
// one value is another one (seen in rocprofiler-compute tests/workloads/vcopy/MI350: pmc_perf.csv
// beside pmc_perf_0.csv ...). So a pass is known by its kernels, sizes and values.
#include "trace/counter_csv/refuse_repeats.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perflab::trace::counter_csv {
namespace {

constexpr const char* kRemedy =
    "name every table once, and no merged table together with its parts";

/// The same in every run of a program, and in many passes of one: no evidence.
constexpr std::string_view kWaves = "SQ_WAVES";
/// So many equal counters are evidence even if all but SQ_WAVES are 0.
constexpr std::size_t kManyCounters = 4;

/// A recording without an id is known by its content. Equal ones are neighbours.
bool holds_the_same(const Recording& a, const Recording& b) {
  return !a.content.dispatches.empty() && a.guid == b.guid && a.content == b.content;
}

/// A counter in all dispatches: number of the dispatch, counted in the order of ids, and value.
using Column = std::vector<std::pair<Index, double>>;

double total_of(const Column& column) {
  return std::accumulate(column.begin(), column.end(), 0.0,
                         [](double sum, const auto& cell) { return sum + cell.second; });
}

/// What stays of a recording when its table is merged with others.
struct Lasting {
  std::vector<const Dispatch*> dispatches;  ///< by id
  std::map<std::string_view, Column> columns;
};

Lasting lasting_of(const Content& content) {
  Lasting lasting;
  std::vector<Index> order(content.dispatches.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::sort(order, {}, [&](Index i) { return content.dispatches[i].id; });
  std::vector<Index> rank(order.size());
  for (const Index i : order) {
    rank[i] = static_cast<Index>(lasting.dispatches.size());
    lasting.dispatches.push_back(&content.dispatches[i]);
  }
  for (const Value& value : content.values)
    lasting.columns[content.counters[value.counter]].emplace_back(rank[value.dispatch], value.sum);
  for (auto& [counter, column] : lasting.columns) std::ranges::sort(column);
  return lasting;
}

/// Whether the values can only be of one run.
bool is_evidence(const Lasting& part) {
  const auto counted = [](const auto& entry) {
    return std::ranges::any_of(entry.second, [](const auto& cell) { return cell.second != 0; });
  };
  const auto tells = [&](const auto& entry) { return entry.first != kWaves && counted(entry); };
  return part.columns.size() >= kManyCounters ? std::ranges::any_of(part.columns, counted)
                                              : std::ranges::any_of(part.columns, tells);
}

bool is_part(const Lasting& part, const Lasting& whole) {
  const auto holds = [&](const auto& entry) {
    const auto found = whole.columns.find(entry.first);
    return found != whole.columns.end() && found->second == entry.second;
  };
  const auto same_work = [](const Dispatch* a, const Dispatch* b) {
    return a->kernel.name == b->kernel.name && a->config == b->config;
  };
  return std::ranges::all_of(part.columns, holds) &&
         std::ranges::equal(part.dispatches, whole.dispatches, same_work);
}

/// Finds the passes of merged tables that others were given as well. Use once.
class PartFinder {
 public:
  explicit PartFinder(std::span<const Recording> recordings) : recordings_(recordings) {
    for (const Recording& recording : recordings) lasting_.push_back(lasting_of(recording.content));
    for (std::size_t i = 0; i < recordings.size(); ++i) {
      if (!recordings[i].merged) continue;
      for (const auto& [counter, column] : lasting_[i].columns)
        merged_[{counter, total_of(column)}].push_back(i);
    }
  }

  /// A file and the merged one that holds all that it says; nullopt: there is none.
  [[nodiscard]] std::optional<std::pair<std::string, std::string>> find() const {
    std::map<std::string_view, std::set<std::string_view>> wholes;  // by file
    for (std::size_t i = 0; i < recordings_.size(); ++i) {
      if (!is_evidence(lasting_[i])) continue;
      std::set<std::string_view> holding = files_holding(i);
      const auto [known, added] = wholes.try_emplace(recordings_[i].file, holding);
      if (!added)
        std::erase_if(known->second,
                      [&](std::string_view file) { return !holding.contains(file); });
    }
    for (const auto& [file, holding] : wholes)
      if (!holding.empty()) return std::pair{std::string(file), std::string(*holding.begin())};
    return std::nullopt;
  }

 private:
  /// Other files that have the recording as a pass among others.
  [[nodiscard]] std::set<std::string_view> files_holding(std::size_t part) const {
    const std::vector<std::size_t>* candidates = nullptr;
    for (const auto& [counter, column] : lasting_[part].columns) {
      const auto found = merged_.find({counter, total_of(column)});
      if (found == merged_.end()) return {};
      if (candidates == nullptr || found->second.size() < candidates->size())
        candidates = &found->second;
    }
    std::set<std::string_view> files;
    if (candidates == nullptr) return files;
    for (const std::size_t i : *candidates)
      if (recordings_[i].file != recordings_[part].file && !files.contains(recordings_[i].file) &&
          is_part(lasting_[part], lasting_[i]))
        files.insert(recordings_[i].file);
    return files;
  }

  std::span<const Recording> recordings_;
  std::vector<Lasting> lasting_;
  /// Passes of merged tables by a counter that they have and its sum over all dispatches.
  std::map<std::pair<std::string_view, double>, std::vector<std::size_t>> merged_;
};

bool has_merged_and_others(std::span<const Recording> recordings) {
  const auto other_file = [&](const Recording& recording) {
    return recording.file != recordings.front().file;
  };
  return std::ranges::any_of(recordings, &Recording::merged) &&
         std::ranges::any_of(recordings, other_file);
}

}  // namespace

Result<void> refuse_repeats(LoadState& state, std::span<const Recording> sorted) {
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const Recording& recording = sorted[i];
    if (!recording.guid.empty() && !state.recordings.insert(recording.guid).second)
      return given_twice(recording.file, recording.guid, kRemedy);
    if (i > 0 && holds_the_same(sorted[i - 1], recording))
      return fail(
          ErrorCode::bad_input,
          fmt::format("{}: holds the same recording as {}", recording.file, sorted[i - 1].file),
          kRemedy);
  }
  if (!has_merged_and_others(sorted)) return {};
  if (const auto part = PartFinder(sorted).find())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is a part of the merged table {}, so that its values would count "
                            "twice: leave one of the two out",
                            part->first, part->second),
                kRemedy);
  return {};
}

}  // namespace perflab::trace::counter_csv
