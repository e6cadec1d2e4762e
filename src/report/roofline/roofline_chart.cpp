// Geometry of roofline charts.
#include "report/roofline/roofline_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text/number_text.h"
#include "hal/terms.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

using analyze::KernelRoofline;
using analyze::LevelTraffic;
using analyze::Roofline;

/// Rates and intensities beyond these cannot be drawn.
constexpr double kLeast = 1e-30, kMost = 1e30;

bool drawable(const std::optional<double>& value) {
  return value && *value >= kLeast && *value <= kMost;
}

constexpr std::string_view kMemory = "hbm";

bool marked(const KernelRoofline& kernel) {
  return drawable(kernel.gflops) && std::ranges::any_of(kernel.levels, [](const auto& level) {
           return drawable(level.intensity);
         });
}

bool marked_at_memory(const KernelRoofline& kernel) {
  return drawable(kernel.gflops) && std::ranges::any_of(kernel.levels, [](const auto& level) {
           return level.name == kMemory && drawable(level.intensity);
         });
}

/// Why a kernel has no mark at memory.
std::string why_unmarked(const KernelRoofline& kernel) {
  const auto reason = [&](std::string_view field) {
    const auto entry = std::ranges::find(kernel.missing, field, &Missing::field);
    return entry == kernel.missing.end() ? std::string() : entry->reason;
  };
  if (kernel.flops_raw == 0 || kernel.gflops == 0) return "it does no floating-point operations";
  if (!kernel.gflops) {
    for (const char* field : {"flops.raw", "gflops"})
      if (const std::string known = reason(field); !known.empty()) return known;
    return "its floating-point rate is not known";
  }
  if (!drawable(kernel.gflops)) return "its floating-point rate cannot be";
  for (const char* field : {"levels.hbm.bytes", "levels.hbm.intensity"})
    if (const std::string known = reason(field); !known.empty())
      return "its FLOP per byte of memory are not known: " + known;
  return "its FLOP per byte of memory are not known";
}

/// "memory", "L2", "LDS": what stands beside a line.
std::string level_title(const std::string& name, std::string_view architecture) {
  if (name == "lds") return std::string(hal::terms(hal::platform_of(architecture)).lds);
  return name == "hbm" ? "memory" : name == "l2" ? "L2" : name;
}

std::string letter_of(std::size_t index) {
  constexpr std::size_t kAlphabet = 26;
  if (index < kAlphabet) return {static_cast<char>('A' + index)};
  if (index < 2 * kAlphabet) return {static_cast<char>('a' + (index - kAlphabet))};
  return fmt::format("{}", index + 1);
}

/// Decades around values, with room on both sides; two at least.
class Decades {
 public:
  void include(double value) {
    least_ = std::min(least_, std::log10(value));
    most_ = std::max(most_, std::log10(value));
  }
  [[nodiscard]] ChartAxis axis() const {
    constexpr double kRoom = 1e-9;
    constexpr int kFewest = 2;
    const int high = static_cast<int>(std::ceil(most_ + kRoom));
    return {.low = std::min(static_cast<int>(std::floor(least_ - kRoom)), high - kFewest),
            .high = high};
  }

 private:
  double least_ = INFINITY, most_ = -INFINITY;
};

/// Builds the chart of the kernels of one GPU.
class ChartBuilder {
 public:
  ChartBuilder(const Roofline& roofline, const std::vector<std::size_t>& kernels)
      : roofline_(roofline), kernels_(kernels) {}

  Chart build() {
    chart_.architecture = roofline_.kernels[kernels_.front()].architecture;
    chart_.product = roofline_.kernels[kernels_.front()].product;
    for (std::size_t i = 0; i < kernels_.size(); ++i) add_kernel(kernels_[i], letter_of(i));
    order_roofs();
    set_axes();
    for (ChartRoof& roof : chart_.roofs) place(roof);
    return std::move(chart_);
  }

 private:
  void add_kernel(std::size_t index, const std::string& letter) {
    const KernelRoofline& kernel = roofline_.kernels[index];
    for (const LevelTraffic& level : kernel.levels) {
      if (drawable(level.ceiling.value))
        add_roof(RoofKind::memory, level.name, level_title(level.name, kernel.architecture),
                 level.ceiling);
      if (drawable(level.intensity)) add_mark(index, letter, level);
    }
    for (const analyze::Work& work : kernel.work)
      if (work.flops.value.value_or(0) > 0 && drawable(work.ceiling.value))
        add_roof(RoofKind::compute,
                 fmt::format("{}.{}", hal::to_string(work.pipe), hal::to_string(work.precision)),
                 fmt::format("{} {}",
                             hal::field_in_terms(hal::to_string(work.pipe),
                                                 hal::platform_of(kernel.architecture)),
                             hal::to_string(work.precision)),
                 work.ceiling);
    if (drawable(kernel.compute_roof.value)) {
      add_roof(RoofKind::mix, letter, "mix of " + letter, kernel.compute_roof);
      chart_.roofs.back().kernel = index;
    }
  }

  void add_roof(RoofKind kind, const std::string& name, const std::string& label,
                const analyze::Ceiling& ceiling) {
    const bool known = std::ranges::any_of(chart_.roofs, [&](const ChartRoof& roof) {
      return roof.kind == kind && roof.name == name && roof.value == *ceiling.value;
    });
    if (known) return;
    const bool memory = kind == RoofKind::memory;
    chart_.roofs.push_back(
        {.kind = kind,
         .name = name,
         .label = fmt::format("{} {}", label, rate_text(*ceiling.value, memory ? "B/s" : "FLOP/s")),
         .value = *ceiling.value,
         .unit = ceiling.unit,
         .measured = ceiling.from == "measured",
         .kernel = std::nullopt,
         .start = {},
         .end = {}});
  }

  void add_mark(std::size_t index, const std::string& letter, const LevelTraffic& level) {
    const KernelRoofline& kernel = roofline_.kernels[index];
    ChartMark mark{.kernel = index,
                   .letter = letter,
                   .level = level.name,
                   .at = {.x = *level.intensity, .y = *kernel.gflops},
                   .label = {},
                   .bound = {},
                   .attainable_gflops = std::nullopt};
    mark.label =
        fmt::format("{}: {} FLOP/byte of {}, {}", kernel.kernel, number_text(mark.at.x, 3),
                    level_title(level.name, kernel.architecture), rate_text(mark.at.y, "FLOP/s"));
    if (level.ridge_ratio) mark.bound = *level.ridge_ratio < 1 ? "memory" : "compute";
    if (drawable(level.ceiling.value) && drawable(kernel.compute_roof.value))
      mark.attainable_gflops =
          std::min(*kernel.compute_roof.value, *level.ceiling.value * mark.at.x);
    chart_.marks.push_back(std::move(mark));
  }

  /// Memory roofs as the levels come, compute roofs from the top, mixes as the kernels come.
  void order_roofs() {
    std::ranges::stable_sort(chart_.roofs, [](const ChartRoof& a, const ChartRoof& b) {
      if (a.kind != b.kind) return a.kind < b.kind;
      return a.kind == RoofKind::compute && a.value > b.value;
    });
    for (const ChartRoof& roof : chart_.roofs) {
      double& highest = roof.kind == RoofKind::memory ? bandwidth_ : compute_;
      highest = std::max(highest, roof.value);
    }
  }

  void set_axes() {
    Decades x;
    Decades y;
    for (const ChartMark& mark : chart_.marks) {
      x.include(mark.at.x);
      y.include(mark.at.y);
      if (mark.attainable_gflops) y.include(*mark.attainable_gflops);
    }
    for (const ChartRoof& roof : chart_.roofs) {
      if (roof.kind != RoofKind::memory) y.include(roof.value);
      if (roof.kind == RoofKind::memory && compute_ > 0) x.include(compute_ / roof.value);
      if (roof.kind != RoofKind::memory && bandwidth_ > 0) x.include(roof.value / bandwidth_);
    }
    // Where no compute roof ends them, memory roofs are drawn as far as the marks.
    if (compute_ == 0 && bandwidth_ > 0)
      for (const ChartMark& mark : chart_.marks)
        for (const ChartRoof& roof : chart_.roofs) y.include(roof.value * mark.at.x);
    chart_.x = x.axis();
    chart_.y = y.axis();
  }

  void place(ChartRoof& roof) const {
    const double left = std::pow(10, chart_.x.low);
    const double right = std::pow(10, chart_.x.high);
    const double bottom = std::pow(10, chart_.y.low);
    const double top = std::pow(10, chart_.y.high);
    if (roof.kind != RoofKind::memory) {
      roof.start = {.x = bandwidth_ > 0 ? roof.value / bandwidth_ : left, .y = roof.value};
      roof.end = {.x = right, .y = roof.value};
      return;
    }
    roof.start = {.x = std::max(left, bottom / roof.value), .y = 0};
    roof.start.y = std::max(bottom, roof.start.x * roof.value);
    roof.end = compute_ > 0 ? ChartPoint{.x = compute_ / roof.value, .y = compute_}
                            : ChartPoint{.x = std::min(right, top / roof.value), .y = 0};
    if (compute_ == 0) roof.end.y = std::min(top, roof.end.x * roof.value);
  }

  const Roofline& roofline_;
  const std::vector<std::size_t>& kernels_;
  Chart chart_;
  double bandwidth_ = 0, compute_ = 0;  ///< the highest roofs; 0: there is none
};

std::string_view kind_name(RoofKind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"memory", "compute", "mix"};
  return kNames[static_cast<std::size_t>(kind)];
}

Json point_json(const ChartPoint& point) {
  return {{"x", point.x}, {"y", point.y}};
}

Json axis_json(const ChartAxis& axis, std::string_view unit) {
  return {{"unit", unit},
          {"min", std::pow(10, axis.low)},
          {"max", std::pow(10, axis.high)},
          {"log10_min", axis.low},
          {"log10_max", axis.high}};
}

Json chart_json(const Chart& chart) {
  Json roofs = Json::array();
  for (const ChartRoof& roof : chart.roofs)
    roofs.push_back({{"kind", kind_name(roof.kind)},
                     {"name", roof.name},
                     {"label", roof.label},
                     {"value", roof.value},
                     {"unit", roof.unit},
                     {"measured", roof.measured},
                     {"kernel", or_null(roof.kernel)},
                     {"start", point_json(roof.start)},
                     {"end", point_json(roof.end)}});
  Json marks = Json::array();
  for (const ChartMark& mark : chart.marks)
    marks.push_back({{"kernel", mark.kernel},
                     {"letter", mark.letter},
                     {"level", mark.level},
                     {"x", mark.at.x},
                     {"y", mark.at.y},
                     {"label", mark.label},
                     {"bound", or_null(mark.bound)},
                     {"attainable_gflops", or_null(mark.attainable_gflops)}});
  return {{"architecture", or_null(chart.architecture)},
          {"product", or_null(chart.product)},
          {"x", axis_json(chart.x, "FLOP/byte")},
          {"y", axis_json(chart.y, "GFLOP/s")},
          {"roofs", std::move(roofs)},
          {"marks", std::move(marks)}};
}

}  // namespace

RooflineCharts roofline_charts(const Roofline& roofline) {
  RooflineCharts charts;
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::pair<std::string, std::string>, std::size_t> group_of;
  for (std::size_t i = 0; i < roofline.kernels.size(); ++i) {
    const KernelRoofline& kernel = roofline.kernels[i];
    if (!marked_at_memory(kernel))
      charts.without_mark.push_back({.kernel = i, .reason = why_unmarked(kernel)});
    if (!marked(kernel)) continue;
    const auto [group, added] =
        group_of.try_emplace({kernel.architecture, kernel.product}, groups.size());
    if (added) groups.emplace_back();
    groups[group->second].push_back(i);
  }
  for (const auto& group : groups) charts.gpus.push_back(ChartBuilder(roofline, group).build());
  return charts;
}

std::vector<const ChartMark*> memory_marks(const Chart& chart) {
  std::vector<const ChartMark*> marks;
  for (const ChartMark& mark : chart.marks)
    if (mark.level == kMemory) marks.push_back(&mark);
  return marks;
}

Json charts_json(const RooflineCharts& charts) {
  Json gpus = Json::array();
  for (const Chart& chart : charts.gpus) gpus.push_back(chart_json(chart));
  Json without = Json::array();
  for (const Unmarked& one : charts.without_mark)
    without.push_back({{"kernel", one.kernel}, {"reason", one.reason}});
  return {{"gpus", std::move(gpus)}, {"without_mark", std::move(without)}};
}

std::string rate_text(double giga, std::string_view unit) {
  static constexpr std::array<std::pair<double, std::string_view>, 6> kPrefixes = {
      {{1e-9, ""}, {1e-6, "k"}, {1e-3, "M"}, {1, "G"}, {1e3, "T"}, {1e6, "P"}}};
  // The limits lie where rounding to three digits would add one.
  const auto* prefix = &kPrefixes.front();
  for (const auto& candidate : kPrefixes)
    if (std::fabs(giga) >= candidate.first * 0.9995) prefix = &candidate;
  const double shown = giga / prefix->first;
  const int digits = shown >= 99.95 || shown == 0 ? 0 : shown >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}{}", shown, digits, prefix->second, unit);
}

}  // namespace perflab::report
