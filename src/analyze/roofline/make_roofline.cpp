// From a trace to the rooflines of its kernels: the join, the counters of each kernel with their
// doubts, and what the GPU that it ran on is.
#include "analyze/roofline/make_roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "analyze/counters/counter_join.h"
#include "analyze/kernels/gpu.h"
#include "analyze/roofline/ceilings.h"
#include "analyze/roofline/kernel_roofline.h"
#include "analyze/roofline/roofline_figures.h"
#include "base/units.h"
#include "hal/arch.h"
#include "hal/counter_catalogue.h"

namespace perflab::analyze {
namespace {

using trace::kNone;

constexpr const char* kGpuRemedy =
    "put rocprofv3's agent_info.csv, or rocprof-compute's sysinfo.csv, next to the table";

FormulaConstants constants_of(const Gpu& gpu, std::optional<int> wave_size,
                              const hal::Product* product) {
  FormulaConstants constants;
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value && *value > 0 ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  constants.cus = number(gpu.compute_units);
  constants.xccs = number(gpu.xcc_count);
  // A partition has some of the product's dies, each with its engines.
  if (product != nullptr && product->shader_engines && product->xcds > 0 && constants.xccs)
    constants.shader_engines =
        static_cast<double>(*product->shader_engines) / product->xcds * *constants.xccs;
  const hal::Arch* const arch = hal::find_arch(gpu.architecture);
  if (arch == nullptr) return constants;
  constants.simds_per_cu = arch->simds_per_cu;
  constants.max_waves_per_cu = arch->max_waves_per_cu;
  constants.lanes = wave_size;
  return constants;
}

/// Measured ceilings are of one GPU: says which row they are, or that they cannot be used.
const hal::MeasuredRoofs* usable_roofs(const hal::MeasuredRoofs* roofs, const CounterJoin& join,
                                       Roofline& roofline) {
  if (roofs == nullptr) return nullptr;
  std::set<std::string> architectures;
  for (const JoinedKernel& kernel : join.kernels) architectures.insert(kernel.architecture);
  if (architectures.size() > 1) {
    roofline.warnings.push_back(fmt::format(
        "the measured ceilings are not used: they are of one GPU, and kernels ran on {}",
        fmt::join(architectures, " and ")));
    return nullptr;
  }
  if (!roofs->other_devices.empty())
    roofline.warnings.push_back(
        fmt::format("the measured ceilings are those of device {}; the file has {} too "
                    "(--roofs-device)",
                    roofs->device, fmt::join(roofs->other_devices, ", ")));
  return roofs;
}

/// Why the calibration says nothing about kernels on this GPU; empty: it is of it.
std::string other_gpu(const hal::Calibration& calibration, const Gpu& gpu) {
  const hal::CalibratedGpu& ours = calibration.gpu;
  if (ours.architecture != gpu.architecture)
    return fmt::format("it is of {}, and kernels ran on {}", ours.architecture,
                       gpu.architecture.empty() ? "an unknown GPU" : gpu.architecture);
  if (!ours.name.empty() && !gpu.product.empty() && ours.name != gpu.product)
    return fmt::format("it is of {}, and kernels ran on {}", ours.name, gpu.product);
  return {};
}

/// Says what a calibration that is used found.
std::string calibration_used(const hal::Calibration& calibration) {
  std::vector<std::string_view> disproved;
  for (const auto* const list : {&calibration.counters, &calibration.formulas})
    for (const hal::CalibratedFigure& figure : *list)
      if (figure.disproved()) disproved.push_back(figure.name);
  constexpr std::size_t kMostNamed = 4;
  const std::size_t all = disproved.size();
  disproved.resize(std::min(all, kMostNamed));
  return fmt::format(
      "the calibration of {} is used ({}{}): {}", calibration.date, calibration.gpu.architecture,
      calibration.gpu.driver.empty() ? "" : ", driver " + calibration.gpu.driver,
      all == 0
          ? std::string("it disproved nothing")
          : fmt::format("not used is what it disproved: {}{}", fmt::join(disproved, ", "),
                        all > kMostNamed ? fmt::format(" and {} more", all - kMostNamed) : ""));
}

void warn_once(std::string text, std::vector<std::string>& warnings) {
  if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
}

/// Rows that the readers left out of counters and dispatches.
void warn_about_rows(const trace::Trace& trace, Roofline& roofline) {
  for (const auto& [key, rows] : trace.report.dropped)
    if (key.first == "counter_table" || key.first == "kernel_dispatch" || key.first == "kernel")
      roofline.warnings.push_back(fmt::format(
          "{} row{} of {} left out: {}", rows, rows == 1 ? "" : "s",
          key.first == "counter_table" ? "a table of counters" : "a recording", key.second));
}

/// Kernels of the application that no pass counted.
void warn_about_uncounted(const std::vector<Kernel>& kernels, Roofline& roofline) {
  std::set<std::string_view> counted;
  for (const KernelRoofline& kernel : roofline.kernels) counted.insert(kernel.kernel);
  std::size_t uncounted = 0;
  const Kernel* first = nullptr;
  for (const Kernel& kernel : kernels) {
    if (kernel.runtime_helper || counted.contains(kernel.name)) continue;
    if (first == nullptr) first = &kernel;
    ++uncounted;
  }
  if (first != nullptr)
    roofline.warnings.push_back(
        uncounted == 1 ? fmt::format("{} has no counters in any pass", first->name)
                       : fmt::format("{} kernels have no counters in any pass, {} for one",
                                     uncounted, first->name));
}

/// Launches that NVIDIA's counter passes could not repeat (record/counters/counter_results.h names
/// the causes). That some of many equal launches were counted is what was asked for.
void warn_about_left_out(const trace::Trace& trace, Roofline& roofline) {
  struct Cause {
    const char* name;
    const char* text;
  };
  static constexpr Cause kCauses[] = {
      {"graph", "launches of graphs were not counted: the kernels inside have no counters"},
      {"other_ranks", "launches that wait for other GPUs were not counted: repeating them hangs"},
      {"time", "launches were not counted: the time for counting was over"},
      {"memory", "launches were not counted: too much memory would have to be saved"},
      {"failed", "launches were not counted after a failure"}};
  for (const auto& [name, text] : kCauses) {
    std::int64_t launches = 0;
    for (const trace::Source& source : trace.sources)
      if (const auto found = source.not_counted.find(name); found != source.not_counted.end())
        launches = add_saturating(launches, found->second);
    if (launches > 0) roofline.warnings.push_back(fmt::format("{} {}", launches, text));
  }
}

void sort_kernels(std::vector<KernelRoofline>& kernels) {
  std::ranges::stable_sort(kernels, [](const KernelRoofline& a, const KernelRoofline& b) {
    return a.time_ns.value_or(0) > b.time_ns.value_or(0);
  });
}

/// Why kernels with counters have no roofline, once per architecture.
struct Uncountable {
  std::set<std::string> architectures;
  bool unnamed = false;

  [[nodiscard]] std::string text() const {
    if (architectures.empty()) return "the recording does not say which GPU its counters are of";
    return fmt::format("the counters of {} are not known to this version",
                       fmt::join(architectures, ", "));
  }
};

/// What all kernels of a trace share.
struct Context {
  const trace::Trace& trace;
  const Passes& passes;
  const TimingScope& scope;
  const CounterJoin& join;
  RoofChoice roofs;
  std::optional<hal::MeasuredRoofs> calibrated;  ///< ceilings of the calibration
  CounterIndex index;
  CounterNames names;
};

/// Everything about one kernel whose counters have a table.
KernelRoofline roofline_of(const JoinedKernel& kernel, const hal::CounterTable& table,
                           const Context& context, std::vector<std::string>& warnings) {
  const trace::Trace& trace = context.trace;
  const trace::Agent* const agent = kernel.agent == kNone ? nullptr : &trace.agents[kernel.agent];
  Gpu gpu = agent != nullptr ? describe_gpu(*agent) : Gpu{};
  gpu.architecture = kernel.architecture;
  KernelCounters counters{
      .trace = &trace,
      .passes = &context.passes,
      .kernel = &kernel,
      .names = &context.names,
      .table = &table,
      .sums = sum_counters(trace, context.index, kernel),
      .doubts = {},
      .constants = constants_of(
          gpu, wave_size_of(trace, context.passes, kernel, context.index, context.names, table),
          agent != nullptr ? product_of(*agent) : nullptr)};
  const hal::MeasuredRoofs* measured = context.roofs.measured;
  if (const hal::Calibration* const calibration = context.roofs.calibration) {
    if (std::string why = other_gpu(*calibration, gpu); !why.empty()) {
      warn_once("the calibration is not used: " + why, warnings);
    } else {
      counters.calibration = calibration;
      warn_once(calibration_used(*calibration), warnings);
      if (measured == nullptr && context.calibrated) measured = &*context.calibrated;
    }
  }
  counters.doubts = check_counters(trace, context.passes, kernel, context.index, counters.sums,
                                   context.names, table, gpu);
  const trace::Agent* const device = context.roofs.device;
  const bool own_attributes = device != nullptr && architecture_of(*device) == kernel.architecture;
  if (device != nullptr && !own_attributes)
    warnings.push_back(
        fmt::format("{} ran on {}, which the device of --roofs-device is not: its ceilings are "
                    "those of the tables",
                    kernel.name, kernel.architecture));
  const Ceilings ceilings(own_attributes ? device : agent, kernel.architecture, measured,
                          own_attributes);
  for (std::string& text : ceilings.contradictions()) warn_once(std::move(text), warnings);
  KernelRoofline made =
      build_kernel_roofline(counters, context.index, context.scope, ceilings, gpu);
  std::ranges::copy(context.join.assumptions, std::back_inserter(made.assumptions));
  if (!table.confirmed && table.profiler == hal::CounterProfiler::cupti)
    made.assumptions.push_back(
        fmt::format("CUPTI has the counters of {} under these names; whether they count known work "
                    "there was not tried",
                    table.gfx));
  else if (!table.confirmed)
    made.assumptions.push_back(
        fmt::format("the counters of {} are taken to be those of its nearest relative: no source "
                    "confirms them",
                    table.gfx));
  return made;
}

}  // namespace

Result<const trace::Agent*> gpu_of_number(const trace::Trace& trace, int number) {
  int gpus = 0;
  for (const trace::Agent& agent : trace.agents) {
    if (agent.type != "GPU") continue;
    if (gpus == number) return &agent;
    ++gpus;
  }
  return fail(ErrorCode::usage,
              fmt::format("--roofs-device {}: the recording has {} GPU{}", number, gpus,
                          gpus == 1 ? "" : "s"),
              "without --roofs it is the number of a GPU of the recording, from 0");
}

MadeRoofline make_roofline(const trace::Trace& trace, const Passes& passes,
                           const TimingScope& scope, const RoofChoice& roofs,
                           const std::vector<Kernel>& kernels) {
  Missing missing{.field = "roofline",
                  .reason = {},
                  .remedy = "record with counters: rocm-perf profile --roofline"};
  if (passes.passes.empty()) {
    missing.reason = "no hardware counters were collected";
    return {.roofline = std::nullopt, .missing = missing};
  }
  Roofline roofline;
  for (const Pass& pass : passes.passes) roofline.passes.push_back(pass.info);
  const CounterJoin join = join_counters(trace, passes, scope);
  if (passes.duplicates > 0)
    roofline.warnings.push_back(fmt::format(
        "{} tables of counters hold what databases hold as well: the databases are used",
        passes.duplicates));
  const Context context{.trace = trace,
                        .passes = passes,
                        .scope = scope,
                        .join = join,
                        .roofs = {.measured = usable_roofs(roofs.measured, join, roofline),
                                  .device = roofs.device,
                                  .calibration = roofs.calibration},
                        .calibrated = roofs.calibration != nullptr
                                          ? std::optional(roofs.calibration->roofs())
                                          : std::nullopt,
                        .index = CounterIndex(trace),
                        .names = CounterNames(trace)};
  Uncountable uncountable;
  for (const JoinedKernel& kernel : join.kernels) {
    if (const hal::CounterTable* const table = hal::find_counter_table(kernel.architecture))
      roofline.kernels.push_back(roofline_of(kernel, *table, context, roofline.warnings));
    else if (kernel.architecture.empty())
      uncountable.unnamed = true;
    else
      uncountable.architectures.insert(kernel.architecture);
  }
  if (roofline.kernels.empty()) {
    missing.reason = uncountable.text();
    missing.remedy = uncountable.architectures.empty() ? kGpuRemedy : "";
    return {.roofline = std::nullopt, .missing = missing};
  }
  warn_about_rows(trace, roofline);
  warn_about_uncounted(kernels, roofline);
  warn_about_left_out(trace, roofline);
  if (!uncountable.architectures.empty() || uncountable.unnamed)
    roofline.warnings.push_back(
        fmt::format("kernels were left out of the roofline: {}", uncountable.text()));
  sort_kernels(roofline.kernels);
  return {.roofline = std::move(roofline), .missing = missing};
}

}  // namespace perflab::analyze
