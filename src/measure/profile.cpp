// Collection to analysis, with what went wrong kept beside what was saved.
#include "measure/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text/pattern.h"
#include "hal/counter_catalogue.h"
#include "hal/pass_plan.h"
#include "measure/att_step.h"
#include "measure/pc_sampling_step.h"
#include "trace/read/read_trace.h"

namespace perflab::measure {
namespace {

using Files = std::vector<std::filesystem::path>;

void append_paths(const std::vector<collect::DatabaseFile>& databases, Files& files) {
  for (const collect::DatabaseFile& database : databases) files.push_back(database.path);
}

/// The databases of each run that counts, and which run they are of. A run that did not end well
/// has less of the work in it: it stands in only when no run did.
std::vector<Files> usable_runs(Profile& profile) {
  const bool any_complete = profile.collection.complete_runs() > 0;
  std::vector<Files> groups;
  for (const collect::TargetRun& run : profile.collection.runs) {
    const bool used = !run.databases.empty() && (run.complete() || !any_complete);
    profile.analyzed_index.push_back(used ? std::optional(groups.size()) : std::nullopt);
    if (used) append_paths(run.databases, groups.emplace_back());
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

void analyze_base(const std::vector<Files>& groups, const analyze::AnalyzeOptions& options,
                  Profile& profile) {
  profile.problem = profile.collection.problem;
  if (groups.empty()) return;
  Result<analyze::AnalyzedRuns> analyzed = analyze::analyze_runs(groups, options);
  if (analyzed)
    profile.analyzed = std::move(*analyzed);
  else if (!profile.problem)
    profile.problem = std::move(analyzed).error();
  else
    profile.problem->notes.push_back(analyzed.error().message);
}

/// Names that look like a misspelt counter: of all tables those that most of them propose.
std::vector<std::string> similar_counters(const std::string& counter) {
  constexpr std::size_t kMost = 3;
  std::map<std::string, int> votes;
  for (const hal::CounterTable& table : hal::all_counter_tables())
    for (const std::string& name : table.similar(counter)) ++votes[name];
  std::vector<std::pair<int, std::string>> ranked;
  for (const auto& [name, count] : votes) ranked.emplace_back(-count, name);
  std::ranges::sort(ranked);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kMost, ranked.size()); ++i)
    names.push_back(ranked[i].second);
  return names;
}

/// Refuses (usage) what the recorder of CUDA programs does not do.
Result<void> check_cuda_options(const ProfileOptions& options, std::string_view why) {
  if (options.pc_sampling)
    PERFLAB_TRY_VOID(collect::choose_cuda_pc_sampling(options.pc_sampling->wish));
  if (!options.att) return {};
  return fail(ErrorCode::usage,
              fmt::format("--att: thread traces are of AMD's GPUs, and this program is recorded on "
                          "NVIDIA's ({})",
                          why),
              "leave it out, or add --platform amd");
}

/// Refuses (usage) what cannot be right on any machine, before anything is run.
Result<void> check_options(const collect::CollectPlan& plan, const ProfileOptions& options) {
  if (options.att) {
    if (plan.no_rocprof)
      return fail(ErrorCode::usage, "a thread trace cannot be taken without rocprofv3",
                  "leave out --no-rocprof, or --att");
    if (!options.att->kernel.empty()) PERFLAB_TRY_VOID(Pattern::compile(options.att->kernel));
  }
  if (options.pc_sampling) {
    if (plan.no_rocprof)
      return fail(ErrorCode::usage, "PC samples cannot be taken without rocprofv3",
                  "leave out --no-rocprof, or --pc-sampling");
    if (!options.pc_sampling->kernel.empty())
      PERFLAB_TRY_VOID(Pattern::compile(options.pc_sampling->kernel));
  }
  if (!options.wants_counters()) return {};
  if (plan.no_rocprof)
    return fail(ErrorCode::usage, "counters cannot be collected without rocprofv3",
                "leave out --no-rocprof, or --roofline and --counters");
  for (const std::string& counter : options.counters) {
    const auto knows_it = [&](const hal::CounterTable& table) { return table.knows(counter); };
    if (std::ranges::any_of(hal::all_counter_tables(), knows_it)) continue;
    const std::vector<std::string> similar = similar_counters(counter);
    return fail(ErrorCode::usage,
                fmt::format("--counters: no known architecture has a counter \"{}\"", counter),
                similar.empty() ? "list those of this machine: rocprofv3-avail list --pmc"
                                : fmt::format("did you mean {}?", fmt::join(similar, ", ")));
  }
  return {};
}

/// The steps from an analysed base to one with counters. Every step that cannot be taken leaves
/// the profile whole and says why.
class CounterStep {
 public:
  CounterStep(const collect::CollectPlan& plan, const ProfileOptions& options, Profile& profile)
      : plan_(plan), options_(options), profile_(profile) {}

  /// `base`: the representative run's databases.
  void run(const Files& base, analyze::AnalyzeOptions analyze_options) {
    const std::optional<hal::PassPlan> passes = planned();
    if (!passes) return;
    for (const std::string& warning : passes->warnings) warn(warning);
    Result<collect::CounterCollection> collected =
        collect::collect_counters(plan_, profile_.collection, passes->passes);
    if (!collected) {
      set_missing("counters could not be collected: " + collected.error().message,
                  collected.error().remedy);
      profile_.problem = std::move(collected).error();
      return;
    }
    profile_.counters = std::move(*collected);
    profile_.problem = profile_.counters->problem;
    warn_about_passes();
    if (analyze_with(base, std::move(analyze_options))) check_counters();
  }

 private:
  void warn(std::string text) { profile_.warnings.push_back(std::move(text)); }

  [[nodiscard]] analyze::Analysis& analysis() const {
    return profile_.analyzed->representative.analysis;
  }

  void set_missing(std::string reason, std::string remedy) {
    analysis().roofline_missing = {
        .field = "roofline", .reason = std::move(reason), .remedy = std::move(remedy)};
  }

  /// Passes for the GPU of the selected kernel; nullopt, with the reason said, when there are none.
  std::optional<hal::PassPlan> planned() {
    const std::string& architecture =
        analysis().kernels[analysis().selection->kernel].gpu.architecture;
    const hal::CounterTable* table = hal::find_counter_table(architecture);
    if (table == nullptr) {
      const std::string reason =
          architecture.empty()
              ? std::string(
                    "the recording does not name the GPU's architecture: no counters "
                    "could be chosen")
              : fmt::format("no counters are known for {}", architecture);
      warn(reason + "; none were collected");
      set_missing(reason, "");
      return std::nullopt;
    }
    warn_about_other_gpus(architecture);
    Result<hal::PassPlan> plan = hal::plan_passes(*table, options_.roofline, options_.counters);
    if (plan && !plan->passes.empty()) return *std::move(plan);
    if (plan) {
      set_missing(fmt::format("no counters are planned for {}", architecture), "");
    } else {
      set_missing("no counters were collected: " + plan.error().message, plan.error().remedy);
      profile_.problem = std::move(plan).error();
    }
    return std::nullopt;
  }

  void warn_about_other_gpus(const std::string& chosen) {
    std::set<std::string> others;
    for (const analyze::Kernel& kernel : analysis().kernels)
      if (kernel.gpu.architecture != chosen)
        others.insert(kernel.gpu.architecture.empty() ? "an unknown GPU" : kernel.gpu.architecture);
    if (!others.empty())
      warn(
          fmt::format("counters are those of {}, on which the selected kernel ran; kernels on {} "
                      "may lack some",
                      chosen, fmt::join(others, ", ")));
  }

  void warn_about_passes() {
    const collect::CounterCollection& counters = *profile_.counters;
    for (const std::string& note : counters.notes) warn(note);
    for (const std::string& refusal : counters.refusals) warn("rocprofv3: " + refusal);
    const std::size_t with = counters.passes_with_databases();
    if (counters.problem)
      warn(fmt::format("partial: {} of {} counter passes left databases", with,
                       counters.passes.size()));
    for (const collect::CounterPass& pass : counters.passes) {
      for (const std::string& rejected : pass.rejected)
        warn(fmt::format("pass {}: {}", pass.number, rejected));
      if (pass.databases.empty())
        warn(fmt::format("pass {}: there is no database, so that {} are missing", pass.number,
                         fmt::join(pass.counters, ", ")));
    }
  }

  /// Reads the representative run once more, with the passes. A pass that cannot be read is left
  /// out: the others are not thrown away for it. False, with the reason said, when none is left.
  bool analyze_with(const Files& base, analyze::AnalyzeOptions options) {
    options.counter_files = all_files();
    if (options.counter_files.empty()) {
      set_missing("no counter pass left a database", "");
      return false;
    }
    Result<analyze::AnalyzedTrace> analyzed = analyze::analyze_files(base, options);
    if (!analyzed) {
      options.counter_files = readable_files();
      if (!options.counter_files.empty()) analyzed = analyze::analyze_files(base, options);
    }
    if (analyzed) {
      profile_.analyzed->representative = std::move(*analyzed);
      say_why_not_counted();
      return true;
    }
    set_missing("the counter passes cannot be used: " + analyzed.error().message,
                analyzed.error().remedy);
    if (!profile_.problem) profile_.problem = std::move(analyzed).error();
    return false;
  }

  /// What processes said that could not count, once each.
  void say_why_not_counted() {
    std::set<std::string> said;
    for (const trace::Source& source : profile_.analyzed->representative.trace.sources) {
      if (source.counter_problem.empty() || !said.insert(source.counter_problem).second) continue;
      warn("counters: " + source.counter_problem);
      if (profile_.problem) continue;
      profile_.problem =
          Error{.code = ErrorCode::missing_tool,
                .message = "counters could not be collected: " + source.counter_problem,
                .notes = {},
                .remedy = source.counter_remedy};
    }
  }

  [[nodiscard]] Files all_files() const {
    Files files;
    for (const collect::CounterPass& pass : profile_.counters->passes)
      append_paths(pass.databases, files);
    return files;
  }

  [[nodiscard]] Files readable_files() {
    Files readable;
    for (const collect::CounterPass& pass : profile_.counters->passes) {
      Files files;
      append_paths(pass.databases, files);
      if (files.empty()) continue;
      const Result<trace::Trace> trace = trace::read(files, {.threads = options_.threads});
      if (trace) {
        std::ranges::copy(files, std::back_inserter(readable));
        continue;
      }
      unreadable_.insert(pass.number);
      warn(fmt::format("pass {} cannot be used: {}", pass.number, trace.error().message));
    }
    return readable;
  }

  /// Every counter that was asked for is in its pass's databases, or is named here.
  void check_counters() {
    for (const collect::CounterPass& pass : profile_.counters->passes) {
      if (pass.databases.empty() || unreadable_.contains(pass.number)) continue;
      const std::set<std::string> counted = counted_in(pass.number);
      if (counted.empty()) {
        warn(fmt::format("pass {}: nothing of what was asked for is in its database: {}",
                         pass.number, fmt::join(pass.counters, ", ")));
        continue;
      }
      std::vector<std::string_view> absent;
      for (const std::string& counter : pass.counters)
        if (!counted.contains(counter)) absent.push_back(counter);
      if (!absent.empty())
        warn(fmt::format("pass {}: {} {} asked for but {} not in its database", pass.number,
                         fmt::join(absent, ", "), absent.size() == 1 ? "was" : "were",
                         absent.size() == 1 ? "is" : "are"));
    }
  }

  [[nodiscard]] std::set<std::string> counted_in(int number) const {
    std::set<std::string> names;
    if (!analysis().roofline) return names;
    for (const analyze::PassInfo& info : analysis().roofline->passes)
      if (info.numbered_by_folder && info.number == number)
        names.insert(info.counters.begin(), info.counters.end());
    return names;
  }

  const collect::CollectPlan& plan_;
  const ProfileOptions& options_;
  Profile& profile_;
  std::set<int> unreadable_;  // passes whose databases are damaged
};

void explain_no_counters(Profile& profile) {
  constexpr const char* kReason = "counters were not collected: the runs did not end well";
  profile.warnings.emplace_back(kReason);
  if (profile.analyzed)
    profile.analyzed->representative.analysis.roofline_missing = {
        .field = "roofline", .reason = kReason, .remedy = ""};
}

void explain_no_thread_trace(Profile& profile, std::string_view why) {
  const std::string reason = fmt::format("none was taken: {}", why);
  profile.warnings.push_back("thread trace: " + reason);
  if (profile.analyzed)
    profile.analyzed->representative.analysis.thread_traces_missing = {
        .field = "thread_traces", .reason = reason, .remedy = ""};
}

void explain_no_pc_samples(Profile& profile, std::string_view why) {
  const std::string reason = fmt::format("none were taken: {}", why);
  profile.warnings.push_back("PC sampling: " + reason);
  if (profile.analyzed)
    profile.analyzed->representative.analysis.pc_sampling_missing = {
        .field = "pc_sampling", .reason = reason, .remedy = ""};
}

bool was_stopped(const Profile& profile) {
  return profile.problem && profile.problem->code == ErrorCode::interrupted;
}

/// Counters first, then PC samples, then the thread trace, from what costs least: each needs runs
/// that ended well, and none the others.
void collect_further(const collect::CollectPlan& plan, const ProfileOptions& options,
                     const std::vector<Files>& groups, analyze::AnalyzeOptions analyze_options,
                     Profile& profile) {
  if (profile.problem || !profile.analyzed) {
    if (options.wants_counters()) explain_no_counters(profile);
    if (options.pc_sampling) explain_no_pc_samples(profile, "the runs did not end well");
    if (options.att) explain_no_thread_trace(profile, "the runs did not end well");
    return;
  }
  if (options.wants_counters())
    CounterStep(plan, options, profile)
        .run(groups[profile.analyzed->representative_index], std::move(analyze_options));
  if (options.pc_sampling) {
    if (was_stopped(profile))
      explain_no_pc_samples(profile, "the counter passes were stopped");
    else
      take_pc_samples(plan, options, profile);
  }
  if (!options.att) return;
  if (was_stopped(profile))
    explain_no_thread_trace(profile, "the counter passes were stopped");
  else
    take_thread_trace(plan, options, profile);
}

}  // namespace

Result<Profile> profile(const collect::CollectPlan& wanted, const ProfileOptions& options) {
  collect::CollectPlan plan = wanted;
  Profile profile;
  profile.platform = collect::find_platform(plan.target, options.platform);
  plan.platform = profile.platform.platform;
  if (plan.platform == trace::Platform::cuda && !plan.no_rocprof)
    PERFLAB_TRY_VOID(check_cuda_options(options, profile.platform.why));
  PERFLAB_TRY_VOID(check_options(plan, options));
  analyze::AnalyzeOptions analyze_options{.threads = options.threads};
  analyze_options.timeline = options.timeline;
  analyze_options.critical_path.keep_nodes_up_to = options.keep_nodes_up_to;
  if (plan.progress != nullptr)
    analyze_options.progress = [line = plan.progress](std::string_view what, double done) {
      line->update(what, done);
    };
  if (options.roofs) {
    PERFLAB_TRY(analyze_options.roofs,
                hal::read_measured_roofs(*options.roofs, options.roofs_device));
  } else {
    analyze_options.roofs_device = options.roofs_device;
  }
  PERFLAB_TRY(profile.collection, collect::collect(plan));
  const std::vector<Files> groups = usable_runs(profile);
  analyze_base(groups, analyze_options, profile);
  warn_about_collection(profile);
  collect_further(plan, options, groups, std::move(analyze_options), profile);
  return profile;
}

}  // namespace perflab::measure
