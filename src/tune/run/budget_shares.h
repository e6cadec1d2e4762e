// How one budget of evaluations is shared by the searches of several kernels. Pure: the same states
// give the same share. Formulas: docs/models/autotuning.md "A whole application".
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "tune/run/tuning.h"

namespace perflab::tune {

enum class Split {
  adaptive,  ///< to the search with the largest worth times expected gain
  worth,     ///< in proportion to the worth, fixed before anything is measured
  equal,     ///< the same for each, whatever it is worth
};
std::string_view to_string(Split split);

/// One search as the next share finds it.
struct ShareState {
  TuningState search;
  std::size_t batch = 1;  ///< evaluations that are proposed together
  /// What a per cent less of its time gives the application, in any one unit; 0: nothing.
  double worth = 1;
};

struct Share {
  std::size_t search = 0;       ///< index
  std::size_t evaluations = 0;  ///< beyond those it has
};

/// What is expected of the next evaluation after n, as a share of the best value: the model's and
/// 0.3 / (n + 1) for what it does not see; 1 / (n + 1) while there is no model.
double promise_of(const TuningState& state);

/// The next share of `left` evaluations; nothing: every search is over or worth nothing. First
/// samples (`first` for each, most worth first) come before any choice; of equals the one with
/// fewer evaluations, then the first.
std::optional<Share> next_share(std::span<const ShareState> states, Split split, std::size_t first,
                                std::size_t left);

}  // namespace perflab::tune
