// Builder of profile.json. A field that cannot be given is null, and `missing` says why.
#include "report/analysis/profile_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/units.h"
#include "report/bottleneck/bottleneck_json.h"
#include "report/code/kernel_json.h"
#include "report/kit/document.h"
#include "report/roofline/roofline_document.h"
#include "stats/summary.h"

namespace perflab::report {
namespace {

const analyze::Kernel* selected_kernel(const ProfileData& data) {
  if (data.analyzed == nullptr) return nullptr;
  const analyze::Analysis& analysis = data.analyzed->representative.analysis;
  return &analysis.kernels[analysis.selection->kernel];
}

/// 1-based number of the run that the figures are from.
std::size_t representative_number(const ProfileData& data) {
  for (std::size_t i = 0; i < data.runs.size(); ++i)
    if (data.runs[i].analyzed == data.analyzed->representative_index) return i + 1;
  return 1;
}

Json runtime_json(const ProfileData& data, const analyze::Kernel& kernel) {
  Json out = {{"scope", "all dispatches of the kernel"},
              {"representative_run", representative_number(data)}};
  out.update(durations_json(kernel.durations));
  return out;
}

Json run_json(const ProfileData& data, std::size_t index, std::vector<Missing>& missing) {
  const ProfileRun& run = data.runs[index];
  const auto path = [&](std::string_view field) {
    return fmt::format("stability.runs[{}].{}", index, field);
  };
  Json out = {{"run", index + 1},
              {"kernel_total_ns", nullptr},
              {"dispatches", 0},
              {"all_kernels_total_ns", nullptr},
              {"process_wall_ns", or_null(run.process_wall_ns)},
              {"target", run.outcome}};
  const analyze::RunTime time =
      run.analyzed ? data.analyzed->stability.runs[*run.analyzed] : analyze::RunTime{};
  out["kernel_total_ns"] = or_null(time.kernel_total);
  out["dispatches"] = time.dispatches;
  out["all_kernels_total_ns"] = or_null(time.all_kernels_total);
  const std::string reason =
      data.analyzed == nullptr ? data.no_gpu_reason : "this run left no database that can be used";
  if (!time.all_kernels_total) missing.push_back({path("all_kernels_total_ns"), reason, ""});
  if (!time.kernel_total)
    missing.push_back(
        {path("kernel_total_ns"),
         time.all_kernels_total ? "this run did not dispatch the selected kernel" : reason, ""});
  if (!run.process_wall_ns)
    missing.push_back(
        {path("process_wall_ns"), "a recorded trace does not hold it", "use rocm-perf profile"});
  return out;
}

Json stability_json(const ProfileData& data, std::vector<Missing>& missing) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < data.runs.size(); ++i) runs.push_back(run_json(data, i, missing));
  Json out = {{"cv", nullptr}, {"label", nullptr}, {"runs", runs}};
  if (data.analyzed == nullptr) return out;
  const analyze::RunStability& stability = data.analyzed->stability;
  out["cv"] = or_null(stability.cv);
  if (stability.label) out["label"] = stats::to_string(*stability.label);
  if (!stability.cv) {
    const std::string reason = data.runs.size() < 2 ? "one run has no spread"
                                                    : "fewer than two runs dispatched the kernel";
    for (const auto* field : {"stability.cv", "stability.label"})
      missing.push_back({field, reason, "profile with --runs 5"});
  }
  return out;
}

Json static_features(const analyze::Kernel& kernel) {
  const auto& size = kernel.launch.workgroup;
  const double items = static_cast<double>(size[0]) * size[1] * size[2];
  return {{"vgpr_per_thread", or_null(kernel.resources.vgprs)},
          {"sgpr_per_wave", or_null(kernel.resources.sgprs)},
          {"lds_bytes_per_workgroup", or_null(kernel.resources.lds_bytes)},
          {"scratch_bytes_per_thread", or_null(kernel.resources.scratch_bytes)},
          {"workgroup_size", items},
          {"workgroups", or_null(kernel.workgroups)},
          {"occupancy_resident",
           kernel.occupancy ? Json(kernel.occupancy->hardware().occupancy) : Json(nullptr)}};
}

Json measured_features(const ProfileData& data, const analyze::Kernel& kernel) {
  const analyze::Activity& activity = data.analyzed->representative.analysis.activity;
  const std::int64_t span = activity.last_end - activity.first_start;
  const auto& wall = data.runs[representative_number(data) - 1].process_wall_ns;
  return {{"runtime_ms", to_ms(Nanos{kernel.durations.total})},
          {"dispatches", kernel.durations.count},
          {"median_dispatch_ns", kernel.durations.median},
          {"cv_dispatches", or_null(kernel.durations.cv)},
          {"cv_runs", or_null(data.analyzed->stability.cv)},
          {"share", kernel.share},
          {"gpu_busy_share",
           span > 0 ? Json(static_cast<double>(activity.gpu_busy) / static_cast<double>(span))
                    : Json(nullptr)},
          {"process_wall_ms", wall ? Json(to_ms(Nanos{*wall})) : Json(nullptr)}};
}

/// Features repeat figures of other objects: a null one refers to the entry of the figure it
/// repeats.
void add_feature_reasons(const Json& document, const char* object, std::vector<Missing>& missing) {
  if (!document[object].is_object()) return;
  for (const auto& [key, value] : document[object].items())
    if (value.is_null())
      missing.push_back({fmt::format("{}.{}", object, key),
                         "the figure that it repeats is missing or cannot be formed", ""});
}

/// The summary of the selected kernel's roofline, or null.
Json roofline_json(const analyze::Analysis& analysis, const analyze::Kernel& kernel,
                   std::vector<Missing>& missing) {
  const auto none = [&](Missing why) {
    why.field = "roofline";
    missing.push_back(std::move(why));
    return Json(nullptr);
  };
  if (!analysis.roofline) return none(analysis.roofline_missing);
  for (const analyze::KernelRoofline& roofline : analysis.roofline->kernels)
    if (roofline.kernel == kernel.name && roofline.architecture == kernel.gpu.architecture)
      return roofline_summary(roofline, "roofline", missing);
  return none({.field = {},
               .reason = "no hardware counters were collected for this kernel",
               .remedy = "collect them for it: rocm-perf profile --roofline"});
}

/// The verdict of the selected kernel, or null.
Json selected_verdict_json(const analyze::Analysis& analysis, std::vector<Missing>& missing) {
  const auto& kernels = analysis.bottlenecks.kernels;
  const auto found = std::ranges::find(kernels, std::optional(analysis.selection->kernel),
                                       &analyze::KernelBottleneck::analysis_kernel);
  if (found != kernels.end()) return verdict_json(*found);
  const auto& without = analysis.bottlenecks.without_verdict;
  const auto known = std::ranges::find(without, std::optional(analysis.selection->kernel),
                                       &analyze::WithoutVerdict::analysis_kernel);
  if (known != without.end()) {
    missing.push_back({"bottleneck", known->reason, ""});
    return nullptr;
  }
  missing.push_back({"bottleneck",
                     kernels.empty()
                         ? "no verdicts were looked for"
                         : fmt::format("only the {} kernels with the most time get a verdict",
                                       analyze::kMostBottlenecks),
                     ""});
  return nullptr;
}

/// How many kernels `compare` would compare beside this one.
std::size_t other_kernels(const analyze::Analysis& analysis, const analyze::Kernel& selected) {
  std::set<std::string_view> names;
  for (const analyze::Kernel& kernel : analysis.kernels)
    if (kernel.runtime_helper == analysis.selection->only_runtime_helpers)
      names.insert(kernel.name);
  return names.size() - names.count(selected.name);
}

void fill_from_kernel(const ProfileData& data, const analyze::Kernel& kernel, Json& document,
                      std::vector<Missing>& missing) {
  const analyze::Analysis& analysis = data.analyzed->representative.analysis;
  document["synthetic"] = or_null(trace::synthetic_note(data.analyzed->representative.trace));
  document["kernel"] = {{"name", kernel.name},
                        {"mangled_name", or_null(kernel.mangled_name)},
                        {"dispatches", kernel.durations.count},
                        {"share", kernel.share},
                        {"other_kernels", other_kernels(analysis, kernel)},
                        {"only_runtime_helpers", analysis.selection->only_runtime_helpers}};
  document["gpu"] = gpu_json(kernel.gpu);
  document["runtime_ms"] = to_ms(Nanos{kernel.durations.total});
  document["runtime"] = runtime_json(data, kernel);
  if (!kernel.durations.cv)
    missing.push_back(
        {"runtime.cv",
         kernel.durations.count < 2 ? "a single dispatch has no spread" : "the mean duration is 0",
         ""});
  document["launch"] = launch_json(kernel);
  document["resources"] = resources_json(kernel.resources);
  document["code_object"] = code_json(kernel, missing);
  document["occupancy"] = occupancy_json(kernel.occupancy);
  document["static_features"] = static_features(kernel);
  document["measured_features"] = measured_features(data, kernel);
  document["assumptions"] = kernel.assumptions;
  for (Missing entry : kernel.missing) {
    if (entry.field == "mangled_name") entry.field = "kernel.mangled_name";
    missing.push_back(std::move(entry));
  }
  std::vector<std::string> warnings = data.warnings;
  std::ranges::copy(analysis.warnings, std::back_inserter(warnings));
  if (data.analyzed->stability.label == stats::Stability::unstable)
    warnings.push_back(
        fmt::format("unstable: the kernel's time varies by {:.0f} % over the runs; do not compare "
                    "it with another build",
                    100 * *data.analyzed->stability.cv));
  document["warnings"] = warnings;
}

}  // namespace

ProfileData profile_of_recording(const analyze::AnalyzedRuns& analyzed) {
  ProfileData data;
  data.analyzed = &analyzed;
  for (std::size_t i = 0; i < analyzed.stability.runs.size(); ++i) {
    ProfileRun run;
    run.analyzed = i;
    run.outcome = "recorded";
    data.runs.push_back(run);
  }
  for (const trace::Source& source : analyzed.representative.trace.sources)
    if (data.databases.empty() || data.databases.back() != source.file)
      data.databases.push_back(source.file);
  if (const auto& sources = analyzed.representative.trace.sources; !sources.empty()) {
    data.platform = sources.front().platform;
    data.platform_reason = "the recording says so";
  }
  return data;
}

Json profile_document(const ProfileData& data) {
  std::vector<Missing> missing;
  Json document = {
      {"schema_version", "1.2.0"}, {"document", "profile"}, {"generator", generator_json()}};
  for (const auto* field :
       {"synthetic", "kernel", "gpu", "runtime_ms", "runtime", "launch", "resources", "code_object",
        "occupancy", "roofline", "bottleneck", "static_features", "measured_features"})
    document[field] = nullptr;
  document["assumptions"] = Json::array();
  document["warnings"] = data.warnings;
  document["stability"] = stability_json(data, missing);
  if (const analyze::Kernel* kernel = selected_kernel(data)) {
    fill_from_kernel(data, *kernel, document, missing);
    const analyze::Analysis& analysis = data.analyzed->representative.analysis;
    document["roofline"] = roofline_json(analysis, *kernel, missing);
    document["bottleneck"] = selected_verdict_json(analysis, missing);
  } else {
    for (const auto* field : {"kernel", "gpu", "runtime_ms", "runtime", "stability.cv",
                              "stability.label", "launch", "resources", "occupancy", "roofline",
                              "bottleneck", "static_features", "measured_features"})
      missing.push_back(
          {field, data.no_gpu_reason, "profile with rocprofv3 (without --no-rocprof)"});
  }
  add_feature_reasons(document, "static_features", missing);
  add_feature_reasons(document, "measured_features", missing);
  document["missing"] = missing_json(missing);
  document["environment"] = {{"command", data.command},
                             {"rocprofv3", or_null(data.rocprofv3_version)},
                             {"databases", data.databases}};
  document["environment"]["platform"] = nullptr;
  if (data.platform)
    document["environment"]["platform"] = {{"name", to_string(*data.platform)},
                                           {"why", data.platform_reason}};
  document["environment"]["rank"] = nullptr;
  if (data.rank.rank)
    document["environment"]["rank"] = {{"rank", *data.rank.rank},
                                       {"size", or_null(data.rank.size)},
                                       {"local_rank", or_null(data.rank.local_rank)},
                                       {"from", data.rank.from}};
  return document;
}

}  // namespace perflab::report
