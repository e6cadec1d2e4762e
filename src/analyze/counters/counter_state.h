// Is a counter's figure to be believed, and if there is none: why?
// docs/ROOFLINE_DESIGN.md "Which counters are believed".
#pragma once

#include <string_view>

namespace perflab::analyze {

enum class CounterState {
  measured,     ///< counted, not zero
  zero,         ///< counted, and it is zero while other counters of the same dispatches are not
  missing,      ///< not in the recording, or not where it could be used
  unsupported,  ///< the architecture does not count it
  suspicious,   ///< counted, but it cannot be: nothing was counted at all, waves without
                ///< instructions, more or fewer cycles than any clock allows, ...
};

/// Stable name for documents.
std::string_view to_string(CounterState state);

}  // namespace perflab::analyze
