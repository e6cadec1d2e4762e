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

bool on_amd(const OccupancyData& data) {
  return data.arch->platform == hal::Platform::amd;
}

const hal::Terms& terms_of(const OccupancyData& data) {
  return hal::terms(data.arch->platform);
}

std::string_view unit_name(const OccupancyData& data) {
  return data.occupancy.mode == hal::WorkgroupMode::wgp ? "WGP" : terms_of(data).cu;
}

/// Waves are counted per SIMD; NVIDIA's tools count warps per SM.
std::string waves_title(const OccupancyData& data) {
  return on_amd(data) ? "waves/SIMD" : "warps/SM";
}

double waves_shown(const OccupancyData& data, double waves_per_simd) {
  return on_amd(data) ? waves_per_simd : waves_per_simd * data.occupancy.simds;
}

std::string waves_text(double waves) {
  return fmt::format("{:.4g}", waves);
}

/// What the amount of a step stands for (hal::Resource).
std::string_view label_of(const OccupancyData& data, hal::Resource resource) {
  switch (resource) {
    case hal::Resource::vgpr:
      if (data.input.kernel.agprs < 1) return terms_of(data).vgprs;
      return data.arch->agpr_rule == hal::AgprRule::unified ? "VGPRs + AGPRs" : "VGPRs, AGPRs each";
    case hal::Resource::sgpr:
      return "SGPRs";
    case hal::Resource::lds:
      return on_amd(data) ? "LDS bytes" : "shared bytes";
    case hal::Resource::block:
      break;
  }
  return "block";
}

std::string register_text(const OccupancyData& data) {
  const hal::KernelResources& k = data.input.kernel;
  if (!on_amd(data)) return fmt::format("{} per thread", k.vgprs);
  return fmt::format("{} VGPRs, {} AGPRs, SGPRs: {}", k.vgprs, k.agprs,
                     k.sgprs ? fmt::format("{}", *k.sgprs) : "not given");
}

std::string input_lines(const OccupancyData& data) {
  const hal::KernelResources& k = data.input.kernel;
  const std::int64_t wave = data.occupancy.wave_size;
  const hal::Terms& t = terms_of(data);
  std::string out =
      fmt::format("{} ({}), {} of {}", data.arch->gfx, data.arch->family, t.waves, wave);
  out += on_amd(data) ? fmt::format(", {} mode\n", unit_name(data)) : "\n";
  const auto line = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<11} {}\n", label, text);
  };
  line("block", fmt::format("{}{} {}, {} of {} lanes in {}",
                            k.workgroup_size_min && *k.workgroup_size_min != k.workgroup_size
                                ? fmt::format("{} to ", *k.workgroup_size_min)
                                : "",
                            k.workgroup_size, t.work_items, k.workgroup_size,
                            (k.workgroup_size + wave - 1) / wave * wave,
                            counted(static_cast<std::size_t>((k.workgroup_size + wave - 1) / wave),
                                    t.wave)));
  line("registers", register_text(data));
  const int reserved = data.arch->lds_reserved_per_workgroup;
  line(on_amd(data) ? "LDS" : "shared",
       fmt::format("{} bytes static, {} bytes dynamic{}", k.static_lds, k.dynamic_lds,
                   reserved > 0 ? fmt::format(", {} reserved by the driver", reserved) : ""));
  if (k.waves_per_eu)
    line("attribute", fmt::format("amdgpu_waves_per_eu({})", attribute_bounds(data)));
  for (const std::string& assumption : occupancy_assumptions(data)) line("assumed", assumption);
  for (const std::string& field : data.arch->unconfirmed_of_occupancy())
    line("unconfirmed", fmt::format("{} has no source, and is used here", field));
  return out;
}

std::string models_section(const OccupancyData& data, const TerminalStyle& style,
                           const Paint& paint) {
  TextTable table({Column{"model", left}, Column{waves_title(data)}, Column{"occupancy"},
                   Column{fmt::format("{}/{}", terms_of(data).workgroups, unit_name(data))},
                   Column{"limited by", left, true}});
  for (const hal::OccupancyModel model : hal::models_of(data.arch->platform)) {
    const hal::ModelOccupancy& m = data.occupancy.of(model);
    table.add({std::string(hal::to_string(model)),
               fmt::format("{} of {}", waves_text(waves_shown(data, m.waves_per_simd)),
                           waves_text(waves_shown(data, m.max_waves_per_simd))),
               percent(m.occupancy), fmt::format("{}", m.workgroups_per_cu),
               limiter_names(m.limiters, data.arch->platform)});
  }
  if (!on_amd(data))
    return heading(paint, "Occupancy") + table.text(style.width) +
           "  cuda: what cudaOccupancyMaxActiveBlocksPerMultiprocessor returns\n";
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
    table.add({first ? std::move(model) : "",
               fmt::format("{}{}", first ? joint : "and ", label_of(data, change.resource)),
               fmt::format("-{}", change.from - change.to), fmt::format("{}", change.to),
               first ? fmt::format("{} -> {}", waves_text(waves_shown(data, now)),
                                   waves_text(waves_shown(data, step.waves_per_simd)))
                     : "",
               first ? percent(step.occupancy) : ""});
    first = false;
  }
}

std::string next_step_section(const OccupancyData& data, const TerminalStyle& style,
                              const Paint& paint) {
  TextTable table({Column{"model", left}, Column{"lower", left}, Column{"by"}, Column{"to"},
                   Column{waves_title(data)}, Column{"occupancy"}});
  std::string none;
  for (const hal::OccupancyModel model : hal::models_of(data.arch->platform)) {
    const hal::ModelOccupancy& m = data.occupancy.of(model);
    const hal::NextStep& next = data.advice.of(model).next_step;
    if (!next.best) {
      none += fmt::format("  {}: {}\n", hal::to_string(model),
                          no_next_step_reason(m, data.arch->platform));
      continue;
    }
    add_step(data, table, std::string(hal::to_string(model)), "", *next.best, m.waves_per_simd);
    for (const hal::SingleStep& single : next.alone)
      if (single.step &&
          single.step->changes.front().resource != next.best->changes.front().resource)
        add_step(data, table, "", "or ", *single.step, m.waves_per_simd);
  }
  return heading(paint, fmt::format("Next step: the smallest decrease that gains {}",
                                    terms_of(data).waves)) +
         (table.empty() ? "" : table.text(style.width)) + none;
}

std::string headroom_section(const OccupancyData& data, const TerminalStyle& style,
                             const Paint& paint) {
  const auto more = [](const std::optional<std::int64_t>& value) {
    return value && *value > 0 ? fmt::format("+{}", *value) : number_or_dash(value);
  };
  const bool amd = on_amd(data);
  std::vector<Column> columns = {
      Column{"model", left}, Column{std::string(label_of(data, hal::Resource::vgpr))},
      Column{std::string(label_of(data, hal::Resource::lds))}, Column{"block"}};
  if (amd)
    columns = {Column{"model", left}, Column{"VGPRs"},     Column{"AGPRs"},
               Column{"SGPRs"},       Column{"LDS bytes"}, Column{"block"}};
  TextTable table(columns);
  for (const hal::OccupancyModel model : hal::models_of(data.arch->platform)) {
    const hal::Headroom& room = data.advice.of(model).headroom;
    std::vector<std::string> row = {std::string(hal::to_string(model)), more(room.vgprs),
                                    more(room.lds), more(room.block)};
    if (amd) row.insert(row.begin() + 2, {more(room.agprs), more(room.sgprs)});
    table.add(row);
  }
  return heading(paint, fmt::format("Headroom: what each may grow by alone without losing {}",
                                    terms_of(data).waves)) +
         table.text(style.width);
}

/// Full blocks for what the hardware holds, shaded ones up to what llvm prints (AMD).
std::string bar(const OccupancyData& data, const hal::SweepStep& step, double most,
                std::size_t width) {
  const auto length = [&](hal::OccupancyModel model) {
    return static_cast<std::size_t>(
        std::lround(step.of(model).waves_per_simd / most * static_cast<double>(width)));
  };
  const std::size_t held = length(hal::hardware_model_of(data.arch->platform));
  const std::size_t llvm = on_amd(data) ? length(hal::OccupancyModel::llvm) : 0;
  std::string out;
  for (std::size_t i = 0; i < std::max(held, llvm); ++i) out += i < held ? "█" : "░";
  return out;
}

/// Columns of a model in a sweep: figures are "7.5" or "6.667" at the widest.
std::size_t figure_width(hal::OccupancyModel model) {
  return std::max<std::size_t>(hal::to_string(model).size(), 5);
}

/// What runs, as its column is called.
std::string_view swept_name(const OccupancyData& data) {
  switch (data.sweep->of) {
    case hal::Sweep::vgpr:
      return terms_of(data).vgprs;
    case hal::Sweep::lds:
      return label_of(data, hal::Resource::lds);
    case hal::Sweep::block:
      break;
  }
  return terms_of(data).work_items;
}

std::string sweep_section(const OccupancyData& data, const TerminalStyle& style,
                          const Paint& paint) {
  if (!data.sweep) return {};
  const hal::OccupancySweep& sweep = *data.sweep;
  const auto models = hal::models_of(data.arch->platform);
  const std::string_view name = swept_name(data);
  const std::size_t digits = fmt::formatted_size("{}", sweep.steps.back().to);
  // Two blanks of indent and between columns.
  const std::size_t amount = std::max(2 * digits + 5, name.size() + 2);
  double most = 1;
  std::size_t fixed = 2 + amount + 2;
  std::string titles, dashes;
  for (const hal::OccupancyModel model : models) {
    most = std::max<double>(most, data.occupancy.of(model).max_waves_per_simd);
    fixed += figure_width(model) + 2;
    titles += fmt::format("  {:>{}}", hal::to_string(model), figure_width(model));
    dashes += fmt::format("  {:>{}}", "—", figure_width(model));
  }
  const std::size_t width =
      std::clamp<std::size_t>(style.width > fixed ? style.width - fixed : 0, 8, 64);
  std::string out = heading(paint, fmt::format("Sweep of {} (> the kernel's own)", name)) +
                    fmt::format("  {:>{}}{}  {}\n", name, amount, titles,
                                on_amd(data) ? "waves per SIMD" : "warps per SM");
  for (const hal::SweepStep& step : sweep.steps) {
    const bool current = step.from <= sweep.current && sweep.current <= step.to;
    out += fmt::format(
        "  {:>{}}",
        fmt::format("{} {:>{}} - {:>{}}", current ? ">" : " ", step.from, digits, step.to, digits),
        amount);
    if (!step.refusal.empty()) {
      out += fmt::format("{}  cannot be launched\n", dashes);
      continue;
    }
    for (const hal::OccupancyModel model : models)
      out += fmt::format("  {:>{}}", waves_text(waves_shown(data, step.of(model).waves_per_simd)),
                         figure_width(model));
    out += fmt::format("  {}\n", bar(data, step, most, width));
  }
  return out + (on_amd(data) ? "  █ resident   ░ printed by clang, but not resident\n" : "");
}

}  // namespace

std::string occupancy_text(const OccupancyData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  return input_lines(data) + models_section(data, style, paint) +
         next_step_section(data, style, paint) + headroom_section(data, style, paint) +
         sweep_section(data, style, paint);
}

}  // namespace perflab::report
