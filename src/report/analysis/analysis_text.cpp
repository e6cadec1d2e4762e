// Text views. Every figure here stands in a document too; nothing is computed.
#include "report/analysis/analysis_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "base/text/number_text.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/kit/platform_words.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using Column = TextTable::Column;
using enum TextTable::Align;

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
  if (const std::string note = trace::synthetic_note(trace); !note.empty())
    out += synthetic_line(note, style.width, paint);
  const analyze::Activity& activity = analysis.activity;
  const auto span = static_cast<double>(activity.last_end - activity.first_start);
  std::string sum = fmt::format(
      "{} of {} from {}, {} of kernel time over {}",
      counted(analysis.timed_dispatches, terms_of(analysis).dispatch),
      counted(analysis.kernels.size(), "kernel"), counted(trace.sources.size(), "recording"),
      duration_text(static_cast<double>(activity.dispatch_total)), duration_text(span));
  if (span > 0)
    sum += fmt::format(" (GPU busy {})", percent(static_cast<double>(activity.gpu_busy) / span));
  out += fmt::format("{}\n", fmt::join(wrapped(sum, style.width), "\n"));
  if (analysis.other_pass_dispatches > 0)
    out += fmt::format("{} {} of further counter passes are not added up\n",
                       analysis.other_pass_dispatches, terms_of(analysis).dispatches);
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
  const std::string title =
      fmt::format("Kernels (> the one with the longest {})", terms_of(analysis).dispatch);
  return heading(paint, title) + table.text(style.width) + cut_note(analysis.kernels.size(), shown);
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
                 kind.bytes ? bytes_text(static_cast<double>(*kind.bytes)) : "-",
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
  TextTable table({Column{fmt::format("mean per {}", terms_of(analysis).dispatch)}, Column{"min"},
                   Column{"max"}, Column{"state", left}, Column{"counter", left},
                   Column{"kernel", left, true}});
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

}  // namespace

std::string differences_text(const analyze::Gpu& gpu) {
  std::string out;
  for (const auto& [field, recorded, table, confirmed] : gpu.differences)
    out += fmt::format("{}{} {} ({} in the tables{})", out.empty() ? "" : ", ", field, recorded,
                       table, confirmed ? "" : ", unconfirmed");
  return out;
}

std::string analysis_text(const trace::Trace& trace, const analyze::Analysis& analysis,
                          const TerminalStyle& style) {
  const Paint paint(style.colour);
  return header(trace, analysis, style, paint) + bottleneck_headline(analysis, style) +
         kernels_section(analysis, style, paint) + api_section(analysis, style, paint) +
         memory_section(analysis, style, paint) + counters_section(analysis, style, paint) +
         rows_section(trace, paint) + warnings_section(analysis.warnings, style.width, paint);
}

}  // namespace perflab::report
