// Work, traffic, ceilings, the roof that binds, and the features that the tables have besides.
// Model: docs/models/roofline.md.
#include "analyze/roofline/kernel_roofline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "analyze/roofline/roofline_details.h"
#include "base/text/number_text.h"
#include "hal/arch.h"
#include "hal/counter_catalogue.h"

namespace perflab::analyze {
namespace {

using hal::CounterFormula;
using trace::Index;

constexpr double kNsPerSecond = 1e9;
constexpr double kGiga = 1e9;

/// Names of formulas that have places of their own; all others are features.
constexpr const char* kEstimate = "estimate.fp32";
constexpr const char* kMatrixInstructions = "matrix_instructions";
constexpr std::array<const char*, 2> kIntegers = {"vector.int32", "vector.int64"};
constexpr const char* kFabricRead = "fabric.read_bytes";
constexpr const char* kFabricWrite = "fabric.write_bytes";

struct LevelNames {
  const char *name, *label, *read, *write;  ///< write: nullptr when one formula gives both
};
constexpr std::array<LevelNames, 3> kLevels = {
    {{"hbm", "bytes that left L2 (memory, Infinity Cache, fabric)", kFabricRead, kFabricWrite},
     {"l2", "bytes between L1 and L2", "l2.read_bytes", "l2.write_bytes"},
     {"lds", "bytes of LDS", "lds.bytes", nullptr}}};

/// Pipe and precision of a formula named "vector.fp64" or "matrix.fp16"; nullopt for others.
std::optional<std::pair<hal::Pipe, hal::Precision>> pipe_of(std::string_view formula) {
  using enum hal::Precision;
  for (const hal::Pipe pipe : {hal::Pipe::vector, hal::Pipe::matrix})
    for (const hal::Precision precision : {fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8, int4})
      if (formula == fmt::format("{}.{}", hal::to_string(pipe), hal::to_string(precision)))
        return std::pair{pipe, precision};
  return std::nullopt;
}

bool has_own_place(const CounterFormula& formula) {
  static const std::set<std::string_view> kPlaced = {
      kEstimate, kFabricRead, kFabricWrite, "l2.read_bytes", "l2.write_bytes", "lds.bytes"};
  return kPlaced.contains(formula.name) || pipe_of(formula.name).has_value();
}

bool counts_flops(const Work& work) {
  return work.flops.unit == "FLOP";
}

double per_second(double amount, double ns) {
  return amount / ns * kNsPerSecond / kGiga;
}

class KernelBuilder {
 public:
  KernelBuilder(const KernelCounters& counters, const CounterIndex& index, const TimingScope& scope,
                const Ceilings& ceilings, const Gpu& gpu)
      : k_(counters), index_(index), scope_(scope), ceilings_(ceilings), gpu_(gpu) {}

  KernelRoofline run() {
    out_.kernel = k_.trace->strings.view(k_.kernel->name);
    out_.runtime_helper = k_.kernel->runtime_helper;
    out_.architecture = k_.kernel->architecture;
    out_.product = gpu_.product;
    out_.dispatches = k_.sums.dispatches;
    measure_time();
    count_work();
    add_flops();
    measure_levels();
    find_compute_roof();
    find_binding();
    compute_features();
    out_.counters = list_counters(k_, index_);
    explain_names(k_, out_);
    list_dispatches(k_, index_, scope_, out_);
    explain_shares(ceilings_.has_infinity_cache(), out_);
    return std::move(out_);
  }

 private:
  void miss(std::string field, std::string reason, std::string remedy = {}) {
    out_.missing.push_back(
        {.field = std::move(field), .reason = std::move(reason), .remedy = std::move(remedy)});
  }

  void measure_time() {
    double ns = 0;
    bool any = false;
    for (const ShapeGroup& shape : k_.kernel->shapes)
      for (const Index dispatch : shape.timed) {
        any = true;
        ns += static_cast<double>(k_.trace->dispatches.end[dispatch] -
                                  k_.trace->dispatches.start[dispatch]);
      }
    if (!any) return miss("time_ns", "the run that gives the times did not dispatch this kernel");
    if (!scope_.times_known)
      return miss("time_ns", "the table's timestamps have lost their digits",
                  "add the database of a run without counters");
    if (ns <= 0) return miss("time_ns", "no time passed between its recorded starts and ends");
    out_.time_ns = ns;
    out_.time_from = scope_.under_counters ? "counter passes" : "trace";
  }

  void count_work() {
    const Figure lanes = compute_figure(k_, kLanesFormula);
    const Figure matrix = compute_figure(k_, kMatrixInstructions);
    const auto wave = k_.constants.lanes;
    for (const CounterFormula& formula : k_.table->formulas) {
      const auto pipe = pipe_of(formula.name);
      if (!pipe) continue;
      Work work{.pipe = pipe->first,
                .precision = pipe->second,
                .flops = {},
                .lane_corrected = {},
                .ceiling = rate_of(pipe->first, pipe->second)};
      work.flops = compute_figure(k_, formula);
      if (work.pipe == hal::Pipe::matrix && work.flops.state == CounterState::missing &&
          matrix.state == CounterState::zero)
        conclude_zero(matrix, work.flops);
      if (work.flops.value) {
        if (work.pipe == hal::Pipe::matrix || *work.flops.value == 0 || k_.table->counts_threads)
          work.lane_corrected = work.flops.value;
        else if (lanes.value && wave)
          work.lane_corrected = *work.flops.value * std::min(*lanes.value / *wave, 1.0);
      }
      out_.work.push_back(std::move(work));
    }
    for (const auto& [name, why] : k_.table->uncounted) add_uncounted(name, why);
  }

  /// The ceiling of a kind of work. Where threads are counted, instructions that work on two values
  /// count as two, and may be the only ones of their precision (NVIDIA's FP16).
  [[nodiscard]] Ceiling rate_of(hal::Pipe pipe, hal::Precision precision) const {
    Ceiling plain = ceilings_.rate(pipe, precision);
    if (plain.value || pipe != hal::Pipe::vector || !k_.table->counts_threads) return plain;
    Ceiling packed = ceilings_.rate(hal::Pipe::packed, precision);
    return packed.value ? packed : plain;
  }

  /// Work that the GPU does and its counters do not tell: the sum is then not known either.
  void add_uncounted(const std::string& name, const std::string& why) {
    const auto pipe = pipe_of(name);
    if (!pipe) return;
    Work work{.pipe = pipe->first,
              .precision = pipe->second,
              .flops = {},
              .lane_corrected = {},
              .ceiling = ceilings_.rate(pipe->first, pipe->second)};
    work.flops.name = name;
    work.flops.label =
        fmt::format("{} {} operations", hal::to_string(pipe->first), hal::to_string(pipe->second));
    work.flops.unit = hal::to_string(pipe->second).starts_with("int") ? "OP" : "FLOP";
    work.flops.state = CounterState::unsupported;
    work.flops.reason = why;
    out_.work.push_back(std::move(work));
  }

  /// No matrix instruction of any type ran: then there is no work of this type either.
  static void conclude_zero(const Figure& matrix, Figure& flops) {
    flops.value = 0;
    flops.state = CounterState::zero;
    flops.formula = matrix.formula;
    flops.passes = matrix.passes;
    flops.dispatches = matrix.dispatches;
    flops.note = "its own counter was not recorded; no matrix instruction of any type was counted";
    flops.reason.clear();
    flops.remedy.clear();
  }

  /// The reason of the first kind of work that has no figure; nullptr: all have one.
  [[nodiscard]] const Figure* uncounted() const {
    for (const Work& work : out_.work)
      if (counts_flops(work) && !work.flops.value) return &work.flops;
    return nullptr;
  }

  void add_flops() {
    const Figure* const gap = uncounted();
    if (!out_.work.empty() && gap == nullptr) {
      double raw = 0;
      std::optional<double> corrected = 0;
      for (const Work& work : out_.work) {
        if (!counts_flops(work)) continue;
        raw += *work.flops.value;
        corrected = corrected && work.lane_corrected
                        ? std::optional(*corrected + *work.lane_corrected)
                        : std::nullopt;
      }
      out_.flops_raw = raw;
      out_.flops_lane_corrected = corrected;
      out_.flops_are = corrected ? "lane-corrected" : "raw";
      if (!corrected)
        miss("flops.lane_corrected", fmt::format("lanes per vector instruction: {}",
                                                 compute_figure(k_, kLanesFormula).reason));
    } else {
      const std::string reason =
          gap == nullptr
              ? fmt::format("{} does not count floating-point instructions by type", k_.table->gfx)
              : fmt::format("{}: {}", gap->label, gap->reason);
      miss("flops.raw", reason, gap == nullptr ? "" : gap->remedy);
      miss("flops.lane_corrected", reason);
      estimate();
    }
    if (const auto flops = chosen_flops(); flops && out_.time_ns) {
      out_.gflops = per_second(*flops, *out_.time_ns);
      if (out_.flops_raw) out_.gflops_raw = per_second(*out_.flops_raw, *out_.time_ns);
    } else {
      miss("gflops", flops ? "there is no time to divide by" : "the FLOPs are missing");
    }
    if (!out_.gflops_raw)
      miss("gflops_raw",
           out_.flops_raw ? "there is no time to divide by" : "the FLOPs by type are missing");
  }

  void estimate() {
    const CounterFormula* const formula = k_.table->find(kEstimate);
    const bool typed = std::ranges::any_of(out_.work, [](const Work& work) {
      return work.pipe == hal::Pipe::vector && work.flops.value;
    });
    if (formula == nullptr || typed) return;
    const Figure figure = compute_figure(k_, *formula);
    if (!figure.value) return miss("flops.estimate", figure.reason, figure.remedy);
    out_.estimate = Estimate{.flops = *figure.value,
                             .formula = figure.formula,
                             .known_error = formula->note,
                             .passes = figure.passes};
    out_.flops_are = "estimate";
  }

  /// What rates and intensities are made of.
  [[nodiscard]] std::optional<double> chosen_flops() const {
    if (out_.flops_lane_corrected) return out_.flops_lane_corrected;
    if (out_.flops_raw) return out_.flops_raw;
    if (out_.estimate) return out_.estimate->flops;
    return std::nullopt;
  }

  void measure_levels() {
    for (const LevelNames& names : kLevels) {
      LevelTraffic level;
      level.name = names.name;
      const auto label = k_.table->level_labels.find(names.name);
      level.label = label == k_.table->level_labels.end() ? names.label : label->second;
      level.split = names.write != nullptr;
      level.read_bytes = compute_figure(k_, names.read);
      if (level.split) level.write_bytes = compute_figure(k_, names.write);
      level.ceiling = ceilings_.bandwidth(level.name);
      const std::string field = fmt::format("levels.{}.", level.name);
      const Figure& gap = level.read_bytes.value ? level.write_bytes : level.read_bytes;
      if (level.read_bytes.value && (!level.split || level.write_bytes.value))
        level.bytes = *level.read_bytes.value + level.write_bytes.value.value_or(0);
      else
        miss(field + "bytes", gap.reason, gap.remedy);
      rate_level(field, level);
      out_.levels.push_back(std::move(level));
    }
  }

  /// Why a level's bytes must not be held against its ceiling; empty: they may.
  [[nodiscard]] std::string doubt_of(const LevelTraffic& level) const {
    const CounterFormula* const formula = k_.table->find(level.read_bytes.name);
    return formula == nullptr ? "" : formula->doubt;
  }

  void rate_level(const std::string& field, LevelTraffic& level) {
    const auto flops = chosen_flops();
    if (level.bytes && out_.time_ns)
      level.gb_per_s = per_second(*level.bytes, *out_.time_ns);
    else
      miss(field + "gb_per_s",
           level.bytes ? "there is no time to divide by" : "the bytes are missing");
    if (level.bytes && *level.bytes > 0 && flops)
      level.intensity = *flops / *level.bytes;
    else
      miss(field + "intensity", !level.bytes        ? "the bytes are missing"
                                : *level.bytes == 0 ? "nothing moved at this level"
                                                    : "the FLOPs are missing");
    if (const std::string doubt = doubt_of(level); !doubt.empty())
      miss(field + "share", doubt);
    else if (level.gb_per_s && level.ceiling.value)
      level.share = *level.gb_per_s / *level.ceiling.value;
    else
      miss(field + "share", level.gb_per_s ? fmt::format("no ceiling: {}", level.ceiling.reason)
                                           : "the achieved bandwidth is missing");
  }

  /// Nanoseconds that the pipes are busy at least, by raw work; nullopt: not known. `why`: then.
  std::optional<double> pipe_time(hal::Pipe pipe, std::string& why) const {
    double ns = 0;
    for (const Work& work : out_.work) {
      if (work.pipe != pipe) continue;
      if (!work.flops.value) {
        why = fmt::format("{} are not known: {}", work.flops.label, work.flops.reason);
        return std::nullopt;
      }
      if (*work.flops.value == 0) continue;
      if (!work.ceiling.value) {
        why = fmt::format("no ceiling for {}: {}", work.flops.label, work.ceiling.reason);
        return std::nullopt;
      }
      ns += *work.flops.value / *work.ceiling.value;
    }
    return ns;
  }

  /// Time of the compute roof in ns: per pipe, and both one after the other.
  void find_compute_roof() {
    out_.compute_roof.unit = "GFLOP/s";
    out_.compute_roof.from = "tables";
    std::string why;
    if (out_.flops_are == "estimate") return roof_of_estimate();
    const auto vector = pipe_time(hal::Pipe::vector, why);
    const auto matrix = pipe_time(hal::Pipe::matrix, why);
    if (vector && matrix) compute_ns_ = *vector + *matrix;
    if (out_.flops_raw && compute_ns_) {
      // Of the work that lanes really did: lanes that are masked off take their time all the same.
      const double flops = *chosen_flops();
      if (flops > 0 && *compute_ns_ > 0) {
        out_.compute_roof.value = flops / *compute_ns_;
        out_.overlapped_roof = flops / std::max(*vector, *matrix);
        describe_mix();
        if (out_.gflops) out_.compute_share = *out_.gflops / *out_.compute_roof.value;
      } else {
        why = "the kernel has no floating-point work: a mix of nothing has no roof";
      }
    } else if (why.empty()) {
      why = "the FLOPs are missing";
    }
    finish_compute_roof(why);
  }

  void roof_of_estimate() {
    const Ceiling vector = ceilings_.rate(hal::Pipe::vector, hal::Precision::fp32);
    std::string why = vector.reason;
    if (vector.value && out_.estimate->flops > 0) {
      out_.compute_roof = vector;
      compute_ns_ = out_.estimate->flops / *vector.value;
      if (out_.gflops) out_.compute_share = *out_.gflops / *vector.value;
      out_.assumptions.emplace_back(
          "the compute roof is that of FP32 vector instructions, because the FLOPs are an estimate "
          "that does not tell types apart");
    } else if (vector.value) {
      why = "no vector instruction was counted";
    }
    finish_compute_roof(why);
  }

  void finish_compute_roof(const std::string& why) {
    if (!out_.compute_roof.value) {
      out_.compute_roof.reason = why;
      miss("compute.roof", why);
    }
    if (!out_.overlapped_roof)
      miss("compute.overlapped_roof", out_.compute_roof.value ? "an estimate knows no pipes" : why);
    if (!out_.compute_share)
      miss("compute.share", out_.compute_roof.value ? "the achieved FLOP/s are missing"
                                                    : "there is no compute roof");
    for (LevelTraffic& level : out_.levels) {
      const std::string field = fmt::format("levels.{}.", level.name);
      if (out_.compute_roof.value && level.ceiling.value)
        level.ridge = *out_.compute_roof.value / *level.ceiling.value;
      else
        miss(field + "ridge", level.ceiling.value
                                  ? "there is no compute roof"
                                  : fmt::format("no ceiling: {}", level.ceiling.reason));
      if (level.ridge && level.intensity)
        level.ridge_ratio = *level.intensity / *level.ridge;
      else
        miss(field + "ridge_ratio", level.ridge ? "the intensity is missing" : "there is no ridge");
    }
  }

  void describe_mix() {
    std::vector<std::string> parts;
    std::set<std::string> unconfirmed, from;
    for (const Work& work : out_.work) {
      if (!work.flops.value || *work.flops.value == 0) continue;
      parts.push_back(fmt::format("{:.6g} % of the time {} {} at {} {}",
                                  100 * *work.flops.value / *work.ceiling.value / *compute_ns_,
                                  hal::to_string(work.pipe), hal::to_string(work.precision),
                                  number_text(*work.ceiling.value), work.ceiling.unit));
      from.insert(work.ceiling.from);
      unconfirmed.insert(work.ceiling.unconfirmed.begin(), work.ceiling.unconfirmed.end());
    }
    out_.compute_roof.formula = fmt::format("{}", fmt::join(parts, ", "));
    out_.compute_roof.from = fmt::format("{}", fmt::join(from, " and "));
    out_.compute_roof.unconfirmed.assign(unconfirmed.begin(), unconfirmed.end());
  }

  void find_binding() {
    if (!compute_ns_)
      return miss("binding",
                  fmt::format("the compute roof is not known: {}", out_.compute_roof.reason));
    Binding binding{.roof = "compute", .bound = "compute", .attainable_gflops = {}, .share = {}};
    double longest = *compute_ns_;
    std::vector<std::string> unknown;
    if (const auto ns = integer_time(unknown); ns && *ns > longest) {
      longest = *ns;
      binding.roof = "integer";
    }
    bool memory_known = false;
    for (const LevelTraffic& level : out_.levels) {
      if (!level.bytes || !level.ceiling.value || !doubt_of(level).empty()) {
        unknown.push_back(level.name);
        continue;
      }
      memory_known = memory_known || level.name == "hbm";
      const double ns = *level.bytes / *level.ceiling.value;
      if (ns <= longest) continue;
      longest = ns;
      binding.roof = level.name;
      binding.bound = "memory";
    }
    if (!memory_known)
      return miss("binding",
                  "what the kernel moved to and from memory, or the memory's bandwidth, "
                  "is not known");
    if (longest == 0) return miss("binding", "neither work nor bytes were counted");
    if (!unknown.empty())
      out_.assumptions.push_back(fmt::format(
          "the roof that binds is looked for without {}: what it did or could do at most "
          "is not known well enough",
          fmt::join(unknown, " and ")));
    if (const auto flops = chosen_flops(); flops && *flops > 0)
      binding.attainable_gflops = *flops / longest;
    else
      miss("binding.attainable_gflops", "the kernel has no floating-point work");
    if (out_.time_ns)
      binding.share = longest / *out_.time_ns;
    else
      miss("binding.share", "there is no time to compare with");
    out_.binding = std::move(binding);
  }

  /// Time that the integer instructions of vectors take at least, each one clock of its lanes. Only
  /// the slower ones of them (multiplications, 64 bits) take more.
  std::optional<double> integer_time(std::vector<std::string>& unknown) const {
    double operations = 0;
    for (const char* const name : kIntegers) {
      const CounterFormula* const formula = k_.table->find(name);
      if (formula == nullptr) return std::nullopt;  // in the estimate, with everything else
      const Figure figure = compute_figure(k_, *formula);
      if (!figure.value || !ceilings_.lane_rate()) {
        unknown.emplace_back("integer instructions");
        return std::nullopt;
      }
      operations += *figure.value;
    }
    return operations / *ceilings_.lane_rate();
  }

  void compute_features() {
    for (const CounterFormula& formula : k_.table->formulas)
      if (!has_own_place(formula)) out_.features.push_back(compute_figure(k_, formula));
  }

  const KernelCounters& k_;
  const CounterIndex& index_;
  const TimingScope& scope_;
  const Ceilings& ceilings_;
  const Gpu& gpu_;
  KernelRoofline out_;
  std::optional<double> compute_ns_;
};

}  // namespace

KernelRoofline build_kernel_roofline(const KernelCounters& counters, const CounterIndex& index,
                                     const TimingScope& scope, const Ceilings& ceilings,
                                     const Gpu& gpu) {
  return KernelBuilder(counters, index, scope, ceilings, gpu).run();
}

}  // namespace perflab::analyze
