// rocm-perf: the program. Exit codes: docs/ARCHITECTURE.md "Errors".
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <new>

#include "base/version.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/overview.h"
#include "cli/kit/present.h"
#include "cli/kit/program_info.h"
#include "cli/kit/wrong_command_line.h"
#include "report/kit/document.h"

namespace {

using namespace perflab;

/// Throws when the command that was chosen takes no words behind "--" and there are some.
void refuse_words_behind_dashes(const CLI::App& app, const std::vector<std::string>& words) {
  for (const CLI::App* command : app.get_subcommands()) {
    const std::string& name = command->get_name();
    if (words.empty() || cli::takes_words(name)) continue;
    throw CLI::ValidationError(
        name, fmt::format("takes no words after --, and there are: {}", fmt::join(words, " ")));
  }
}

int run(int argc, char** argv) {
  // The words behind "--" are a target's: no option parser may look at them.
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto dashes = std::ranges::find(words, "--");
  const std::vector<std::string> target(dashes == words.end() ? dashes : dashes + 1, words.end());
  words.erase(dashes, words.end());
  const std::vector<std::string> given = words;
  cli::complete_details(words);

  CLI::App app("Performance lab for HIP kernels on AMD GPUs", "rocm-perf");
  app.set_version_flag("--version", fmt::format("rocm-perf {}", kProgramVersion));
  app.formatter(std::make_shared<cli::HelpFormatter>(cli::terminal_style().width));
  app.require_subcommand(1);
  app.parse_complete_callback([&] { refuse_words_behind_dashes(app, target); });
  int exit_code = 0;
  cli::add_profile(app, target, exit_code);
  cli::add_analyze(app, exit_code);
  cli::add_autotune(app, {argv, argv + argc}, exit_code);
  cli::add_autotune_app(app, {argv, argv + argc}, exit_code);
  cli::add_autotune_worker(app, exit_code);
  cli::add_calibrate(app, exit_code);
  cli::add_capture(app, exit_code);
  cli::add_compare(app, exit_code);
  cli::add_completion(app, exit_code);
  cli::add_critical_path(app, exit_code);
  cli::add_dispatch_table(app, exit_code);
  cli::add_doctor(app, exit_code);
  cli::add_doctor_agents(app, exit_code);
  cli::add_inspect(app, target, exit_code);
  cli::add_isolate(app, target, exit_code);
  cli::add_manual(app, exit_code);
  cli::add_mcp(app, exit_code);
  cli::add_occupancy(app, exit_code);
  cli::add_optimize(app, target, {argv, argv + argc}, exit_code);
  cli::add_optimize_worker(app, exit_code);
  cli::add_autotune_capture_worker(app, exit_code);
  cli::add_ranks(app, exit_code);
  cli::add_rank_summary(app, exit_code);
  cli::add_rank_summary_task(app, exit_code);
  cli::add_replay(app, exit_code);
  cli::add_report(app, exit_code);
  cli::add_roofline(app, exit_code);
  cli::add_schema(app, exit_code);
  const auto formatter = cli::overview_formatter(cli::terminal_style().width);
  app.formatter(formatter);  // the commands keep theirs
  // After the commands, which would inherit it.
  app.footer(
      "rocm-perf COMMAND --help shows examples of a command and its options.\n"
      "Common errors and what to do about them: docs/ERRORS.md.");
  cli::set_examples(app, {"rocm-perf analyze run.db --html run.html",
                          "rocm-perf inspect softmax.hip --arch gfx942 --no-spills"});
  if (argc <= 1) {
    const Result<void> printed = cli::print(cli::overview(app, *formatter));
    return printed ? 0 : cli::report_error(printed.error());
  }
  try {
    std::ranges::reverse(words);  // what CLI11's vector overload expects; it takes them out
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    return cli::report_error(cli::wrong_command_line(app, error, given));
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    return cli::report_error({.code = ErrorCode::internal,
                              .message = "not enough memory",
                              .notes = {},
                              .remedy = "give it more memory, or smaller inputs"});
  } catch (const std::exception& error) {
    return cli::report_error({.code = ErrorCode::internal,
                              .message = fmt::format("internal error: {}", error.what()),
                              .notes = {},
                              .remedy = {}});
  }
}
