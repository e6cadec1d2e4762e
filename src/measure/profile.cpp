// Collection to analysis, with what went wrong kept beside what was saved.
#include "measure/profile.h"

#include <fmt/format.h>

namespace perflab::measure {
namespace {

/// The databases of each run that counts, and which run they are of. A run that did not end well
/// has less of the work in it: it stands in only when no run did.
std::vector<std::vector<std::filesystem::path>> usable_runs(Profile& profile) {
  const bool any_complete = profile.collection.complete_runs() > 0;
  std::vector<std::vector<std::filesystem::path>> groups;
  for (const collect::TargetRun& run : profile.collection.runs) {
    const bool used = !run.databases.empty() && (run.complete() || !any_complete);
    profile.analyzed_index.push_back(used ? std::optional(groups.size()) : std::nullopt);
    if (!used) continue;
    auto& files = groups.emplace_back();
    for (const collect::DatabaseFile& database : run.databases) files.push_back(database.path);
  }
  return groups;
}

void warn_about_collection(Profile& profile) {
  const collect::Collection& collection = profile.collection;
  profile.warnings = collection.notes;
  if (collection.complete_runs() < collection.runs_wanted)
    profile.warnings.push_back(fmt::format("partial: {} of {} runs are complete",
                                           collection.complete_runs(), collection.runs_wanted));
  for (const collect::TargetRun& run : collection.runs)
    for (const std::string& rejected : run.rejected)
      profile.warnings.push_back(fmt::format("run {}: {}", run.number, rejected));
  if (!profile.analyzed) return;
  for (std::size_t i = 0; i < collection.runs.size(); ++i)
    if (const auto& index = profile.analyzed_index[i]; index && profile.analyzed->failed[*index])
      profile.warnings.push_back(fmt::format("run {} cannot be used: {}", i + 1,
                                             profile.analyzed->failed[*index]->message));
}

}  // namespace

Result<Profile> profile(const collect::CollectPlan& plan, unsigned threads) {
  Profile profile;
  PERFLAB_TRY(profile.collection, collect::collect(plan));
  profile.problem = profile.collection.problem;
  const auto groups = usable_runs(profile);
  if (!groups.empty()) {
    Result<analyze::AnalyzedRuns> analyzed = analyze::analyze_runs(groups, {.threads = threads});
    if (analyzed)
      profile.analyzed = std::move(*analyzed);
    else if (!profile.problem)
      profile.problem = std::move(analyzed).error();
    else
      profile.problem->notes.push_back(analyzed.error().message);
  }
  warn_about_collection(profile);
  return profile;
}

}  // namespace perflab::measure
