// The order of the step, and a sentence for everything that keeps it from its figures.
#include "measure/att_step.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "collect/decoder.h"
#include "measure/att_choice.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;

constexpr int kFirstGfxWithWgps = 10;
constexpr int kWgpMask = 0x7f;  // bit 7: docs/facts/thread_trace.md "Occupancy and events"

/// Ids of the kernel in this trace; empty: its name does not occur.
std::set<std::int64_t> ids_of(const att::ThreadTrace& trace, const std::string& mangled_name) {
  std::set<std::int64_t> ids;
  for (const auto& [id, name] : trace.kernels)
    if (!mangled_name.empty() && (name == mangled_name || name == mangled_name + ".kd"))
      ids.insert(id);
  return ids;
}

void count_waves(const att::ThreadTrace& trace, const std::string& mangled_name,
                 std::map<int, std::uint64_t>& waves_on_cu) {
  const std::set<std::int64_t> ids = ids_of(trace, mangled_name);
  const bool wgps = trace.gfxip.value_or(0) >= kFirstGfxWithWgps;
  for (const att::ShaderEngine& engine : trace.engines)
    for (const att::OccupancyRow& row : engine.occupancy)
      if (row.start && (ids.empty() || ids.contains(row.kernel)))
        ++waves_on_cu[wgps ? row.cu & kWgpMask : row.cu];
}

class AttStep {
 public:
  AttStep(const collect::CollectPlan& plan, const ProfileOptions& options, Profile& profile)
      : plan_(plan), options_(*options.att), threads_(options.threads), profile_(profile) {}

  void run() {
    if (!prepare() || !take(options_.target_cu)) return;
    std::optional<AttContents> contents = look();
    if (contents && !contents->has_instructions && !last().problem) contents = retry(*contents);
    if (!contents) return;
    Result<void> added =
        analyze::add_thread_traces({last().folder}, losses_, threads_, options_.keep_detail,
                                   profile_.analyzed->representative);
    if (added)
      look_at_kernels();
    else
      give_up("it cannot be used", std::move(added).error());
  }

 private:
  /// The pattern and the ordinal are rocprofv3's to apply: what it traced must be what was chosen.
  void look_at_kernels() {
    const analyze::Analysis& analysis = profile_.analyzed->representative.analysis;
    std::set<std::string> others;
    for (const analyze::KernelThreadTrace& traced : analysis.thread_traces->kernels) {
      if (traced.sums.hits == 0) continue;
      const std::string& name =
          traced.analysis_kernel ? analysis.kernels[*traced.analysis_kernel].name : traced.kernel;
      if (name == profile_.thread_trace->choice.kernel) return;
      others.insert(name);
    }
    if (!others.empty())
      warn(fmt::format("it has no instruction of {}; what was recorded is of {}",
                       profile_.thread_trace->choice.kernel, fmt::join(others, ", ")));
  }

  void warn(std::string text) { profile_.warnings.push_back("thread trace: " + std::move(text)); }

  void give_up(std::string_view what, Error error) {
    warn(fmt::format("{}: {}{}{}", what, error.message, error.remedy.empty() ? "" : "; ",
                     error.remedy));
    profile_.analyzed->representative.analysis.thread_traces_missing = {
        .field = "thread_traces",
        .reason = fmt::format("{}: {}", what, error.message),
        .remedy = error.remedy};
    if (!profile_.problem) profile_.problem = std::move(error);
  }

  [[nodiscard]] collect::AttRun& last() { return profile_.thread_trace->runs.back(); }

  /// Chooses, and sees that a trace could be decoded before the target is run for it.
  bool prepare() {
    AttWish wish;
    wish.iteration = options_.iteration;
    if (!options_.kernel.empty()) {
      Result<Pattern> pattern = Pattern::compile(options_.kernel);
      PERFLAB_CHECK(pattern.has_value());  // checked before anything was run
      wish.kernel = *std::move(pattern);
    }
    Result<AttChoice> choice = choose_dispatch(profile_.analyzed->representative, wish, threads_);
    if (!choice) {
      give_up("none was taken", std::move(choice).error());
      return false;
    }
    Result<fs::path> decoder = collect::find_decoder(*profile_.collection.rocprofv3);
    if (!decoder) {
      give_up("none was taken", std::move(decoder).error());
      return false;
    }
    decoder_ = *std::move(decoder);
    for (const std::string& note : choice->notes) warn(note);
    profile_.thread_trace = {.choice = *std::move(choice), .runs = {}};
    return true;
  }

  /// One start of the target. False when nothing was run.
  bool take(int target_cu) {
    const AttChoice& choice = profile_.thread_trace->choice;
    Result<collect::AttRun> run =
        collect::collect_thread_trace(plan_, profile_.collection,
                                      {.kernel = choice.kernel,
                                       .iteration = choice.iteration,
                                       .target_cu = target_cu,
                                       .shader_engines = options_.shader_engines,
                                       .buffer_bytes = options_.buffer_bytes,
                                       .decoder = decoder_});
    if (!run) {
      give_up("none was taken", std::move(run).error());
      return false;
    }
    for (const std::string& note : run->notes) warn(note);
    losses_ = run->losses;
    if (run->problem) losses_.push_back(run->problem->message);
    for (const std::string& loss : run->losses)
      warn(fmt::format("not all of it was recorded (CU {}): {}", target_cu, loss));
    profile_.thread_trace->runs.push_back(*std::move(run));
    return true;
  }

  /// What the last run left; nothing, with the reason said, when it cannot be used.
  std::optional<AttContents> look() {
    const collect::AttRun& run = last();
    const AttChoice& choice = profile_.thread_trace->choice;
    Result<AttContents> contents = look_into_att(run.folder, choice.mangled_name);
    if (run.problem) {
      give_up(contents ? "partial" : "there is none", *run.problem);
      return contents ? std::optional(*std::move(contents)) : std::nullopt;
    }
    if (contents) return *std::move(contents);
    Error error = std::move(contents).error().with_note(
        fmt::format("{}: the run under the thread trace ended well", plan_.target.front()));
    error.notes.push_back(
        fmt::format("rocprofv3 was to trace dispatch {} of {}: a run that dispatches it less often "
                    "leaves nothing",
                    choice.iteration, choice.kernel));
    give_up("there is none", std::move(error));
    return std::nullopt;
  }

  /// A kernel with few work-groups may not have used the CU. Another one is tried once: where its
  /// waves were seen.
  std::optional<AttContents> retry(const AttContents& empty) {
    const int tried = last().request.target_cu;
    const int next = other_cu(empty.waves_on_cu, tried);
    const auto seen = empty.waves_on_cu.find(next);
    const std::string where =
        seen == empty.waves_on_cu.end()
            ? std::string("none of its waves was seen on another CU of the traced shader engines")
            : fmt::format("{} of its waves were seen there", seen->second);
    warn(fmt::format("on CU {} no instruction was recorded; it was taken again on CU {} ({})",
                     tried, next, where));
    if (!take(next)) return empty;
    std::optional<AttContents> contents = look();
    if (contents && !contents->has_instructions && !last().problem)
      warn(
          fmt::format("on CU {} no instruction was recorded either: occupancy is all there is; "
                      "trace other CUs or more shader engines: --att-target-cu, "
                      "--att-shader-engines 0xf",
                      next));
    return contents;
  }

  const collect::CollectPlan& plan_;
  const AttOptions& options_;
  unsigned threads_;
  Profile& profile_;
  fs::path decoder_;
  std::vector<std::string> losses_;  ///< of the last run
};

}  // namespace

Result<AttContents> look_into_att(const fs::path& folder, const std::string& mangled_name) {
  AttContents contents;
  PERFLAB_TRY(contents.traces, att::find(folder));
  for (const att::Found& found : contents.traces) {
    PERFLAB_TRY(const att::ThreadTrace trace, att::read(found));
    contents.has_instructions =
        contents.has_instructions ||
        std::ranges::any_of(trace.code, [](const att::CodeRow& row) { return row.hits > 0; });
    count_waves(trace, mangled_name, contents.waves_on_cu);
  }
  return contents;
}

int other_cu(const std::map<int, std::uint64_t>& waves_on_cu, int tried) {
  int best = tried + 1;
  std::uint64_t most = 0;
  for (const auto& [cu, waves] : waves_on_cu) {
    if (cu == tried || waves <= most) continue;
    best = cu;
    most = waves;
  }
  return best;
}

void take_thread_trace(const collect::CollectPlan& plan, const ProfileOptions& options,
                       Profile& profile) {
  PERFLAB_CHECK(options.att && profile.analyzed && profile.collection.rocprofv3);
  AttStep(plan, options, profile).run();
}

}  // namespace perflab::measure
