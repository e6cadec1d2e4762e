// Operations of a group, function and size put together as they come. Rules: rules.h; model:
// docs/models/ranks.md "Slow or waiting".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ranks/figures/figures.h"

namespace perflab::ranks {

/// Sums of a group, function and size bin.
class StatisticsTable {
 public:
  void add(const Matched& matched, const OperationFigures& figures, const std::string& function,
           std::int64_t group_size);
  /// Most kernel time first, then by group, kind, function and size.
  [[nodiscard]] std::vector<Statistics> rows();

 private:
  struct Key {
    std::uint32_t group;
    CollectiveKind kind;
    std::string function;
    std::optional<int> bin;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Sums {
    Statistics row;
    std::int64_t group_size = 0;
    std::int64_t waited_in = 0;  ///< ns in kernels of members whose wait is known
    std::int64_t wait_low = 0, wait_high = 0;
    std::vector<std::int64_t> transfers, bytes;
    double sized_bytes = 0, sized_time = 0;  ///< of operations with both
    std::int64_t entry_skews = 0, exit_skews = 0;
    std::uint64_t skewed = 0;
  };
  static Statistics finished(Sums& sums);
  std::map<Key, Sums> table_;
};

/// The verdict of an interval of the share of waiting.
SlowOrWaiting slow_or_waiting(double low, double high);

}  // namespace perflab::ranks
