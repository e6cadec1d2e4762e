// rocm-perf capture info|check: what is in a capture, whether it is whole, and what in it will not
// survive into another process.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

#include "base/system/subprocess.h"
#include "base/text/progress.h"
#include "capture/capture_reader.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "doctor/replay_here.h"
#include "replay/lint.h"
#include "report/kit/document.h"
#include "report/kit/style.h"
#include "report/replay/capture_document.h"
#include "report/replay/capture_text.h"

namespace perflab::cli {
namespace {

struct CaptureArguments {
  std::string folder;
  Outputs outputs{.takes_folder = false, .takes_page = false};
  bool all = false;
};

/// The exit code of what was found.
int code_of(const std::optional<report::CaptureCheck>& check) {
  if (!check) return 0;
  if (!check->problem.empty()) return exit_code(ErrorCode::bad_input);
  const bool errors = std::ranges::any_of(check->findings, [](const replay::Finding& finding) {
    return finding.severity == replay::Severity::error;
  });
  return errors ? exit_code(ErrorCode::refused) : 0;
}

Result<report::CaptureCheck> check_capture(const capture::Capture& capture) {
  report::CaptureCheck check;
  LongWork work("checking the capture");
  if (const auto sound = capture.verify(part_of(work.tell(), 0, 0.5)); !sound) {
    check.problem = sound.error().message;
    return check;
  }
  PERFLAB_TRY(check.findings, replay::lint(capture));
  return check;
}

Result<int> run_capture(const CaptureArguments& arguments, bool with_check) {
  PERFLAB_TRY(const capture::Capture capture, capture::Capture::open(arguments.folder));
  report::CaptureData data{
      .capture = &capture, .folder = arguments.folder, .check = {}, .here = {}};
  if (with_check) {
    PERFLAB_TRY(data.check, check_capture(capture));
    PERFLAB_TRY(data.here,
                doctor::replay_here({.agents_command = {own_program(), "doctor-agents"},
                                     .cuda_command = {own_program(), "doctor-agents", "--cuda"}},
                                    capture.description().machine));
  }
  report::TerminalStyle style = terminal_style();
  if (arguments.all) style.most_rows = SIZE_MAX / 8;
  std::vector<Section> sections = {
      {"dispatch", [&] { return report::captured_dispatch_text(data, style); }},
      {"regions", [&] { return report::captured_regions_text(data, style); }}};
  if (data.check)
    sections.push_back(
        {"findings", [&] { return report::capture_findings_text(*data.check, style); }});
  PERFLAB_TRY_VOID(
      present_answer(arguments.outputs, {{"capture", report::capture_document(data)}}, sections));
  return code_of(data.check);
}

CLI::App* add_part(CLI::App& capture, const char* name, const char* description, bool with_check,
                   int& exit_code) {
  const auto arguments = std::make_shared<CaptureArguments>();
  CLI::App* command = capture.add_subcommand(name, description);
  command->add_option("DIR,--capture-dir", arguments->folder, "Folder of the capture")->required();
  add_answer_options(*command, arguments->outputs, "capture");
  add_all_option(*command, arguments->all, arguments->outputs);
  command->callback([arguments, with_check, &exit_code] {
    const auto done = run_capture(*arguments, with_check);
    exit_code = done ? *done : report_error(done.error());
  });
  return command;
}

}  // namespace

void add_capture(CLI::App& app, int& exit_code) {
  CLI::App* capture =
      app.add_subcommand("capture", "Show what a capture holds and whether it can be replayed");
  capture->require_subcommand(1);
  set_examples(*capture, {"rocm-perf capture check softmax.capture"});
  CLI::App* info =
      add_part(*capture, "info", "Show kernel, machine, regions and what the dispatch changed",
               false, exit_code);
  set_examples(*info, {"rocm-perf capture info capture"});
  CLI::App* check =
      add_part(*capture, "check",
               "Check every file against its hash and look for what a replay cannot restore", true,
               exit_code);
  set_examples(*check, {"rocm-perf capture check capture --json"});
  check->footer(
      "Exit codes: 0 it can be replayed, 1 it has findings of severity error, 3 damaged.");
  // After its commands, which would inherit it.
  capture->footer("rocm-perf capture COMMAND --help shows examples of a command and its options.");
}

}  // namespace perflab::cli
