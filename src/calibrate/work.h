// The table of what is run: which kernel of programs/kernels.hip with how much work, what a round
// of its loop has to contain, the bytes it moves, and the ceiling that it can reach.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/code_shape.h"
#include "hal/calibration.h"
#include "hal/terms.h"

namespace perflab::calibrate {

/// What the host puts into the input buffer, and what has to come out (programs/host.cpp).
enum class Input : std::uint8_t {
  copied,   ///< a pattern of 32-bit words
  xored,    ///< the same, put together by exclusive or
  written,  ///< none is read; what is written is its place
  fp32,     ///< values of arithmetic kernels, eight per thread
  fp64,
  fp16,    ///< one per 32-bit word
  fp16x2,  ///< two
  fp32x2,
  ones,  ///< 1 as FP32
  int32,
  matrix_fp16,  ///< numbers of matrix kernels
  matrix_bf16,
  matrix_fp32,  ///< also TF32
  matrix_fp64,
  matrix_fp8,
  matrix_int8,
  lds,      ///< a word per thread, added up
  scalar,   ///< the same word for all, added up
  counted,  ///< atomic additions onto zeros
};
/// "copied", ...: as the plan's file has it.
std::string_view to_string(Input input);

/// How large a launch is.
enum class Extent : std::uint8_t {
  stream,     ///< half a gigabyte, each byte once
  l2,         ///< again and again what fits into L2 and not into L1
  l1,         ///< again and again what fits into L1
  compute,    ///< as many rounds as a few milliseconds take
  half_wave,  ///< the same, with work-groups of half a wave
  resident,   ///< one work-group per CU, for long
};

/// Instructions that a round has, and no others of their class (arithmetic: none other that counts
/// as operations).
struct BodyClaim {
  code::InstructionClass unit = code::InstructionClass::valu;
  int count = 0;
  std::string_view precision{};  ///< valu: "f32", ...; empty: any
  double flops_per_lane = 0;     ///< valu
  int bytes = 0;                 ///< of a lane: memory and LDS
  bool at_least = false;         ///< loops need some of their own (SALU)
};

struct Work {
  std::string_view name;      ///< "copy_16"
  std::string_view function;  ///< "calibrate_copy_16"
  std::string_view shows;     ///< a clause
  Input input = Input::copied;
  Extent extent = Extent::compute;
  std::vector<BodyClaim> body;
  /// Bytes per thread and round that memory, or the level it reads from, gives and takes.
  int read = 0, written = 0;
  int stride = 0;                          ///< bytes between neighbours' words, of strided kernels
  int lds_step = 0;                        ///< words between neighbours' words in shared memory
  std::optional<hal::Platform> only = {};  ///< empty: both
  double cuda_matrix_flops = 0;  ///< of one matrix instruction of a warp; AMD's tell it themselves
  std::optional<hal::CalibratedLevel> level = {};  ///< whose bandwidth it can reach
  std::optional<hal::CalibratedRate> rate = {};    ///< or which rate
};

/// All of them, in the order that they run in.
std::span<const Work> all_work();

/// Whether a shape is what the work's row claims; else what is not so, a clause. Sets the
/// operations of CUDA's matrix instructions, which their names do not tell, in `shape`.
std::expected<void, std::string> hold_against(const Work& work, hal::Platform platform,
                                              CodeShape& shape);

}  // namespace perflab::calibrate
