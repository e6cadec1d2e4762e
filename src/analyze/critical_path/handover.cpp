// For lanes A and B: of the operations of B that begin after B was idle for longer than the window,
// k of n begin within the window after an end on A. By chance that happens with the probability p
// that a moment lies in such a window. The probability of k or more of n by chance is at most
// exp(-n * KL(k/n || p)) (Chernoff). That takes moments for independent, which those of two steady
// loops are not: they stay in phase for long. So B must also follow A: the time from the end on A
// to the begin on B must vary far less than B's pause and than the time since the begin on A.
#include "analyze/critical_path/handover.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace perflab::analyze {
namespace {

/// More lanes than this in one process are not looked at: pairs grow with the square.
constexpr std::uint32_t kMostHandoverLanes = 64;
/// How many times less the handover must vary than what it is compared with.
constexpr std::int64_t kFollowing = 2;
constexpr std::uint32_t kNoOperation = std::numeric_limits<std::uint32_t>::max();

/// Share of the span of the run that lies within `window` after an end on the lane.
double covered_share(const std::vector<std::int64_t>& ends, std::int64_t window, double span) {
  double covered = 0;
  std::int64_t until = std::numeric_limits<std::int64_t>::min();
  for (const std::int64_t end : ends) {
    covered += static_cast<double>(end + window - std::max(end, std::min(until, end + window)));
    until = std::max(until, end + window);
  }
  return span > 0 ? std::min(1.0, covered / span) : 1.0;
}

bool beyond_chance(std::uint64_t met, std::uint64_t of, double by_chance) {
  if (of < kFewestHandovers) return false;
  const double share = static_cast<double>(met) / static_cast<double>(of);
  if (share < kHandoverShare || by_chance >= share) return false;
  const double p = std::max(by_chance, 1e-12);
  double divergence = share * std::log(share / p);
  if (share < 1) divergence += (1 - share) * std::log((1 - share) / (1 - p));
  return static_cast<double>(of) * divergence >= kHandoverSurprise;
}

/// Distance of the quartiles; 0 of fewer than four.
std::int64_t spread(std::vector<std::int64_t>& values) {
  if (values.size() < 4) return 0;
  const auto quarter = static_cast<std::ptrdiff_t>(values.size() / 4);
  std::ranges::nth_element(values, values.begin() + quarter);
  const std::int64_t low = values[static_cast<std::size_t>(quarter)];
  std::ranges::nth_element(values, values.end() - 1 - quarter);
  return *(values.end() - 1 - quarter) - low;
}

/// The operations of one lane by their end, and a place in them that only moves forward.
struct Ends {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> operation;
  std::size_t next = 0;

  /// The last operation that ended at `until` or before; kNoOperation without one.
  std::uint32_t last_by(std::int64_t until) {
    while (next < time.size() && time[next] <= until) ++next;
    return next == 0 ? kNoOperation : operation[next - 1];
  }
};

std::vector<Ends> ends_by_lane(std::span<const HandoverOperation> operations, std::uint32_t lanes) {
  std::vector<std::uint32_t> order(operations.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return operations[i].end; });
  std::vector<Ends> ends(lanes);
  for (const std::uint32_t i : order) {
    ends[operations[i].lane].time.push_back(operations[i].end);
    ends[operations[i].lane].operation.push_back(i);
  }
  return ends;
}

}  // namespace

std::vector<Handover> find_handovers(std::span<const HandoverOperation> operations,
                                     std::uint32_t lanes, std::int64_t window, std::int64_t noise) {
  if (window <= 0 || lanes < 2 || lanes > kMostHandoverLanes || operations.empty()) return {};
  std::vector<Ends> ends = ends_by_lane(operations, lanes);
  const std::int64_t last_end = std::ranges::max(operations, {}, &HandoverOperation::end).end;
  const auto span = static_cast<double>(last_end - operations.front().start);

  struct Meeting {
    std::uint32_t from, to;  // operations
    std::int64_t pause;      // of the lane before `to`; -1: there was none
  };
  const auto follows = [&](const std::vector<Meeting>& pair) {
    std::vector<std::int64_t> gaps, pauses, periods;
    for (const Meeting& meeting : pair) {
      gaps.push_back(operations[meeting.to].start - operations[meeting.from].end);
      periods.push_back(operations[meeting.to].start - operations[meeting.from].start);
      if (meeting.pause >= 0) pauses.push_back(meeting.pause);
    }
    const std::int64_t gap = kFollowing * spread(gaps);
    return gap < spread(pauses) && gap < spread(periods);
  };
  std::vector<std::vector<Meeting>> meetings(std::size_t{lanes} * lanes);
  std::vector<std::uint64_t> begins(lanes, 0);  // out of idleness
  std::vector<std::int64_t> lane_end(lanes, std::numeric_limits<std::int64_t>::min());
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    const HandoverOperation& operation = operations[i];
    const bool first = lane_end[operation.lane] == std::numeric_limits<std::int64_t>::min();
    const bool was_idle = first || operation.start - lane_end[operation.lane] > window;
    const std::int64_t pause = first ? -1 : operation.start - lane_end[operation.lane];
    lane_end[operation.lane] = std::max(lane_end[operation.lane], operation.end);
    if (!was_idle) continue;
    ++begins[operation.lane];
    for (std::uint32_t other = 0; other < lanes; ++other) {
      if (other == operation.lane) continue;
      const std::uint32_t from = ends[other].last_by(operation.start + noise);
      if (from != kNoOperation && operation.start - operations[from].end <= window)
        meetings[std::size_t{other} * lanes + operation.lane].push_back({from, i, pause});
    }
  }

  std::vector<Handover> found;
  for (std::uint32_t from = 0; from < lanes; ++from) {
    const double chance = covered_share(ends[from].time, window + noise, span);
    for (std::uint32_t to = 0; to < lanes; ++to) {
      const auto& pair = meetings[std::size_t{from} * lanes + to];
      if (from == to || !beyond_chance(pair.size(), begins[to], chance) || !follows(pair)) continue;
      for (const Meeting& meeting : pair)
        if (operations[meeting.from].node < operations[meeting.to].node)
          found.push_back({operations[meeting.from].node, operations[meeting.to].node});
    }
  }
  std::ranges::sort(found, {}, [](const Handover& h) { return std::pair{h.to, h.from}; });
  return found;
}

}  // namespace perflab::analyze
