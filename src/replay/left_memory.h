// What launches leave behind on a GPU - in shared memory (LDS), local memory (scratch), registers -
// and the words that a trap overwrites it with before a launch, so that no code object computes
// right, or fast, from what an earlier one left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace perflab::replay {

/// What was overwritten everywhere on the GPU.
struct LeftMemory {
  std::uint32_t lds_bytes = 0;      ///< of each CU's LDS (of each SM's shared memory)
  std::uint32_t scratch_bytes = 0;  ///< of each work-item: as much as the next launch has
  std::uint32_t vgprs = 0;          ///< vector registers of each lane of a SIMD, all waves together
};

/// What a device dirtied; missing: nothing, and why.
struct Dirtied {
  std::optional<LeftMemory> what;
  std::string missing_because;  ///< a sentence's beginning: "no kernel for gfx906 is built in"
};

/// The word of 32 bits that launch `seed` finds everywhere, never 0 and never that of the launch
/// before. They take turns: a NaN as float, double, half and bfloat16 alike; a large number in all
/// of them. Arithmetic may turn every NaN into the same one, but not a NaN and a number.
constexpr std::uint32_t left_memory_pattern(std::uint64_t seed) {
  constexpr std::uint32_t kNan = 0x7fff7f81, kNans = 127;  // low half: 0x7f81 to 0x7fff
  constexpr std::uint32_t kNumber = 0x6b4d6b01, kNumbers = 255;
  const auto step = static_cast<std::uint32_t>(seed / 2 % (kNans * kNumbers));
  return seed % 2 == 0 ? kNan + step % kNans : kNumber + step % kNumbers;
}

}  // namespace perflab::replay
