// rocm-perf replay verify: does a capture reproduce itself, or does another code object compute the
// same from it?
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <optional>

#include "base/enum_names.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/duration.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/html_page.h"
#include "cli/kit/present.h"
#include "replay/elements/element_type.h"
#include "replay/session/folder_session.h"
#include "replay/verify/verify.h"
#include "report/kit/document.h"
#include "report/replay/certificate_document.h"
#include "report/replay/certificate_text.h"

namespace perflab::cli {
namespace {

constexpr int kMostRuns = 1000;

struct VerifyArguments {
  std::string folder, hsaco, out;
  Outputs outputs = {.takes_folder = false};
  std::string type, poison = "written";
  std::string time_limit = "60s";
  std::optional<std::uint64_t> max_ulp;
  std::optional<double> rtol, atol;
  int runs = 3;
  bool no_nan_equal = false, ignore_findings = false;
};

Result<replay::VerifyOptions> verify_options(const VerifyArguments& arguments) {
  replay::VerifyOptions options;
  options.code_object = arguments.hsaco;
  options.runs = arguments.runs;
  options.poison = *from_name<replay::Poison>(arguments.poison);  // checked by CLI11
  options.compare.max_ulp = arguments.max_ulp;
  options.compare.max_relative = arguments.rtol;
  options.compare.max_absolute = arguments.atol;
  options.compare.nan_equal = !arguments.no_nan_equal;
  if (!arguments.type.empty())
    options.compare.type = from_name<replay::ElementType>(arguments.type);
  // The place is looked at before minutes of GPU time are spent.
  if (!arguments.out.empty()) PERFLAB_TRY_VOID(check_replaceable(arguments.out));
  std::vector<std::filesystem::path> kept = {arguments.folder, arguments.hsaco};
  if (!arguments.out.empty()) kept.emplace_back(arguments.out);
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, kept));
  return options;
}

Result<report::CertificateData> verify_capture(const VerifyArguments& arguments) {
  PERFLAB_TRY(const std::chrono::milliseconds limit, parse_duration(arguments.time_limit));
  report::CertificateData data;
  PERFLAB_TRY(data.options, verify_options(arguments));
  LongWork work("loading the capture");
  const InterruptScope interrupts;
  PERFLAB_TRY(auto opened,
              replay::FolderSession::open(
                  arguments.folder, {.code_object = {},
                                     .time_limit = Nanos{std::chrono::nanoseconds(limit).count()},
                                     .ignore_findings = arguments.ignore_findings}));
  data.description = opened.description();
  data.capture_folder = arguments.folder;
  data.options.progress = work.tell();
  PERFLAB_TRY(data.certificate, verify(opened.session(), data.options));
  data.options.progress = {};  // the line goes, the options stay
  data.device = opened.device();
  return data;
}

Result<int> run_verify(const VerifyArguments& arguments) {
  PERFLAB_TRY(const report::CertificateData data, verify_capture(arguments));
  const Json document = report::certificate_document(data);
  if (!arguments.out.empty()) {
    PERFLAB_TRY(const std::string text, report::render("certificate", document));
    PERFLAB_TRY_VOID(write_file_atomically(arguments.out, text));
  }
  PERFLAB_TRY_VOID(present_answer(
      arguments.outputs, {{"certificate", document}},
      {{"verdict", [&] { return report::certificate_verdict_text(data, terminal_style()); }},
       {"regions", [&] { return report::certificate_regions_text(data, terminal_style()); }},
       {"notes", [&] { return report::certificate_notes_text(data, terminal_style()); }}}));
  return data.certificate.exit_code();
}

void add_comparison_options(CLI::App& command, VerifyArguments& arguments) {
  command
      .add_option("--type", arguments.type,
                  "Element type of every region (default: found for each, from the kernel's "
                  "arguments or the data)")
      ->check(CLI::IsMember(replay::element_type_names()));
  command.add_option("--max-ulp", arguments.max_ulp,
                     "Allowed difference between floats in ULPs (default: 0)");
  const auto add_tolerance = [&](const char* name, std::optional<double>& value,
                                 const char* description) {
    command.add_option(name, value, description)->check(CLI::Range(0.0, 1e300));
  };
  add_tolerance("--rtol", arguments.rtol, "Floats may differ by this share of the expected value");
  add_tolerance("--atol", arguments.atol,
                "Floats may differ by this much; with --rtol, by the sum of the two");
  command.add_flag("--no-nan-equal", arguments.no_nan_equal,
                   "A NaN equals only a NaN of the same bits");
}

}  // namespace

void add_replay_verify(CLI::App& replay, int& exit_code) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = replay.add_subcommand(
      "verify", "Prove that a replay, or another code object, computes what was captured");
  set_examples(*command, {"rocm-perf replay verify capture",
                          "rocm-perf replay verify capture --hsaco faster.hsaco --max-ulp 4 --out "
                          "certificate.json"});
  command->footer(
      "Exit codes: 0 bitwise equal, within tolerance, or equal wherever the original "
      "repeats itself; 1 it differs, or nothing could be compared.");
  command->add_option("DIR,--capture-dir", arguments->folder, "Folder of the capture")->required();
  command->add_option("--hsaco", arguments->hsaco,
                      "Another code object (or a file that holds one) with a kernel of the same "
                      "symbol and arguments, to be compared with the captured one");
  add_comparison_options(*command, *arguments);
  command
      ->add_option("--poison", arguments->poison,
                   "What is overwritten before a further run, so that writing nothing fails: none, "
                   "written (what the captured dispatch changed) or arguments (also the rest of "
                   "every buffer that the arguments point to and may write) (default: written)")
      ->check(CLI::IsMember({"none", "written", "arguments"}));
  command
      ->add_option(
          "--runs", arguments->runs,
          "Runs of the captured code object, to find what differs between runs (default: 3)")
      ->check(CLI::Range(1, kMostRuns));
  command->add_option("--time-limit", arguments->time_limit,
                      "Longest time of one dispatch: 500ms, 60s, 5m (default: 60s)");
  command->add_flag("--ignore-findings", arguments->ignore_findings,
                    "Replay even if `capture check` finds errors in the capture");
  command->add_option("--out", arguments->out, "Write the certificate to this file");
  add_html_option(*command, arguments->outputs.html, "the certificate");
  add_answer_options(*command, arguments->outputs, "certificate");
  offer_sections(*command, {"verdict", "regions", "notes"});
  command->callback([arguments, &exit_code] {
    const auto done = run_verify(*arguments);
    exit_code = done ? *done : report_error(done.error());
  });
}

}  // namespace perflab::cli
