// Text view of an inspection. Every figure here stands in inspection.json too.
#include "report/code/inspection_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "hal/occupancy_sweep.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using analyze::StaticKernel;
using Column = TextTable::Column;
using enum TextTable::Align;

/// Arguments of a kernel that are listed.
constexpr std::size_t kMostArguments = 24;

std::string target_of(const analyze::Inspection& inspection, std::size_t kernel) {
  return code::to_string(inspection.objects[inspection.kernels[kernel].object].target);
}

std::string kind_text(const analyze::Inspection& inspection) {
  if (inspection.kind == "code_object") return "code object";
  if (inspection.kind == "host_elf") return "host program or library";
  if (inspection.kind == "source") return "source";
  return "offload bundle";
}

std::string header(const analyze::Inspection& inspection, std::size_t width) {
  std::string file =
      fmt::format("{}: {}, {}, {} in {}", printable(inspection.path.filename().string()),
                  kind_text(inspection), bytes_text(static_cast<double>(inspection.file_bytes)),
                  counted(inspection.kernels.size(), "kernel"),
                  counted(inspection.objects.size(), "code object"));
  const auto compressed = std::ranges::count_if(inspection.bundles, [](const auto& bundle) {
    return bundle.compression != code::Compression::none;
  });
  if (!inspection.bundles.empty())
    file += fmt::format(" of {}{}", counted(inspection.bundles.size(), "bundle"),
                        compressed > 0 ? fmt::format(" ({} compressed)", compressed) : "");
  std::string out = fmt::format("{}\n", fmt::join(report::wrapped(file, width), "\n"));
  if (inspection.compiler) out += fmt::format("compiled by {}\n", printable(*inspection.compiler));
  return out;
}

std::string spills(const code::KernelMetadata& kernel) {
  if (kernel.vgpr_spills == 0 && kernel.sgpr_spills == 0) return "0";
  return fmt::format("{}v {}s", number_or_dash(kernel.vgpr_spills),
                     number_or_dash(kernel.sgpr_spills));
}

std::string waves(const StaticKernel& kernel) {
  if (!kernel.occupancy) return "—";
  const hal::Occupancy& o = *kernel.occupancy;
  return fmt::format("{:.4g} {:.4g} {:.4g}", o.llvm.waves_per_simd, o.hip.waves_per_simd,
                     o.resident.waves_per_simd);
}

/// The target that all kernels share; empty when they differ.
std::string common_target(const analyze::Inspection& inspection) {
  std::string first;
  for (std::size_t i = 0; i < inspection.kernels.size(); ++i) {
    const std::string target = target_of(inspection, i);
    if (i > 0 && target != first) return {};
    first = target;
  }
  return first;
}

/// One column of the kernels' table.
struct KernelColumn {
  Column column;
  std::function<std::string(std::size_t)> cell;  ///< of the kernel with this index
};

/// The columns that say something: AGPRs where there are any, targets where they differ.
std::vector<KernelColumn> kernel_columns(const analyze::Inspection& inspection, bool same_target) {
  const auto kernel = [&inspection](std::size_t i) -> const StaticKernel& {
    return inspection.kernels[i];
  };
  std::vector<KernelColumn> columns;
  columns.push_back(
      {Column{"VGPR"}, [=](std::size_t i) { return number_or_dash(kernel(i).vgprs); }});
  if (std::ranges::any_of(inspection.kernels,
                          [](const StaticKernel& k) { return k.accum_vgprs != 0; }))
    columns.push_back(
        {Column{"AGPR"}, [=](std::size_t i) { return number_or_dash(kernel(i).accum_vgprs); }});
  columns.push_back(
      {Column{"SGPR"}, [=](std::size_t i) { return number_or_dash(kernel(i).code.sgpr_count); }});
  columns.push_back({Column{"spills"}, [=](std::size_t i) { return spills(kernel(i).code); }});
  columns.push_back({Column{.title = "scratch", .expendable = 2}, [=](std::size_t i) {
                       return fmt::format("{}{}", kernel(i).code.scratch_bytes,
                                          kernel(i).code.dynamic_stack ? "+" : "");
                     }});
  columns.push_back(
      {Column{"LDS"}, [=](std::size_t i) { return fmt::format("{}", kernel(i).code.lds_bytes); }});
  columns.push_back({Column{.title = "block", .expendable = 1}, [=](std::size_t i) {
                       const std::int64_t size = kernel(i).workgroup_size;
                       return size > 0 ? fmt::format("{}", size) : "—";
                     }});
  columns.push_back({Column{"waves"}, [=](std::size_t i) { return waves(kernel(i)); }});
  columns.push_back(
      {Column{.title = "limited by", .align = left, .expendable = 3}, [=](std::size_t i) {
         const auto& occupancy = kernel(i).occupancy;
         return occupancy ? limiter_names(occupancy->resident.limiters) : "—";
       }});
  if (!same_target)
    columns.push_back({Column{"target", left},
                       [&inspection](std::size_t i) { return target_of(inspection, i); }});
  columns.push_back({Column{"kernel", left, true}, [=](std::size_t i) { return kernel(i).name; }});
  return columns;
}

std::string kernels_section(const analyze::Inspection& inspection, const TerminalStyle& style,
                            const Paint& paint) {
  if (inspection.kernels.empty()) return {};
  const std::string common = common_target(inspection);
  const std::vector<KernelColumn> columns = kernel_columns(inspection, !common.empty());
  std::vector<Column> titles;
  for (const KernelColumn& one : columns) titles.push_back(one.column);
  TextTable table(std::move(titles));
  const std::size_t shown = std::min(style.most_rows, inspection.kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    std::vector<std::string> row;
    for (const KernelColumn& one : columns) row.push_back(one.cell(i));
    table.add(std::move(row));
  }
  return heading(paint, fmt::format("Kernels{}{} (waves per SIMD: llvm, hip, resident)",
                                    common.empty() ? "" : " for ", common)) +
         table.text(style.width) + cut_note(inspection.kernels.size(), shown);
}

void line(std::string& out, std::string_view label, const std::string& text) {
  out += fmt::format("  {:<10} {}\n", label, printable(text));
}

/// Like line(), broken at blanks so that it fits the width; further lines are indented.
void add_wrapped(std::string& out, std::string_view label, const std::string& text,
                 std::size_t width) {
  constexpr std::size_t kIndent = 13;
  const std::size_t room = width > kIndent + 20 ? width - kIndent : 20;
  std::string_view rest = text;
  while (display_width(rest) > room) {
    const std::size_t at = rest.substr(0, room).rfind(' ');
    if (at == std::string_view::npos || rest.substr(0, at).find_first_not_of(' ') == at) break;
    line(out, label, std::string(rest.substr(0, at)));
    label = "";
    rest.remove_prefix(at + 1);
  }
  line(out, label, std::string(rest));
}

std::string counts_text(const auto& counts, auto name) {
  std::vector<std::pair<std::int64_t, std::string>> sorted;
  for (const auto& [key, count] : counts)
    if (count > 0) sorted.emplace_back(count, name(key));
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (const auto& [count, text] : sorted) parts.push_back(fmt::format("{} {}", text, count));
  return fmt::format("{}", fmt::join(parts, ", "));
}

void mix_lines(const code::InstructionMix& mix, std::size_t width, std::string& out) {
  const auto same = [](const std::string& key) { return key; };
  line(out, "code",
       fmt::format(
           "{} in {} bytes{}{}{}",
           counted(static_cast<std::size_t>(mix.instructions), "instruction"), mix.code_bytes,
           mix.backward_branches > 0
               ? ", " + counted(static_cast<std::size_t>(mix.backward_branches), "loop")
               : "",
           mix.calls > 0 ? ", " + counted(static_cast<std::size_t>(mix.calls), "call") : "",
           mix.unknown.empty() ? ""
                               : fmt::format(", not understood: {}", fmt::join(mix.unknown, " "))));
  add_wrapped(out, "mix",
              counts_text(mix.by_class,
                          [](code::InstructionClass c) { return std::string(code::to_string(c)); }),
              width);
  if (!mix.valu_by_precision.empty())
    add_wrapped(out, "valu", counts_text(mix.valu_by_precision, same), width);
  if (!mix.matrix_by_precision.empty())
    add_wrapped(out, "matrix", counts_text(mix.matrix_by_precision, same), width);
  if (const auto intensity = mix.static_intensity())
    add_wrapped(
        out, "intensity",
        fmt::format("{:.3g} FLOP per byte of vector memory (estimate: each instruction once)",
                    *intensity),
        width);
}

std::string argument_text(const code::KernelArgument& argument) {
  std::string out = fmt::format("{}+{} {}", argument.offset, argument.size, argument.value_kind);
  if (!argument.type_name.empty()) out += " " + argument.type_name;
  if (!argument.name.empty()) out += " " + argument.name;
  return out;
}

/// Names of the hidden arguments; those of the three axes as one: "block_count_x,y,z".
std::string hidden_text(const code::KernelMetadata& kernel) {
  std::vector<std::string> names;
  for (const code::KernelArgument& argument : kernel.arguments) {
    if (!argument.hidden()) continue;
    const std::string name = argument.value_kind.substr(std::string_view("hidden_").size());
    const std::size_t stem = name.size() < 2 ? 0 : name.size() - 2;
    const bool axis = name.ends_with("_y") || name.ends_with("_z");
    if (axis && !names.empty() && names.back().starts_with(name.substr(0, stem + 1)))
      names.back() += "," + name.substr(stem + 1);
    else
      names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

void kernarg_lines(const code::KernelMetadata& kernel, std::size_t width, std::string& out) {
  std::size_t shown = 0;
  line(out, "kernarg",
       fmt::format("{} bytes, aligned to {}", kernel.kernarg_bytes, kernel.kernarg_align));
  for (const code::KernelArgument& argument : kernel.arguments)
    if (!argument.hidden() && ++shown <= kMostArguments)
      line(out, "", "  " + argument_text(argument));
  if (shown > kMostArguments) line(out, "", fmt::format("  … and {} more", shown - kMostArguments));
  if (const std::string hidden = hidden_text(kernel); !hidden.empty())
    add_wrapped(out, "", "  hidden: " + hidden, width);
}

/// "lower VGPRs from 95 to 88: 5 waves per SIMD (62.5 %)".
std::string step_text(const hal::Step& step) {
  std::vector<std::string> changes;
  for (const hal::Change& change : step.changes)
    changes.push_back(
        fmt::format("{} from {} to {}", hal::to_string(change.resource), change.from, change.to));
  return fmt::format("lower {}: {:.4g} waves per SIMD ({})", fmt::join(changes, " and "),
                     step.waves_per_simd, percent(step.occupancy));
}

std::string details(const analyze::Inspection& inspection, std::size_t index,
                    const TerminalStyle& style, const Paint& paint) {
  const StaticKernel& kernel = inspection.kernels[index];
  std::string out = heading(
      paint, fmt::format("{} ({})", fit(kernel.name, style.width > 40 ? style.width - 20 : 20),
                         target_of(inspection, index)));
  if (kernel.occupancy) {
    const hal::ModelOccupancy& resident = kernel.occupancy->resident;
    line(out, "occupancy",
         fmt::format("{} (resident model, {:.4g} of {} waves per SIMD), limited by {}",
                     percent(resident.occupancy), resident.waves_per_simd,
                     resident.max_waves_per_simd, limiter_names(resident.limiters)));
    std::vector<std::string> models;
    for (const hal::OccupancyModel model : hal::models_of(kernel.occupancy->platform)) {
      const hal::ModelOccupancy& m = kernel.occupancy->of(model);
      models.push_back(fmt::format("{} {:.4g} of {} ({})", hal::to_string(model), m.waves_per_simd,
                                   m.max_waves_per_simd, limiter_names(m.limiters)));
    }
    add_wrapped(out, "models", fmt::format("{}", fmt::join(models, "; ")), style.width);
    if (kernel.next_step) line(out, "next step", step_text(*kernel.next_step));
  }
  if (kernel.mix) mix_lines(*kernel.mix, style.width, out);
  kernarg_lines(kernel.code, style.width, out);
  for (const std::string& assumption : kernel.assumptions)
    add_wrapped(out, "assumed", assumption, style.width);
  std::string last;
  for (const Missing& missing : kernel.missing)
    if (missing.field != "occupancy.next_step" &&
        std::exchange(last, missing.reason) != missing.reason)
      add_wrapped(out, "missing", fmt::format("{}: {}", missing.field, missing.reason),
                  style.width);
  return out;
}

std::string objects_section(const analyze::Inspection& inspection, const Paint& paint) {
  std::string out;
  for (std::size_t i = 0; i < inspection.objects.size(); ++i)
    for (const std::string& problem : inspection.objects[i].problems)
      if (inspection.objects[i].readable)
        out += fmt::format("  code object {}: {}\n", i, printable(problem));
  return out.empty() ? out : heading(paint, "Odd") + out;
}

std::string changes_section(const analyze::Inspection& inspection,
                            const analyze::InspectionDiff& comparison, const TerminalStyle& style,
                            const Paint& paint) {
  std::string out = heading(
      paint, fmt::format("Against {}: {} of {} differ", comparison.path.filename().string(),
                         comparison.changes.size(), counted(comparison.compared, "kernel")));
  TextTable table({Column{"before"}, Column{"after"}, Column{"", left}, Column{"figure", left},
                   Column{"target", left}, Column{"kernel", left, true}});
  const auto value = [](const std::optional<double>& v) {
    return v ? fmt::format("{:.15g}", *v) : "—";
  };
  std::size_t rows = 0;
  std::size_t all = 0;
  for (const analyze::KernelChange& change : comparison.changes)
    for (const analyze::FigureChange& figure : change.figures)
      if (++all <= 4 * style.most_rows) {
        ++rows;
        table.add({value(figure.before), value(figure.after), figure.worse ? "worse" : "",
                   figure.figure, target_of(inspection, change.kernel),
                   inspection.kernels[change.kernel].name});
      }
  if (!table.empty()) out += table.text(style.width) + cut_note(all, rows);
  const auto list = [&](const char* what, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < std::min(names.size(), style.most_rows); ++i)
      out += fmt::format("  {}: {}\n", what, printable(names[i]));
    out += cut_note(names.size(), std::min(names.size(), style.most_rows));
  };
  list("only in the old file", comparison.only_old);
  list("only in this file", comparison.only_new);
  return out;
}

/// "all of 3 kernels"; of a comparison also what it could not cover.
std::string passed_text(const analyze::Gate& gate,
                        const std::optional<analyze::InspectionDiff>& against) {
  std::string out = "all of " + counted(gate.checked, "kernel");
  if (gate.name == "against" && against && !against->only_old.empty())
    out += fmt::format(" ({} of the old file not found in this one)",
                       counted(against->only_old.size(), "kernel"));
  return out;
}

std::string gates_section(const analyze::Inspection& inspection,
                          const std::vector<analyze::Gate>& gates,
                          const std::optional<analyze::InspectionDiff>& against,
                          const TerminalStyle& style, const Paint& paint) {
  if (gates.empty()) return {};
  std::string out = heading(paint, "Gates");
  for (const analyze::Gate& gate : gates) {
    const bool passed = gate.passed();
    out += fmt::format(
        "  {}{}{} {}{}: {}\n", passed ? paint.good : paint.bad, passed ? "passed" : "FAILED",
        paint.end, gate.name, gate.limit ? fmt::format(" {:.15g}", *gate.limit) : "",
        !gate.problem.empty() ? printable(gate.problem)
        : passed              ? passed_text(gate, against)
                 : fmt::format("{} of {}", gate.failures.size(), counted(gate.checked, "kernel")));
    const std::size_t shown = std::min(gate.failures.size(), style.most_rows);
    for (std::size_t i = 0; i < shown; ++i) {
      const analyze::GateFailure& failure = gate.failures[i];
      out += fmt::format("         {} ({}): {}\n",
                         fit(inspection.kernels[failure.kernel].name, style.width / 2),
                         target_of(inspection, failure.kernel), printable(failure.why));
    }
    out += cut_note(gate.failures.size(), shown);
  }
  return out;
}

/// Why the mix is not there, once for all kernels.
std::string mix_note(const analyze::Inspection& inspection) {
  for (const StaticKernel& kernel : inspection.kernels)
    for (const Missing& missing : kernel.missing)
      if (missing.field == "instruction_mix")
        return fmt::format("\ninstruction mix: {}{}\n", printable(missing.reason),
                           missing.remedy.empty() ? "" : " (" + printable(missing.remedy) + ")");
  return {};
}

}  // namespace

std::string inspected_kernels_text(const analyze::Inspection& inspection,
                                   const TerminalStyle& style) {
  return header(inspection, style.width) + kernels_section(inspection, style, Paint(style.colour));
}

std::string inspected_mix_text(const analyze::Inspection& inspection, std::size_t most,
                               const TerminalStyle& style) {
  if (inspection.kernels.size() > most) return mix_note(inspection);
  std::string out;
  for (std::size_t i = 0; i < inspection.kernels.size(); ++i)
    out += details(inspection, i, style, Paint(style.colour));
  return out;
}

std::string inspected_changes_text(const analyze::Inspection& inspection,
                                   const analyze::InspectionDiff& against,
                                   const TerminalStyle& style) {
  return changes_section(inspection, against, style, Paint(style.colour));
}

std::string inspected_gates_text(const analyze::Inspection& inspection,
                                 const std::vector<analyze::Gate>& gates,
                                 const std::optional<analyze::InspectionDiff>& against,
                                 const TerminalStyle& style) {
  return gates_section(inspection, gates, against, style, Paint(style.colour));
}

std::string inspected_problems_text(const analyze::Inspection& inspection,
                                    const TerminalStyle& style) {
  const Paint paint(style.colour);
  return objects_section(inspection, paint) +
         warnings_section(inspection.warnings, style.width, paint);
}

}  // namespace perflab::report
