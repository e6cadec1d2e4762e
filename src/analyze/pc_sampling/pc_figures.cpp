// Names of the enums of pc_figures.h, as documents have them.
#include "analyze/pc_sampling/pc_figures.h"

#include "base/enum_names.h"

namespace perflab::analyze {

std::string_view to_string(PcWait wait) {
  using enum PcWait;
  static constexpr auto kNames = enum_names<PcWait>(
      {{vector_memory, "vector_memory"}, {lds, "lds"}, {scalar, "scalar"}, {unknown, "unknown"}});
  return kNames[wait];
}

std::string_view to_string(PcIntervals intervals) {
  using enum PcIntervals;
  static constexpr auto kNames =
      enum_names<PcIntervals>({{ticks, "ticks"}, {independent, "independent"}, {none, "none"}});
  return kNames[intervals];
}

std::string_view to_string(PcIntervalSource source) {
  using enum PcIntervalSource;
  static constexpr auto kNames = enum_names<PcIntervalSource>({{given, "given"},
                                                               {config, "config"},
                                                               {recorded, "recorded"},
                                                               {estimated, "estimated"},
                                                               {none, "none"}});
  return kNames[source];
}

}  // namespace perflab::analyze
