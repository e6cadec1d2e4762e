// rocm-perf profile: runs a program under rocprofv3 and reports its hottest kernel.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/system/interrupt.h"
#include "base/text/command_line.h"
#include "base/text/duration.h"
#include "base/text/numbers.h"
#include "base/text/progress.h"
#include "base/text/text.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "cli/recordings/profile_ranks.h"
#include "cli/recordings/recording_sections.h"
#include "measure/profile.h"
#include "report/analysis/analysis_document.h"
#include "report/analysis/profile_document.h"
#include "report/analysis/profile_text.h"
#include "report/analysis/profiled_command.h"
#include "report/analysis/recording_documents.h"
#include "report/kit/document.h"
#include "report/kit/style.h"
#include "report/kit/text_table.h"

namespace perflab::cli {
namespace {

struct ProfileArguments {
  std::vector<std::string> words;
  int runs = 1;
  std::string timeout, platform, ranks;
  bool no_rocprof = false, att = false, pc_sampling = false;
  RoofsArguments roofs;
  Outputs outputs{.folder = ".", .html = {}, .whole_recording = true};
  measure::AttOptions att_options;
  std::string pc_method;
  measure::PcSamplingOptions pc_options;
  measure::ProfileOptions options;
};

/// The target: the words behind "--", or one string, or words.
Result<std::vector<std::string>> target_of(const ProfileArguments& arguments,
                                           const std::vector<std::string>& behind_dashes) {
  std::vector<std::string> words = arguments.words;
  words.insert(words.end(), behind_dashes.begin(), behind_dashes.end());
  if (words.size() == 1 && behind_dashes.empty()) return split_command_line(words.front());
  if (words.empty())
    return fail(ErrorCode::usage, "profile needs a program to run",
                "rocm-perf profile -- ./app args");
  return words;
}

/// What was traced, and where it lies.
void say_what_was_traced(const measure::ThreadTracePass& pass) {
  if (pass.runs.empty()) return;
  const measure::AttChoice& choice = pass.choice;
  fmt::print(stderr, "\nthread trace of dispatch {} of {} of {}{}, CU {}: {}\n", choice.iteration,
             choice.of, printable(choice.kernel),
             choice.on_critical_path ? " (on the critical path)" : "",
             pass.runs.back().request.target_cu, pass.runs.back().folder.string());
}

/// Whose samples they are, and where they lie.
void say_what_was_sampled(const collect::PcSamplingRun& run, const analyze::PcSampling& samples) {
  for (const analyze::PcSampleSet& set : samples.sets) {
    const std::string whose = samples.kernels.size() == 1
                                  ? printable(samples.kernels.front().kernel)
                                  : fmt::format("{} kernels", samples.kernels.size());
    fmt::print(stderr, "\nPC samples of {}: {} of {}; all are in {}\n", whose, set.in_kernels,
               set.samples, run.folder.string());
  }
}

/// What --details prints: of a process that was only timed, that.
std::vector<Section> sections_of(const measure::Profile& profile, const report::ProfileData& data) {
  if (profile.analyzed)
    return recording_sections(profile.analyzed->representative, data, "roofline.json");
  return {{"profile", [data] { return report::profile_text(data, terminal_style()); }}};
}

Result<void> show(const ProfileArguments& arguments, const measure::Profile& profile,
                  const std::vector<std::string>& target, const trace::RankFacts& rank) {
  report::ProfileData data = report::profile_of_command(profile, target);
  data.rank = rank;
  std::vector<Document> documents = report::profile_documents(
      data, {.roofs = arguments.roofs.file, .nodes = static_cast<bool>(arguments.outputs.html)});
  PERFLAB_TRY_VOID(
      present_answer(arguments.outputs, std::move(documents), sections_of(profile, data)));
  const bool talks = !arguments.outputs.json && !arguments.outputs.quiet;
  if (talks && profile.collection.platform == trace::Platform::cuda)
    fmt::print(stderr, "\nrecorded on CUDA: {}\n", profile.platform.why);
  if (talks && profile.thread_trace && profile.analyzed &&
      profile.analyzed->representative.analysis.thread_traces)
    say_what_was_traced(*profile.thread_trace);
  if (talks && profile.pc_sampling && profile.analyzed)
    if (const auto& samples = profile.analyzed->representative.analysis.pc_sampling)
      say_what_was_sampled(*profile.pc_sampling, *samples);
  return {};
}

/// Makes the arguments those of one rank: places of its own, and silence of all but one. Error
/// (usage): what would start the program again, which its launcher did not.
Result<void> fit_to_rank(const RankPart& part, ProfileArguments& arguments,
                         collect::CollectPlan& plan) {
  if (arguments.runs > 1 || arguments.options.wants_counters() || arguments.att ||
      arguments.pc_sampling)
    return fail(
        ErrorCode::usage,
        "a rank of a job runs once: its launcher started it once, and the others wait for it",
        "leave out --runs, --roofline, --counters, --pc-sampling and --att; or record the "
        "launcher: "
        "rocm-perf profile -- mpirun -n 2 ./app");
  const std::filesystem::path folder =
      std::filesystem::path(arguments.outputs.folder) / rank_name(part.rank);
  arguments.outputs.folder = folder.string();
  plan.root = folder / collect::kProfileRoot;
  if (arguments.outputs.html)
    arguments.outputs.html.file = page_of_rank(*arguments.outputs.html.file, part.rank);
  if (!part.talks) {
    arguments.outputs.quiet = true;
    arguments.outputs.json = false;
  }
  return {};
}

/// Exit code 0, or the error's when the target failed, was stopped, or nothing could be measured.
Result<void> run_profile(ProfileArguments arguments,
                         const std::vector<std::string>& behind_dashes) {
  collect::CollectPlan plan;
  PERFLAB_TRY(plan.target, target_of(arguments, behind_dashes));
  PERFLAB_TRY(const std::optional<RankPart> part, part_of_this_rank(arguments.ranks));
  if (part) PERFLAB_TRY_VOID(fit_to_rank(*part, arguments, plan));
  if (part && !part->recorded) return std::unexpected(become(plan.target));
  const InterruptScope interrupts;
  ProgressLine progress({.quiet = arguments.outputs.quiet});
  plan.runs = arguments.runs;
  plan.no_rocprof = arguments.no_rocprof;
  plan.progress = &progress;
  if (!arguments.timeout.empty()) {
    PERFLAB_TRY(plan.timeout, parse_duration(arguments.timeout));
  }
  // The program's words can name files that it reads.
  std::vector<std::filesystem::path> inputs(plan.target.begin(), plan.target.end());
  if (!arguments.roofs.file.empty()) inputs.emplace_back(arguments.roofs.file);
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, inputs, arguments.outputs.folder));
  measure::ProfileOptions options = arguments.options;
  options.timeline = true;
  if (!arguments.platform.empty())
    options.platform = arguments.platform == "cuda" ? trace::Platform::cuda : trace::Platform::amd;
  if (arguments.outputs.html) options.keep_nodes_up_to = report::kMostPageNodes;
  if (arguments.att) {
    options.att = arguments.att_options;
    options.att->keep_detail = true;
  }
  if (arguments.pc_sampling) {
    // CLI11's excludes() would make a line of the help longer than 80 columns.
    if (arguments.pc_options.all_kernels && !arguments.pc_options.kernel.empty())
      return fail(ErrorCode::usage,
                  "--pc-sampling-kernel names one kernel, and --pc-sampling-all-kernels wants all",
                  "leave one of them out");
    options.pc_sampling = arguments.pc_options;
    if (!arguments.pc_method.empty())
      options.pc_sampling->wish.method = arguments.pc_method == "host_trap"
                                             ? pc_sampling::Method::host_trap
                                             : pc_sampling::Method::stochastic;
  }
  if (!arguments.roofs.file.empty()) {
    if (!options.wants_counters())
      return fail(ErrorCode::usage, "--roofs has no effect without counters", "add --roofline");
    options.roofs = arguments.roofs.file;
  }
  if (arguments.roofs.device && !options.wants_counters())
    return fail(ErrorCode::usage, "--roofs-device has no effect without counters",
                "add --roofline");
  options.roofs_device = arguments.roofs.device;
  PERFLAB_TRY(const measure::Profile profile, measure::profile(plan, options));
  progress.erase();
  if (profile.analyzed || !profile.problem)
    PERFLAB_TRY_VOID(show(arguments, profile, plan.target, part ? part->rank : trace::RankFacts{}));
  if (profile.problem) return std::unexpected(*profile.problem);
  return {};
}

void add_counter_options(CLI::App& command, ProfileArguments& arguments) {
  command.add_flag("--roofline", arguments.options.roofline,
                   "Run it again for every set of hardware counters that the roofline needs");
  command
      .add_option("--counters", arguments.options.counters,
                  "Your own counters, A,B,...: in addition to those of --roofline, or alone")
      ->delimiter(',')
      ->allow_extra_args(false);  // the program may follow without "--"
  add_roofs_options(command, arguments.roofs);
}

/// A whole number from 1 on, decimal or hexadecimal, with a suffix of bytes (k, M, G) where it says
/// so. CLI11 turns what does not fit into the largest number, and means floating point by positive.
CLI::Validator whole_number(std::uint64_t most, bool bytes) {
  return CLI::Validator(
      [most, bytes](std::string& text) -> std::string {
        const std::string bad =
            fmt::format("\"{}\" is not a whole number from 1 to {}{}", text, most,
                        bytes ? ", with k, M or G after it for bytes" : "");
        std::string_view digits = text;
        std::uint64_t unit = 1;
        constexpr std::string_view kUnits = "kmg";
        if (bytes && !digits.empty()) {
          if (const std::size_t at = kUnits.find(lower(digits.back())); at != kUnits.npos) {
            unit = std::uint64_t{1} << (10 * (at + 1));
            digits.remove_suffix(1);
          }
        }
        const auto value = number_of(digits);
        if (!value || *value == 0 || *value > most / unit) return bad;
        text = fmt::format("{}", *value * unit);
        return {};
      },
      "");
}

/// A check of CLI11's: what is wrong, or nothing.
std::string names_something(const std::string& pattern) {
  return pattern.empty() ? std::string("an empty pattern names no kernel") : std::string();
}

void add_pc_sampling_options(CLI::App& command, ProfileArguments& arguments) {
  CLI::Option* const pc_sampling =
      command.add_flag("--pc-sampling", arguments.pc_sampling,
                       "Run it again for PC samples (rocprofv3's beta option; NVIDIA: CUPTI): "
                       "where waves of the kernel with most time wait, and why");
  command
      .add_option("--pc-sampling-method", arguments.pc_method,
                  "stochastic (by the hardware, with reasons) or host_trap; the first that the GPU "
                  "has")
      ->check(CLI::IsMember({"stochastic", "host_trap"}))
      ->needs(pc_sampling);
  command
      .add_option("--pc-sampling-interval", arguments.pc_options.wish.interval,
                  "Cycles (host_trap: us) between samples (default: 65536, host_trap: 512)")
      ->transform(whole_number(UINT64_MAX, false))
      ->needs(pc_sampling);
  command
      .add_option("--pc-sampling-kernel", arguments.pc_options.kernel,
                  "Analyse the samples of a kernel whose name this regex matches")
      ->check(names_something)
      ->needs(pc_sampling);
  command
      .add_flag("--pc-sampling-all-kernels", arguments.pc_options.all_kernels,
                "Analyse the samples of all kernels")
      ->needs(pc_sampling);
}

void add_att_options(CLI::App& command, ProfileArguments& arguments) {
  measure::AttOptions& options = arguments.att_options;
  CLI::Option* const att = command.add_flag(
      "--att", arguments.att,
      "Run it again for a thread trace (rocprofv3 --att) of the longest critical dispatch");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->needs(att);
  };
  add("--att-kernel", options.kernel, "Trace a kernel whose name this regex matches")
      ->check(names_something);
  add("--att-iteration", options.iteration, "Trace its Nth dispatch, from 1")
      ->transform(whole_number(INT32_MAX, false));
  add("--att-target-cu", options.target_cu, "CU (RDNA: WGP) whose waves are traced")
      ->check(CLI::Range(0, 127))
      ->capture_default_str();
  add("--att-shader-engines,--att-shader-engine-mask", options.shader_engines,
      "Bit mask of the shader engines to trace (default: 0x1)")
      ->transform(whole_number(UINT64_MAX, false));
  add("--att-buffer,--att-buffer-size", options.buffer_bytes,
      "Buffer of each shader engine (64M, 1G); one that is too small loses data")
      ->transform(whole_number(INT64_MAX, true));
}

}  // namespace

void add_profile(CLI::App& app, const std::vector<std::string>& target, int& exit_code) {
  const auto arguments = std::make_shared<ProfileArguments>();
  CLI::App* command =
      app.add_subcommand("profile", "Run a program under rocprofv3 and profile its hottest kernel");
  set_examples(*command, {"rocm-perf profile --runs 5 -- ./app --size 4096",
                          "rocm-perf profile --roofline --pc-sampling --att -- ./app"});
  command->footer(
      "Databases are kept under .rocpd_profile/, each run in its own folder. Started by srun, "
      "mpirun "
      "or torchrun, each rank keeps what is its own under rank_0000/, rank_0001/ and so on in the "
      "folder of --out.");
  command->add_option("COMMAND", arguments->words,
                      "The program and its arguments, after --; or one quoted string");
  command->add_option("--runs", arguments->runs, "Run it N times, to measure stability")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--timeout", arguments->timeout, "Stop a run that takes longer (90s, 10m)");
  command
      ->add_option("--platform", arguments->platform,
                   "Whose GPUs it runs on: amd (rocprofv3) or cuda; found when not given")
      ->check(CLI::IsMember({"amd", "cuda"}));
  command->add_option("--ranks", arguments->ranks,
                      "Under srun, mpirun or torchrun: record only these ranks (0,7 or 0-3); the "
                      "others run the program alone");
  add_counter_options(*command, *arguments);
  add_pc_sampling_options(*command, *arguments);
  add_att_options(*command, *arguments);
  command->add_flag("--no-rocprof", arguments->no_rocprof,
                    "Only time the process, without GPU figures");
  command
      ->add_option(
          "--out", arguments->outputs.folder,
          "Folder for profile.json, analysis.json, dag.json, timeline.json, roofline.json, "
          "thread_trace.json and the answer, summary.json")
      ->capture_default_str();
  add_html_option(*command, arguments->outputs.html, "everything");
  add_answer_options(*command, arguments->outputs, "profile");
  command->add_flag("--quiet", arguments->outputs.quiet, "Print nothing but errors");
  command->add_option("--threads", arguments->options.threads,
                      "Threads to read with (default: all cores)");
  command->callback([arguments, &target, &exit_code] {
    if (const auto done = run_profile(*arguments, target); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
