// rocm-perf doctor: what of this machine the commands can use. doctor-agents, not in the help, is
// the process in which it opens the HSA runtime.
#include "doctor/examination.h"

#include <algorithm>
#include <memory>

#include "base/interrupt.h"
#include "base/subprocess.h"
#include "cli/command.h"
#include "cli/html_page.h"
#include "cli/option_parsers.h"
#include "doctor/doctor_document.h"
#include "doctor/doctor_text.h"
#include "report/document.h"

namespace perflab::cli {
namespace {

struct DoctorArguments {
  std::vector<std::string> commands;
  HtmlArguments html;
  bool json = false;
};

/// Exit code 4 when a command that was named does not work here.
Result<int> run_doctor(const DoctorArguments& arguments) {
  const InterruptScope interrupts;
  // Before anything is asked: a wrong name should not take seconds.
  PERFLAB_TRY_VOID(doctor::readiness({}, arguments.commands));
  PERFLAB_TRY_VOID(check_html_file(arguments.html, {}));
  doctor::Places places;
  places.agents_command = {own_program(), "doctor-agents"};
  PERFLAB_TRY(doctor::Examination examination, doctor::examine(places));
  PERFLAB_TRY(examination.commands, doctor::readiness(examination.parts, arguments.commands));
  if (arguments.html)
    PERFLAB_TRY_VOID(
        write_html_file(arguments.html, {{"doctor", doctor::doctor_document(examination)}}, ""));
  if (arguments.json) {
    PERFLAB_TRY(const std::string text,
                report::render("doctor", doctor::doctor_document(examination)));
    PERFLAB_TRY_VOID(print(text));
  } else {
    PERFLAB_TRY_VOID(print(doctor::doctor_text(examination, terminal_style())));
  }
  const bool lacking =
      std::ranges::any_of(examination.commands, [](const doctor::CommandReadiness& one) {
        return one.readiness == doctor::Readiness::not_ready;
      });
  return !arguments.commands.empty() && lacking ? exit_code(ErrorCode::missing_tool) : 0;
}

}  // namespace

void add_doctor(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* command =
      app.add_subcommand("doctor", "Say what works on this machine, and how to get the rest");
  command->footer(
      "Example: rocm-perf doctor profile replay\n"
      "Exit code 0; 4 when a command that is named does not work here.");
  command->add_option("COMMAND", arguments->commands, "Only these commands (default: all)")
      ->check(offered(doctor::command_names()));
  add_html_option(*command, arguments->html, "it");
  command->add_flag("--json", arguments->json, "Print doctor.json and nothing else");
  command->callback([arguments, &exit_code] {
    const Result<int> done = run_doctor(*arguments);
    exit_code = done ? *done : report_error(done.error());
  });
}

void add_doctor_agents(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("doctor-agents", "")->group("");
  command->callback([&exit_code] { exit_code = doctor::print_agents(); });
}

}  // namespace perflab::cli
