// Builders of isolate.json and its text.
#include "report/replay/isolate_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "replay/lint.h"
#include "report/kit/document.h"
#include "report/kit/process_outcome.h"
#include "report/kit/quantities.h"
#include "report/kit/text_table.h"
#include "report/replay/capture_document.h"

namespace perflab::report {
namespace {

/// Sums over the regions of a capture.
struct RegionSums {
  std::uint64_t regions = 0, not_captured = 0, variables = 0;
  std::uint64_t memory_bytes = 0, stored_bytes = 0, written_pages = 0;
};

RegionSums sums_of(const capture::Description& capture) {
  RegionSums sums;
  for (const capture::MemoryRegion& region : capture.regions) {
    if (!region.captured()) {
      ++sums.not_captured;
      continue;
    }
    ++(region.origin == capture::Origin::variable ? sums.variables : sums.regions);
    sums.memory_bytes += region.bytes;
    sums.stored_bytes += region.image.file_bytes + region.writes.file_bytes;
    for (const capture::PageRun& run : region.written) sums.written_pages += run.count;
  }
  return sums;
}

Json capture_json(const capture::Description& capture, std::vector<Missing>& missing) {
  const capture::Dispatch& dispatch = capture.dispatch;
  const RegionSums sums = sums_of(capture);
  if (!dispatch.captured_ns)
    missing.push_back(
        {"capture.captured_ns", "the runtime gave no times for the captured dispatch", ""});
  return {{"kernel", dispatch.demangled},
          {"symbol", dispatch.kernel},
          {"ordinal", dispatch.ordinal},
          {"grid", dispatch.grid},
          {"workgroup", dispatch.workgroup},
          {"platform", capture::to_string(capture.machine.platform)},
          {"isa", capture.machine.isa},
          {"captured_ns", or_null(dispatch.captured_ns)},
          {"regions", sums.regions},
          {"regions_not_captured", sums.not_captured},
          {"variables", sums.variables},
          {"memory_bytes", sums.memory_bytes},
          {"stored_bytes", sums.stored_bytes},
          {"written_pages", sums.written_pages},
          {"findings", findings_json(replay::nothing_written(capture))},
          {"limits", capture.limits}};
}

/// How the program ended; that we ended it because the capture was there is no failure.
std::string end_of(const isolate::LaunchOutcome& outcome) {
  return outcome.process.given_up ? "stopped" : outcome_of(outcome.process);
}

std::string captured_text(const IsolateData& data) {
  const capture::Description& capture = *data.capture;
  const capture::Dispatch& dispatch = capture.dispatch;
  const RegionSums sums = sums_of(capture);
  const hal::Terms& t = terms_of(capture.machine.platform);
  std::string text = fmt::format(
      "captured {} {} of {}\n"
      "  grid {} in {} of {}, {} of {}, {} of arguments, on {}\n",
      t.dispatch, dispatch.ordinal, printable(dispatch.demangled), fmt::join(dispatch.grid, " x "),
      t.workgroups, fmt::join(dispatch.workgroup, " x "),
      bytes_text(double{1} * dispatch.group_segment_bytes), t.lds,
      bytes_text(double{1} * dispatch.kernarg_bytes), printable(capture.machine.isa));
  if (dispatch.captured_ns)
    text += fmt::format("  {} on the GPU, alone\n",
                        duration_text(static_cast<double>(*dispatch.captured_ns)));
  text += fmt::format(
      "  {} ranges of memory and {} variables, {}; {} on disk\n"
      "  pages of 4096 bytes that the {} changed: {}\n",
      sums.regions, sums.variables, bytes_text(static_cast<double>(sums.memory_bytes)),
      bytes_text(static_cast<double>(sums.stored_bytes)), t.dispatch, sums.written_pages);
  if (sums.not_captured != 0)
    text += fmt::format("  {} ranges without their contents\n", sums.not_captured);
  for (const replay::Finding& finding : replay::nothing_written(capture))
    text += fmt::format("  {}: {}\n    {}\n", replay::to_string(finding.severity), finding.sentence,
                        finding.remedy);
  for (const std::string& limit : capture.limits)
    text += fmt::format("  limit: {}\n", printable(limit));
  return text + fmt::format("  in {}\n", printable(data.outcome->folder.string()));
}

std::string kernels_text(const isolate::Events& events, const TerminalStyle& style) {
  std::vector<isolate::SeenKernel> kernels = events.kernels;
  std::ranges::stable_sort(kernels, std::ranges::greater{}, &isolate::SeenKernel::dispatches);
  TextTable table({{.title = "dispatches"},
                   {.title = "kernel", .align = TextTable::Align::left, .flexible = true}});
  const std::size_t shown = std::min(kernels.size(), style.most_rows);
  for (std::size_t i = 0; i < shown; ++i)
    table.add({fmt::format("{}", kernels[i].dispatches), kernels[i].demangled});
  if (table.empty())
    return "the program launched no kernel through a queue that could be watched\n";
  std::string text = "kernels that the program launched\n" + table.text(style.width);
  if (shown < kernels.size()) text += fmt::format("  and {} more\n", kernels.size() - shown);
  return text;
}

}  // namespace

Json isolate_document(const IsolateData& data) {
  std::vector<Missing> missing;
  const isolate::LaunchPlan& plan = *data.plan;
  Json kernels = Json::array();
  for (const isolate::SeenKernel& kernel : data.outcome->events.kernels)
    kernels.push_back({{"kernel", kernel.demangled},
                       {"symbol", kernel.symbol},
                       {"dispatches", kernel.dispatches}});
  const Json capture = data.capture ? capture_json(*data.capture, missing) : Json(nullptr);
  return {{"schema_version", "1.2.0"},
          {"document", "isolate"},
          {"generator", generator_json()},
          {"request", {{"kernel", plan.kernel}, {"dispatch", plan.dispatch}, {"stop", plan.stop}}},
          {"captured", data.capture.has_value()},
          {"reason", data.problem ? Json(data.problem->message) : Json(nullptr)},
          {"program", end_of(*data.outcome)},
          {"capture", capture},
          {"kernels", std::move(kernels)},
          {"missing", missing_json(missing)},
          {"environment", {{"folder", data.outcome->folder.string()}, {"command", plan.command}}}};
}

std::string isolate_text(const IsolateData& data, const TerminalStyle& style) {
  return data.capture ? captured_text(data) : kernels_text(data.outcome->events, style);
}

}  // namespace perflab::report
