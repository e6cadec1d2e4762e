// The explicit arguments of the stand-in's kernels, as they lie in the kernarg segment; the hidden
// ones of code object version 5 follow at the next multiple of 8. Shared by the kernels, by the
// code objects that declare them and by the programs that launch them.
#pragma once

#include <cstdint>

namespace perflab::hsa::sim {

/// vadd, vadd_skips, vadd_oob: c[i] = a[i] + b[i]; the second leaves every 7th element alone, the
/// third writes c[n] as well. vadd_overfitted: c[i] = 2 i + 1, whatever a and b hold.
struct VaddArguments {
  const float* a;
  const float* b;
  float* c;
  std::uint32_t n;
};

/// inplace, inplace_skips: x[i] += 1. spill: the same through scratch of 4 bytes per work-item.
/// reverse: within a block, through dynamic LDS of 4 bytes per work-item. spill_left, reverse_left:
/// they take what an earlier launch left there for their results. scale: x[i] *= factor, a variable
/// of the code object. accumulate: total, another variable, += the sum of x. atomic_order: x[i] = i
/// + a number that differs from run to run. empty: nothing. hang: never ends. wait_flag: waits
/// until x[0] is not 0, then x[1] = x[0]. wild: writes where no memory is.
struct ArrayArguments {
  float* x;
  std::uint32_t n;
};

/// scale_through: x[i] *= *factor. accumulate_through: total, a variable, += the sum of x, then
/// x[0] = *factor.
struct ThroughArguments {
  float* x;
  std::uint32_t n;
  const float* factor;
};

/// slow: after `milliseconds`, x[i] = value.
struct SlowArguments {
  float* x;
  std::uint32_t n;
  float value;
  std::uint32_t milliseconds;
};

/// An element of chase's list.
struct ChaseNode {
  const ChaseNode* next;
  std::uint64_t value;
};

/// chase: *sum = the values of `steps` nodes from `head` on.
struct ChaseArguments {
  const ChaseNode* head;
  std::uint64_t* sum;
  std::uint32_t steps;
};

/// sum_f32, sum_f32_reassociated: *out = the sum of x, added up one after the other, or as 8 sums.
struct SumArguments {
  const float* x;
  float* out;
  std::uint32_t n;
};

/// left_memory_registers, left_memory_scratch: the kernels of replay's trap, which fill the LDS of
/// every CU, or all scratch, with the first `words` of it.
struct TrapArguments {
  std::uint32_t pattern, words;
};

/// Bytes of the hidden arguments of version 5 (docs/facts/code_object.md "Hidden arguments").
inline constexpr std::uint32_t hidden_argument_bytes = 256;

}  // namespace perflab::hsa::sim
