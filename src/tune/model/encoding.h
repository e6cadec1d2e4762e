// How the model sees a configuration: per parameter a coordinate of the size of the value, and for
// some a second one, its 2-adic valuation, which tells 48 from 64 (alignment to waves and banks);
// and one of the whole configuration: whether any of its numbers has an odd factor.
// docs/models/autotuning.md "Space and encoding"; docs/facts/tuning.md "Choices of the model".
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tune/space/space.h"

namespace perflab::tune {

/// An earlier tuning, as the model asks it.
class EarlierTuning {
 public:
  EarlierTuning() = default;
  EarlierTuning(const EarlierTuning&) = delete;
  EarlierTuning& operator=(const EarlierTuning&) = delete;
  virtual ~EarlierTuning() = default;
  /// Loss of a configuration of the space as it has it, standardised as targets_of() does.
  [[nodiscard]] virtual float at(ConfigId id) const = 0;
};
using EarlierTunings = std::vector<std::shared_ptr<const EarlierTuning>>;

/// One parameter that has at least two values among the configurations.
struct Dimension {
  std::size_t parameter = 0;      ///< index into Space::parameters()
  bool categorical = false;       ///< values are only equal or different
  std::vector<Level> code;        ///< per level: what the tables know it by
  std::size_t codes = 0;          ///< the levels; at most kMostCodes, then neighbours share one
  std::vector<double> size;       ///< per code, in [0, 1]; empty when categorical
  std::vector<double> valuation;  ///< per code, in [0, 1]; empty: no such coordinate
  std::vector<bool> odd_factor;   ///< per code: no power of two; empty: not for such numbers
};

/// Tables of correlations have the square of this many entries at most. A parameter with more
/// values has no valuation, and its values are put together by rank (categories by order).
inline constexpr std::size_t kMostCodes = 512;

/// The dimensions of a space. The space must outlive it.
class Encoding {
 public:
  explicit Encoding(const Space& space, EarlierTunings priors = {});

  [[nodiscard]] const Space& space() const { return *space_; }
  [[nodiscard]] const std::vector<Dimension>& dimensions() const { return dimensions_; }
  [[nodiscard]] Level code(ConfigId id, std::size_t dimension) const {
    const Dimension& of = dimensions_[dimension];
    return of.code[space_->levels(id)[of.parameter]];
  }
  /// The dimensions, then one more (codes 0 and 1) where some configurations have a number with an
  /// odd factor and others none: on some GPUs all of the former are slow, whichever number it is.
  [[nodiscard]] std::size_t coordinates() const {
    return dimensions_.size() + (tells_odd_factors_ ? 1U : 0U);
  }
  [[nodiscard]] bool is_of_odd_factors(std::size_t coordinate) const {
    return coordinate == dimensions_.size();
  }
  /// That of odd factors as if it were a parameter of two sizes.
  [[nodiscard]] const Dimension& coordinate(std::size_t index) const {
    return is_of_odd_factors(index) ? odd_factors_ : dimensions_[index];
  }
  /// The codes of a configuration, one per coordinate.
  [[nodiscard]] std::vector<Level> codes(ConfigId id) const { return codes(space_->levels(id)); }
  /// The same of levels, one per parameter, that need not be a configuration.
  [[nodiscard]] std::vector<Level> codes(std::span<const Level> levels) const;
  /// Sets what follows from the codes of the dimensions, after some of them were changed.
  void settle(std::span<Level> codes) const;
  [[nodiscard]] std::size_t priors() const { return priors_.size(); }
  /// What each prior says of a configuration (EarlierTuning::at).
  [[nodiscard]] std::vector<float> priors(ConfigId id) const;
  /// Squared distance of two configurations: coordinates in [0, 1], categories 0 or 1.
  [[nodiscard]] double distance(ConfigId a, ConfigId b) const;
  /// The configurations that differ from `id` in one parameter, by dimension, then level.
  [[nodiscard]] std::vector<ConfigId> neighbours(ConfigId id) const;

 private:
  const Space* space_;
  std::vector<Dimension> dimensions_;
  Dimension odd_factors_;
  bool tells_odd_factors_ = false;
  EarlierTunings priors_;

  [[nodiscard]] bool has_odd_factor(std::span<const Level> codes) const;
};

}  // namespace perflab::tune
