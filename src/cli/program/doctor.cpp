// rocm-perf doctor: what of this machine the commands can use; with --self-test, whether they hold
// here. doctor-agents, not in the help, is the process in which it opens the HSA runtime.
#include "doctor/examination.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "base/system/interrupt.h"
#include "base/system/subprocess.h"
#include "base/text/duration.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/option_parsers.h"
#include "cli/kit/present.h"
#include "doctor/cuda.h"
#include "doctor/doctor_document.h"
#include "doctor/doctor_text.h"
#include "doctor/self_test/self_test.h"
#include "doctor/self_test/self_test_text.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

struct DoctorArguments {
  std::vector<std::string> commands;
  Outputs outputs{.takes_folder = false};
  bool self_test = false;
  std::string only, keep, time_budget = "10m";
};

doctor::Places places_here() {
  doctor::Places places;
  places.agents_command = {own_program(), "doctor-agents"};
  places.cuda_command = {own_program(), "doctor-agents", "--cuda"};
  return places;
}

/// Exit code 4 when a command that was named does not work here.
Result<int> run_doctor(const DoctorArguments& arguments) {
  const InterruptScope interrupts;
  // Before anything is asked: a wrong name should not take seconds.
  PERFLAB_TRY_VOID(doctor::readiness({}, arguments.commands));
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, {}));
  PERFLAB_TRY(doctor::Examination examination, doctor::examine(places_here()));
  PERFLAB_TRY(examination.commands, doctor::readiness(examination.parts, arguments.commands));
  const report::TerminalStyle style = terminal_style();
  std::vector<Section> sections = {
      {"commands", [&] { return doctor::doctor_commands_text(examination, style); }},
      {"gpus", [&] { return doctor::doctor_gpus_text(examination, style); }},
      {"parts", [&] { return doctor::doctor_parts_text(examination, style); }}};
  if (!doctor::doctor_missing_text(examination, style).empty())
    sections.push_back(
        {"missing", [&] { return doctor::doctor_missing_text(examination, style); }});
  PERFLAB_TRY_VOID(present_answer(arguments.outputs,
                                  {{"doctor", doctor::doctor_document(examination)}}, sections));
  const bool lacking =
      std::ranges::any_of(examination.commands, [](const doctor::CommandReadiness& one) {
        return one.readiness == doctor::Readiness::not_ready;
      });
  return !arguments.commands.empty() && lacking ? exit_code(ErrorCode::missing_tool) : 0;
}

/// Exit code 0: all that ran hold; 1: some failed; 4: nothing could run.
Result<int> run_doctor_self_test(const DoctorArguments& arguments) {
  const InterruptScope interrupts;
  PERFLAB_TRY(const std::chrono::milliseconds budget, parse_duration(arguments.time_budget));
  ProgressLine line;
  doctor::SelfTestRequest request{.places = places_here(),
                                  .program = own_program(),
                                  .only = arguments.only,
                                  .keep = arguments.keep,
                                  .budget = budget,
                                  .on_run = {},
                                  .on_progress = {}};
  request.on_run = [&line](const doctor::CaseRun& run) {
    line.pass_through(doctor::decided_line(run) + "\n");
  };
  request.on_progress = [&line](std::string_view what, double done) { line.update(what, done); };
  const Result<doctor::SelfTest> test = doctor::run_self_test(request);
  line.erase();
  if (!test) return std::unexpected(test.error());
  PERFLAB_TRY_VOID(present({.json = arguments.outputs.json},
                           {{"self_test", doctor::self_test_document(*test)}},
                           [&] { return doctor::self_test_text(*test, terminal_style()); }));
  return test->exit_code();
}

void add_self_test_options(CLI::App& command, DoctorArguments& arguments, CLI::Option* commands) {
  CLI::Option* const self_test =
      command
          .add_flag("--self-test", arguments.self_test,
                    "Compile programs and take them through the commands on this machine's GPU")
          ->excludes(commands)
          ->excludes("--html", "--brief", "--details");
  command
      .add_option("--only", arguments.only,
                  "Only cases of the self test whose name this regex matches")
      ->needs(self_test);
  command
      .add_option("--time-budget", arguments.time_budget,
                  "Skip the cases that are left after this (90s, 10m)")
      ->needs(self_test)
      ->capture_default_str();
  command
      .add_option(
          "--keep", arguments.keep,
          "Keep programs, captures and everything else in this folder, which must not exist")
      ->needs(self_test);
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command =
      app.add_subcommand("doctor", "Check what works on this machine and how to get the rest");
  set_examples(*command, {"rocm-perf doctor", "rocm-perf doctor profile replay",
                          "rocm-perf doctor --self-test"});
  command->footer(
      "Exit codes: 0; 4 a command that was named does not work here. Self test: 0 "
      "everything that could run holds, 1 something failed, 4 nothing could run.");
  CLI::Option* const commands =
      command->add_option("COMMAND", arguments->commands, "Only these commands (default: all)")
          ->check(offered(doctor::command_names()));
  add_html_option(*command, arguments->outputs.html, "it");
  add_answer_options(*command, arguments->outputs, "doctor.json, or self_test");
  add_self_test_options(*command, *arguments, commands);
  command->callback([arguments, &exit_code] {
    const Result<int> done =
        arguments->self_test ? run_doctor_self_test(*arguments) : run_doctor(*arguments);
    exit_code = done ? *done : report_error(done.error());
  });
}

void add_doctor_agents(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("doctor-agents", "")->group("");
  const auto cuda = std::make_shared<bool>(false);
  command->add_flag("--cuda", *cuda, "Of NVIDIA's driver");
  command->callback(
      [cuda, &exit_code] { exit_code = *cuda ? doctor::print_cuda() : doctor::print_agents(); });
}

}  // namespace perflab::cli
