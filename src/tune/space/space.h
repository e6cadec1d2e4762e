// The search space: parameters with their values, and the list of configurations that the
// restrictions allow, each a row of level numbers. Format facts: docs/facts/tuning.md "Formats".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tune/space/expression.h"
#include "tune/space/space_description.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// Combinations that one rule removed before anything ran.
struct Removed {
  std::string rule;  ///< the restriction's text, or what a device limit says
  bool device_limit = false;
  /// Of the full product. One that several rules forbid counts for the one that is tested first:
  /// rules are tested as early as their parameters are bound, then those over fewer parameters,
  /// then in declared order.
  double combinations = 0;
};

/// How many combinations there are, and where the others went: product = size() + sum of removed,
/// unless sampled.
struct SpaceCounts {
  /// Of all level counts, exact below 2^53; of a list: its different rows.
  double product = 0;
  /// Rules in declared order, then device limits, also those that removed none. Empty when
  /// sampled: nobody counted.
  std::vector<Removed> removed;
  bool sampled = false;  ///< too many to list: size() configurations were drawn at random
};

class Space {
 public:
  /// Parses the expressions and lists the configurations, parameter by parameter: a restriction is
  /// tested as soon as its last parameter has a value. Errors (bad_input): unknown names, cyclic
  /// derived values, an expression that fails for a configuration (division by zero: it names the
  /// expression and the values), no configuration left (names what removed them), no parameters,
  /// more than 65,535 values of one, two values that are the same; interrupted (after Ctrl-C, in
  /// a listing of thousands of steps).
  /// Rows come in lexicographic order of their levels; those of a list in its own order, each once.
  static Result<Space> list(SpaceDescription description, const ListingOptions& options = {});

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return description_.parameters; }
  [[nodiscard]] const SpaceDescription& description() const { return description_; }
  [[nodiscard]] const SpaceCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t size() const { return rows_.size() / width(); }
  [[nodiscard]] std::size_t width() const { return description_.parameters.size(); }
  [[nodiscard]] std::span<const Level> levels(ConfigId id) const {
    return {rows_.data() + std::size_t{id} * width(), width()};
  }
  [[nodiscard]] const Value& value(ConfigId id, std::size_t parameter) const {
    return description_.parameters[parameter].values[levels(id)[parameter]];
  }

  /// The row with these levels; nothing: not allowed, or not among the sampled ones.
  [[nodiscard]] std::optional<ConfigId> find(std::span<const Level> row) const;
  /// The row with these values (same_value()), in any order; names that are no parameter are
  /// ignored, a parameter with one value need not be named. Nothing: another parameter is not
  /// named, one has no such value, or the row is not allowed.
  [[nodiscard]] std::optional<ConfigId> find_values(std::span<const Binding> values) const;

  /// The declared default, or the first configuration when there is none (default_declared of the
  /// description says which).
  [[nodiscard]] ConfigId default_configuration() const { return default_; }

  /// Parameters, then derived values, in declared order.
  [[nodiscard]] std::vector<Binding> bindings(ConfigId id) const;
  /// "BLOCK_M=64 BLOCK_N=32": parameters with more than one value; all when there is no such.
  [[nodiscard]] std::string text(ConfigId id) const;

 private:
  Space() = default;
  using LevelOfValue = std::unordered_map<Value, Level, ValueHash, ValueEqual>;

  static Result<Space> list_any(SpaceDescription description, const ListingOptions& options);
  Result<void> index_parameters();
  void index_rows();
  Result<void> choose_default();
  [[nodiscard]] Result<void> check_derived() const;
  /// Parameters, then derived values: what expressions read.
  [[nodiscard]] Result<std::vector<Value>> slots(ConfigId id, std::size_t& work) const;

  SpaceDescription description_;
  std::vector<CompiledExpression> derived_;  ///< in declared order
  std::vector<std::size_t> derived_order_;   ///< in which they can be computed
  std::vector<Level> rows_;
  std::vector<ConfigId> ascending_;  ///< rows by levels; empty: they are in that order already
  std::vector<LevelOfValue> level_of_value_;  ///< by parameter
  std::unordered_map<std::string, std::size_t> parameter_of_name_;
  SpaceCounts counts_;
  ConfigId default_ = 0;
};

}  // namespace perflab::tune
