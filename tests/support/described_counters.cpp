// From the work of a dispatch to its counters. "vecCopy" in comments: the recording of an MI300X
// that a proportion is taken from (docs/facts/counters.md, the recording of an MI300X).
#include "support/described_counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hal/arch.h"
#include "hal/counter_catalogue.h"
#include "hal/occupancy.h"
#include "hal/pass_plan.h"
#include "support/described_trace.h"
#include "support/prng.h"

namespace perflab::test {
namespace {

constexpr std::string_view kGfx = "gfx942";
constexpr std::string_view kProduct = "AMD Instinct MI300X";  // the only GPU of descriptions
constexpr double kLanes = 64;
constexpr double kFlopPerMop = 512;               // of SQ_INSTS_VALU_MFMA_MOPS_*
constexpr double kMatrixFlop = 2 * 16 * 16 * 16;  // of one v_mfma_f32_16x16x16_bf16
constexpr double kLdsBytesPerCycle = 128;
constexpr std::int64_t kRunApart =
    60'000'000'000;  // ns from one run of the application to the next

// How much of the time between first start and last end a wave lives and a CU has one: the rest is
// the launch of one work-group after the other, and waves that end before others.
constexpr double kWaveLife = 0.92, kCuLife = 0.95;
// Of the time in which a wave issues nothing; the rest is neither of both (vecCopy: 0.77, 0.17).
constexpr double kWaitsForData = 0.80, kWaitsForIssue = 0.17;
constexpr double kSmallCacheMisses = 1.0 / 16;  // of instruction and scalar caches (vecCopy)

double whole(double value) {
  return std::round(value);
}

/// One dispatch on the GPU, worked out step by step.
class Counting {
 public:
  Counting(const DescribedKernel& kernel, const DescribedCounting& counting, std::int64_t duration)
      : kernel_(kernel),
        work_(*kernel.counts),
        how_(counting),
        gpu_(*hal::find_product_by_name(kProduct)),
        arch_(*hal::find_arch(kGfx)),
        ns_(static_cast<double>(duration)),
        cycles_(ns_ * counting.clock_mhz / 1e3) {}

  Result<DescribedCounters> run() {
    count_instructions();
    count_memory();
    PERFLAB_TRY_VOID(count_waves());
    count_lds();
    count_latencies();
    return std::move(out_);
  }

 private:
  /// FLOPs of one kind of vector instruction as instructions of waves.
  [[nodiscard]] double instructions(std::int64_t flop, double per_lane) const {
    return whole(static_cast<double>(flop) / per_lane / work_.lanes);
  }

  [[nodiscard]] double waves() const {
    const auto& [x, y, z] = kernel_.workgroup;
    return groups() * std::ceil(static_cast<double>(x * y * z) / kLanes);
  }
  [[nodiscard]] double groups() const {
    return static_cast<double>(kernel_.groups.x * kernel_.groups.y * kernel_.groups.z);
  }

  void count_instructions() {
    const double add = instructions(work_.add, 1), mul = instructions(work_.mul, 1);
    const double trans = instructions(work_.trans, 1), fma = instructions(work_.fma, 2);
    const double matrix = whole(static_cast<double>(work_.matrix_bf16) / kMatrixFlop);
    const double other = waves() * static_cast<double>(work_.valu);
    const double valu = add + mul + trans + fma + matrix + other;  // matrix ones are vector ones
    const double salu = waves() * static_cast<double>(work_.salu);
    const double smem = waves() * static_cast<double>(work_.smem);
    const double branch = waves() * static_cast<double>(work_.branch);
    vmem_ = std::ceil(static_cast<double>(work_.l2_read + work_.l2_write) /
                      (kLanes * static_cast<double>(work_.lane_bytes)));
    lds_ = std::ceil(static_cast<double>(work_.lds) /
                     (kLanes * static_cast<double>(work_.lds_lane_bytes)));
    // One s_endpgm per wave; waits (s_waitcnt) are instructions, but take no time to issue.
    issued_ = valu + salu + smem + branch + vmem_ + lds_ + waves();
    for (const char* type : {"F16", "F32", "F64"}) {
      const bool fp32 = std::string_view(type) == "F32";
      out_[fmt::format("SQ_INSTS_VALU_ADD_{}", type)] = fp32 ? add : 0;
      out_[fmt::format("SQ_INSTS_VALU_MUL_{}", type)] = fp32 ? mul : 0;
      out_[fmt::format("SQ_INSTS_VALU_FMA_{}", type)] = fp32 ? fma : 0;
      out_[fmt::format("SQ_INSTS_VALU_TRANS_{}", type)] = fp32 ? trans : 0;
    }
    for (const char* type : {"F16", "F32", "F64", "F8", "I8"})
      out_[fmt::format("SQ_INSTS_VALU_MFMA_MOPS_{}", type)] = 0;
    out_["SQ_INSTS_VALU_MFMA_MOPS_BF16"] = static_cast<double>(work_.matrix_bf16) / kFlopPerMop;
    out_["SQ_INSTS_VALU"] = out_["SQ_ACTIVE_INST_VALU"] = valu;
    out_["SQ_THREAD_CYCLES_VALU"] = whole(work_.lanes * valu);
    out_["SQ_INSTS_VALU_INT32"] = std::floor(other / 2);  // vecCopy: 3 and 2 of 6
    out_["SQ_INSTS_VALU_INT64"] = std::floor(other / 3);
    out_["SQ_INSTS_MFMA"] = matrix;
    out_["SQ_INSTS_SALU"] = salu;
    out_["SQ_INSTS_SMEM"] = smem;
    out_["SQ_INSTS_BRANCH"] = branch;
    out_["SQ_INSTS_VMEM"] = out_["SQ_ACTIVE_INST_FLAT"] = vmem_;
    out_["SQ_ACTIVE_INST_VMEM"] = 0;  // global instructions count as flat ones
    out_["SQ_INSTS_LDS"] = out_["SQ_ACTIVE_INST_LDS"] = lds_;
    out_["SQ_ACTIVE_INST_SCA"] = salu + smem;
    out_["SQ_ACTIVE_INST_MISC"] = branch + waves();
    out_["SQ_INSTS"] = issued_ + 3 * waves() + std::floor(salu / 4);
    out_["SQ_ACTIVE_INST_ANY"] = issued_;
    const double matrix_rate =
        arch_.ops_per_clk_per_cu(hal::Pipe::matrix, hal::Precision::bf16).value_or(1) /
        arch_.simds_per_cu;
    out_["SQ_VALU_MFMA_BUSY_CYCLES"] = whole(static_cast<double>(work_.matrix_bf16) / matrix_rate);
    const double fetches = whole(out_["SQ_INSTS"] / 5);  // vecCopy: 4 for 20 instructions
    out_["SQC_ICACHE_REQ"] = fetches;
    out_["SQC_ICACHE_HITS"] = fetches - std::floor(fetches * kSmallCacheMisses);
    out_["SQC_DCACHE_REQ"] = smem;
    out_["SQC_DCACHE_HITS"] = smem - std::floor(smem * kSmallCacheMisses);
  }

  /// Reads are requests of 128 bytes everywhere, stores of 64, of which the second half of a line
  /// hits in L2 (vecCopy). Nothing is kept in L1, and there are no atomics.
  void count_memory() {
    const auto requests = [](std::int64_t bytes, std::int64_t size) {
      return static_cast<double>(bytes / size);
    };
    const double l2_reads = requests(work_.l2_read, 128), l2_writes = requests(work_.l2_write, 64);
    const double reads = requests(work_.read, 128), writes = requests(work_.write, 64);
    out_["TCP_TCC_READ_REQ_sum"] = l2_reads;
    out_["TCP_TCC_WRITE_REQ_sum"] = l2_writes;
    for (const char* name :
         {"TCP_TCC_ATOMIC_WITH_RET_REQ_sum", "TCC_ATOMIC_sum", "TCP_TCC_ATOMIC_WITHOUT_RET_REQ_sum",
          "TCC_EA0_RDREQ_32B_sum", "TCP_READ_TAGCONFLICT_STALL_CYCLES_sum"})
      out_[name] = 0;
    const double misses = reads + std::ceil(writes / 2);
    out_["TCC_REQ_sum"] = l2_reads + l2_writes;
    out_["TCC_MISS_sum"] = misses;
    out_["TCC_HIT_sum"] = l2_reads + l2_writes - misses;
    out_["TCP_TOTAL_CACHE_ACCESSES_sum"] = 16 * vmem_;  // four lanes at a time (vecCopy)
    out_["TCC_EA0_RDREQ_sum"] = out_["TCC_EA0_RDREQ_DRAM_sum"] = out_["TCC_BUBBLE_sum"] = reads;
    out_["TCC_EA0_WRREQ_sum"] = out_["TCC_EA0_WRREQ_64B_sum"] = out_["TCC_EA0_WRREQ_DRAM_sum"] =
        writes;
    // 1 GB/s is 1 byte per ns.
    busy_memory_ = static_cast<double>(work_.read + work_.write) / ns_ / gpu_.memory_gbps;
  }

  /// Work-groups run in rounds of as many as fit; each takes the same part of the time.
  Result<void> count_waves() {
    const auto& [x, y, z] = kernel_.workgroup;
    PERFLAB_TRY(const hal::Occupancy occupancy,
                hal::compute_occupancy(
                    arch_, hal::input_from_trace(arch_, {.workgroup_size = x * y * z,
                                                         .static_lds = kernel_.lds,
                                                         .dispatch_lds = kernel_.lds,
                                                         .arch_vgprs = kernel_.arch_vgpr,
                                                         .accum_vgprs = kernel_.accum_vgpr,
                                                         .sgprs = kernel_.sgpr})));
    const double cus = gpu_.cus;
    const double slots = cus * occupancy.resident.workgroups_per_cu;
    const double rounds = std::ceil(groups() / slots);
    const double last = groups() - (rounds - 1) * slots;
    const double busy_cus = ((rounds - 1) * cus + std::min(cus, last)) / rounds;
    const double wave_quads = whole(waves() / rounds * cycles_ * kWaveLife / 4);
    const double silent = wave_quads - issued_;
    if (silent < 0 || busy_memory_ > 1 ||
        out_["SQ_VALU_MFMA_BUSY_CYCLES"] > busy_cus * arch_.simds_per_cu * cycles_)
      return fail(ErrorCode::bad_input,
                  fmt::format("kernel {}: its counts are more than {} can do in {:.0f} ns",
                              kernel_.symbol, kProduct, ns_));
    out_["SQ_WAVES"] = waves();
    const bool whole_waves = (x * y * z) % static_cast<std::int64_t>(kLanes) == 0;
    out_["SQ_WAVES_LT_64"] = whole_waves ? 0 : groups();
    out_["SQ_WAVE_CYCLES"] = wave_quads;
    out_["SQ_BUSY_CU_CYCLES"] = whole(busy_cus * cycles_ * kCuLife);
    out_["SQ_WAIT_ANY"] = whole(silent * kWaitsForData);
    out_["SQ_WAIT_INST_ANY"] = whole(silent * kWaitsForIssue);
    out_["SQ_WAIT_INST_LDS"] = whole(silent * kWaitsForIssue * lds_ / issued_);
    out_["TCP_GATE_EN1_sum"] = out_["SQ_BUSY_CU_CYCLES"];
    out_["TCP_PENDING_STALL_CYCLES_sum"] = whole(out_["SQ_BUSY_CU_CYCLES"] * busy_memory_ / 2);
    out_["TCP_TCR_TCP_STALL_CYCLES_sum"] = whole(out_["SQ_BUSY_CU_CYCLES"] * busy_memory_ / 40);
    out_["GRBM_GUI_ACTIVE"] =
        whole((ns_ + static_cast<double>(how_.launch)) * how_.clock_mhz / 1e3) * gpu_.xcds;
    count_waiting_groups(occupancy.resident, cycles_ * (rounds - 1) / rounds);
    return {};
  }

  /// In all rounds but the last some work-group waits for what limits the occupancy.
  void count_waiting_groups(const hal::ModelOccupancy& resident, double waiting) {
    for (const char* name :
         {"SPI_RA_VGPR_SIMD_FULL_CSN", "SPI_RA_SGPR_SIMD_FULL_CSN", "SPI_RA_WAVE_SIMD_FULL_CSN",
          "SPI_RA_LDS_CU_FULL_CSN", "SPI_RA_BAR_CU_FULL_CSN"})
      out_[name] = 0;
    const int engines = gpu_.shader_engines.value_or(1);
    out_["SPI_CSN_BUSY"] = whole(cycles_ * engines);
    out_["SPI_RA_REQ_NO_ALLOC_CSN"] = whole(waiting * engines);
    // Each of four pipes is looked at in every fourth cycle.
    out_["SPI_RA_RES_STALL_CSN"] = whole(waiting * engines / 4);
    for (const hal::Limiter limiter : resident.limiters) switch (limiter) {
        case hal::Limiter::vgpr:
          out_["SPI_RA_VGPR_SIMD_FULL_CSN"] = whole(waiting * gpu_.cus);
          break;
        case hal::Limiter::sgpr:
          out_["SPI_RA_SGPR_SIMD_FULL_CSN"] = whole(waiting * gpu_.cus);
          break;
        case hal::Limiter::lds:
          out_["SPI_RA_LDS_CU_FULL_CSN"] = whole(waiting * gpu_.cus / 4);
          break;
        case hal::Limiter::barriers:
          out_["SPI_RA_BAR_CU_FULL_CSN"] = whole(waiting * gpu_.cus / 4);
          break;
        case hal::Limiter::waves:
        case hal::Limiter::workgroup_slots:
        case hal::Limiter::waves_per_eu:
        case hal::Limiter::workgroups:  // of NVIDIA's GPUs alone
          out_["SPI_RA_WAVE_SIMD_FULL_CSN"] = whole(waiting * gpu_.cus);
          break;
      }
  }

  void count_lds() {
    const double access = static_cast<double>(work_.lds) / kLdsBytesPerCycle;
    out_["SQ_LDS_BANK_CONFLICT"] = whole(access * work_.lds_conflicts);
    out_["SQ_LDS_IDX_ACTIVE"] = access + out_["SQ_LDS_BANK_CONFLICT"];
  }

  /// Memory answers later the busier it is: three times as late at its peak (vecCopy: 1750 cycles
  /// beyond L2). What L2 holds is there after its own latency.
  void count_latencies() {
    const double load = 1 + 2 * busy_memory_ * busy_memory_;
    const double read = how_.read_cycles * load;
    out_["TCC_EA0_RDREQ_LEVEL_sum"] = whole(out_["TCC_EA0_RDREQ_sum"] * read);
    out_["TCC_EA0_WRREQ_LEVEL_sum"] = whole(out_["TCC_EA0_WRREQ_sum"] * how_.write_cycles * load);
    const double beyond = work_.l2_read > 0
                              ? static_cast<double>(work_.read) / static_cast<double>(work_.l2_read)
                              : 0;
    // The profiler gives 0 where it would divide by 0.
    out_["VmemLatency"] = vmem_ > 0 ? how_.l2_cycles + read * beyond : 0;
    out_["LdsLatency"] = lds_ > 0 ? how_.lds_cycles * (1 + work_.lds_conflicts) : 0;
    out_["SmemLatency"] = work_.smem > 0 ? how_.smem_cycles : 0;
    out_["InstrFetchLatency"] = how_.fetch_cycles;
  }

  const DescribedKernel& kernel_;
  const DescribedCounts& work_;
  const DescribedCounting& how_;
  const hal::Product& gpu_;
  const hal::Arch& arch_;
  const double ns_;
  const double cycles_;
  DescribedCounters out_;
  double vmem_ = 0, lds_ = 0;  // instructions
  double issued_ = 0;          // instructions, each a quarter of the cycles of a SIMD's turn
  double busy_memory_ = 0;     // share of the memory's bandwidth
};

/// The description as the application runs in counter pass `number`.
TraceDescription run_again(const TraceDescription& description, int number) {
  TraceDescription run = description;
  run.guid.replace(0, 4, fmt::format("{:04x}", number));
  run.pid += number;
  run.seed += static_cast<std::uint64_t>(number);
  run.clock_start += kRunApart * number;
  run.timing.kernel_gap = description.counting->gap;
  for (auto& [name, kernel] : run.kernels)
    kernel.duration += kernel.duration * description.counting->slower_permille / 1000;
  return run;
}

/// Cycles of each die: about the same.
std::vector<double> dies_of(double total, int dies, Prng& prng) {
  std::vector<double> cycles(static_cast<std::size_t>(dies), std::floor(total / dies));
  for (std::size_t i = 0; i + 1 < cycles.size(); i += 2) {
    const auto moved =
        static_cast<double>(prng.below(static_cast<std::int64_t>(cycles[i]) / 100 + 1));
    cycles[i] -= moved;
    cycles[i + 1] += moved;
  }
  cycles.back() += total - std::floor(total / dies) * dies;
  return cycles;
}

Result<void> write_pass(const TraceDescription& run, const std::vector<std::string>& counters,
                        const std::filesystem::path& path) {
  const hal::CounterTable& table = *hal::find_counter_table(kGfx);
  const DescribedRecording recording = play(run);
  RocpdWriter writer(path, options_of(run, recording.end));
  write_machine(writer, run);
  std::vector<Id> ids;
  for (const std::string& name : counters)
    ids.push_back(writer.counter(
        {.name = name, .block = table.block_of(name), .is_derived = table.is_derived(name)}));
  Prng prng(run.seed);
  for (const DispatchRow& row : recording.dispatches) {
    const std::string& name = run.kernel_order[static_cast<std::size_t>(row.kernel) - 1];
    PERFLAB_TRY(const DescribedCounters values,
                count_dispatch(run.kernels.at(name), *run.counting, row.end - row.start));
    const Id event = writer.dispatch(row).event;
    for (std::size_t i = 0; i < counters.size(); ++i) {
      const auto value = values.find(counters[i]);
      if (value == values.end())
        return fail(ErrorCode::bad_input,
                    fmt::format("{}: described kernels do not say what {} counts", path.string(),
                                counters[i]));
      if (counters[i] != table.in_every_pass) {
        writer.counter_value(event, ids[i], value->second);
        continue;
      }
      writer.counter_values(
          event, ids[i], dies_of(value->second, hal::find_product_by_name(kProduct)->xcds, prng));
    }
  }
  return writer.close();
}

}  // namespace

Result<DescribedCounters> count_dispatch(const DescribedKernel& kernel,
                                         const DescribedCounting& counting, std::int64_t duration) {
  if (!kernel.counts)
    return fail(ErrorCode::bad_input,
                fmt::format("kernel {} is launched, but has no \"counts\"", kernel.symbol));
  if (duration <= 0)
    return fail(ErrorCode::bad_input, fmt::format("kernel {} takes no time", kernel.symbol));
  return Counting(kernel, counting, duration).run();
}

Result<std::vector<std::filesystem::path>> write_described_counters(
    const TraceDescription& description, const std::filesystem::path& folder) {
  if (!description.counting)
    return fail(ErrorCode::bad_input, "the description has no \"counting\"");
  if (description.agents[static_cast<std::size_t>(description.gpu)] != "mi300x")
    return fail(ErrorCode::bad_input, "the description's \"gpu\" is not an mi300x");
  if (description.guid.size() < 4)
    return fail(ErrorCode::bad_input, "the description's \"guid\" is too short to number passes");
  PERFLAB_TRY(const hal::PassPlan plan, hal::plan_passes(*hal::find_counter_table(kGfx), true, {}));
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 0; i < plan.passes.size(); ++i) {
    const TraceDescription run = run_again(description, static_cast<int>(i) + 1);
    const std::filesystem::path pass = folder / fmt::format("pass_{}", i + 1);
    std::error_code error;
    std::filesystem::create_directories(pass, error);
    if (error)
      return fail(ErrorCode::bad_input, fmt::format("{}: {}", pass.string(), error.message()));
    files.push_back(pass / fmt::format("{}_results.db", run.pid));
    PERFLAB_TRY_VOID(write_pass(run, plan.passes[i], files.back()));
  }
  return files;
}

}  // namespace perflab::test
