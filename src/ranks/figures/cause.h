// Why a rank comes late: what it did before the operations at which it was the last, against the
// median rank before the same operations. Rules: docs/models/ranks.md "Causes", rules.h.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ranks/figures/figures.h"

namespace perflab::ranks {

enum class CauseKind : std::uint8_t {
  slow_kernel,      ///< one kernel takes longer per dispatch
  more_dispatches,  ///< one kernel runs more often
  several_kernels,  ///< kernels take longer, none of them most of it
  clock,            ///< all kernels are slower by about one factor
  copies,
  launches,  ///< host calls, host code and the latency of launches
  idle,      ///< the GPU waits for nothing that was recorded
  undecided,
};
std::string_view name(CauseKind kind);

/// Why no cause is decided.
enum class CauseDoubt : std::uint8_t {
  none,
  no_others,      ///< no other rank took part in the same operations
  not_longer,     ///< its stretches before the operations explain less than half of the lateness
  several_parts,  ///< no single part is half of the excess
};
std::string_view name(CauseDoubt doubt);

/// A kernel before the operations, of the straggler and of the median rank.
struct KernelExcess {
  std::string kernel;
  std::uint64_t dispatches = 0, median_dispatches = 0;
  std::int64_t time = 0, median_time = 0;  ///< ns
  /// A stretch names its longest kernels alone: where this one may be among the rest on the median
  /// rank, that rank's figures are of the stretches that name it, and its time is at most this, ns.
  std::int64_t median_at_most = 0;
  [[nodiscard]] bool median_whole() const { return median_at_most == median_time; }
};

/// A figure of the straggler and of the median of the other ranks, ns.
struct AgainstMedian {
  std::int64_t own = 0, median = 0;
  [[nodiscard]] std::int64_t excess() const { return own - median; }
};

struct Cause {
  RankIndex rank = 0;
  CauseKind kind = CauseKind::undecided;
  std::uint64_t operations = 0;  ///< that it was last at, and that were looked at
  CauseDoubt doubt = CauseDoubt::none;
  std::int64_t lateness = 0;  ///< ns, of those operations
  AgainstMedian length, busy, copies, kernels, idle;
  /// On the longest way to the entry, of all those operations.
  std::array<AgainstMedian, analyze::kSpentKinds> spent{};
  std::optional<KernelExcess> kernel;  ///< the one with the largest excess
  std::optional<double> clock_factor;  ///< time per dispatch against the median rank, of clock
};

/// Gathers, rank by rank, what each did before the operations at which a straggler was last.
class CauseFinder {
 public:
  /// `figures.stragglers` are looked at; `matching` must outlive this.
  CauseFinder(std::span<const RankSummary> ranks, const Matching& matching, const Clocks& clocks,
              const Figures& figures);
  /// A rank's whole summary: its work and graph are read, and not kept.
  void add(RankIndex rank, const RankSummary& summary);
  /// In the order of Figures::stragglers. Each rank must have been added once.
  [[nodiscard]] std::vector<Cause> causes() const;

 private:
  struct Sums {
    std::int64_t length = 0, busy = 0, copies = 0, kernels = 0;
    std::array<std::int64_t, analyze::kSpentKinds> spent{};
    struct OfKernel {
      KernelTime time;
      std::int64_t room = 0;  ///< of `room`, in stretches that name it
    };
    std::map<std::string, OfKernel> by_kernel;
    std::int64_t room = 0;  ///< ns that a kernel may have had without being named
    std::uint64_t operations = 0;
  };
  struct Straggler {
    RankIndex rank = 0;
    std::int64_t lateness = 0;
    std::vector<std::uint32_t> operations;  ///< at which it was the last
    std::vector<Sums> ranks;                ///< by RankIndex
  };
  static void add_work(const RankSummary& summary, std::uint32_t collective, Sums& sums);
  static Cause cause_of(const Straggler& straggler);

  const Matching& matching_;
  std::vector<Straggler> stragglers_;
};

}  // namespace perflab::ranks
