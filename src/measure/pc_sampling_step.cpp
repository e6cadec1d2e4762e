// The order of the step, and a sentence for everything that keeps it from its figures.
#include "measure/pc_sampling_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "analyze/kernels/kernel_table.h"
#include "base/text/pattern.h"
#include "collect/pc_sampling_pass.h"
#include "pc_sampling/support.h"

namespace perflab::measure {
namespace {

namespace fs = std::filesystem;

/// Files of the run's CSV, for a JSON that was cut off.
std::vector<fs::path> tables_of(const fs::path& folder) {
  std::vector<fs::path> tables;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error))
    if (entry.path().extension() == ".csv" &&
        entry.path().filename().string().find("_pc_sampling_") != std::string::npos)
      tables.push_back(entry.path());
  std::ranges::sort(tables);
  return tables;
}

class PcSamplingStep {
 public:
  PcSamplingStep(const collect::CollectPlan& plan, const ProfileOptions& options, Profile& profile)
      : plan_(plan), options_(options), profile_(profile) {}

  void run() {
    const bool cuda = profile_.collection.platform == trace::Platform::cuda;
    if (!choose_kernel()) return;
    const std::optional<collect::PcSamplingChoice> choice =
        cuda ? given(collect::choose_cuda_pc_sampling(options_.pc_sampling->wish)) : choose();
    if (!choice) return;
    collect::PcSamplingRequest request{
        .choice = *choice,
        .architecture = architecture(),
        .limit = collect::pc_sampling_limit(plain_wall(), plan_.timeout)};
    if (const auto& tool = profile_.collection.rocprofv3)
      for (const std::string& fault :
           collect::known_pc_sampling_faults(collect::PcSamplingSymptom::always,
                                             request.architecture, choice->method, tool->version))
        warn("known: " + fault);
    Result<collect::PcSamplingRun> taken =
        collect::collect_pc_samples(plan_, profile_.collection, request);
    if (!taken) return give_up("none were taken", std::move(taken).error());
    profile_.pc_sampling = *std::move(taken);
    const collect::PcSamplingRun& made = *profile_.pc_sampling;
    for (const std::string& note : made.notes) warn(note);
    if (made.files.empty()) {
      PERFLAB_CHECK(made.problem.has_value());
      return give_up("there are none", *made.problem);
    }
    analyze_samples(made);
  }

 private:
  void warn(std::string text) { profile_.warnings.push_back("PC sampling: " + std::move(text)); }

  [[nodiscard]] analyze::Analysis& analysis() const {
    return profile_.analyzed->representative.analysis;
  }

  [[nodiscard]] const std::string& architecture() const {
    return analysis().kernels[kernel_.value_or(analysis().selection->kernel)].gpu.architecture;
  }

  /// False, with the reason said: there is none of that name.
  bool choose_kernel() {
    const PcSamplingOptions& wanted = *options_.pc_sampling;
    if (wanted.all_kernels) return true;
    std::optional<Pattern> pattern;
    if (!wanted.kernel.empty()) {
      Result<Pattern> compiled = Pattern::compile(wanted.kernel);
      PERFLAB_CHECK(compiled.has_value());  // checked before anything was run
      pattern = *std::move(compiled);
    }
    kernel_ = analyze::kernel_with_most_time(analysis().kernels, pattern ? &*pattern : nullptr);
    if (kernel_) return true;
    give_up("none were taken",
            {.code = ErrorCode::usage,
             .message = fmt::format("--pc-sampling-kernel: no kernel of the run matches \"{}\"",
                                    wanted.kernel),
             .notes = {},
             .remedy = "rocm-perf analyze lists the kernels of a run"});
    return false;
  }

  /// Of the longest run that ended well.
  [[nodiscard]] Nanos plain_wall() const {
    Nanos wall{0};
    for (const collect::TargetRun& run : profile_.collection.runs)
      if (run.complete()) wall = std::max(wall, run.process.wall_time);
    return wall;
  }

  void give_up(std::string_view what, Error error) {
    warn(fmt::format("{}: {}{}{}", what, error.message, error.remedy.empty() ? "" : "; ",
                     error.remedy));
    for (const std::string& note : error.notes) warn(note);
    analysis().pc_sampling_missing = {.field = "pc_sampling",
                                      .reason = fmt::format("{}: {}", what, error.message),
                                      .remedy = error.remedy};
    if (!profile_.problem) profile_.problem = std::move(error);
  }

  /// Asks before the target is run. A profiler that gives no answer is tried by the table of
  /// architectures, with a warning.
  std::optional<collect::PcSamplingChoice> choose() {
    Result<std::vector<collect::PcSamplingOffer>> offers =
        collect::ask_for_pc_sampling(*profile_.collection.rocprofv3);
    if (!offers && offers.error().code == ErrorCode::interrupted) {
      give_up("none were taken", std::move(offers).error());
      return std::nullopt;
    }
    if (!offers) {
      warn(fmt::format("{}: what the tables say of {} is tried", offers.error().message,
                       architecture()));
      offers = offers_of_tables();
    }
    return given(collect::choose_pc_sampling(*offers, architecture(), options_.pc_sampling->wish));
  }

  /// The choice, when there is one; else the step is given up.
  std::optional<collect::PcSamplingChoice> given(Result<collect::PcSamplingChoice> choice) {
    if (!choice) {
      give_up("none were taken", std::move(choice).error());
      return std::nullopt;
    }
    for (const std::string& note : choice->notes) warn(note);
    return *std::move(choice);
  }

  [[nodiscard]] std::vector<collect::PcSamplingOffer> offers_of_tables() const {
    const pc_sampling::Support support = pc_sampling::support_of(architecture());
    std::vector<collect::PcSamplingOffer> offers;
    if (support.host_trap)
      offers.push_back({.gpu = architecture(), .method = pc_sampling::Method::host_trap});
    if (support.stochastic)
      offers.push_back(
          {.gpu = architecture(), .method = pc_sampling::Method::stochastic, .power_of_two = true});
    return offers;
  }

  void analyze_samples(const collect::PcSamplingRun& made) {
    const std::uint64_t interval = made.request.choice.interval;
    analyze::PcSamplesRequest request{
        .places = made.files,
        .interval = interval == 0 ? std::nullopt : std::optional(interval),
        .code_files = {},
        .search_code = true,
        .only_kernel = kernel_,
        .progress = {}};
    Result<void> added = analyze::add_pc_samples(request, profile_.analyzed->representative);
    if (!added && made.problem) {
      // What a stopped profiler left of its JSON is no JSON; its tables can be whole.
      request.places = tables_of(made.folder);
      if (!request.places.empty())
        added = analyze::add_pc_samples(request, profile_.analyzed->representative);
    }
    if (!added) return give_up("they cannot be used", made.problem ? *made.problem : added.error());
    if (made.problem) {
      warn("not all of them were taken: " + made.problem->message);
      for (const std::string& note : made.problem->notes) warn(note);
      if (!profile_.problem) profile_.problem = made.problem;
    }
    if (kernel_ && analysis().pc_sampling->kernels.empty()) say_whose_they_are();
  }

  /// None is of the kernel that they were taken for.
  void say_whose_they_are() {
    Error error{.code = ErrorCode::missing_tool,
                .message = fmt::format("{}: PC sampling left no sample of {}", plan_.target.front(),
                                       analysis().kernels[*kernel_].name),
                .notes = {},
                .remedy =
                    "let it run longer, or sample more often: --pc-sampling-interval; "
                    "--pc-sampling-all-kernels takes what there is"};
    for (const analyze::PcSampleSet& set : analysis().pc_sampling->sets)
      for (const analyze::PcOtherKernel& other : set.others)
        error.notes.push_back(fmt::format("{} samples are of {}", other.samples, other.name));
    warn(error.message);
    for (const std::string& note : error.notes) warn(note);
    if (!profile_.problem) profile_.problem = std::move(error);
  }

  const collect::CollectPlan& plan_;
  const ProfileOptions& options_;
  Profile& profile_;
  std::optional<std::size_t> kernel_;  ///< whose samples are wanted; none: all kernels'
};

}  // namespace

void take_pc_samples(const collect::CollectPlan& plan, const ProfileOptions& options,
                     Profile& profile) {
  PERFLAB_CHECK(options.pc_sampling && profile.analyzed && profile.collection.traced);
  PcSamplingStep(plan, options, profile).run();
}

}  // namespace perflab::measure
