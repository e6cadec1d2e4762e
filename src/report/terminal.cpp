// Text views. Every figure here stands in a document too; nothing is computed.
#include "report/terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/number_text.h"
#include "report/analysis_document.h"
#include "report/bottleneck_text.h"
#include "report/text_parts.h"
#include "report/text_table.h"
#include "report/thread_trace_text.h"

namespace perflab::report {
namespace {

using Column = TextTable::Column;
using enum TextTable::Align;

std::string scaled(double value, std::span<const std::pair<double, const char*>> units) {
  const auto* unit = &units.front();
  for (const auto& candidate : units)
    if (std::fabs(value) >= candidate.first) unit = &candidate;
  const double shown = value / unit->first;
  // The limits lie where rounding would add a digit.
  const int digits = shown >= 999.95 || shown == std::floor(shown) ? 0 : shown >= 99.995 ? 1 : 2;
  return fmt::format("{:.{}f} {}", shown, digits, unit->second);
}

std::string triple(const std::array<std::uint32_t, 3>& v) {
  return fmt::format("{}x{}x{}", v[0], v[1], v[2]);
}

/// "compute_units 320 (304 in the tables)", for what an agent's record has otherwise.
std::string differences_text(const analyze::Gpu& gpu) {
  std::string out;
  for (const auto& [field, recorded, table, confirmed] : gpu.differences)
    out += fmt::format("{}{} {} ({} in the tables{})", out.empty() ? "" : ", ", field, recorded,
                       table, confirmed ? "" : ", unconfirmed");
  return out;
}

/// A line for each agent that differs from the tables.
std::string differences_lines(const analyze::Analysis& analysis) {
  std::set<std::pair<std::int64_t, std::string>> agents;
  for (const analyze::Kernel& kernel : analysis.kernels)
    if (!kernel.gpu.differences.empty())
      agents.emplace(kernel.gpu.agent_index,
                     fmt::format("{} {}: recorded {}", kernel.gpu.product, kernel.gpu.architecture,
                                 differences_text(kernel.gpu)));
  std::string out;
  for (const auto& [index, text] : agents)
    out += fmt::format("agent {}, {}\n", index, printable(text));
  return out;
}

std::string header(const trace::Trace& trace, const analyze::Analysis& analysis,
                   const TerminalStyle& style, const Paint& paint) {
  std::string out;
  if (const std::string note = synthetic_note(trace); !note.empty())
    out += synthetic_line(note, style.width, paint);
  const analyze::Activity& activity = analysis.activity;
  const auto span = static_cast<double>(activity.last_end - activity.first_start);
  std::string sum =
      fmt::format("{} dispatches of {} kernels from {} recording{}, {} of kernel time over {}",
                  analysis.timed_dispatches, analysis.kernels.size(), trace.sources.size(),
                  trace.sources.size() == 1 ? "" : "s",
                  duration_text(static_cast<double>(activity.dispatch_total)), duration_text(span));
  if (span > 0)
    sum += fmt::format(" (GPU busy {})", percent(static_cast<double>(activity.gpu_busy) / span));
  out += fmt::format("{}\n", fmt::join(wrapped(sum, style.width), "\n"));
  if (analysis.other_pass_dispatches > 0)
    out += fmt::format("{} dispatches of further counter passes are not added up\n",
                       analysis.other_pass_dispatches);
  return out + differences_lines(analysis);
}

std::string kernels_section(const analyze::Analysis& analysis, const TerminalStyle& style,
                            const Paint& paint) {
  TextTable table({Column{"share"}, Column{"total"}, Column{"count"}, Column{"median"},
                   Column{.title = "min", .expendable = 2}, Column{.title = "max", .expendable = 1},
                   Column{"kernel", left, true}});
  const std::size_t shown = std::min(style.most_rows, analysis.kernels.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::Kernel& kernel = analysis.kernels[i];
    const analyze::Durations& d = kernel.durations;
    const bool selected = analysis.selection && analysis.selection->kernel == i;
    table.add({percent(kernel.share), duration_text(static_cast<double>(d.total)),
               fmt::format("{}", d.count), duration_text(d.median),
               duration_text(static_cast<double>(d.min)), duration_text(static_cast<double>(d.max)),
               fmt::format("{}{}{}", selected ? "> " : "  ", kernel.name,
                           kernel.runtime_helper ? " (HIP runtime)" : "")});
  }
  return heading(paint, "Kernels (> the one with the longest dispatch)") + table.text(style.width) +
         cut_note(analysis.kernels.size(), shown);
}

std::string api_section(const analyze::Analysis& analysis, const TerminalStyle& style,
                        const Paint& paint) {
  if (analysis.api_calls.empty()) return {};
  TextTable table({Column{"total"}, Column{"calls"}, Column{"max"}, Column{"call", left, true},
                   Column{.title = "category", .align = left, .expendable = 1}});
  const std::size_t shown = std::min(style.most_rows / 2 + 1, analysis.api_calls.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::ApiCall& call = analysis.api_calls[i];
    table.add({duration_text(static_cast<double>(call.total)), fmt::format("{}", call.count),
               duration_text(static_cast<double>(call.max)), call.name, call.category});
  }
  return heading(paint, "Host API calls and ranges") + table.text(style.width) +
         cut_note(analysis.api_calls.size(), shown);
}

std::string memory_section(const analyze::Analysis& analysis, const TerminalStyle& style,
                           const Paint& paint) {
  std::string out;
  if (!analysis.copies.empty()) {
    TextTable table({Column{"total"}, Column{"copies"}, Column{"bytes"}, Column{"GB/s"},
                     Column{"kind", left, true}});
    for (const analyze::CopyKind& kind : analysis.copies)
      table.add({duration_text(static_cast<double>(kind.total)), fmt::format("{}", kind.count),
                 bytes_text(static_cast<double>(kind.bytes)),
                 kind.gb_per_s ? fmt::format("{:.2f}", *kind.gb_per_s) : "—", kind.kind});
    out += heading(paint, "Copies") + table.text(style.width);
  }
  if (!analysis.allocations.empty()) {
    TextTable table(
        {Column{"count"}, Column{"bytes"}, Column{"type", left, true}, Column{"level", left}});
    for (const analyze::AllocationKind& kind : analysis.allocations)
      table.add({fmt::format("{}", kind.count), bytes_text(static_cast<double>(kind.bytes)),
                 kind.type, kind.level});
    out += heading(paint, "Allocations") + table.text(style.width);
  }
  return out;
}

std::string counters_section(const analyze::Analysis& analysis, const TerminalStyle& style,
                             const Paint& paint) {
  if (analysis.counters.empty() || analysis.roofline) return {};  // the roofline shows them
  TextTable table({Column{"mean per dispatch"}, Column{"min"}, Column{"max"}, Column{"state", left},
                   Column{"counter", left}, Column{"kernel", left, true}});
  const std::size_t shown = std::min(style.most_rows, analysis.counters.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const analyze::Counter& counter = analysis.counters[i];
    table.add({number_text(counter.mean), number_text(counter.min), number_text(counter.max),
               std::string(analyze::to_string(counter.state)), counter.name, counter.kernel});
  }
  return heading(paint, "Counters") + table.text(style.width) +
         cut_note(analysis.counters.size(), shown);
}

std::string rows_section(const trace::Trace& trace, const Paint& paint) {
  std::string out;
  const auto list = [&](std::string_view title, const auto& counts) {
    if (counts.empty()) return;
    out += heading(paint, title);
    for (const auto& [key, rows] : counts)
      out += fmt::format("  {} x {}: {}\n", rows, key.first, key.second);
  };
  list("Left out", trace.report.dropped);
  list("Kept, but odd", trace.report.odd);
  return out;
}

std::string occupancy_line(const hal::Occupancy& occupancy) {
  const auto model = [](std::string_view name, const hal::ModelOccupancy& m) {
    return fmt::format("{} {:.4g} of {}", name, m.waves_per_simd, m.max_waves_per_simd);
  };
  return fmt::format(
      "{} (resident model), limited by {}\n             waves per SIMD: {}, {}, {}\n",
      percent(occupancy.resident.occupancy), limiter_names(occupancy.resident.limiters),
      model("resident", occupancy.resident), model("llvm", occupancy.llvm),
      model("hip", occupancy.hip));
}

std::string kernel_lines(const analyze::Kernel& kernel, const TerminalStyle& style) {
  std::string out;
  const auto line = [&](std::string_view label, const std::string& text) {
    out += fmt::format("  {:<10} {}\n", label, printable(text));
  };
  const analyze::Resources& r = kernel.resources;
  line("kernel", fit(kernel.name, style.width > 13 ? style.width - 13 : 20));
  line("gpu", fmt::format("{} {}, {} CUs", kernel.gpu.product, kernel.gpu.architecture,
                          number_or_dash(kernel.gpu.compute_units)));
  if (!kernel.gpu.differences.empty()) line("recorded", differences_text(kernel.gpu));
  line("launch", fmt::format("work-group {}, grid {} work-items, {} work-groups",
                             triple(kernel.launch.workgroup), triple(kernel.launch.grid),
                             kernel.workgroups ? fmt::format("{}", *kernel.workgroups) : "—"));
  line("registers",
       fmt::format("{} VGPRs, {} SGPRs; LDS {} B (static {}), scratch {} B",
                   number_or_dash(r.vgprs), number_or_dash(r.sgprs), number_or_dash(r.lds_bytes),
                   number_or_dash(r.static_lds_bytes), number_or_dash(r.scratch_bytes)));
  if (kernel.code) {
    std::vector<std::string> corrections;
    for (const analyze::Correction& c : kernel.code->corrections)
      corrections.push_back(
          fmt::format("{} {} (recorded: {})", c.field, c.code_object, c.recorded));
    line("code",
         fmt::format("registers from {} ({}){}{}", kernel.code->file, kernel.code->target,
                     corrections.empty() ? "" : "; corrected: ", fmt::join(corrections, ", ")));
  }
  if (kernel.occupancy)
    out += fmt::format("  {:<10} {}", "occupancy", occupancy_line(*kernel.occupancy));
  return out;
}

std::string stability_line(const ProfileData& data) {
  const analyze::RunStability& stability = data.analyzed->stability;
  if (!stability.cv)
    return fmt::format("not known: {} run{} (--runs 5 measures it)", data.runs.size(),
                       data.runs.size() == 1 ? "" : "s");
  return fmt::format("{}: CV {:.2f} % over {} runs", stats::to_string(*stability.label),
                     100 * *stability.cv, stability.runs.size());
}

}  // namespace

std::string duration_text(double nanoseconds) {
  static constexpr std::array<std::pair<double, const char*>, 4> kUnits = {
      {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}}};
  return scaled(nanoseconds, kUnits);
}

std::string bytes_text(double bytes) {
  static constexpr std::array<std::pair<double, const char*>, 5> kUnits = {
      {{1, "B"}, {1e3, "kB"}, {1e6, "MB"}, {1e9, "GB"}, {1e12, "TB"}}};
  return scaled(bytes, kUnits);
}

std::string analysis_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                          const TerminalStyle& style) {
  const Paint paint(style.colour);
  return header(trace, analysis, style, paint) + bottleneck_headline(analysis, style) +
         kernels_section(analysis, style, paint) + api_section(analysis, style, paint) +
         memory_section(analysis, style, paint) + counters_section(analysis, style, paint) +
         rows_section(trace, paint) + warnings_section(analysis.warnings, style.width, paint);
}

std::string profile_text(const ProfileData& data, const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out = heading(paint, "Profile");
  for (std::size_t i = 0; data.analyzed == nullptr && i < data.runs.size(); ++i)
    if (const auto& wall = data.runs[i].process_wall_ns)
      out += fmt::format("  run {}: the process took {}\n", i + 1,
                         duration_text(static_cast<double>(*wall)));
  if (data.analyzed == nullptr)
    return out + fmt::format("  no GPU figures: {}\n", printable(data.no_gpu_reason)) +
           warnings_section(data.warnings, style.width, paint);
  const analyze::Analysis& analysis = data.analyzed->representative.analysis;
  const analyze::Kernel& kernel = analysis.kernels[analysis.selection->kernel];
  out += kernel_lines(kernel, style);
  out += fmt::format("  {:<10} {} in {} dispatches, {} of all kernel time\n", "runtime",
                     duration_text(static_cast<double>(kernel.durations.total)),
                     kernel.durations.count, percent(kernel.share));
  out += fmt::format("  {:<10} {}\n", "stability", stability_line(data));
  for (const std::string& assumption : kernel.assumptions)
    out += fmt::format("  {:<10} {}\n", "assumed", printable(assumption));
  for (const analyze::Missing& missing : kernel.missing)
    if (missing.field == "resources.vgpr_per_thread" || missing.field == "occupancy.theoretical")
      out += fmt::format("  {:<10} {}: {}\n", "missing", missing.field, printable(missing.reason));
  return out + thread_trace_text(analysis, style) + bottleneck_text(analysis, style) +
         warnings_section(data.warnings, style.width, paint);
}

}  // namespace perflab::report
