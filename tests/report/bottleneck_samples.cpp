// The written thread traces and verdicts. The rules are of this file: the documents must not depend
// on which rules the program has.
#include "report/bottleneck_samples.h"

#include <array>

namespace perflab::report {
namespace {

using analyze::Bottleneck;
using analyze::Condition;
using analyze::Evidence;
using analyze::FeatureId;
using analyze::FeatureSource;
using analyze::KernelBottleneck;
using analyze::KernelThreadTrace;
using analyze::Relation;
using analyze::Rule;
using analyze::ScoredBottleneck;
using code::InstructionClass;

constexpr std::array<Condition, 2> kNearRoof = {
    {{FeatureId::hbm_share, Relation::at_least, 0.6, "good copies reach 0.7 to 0.9"},
     {FeatureId::valu_busy, Relation::below, 0.5, "a sample threshold"}}};
constexpr std::array<Condition, 1> kFewLanes = {
    {{FeatureId::lanes_active, Relation::below, 0.9, "a sample threshold"}}};
constexpr std::array<Condition, 1> kWaits = {
    {{FeatureId::att_wait, Relation::at_least, 0.4, "a sample threshold"}}};
constexpr std::array<Condition, 2> kGaps = {
    {{FeatureId::idle_before, Relation::at_least, 0.5, "half of the time"},
     {FeatureId::path_launch_share, Relation::at_least, 0.3, "a sample threshold"}}};

const Rule kBandwidth = {.id = "sample.near_roof",
                         .verdict = Bottleneck::memory_bandwidth,
                         .weight = 3,
                         .when = kNearRoof,
                         .against = kFewLanes,
                         .says = "HBM works near its bandwidth",
                         .advice = "move fewer bytes",
                         .advice_at_lines = true};
const Rule kLatency = {.id = "sample.waits",
                       .verdict = Bottleneck::latency,
                       .weight = 2,
                       .when = kWaits,
                       .against = {},
                       .says = "waves mostly wait for memory",
                       .advice = "load earlier",
                       .advice_at_lines = true};
const Rule kLaunch = {.id = "sample.gaps",
                      .verdict = Bottleneck::launch,
                      .weight = 2,
                      .when = kGaps,
                      .against = {},
                      .says = "the GPU idles before each dispatch",
                      .advice = "use a graph",
                      .advice_at_lines = false};

void know(analyze::FeatureSet& features, FeatureId id, double value, const char* from) {
  features[id].value = value;
  features[id].from = from;
  features[id].reason.clear();
}

analyze::FeatureSet no_features() {
  analyze::FeatureSet features;
  for (std::size_t i = 0; i < analyze::kFeatures; ++i) {
    analyze::Feature& feature = features[static_cast<FeatureId>(i)];
    feature.reason = "it was not measured";
    feature.remedy = "rocm-perf profile --roofline -- ./app";
  }
  return features;
}

/// Conditions that hold, with the values of the features.
std::vector<Evidence> evidence_of(const Rule& rule, std::span<const Condition> conditions,
                                  const analyze::FeatureSet& features) {
  std::vector<Evidence> out;
  for (const Condition& condition : conditions)
    out.push_back({rule.id, condition, features[condition.feature].value.value_or(0)});
  return out;
}

ScoredBottleneck candidate(const Rule& rule, int score, const analyze::FeatureSet& features) {
  return {.verdict = rule.verdict,
          .score = score,
          .held = {{.rule = &rule,
                    .evidence = evidence_of(rule, rule.when, features),
                    .against = evidence_of(rule, rule.against, features)}},
          .open = {}};
}

analyze::InstructionCycles instruction(att::RowIndex row, const char* text,
                                       InstructionClass instruction_class, analyze::CycleSums sums,
                                       std::int64_t wait_caused, std::vector<std::string> chain) {
  return {.row = row,
          .text = text,
          .code_object = 2,
          .vaddr = 0x1000 + std::uint64_t{row} * 8,
          .chain = std::move(chain),
          .instruction_class = instruction_class,
          .sums = sums,
          .wait_caused = wait_caused};
}

/// 4 waves of 1000 cycles each: 40 % wait, 30 % issue, 20 % issue stall, 10 % idle.
KernelThreadTrace traced_copy() {
  KernelThreadTrace out;
  out.kernel = "copy";
  out.mangled_name = "_Z4copyPf";
  out.analysis_kernel = 0;
  out.dispatch_id = 2;
  out.gfxip = 9;
  out.version = "3.1.0";
  out.sums = {.hits = 40, .latency = 3600, .stall = 2400, .idle = 400};
  out.wave_cycles = 4004;
  out.time = {.issue = 1200, .wait = 1600, .barrier = 0, .issue_stall = 800, .idle = 400};
  out.states = {0, 100, 1504, 1600, 800};
  out.classes = {{InstructionClass::waitcnt, {4, 1600, 1600, 0}, 0},
                 {InstructionClass::vmem_load, {8, 1000, 800, 100}, 1500},
                 {InstructionClass::valu, {28, 1000, 0, 300}, 0}};
  out.wait_by_class = {{InstructionClass::vmem_load, 1500}};
  out.wait_unattributed = 100;
  out.links = analyze::WaitLinks::trace;
  out.instructions_per_wave = 10;
  out.wave_ipc = 0.01;
  out.simd_ipc = 0.02;
  out.core_clock_mhz = 2100;
  const std::string kernel_line = "/home/user/src/copy.hip:12";
  out.hot = {instruction(5, "s_waitcnt vmcnt(0)", InstructionClass::waitcnt, {4, 1600, 1600, 0}, 0,
                         {kernel_line}),
             instruction(4, "global_load_dwordx4 v[0:3], v[0:1], off", InstructionClass::vmem_load,
                         {8, 1000, 800, 100}, 1500, {"/opt/rocm/load.h:7", kernel_line})};
  out.lines = {
      {kernel_line, {kernel_line}, {4, 1600, 1600, 0}, 0},
      {"/opt/rocm/load.h:7", {"/opt/rocm/load.h:7", kernel_line}, {8, 1000, 800, 100}, 1500},
      {"", {}, {28, 1000, 0, 300}, 0}};
  out.wait_other = 0;
  out.waits = {{.wait = 5,
                .cause = 4,
                .wait_text = out.hot[0].text,
                .cause_text = out.hot[1].text,
                .cycles = 1500,
                .times = 4},
               {.wait = 5,
                .cause = att::kNoRow,
                .wait_text = out.hot[0].text,
                .cause_text = {},
                .cycles = 100,
                .times = 1}};
  out.causes = {out.hot[1]};
  out.occupancy = analyze::OccupancyOverTime{.span = 2000,
                                             .average = 6.5,
                                             .peak = 8,
                                             .cus = 4,
                                             .bins = {0, 2, 4, 6, 8, 8, 8, 4, 2, 1},
                                             .tail_share = 0.25,
                                             .ramp_share = 0.125,
                                             .mean_lifetime = 1001,
                                             .longest_lifetime = 1200};
  out.coverage = {.engines = {0},
                  .cus = {{0, 1}},
                  .waves = 4,
                  .waves_started = 32,
                  .waves_of_dispatch = 128,
                  .packets_lost = 3,
                  .trace_stalls = 0,
                  .unattributed = 2,
                  .rows_differing = 0,
                  .waits = 5,
                  .waits_by_rule = 1,
                  .dropped = {{"wave file is missing", 1}}};
  out.confidence = analyze::Confidence::medium;
  out.confidence_reasons = {"4 of 128 waves were seen"};
  return out;
}

KernelThreadTrace from_stats(const char* name, std::int64_t cycles) {
  KernelThreadTrace out;
  out.trace = 1;
  out.kernel = name;
  out.from_stats = true;
  out.sums = {.hits = 10, .latency = cycles, .stall = cycles / 2, .idle = 0};
  out.time.issue = cycles - cycles / 2;
  out.time.issue_stall = cycles / 2;
  out.classes = {{InstructionClass::valu, out.sums, 0}};
  out.hot = {instruction(1, "v_add_f32 v0, v0, v1", InstructionClass::valu, out.sums, 0, {})};
  out.confidence_reasons = {"a stats file has no waves"};
  out.missing = {{"lines", "the stats file has no sources", "compile with -g"}};
  return out;
}

analyze::ThreadTraces traces() {
  return {.traces = {"ui_output_agent_1_dispatch_2", "ui_output_agent_1_dispatch_3"},
          .kernels = {traced_copy(), from_stats("copy", 500), from_stats("loose", 0)},
          .warnings = {}};
}

KernelBottleneck copy_verdict() {
  KernelBottleneck out;
  out.kernel = "copy";
  out.architecture = "gfx942";
  out.analysis_kernel = 0;
  out.thread_trace = 0;
  out.verdict = Bottleneck::memory_bandwidth;
  out.confidence = analyze::Confidence::high;
  out.summary =
      "memory-bandwidth bound: HBM works at 72.5 % of its bandwidth while vector units are mostly "
      "idle.";
  out.features = no_features();
  know(out.features, FeatureId::dispatch_median, 4100, "12 dispatches of the timing pass");
  know(out.features, FeatureId::hbm_share, 0.725, "levels.hbm of the roofline");
  know(out.features, FeatureId::valu_busy, 0.125, "VALUBusy, pass 2");
  know(out.features, FeatureId::lanes_active, 0.875, "lanes, pass 1");
  know(out.features, FeatureId::att_wait, 0.4, "1600 of 4000 cycles of 4 waves");
  out.candidates = {candidate(kBandwidth, 2, out.features),
                    candidate(kLatency, 2, out.features),
                    {.verdict = Bottleneck::launch, .score = 0, .held = {}, .open = {&kLaunch}}};
  out.runner_up = Bottleneck::latency;
  out.bound = {.parts = {{"roofline", 1 / 0.725, "72.5 % of 5300 GB/s of HBM are reached"},
                         {"occupancy", std::nullopt, "all wave slots are in use"}},
               .kernel_factor = 1 / 0.725,
               .end_to_end_ns = 2500,
               .end_to_end_share = 0.05,
               .missing = {}};
  out.next = analyze::NextMeasurement{.source = FeatureSource::critical_path,
                                      .command = "rocm-perf profile -- ./app",
                                      .why = "whether launches are in the way is not known",
                                      .features = {FeatureId::idle_before},
                                      .decides = {Bottleneck::launch}};
  out.advice = {{"sample.near_roof",
                 "move fewer bytes: smaller types, reuse in LDS",
                 {"copy.hip:12", "load.h:7"}}};
  out.history = {{FeatureSource::dispatches, Bottleneck::insufficient_data, 0, ""},
                 {FeatureSource::counters, Bottleneck::memory_bandwidth, 2,
                  "memory-bandwidth bound instead of insufficient data: by sample.near_roof"},
                 {FeatureSource::thread_trace, Bottleneck::memory_bandwidth, 2, ""}};
  return out;
}

KernelBottleneck without_data(const char* name, std::optional<std::size_t> kernel) {
  KernelBottleneck out;
  out.kernel = name;
  out.analysis_kernel = kernel;
  out.confidence_reasons = {"there are no counters"};
  out.summary = "Too little was measured.";
  out.features = no_features();
  out.candidates = {{.verdict = Bottleneck::launch, .score = 0, .held = {}, .open = {&kLaunch}}};
  out.bound.missing = {
      {"bound.kernel_factor", "there are no counters", "rocm-perf profile --roofline"}};
  out.history = {{FeatureSource::dispatches, Bottleneck::insufficient_data, 0, ""}};
  return out;
}

KernelBottleneck loose_verdict() {
  KernelBottleneck out = without_data("loose", std::nullopt);
  out.thread_trace = 2;
  out.verdict = Bottleneck::latency;
  know(out.features, FeatureId::att_wait, 0.55, "550 of 1000 cycles of 1 wave");
  out.candidates.insert(out.candidates.begin(), candidate(kLatency, 2, out.features));
  out.confidence_reasons.clear();
  out.summary = "Waves wait.";
  return out;
}

}  // namespace

analyze::Analysis sample_bottlenecks() {
  analyze::Analysis out;
  for (const char* name : {"copy", "axpy"}) {
    analyze::Kernel& kernel = out.kernels.emplace_back();
    kernel.name = name;
    kernel.mangled_name = name;
    kernel.durations = {.count = 12,
                        .total = 49'200,
                        .min = 4000,
                        .max = 4200,
                        .median = 4100,
                        .mean = 4100,
                        .cv = 0.01};
    kernel.share = 0.5;
    for (const char* field :
         {"launch.workgroups", "resources.vgpr_per_thread", "resources.arch_vgpr",
          "resources.accum_vgpr", "resources.sgpr_per_wave", "resources.lds_bytes_per_workgroup",
          "resources.static_lds_bytes", "resources.dynamic_lds_bytes",
          "resources.scratch_bytes_per_thread", "resources.kernarg_bytes", "gpu",
          "occupancy.theoretical", "occupancy.wave_size", "occupancy.mode", "occupancy.models"})
      kernel.missing.push_back({field, "not part of this sample", ""});
  }
  out.selection = analyze::Selection{.kernel = 0, .longest_dispatch = 4200};
  out.timed_dispatches = 24;
  out.thread_traces = traces();
  out.bottlenecks = {.kernels = {copy_verdict(), without_data("axpy", 1), loose_verdict()},
                     .left_out = 4};
  return out;
}

analyze::Analysis sample_thread_traces_alone() {
  analyze::Analysis out;
  out.thread_traces = traces();
  for (KernelThreadTrace& kernel : out.thread_traces->kernels) kernel.analysis_kernel.reset();
  out.bottlenecks = {.kernels = {loose_verdict()}, .left_out = 0};
  out.warnings = {"a warning of a thread trace"};
  // As analyze_thread_traces() says it.
  out.roofline_missing = {
      .field = "roofline",
      .reason = "only thread traces were given",
      .remedy = "add the database of a run: rocm-perf analyze run.db --att DIR"};
  return out;
}

}  // namespace perflab::report
