// Names of counter states.
#include "analyze/counters/counter_state.h"

#include "base/enum_names.h"

namespace perflab::analyze {

std::string_view to_string(CounterState state) {
  using enum CounterState;
  static constexpr auto kNames = enum_names<CounterState>({{measured, "measured"},
                                                           {zero, "zero"},
                                                           {missing, "missing"},
                                                           {unsupported, "unsupported"},
                                                           {suspicious, "suspicious"}});
  return kNames[state];
}

}  // namespace perflab::analyze
