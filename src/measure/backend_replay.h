// Timing code objects by replaying a capture: seconds where running the application takes minutes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "measure/backend.h"
#include "replay/session/caches.h"
#include "replay/session/session.h"

namespace perflab::measure {

/// What dispatches find in memory, when it is not what was captured, and what they have to leave.
struct ReplayInputs {
  /// Before dispatch n of a measurement (0: the one that does not count). Errors end the
  /// measurement.
  std::function<Result<void>(std::uint64_t)> bring;
  /// The same, where only such dispatches have written since it was brought.
  std::function<Result<void>(std::uint64_t)> bring_written;
  /// Whether check() has yet to look at all memory, because the variant is new to that input.
  std::function<bool(const Variant&, std::uint64_t)> is_new;
  /// After it, outside of what is timed: what is wrong, in words; empty: nothing.
  std::function<Result<std::string>(const Variant&, std::uint64_t)> check;
};

struct ReplayBackendOptions {
  std::uint64_t iterations = 5;  ///< dispatches of one measurement that count; at least 1
  /// Missing: each dispatch finds the captured memory, and nobody looks at what it leaves.
  std::optional<ReplayInputs> inputs{};
  replay::Caches caches = replay::Caches::warm;  ///< as dispatches that count find them
  /// Read before the first dispatch that counts and after the last. Null: not read.
  sensors::Sensors* sensors = nullptr;
  std::string no_sensors_because = "nobody asked for them";
};

/// One measurement loads Variant::code_object (empty: the captured one), dispatches it once without
/// counting it, then `iterations` times, each from the captured memory: samples in ns, from the
/// GPU's clock. For warm caches another dispatch runs before each. After the very first dispatch of
/// a code object all memory is compared once, so that what it writes beyond the captured write set
/// is restored too. A code object that cannot be loaded, faults or hangs is the variant's failure;
/// after a fault or a hang the device is gone and every further measurement is an error
/// (missing_tool). With `inputs`, memory is theirs to bring back, and a dispatch that they find
/// wrong is the variant's failure too ("a timed dispatch is wrong: ..."). `session` has to outlive
/// the backend. A file must keep its contents while the backend lives.
std::unique_ptr<Backend> make_replay_backend(replay::Session& session,
                                             const ReplayBackendOptions& options = {});

}  // namespace perflab::measure
