// JSON of a capture. What the runtime did not say when it was taken is null with an entry in
// `missing`; integrity and findings are null when they were not asked for.
#include "report/replay/capture_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hsa/types.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

using capture::Blob;
using capture::MemoryRegion;

Json counts_of(const Blob& blob) {
  if (blob.pages == 0) return nullptr;
  return {{"pages", blob.pages},
          {"zero_pages", blob.zero_pages},
          {"shared_pages", blob.shared_pages},
          {"stored_pages", blob.stored_pages},
          {"file_bytes", blob.file_bytes}};
}

Json launch_json(const std::optional<capture::CudaLaunch>& launch) {
  if (!launch) return nullptr;
  Json parameters = Json::array();
  for (const capture::Parameter& one : launch->parameters)
    parameters.push_back({{"offset", one.offset}, {"bytes", one.size}});
  return {{"cluster", launch->cluster},
          {"cooperative", launch->cooperative},
          {"max_dynamic_shared_bytes", launch->max_dynamic_shared_bytes},
          {"shared_carveout_percent", launch->shared_carveout},
          {"registers", launch->registers},
          {"parameters", std::move(parameters)}};
}

Json captured_kernel_json(const capture::Capture& capture, std::vector<Missing>& missing) {
  const capture::Dispatch& dispatch = capture.description().dispatch;
  if (!dispatch.captured_ns)
    missing.push_back({.field = "kernel.captured_ns",
                       .reason = "the dispatch was not timed when it was captured",
                       .remedy = ""});
  const std::uint32_t statics = dispatch.static_group_segment_bytes;
  return {{"name", dispatch.demangled.empty() ? dispatch.kernel : dispatch.demangled},
          {"symbol", dispatch.kernel},
          {"ordinal", dispatch.ordinal},
          {"grid", dispatch.grid},
          {"workgroup", dispatch.workgroup},
          {"static_lds_bytes", statics},
          {"dynamic_lds_bytes",
           dispatch.group_segment_bytes - std::min(statics, dispatch.group_segment_bytes)},
          {"scratch_bytes", dispatch.private_segment_bytes},
          {"kernarg_bytes", capture.kernarg().size()},
          {"dynamic_callstack", dispatch.dynamic_callstack},
          {"captured_ns", or_null(dispatch.captured_ns)},
          {"cuda", launch_json(dispatch.cuda)}};
}

Json captured_machine_json(const capture::Machine& machine, std::vector<Missing>& missing) {
  using enum capture::Platform;
  const auto of = [&](std::optional<capture::Platform> only, const char* field,
                      const std::string& value) {
    if (value.empty())
      missing.push_back({.field = fmt::format("machine.{}", field),
                         .reason = only && *only != machine.platform
                                       ? fmt::format("only captures of {} programs have it",
                                                     *only == hip ? "HIP" : "CUDA")
                                       : "it was not known when the capture was taken",
                         .remedy = ""});
    return or_null(value);
  };
  return {{"platform", capture::to_string(machine.platform)},
          {"isa", machine.isa},
          {"agent_name", machine.agent_name},
          {"product_name", of({}, "product_name", machine.product_name)},
          {"compute_units", machine.compute_units},
          {"gpu_index", machine.gpu_index},
          {"gpu_count", machine.gpu_count},
          {"runtime_version", machine.runtime_version},
          {"driver_version", of(cuda, "driver_version", machine.driver_version)},
          {"rocm_version", of(hip, "rocm_version", machine.rocm_version)},
          {"address_mode", of(hip, "address_mode", machine.address_mode)}};
}

Json captured_region_json(const MemoryRegion& region) {
  return {{"base", fmt::format("{:#x}", region.base)},
          {"bytes", region.bytes},
          {"origin", capture::to_string(region.origin)},
          {"device", region.on_gpu ? "gpu" : "host"},
          {"agent_index", region.agent_index},
          {"pool_kind", or_null(pool_kind(region.pool_flags))},
          {"symbol", or_null(region.symbol)},
          {"not_captured", or_null(region.not_captured)},
          {"image", counts_of(region.image)},
          {"changed", counts_of(region.writes)},
          {"changed_ranges", region.written.size()}};
}

/// Whether it can be replayed at all: null when nobody looked.
Json replay_json(const std::optional<CaptureCheck>& check) {
  if (!check) return {{"possible", nullptr}, {"problem", nullptr}};
  const std::string problem = replay_problem(*check);
  return {{"possible", problem.empty()}, {"problem", or_null(problem)}};
}

Json replay_here_json(const std::optional<ReplayHere>& here) {
  if (!here) return nullptr;
  return {{"possible", here->problem.empty()},
          {"problem", or_null(here->problem)},
          {"gpus", here->gpus}};
}

}  // namespace

std::string replay_problem(const CaptureCheck& check) {
  if (!check.problem.empty()) return check.problem;
  const auto error =
      std::ranges::find(check.findings, replay::Severity::error, &replay::Finding::severity);
  return error == check.findings.end() ? std::string() : error->sentence;
}

Json findings_json(const std::vector<replay::Finding>& findings) {
  Json out = Json::array();
  for (const replay::Finding& finding : findings)
    out.push_back({{"severity", replay::to_string(finding.severity)},
                   {"rule", finding.rule},
                   {"sentence", finding.sentence},
                   {"remedy", or_null(finding.remedy)}});
  return out;
}

std::string pool_kind(std::uint32_t pool_flags) {
  std::vector<std::string_view> words;
  if ((pool_flags & hsa::pool_coarse_grained) != 0) words.emplace_back("coarse-grained");
  if ((pool_flags & hsa::pool_fine_grained) != 0) words.emplace_back("fine-grained");
  if ((pool_flags & hsa::pool_extended_scope_fine_grained) != 0)
    words.emplace_back("extended-scope fine-grained");
  if ((pool_flags & hsa::pool_kernarg) != 0) words.emplace_back("kernarg");
  return fmt::format("{}", fmt::join(words, ", "));
}

CaptureTotals totals_of(const capture::Capture& capture) {
  CaptureTotals totals;
  totals.file_bytes = capture.code_object().size() + capture.kernarg().size();
  for (const MemoryRegion& region : capture.description().regions) {
    if (region.captured())
      totals.bytes += region.bytes;
    else
      ++totals.not_captured;
    for (const Blob* blob : {&region.image, &region.writes}) {
      totals.zero_pages += blob->zero_pages;
      totals.shared_pages += blob->shared_pages;
      totals.stored_pages += blob->stored_pages;
      totals.file_bytes += blob->file_bytes;
    }
    totals.changed_pages += region.writes.pages;
  }
  return totals;
}

Json capture_document(const CaptureData& data) {
  const capture::Description& description = data.capture->description();
  const CaptureTotals totals = totals_of(*data.capture);
  std::vector<Missing> missing;
  Json document = {{"schema_version", "1.1.0"},
                   {"document", "capture"},
                   {"generator", generator_json()},
                   {"hash", data.capture->hash()}};
  document["kernel"] = captured_kernel_json(*data.capture, missing);
  document["code_object"] = {{"bytes", description.code_object_bytes},
                             {"hash", description.code_object_hash}};
  document["machine"] = captured_machine_json(description.machine, missing);
  document["totals"] = {
      {"regions", description.regions.size()}, {"bytes", totals.bytes},
      {"not_captured", totals.not_captured},   {"zero_pages", totals.zero_pages},
      {"shared_pages", totals.shared_pages},   {"stored_pages", totals.stored_pages},
      {"changed_pages", totals.changed_pages}, {"file_bytes", totals.file_bytes}};
  document["regions"] = Json::array();
  for (const MemoryRegion& region : description.regions)
    document["regions"].push_back(captured_region_json(region));
  document["limits"] = description.limits;
  document["integrity"] = nullptr;
  document["findings"] = nullptr;
  if (data.check) {
    const std::string& problem = data.check->problem;
    document["integrity"] = {{"sound", problem.empty()}, {"problem", or_null(problem)}};
    if (problem.empty()) document["findings"] = findings_json(data.check->findings);
  }
  document["replay"] = replay_json(data.check);
  document["missing"] = missing_json(missing);
  document["environment"] = {{"capture_folder", data.folder},
                             {"replay", replay_here_json(data.here)}};
  return document;
}

}  // namespace perflab::report
