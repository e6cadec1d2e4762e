// Databases of counter passes count as the profile's own: they are what the roofline is from.
#include "report/analysis/profiled_command.h"

#include <algorithm>
#include <iterator>

#include "report/kit/process_outcome.h"

namespace perflab::report {

ProfileData profile_of_command(const measure::Profile& profile,
                               const std::vector<std::string>& command) {
  const auto& collection = profile.collection;
  ProfileData data;
  data.analyzed = profile.analyzed ? &*profile.analyzed : nullptr;
  data.warnings = profile.warnings;
  data.command = command;
  if (collection.rocprofv3) data.rocprofv3_version = collection.rocprofv3->version;
  if (collection.traced) {
    data.platform = collection.platform;
    data.platform_reason = profile.platform.why;
  }
  data.no_gpu_reason = collection.traced ? "no run left a database that can be used"
                                         : "the process ran without a profiler (--no-rocprof)";
  for (std::size_t i = 0; i < collection.runs.size(); ++i) {
    const collect::TargetRun& run = collection.runs[i];
    data.runs.push_back({.process_wall_ns = run.process.wall_time.value,
                         .outcome = outcome_of(run.process),
                         .analyzed = profile.analyzed_index[i]});
    for (const collect::DatabaseFile& database : run.databases)
      data.databases.push_back(database.path.string());
  }
  if (!profile.counters) return data;
  for (const collect::CounterPass& pass : profile.counters->passes)
    for (const collect::DatabaseFile& database : pass.databases)
      data.databases.push_back(database.path.string());
  return data;
}

std::vector<NamedDocument> profile_documents(const ProfileData& data,
                                             const RecordingRequest& request) {
  std::vector<NamedDocument> documents = {{"profile", profile_document(data)}};
  if (data.analyzed != nullptr)
    std::ranges::move(trace_documents(data.analyzed->representative, request),
                      std::back_inserter(documents));
  return documents;
}

}  // namespace perflab::report
