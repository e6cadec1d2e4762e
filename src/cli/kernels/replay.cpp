// rocm-perf replay: a captured dispatch at its old addresses: can they be had, how long does it
// take, does it compute the same (replay_verify.cpp).
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <memory>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/duration.h"
#include "base/text/progress.h"
#include "capture/capture_reader.h"
#include "capture/documents.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "replay/session/folder_session.h"
#include "replay/session/full_vm.h"
#include "replay/session/reserve_check.h"
#include "report/replay/replay_document.h"
#include "report/replay/replay_text.h"
#include "report/replay/reservation_document.h"

namespace perflab::cli {
namespace {

constexpr std::int64_t kMostIterations = 1'000'000;

struct ReserveArguments {
  std::string folder;
  Outputs outputs = {.takes_folder = false, .takes_page = false};
};

struct FullVmArguments {
  std::string folder, hsaco;
  Outputs outputs;
  std::string time_limit = "60s";
  std::int64_t iterations = 10, warmup = 1;
  replay::Caches caches = replay::Caches::restored;
  bool no_recopy = false, ignore_findings = false;
};

Result<int> run_reserve_check(const ReserveArguments& arguments) {
  report::ReservationData data{.report = {}, .capture_folder = arguments.folder};
  if (arguments.folder.empty()) {
    PERFLAB_TRY(data.report, replay::probe_reservations());
  } else {
    PERFLAB_TRY(const capture::Capture capture, capture::Capture::open(arguments.folder));
    PERFLAB_TRY(data.report, replay::check_reservations(capture.description()));
  }
  PERFLAB_TRY_VOID(present_answer(
      arguments.outputs, {{"reservation", report::reservation_document(data)}},
      {{"ranges", [&] { return report::reservation_text(data, terminal_style()); }}}));
  return data.report.exit_code();
}

Result<report::ReplayData> replay_capture(const FullVmArguments& arguments) {
  PERFLAB_TRY(const std::chrono::milliseconds limit, parse_duration(arguments.time_limit));
  report::ReplayData data;
  data.original = arguments.hsaco.empty();
  data.capture_folder = arguments.folder;
  data.pid = ::getpid();
  if (!data.original) {
    PERFLAB_TRY(const std::string bytes, read_file(arguments.hsaco));
    data.code_object = arguments.hsaco;
    data.code_object_hash = content_hash_text(bytes);
  }
  const InterruptScope interrupts;
  PERFLAB_TRY(auto opened,
              replay::FolderSession::open(
                  arguments.folder, {.code_object = arguments.hsaco,
                                     .time_limit = Nanos{std::chrono::nanoseconds(limit).count()},
                                     .ignore_findings = arguments.ignore_findings}));
  const capture::Description& description = opened.description();
  data.capture_isa = description.machine.isa;
  data.ordinal = description.dispatch.ordinal;
  if (data.original) {
    data.code_object = capture::code_object_file(description.machine.platform);
    data.code_object_hash = description.code_object_hash;
  }
  const sensors::Opened sensed = sensors::open_sensors(opened.device().pci_address);
  const replay::FullVmOptions options{
      .iterations = static_cast<std::uint64_t>(arguments.iterations),
      .warmup = arguments.no_recopy ? 0 : static_cast<std::uint64_t>(arguments.warmup),
      .no_recopy = arguments.no_recopy,
      .caches = arguments.caches,
      .sensors = sensed.sensors.get(),
      .no_sensors_because = sensed.missing_because};
  data.warmup = options.warmup;
  ProgressLine progress({.quiet = arguments.outputs.json});
  PERFLAB_TRY(data.result, run_full_vm(opened.session(), options, [&](std::uint64_t done) {
                progress.update(
                    fmt::format("replaying: {} of {}", done, options.iterations),
                    static_cast<double>(done) / static_cast<double>(options.iterations));
              }));
  data.device = opened.device();
  return data;
}

Result<void> run_full_vm_command(const FullVmArguments& arguments) {
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, {arguments.folder, arguments.hsaco},
                                   arguments.outputs.folder));
  PERFLAB_TRY(const report::ReplayData data, replay_capture(arguments));
  return present_answer(arguments.outputs, {{"replay", report::replay_document(data)}},
                        {{"times", [&] { return report::replay_text(data, terminal_style()); }}});
}

void add_reserve_check(CLI::App& replay, int& exit_code) {
  const auto arguments = std::make_shared<ReserveArguments>();
  CLI::App* command = replay.add_subcommand(
      "reserve-check", "Check that every range of a capture can be reserved at its own address");
  set_examples(*command, {"rocm-perf replay reserve-check --capture-dir capture",
                          "rocm-perf replay reserve-check"});
  command->footer(
      "Exit codes: 0 all at their addresses, 1 one cannot be reserved, 2 one was "
      "relocated.");
  command->add_option("DIR,--capture-dir", arguments->folder,
                      "Folder of the capture (default: none; typical addresses are probed)");
  add_answer_options(*command, arguments->outputs, "reservation");
  offer_sections(*command, {"ranges"});
  command->callback([arguments, &exit_code] {
    const auto done = run_reserve_check(*arguments);
    exit_code = done ? *done : report_error(done.error());
  });
}

void add_full_vm(CLI::App& replay, int& exit_code) {
  const auto arguments = std::make_shared<FullVmArguments>();
  CLI::App* command = replay.add_subcommand(
      "full-vm", "Run a captured dispatch again at its old addresses, and time it");
  set_examples(*command,
               {"rocm-perf replay full-vm --capture-dir capture --iterations 100 --json"});
  command->footer(
      "An error begins with its name: relocated, occupied, isa_mismatch, "
      "hsa_call_failed, cuda_call_failed, ...");
  command->add_option("DIR,--capture-dir", arguments->folder, "Folder of the capture")->required();
  command->add_option("--iterations", arguments->iterations, "Dispatches to time (default: 10)")
      ->check(CLI::Range(std::int64_t{1}, kMostIterations));
  command
      ->add_option("--warmup", arguments->warmup,
                   "Dispatches before the first timed one (default: 1; none with --no-recopy)")
      ->check(CLI::Range(std::int64_t{0}, kMostIterations));
  command
      ->add_flag("--no-recopy", arguments->no_recopy,
                 "Restore nothing between iterations: the state carries over")
      ->excludes(add_caches_option(*command, arguments->caches));
  command->add_option("--hsaco", arguments->hsaco,
                      "Another code object (or a file that holds one) with a kernel of the same "
                      "symbol and arguments");
  command->add_option("--time-limit", arguments->time_limit,
                      "Longest time of one dispatch: 500ms, 60s, 5m (default: 60s)");
  command->add_flag("--ignore-findings", arguments->ignore_findings,
                    "Replay even if `capture check` finds errors in the capture");
  command->add_option("--out", arguments->outputs.folder,
                      "Write replay.json and summary.json into this folder");
  add_html_option(*command, arguments->outputs.html, "the times");
  add_answer_options(*command, arguments->outputs, "replay");
  offer_sections(*command, {"times"});
  command->callback([arguments, &exit_code] {
    if (const auto done = run_full_vm_command(*arguments); !done)
      exit_code = report_error(done.error());
  });
}

}  // namespace

void add_replay(CLI::App& app, int& exit_code) {
  CLI::App* replay =
      app.add_subcommand("replay", "Run a captured dispatch again: addresses, times, proof");
  replay->require_subcommand(1);
  set_examples(*replay,
               {"rocm-perf replay full-vm --capture-dir softmax.capture --iterations 100"});
  replay->footer("rocm-perf replay COMMAND --help shows examples of a command and its options.");
  add_reserve_check(*replay, exit_code);
  add_full_vm(*replay, exit_code);
  add_replay_verify(*replay, exit_code);
}

}  // namespace perflab::cli
