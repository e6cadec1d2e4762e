// What a timed dispatch finds in the GPU's caches, and how they are brought there. Memory is the
// caller's: restored, or an input that was made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "replay/session/session.h"

namespace perflab::replay {

enum class Caches : std::uint8_t {
  /// What bringing back memory leaves: much of a small capture, little of a large one.
  restored,
  /// What a dispatch of the same code on the same data leaves: as an application finds them that
  /// launches the kernel again and again. What that dispatch wrote is put back in between.
  warm,
  /// Nothing of the capture: as an application finds them that touches much between two launches.
  cold,
};
std::string_view to_string(Caches caches);

/// Room that is written and read to displace what caches hold: twice the largest there is, the 256
/// MiB of AMD Infinity Cache of MI300X and MI355X (src/hal has its source).
inline constexpr std::uint64_t kDisplacingBytes = std::uint64_t{512} << 20U;

/// The caches of one session's device.
class CacheState {
 public:
  using PutBack = std::function<Result<void>()>;

  /// `session` has to outlive it.
  CacheState(Session& session, Caches caches) : session_(session), caches_(caches) {}

  /// The last thing before a timed dispatch of what is loaded. Memory has to be as that is to find
  /// it, and is so afterwards; `put_back` brings back what a dispatch has written. Errors: those of
  /// Session::run() and of `put_back`; missing_tool, when the GPU has no room to displace caches.
  Result<void> prepare(const PutBack& put_back);

 private:
  Result<void> displace();

  Session& session_;
  Caches caches_;
  std::optional<std::uint64_t> room_;
};

}  // namespace perflab::replay
