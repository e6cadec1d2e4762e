// Counts follow from the physics by what the hardware counts (docs/facts/counters.md "Units",
// "Bytes": SQ counts in quad-cycles, requests to memory in 32, 64 and 128 bytes); figures by the
// definitions of the features (docs/models/bottleneck_features.md), without going through the
// counts.
#include "analyze/bottleneck/known_kernels.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/api_rows.h"
#include "support/rocpd_writer.h"

namespace perflab::analyze {
namespace {

constexpr std::int64_t kStartUp = 100, kEndIssue = 4;  ///< cycles of a traced wave

std::int64_t sum_of(const TracedLoop& loop, auto&& part) {
  std::int64_t sum = 0;
  for (const LoopStep& step : loop.body) sum += part(step);
  return sum * loop.turns;
}

bool is_wait(Role role) {
  return role == Role::memory_wait || role == Role::lds_wait || role == Role::barrier;
}

test::CountedDispatch helper_dispatch() {
  return {.kernel = "__amd_rocclr_fillBufferAligned", .duration = 40'000};
}

}  // namespace

double KernelPhysics::launched_waves() const {
  return static_cast<double>(groups * ((items + 63) / 64));
}

test::CountedDispatch counted_dispatch(const KernelPhysics& k) {
  const double quads = k.waves * k.cycles() / 4;
  const double valu = k.fma + k.other_valu;
  const double moves = k.matrix_flop / kWordFlop;
  const double l2_requests = k.l2_read / 128 + k.l2_written / 64;
  const double wide = k.request == 128 ? k.hbm_read / 128 : 0;
  const double insts = valu + k.vmem + k.scalar + k.branches;
  test::CountedDispatch dispatch = {.kernel = k.name,
                                    .grid = {.x = k.groups * k.items},
                                    .workgroup = {.x = k.items},
                                    .duration = k.ns};
  if (k.all_counts_zero) return dispatch;
  dispatch.counts = {{"GRBM_GUI_ACTIVE", 8 * k.cycles()},  // a sum over the dies
                     {"SQ_WAVES", k.launched_waves()},
                     {"SQ_WAVE_CYCLES", quads},
                     {"SQ_BUSY_CU_CYCLES", k.busy_cus * k.cycles()},
                     {"SQ_WAIT_ANY", k.waits * quads},
                     {"SQ_WAIT_INST_ANY", k.queues * quads},
                     {"SQ_ACTIVE_INST_ANY", (1 - k.waits - k.queues) * quads},
                     {"SQ_INSTS", insts},
                     {"SQ_INSTS_VALU", valu},
                     {"SQ_ACTIVE_INST_VALU", valu},
                     {"SQ_THREAD_CYCLES_VALU", k.lanes * valu},
                     {"SQ_INSTS_VALU_FMA_F32", k.fma},
                     {"SQ_INSTS_MFMA", k.matrix_flop / 16'384},  // of 32 x 32 x 8 each
                     {"SQ_INSTS_VALU_MFMA_MOPS_BF16", moves},
                     {"SQ_VALU_MFMA_BUSY_CYCLES", k.matrix_flop / kMatrixFlopPerCycle},
                     {"SQ_INSTS_SALU", k.scalar},
                     {"SQ_INSTS_BRANCH", k.branches},
                     {"SQ_INSTS_VMEM", k.vmem},
                     {"SQ_ACTIVE_INST_FLAT", k.vmem},
                     {"TCC_HIT_sum", k.l2_hits * l2_requests},
                     {"TCC_MISS_sum", (1 - k.l2_hits) * l2_requests},
                     {"TCC_REQ_sum", l2_requests},
                     {"TCP_TCC_READ_REQ_sum", k.l2_read / 128},
                     {"TCP_TCC_WRITE_REQ_sum", k.l2_written / 64},
                     {"TCP_TOTAL_CACHE_ACCESSES_sum", 4 * l2_requests},
                     {"TCC_BUBBLE_sum", wide},
                     {"TCC_EA0_RDREQ_sum", k.request == 128 ? wide : k.hbm_read / 64},
                     {"TCC_EA0_WRREQ_sum", k.hbm_written / 64},
                     {"TCC_EA0_WRREQ_64B_sum", k.hbm_written / 64},
                     {"SQ_LDS_IDX_ACTIVE", k.lds / 128}};
  return dispatch;
}

Figures dispatch_figures(const KernelPhysics& k, double gap) {
  using enum FeatureId;
  const auto ns = static_cast<double>(k.ns);
  return {{dispatch_count, k.dispatches},
          {dispatch_median, ns},
          {idle_before, gap / (gap + ns)},
          {work_fill, k.launched_waves() / kWaveSlots},
          {work_per_cu, static_cast<double>(k.groups) / kCus},
          {theoretical_occupancy, 1},  // 32 VGPRs and no LDS leave all eight slots of a SIMD
          {scratch_bytes, 0}};
}

Figures counter_figures(const KernelPhysics& k) {
  using enum FeatureId;
  const auto ns = static_cast<double>(k.ns);
  const double valu = k.fma + k.other_valu;
  const double hbm_ns = (k.hbm_read + k.hbm_written) / kHbm;
  const double l2_ns = (k.l2_read + k.l2_written) / kL2;
  const double lds_ns = k.lds / kLds;
  // Masked lanes take their time: a roof is that of whole instructions.
  const double vector_ns = 2 * kLanesOfWave * k.fma / kVectorFp32;
  const double compute_ns = vector_ns + k.matrix_flop / kMatrixBf16;
  const double memory_ns = std::max({hbm_ns, l2_ns, lds_ns});
  return {{hbm_share, hbm_ns / ns},
          {l2_share, l2_ns / ns},
          {lds_share, lds_ns / ns},
          {compute_share, compute_ns / ns},
          {integer_share, 0},
          {nearest_roof, std::max(memory_ns, compute_ns) / ns},
          {memory_side, memory_ns / (memory_ns + compute_ns)},
          {valu_busy, valu / k.valu_slots()},
          {mfma_busy, k.matrix_flop / kMatrixBf16 / ns},
          {vmem_busy, k.vmem / k.valu_slots()},
          {lds_busy, k.lds / 128 / k.valu_slots()},
          {cu_busy, k.busy_cus / kCus},
          {achieved_occupancy, k.waves / kWaveSlots},
          {busy_cu_occupancy, k.waves / k.busy_cus / 32},
          {occupancy_reached, k.waves / k.busy_cus / 32},
          {wait_dependency, k.waits},
          {wait_issue, k.queues},
          {lanes_active, k.lanes / kLanesOfWave},
          {partial_waves, 0},
          {branch_share, k.branches / (valu + k.vmem + k.scalar + k.branches)},
          {l2_hit, k.l2_hits}};
}

Figures thread_trace_figures(const KernelPhysics& k) {
  using enum FeatureId;
  const TracedLoop& loop = k.loop;
  const auto of = [&](Role role, auto&& part) {
    return sum_of(loop, [&](const LoopStep& s) { return s.role == role ? part(s) : 0; });
  };
  const auto latency = [](const LoopStep& s) { return s.issue + s.stall; };
  const auto stall = [](const LoopStep& s) { return s.stall; };
  const std::int64_t idle = kStartUp + sum_of(loop, [](const LoopStep& s) { return s.idle; });
  const std::int64_t issue =
      kEndIssue + sum_of(loop, [](const LoopStep& s) { return is_wait(s.role) ? 0 : s.issue; });
  const std::int64_t stalls =
      sum_of(loop, [](const LoopStep& s) { return is_wait(s.role) ? 0 : s.stall; });
  const std::int64_t waits = of(Role::memory_wait, latency) + of(Role::lds_wait, latency);
  const std::int64_t barriers = of(Role::barrier, latency);
  const auto all = static_cast<double>(issue + stalls + waits + barriers + idle);
  const auto share = [&](std::int64_t cycles) { return static_cast<double>(cycles) / all; };
  return {{att_issue, share(issue)},
          {att_wait, share(waits)},
          {att_barrier, share(barriers)},
          {att_issue_stall, share(stalls)},
          {att_idle, share(idle)},
          {att_memory_wait, share(of(Role::memory_wait, latency))},
          {att_lds_wait, share(of(Role::lds_wait, latency))},
          {att_vmem_stall, share(of(Role::load, stall))},
          {att_alu, share(of(Role::arithmetic, latency))},
          {att_branch, share(of(Role::branch, latency) +
                             of(Role::branch, [](const LoopStep& s) { return s.idle; }))},
          {att_tail, 0},  // all waves end together
          {att_waves_per_cu, loop.waves}};
}

test::UiOutput traced(const KernelPhysics& k, std::int64_t dispatch_id) {
  test::UiOutput out;
  out.dispatch = dispatch_id;
  out.code = {{.text = "; " + k.name, .source = k.name}};
  out.kernels = {{1, k.name}};
  std::vector<test::UiStep> body;
  std::int64_t last_load = 0;
  for (const LoopStep& step : k.loop.body) {
    const auto line = static_cast<std::int64_t>(out.code.size());
    out.code.push_back({.text = step.text, .source = fmt::format("{}.hip:{}", k.name, line)});
    const bool memory = step.role == Role::memory_wait || step.role == Role::lds_wait;
    body.push_back({.line = line,
                    .issue = step.issue,
                    .stall = step.stall,
                    .idle = step.idle,
                    .causes = memory ? std::vector{last_load} : std::vector<std::int64_t>{}});
    if (step.role == Role::load || step.text.starts_with("ds_")) last_load = line;
  }
  out.code.push_back({.text = "s_endpgm"});
  std::vector<test::UiStep> steps;
  for (int turn = 0; turn < k.loop.turns; ++turn)
    steps.insert(steps.end(), body.begin(), body.end());
  steps.front().idle += kStartUp;
  steps.push_back({.line = static_cast<std::int64_t>(out.code.size()) - 1, .issue = kEndIssue});
  for (int wave = 0; wave < k.loop.waves; ++wave)
    test::add_ui_wave(out, {.simd = wave % 4, .slot = wave / 4, .begin = 1000}, steps);
  return out;
}

// 1520 work-groups of four waves: five on each CU, 20 waves of its 32. A step is 600 cycles: load
// 4, wait 584, shift, subtract, branch 4 each; 2 ms are 4.2e6 cycles and 7000 steps, each of which
// brings 64 bytes to each wave from a list much larger than any cache: 1362 GB/s, 26 %.
KernelPhysics pointer_chase() {
  constexpr double kSteps = 7000;
  KernelPhysics k = {.name = "chase", .groups = 1520, .items = 256, .ns = 2'000'000};
  k.waves = k.launched_waves();
  const double steps = k.launched_waves() * kSteps;
  k.waits = 584.0 / 600;
  k.hbm_read = steps * 64;
  k.request = 64;
  k.l2_read = steps * 128;  // L1 asks for whole lines
  k.other_valu = k.vmem = k.branches = steps;
  k.scalar = 2 * steps;
  k.loop = {.body = {{"global_load_dwordx2 v[0:1], v[0:1], off", Role::load},
                     {"s_waitcnt vmcnt(0)", Role::memory_wait, 0, 584},
                     {"v_lshlrev_b64 v[0:1], 3, v[0:1]", Role::arithmetic},
                     {"s_sub_u32 s0, s0, 1", Role::scalar},
                     {"s_cbranch_scc1 65520", Role::branch}},
            .waves = 20};
  return k;
}

// One wave on each of the 304 CUs.
KernelPhysics lonely_chase() {
  KernelPhysics k = pointer_chase();
  k.name = "lonely_chase";
  k.groups = 304;
  k.items = 64;
  const double fewer = k.launched_waves() / k.waves;
  k.waves = k.launched_waves();
  for (double* const count :
       {&k.hbm_read, &k.l2_read, &k.other_valu, &k.vmem, &k.scalar, &k.branches})
    *count *= fewer;
  k.loop.waves = 1;
  return k;
}

// 38912 waves of 64 lanes take 56 pieces of 16 bytes each: 2.23 GB each way in 1 ms, 4463 GB/s of
// 5300. The GPU is full but for a short start and end: 9241.6 waves of 9728, on 300 CUs.
KernelPhysics stream_copy() {
  KernelPhysics k = {.name = "copy", .groups = 9728, .items = 256};
  const double pieces = k.launched_waves() * 56;
  k.waves = 0.95 * kWaveSlots;
  k.busy_cus = 300;
  k.waits = 0.93;
  k.queues = 0.03;
  k.hbm_read = k.hbm_written = k.l2_read = k.l2_written = pieces * 64 * 16;
  k.vmem = k.other_valu = 2 * pieces;
  k.scalar = 3 * pieces;
  k.branches = pieces;
  // 956 cycles a turn: 860 for data, 80 because the path to memory is full.
  k.loop = {.body = {{"global_load_dwordx4 v[2:5], v[0:1], off", Role::load, 4, 40},
                     {"s_waitcnt vmcnt(0)", Role::memory_wait, 0, 860},
                     {"global_store_dwordx4 v[6:7], v[2:5], off", Role::load, 4, 40},
                     {"v_add_u32_e32 v0, 0x1000, v0", Role::arithmetic},
                     {"s_cbranch_scc1 65520", Role::branch}},
            .waves = 28};
  return k;
}

// Four work-groups of eight waves on each CU. 1 ms are 2.1e6 cycles, in which a CU takes as many
// vector instructions: 85 % of them multiply-adds (69.5 of 81.7 TFLOP/s), 2 % others.
KernelPhysics fma_loop() {
  KernelPhysics k = {.name = "fma", .groups = 1216, .items = 512};
  k.waves = 0.97 * kWaveSlots;
  k.waits = 0.02;
  k.queues = 0.8;
  k.fma = 0.85 * k.valu_slots();
  k.other_valu = 0.02 * k.valu_slots();
  k.branches = k.fma / 64;
  k.scalar = 2 * k.branches;
  k.hbm_read = 1e8;
  k.l2_read = 2e8;
  k.l2_hits = 0.5;
  k.vmem = 1e5;
  // Eight waves share a SIMD: each may issue every 32 cycles.
  k.loop = {.body = {{"v_fma_f32 v0, v1, v2, v0", Role::arithmetic, 4, 28},
                     {"v_fma_f32 v3, v1, v2, v3", Role::arithmetic, 4, 28},
                     {"v_fma_f32 v4, v1, v2, v4", Role::arithmetic, 4, 28},
                     {"v_fma_f32 v5, v1, v2, v5", Role::arithmetic, 4, 28},
                     {"s_cbranch_scc1 65520", Role::branch, 4, 0, 8}},
            .waves = 32};
  return k;
}

// Two work-groups of four waves on each CU: a quarter of the slots, which is all that matrix
// instructions need. 80 % of 1307 TFLOP/s; LDS, which feeds them, is 40 % busy.
KernelPhysics matrix_loop() {
  KernelPhysics k = {.name = "mfma", .groups = 608, .items = 256};
  k.waves = k.launched_waves();
  k.waits = 0.1;
  k.queues = 0.6;
  k.matrix_flop = 0.8 * kMatrixBf16 * 1e6;
  k.other_valu = k.matrix_flop / 16'384 + 0.05 * k.valu_slots();
  k.branches = 0.005 * k.valu_slots();
  k.scalar = 0.02 * k.valu_slots();
  k.lds = 0.4 * kLds * 1e6;
  k.hbm_read = 5e8;
  k.l2_read = 4e9;
  k.l2_hits = 0.875;
  k.vmem = 4e9 / 1024;
  k.loop = {.body = {{"ds_read_b128 v[0:3], v20", Role::scalar, 4, 12},
                     {"s_waitcnt lgkmcnt(0)", Role::lds_wait, 0, 16},
                     {"v_mfma_f32_32x32x8_bf16_1k a[0:15], v[0:1], v[2:3], a[0:15]",
                      Role::arithmetic, 4, 60},
                     {"v_mfma_f32_32x32x8_bf16_1k a[16:31], v[0:1], v[2:3], a[16:31]",
                      Role::arithmetic, 4, 60},
                     {"s_barrier", Role::barrier, 0, 8},
                     {"s_cbranch_scc1 65520", Role::branch, 4, 0, 4}},
            .waves = 8};
  return k;
}

// Four ways through a branch, of which each takes a quarter of the lanes: 16 of 64 at work. The
// vector ALU takes instructions in 78 % of its slots, 70 % of them multiply-adds.
KernelPhysics divergent_branch() {
  KernelPhysics k = {.name = "divergent", .groups = 1216, .items = 512};
  k.waves = 0.96 * kWaveSlots;
  k.waits = 0.1;
  k.queues = 0.45;
  k.fma = 0.7 * k.valu_slots();
  k.other_valu = 0.08 * k.valu_slots();
  k.lanes = 16;
  k.branches = 0.08 * k.valu_slots();
  k.scalar = 0.14 * k.valu_slots();
  k.hbm_read = 2e8;
  k.l2_read = 4e8;
  k.l2_hits = 0.5;
  k.vmem = 4e8 / 1024;
  k.loop = {.body = {{"s_and_saveexec_b64 s[0:1], vcc", Role::scalar, 4, 4},
                     {"s_cbranch_execz 8", Role::branch, 4, 0, 8},
                     {"v_fma_f32 v0, v1, v2, v0", Role::arithmetic, 4, 28},
                     {"v_fma_f32 v3, v1, v2, v3", Role::arithmetic, 4, 28},
                     {"v_fma_f32 v4, v1, v2, v4", Role::arithmetic, 4, 28},
                     {"s_or_b64 exec, exec, s[0:1]", Role::scalar, 4, 4},
                     {"s_cbranch_scc1 65500", Role::branch, 4, 0, 8}},
            .waves = 32};
  return k;
}

// 16 waves, all on one CU, which does a fifth of what it could: 303 have nothing at all.
KernelPhysics huge_workgroup() {
  KernelPhysics k = {.name = "huge_group", .groups = 1, .items = 1024, .ns = 10'000'000};
  k.waves = 16;
  k.busy_cus = 1;
  k.waits = 0.7;
  k.queues = 0.1;
  k.fma = 0.2 * k.cycles();
  k.other_valu = 0.05 * k.cycles();
  k.branches = 0.01 * k.cycles();
  k.scalar = 0.05 * k.cycles();
  k.hbm_read = 1e8;
  k.l2_read = 2e8;
  k.l2_hits = 0.5;
  k.vmem = 2e8 / 1024;
  k.loop = {.body = {{"global_load_dwordx4 v[2:5], v[0:1], off", Role::load, 4, 4},
                     {"s_waitcnt vmcnt(0)", Role::memory_wait, 0, 420},
                     {"v_fma_f32 v6, v2, v3, v6", Role::arithmetic, 4, 12},
                     {"v_fma_f32 v7, v4, v5, v7", Role::arithmetic, 4, 12},
                     {"s_barrier", Role::barrier, 0, 40},
                     {"s_cbranch_scc1 65520", Role::branch, 4, 0, 16}},
            .waves = 16};
  return k;
}

KernelPhysics unknown_kernel() {
  return {.name = "unknown", .groups = 9728, .items = 256, .dispatches = 1};
}

// One work-group of four waves on each CU for 2 us (4200 cycles), half of it waiting.
KernelPhysics tiny_kernel() {
  KernelPhysics k = {.name = "tiny", .groups = 304, .items = 256, .ns = 2'000};
  k.waves = 0.8 * k.launched_waves();
  k.busy_cus = 0.8 * kCus;
  k.waits = 0.5;
  k.queues = 0.1;
  k.other_valu = 0.05 * k.valu_slots();
  k.scalar = k.branches = 0.01 * k.valu_slots();
  k.hbm_read = k.l2_read = 304 * 256 * 16;  // 1.2 MB: 623 GB/s
  k.vmem = k.launched_waves();
  k.loop = {.body = {{"global_load_dwordx4 v[2:5], v[0:1], off", Role::load, 4, 4},
                     {"s_waitcnt vmcnt(0)", Role::memory_wait, 0, 1000},
                     {"v_add_u32_e32 v0, v1, v0", Role::arithmetic}},
            .turns = 3,
            .waves = 4};
  return k;
}

void set_bandwidth(KernelPhysics& k, double share) {
  const double factor = share * kHbm * static_cast<double>(k.ns) / (k.hbm_read + k.hbm_written);
  for (double* const bytes : {&k.hbm_read, &k.hbm_written, &k.l2_read, &k.l2_written})
    *bytes *= factor;
}

namespace {

test::CountedProgram program_of(const std::vector<KernelPhysics>& kernels,
                                std::string_view without) {
  test::CountedProgram program{.gpu = test::mi300x(), .dispatches = {helper_dispatch()}};
  for (const KernelPhysics& kernel : kernels)
    for (int i = 0; i < kernel.dispatches && kernel.name != without; ++i)
      program.dispatches.push_back(counted_dispatch(kernel));
  return program;
}

void write_passes(const std::filesystem::path& folder, const test::CountedProgram& program,
                  const std::vector<std::vector<std::string>>& sets, std::uint64_t shuffle,
                  ProgramFiles& files) {
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const auto number = static_cast<int>(i) + 1;
    const auto written =
        test::write_run(folder, program,
                        {.pass = number,
                         .counters = sets[i],
                         .stem = std::to_string(1000 + number),
                         .start = 6'000'000'000'000 + std::int64_t{30'000'000'000} * number,
                         .gap = kGap,
                         .shuffle = shuffle});
    ASSERT_TRUE(written) << describe(written.error());
    files.passes.push_back(*written);
  }
}

}  // namespace

ProgramFiles write_program(const std::filesystem::path& folder,
                           const std::vector<KernelPhysics>& kernels,
                           const std::vector<std::vector<std::string>>& sets,
                           std::string_view uncounted, std::uint64_t shuffle) {
  ProgramFiles files;
  std::int64_t id = 2;  // the helper's is 1
  for (const KernelPhysics& kernel : kernels) {
    files.first_dispatch[kernel.name] = id;
    id += kernel.dispatches;
  }
  const auto timing =
      test::write_run(folder, program_of(kernels, {}), {.gap = kGap, .shuffle = shuffle});
  EXPECT_TRUE(timing) << describe(timing.error());
  if (timing) files.timing = {*timing};
  write_passes(folder, program_of(kernels, uncounted), sets, shuffle, files);
  return files;
}

ProgramFiles write_tiny_launches(const std::filesystem::path& folder, const KernelPhysics& kernel,
                                 int launches, std::int64_t idle,
                                 const std::vector<std::vector<std::string>>& sets) {
  constexpr std::int64_t kCall = 3'000, kToStart = 6'000, kToReturn = 1'000;
  ProgramFiles files;
  std::filesystem::create_directories(folder);
  files.timing = {folder / "1000_results.db"};
  test::RocpdWriter writer(files.timing.front());
  writer.agent(test::host_agent());
  writer.agent(test::mi300x().agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  const test::Id id = writer.kernel({.name = kernel.name});
  writer.kernel({.name = "never_launched"});
  const std::int64_t period = kernel.ns + idle;
  for (int i = 0; i < launches; ++i) {
    const std::int64_t at = 5'000'000'000'000 + i * period;
    writer.launch(test::kernel_call(at, at + kCall), {.kernel = id,
                                                      .start = at + kToStart,
                                                      .end = at + kToStart + kernel.ns,
                                                      .queue = 0,
                                                      .workgroup = {.x = kernel.items},
                                                      .grid = {.x = kernel.groups * kernel.items}});
    if (kToStart + kToReturn <= idle + kernel.ns)  // the call returns before the next launch
      writer.region(test::stream_synchronize(
          at + kCall + 500, std::min(at + kToStart + kernel.ns + kToReturn, at + period - 100)));
  }
  const auto closed = writer.close();
  EXPECT_TRUE(closed) << describe(closed.error());
  files.first_dispatch[kernel.name] = 1;
  test::CountedProgram program{.gpu = test::mi300x(), .dispatches = {}};
  program.dispatches.assign(static_cast<std::size_t>(launches), counted_dispatch(kernel));
  write_passes(folder, program, sets, 0, files);
  return files;
}

}  // namespace perflab::analyze
