// `replay full-vm`: the captured dispatch again and again at its old addresses, timed by the GPU's
// own clock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "replay/session/caches.h"
#include "replay/session/session.h"
#include "sensors/turn.h"

namespace perflab::replay {

struct FullVmOptions {
  std::uint64_t iterations = 10;
  std::uint64_t warmup = 1;          ///< dispatches before the first that counts; 0 with no_recopy
  bool no_recopy = false;            ///< state carries over from iteration to iteration
  Caches caches = Caches::restored;  ///< as dispatches find them; with no_recopy always warm
  /// Read around each turn: an iteration, or a hundredth of them when there are more than a
  /// hundred. Null: not read. `no_recopy` repeats no turn.
  sensors::Sensors* sensors = nullptr;
  std::string no_sensors_because = "nobody asked for them";
  sensors::TurnLimits limits{};
};

struct FullVmResult {
  std::string kernel, demangled;
  std::uint64_t iterations = 0;
  bool recopy = true;
  Caches caches = Caches::restored;
  std::vector<Nanos> times;  ///< GPU time of every counted iteration, in order
  Nanos wall{};              ///< of the counted iterations, restores included
  std::uint64_t restored_bytes_per_iteration = 0;
  bool restored_on_device = false;
  std::optional<std::uint64_t> captured_ns;  ///< in the application
  /// Written beyond the captured write set, by another code object or by the captured kernel
  /// itself; looked for once, unless the capture is large and runs its own code object.
  std::uint64_t learned_pages = 0;
  Dirtied left_memory;             ///< before each dispatch
  sensors::Conditions conditions;  ///< a turn has iterations_per_turn of the times
  std::uint64_t iterations_per_turn = 1;
  std::vector<std::string> notes;
};

/// Called after every turn; for progress lines.
using OnIteration = std::function<void(std::uint64_t done)>;

/// Replays. With `no_recopy` the state carries over and there are no warm-up dispatches. Errors:
/// failures.h; interrupted (Ctrl-C between iterations).
Result<FullVmResult> run_full_vm(Session& session, const FullVmOptions& options,
                                 const OnIteration& on_iteration = {});

}  // namespace perflab::replay
