#include "ranks/values/collective.h"

namespace perflab::ranks {

const CollectiveFacts& info(CollectiveKind kind) {
  static constexpr std::array<CollectiveFacts, kCollectiveKinds> kFacts = {{
      {"all_reduce", Waits::everyone, 2, false},
      {"reduce_scatter", Waits::everyone, 1, true},
      {"all_gather", Waits::everyone, 1, true},
      {"all_to_all", Waits::everyone, 1, true},
      {"all_to_all_v", Waits::unknown, 1, true},
      {"barrier", Waits::everyone, 0, false},
      {"broadcast", Waits::for_root, 0, false},
      {"scatter", Waits::for_root, 1, true},
      {"reduce", Waits::root_waits, 0, false},
      {"gather", Waits::root_waits, 1, true},
      {"send", Waits::for_peer, 0, false},
      {"receive", Waits::for_peer, 0, false},
      {"group", Waits::unknown, 0, false},
      {"unknown", Waits::unknown, 0, false},
  }};
  return kFacts[static_cast<std::size_t>(kind)];
}

std::string_view name(KeySource source) {
  static constexpr std::array<std::string_view, kKeySources> kNames = {"arguments", "text", "calls",
                                                                       "kernels"};
  return kNames[static_cast<std::size_t>(source)];
}

}  // namespace perflab::ranks
