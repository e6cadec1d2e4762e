// rocm-perf calibrate: kernels of known work against what the GPU's counters make of them.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <ctime>
#include <memory>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/system/subprocess.h"
#include "base/text/duration.h"
#include "base/text/numbers.h"
#include "base/text/progress.h"
#include "base/text/text.h"
#include "calibrate/calibrate.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "code/tools/temporary_folder.h"
#include "doctor/agents.h"
#include "doctor/cuda.h"
#include "doctor/driver.h"
#include "hal/counter_catalogue.h"
#include "report/calibration/calibration_document.h"
#include "report/calibration/calibration_text.h"
#include "report/kit/document.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

struct CalibrateArguments {
  std::string arch, out, keep, explain, file;
  int cus = 0, runs = 5;
  std::string timeout;
  bool dry_run = false, json = false, quiet = false;
};

/// Time of the day for the document; that of $SOURCE_DATE_EPOCH where a build has to be repeated.
std::string now_text() {
  std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::string epoch = environment("SOURCE_DATE_EPOCH");
  if (const auto given = whole_number<std::int64_t>(epoch)) now = *given;
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

/// The version of the kernel's driver of a platform; empty: it does not say.
std::string driver_version(hal::Platform platform) {
  const auto text = read_file(platform == hal::Platform::nvidia ? "/sys/module/nvidia/version"
                                                                : "/sys/module/amdgpu/version");
  return text ? std::string(trimmed(*text)) : std::string();
}

/// The first GPU of this machine: AMD's by its driver, with the runtime's name for it, else
/// NVIDIA's. Errors: missing_tool (there is none), interrupted.
Result<doctor::Gpu> first_gpu() {
  doctor::Places places;
  places.agents_command = {own_program(), "doctor-agents"};
  places.cuda_command = {own_program(), "doctor-agents", "--cuda"};
  std::vector<doctor::Gpu> gpus = doctor::driver_gpus(places);
  if (!gpus.empty()) PERFLAB_TRY_VOID(doctor::runtime_part(places, gpus));
  if (gpus.empty() && doctor::has_cuda(places)) PERFLAB_TRY_VOID(doctor::cuda_parts(places, gpus));
  if (!gpus.empty()) return gpus.front();
  return fail(ErrorCode::missing_tool, "there is no GPU to calibrate",
              "see what is missing: rocm-perf doctor calibrate; --dry-run --arch gfx942 --cus 304 "
              "needs none");
}

/// The counter table of --arch, of the calibration, or of this machine's GPU.
Result<void> run_explain(const CalibrateArguments& arguments) {
  std::optional<hal::Calibration> calibration;
  std::string architecture = arguments.arch;
  fs::path file = arguments.file;
  std::error_code ignored;
  if (file.empty() && !architecture.empty() &&
      fs::exists(hal::calibration_place(architecture), ignored))
    file = hal::calibration_place(architecture);
  if (!file.empty()) {
    PERFLAB_TRY(calibration, hal::read_calibration(file));
    if (architecture.empty()) architecture = calibration->gpu.architecture;
  }
  if (architecture.empty()) {
    PERFLAB_TRY(const doctor::Gpu gpu, first_gpu());
    architecture = gpu.processor;
  }
  const hal::CounterTable* table = hal::find_counter_table(architecture);
  if (table == nullptr)
    return fail(ErrorCode::usage, fmt::format("no counters are known for {}", architecture));
  const std::string& name = arguments.explain;
  if (table->find(name) == nullptr && !table->knows(name)) {
    const std::vector<std::string> similar = table->similar(name);
    return fail(ErrorCode::usage,
                fmt::format("--explain: {} has no counter and no formula \"{}\"", table->gfx, name),
                similar.empty() ? "names of formulas: docs/COUNTERS.md"
                                : "did you mean " + similar.front() + "?");
  }
  const hal::CalibratedFigure* figure = nullptr;
  if (calibration)
    figure = table->find(name) != nullptr ? calibration->formula(name) : calibration->counter(name);
  return print(report::explained_text(*table, name, figure, terminal_style()));
}

Result<calibrate::CalibrateRequest> request_of(const CalibrateArguments& arguments) {
  calibrate::CalibrateRequest request;
  request.architecture = arguments.arch;
  request.cus = arguments.cus;
  request.runs = arguments.runs;
  request.date = now_text();
  if (!arguments.timeout.empty()) {
    PERFLAB_TRY(request.timeout, parse_duration(arguments.timeout));
  }
  if (!arguments.arch.empty() && arguments.cus > 0) return request;
  PERFLAB_TRY(const doctor::Gpu gpu, first_gpu());
  if (request.architecture.empty()) request.architecture = gpu.processor;
  request.product = gpu.product;
  if (request.cus == 0) request.cus = gpu.compute_units.value_or(0);
  return request;
}

Result<void> run_calibrate(const CalibrateArguments& arguments) {
  const InterruptScope interrupts;
  if (!arguments.explain.empty()) return run_explain(arguments);
  PERFLAB_TRY(calibrate::CalibrateRequest request, request_of(arguments));
  request.driver = driver_version(hal::platform_of(request.architecture));
  PERFLAB_TRY(const code::detail::TemporaryFolder temporary, code::detail::TemporaryFolder::make());
  request.folder = arguments.keep.empty() ? temporary / "calibration" : fs::path(arguments.keep);
  const fs::path out = arguments.out.empty() ? hal::calibration_place(request.architecture)
                                             : fs::path(arguments.out);
  if (out.empty())
    return fail(ErrorCode::usage, "there is no home folder to keep the calibration in",
                "name a file: --out calibration.json");
  PERFLAB_TRY_VOID(check_replaceable(out));
  ProgressLine line({.quiet = arguments.quiet});
  line.update("compiling kernels of known work");
  PERFLAB_TRY(const auto plan, calibrate::make_plan(request));
  if (arguments.dry_run) {
    line.erase();
    return print(report::calibration_plan_text(*plan, terminal_style()));
  }
  PERFLAB_TRY(const calibrate::Calibrated done, calibrate::calibrate(request, *plan, &line));
  line.erase();
  PERFLAB_TRY(const std::string text,
              report::render("calibration", report::calibration_document(done.calibration)));
  if (out.has_parent_path()) PERFLAB_TRY_VOID(make_directories(out.parent_path()));
  PERFLAB_TRY_VOID(write_file_atomically(out, text));
  if (!arguments.quiet) {
    for (const std::string& note : done.notes) fmt::print(stderr, "rocm-perf: {}\n", note);
    fmt::print(stderr, "written: {}\n", out.string());
  }
  return print(arguments.json ? text
                              : report::calibration_text(done.calibration, terminal_style()));
}

}  // namespace

void add_calibrate(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App* command = app.add_subcommand(
      "calibrate", "Try what this GPU's counters count, and measure what it can do");
  set_examples(*command, {"rocm-perf calibrate", "rocm-perf calibrate --out calibration.json",
                          "rocm-perf calibrate --explain SQ_INSTS_VALU_FMA_F32 --arch gfx942",
                          "rocm-perf calibrate --dry-run --arch gfx942 --cus 304"});
  command->add_option("FILE", arguments->file,
                      "With --explain: a calibration.json, whose verdict is shown");
  command->add_option("--explain", arguments->explain,
                      "Explain a counter or formula, and what proves it; runs nothing");
  command->add_option("--arch", arguments->arch,
                      "Architecture: gfx942, sm_90, ... (default: that of the first GPU)");
  command
      ->add_option("--cus", arguments->cus,
                   "Compute units (SMs) of the GPU (default: as its driver says)")
      ->check(CLI::Range(1, 4096));
  command->add_option("--runs", arguments->runs, "Repetitions of each launch (default: 5)")
      ->check(CLI::Range(2, 100));
  command->add_option("--timeout", arguments->timeout,
                      "Time that one run of all kernels may take: 90s, 5m (default: no limit)");
  command->add_option("--out", arguments->out,
                      "File to write (default: calibration-ARCH.json in the folder rocm-perf of "
                      "$XDG_STATE_HOME or ~/.local/state)");
  command->add_option("--keep", arguments->keep,
                      "Folder to leave the program and its recordings in (default: a temporary "
                      "one, which goes)");
  command->add_flag("--dry-run", arguments->dry_run,
                    "Compile and check the kernels, show what would be run, and run nothing");
  command->add_flag("--json", arguments->json, "Print the document and nothing else");
  command->add_flag("--quiet", arguments->quiet, "Print no progress and no notes");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_calibrate(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
