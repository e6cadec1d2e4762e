// A dispatch warms caches as only a dispatch can; copies within the GPU go through its caches on
// both platforms, and displace what they held.
#include "replay/session/caches.h"

#include <fmt/format.h>

#include <array>

#include "base/enum_names.h"

namespace perflab::replay {

std::string_view to_string(Caches caches) {
  using enum Caches;
  static constexpr auto kWords =
      enum_names<Caches>({{restored, "restored"}, {warm, "warm"}, {cold, "cold"}});
  return kWords[caches];
}

Result<void> CacheState::displace() {
  if (!room_) {
    PERFLAB_TRY(room_, session_.allocate(kDisplacingBytes));
  }
  if (!room_)
    return fail(ErrorCode::missing_tool,
                fmt::format("the GPU has no {} MiB left beside the capture, which cold caches take",
                            kDisplacingBytes >> 20U),
                "--caches warm needs none");
  constexpr std::uint64_t kHalf = kDisplacingBytes / 2;
  return session_.copy(std::array{CopyRun{.to = *room_, .from = *room_ + kHalf, .bytes = kHalf}});
}

Result<void> CacheState::prepare(const PutBack& put_back) {
  if (caches_ == Caches::cold) return displace();
  if (caches_ == Caches::restored) return {};
  PERFLAB_TRY([[maybe_unused]] const Nanos time, session_.run());
  return put_back();
}

}  // namespace perflab::replay
