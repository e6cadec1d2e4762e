// The rows, in the order that they run in, and how code is held against one. FLOPs of CUDA's matrix
// instructions are 2*m*n*k of the shape that programs/matrix.h names (PTX ISA, "mma").
#include "calibrate/work.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_names.h"

namespace perflab::calibrate {
namespace {

using code::InstructionClass;
using enum InstructionClass;
using hal::CalibratedLevel;
using hal::CalibratedRate;
using hal::Pipe;
using hal::Platform;
using hal::Precision;

constexpr int kSteps = 64;        // of arithmetic in a round
constexpr int kMatrixSteps = 16;  // matrix instructions in a round
constexpr int kAccesses = 4;      // of memory in a round
constexpr int kLdsReads = 8;      // of shared memory in a round

Work copying(std::string_view name, std::string_view function, std::string_view shows, int bytes) {
  return {.name = name,
          .function = function,
          .shows = shows,
          .input = Input::copied,
          .extent = Extent::stream,
          .body = {{.unit = vmem_load, .count = kAccesses, .bytes = bytes},
                   {.unit = vmem_store, .count = kAccesses, .bytes = bytes}},
          .read = kAccesses * bytes,
          .written = kAccesses * bytes};
}

Work reading(std::string_view name, std::string_view shows, Extent extent, CalibratedLevel level) {
  return {.name = name,
          .function = "calibrate_read_16",
          .shows = shows,
          .input = Input::xored,
          .extent = extent,
          .body = {{.unit = vmem_load, .count = kAccesses, .bytes = 16}},
          .read = kAccesses * 16,
          .level = level};
}

Work striding(std::string_view name, std::string_view function, std::string_view shows,
              int stride) {
  return {.name = name,
          .function = function,
          .shows = shows,
          .input = Input::xored,
          .extent = Extent::stream,
          .body = {{.unit = vmem_load, .count = kAccesses, .bytes = 4}},
          .read = kAccesses * 4,
          .stride = stride};
}

/// One vector instruction 64 times; `flops` of a lane.
Work arithmetic(std::string_view name, std::string_view function, std::string_view shows,
                Input input, std::string_view precision, double flops) {
  return {
      .name = name,
      .function = function,
      .shows = shows,
      .input = input,
      .body = {{.unit = valu, .count = kSteps, .precision = precision, .flops_per_lane = flops}}};
}

/// A loop's own counting and addresses are whole numbers too.
Work integer(Work work) {
  work.body.front().at_least = true;
  return work;
}

Work with_rate(Work work, Pipe pipe, Precision precision) {
  work.rate = CalibratedRate{.pipe = pipe, .precision = precision};
  return work;
}

Work only_on(Work work, Platform platform) {
  work.only = platform;
  return work;
}

Work multiplying(std::string_view name, std::string_view function, std::string_view shows,
                 Input input, Precision precision, double cuda_flops) {
  Work work{.name = name,
            .function = function,
            .shows = shows,
            .input = input,
            .body = {{.unit = matrix, .count = kMatrixSteps}},
            .cuda_matrix_flops = cuda_flops};
  return with_rate(std::move(work), Pipe::matrix, precision);
}

Work shared_reading(std::string_view name, std::string_view function, std::string_view shows,
                    int step) {
  return {.name = name,
          .function = function,
          .shows = shows,
          .input = Input::lds,
          .body = {{.unit = lds, .count = kLdsReads, .bytes = 4}},
          .lds_step = step};
}

Work shared_bandwidth(Work work) {
  work.level = CalibratedLevel::lds;
  return work;
}

Work of_extent(Work work, std::string_view name, std::string_view shows, Extent extent) {
  work.name = name;
  work.shows = shows;
  work.extent = extent;
  work.rate.reset();
  return work;
}

std::vector<Work> make_bytes() {
  Work copy = copying("copy_16", "calibrate_copy_16", "copies, 16 bytes per lane", 16);
  copy.level = CalibratedLevel::memory;
  return {
      std::move(copy),
      copying("copy_8", "calibrate_copy_8", "copies, 8 bytes per lane", 8),
      copying("copy_4", "calibrate_copy_4", "copies, 4 bytes per lane", 4),
      {.name = "write_16",
       .function = "calibrate_write_16",
       .shows = "writes, 16 bytes per lane",
       .input = Input::written,
       .extent = Extent::stream,
       .body = {{.unit = vmem_store, .count = kAccesses, .bytes = 16}},
       .written = kAccesses * 16},
      reading("read_16", "reads, 16 bytes per lane", Extent::stream, CalibratedLevel::memory),
      reading("read_l2", "reads what fits into L2, again and again", Extent::l2,
              CalibratedLevel::l2),
      reading("read_l1", "reads what fits into L1, again and again", Extent::l1,
              CalibratedLevel::l1),
      striding("stride_32", "calibrate_stride_32", "reads one word of every 32 bytes", 32),
      striding("stride_64", "calibrate_stride_64", "reads one word of every 64 bytes", 64),
      striding("stride_128", "calibrate_stride_128", "reads one word of every 128 bytes", 128),
      {.name = "atomic_add",
       .function = "calibrate_atomic_add",
       .shows = "adds to words of its own, without a result",
       .input = Input::counted,
       .body = {{.unit = vmem_atomic, .count = kAccesses, .bytes = 4}}},
  };
}

std::vector<Work> make_arithmetic() {
  const Work fma = arithmetic("fma_fp32", "calibrate_fma_fp32", "FP32 fused multiply-adds",
                              Input::fp32, "f32", 2);
  return {
      with_rate(fma, Pipe::vector, Precision::fp32),
      arithmetic("add_fp32", "calibrate_add_fp32", "FP32 subtractions", Input::fp32, "f32", 1),
      arithmetic("mul_fp32", "calibrate_mul_fp32", "FP32 multiplications", Input::fp32, "f32", 1),
      arithmetic("trans_fp32", "calibrate_trans_fp32", "FP32 reciprocal square roots", Input::ones,
                 "f32", 1),
      with_rate(arithmetic("fma_fp64", "calibrate_fma_fp64", "FP64 fused multiply-adds",
                           Input::fp64, "f64", 2),
                Pipe::vector, Precision::fp64),
      arithmetic("add_fp64", "calibrate_add_fp64", "FP64 subtractions", Input::fp64, "f64", 1),
      arithmetic("mul_fp64", "calibrate_mul_fp64", "FP64 multiplications", Input::fp64, "f64", 1),
      with_rate(only_on(arithmetic("fma_fp16", "calibrate_fma_fp16", "FP16 fused multiply-adds",
                                   Input::fp16, "f16", 2),
                        Platform::amd),
                Pipe::vector, Precision::fp16),
      with_rate(arithmetic("packed_fma_fp16", "calibrate_packed_fma_fp16",
                           "packed FP16 fused multiply-adds", Input::fp16x2, "f16", 4),
                Pipe::packed, Precision::fp16),
      with_rate(only_on(arithmetic("packed_fma_fp32", "calibrate_packed_fma_fp32",
                                   "packed FP32 fused multiply-adds", Input::fp32x2, "f32", 4),
                        Platform::amd),
                Pipe::packed, Precision::fp32),
      integer(arithmetic("int32", "calibrate_int32", "32-bit integer arithmetic", Input::int32,
                         "i32", 0)),
      of_extent(fma, "half_waves", "FP32 fused multiply-adds in waves of half their lanes",
                Extent::half_wave),
      of_extent(fma, "resident", "one work-group per CU for the whole time", Extent::resident),
  };
}

std::vector<Work> make_matrix() {
  return {
      multiplying("matrix_fp16", "calibrate_matrix_fp16", "FP16 matrix instructions",
                  Input::matrix_fp16, Precision::fp16, 4096),
      multiplying("matrix_bf16", "calibrate_matrix_bf16", "BF16 matrix instructions",
                  Input::matrix_bf16, Precision::bf16, 4096),
      multiplying("matrix_fp32", "calibrate_matrix_fp32", "FP32 matrix instructions",
                  Input::matrix_fp32, Precision::fp32, 0),
      multiplying("matrix_tf32", "calibrate_matrix_tf32", "TF32 matrix instructions",
                  Input::matrix_fp32, Precision::tf32, 2048),
      multiplying("matrix_fp64", "calibrate_matrix_fp64", "FP64 matrix instructions",
                  Input::matrix_fp64, Precision::fp64, 512),
      multiplying("matrix_fp8", "calibrate_matrix_fp8", "FP8 matrix instructions",
                  Input::matrix_fp8, Precision::fp8, 8192),
      only_on(multiplying("matrix_f8f6f4", "calibrate_matrix_f8f6f4",
                          "FP8 in matrix instructions for 8, 6 and 4 bits", Input::matrix_fp8,
                          Precision::fp8, 0),
              Platform::amd),
      multiplying("matrix_int8", "calibrate_matrix_int8", "INT8 matrix instructions",
                  Input::matrix_int8, Precision::int8, 8192),
  };
}

std::vector<Work> make_others() {
  return {
      shared_bandwidth(
          shared_reading("lds_read", "calibrate_lds_read", "reads LDS, each lane its own bank", 1)),
      shared_reading("lds_conflict_2", "calibrate_lds_conflict_2", "reads LDS, every second word",
                     2),
      shared_reading("lds_conflict_8", "calibrate_lds_conflict_8", "reads LDS, every eighth word",
                     8),
      {.name = "salu",
       .function = "calibrate_salu",
       .shows = "scalar arithmetic",
       .input = Input::scalar,
       .body = {{.unit = salu, .count = kSteps, .at_least = true}},
       .only = Platform::amd},
      {.name = "smem",
       .function = "calibrate_smem",
       .shows = "scalar loads",
       .input = Input::scalar,
       .body = {{.unit = smem, .count = 8}},
       .only = Platform::amd},
  };
}

std::vector<Work> make_all() {
  std::vector<Work> all = make_bytes();
  for (std::vector<Work> more : {make_arithmetic(), make_matrix(), make_others()})
    for (Work& one : more) all.push_back(std::move(one));
  return all;
}

/// Whether an instruction is of a claim's kind, whatever its width.
bool is_of(const BodyClaim& claim, const KnownInstruction& one) {
  const code::InstructionInfo& info = one.info;
  if (info.instruction_class != claim.unit) return false;
  if (claim.unit != valu) return true;
  if (claim.flops_per_lane > 0) return info.flops_per_lane > 0;
  return info.precision == claim.precision;
}

/// Whether an unclaimed instruction of this kind would be further work.
bool is_work(const KnownInstruction& one) {
  switch (one.info.instruction_class) {
    case vmem_load:
    case vmem_store:
    case vmem_atomic:
    case scratch_load:
    case scratch_store:
    case lds:
    case matrix:
      return true;
    case valu:
      return one.info.flops_per_lane > 0;
    default:
      return false;
  }
}

std::expected<void, std::string> check_claim(const BodyClaim& claim, const CodeShape& shape) {
  int found = 0;
  for (const KnownInstruction& one : shape.body) {
    if (!is_of(claim, one)) continue;
    ++found;
    const bool fits =
        (claim.flops_per_lane == 0 || (one.info.flops_per_lane == claim.flops_per_lane &&
                                       one.info.precision == claim.precision)) &&
        (claim.bytes == 0 || one.info.memory_bytes_per_lane == claim.bytes);
    if (!fits)
      return std::unexpected(
          fmt::format("its loop has {}, which is not claimed", one.instruction.mnemonic));
  }
  if (claim.at_least ? found < claim.count : found != claim.count)
    return std::unexpected(fmt::format("its loop has {} {} instructions of the kind instead of {}",
                                       found, code::to_string(claim.unit), claim.count));
  return {};
}

}  // namespace

std::string_view to_string(Input input) {
  using enum Input;
  static constexpr auto kNames = enum_names<Input>({{copied, "copied"},
                                                    {xored, "xored"},
                                                    {written, "written"},
                                                    {fp32, "fp32"},
                                                    {fp64, "fp64"},
                                                    {fp16, "fp16"},
                                                    {fp16x2, "fp16x2"},
                                                    {fp32x2, "fp32x2"},
                                                    {ones, "ones"},
                                                    {int32, "int32"},
                                                    {matrix_fp16, "matrix_fp16"},
                                                    {matrix_bf16, "matrix_bf16"},
                                                    {matrix_fp32, "matrix_fp32"},
                                                    {matrix_fp64, "matrix_fp64"},
                                                    {matrix_fp8, "matrix_fp8"},
                                                    {matrix_int8, "matrix_int8"},
                                                    {lds, "lds"},
                                                    {scalar, "scalar"},

                                                    {counted, "counted"}});
  return kNames[input];
}

std::span<const Work> all_work() {
  static const std::vector<Work> kAll = make_all();
  return kAll;
}

std::expected<void, std::string> hold_against(const Work& work, Platform platform,
                                              CodeShape& shape) {
  for (const BodyClaim& claim : work.body)
    if (auto held = check_claim(claim, shape); !held) return held;
  for (const KnownInstruction& one : shape.body) {
    const bool claimed =
        std::ranges::any_of(work.body, [&](const BodyClaim& claim) { return is_of(claim, one); });
    if (!claimed && is_work(one))
      return std::unexpected(
          fmt::format("its loop has {}, which is not claimed", one.instruction.mnemonic));
  }
  if (work.rate && count_of(shape.loop, "matrix") > 0 &&
      count_of(shape.loop, "valu") > count_of(shape.loop, "matrix"))
    return std::unexpected("its loop moves registers more often than it multiplies");
  for (const std::string_view precision : {"flops_f32", "flops_f64"})
    if (count_of(shape.outside, precision) > 0)
      return std::unexpected("it has arithmetic outside of its loop");
  if (count_of(shape.outside, "matrix") > 0)
    return std::unexpected("it has matrix instructions outside of its loop");
  if (platform == Platform::nvidia && work.cuda_matrix_flops > 0)
    shape.loop["matrix_flops"] = count_of(shape.loop, "matrix") * work.cuda_matrix_flops;
  return {};
}

}  // namespace perflab::calibrate
