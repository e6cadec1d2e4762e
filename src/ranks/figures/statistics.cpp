#include "ranks/figures/statistics.h"

#include <algorithm>
#include <bit>

#include "ranks/figures/rules.h"
#include "stats/median.h"

namespace perflab::ranks {
std::string_view name(SlowOrWaiting verdict) {
  switch (verdict) {
    case SlowOrWaiting::transfer_dominated:
      return "transfer_dominated";
    case SlowOrWaiting::wait_dominated:
      return "wait_dominated";
    case SlowOrWaiting::mixed:
      return "mixed";
    case SlowOrWaiting::undecided:
      break;
  }
  return "undecided";
}

SlowOrWaiting slow_or_waiting(double low, double high) {
  if (low >= rules::kWaitDominates) return SlowOrWaiting::wait_dominated;
  if (high <= rules::kTransferDominates) return SlowOrWaiting::transfer_dominated;
  if (low > rules::kTransferDominates && high < rules::kWaitDominates) return SlowOrWaiting::mixed;
  return SlowOrWaiting::undecided;
}

void StatisticsTable::add(const Matched& matched, const OperationFigures& figures,
                          const std::string& function, std::int64_t group_size) {
  std::optional<int> bin;
  if (figures.bytes)
    bin = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*figures.bytes))) - 1;
  Sums& sums = table_[Key{matched.group, matched.kind, function, bin}];
  Statistics& row = sums.row;
  ++row.operations;
  row.incomplete += matched.complete ? 0U : 1U;
  row.undecided += figures.last ? 0U : 1U;
  for (const MemberFigures& member : figures.members) {
    row.kernel_time += member.duration;
    row.longest = std::max(row.longest, member.duration);
    const auto wait = OperationFigures::wait(member);
    if (!wait) continue;
    sums.waited_in += member.duration;
    if (!row.wait) row.wait = Uncertain{};
    row.wait->value += wait->value;
    row.wait->error += wait->error;
    sums.wait_low += std::max<std::int64_t>(wait->value - wait->error, 0);
    // A rank that was not recorded may have come later still.
    sums.wait_high +=
        matched.complete ? std::min(wait->value + wait->error, member.duration) : member.duration;
  }
  if (figures.transfer) {
    sums.transfers.push_back(*figures.transfer);
    sums.group_size = group_size;
    if (figures.bytes && *figures.transfer > 0) {
      sums.sized_bytes += static_cast<double>(*figures.bytes);
      sums.sized_time += static_cast<double>(*figures.transfer);
    }
  }
  if (figures.bytes) sums.bytes.push_back(*figures.bytes);
  if (figures.entry_skew && figures.exit_skew) {
    sums.entry_skews += figures.entry_skew->value;
    sums.exit_skews += figures.exit_skew->value;
    ++sums.skewed;
  }
}

Statistics StatisticsTable::finished(Sums& sums) {
  Statistics row = sums.row;
  if (row.wait && sums.waited_in > 0) {
    const auto whole = static_cast<double>(sums.waited_in);
    row.wait_share = static_cast<double>(row.wait->value) / whole;
    row.wait_share_low = static_cast<double>(sums.wait_low) / whole;
    row.wait_share_high = std::max(static_cast<double>(sums.wait_high) / whole, *row.wait_share);
    row.verdict = slow_or_waiting(*row.wait_share_low, *row.wait_share_high);
  }
  if (!sums.transfers.empty()) {
    const auto [low, high] = std::ranges::minmax(sums.transfers);
    row.transfer_shortest = low;
    row.transfer_longest = high;
    row.transfer_median = stats::middle_of(sums.transfers);
  }
  if (!sums.bytes.empty()) row.bytes = stats::lower_median(sums.bytes);
  if (sums.sized_time > 0) {
    row.algorithm_gb_per_s = sums.sized_bytes / sums.sized_time;  // bytes per ns
    row.bus_gb_per_s = *row.algorithm_gb_per_s * bus_factor(row.kind, sums.group_size);
  }
  if (sums.skewed > 0) {
    row.entry_skew_mean = sums.entry_skews / static_cast<std::int64_t>(sums.skewed);
    row.exit_skew_mean = sums.exit_skews / static_cast<std::int64_t>(sums.skewed);
  }
  return row;
}

std::vector<Statistics> StatisticsTable::rows() {
  std::vector<Statistics> out;
  for (auto& [key, sums] : table_) {
    sums.row.group = key.group;
    sums.row.kind = key.kind;
    sums.row.function = key.function;
    sums.row.size_bin = key.bin;
    out.push_back(finished(sums));
  }
  std::ranges::stable_sort(out, std::ranges::greater(), &Statistics::kernel_time);
  return out;
}

}  // namespace perflab::ranks
