// The table. Counters of AMD's count instructions of waves (docs/facts/counters.md "Units"),
// NVIDIA's "sass_thread_inst" those of threads (docs/facts/cuda_counters.md). Tolerances: none for
// instructions that a counter names, 1 or 2 % for bytes that caches and other clients touch too,
// more where a counter's definition leaves open which waits and hints it has.
#include "calibrate/expectation.h"

#include <array>
#include <cmath>

#include "base/error.h"
#include "hal/counter_formula.h"

namespace perflab::calibrate {
namespace {

using hal::Platform;

constexpr double kClass = 0.005;  ///< classes of instructions: a driver's own may be among them
constexpr double kBytes = 0.02;   ///< other clients of the memory, lines that stay in a cache
/// Of bytes written to memory: what is still in L2 when the kernel ends, 6 MB of 259 on an H200.
constexpr double kWritten = 0.05;
constexpr double kLoose = 0.05;   ///< definitions that leave waits and hints open
constexpr double kMoment = 0.15;  ///< begin and end of a kernel, which are not known

constexpr std::string_view kIsaFma = "64 per round of the loop, by disassembly";
constexpr std::string_view kWholeCode = "all of its code, by disassembly";
constexpr std::string_view kLaunch = "the launch";
constexpr std::string_view kTouched = "every byte is touched once";

constexpr Expectation kTable[] = {
    // Formulas, of both platforms.
    {"vector.fp32", true, "fma_fp32 add_fp32 mul_fp32", "threads*flops_f32", 0, kIsaFma},
    {"vector.fp64", true, "fma_fp64 add_fp64 mul_fp64", "threads*flops_f64", 0, kIsaFma},
    {"vector.fp16", true, "fma_fp16", "threads*flops_f16", 0, kIsaFma, Platform::amd},
    {"vector.fp16", true, "packed_fma_fp16", "threads*(flops_f16+4*op_f16)", 0,
     "all HFMA2 of its code, by disassembly", Platform::nvidia},
    {"vector.int32", true, "int32", "threads*op_i32", kLoose, kWholeCode},
    {"matrix_instructions", true, "matrix_*", "waves*matrix", 0, "16 per round, by disassembly"},
    {"matrix.fp16", true, "matrix_fp16", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"matrix.bf16", true, "matrix_bf16", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"matrix.fp32", true, "matrix_fp32", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"matrix.tf32", true, "matrix_tf32", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"matrix.fp64", true, "matrix_fp64", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"matrix.fp8", true, "matrix_fp8", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"matrix.int8", true, "matrix_int8", "waves*matrix_flops", 0, "2*m*n*k of its instructions"},
    {"lanes", true, "fma_fp32 half_waves", "min(block,LANES)", 0.01, kLaunch},
    {"partial_waves", true, "half_waves", "100", 0, kLaunch},
    {"instructions_per_wave", true, "fma_fp32 fma_fp64 int32", "all", kLoose, kWholeCode},
    {"fabric.read_bytes", true, "copy_16 copy_8 copy_4 read_16", "read", kBytes, kTouched},
    {"fabric.write_bytes", true, "copy_16 copy_8 copy_4 write_16", "written", kWritten, kTouched},
    {"l2.read_bytes", true, "copy_16 read_16", "read", kBytes, kTouched},
    {"l2.read_bytes", true, "stride_32 stride_64 stride_128", "read/4*min(stride,LINE)", kBytes,
     "a request per line that its words lie in"},
    {"l2.write_bytes", true, "copy_16 write_16", "written", kBytes, kTouched},
    {"l1.bytes", true, "copy_16", "read+written", kBytes, kTouched},
    {"lds.bytes", true, "lds_read", "threads*lds*4", kBytes, "four bytes per lane and access"},
    {"lds.conflicts_per_access", true, "lds_conflict_2 lds_conflict_8", "conflicts", kLoose,
     "lanes of one bank less one"},
    {"hit.l1", true, "read_l1", "100", kLoose, "all but the first reads"},
    {"hit.l2", true, "read_l2", "100", kLoose, "all but the first reads"},
    {"occupancy.waves_in_flight", true, "resident", "waves", kMoment, kLaunch},
    {"occupancy.waves_per_cu", true, "resident", "waves/CU", kMoment, kLaunch},
    {"occupancy.achieved", true, "resident", "100*waves/(CU*MAX_WAVES_PER_CU)", kMoment, kLaunch},
    {"occupancy.busy_cus_waves", true, "resident", "waves/CU", kMoment, kLaunch},
    {"cu.busy", true, "resident", "100", kMoment, "every CU has a work-group all the time"},
    // Counters of AMD.
    {"SQ_WAVES", false, "fma_fp32 copy_16 half_waves", "waves", 0, kLaunch, Platform::amd},
    {"SQ_WAVES_LT_64", false, "half_waves", "waves", 0, kLaunch, Platform::amd},
    {"SQ_INSTS", false, "fma_fp32 fma_fp64 int32", "waves*all", kLoose, kWholeCode, Platform::amd},
    {"SQ_INSTS_VALU", false, "fma_fp32 fma_fp64 int32", "waves*valu", kClass, kWholeCode,
     Platform::amd},
    {"SQ_INSTS_SALU", false, "salu", "waves*salu", kLoose, kWholeCode, Platform::amd},
    {"SQ_INSTS_SMEM", false, "smem", "waves*smem", kClass, kWholeCode, Platform::amd},
    {"SQ_INSTS_LDS", false, "lds_read lds_conflict_2", "waves*lds", kClass, kWholeCode,
     Platform::amd},
    {"SQ_INSTS_VMEM", false, "copy_16 read_16 write_16", "waves*vmem", kClass, kWholeCode,
     Platform::amd},
    {"SQ_INSTS_BRANCH", false, "fma_fp32 copy_16", "waves*branch", kClass, kWholeCode,
     Platform::amd},
    {"SQ_INSTS_VALU_FMA_F16", false, "fma_fp16", "waves*fma_f16", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_FMA_F32", false, "fma_fp32", "waves*fma_f32", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_ADD_F32", false, "add_fp32", "waves*add_f32", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_MUL_F32", false, "mul_fp32", "waves*mul_f32", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_TRANS_F32", false, "trans_fp32", "waves*trans_f32", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_FMA_F64", false, "fma_fp64", "waves*fma_f64", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_ADD_F64", false, "add_fp64", "waves*add_f64", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_MUL_F64", false, "mul_fp64", "waves*mul_f64", 0, kIsaFma, Platform::amd},
    {"SQ_INSTS_VALU_INT32", false, "int32", "waves*op_i32", kLoose, kWholeCode, Platform::amd},
    {"SQ_INSTS_MFMA", false, "matrix_*", "waves*matrix", 0, "16 per round, by disassembly",
     Platform::amd},
    {"SQ_INSTS_VALU_MFMA_MOPS_F16", false, "matrix_fp16", "waves*matrix_flops/512", 0,
     "512 operations each", Platform::amd},
    {"SQ_INSTS_VALU_MFMA_MOPS_BF16", false, "matrix_bf16", "waves*matrix_flops/512", 0,
     "512 operations each", Platform::amd},
    {"SQ_INSTS_VALU_MFMA_MOPS_F32", false, "matrix_fp32", "waves*matrix_flops/512", 0,
     "512 operations each", Platform::amd},
    {"SQ_INSTS_VALU_MFMA_MOPS_F64", false, "matrix_fp64", "waves*matrix_flops/512", 0,
     "512 operations each", Platform::amd},
    {"SQ_INSTS_VALU_MFMA_MOPS_F8", false, "matrix_fp8", "waves*matrix_flops/512", 0,
     "512 operations each", Platform::amd},
    {"SQ_INSTS_VALU_MFMA_MOPS_I8", false, "matrix_int8", "waves*matrix_flops/512", 0,
     "512 operations each", Platform::amd},
    {"TCP_TCC_READ_REQ_sum", false, "read_16", "read/LINE", kBytes, "a request per line",
     Platform::amd},
    {"TCP_TCC_WRITE_REQ_sum", false, "write_16", "written/64", kBytes, "a request per 64 bytes",
     Platform::amd},
    // Counters of NVIDIA.
    {"smsp__warps_launched.sum", false, "fma_fp32 copy_16 half_waves", "waves", 0, kLaunch,
     Platform::nvidia},
    {"smsp__inst_executed.sum", false, "fma_fp32 fma_fp64 int32 copy_16", "waves*all", 0,
     kWholeCode, Platform::nvidia},
    {"smsp__thread_inst_executed.sum", false, "fma_fp32 fma_fp64 half_waves", "threads*all", 0,
     kWholeCode, Platform::nvidia},
    {"smsp__inst_executed_op_branch.sum", false, "fma_fp32 copy_16", "waves*(branch+1)", kClass,
     "its branches and EXIT, by disassembly (seen on an H200)", Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_ffma_pred_on.sum", false, "fma_fp32 half_waves",
     "threads*fma_f32", 0, kIsaFma, Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_fadd_pred_on.sum", false, "add_fp32", "threads*add_f32", 0,
     kIsaFma, Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_fmul_pred_on.sum", false, "mul_fp32", "threads*mul_f32", 0,
     kIsaFma, Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_dfma_pred_on.sum", false, "fma_fp64", "threads*fma_f64", 0,
     kIsaFma, Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_dadd_pred_on.sum", false, "add_fp64", "threads*add_f64", 0,
     kIsaFma, Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_dmul_pred_on.sum", false, "mul_fp64", "threads*mul_f64", 0,
     kIsaFma, Platform::nvidia},
    {"sm__sass_thread_inst_executed_op_hfma_pred_on.sum", false, "packed_fma_fp16",
     "threads*(fma_f16+op_f16)", 0, "all HFMA2 of its code, by disassembly", Platform::nvidia},
    {"sm__ops_path_tensor_src_fp16.sum", false, "matrix_fp16", "waves*matrix_flops", 0,
     "2*m*n*k of its instructions", Platform::nvidia},
    {"sm__ops_path_tensor_src_bf16_dst_fp32.sum", false, "matrix_bf16", "waves*matrix_flops", 0,
     "2*m*n*k of its instructions", Platform::nvidia},
    {"sm__ops_path_tensor_src_tf32_dst_fp32.sum", false, "matrix_tf32", "waves*matrix_flops", 0,
     "2*m*n*k of its instructions", Platform::nvidia},
    {"sm__ops_path_tensor_src_fp64.sum", false, "matrix_fp64", "waves*matrix_flops", 0,
     "2*m*n*k of its instructions", Platform::nvidia},
    {"sm__ops_path_tensor_src_int8.sum", false, "matrix_int8", "waves*matrix_flops", 0,
     "2*m*n*k of its instructions", Platform::nvidia},
    {"dram__bytes_read.sum", false, "copy_16 read_16", "read", kBytes, kTouched, Platform::nvidia},
    {"dram__bytes_write.sum", false, "copy_16 write_16", "written", kWritten, kTouched,
     Platform::nvidia},
    {"lts__t_sectors_srcunit_tex_op_read.sum", false, "read_16", "read/32", kBytes,
     "sectors of 32 bytes", Platform::nvidia},
    {"lts__t_sectors_srcunit_tex.sum", false, "copy_16", "(read+written)/32", kBytes,
     "sectors of 32 bytes", Platform::nvidia},
    {"l1tex__t_bytes.sum", false, "copy_16", "read+written", kBytes, kTouched, Platform::nvidia},
    {"sm__sass_data_bytes_mem_shared.sum", false, "lds_read", "threads*lds*4", 0,
     "four bytes per thread and access", Platform::nvidia},
    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", false, "lds_conflict_2 lds_conflict_8",
     "waves*(lds*conflicts)", kLoose, "lanes of one bank less one", Platform::nvidia},
};

}  // namespace

std::span<const Expectation> all_expectations() {
  return kTable;
}

bool is_for(const Expectation& expectation, std::string_view row) {
  std::string_view rest = expectation.rows;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view name = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (name.ends_with('*') ? row.starts_with(name.substr(0, name.size() - 1)) : row == name)
      return true;
  }
  return false;
}

std::optional<double> expected_value(const Expectation& expectation, const LaunchNumbers& numbers) {
  const Result<hal::FormulaText> formula = hal::read_formula(expectation.formula);
  PERFLAB_CHECK(formula.has_value());  // the table above is our own: a test reads all of it
  const auto value = hal::evaluate(*formula, [&](std::string_view name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0.0 : found->second;
  });
  if (!value || !std::isfinite(*value) || *value <= 0) return std::nullopt;
  return value;
}

}  // namespace perflab::calibrate
