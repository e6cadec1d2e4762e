// Layout of the occupancy answer. Every figure here stands in the document too.
#include "report/code/occupancy_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using Column = TextTable::Column;
using enum TextTable::Align;

std::string_view unit_name(const OccupancyData& data) {
  return data.occupancy.mode == hal::WorkgroupMode::wgp ? "WGP" : "CU";
}

std::string waves_text(double waves) {
  return fmt::format("{:.4g}", waves);
}

/// What the amount of a step stands for (hal::Resource).
std::string_view label_of(const OccupancyData& data, hal::Resource resource) {
  switch (resource) {
    case hal::Resource::vgpr:
      if (data.input.kernel.agprs < 1) return "VGPRs";
      return data.arch->agpr_rule == hal::AgprRule::unified ? "VGPRs + AGPRs" : "VGPRs, AGPRs each";
    case hal::Resource::sgpr:
      return "SGPRs";
    case hal::Resource::lds:
      return "LDS bytes";
    case hal::Resource::block:
      break;
  }
  return "block";
}

std::string input_lines(const OccupancyData& data) {
  const hal::KernelResources& k = data.input.kernel;
  const std::int64_t wave = data.occupancy.wave_size;
  std::string out = fmt::format("{} ({}), waves of {}, {} mode\n", data.arch->gfx,
                                data.arch->family, wave, unit_name(data));
  const auto line = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<11} {}\n", label, text);
  };
  line(
      "block",
      fmt::format("{}{} work-items, {} of {} lanes in {}",
                  k.workgroup_size_min && *k.workgroup_size_min != k.workgroup_size
                      ? fmt::format("{} to ", *k.workgroup_size_min)
                      : "",
                  k.workgroup_size, k.workgroup_size, (k.workgroup_size + wave - 1) / wave * wave,
                  counted(static_cast<std::size_t>((k.workgroup_size + wave - 1) / wave), "wave")));
  line("registers", fmt::format("{} VGPRs, {} AGPRs, SGPRs: {}", k.vgprs, k.agprs,
                                k.sgprs ? fmt::format("{}", *k.sgprs) : "not given"));
  line("LDS", fmt::format("{} bytes static, {} bytes dynamic", k.static_lds, k.dynamic_lds));
  if (k.waves_per_eu)
    line("attribute", fmt::format("amdgpu_waves_per_eu({})", attribute_bounds(data)));
  for (const std::string& assumption : occupancy_assumptions(data)) line("assumed", assumption);
  for (const std::string& field : data.arch->unconfirmed_of_occupancy())
    line("unconfirmed", fmt::format("{} has no source, and is used here", field));
  return out;
}

std::string models_section(const OccupancyData& data, const TerminalStyle& style,
                           const Paint& paint) {
  TextTable table({Column{"model", left}, Column{"waves/SIMD"}, Column{"occupancy"},
                   Column{fmt::format("work-groups/{}", unit_name(data))},
                   Column{"limited by", left, true}});
  for (const hal::OccupancyModel model : hal::kOccupancyModels) {
    const hal::ModelOccupancy& m = data.occupancy.of(model);
    table.add({std::string(hal::to_string(model)),
               fmt::format("{} of {}", waves_text(m.waves_per_simd), m.max_waves_per_simd),
               percent(m.occupancy), fmt::format("{}", m.workgroups_per_cu),
               limiter_names(m.limiters)});
  }
  return heading(paint, "Occupancy") + table.text(style.width) +
         fmt::format(
             "  llvm: what clang prints (rule of LLVM {})\n"
             "  hip: what hipOccupancy returns; resident: what the hardware holds\n",
             data.input.kernel.llvm_rule == hal::LlvmRule::v19 ? "19" : "20 and later");
}

void add_step(const OccupancyData& data, TextTable& table, std::string model,
              std::string_view joint, const hal::Step& step, double now) {
  bool first = true;
  for (const hal::Change& change : step.changes) {
    table.add(
        {first ? std::move(model) : "",
         fmt::format("{}{}", first ? joint : "and ", label_of(data, change.resource)),
         fmt::format("-{}", change.from - change.to), fmt::format("{}", change.to),
         first ? fmt::format("{} -> {}", waves_text(now), waves_text(step.waves_per_simd)) : "",
         first ? percent(step.occupancy) : ""});
    first = false;
  }
}

std::string next_step_section(const OccupancyData& data, const TerminalStyle& style,
                              const Paint& paint) {
  TextTable table({Column{"model", left}, Column{"lower", left}, Column{"by"}, Column{"to"},
                   Column{"waves/SIMD"}, Column{"occupancy"}});
  std::string none;
  for (const hal::OccupancyModel model : hal::kOccupancyModels) {
    const hal::ModelOccupancy& m = data.occupancy.of(model);
    const hal::NextStep& next = data.advice.of(model).next_step;
    if (!next.best) {
      none += fmt::format("  {}: {}\n", hal::to_string(model), no_next_step_reason(m));
      continue;
    }
    add_step(data, table, std::string(hal::to_string(model)), "", *next.best, m.waves_per_simd);
    for (const hal::SingleStep& single : next.alone)
      if (single.step &&
          single.step->changes.front().resource != next.best->changes.front().resource)
        add_step(data, table, "", "or ", *single.step, m.waves_per_simd);
  }
  return heading(paint, "Next step: the smallest decrease that gains waves") +
         (table.empty() ? "" : table.text(style.width)) + none;
}

std::string headroom_section(const OccupancyData& data, const TerminalStyle& style,
                             const Paint& paint) {
  TextTable table({Column{"model", left}, Column{"VGPRs"}, Column{"AGPRs"}, Column{"SGPRs"},
                   Column{"LDS bytes"}, Column{"block"}});
  const auto more = [](const std::optional<std::int64_t>& value) {
    return value && *value > 0 ? fmt::format("+{}", *value) : number_or_dash(value);
  };
  for (const hal::OccupancyModel model : hal::kOccupancyModels) {
    const hal::Headroom& room = data.advice.of(model).headroom;
    table.add({std::string(hal::to_string(model)), more(room.vgprs), more(room.agprs),
               more(room.sgprs), more(room.lds), more(room.block)});
  }
  return heading(paint, "Headroom: what each may grow by alone without losing waves") +
         table.text(style.width);
}

/// Full blocks for what is resident, shaded ones up to what llvm prints.
std::string bar(const hal::SweepStep& step, double most, std::size_t width) {
  const auto length = [&](double waves) {
    return static_cast<std::size_t>(std::lround(waves / most * static_cast<double>(width)));
  };
  const std::size_t resident = length(step.of(hal::OccupancyModel::resident).waves_per_simd);
  const std::size_t llvm = length(step.of(hal::OccupancyModel::llvm).waves_per_simd);
  std::string out;
  for (std::size_t i = 0; i < std::max(resident, llvm); ++i) out += i < resident ? "█" : "░";
  return out;
}

std::string sweep_section(const OccupancyData& data, const TerminalStyle& style,
                          const Paint& paint) {
  if (!data.sweep) return {};
  const hal::OccupancySweep& sweep = *data.sweep;
  static constexpr std::string_view kNames[] = {"VGPRs", "LDS bytes", "work-items"};
  const std::string_view name = kNames[static_cast<std::size_t>(sweep.of)];
  double most = 1;
  for (const hal::OccupancyModel model : hal::kOccupancyModels)
    most = std::max<double>(most, data.occupancy.of(model).max_waves_per_simd);
  // Two blanks of indent and between columns; figures are "7.5" or "6.667" at the widest.
  const std::size_t amount =
      std::max(2 * fmt::formatted_size("{}", sweep.steps.back().to) + 5, name.size() + 2);
  constexpr std::size_t kFigures = 5 + 5 + 8 + 4 * 2;
  const std::size_t fixed = 2 + amount + kFigures;
  const std::size_t width =
      std::clamp<std::size_t>(style.width > fixed ? style.width - fixed : 0, 8, 64);

  const std::size_t digits = fmt::formatted_size("{}", sweep.steps.back().to);
  std::string out = heading(paint, fmt::format("Sweep of {} (> the kernel's own)", name)) +
                    fmt::format("  {:>{}}  {:>5}  {:>5}  {:>8}  waves per SIMD\n", name, amount,
                                "llvm", "hip", "resident");
  for (const hal::SweepStep& step : sweep.steps) {
    const bool current = step.from <= sweep.current && sweep.current <= step.to;
    out += fmt::format(
        "  {:>{}}",
        fmt::format("{} {:>{}} - {:>{}}", current ? ">" : " ", step.from, digits, step.to, digits),
        amount);
    if (!step.refusal.empty()) {
      out += fmt::format("  {:>5}  {:>5}  {:>8}  cannot be launched\n", "—", "—", "—");
      continue;
    }
    out += fmt::format("  {:>5}  {:>5}  {:>8}  {}\n",
                       waves_text(step.of(hal::OccupancyModel::llvm).waves_per_simd),
                       waves_text(step.of(hal::OccupancyModel::hip).waves_per_simd),
                       waves_text(step.of(hal::OccupancyModel::resident).waves_per_simd),
                       bar(step, most, width));
  }
  return out + "  █ resident   ░ printed by clang, but not resident\n";
}

}  // namespace

std::string occupancy_text(const OccupancyData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  return input_lines(data) + models_section(data, style, paint) +
         next_step_section(data, style, paint) + headroom_section(data, style, paint) +
         sweep_section(data, style, paint);
}

}  // namespace perflab::report
