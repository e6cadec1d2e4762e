// What a wait was for, by the counters of the ISA: every memory instruction raises one (FLAT: two),
// and a wait holds the wave until a counter has fallen to its limit. Where the counter falls in the
// order of issue, the oldest instructions are those waited for; where it does not (scalar memory,
// FLAT, several kinds at once), only a limit of 0 says which they were. Facts: LLVM's
// SIInsertWaitcnts and operand tables (gfx9_waitcnt to gfx11_waitcnt), AMD's ISA documents for CDNA
// 1 to 4 and RDNA 1 to 4, section "Data dependency resolution".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "att/thread_trace.h"

namespace perflab::analyze {

/// The counters, as gfx12 has them. gfx10 and gfx11 count scalar memory and messages with the LDS
/// (lgkmcnt), samples and ray tests with loads (vmcnt); gfx9 stores with loads too.
enum class MemoryCounter : std::uint8_t { load, store, lds, scalar, export_, sample, bvh };
inline constexpr std::size_t kMemoryCounters = 7;

/// What the instructions that a counter counts have in common; several kinds under way at once can
/// end in any order.
enum class MemoryKind : std::uint8_t {
  vector,
  sample,
  bvh,
  scratch_store,  ///< gfx10 and later: apart from other stores
  lds,
  gds,
  scalar,  ///< in any order
  message,
  flat,  ///< in any order
  export_,
};
inline constexpr std::size_t kMemoryKinds = 10;

/// What one instruction does to the counters.
struct CounterEffect {
  std::uint8_t raises = 0;  ///< a bit per MemoryCounter
  MemoryKind kind = MemoryKind::vector;
  /// Of a wait: the most that may be outstanding, by counter; -1: it does not wait for that one.
  std::array<std::int16_t, kMemoryCounters> limits{-1, -1, -1, -1, -1, -1, -1};
  bool unknown_counter = false;  ///< it waits on a counter that is not in the list

  /// Whether it is a wait on memory counters.
  [[nodiscard]] bool waits() const;
};

/// Effect of an instruction ("s_waitcnt vmcnt(0)") on a generation, 9 to 12.
CounterEffect counter_effect(std::string_view text, int gfxip);

/// One execution of a wait on memory counters.
struct ExecutedWait {
  std::uint32_t instruction = 0;       ///< index into Wave::instructions
  std::uint32_t first = 0, count = 0;  ///< what it was for: a stretch of WaveWaits::causes
  std::uint8_t counters = 0;           ///< how many counters were above their limits
  bool exact = true;                   ///< false: on one of them the rule cannot tell
};

/// The waits of one wave, in order. `causes` are indices into Wave::instructions, ascending within
/// a wait.
struct WaveWaits {
  std::vector<ExecutedWait> waits;
  std::vector<std::uint32_t> causes;
};

/// The rule over the code of one trace.
class WaitRule {
 public:
  /// `gfxip` unknown: the generation whose waits the code has.
  WaitRule(std::span<const att::CodeRow> code, std::optional<int> gfxip);

  /// Whether a row is a wait on memory counters.
  [[nodiscard]] bool waits(att::RowIndex row) const;

  /// Follows a wave's instructions. A FLAT access is taken as done when a wait on either of its
  /// counters has covered it: which unit served it is not recorded.
  void follow(const att::Wave& wave, WaveWaits& out) const;

 private:
  std::vector<CounterEffect> effects_;  ///< by row
};

}  // namespace perflab::analyze
