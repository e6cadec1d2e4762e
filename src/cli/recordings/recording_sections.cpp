// Every section is the text view of one document, or of a part of analysis.json.
#include "cli/recordings/recording_sections.h"

#include "cli/kit/command.h"
#include "report/analysis/analysis_text.h"
#include "report/analysis/profile_text.h"
#include "report/bottleneck/bottleneck_text.h"
#include "report/critical_path/dag_text.h"
#include "report/pc_sampling/pc_sampling_text.h"
#include "report/roofline/roofline_text.h"
#include "report/thread_trace/thread_trace_text.h"

namespace perflab::cli {

std::vector<Section> recording_sections(const analyze::AnalyzedTrace& analyzed,
                                        const report::ProfileData& data,
                                        const std::string& all_figures) {
  const trace::Trace& trace = analyzed.trace;
  const analyze::Analysis& analysis = analyzed.analysis;
  const report::TerminalStyle style = terminal_style();
  std::vector<Section> sections = {
      {"kernels", [&, style] { return report::analysis_text(trace, analysis, style); }},
      {"critical-path", [&, style] { return report::dag_text(trace, analysis, style); }}};
  if (analysis.roofline)
    sections.push_back({"roofline", [&, style, all_figures] {
                          return report::roofline_text(analysis, style, all_figures);
                        }});
  sections.push_back({"profile", [data, style] { return report::profile_text(data, style); }});
  if (analysis.thread_traces)
    sections.push_back(
        {"thread-trace", [&, style] { return report::thread_trace_text(analysis, style); }});
  if (analysis.pc_sampling)
    sections.push_back(
        {"pc-samples", [&, style] { return report::pc_sampling_text(analysis, style); }});
  sections.push_back(
      {"bottleneck", [&, style] { return report::bottleneck_text(analysis, style); }});
  return sections;
}

}  // namespace perflab::cli
