// rocm-perf autotune-app: the kernels of one application in; one configuration file out, and what
// it gives the application.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/command_line.h"
#include "base/text/duration.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/option_parsers.h"
#include "cli/kit/present.h"
#include "measure/tuning/tune_application.h"
#include "report/kit/document.h"
#include "report/tuning/autotune_app_document.h"
#include "report/tuning/autotune_app_text.h"
#include "report/tuning/autotune_text.h"
#include "tune/records/read_application.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

struct AppArguments {
  std::string file, effort = "auto", split, timeout;
  std::vector<std::string> recordings;
  tune::TuneOptions options;
  bool resume = false;
  Outputs outputs = {.takes_page = false};
};

const std::map<std::string, tune::Split> kSplits = {{"adaptive", tune::Split::adaptive},
                                                    {"equal", tune::Split::equal},
                                                    {"worth", tune::Split::worth}};
const std::map<std::string, tune::Effort> kAppEfforts = {{"quick", tune::Effort::quick},
                                                         {"auto", tune::Effort::automatic},
                                                         {"full", tune::Effort::full}};

/// The application of the file, with its files as they are seen from here.
Result<tune::Application> read_application(const std::string& file) {
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(tune::Application application, tune::parse_application(text, file));
  const fs::path folder = fs::path(file).parent_path();
  for (tune::ApplicationKernel& kernel : application.kernels)
    for (fs::path* const path : {&kernel.space, &kernel.capture, &kernel.recording})
      if (!path->empty()) *path = folder / *path;
  return application;
}

Result<measure::ApplicationRequest> app_request(const AppArguments& arguments) {
  measure::ApplicationRequest request;
  PERFLAB_TRY(request.application, read_application(arguments.file));
  request.recordings.assign(arguments.recordings.begin(), arguments.recordings.end());
  request.folder = arguments.outputs.folder;
  const bool known = !request.recordings.empty();
  if (!known && !arguments.split.empty() && arguments.split != "equal")
    return fail(ErrorCode::usage,
                fmt::format("--split {} needs to know what the kernels are worth", arguments.split),
                "--recording run.db, or --split equal");
  request.split = !arguments.split.empty() ? kSplits.at(arguments.split)
                  : known                  ? tune::Split::adaptive
                                           : tune::Split::equal;
  request.options = arguments.options;
  request.options.search.effort = kAppEfforts.at(arguments.effort);
  if (!arguments.timeout.empty()) {
    PERFLAB_TRY(const std::chrono::milliseconds first, parse_duration(arguments.timeout));
    request.options.first_timeout_seconds = std::chrono::duration<double>(first).count();
  }
  tune::RepeatRule& repeats = request.options.repeats;
  repeats.fewest_samples = std::min(repeats.fewest_samples, repeats.most_runs);
  request.resume = arguments.resume;
  return request;
}

/// The interruption in the words of the command.
Error interrupted_error(const Error& of, const AppArguments& arguments,
                        std::vector<std::string> words) {
  if (!arguments.resume) words.emplace_back("--resume");
  return {.code = ErrorCode::interrupted,
          .message = "the search was interrupted",
          .notes = of.notes,
          .remedy = fmt::format("what was finished is in {}; resume with: {}",
                                arguments.outputs.folder, join_command_line(words))};
}

/// Whether every kernel that was measured has a configuration that works.
Result<bool> run_autotune_app(const AppArguments& arguments,
                              const std::vector<std::string>& words) {
  PERFLAB_TRY_VOID(check_details(arguments.outputs, report::kAutotuneAppSections));
  const InterruptScope interrupts;
  PERFLAB_TRY(measure::ApplicationRequest request, app_request(arguments));
  PERFLAB_TRY_VOID(make_directories(arguments.outputs.folder));
  ProgressLine line;
  request.progress = [&](const std::string& of, const tune::TuneProgress& now,
                         const tune::Objective& objective) {
    line.update(fmt::format("{}: {}", of, report::autotune_progress_text(now, objective)),
                now.fraction);
  };
  request.reading = [&line](std::string_view what, double share) { line.update(what, share); };
  const Result<measure::ApplicationRun> done = measure::tune_application(request);
  line.erase();
  if (!done)
    return std::unexpected(done.error().code == ErrorCode::interrupted
                               ? interrupted_error(done.error(), arguments, words)
                               : done.error());
  const Json document =
      report::autotune_app_document({.request = request, .run = *done, .file = arguments.file});
  std::vector<Section> sections;
  for (const std::string_view name : report::kAutotuneAppSections)
    sections.push_back({name, [&document, name] {
                          return report::autotune_app_section(document, name, terminal_style());
                        }});
  Outputs outputs = arguments.outputs;
  outputs.again = "--resume";
  PERFLAB_TRY_VOID(present_answer(outputs, {{"autotune_app", document}}, sections));
  return std::ranges::all_of(done->kernels, [](const measure::TunedKernel& kernel) {
    return kernel.evaluations == 0 || kernel.value;
  });
}

template <class Named>
std::vector<std::string> keys_of(const Named& named) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : named) keys.push_back(key);
  return keys;
}

void add_app_options(CLI::App& command, AppArguments& arguments) {
  constexpr std::uint64_t kMostAppEvaluations = 10'000'000;
  tune::TuneOptions& options = arguments.options;
  command
      .add_option(
          "APP", arguments.file,
          "Application file: kernels with their search spaces and commands, and the command "
          "of the whole application (JSON)")
      ->required();
  command
      .add_option("--recording", arguments.recordings,
                  "Recordings of one run of the application, which say what each kernel is worth")
      ->allow_extra_args(false);
  command.add_option("--budget", options.budget, "Evaluate at most N configurations, all together")
      ->check(whole_from(1, kMostAppEvaluations))
      ->capture_default_str();
  command
      .add_option("--split", arguments.split,
                  "How the kernels share it: adaptive, to the largest gain that can be expected of "
                  "the run (the default with --recording); worth, in proportion; or equal")
      ->check(CLI::IsMember(keys_of(kSplits)));
  command
      .add_option("--effort", arguments.effort,
                  "When the search of one kernel stops: quick and auto when little more can be "
                  "expected; full never")
      ->check(CLI::IsMember(keys_of(kAppEfforts)))
      ->capture_default_str();
  command
      .add_option("--seed", options.search.seed,
                  "Seed of every random choice: same seed, same searches")
      ->check(whole_from(0, INT64_MAX))
      ->capture_default_str();
  command
      .add_option("--repeats", options.repeats.most_runs,
                  "Run a configuration at most N times; fewer when its times are steady")
      ->check(whole_from(1, 10'000))
      ->capture_default_str();
  command.add_option("--timeout", arguments.timeout,
                     "Stop a run after this as long as there is no best one (default: 600s)");
  command
      .add_option("--out", arguments.outputs.folder,
                  "Folder for configurations.json, autotune_app.json, summary.json and a journal "
                  "per kernel")
      ->required();
  command.add_flag("--resume", arguments.resume, "Continue from the journals in that folder");
  add_answer_options(command, arguments.outputs, "autotune_app");
}

}  // namespace

void add_autotune_app(CLI::App& app, const std::vector<std::string>& words, int& exit_code) {
  const auto arguments = std::make_shared<AppArguments>();
  CLI::App* command =
      app.add_subcommand("autotune-app", "Tune the kernels of an application together");
  set_examples(*command, {"rocm-perf autotune-app app.json --recording run.db --out tuned",
                          "rocm-perf autotune-app app.json --recording run.db --out tuned "
                          "--budget 400 --resume"});
  command->footer("Exit code 1: of a kernel no configuration worked.");
  add_app_options(*command, *arguments);
  offer_sections(*command,
                 {report::kAutotuneAppSections.begin(), report::kAutotuneAppSections.end()});
  command->callback([arguments, words, &exit_code] {
    const Result<bool> worked = run_autotune_app(*arguments, words);
    exit_code = !worked ? report_error(worked.error()) : *worked ? 0 : 1;
  });
}

}  // namespace perflab::cli
