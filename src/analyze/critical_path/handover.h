// The one rule that goes by timestamps alone, for recordings without host calls: which queue hands
// work over to which. Two streams that merely run side by side meet by chance; a pair counts only
// when it meets nearly always and far more often than chance would have it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/critical_path/graph.h"

namespace perflab::analyze {

/// An operation for this rule, in the order of start.
struct HandoverOperation {
  NodeId node = kNoNode;
  std::uint32_t lane = 0;  ///< of one process, from 0
  std::int64_t start = 0, end = 0;
};

struct Handover {
  NodeId from = kNoNode, to = kNoNode;
};

/// Share of a lane's begins out of idleness that must come right after an end on the other lane,
/// fewest such begins, and how improbable (as -log of the probability) chance must be.
inline constexpr double kHandoverShare = 0.9;
inline constexpr std::uint64_t kFewestHandovers = 8;
inline constexpr double kHandoverSurprise = 20.7;  ///< e^-20.7 = 1e-9

/// Handovers among the operations of one process. `window`: see GraphOptions::handover; `noise`: an
/// end may be so much later than the begin it leads to. Sorted by `to`.
std::vector<Handover> find_handovers(std::span<const HandoverOperation> operations,
                                     std::uint32_t lanes, std::int64_t window, std::int64_t noise);

}  // namespace perflab::analyze
