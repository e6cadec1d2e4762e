// An earlier tuning as a source of knowledge: what it predicts for the configurations of another
// space, whose parameters and values need not be the same. docs/models/autotuning.md "Priors".
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/model/encoding.h"
#include "tune/model/posterior.h"
#include "tune/model/targets.h"
#include "tune/records/recording.h"

namespace perflab::tune {

/// What a prior is, and what it has in common with the space.
struct PriorDescription {
  std::string file, digest;  ///< as named; of its bytes
  std::string format, device;
  std::size_t evaluations = 0;             ///< configurations read
  std::size_t worked = 0;                  ///< of these: with a value
  std::vector<std::string> shared;         ///< parameters of both
  std::vector<std::string> only_in_prior;  ///< its best value over these counts
  std::vector<std::string> only_in_space;  ///< it says nothing of these
  std::size_t covered = 0;                 ///< configurations of the space that it measured
};

/// Fewer different configurations that worked say nothing.
inline constexpr std::size_t kLeastOfPrior = 4;

class PriorTask : public EarlierTuning {
 public:
  /// `described`: file and digest; the rest is filled here. The space must outlive it. `maximize`:
  /// more is better, in the recording too. Errors (bad_input): no parameter in common that has two
  /// values in the recording, fewer than kLeastOfPrior configurations that worked.
  static Result<std::shared_ptr<const PriorTask>> make(const Space& space,
                                                       const Recording& recording, bool maximize,
                                                       PriorDescription described);

  [[nodiscard]] const PriorDescription& description() const { return description_; }
  /// Measured where the shared parameters have measured values, else predicted from its best and
  /// some of its other results by a Gaussian process, which far from them says 0.
  [[nodiscard]] float at(ConfigId id) const override;

 private:
  PriorTask(const Space& of, Space own) : of_(&of), own_(std::move(own)), encoding_(own_) {}
  [[nodiscard]] std::vector<Level> levels(ConfigId id) const;
  [[nodiscard]] float predicted(const std::vector<Level>& row) const;
  void smooth() const;

  const Space* of_;
  Space own_;  ///< of the shared parameters; values of the other space come first
  Encoding encoding_;
  std::vector<std::size_t> parameters_;  ///< of the other space, per parameter of own_
  Targets targets_;                      ///< per row of own_
  float least_ = 0, most_ = 0;
  PriorDescription description_;
  // Large spaces are asked for few of their configurations: computed when asked, once.
  mutable std::vector<float> known_;
  mutable std::optional<Posterior> smoothed_;
};

/// Earlier tunings that a search learns from.
using Priors = std::vector<std::shared_ptr<const PriorTask>>;

}  // namespace perflab::tune
