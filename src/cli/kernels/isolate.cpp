// rocm-perf isolate: captures one dispatch of a program, with the memory it runs on.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/system/interrupt.h"
#include "base/text/command_line.h"
#include "capture/capture_reader.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "isolate/launch.h"
#include "report/kit/document.h"
#include "report/replay/isolate_document.h"

namespace perflab::cli {
namespace {

struct IsolateArguments {
  std::vector<std::string> words;
  isolate::LaunchPlan plan;
  std::string out = "capture", platform;
  Outputs outputs = {.takes_folder = false, .takes_page = false};
};

/// The program's words: those behind "--", or one string.
Result<std::vector<std::string>> program_of(const IsolateArguments& arguments,
                                            const std::vector<std::string>& behind_dashes) {
  std::vector<std::string> words = arguments.words;
  words.insert(words.end(), behind_dashes.begin(), behind_dashes.end());
  if (words.size() == 1 && behind_dashes.empty()) return split_command_line(words.front());
  if (words.empty())
    return fail(ErrorCode::usage, "isolate needs a program to run",
                "rocm-perf isolate --kernel REGEX -- ./app args");
  return words;
}

/// Exit code 0: captured. Else that of judge().
Result<void> run_isolate(IsolateArguments& arguments,
                         const std::vector<std::string>& behind_dashes) {
  const InterruptScope interrupts;
  isolate::LaunchPlan& plan = arguments.plan;
  PERFLAB_TRY(plan.command, program_of(arguments, behind_dashes));
  plan.folder = arguments.out;
  if (!arguments.platform.empty())
    plan.platform = arguments.platform == "cuda" ? capture::Platform::cuda : capture::Platform::hip;
  PERFLAB_TRY(const isolate::LaunchOutcome outcome, isolate::launch(plan));
  report::IsolateData data{
      .plan = &plan, .outcome = &outcome, .capture = std::nullopt, .problem = std::nullopt};
  if (const auto judged = isolate::judge(outcome, plan)) {
    PERFLAB_TRY(const capture::Capture taken, capture::Capture::open(outcome.folder));
    data.capture = taken.description();
  } else {
    data.problem = judged.error();
  }
  if (arguments.outputs.json || data.capture || data.problem->code == ErrorCode::refused)
    PERFLAB_TRY_VOID(present_answer(
        arguments.outputs, {{"isolate", report::isolate_document(data)}},
        {{"capture", [&] { return report::isolate_text(data, terminal_style()); }}}));
  if (data.problem) return std::unexpected(*data.problem);
  if (!outcome.process.succeeded() && !outcome.process.given_up)
    fmt::print(stderr, "rocm-perf: note: after the capture, the program {}\n",
               describe_end(outcome.process));
  return {};
}

}  // namespace

void add_isolate(CLI::App& app, const std::vector<std::string>& target, int& exit_code) {
  const auto arguments = std::make_shared<IsolateArguments>();
  CLI::App* command =
      app.add_subcommand("isolate", "Capture one dispatch of a program, with its memory");
  set_examples(*command,
               {"rocm-perf isolate --kernel 'gemm<float' --dispatch 3 -- ./app --size 4096"});
  command->footer(
      "Exit codes: 0 captured, 1 not captured, with the reason. Next: rocm-perf replay.");
  command->add_option("COMMAND", arguments->words,
                      "The program and its arguments, after --; or one quoted string");
  command
      ->add_option("--kernel", arguments->plan.kernel,
                   "Kernels whose demangled name this regex matches")
      ->required()
      ->check([](const std::string& text) {
        return text.empty() ? std::string("an empty pattern names no kernel") : std::string();
      });
  command
      ->add_option("--dispatch", arguments->plan.dispatch,
                   "Which of their dispatches, counted from 1")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62U))
      ->capture_default_str();
  command->add_option("--out", arguments->out, "Folder for the capture; must not exist")
      ->capture_default_str();
  command
      ->add_option("--platform", arguments->platform,
                   "Whose runtime it uses: amd (HSA) or cuda; found when not given")
      ->check(CLI::IsMember({"amd", "cuda"}));
  command->add_flag("--stop", arguments->plan.stop, "End the program once the capture is written");
  add_answer_options(*command, arguments->outputs, "isolate");
  offer_sections(*command, {"capture"});
  command->callback([arguments, &target, &exit_code] {
    if (const auto done = run_isolate(*arguments, target); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
