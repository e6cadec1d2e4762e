// The geometry of a launch as expressions over a configuration: what `autotune --capture` launches
// a kernel with whose tile sizes and threads are parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/space/expression.h"
#include "tune/values/launch_values.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// As typed; empty: as captured. One to three expressions, separated by commas; what is missing
/// is 1.
struct LaunchTexts {
  std::string workgroup{};    ///< work-items
  std::string grid{};         ///< work-items
  std::string blocks{};       ///< work-groups; instead of `grid`
  std::string dynamic_lds{};  ///< bytes; one expression
  [[nodiscard]] bool any() const {
    return !workgroup.empty() || !grid.empty() || !blocks.empty() || !dynamic_lds.empty();
  }
};

class LaunchExpressions {
 public:
  LaunchExpressions() = default;
  /// `names`: parameters and derived values. Errors (usage), which name the option: no expression,
  /// more than three, both `grid` and `blocks`.
  static Result<LaunchExpressions> compile(const LaunchTexts& texts,
                                           std::span<const std::string> names);
  /// Precondition: the names' values, in their order. Errors (bad_input): those of
  /// CompiledExpression, a value that is no whole number, one below 1 (dynamic LDS: below 0).
  [[nodiscard]] Result<LaunchValues> evaluate(std::span<const Binding> values) const;

 private:
  struct Part {
    std::string option;
    std::int64_t least = 1;
    std::vector<CompiledExpression> axes;  ///< empty: as captured
  };
  static Result<Part> compile_part(std::string option, std::int64_t least, std::size_t most,
                                   const std::string& text, std::span<const std::string> names);
  static Result<std::optional<LaunchValues::Axes>> evaluate_part(const Part& part,
                                                                 std::span<const Value> slots);

  Part workgroup_, grid_, blocks_, dynamic_lds_;
};

}  // namespace perflab::tune
