// An operation is looked at once, and nothing of it is kept but sums; the worst are computed again.
#include "ranks/figures/all_figures.h"

#include <algorithm>
#include <unordered_map>

#include "ranks/figures/pattern.h"
#include "ranks/figures/rules.h"
#include "ranks/figures/statistics.h"

namespace perflab::ranks {
namespace {

/// Operations in Figures::worst at most.
constexpr std::size_t kMostWorst = 500;

void add(Uncertain& sum, const Uncertain& more) {
  sum.value += more.value;
  sum.error += more.error;
}

class Gatherer {
 public:
  Gatherer(std::span<const RankSummary> ranks, const Matching& matching, const Clocks& clocks,
           std::span<const std::vector<std::int64_t>> busy)
      : ranks_(ranks), matching_(matching), clocks_(clocks), busy_(busy), pattern_(ranks) {
    figures_.ranks.resize(ranks.size());
  }

  Figures figures(std::size_t worst_cells) {
    for (std::uint32_t i = 0; i < matching_.operations.size(); ++i) {
      const OperationFigures one = operation_figures(ranks_, matching_, clocks_, i);
      add_to_ranks(one);
      add_to_statistics(one);
      add_to_pattern(one);
    }
    figures_.statistics = statistics_.rows();
    finish_matrix();
    figures_.pattern = pattern_.pattern(figures_);
    find_stragglers();
    find_worst(worst_cells);
    return std::move(figures_);
  }

 private:
  void add_to_ranks(const OperationFigures& one) {
    ++figures_.operations;
    figures_.decided += one.last ? 1U : 0U;
    std::int64_t waited = 0;
    bool known = false;
    for (const MemberFigures& member : one.members) {
      RankFigures& rank = figures_.ranks[member.rank];
      rank.kernel_time += member.duration;
      const auto wait = OperationFigures::wait(member);
      known = known || wait.has_value();
      if (wait) {
        rank.judged_time += member.duration;
        add(rank.wait, *wait);
        add(figures_.wait, *wait);
        waited += wait->value;
      }
      if (!wait || !one.last || *one.last == member.rank) continue;
      add(figures_.ranks[*one.last].delay_caused, *wait);
      add(figures_.delay, *wait);
      Cell& cell = matrix_[(std::uint64_t{member.rank} << 32) | *one.last];
      cell.wait += wait->value;
      ++cell.operations;
    }
    waits_.emplace_back(waited, one.operation);
    if (!known) return;
    for (const MemberFigures& member : one.members) {
      ++figures_.ranks[member.rank].operations;
      figures_.ranks[member.rank].undecided += one.last ? 0U : 1U;
    }
    if (!one.last) return;
    ++figures_.ranks[*one.last].last;
    add(figures_.ranks[*one.last].lateness, *one.last_margin);
  }

  void add_to_statistics(const OperationFigures& one) {
    const Matched& matched = matching_.operations[one.operation];
    std::string function;
    if (!matched.members.empty()) {
      const Member& first = matched.members.front();
      const RankSummary& rank = ranks_[first.rank];
      const Name text = rank.collectives[first.collective].function;
      if (text < rank.names.size()) function = rank.names[text];
    }
    const auto size = matching_.groups[matched.group].size.value_or(
        static_cast<std::int64_t>(matched.members.size()));
    statistics_.add(matched, one, function, size);
  }

  void add_to_pattern(const OperationFigures& one) {
    std::vector<std::int64_t> busy;
    if (!busy_.empty())
      for (const Member& member : matching_.operations[one.operation].members)
        busy.push_back(busy_[member.rank][member.collective]);
    pattern_.add(one, busy);
  }

  void finish_matrix() {
    for (const auto& [pair, cell] : matrix_)
      figures_.matrix.push_back({.waits = static_cast<RankIndex>(pair >> 32),
                                 .last = static_cast<RankIndex>(pair & 0xFFFF'FFFF),
                                 .wait = cell.wait,
                                 .operations = cell.operations});
    std::ranges::sort(figures_.matrix, {},
                      [](const WaitsFor& one) { return std::pair(one.waits, one.last); });
  }

  void find_stragglers() {
    for (RankIndex rank = 0; rank < figures_.ranks.size(); ++rank) {
      const Uncertain& delay = figures_.ranks[rank].delay_caused;
      if (delay.value > 0 && static_cast<double>(delay.value) >=
                                 rules::kStragglerShare * static_cast<double>(figures_.delay.value))
        figures_.stragglers.push_back(rank);
    }
    std::ranges::stable_sort(figures_.stragglers, std::ranges::greater(), [&](RankIndex rank) {
      return figures_.ranks[rank].delay_caused.value;
    });
    if (figures_.stragglers.size() > rules::kMostStragglers)
      figures_.stragglers.resize(rules::kMostStragglers);
  }

  void find_worst(std::size_t cells) {
    std::ranges::sort(waits_, [](const auto& left, const auto& right) {
      return left.first != right.first ? left.first > right.first : left.second < right.second;
    });
    std::vector<std::uint32_t> chosen;
    for (const auto& [wait, operation] : waits_) {
      const std::size_t members = matching_.operations[operation].members.size();
      if (chosen.size() == kMostWorst || (members > cells && !chosen.empty())) break;
      chosen.push_back(operation);
      cells -= std::min(cells, members);
    }
    std::ranges::sort(chosen);
    for (const std::uint32_t operation : chosen)
      figures_.worst.push_back(operation_figures(ranks_, matching_, clocks_, operation));
  }

  struct Cell {
    std::int64_t wait = 0;
    std::uint64_t operations = 0;
  };
  std::span<const RankSummary> ranks_;
  const Matching& matching_;
  const Clocks& clocks_;
  std::span<const std::vector<std::int64_t>> busy_;
  Figures figures_;
  StatisticsTable statistics_;
  PatternFinder pattern_;
  std::unordered_map<std::uint64_t, Cell> matrix_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> waits_;  ///< of operations, ns
};

}  // namespace

Figures all_figures(std::span<const RankSummary> ranks, const Matching& matching,
                    const Clocks& clocks, std::span<const std::vector<std::int64_t>> busy,
                    std::size_t worst_cells) {
  if (ranks.empty()) return {};
  return Gatherer(ranks, matching, clocks, busy).figures(worst_cells);
}

}  // namespace perflab::ranks
