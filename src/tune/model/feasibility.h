// Which configurations probably fail: a vote of those that were tried, near ones counting most.
// docs/models/autotuning.md "Choice".
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tune/model/covariance.h"
#include "tune/model/encoding.h"

namespace perflab::tune {

/// Votes on the candidates of a pool. Costs nothing until something failed.
class Feasibility {
 public:
  explicit Feasibility(const Encoding& encoding);

  void set_pool(const std::vector<ConfigId>& pool);
  void add(ConfigId id, bool valid);
  void clear();
  [[nodiscard]] bool any_failed() const { return failed_ > 0; }
  /// Probability that pool[index] does not fail.
  [[nodiscard]] double at(std::size_t index) const;

 private:
  const Encoding* encoding_;
  std::vector<Table> tables_;                   ///< weights of pairs of codes, by dimension
  std::vector<std::vector<Level>> pool_codes_;  ///< by dimension
  std::vector<ConfigId> voters_;
  std::vector<bool> valid_;
  std::size_t failed_ = 0, counted_ = 0;  ///< counted_: voters that are in the sums
  std::vector<float> weight_, valid_weight_;

  void count_votes();
};

}  // namespace perflab::tune
