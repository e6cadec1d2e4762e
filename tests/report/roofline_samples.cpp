// Where the figures of the written rooflines stand.
#include "report/roofline_samples.h"

#include <algorithm>

namespace perflab::report {
namespace {

using analyze::Ceiling;
using analyze::CounterState;
using analyze::Figure;
using analyze::KernelRoofline;
using analyze::LevelTraffic;

Figure figure(const std::string& name, const std::string& label, double value,
              const std::string& unit) {
  Figure out;
  out.name = name;
  out.label = label;
  out.value = value;
  out.state = value == 0 ? CounterState::zero : CounterState::measured;
  out.unit = unit;
  out.formula = "A_sum+2*B_sum";
  out.passes = {1, 2};
  out.dispatches = 4;
  return out;
}

Figure without(const std::string& name, const std::string& label, CounterState state,
               const std::string& reason) {
  Figure out;
  out.name = name;
  out.label = label;
  out.state = state;
  out.unit = "cycles";
  if (state != CounterState::unsupported) out.formula = "C_sum/D_sum";
  out.reason = reason;
  if (state == CounterState::missing) {
    out.across_passes = 812.5;
    out.remedy = "collect C_sum and D_sum in one pass";
  }
  return out;
}

Ceiling ceiling(double value, const std::string& unit, const std::string& from = "tables") {
  return {.value = value,
          .unit = unit,
          .from = from,
          .formula = from == "tables" ? "tables' formula" : "HBMBw of the measured roofs",
          .unconfirmed = {},
          .reason = {}};
}

Ceiling no_ceiling(const std::string& unit) {
  return {.value = std::nullopt,
          .unit = unit,
          .from = {},
          .formula = {},
          .unconfirmed = {},
          .reason = "the product is not in the tables"};
}

/// A level whose derived figures follow from these.
LevelTraffic level(const std::string& name, const std::string& label, double read, double written,
                   double flops, double seconds, double bandwidth, double compute_roof) {
  LevelTraffic out;
  out.name = name;
  out.label = label;
  out.read_bytes = figure(name + ".read_bytes", "bytes read at " + name, read, "bytes");
  out.write_bytes = figure(name + ".write_bytes", "bytes written at " + name, written, "bytes");
  if (name == "lds") {
    out.split = false;
    out.read_bytes = figure("lds.bytes", "bytes of LDS", read, "bytes");
    out.write_bytes = {};
  }
  const double bytes = read + written;
  out.bytes = bytes;
  if (flops > 0 && bytes > 0) out.intensity = flops / bytes;
  out.gb_per_s = bytes / seconds / 1e9;
  out.ceiling = ceiling(bandwidth, "GB/s");
  out.share = *out.gb_per_s / bandwidth;
  if (compute_roof > 0) out.ridge = compute_roof / bandwidth;
  if (out.ridge && out.intensity) out.ridge_ratio = *out.intensity / *out.ridge;
  return out;
}

analyze::Work work(hal::Pipe pipe, hal::Precision precision, double flops, double lanes,
                   double peak) {
  return {.pipe = pipe,
          .precision = precision,
          .flops = figure(
              std::string(hal::to_string(pipe)) + "." + std::string(hal::to_string(precision)),
              "work", flops, "FLOP"),
          .lane_corrected = flops * lanes,
          .ceiling = ceiling(peak, "GFLOP/s")};
}

void add_features(KernelRoofline& kernel) {
  kernel.features = {
      figure("lanes", "lanes per vector instruction", 48, "lanes"),
      figure("occupancy.waves_in_flight", "waves in flight", 5234.5, "waves"),
      figure("occupancy.achieved", "achieved occupancy", 54.25, "%"),
      figure("hit.l2", "L2 hit rate", 34.7, "%"),
      figure("wave_time.dependency", "waiting for a dependency", 76, "%"),
      figure("wave_time.issue", "waiting to issue", 17, "%"),
      figure("latency.lds", "LDS latency", 0, "cycles"),
      without("latency.vmem", "memory latency", CounterState::missing,
              "no pass has both of its counters"),
      without("latency.l1", "L1 latency", CounterState::unsupported, "gfx942 does not count it"),
      without("hit.l1", "L1 hit rate", CounterState::suspicious,
              "there are more misses than accesses"),
  };
}

void add_counters(KernelRoofline& kernel) {
  analyze::CounterValue waves;
  waves.name = "SQ_WAVES";
  waves.pass = 1;
  waves.dispatches = 4;
  waves.mean = 16384;
  waves.min = 16384;
  waves.max = 16384;
  waves.instances = 32;
  waves.instance_min = 500;
  waves.instance_max = 524;
  analyze::CounterValue nothing;
  nothing.name = "SQ_NOTHING";
  nothing.state = CounterState::missing;
  nothing.reason = "it is in no pass";
  kernel.counters = {nothing, waves};
  kernel.per_dispatch = {{.ordinal = 1,
                          .gpu = 0,
                          .grid = {1024, 1, 1},
                          .workgroup = {256, 1, 1},
                          .duration_ns = 2.5e6,
                          .flops = 5e11,
                          .hbm_read_bytes = 4e8,
                          .hbm_write_bytes = 1e8,
                          .waves_in_flight = 5200,
                          .waves_across_passes = std::nullopt},
                         {.ordinal = 2,
                          .gpu = 0,
                          .grid = {1024, 1, 1},
                          .workgroup = {256, 1, 1},
                          .duration_ns = std::nullopt,
                          .flops = std::nullopt,
                          .hbm_read_bytes = std::nullopt,
                          .hbm_write_bytes = std::nullopt,
                          .waves_in_flight = std::nullopt,
                          .waves_across_passes = 4800}};
  kernel.dispatches_left_out = 2;
}

KernelRoofline on_mi300x(const std::string& name) {
  KernelRoofline kernel;
  kernel.kernel = name;
  kernel.architecture = "gfx942";
  kernel.product = "AMD Instinct MI300X";
  kernel.dispatches = 4;
  kernel.time_from = "trace";
  kernel.packed_code = false;
  return kernel;
}

KernelRoofline gemm() {
  KernelRoofline kernel = on_mi300x("gemm<half, 256, 128>(half const*, half const*, float*, int)");
  constexpr double kSeconds = 10e-3, kMatrix = 2e12, kVector = 1e9, kLanes = 0.75;
  kernel.time_ns = kSeconds * 1e9;
  kernel.work = {work(hal::Pipe::vector, hal::Precision::fp32, kVector, kLanes, 163'430),
                 work(hal::Pipe::matrix, hal::Precision::fp16, kMatrix, 1, 1'307'443)};
  kernel.flops_raw = kMatrix + kVector;
  kernel.flops_lane_corrected = kMatrix + kLanes * kVector;
  kernel.flops_are = "lane-corrected";
  const double flops = *kernel.flops_lane_corrected;
  kernel.gflops = flops / kSeconds / 1e9;
  kernel.gflops_raw = *kernel.flops_raw / kSeconds / 1e9;
  kernel.compute_roof = ceiling(1'300'000, "GFLOP/s");
  kernel.overlapped_roof = 1'307'900;
  kernel.compute_share = *kernel.gflops / 1'300'000;
  kernel.levels = {level("hbm", "HBM and fabric", 1.5e9, 0.5e9, flops, kSeconds, 5300, 1'300'000),
                   level("l2", "L2", 8e9, 1e9, flops, kSeconds, 17'200, 1'300'000),
                   level("lds", "LDS", 4e11, 0, flops, kSeconds, 81'715, 1'300'000)};
  kernel.binding = {.roof = "lds",
                    .bound = "memory",
                    .attainable_gflops = 81'715 * flops / 4e11,
                    .share = kernel.levels[2].share};
  kernel.explanations = {"half of its instructions are matrix instructions"};
  kernel.assumptions = {"all dispatches of a pass did the same work"};
  add_features(kernel);
  add_counters(kernel);
  return kernel;
}

KernelRoofline axpy() {
  KernelRoofline kernel = on_mi300x("axpy(double*, double const*, double)");
  constexpr double kSeconds = 1e-3, kFlops = 2e8, kRoof = 81'700;
  kernel.time_ns = kSeconds * 1e9;
  kernel.work = {work(hal::Pipe::vector, hal::Precision::fp64, kFlops, 1, kRoof),
                 work(hal::Pipe::matrix, hal::Precision::fp16, 0, 1, 1'307'443)};
  kernel.flops_raw = kernel.flops_lane_corrected = kFlops;
  kernel.flops_are = "lane-corrected";
  kernel.gflops = kernel.gflops_raw = kFlops / kSeconds / 1e9;
  kernel.compute_roof = ceiling(kRoof, "GFLOP/s");
  kernel.overlapped_roof = kRoof;
  kernel.compute_share = *kernel.gflops / kRoof;
  kernel.levels = {level("hbm", "HBM and fabric", 1.6e9, 0.8e9, kFlops, kSeconds, 5300, kRoof),
                   level("l2", "L2", 1.6e9, 0.8e9, kFlops, kSeconds, 17'200, kRoof)};
  kernel.binding = {.roof = "hbm",
                    .bound = "memory",
                    .attainable_gflops = 5300 * *kernel.levels[0].intensity,
                    .share = kernel.levels[0].share};
  kernel.packed_code = std::nullopt;
  kernel.missing = {{.field = "packed_code",
                     .reason = "its code object was not found",
                     .remedy = "give it with --code"}};
  return kernel;
}

KernelRoofline copy() {
  KernelRoofline kernel = on_mi300x("copy(double*, double const*)");
  kernel.time_ns = 2e6;
  kernel.time_from = "counter passes";
  kernel.work = {work(hal::Pipe::vector, hal::Precision::fp64, 0, 1, 81'700)};
  kernel.flops_raw = kernel.flops_lane_corrected = 0;
  kernel.flops_are = "lane-corrected";
  kernel.gflops = kernel.gflops_raw = 0;
  kernel.compute_roof = no_ceiling("GFLOP/s");
  kernel.compute_roof.reason = "it does no floating-point operations";
  kernel.levels = {level("hbm", "HBM and fabric", 5.4e9, 5.4e9, 0, 2e-3, 5300, 0)};
  kernel.binding = {.roof = "hbm",
                    .bound = "memory",
                    .attainable_gflops = std::nullopt,
                    .share = kernel.levels[0].share};
  kernel.explanations = {"102 % of HBM: the Infinity Cache served a part of it"};
  return kernel;
}

/// On another GPU: the estimator, a ceiling that was measured, none for the rest.
KernelRoofline estimated() {
  KernelRoofline kernel;
  kernel.kernel = "axpy(double*, double const*, double)";
  kernel.architecture = "gfx1100";
  kernel.dispatches = 1;
  kernel.time_ns = 1e6;
  kernel.time_from = "counter passes";
  kernel.estimate = {.flops = 3e8,
                     .formula = "SQ_INSTS_VALU*LANES",
                     .known_error = "every vector instruction counts as one operation per lane",
                     .passes = {3}};
  kernel.flops_are = "estimate";
  kernel.gflops = 300;
  kernel.compute_roof = no_ceiling("GFLOP/s");
  LevelTraffic hbm;
  hbm.name = "hbm";
  hbm.label = "memory and fabric";
  hbm.read_bytes = figure("fabric.read_bytes", "bytes read", 6e8, "bytes");
  hbm.write_bytes = figure("fabric.write_bytes", "bytes written", 0, "bytes");
  hbm.bytes = 6e8;
  hbm.intensity = 0.5;
  hbm.gb_per_s = 600;
  hbm.ceiling = ceiling(880, "GB/s", "measured");
  hbm.share = 600.0 / 880;
  kernel.levels = {hbm};
  kernel.missing = {
      {.field = "product", .reason = "the table does not name it", .remedy = ""},
      {.field = "flops.raw", .reason = "gfx1100 does not count operations by type", .remedy = ""}};
  return kernel;
}

KernelRoofline unknown() {
  KernelRoofline kernel;
  kernel.kernel = "unknown\x1b[31m";
  kernel.runtime_helper = true;
  kernel.dispatches = 1;
  kernel.work = {{.pipe = hal::Pipe::vector,
                  .precision = hal::Precision::fp32,
                  .flops = without("vector.fp32", "fp32", CounterState::missing,
                                   "four of its counters are in no pass"),
                  .lane_corrected = std::nullopt,
                  .ceiling = no_ceiling("GFLOP/s")}};
  kernel.compute_roof = no_ceiling("GFLOP/s");
  LevelTraffic hbm;
  hbm.name = "hbm";
  hbm.label = "HBM and fabric";
  hbm.read_bytes =
      without("fabric.read_bytes", "bytes read", CounterState::suspicious, "waves but no reads");
  hbm.write_bytes =
      without("fabric.write_bytes", "bytes written", CounterState::missing, "in no pass");
  hbm.ceiling = no_ceiling("GB/s");
  kernel.levels = {hbm};
  return kernel;
}

}  // namespace

analyze::Analysis sample_roofline() {
  analyze::Analysis analysis;
  analyze::Roofline& roofline = analysis.roofline.emplace();
  roofline.passes = {{.number = 1,
                      .numbered_by_folder = true,
                      .counters = {"GRBM_GUI_ACTIVE", "SQ_WAVES"},
                      .dispatches = 12},
                     {.number = 3,
                      .numbered_by_folder = false,
                      .counters = {"GRBM_GUI_ACTIVE", "SQ_INSTS_VALU"},
                      .dispatches = 1}};
  roofline.kernels = {gemm(), copy(), axpy(), estimated(), unknown()};
  roofline.warnings = {"pass 2 is not there"};
  return analysis;
}

trace::Trace sample_roofline_trace() {
  trace::Trace trace;
  for (const char* file : {"b/2_results.db", "a/1_results.db", "a/1_results.db"})
    trace.sources.emplace_back().file = file;
  return trace;
}

analyze::KernelRoofline simple_kernel(const std::string& name, double gflops, double intensity) {
  constexpr double kRoof = 1000, kBytesPerNs = 100;
  KernelRoofline kernel = on_mi300x(name);
  kernel.time_ns = 1e9;
  kernel.flops_raw = kernel.flops_lane_corrected = gflops * 1e9;
  kernel.flops_are = "lane-corrected";
  kernel.gflops = kernel.gflops_raw = gflops;
  kernel.work = {work(hal::Pipe::vector, hal::Precision::fp32, gflops * 1e9, 1, kRoof)};
  kernel.compute_roof = ceiling(kRoof, "GFLOP/s");
  kernel.overlapped_roof = kRoof;
  kernel.compute_share = gflops / kRoof;
  kernel.levels = {level("hbm", "HBM and fabric", gflops * 1e9 / intensity, 0, gflops * 1e9, 1,
                         kBytesPerNs, kRoof)};
  kernel.levels[0].intensity = intensity;
  const bool memory = intensity < kRoof / kBytesPerNs;
  kernel.binding = {.roof = memory ? "hbm" : "compute",
                    .bound = memory ? "memory" : "compute",
                    .attainable_gflops = std::min(kRoof, kBytesPerNs * intensity),
                    .share = gflops / std::min(kRoof, kBytesPerNs * intensity)};
  return kernel;
}

}  // namespace perflab::report
