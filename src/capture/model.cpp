// Names of platforms and origins as the documents of a capture spell them.
#include "capture/model.h"

#include "base/enum_names.h"

namespace perflab::capture {

std::string_view to_string(Platform platform) {
  using enum Platform;
  static constexpr auto kNames = enum_names<Platform>({{hip, "hip"}, {cuda, "cuda"}});
  return kNames[platform];
}

std::string_view to_string(Origin origin) {
  using enum Origin;
  static constexpr auto kNames = enum_names<Origin>({{pool, "pool"},
                                                     {region, "region"},
                                                     {vmem, "vmem"},
                                                     {managed, "managed"},
                                                     {locked, "locked"},
                                                     {ipc, "ipc"},
                                                     {interop, "interop"},
                                                     {stream_ordered, "stream_ordered"},
                                                     {pinned, "pinned"},
                                                     {variable, "variable"}});
  return kNames[origin];
}

}  // namespace perflab::capture
