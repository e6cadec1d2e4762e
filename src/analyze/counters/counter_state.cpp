// Names of counter states.
#include "analyze/counters/counter_state.h"

namespace perflab::analyze {

std::string_view to_string(CounterState state) {
  switch (state) {
    case CounterState::measured:
      return "measured";
    case CounterState::zero:
      return "zero";
    case CounterState::missing:
      return "missing";
    case CounterState::unsupported:
      return "unsupported";
    case CounterState::suspicious:
      return "suspicious";
  }
  return "measured";
}

}  // namespace perflab::analyze
