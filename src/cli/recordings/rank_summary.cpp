// rocm-perf rank-summary: recordings of a job's ranks in; one small file for each rank out, which
// is all that the analysis of the whole job needs.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "analyze/critical_path/what_if.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "cli/recordings/rank_summary_nodes.h"
#include "ranks/rank/make_summaries.h"
#include "report/kit/document.h"
#include "report/ranks/rank_summary_document.h"

namespace perflab::cli {
namespace {

struct RankSummaryArguments {
  std::vector<std::string> files;
  std::string folder, executor = "local";
  std::vector<std::string> what_if;
  unsigned jobs = 1;
  bool json = false;
};

/// --executor slurm: the nodes of this allocation do what lies on them.
Result<int> run_on_nodes(const RankSummaryArguments& arguments) {
  if (arguments.json)
    return fail(ErrorCode::usage,
                "--json lists what this process made, and with --executor slurm the nodes make it",
                "leave one of them out");
  std::vector<std::string> options;
  for (const std::string& text : arguments.what_if) {
    PERFLAB_TRY_VOID(analyze::parse_what_if(text));
    options.insert(options.end(), {"--what-if", text});
  }
  PERFLAB_TRY_VOID(summarize_on_nodes({arguments.files.begin(), arguments.files.end()},
                                      arguments.folder, options));
  return 0;
}

/// The recordings that were named, and those in folders that were.
Result<std::vector<std::filesystem::path>> files_of(const RankSummaryArguments& arguments) {
  std::vector<std::filesystem::path> files;
  for (const std::string& input : arguments.files) {
    PERFLAB_TRY(const std::vector<std::filesystem::path> found, recordings_in(input));
    files.insert(files.end(), found.begin(), found.end());
    if (found.empty()) files.emplace_back(input);  // whose error says what it is
  }
  return files;
}

/// The exit code: that of the first recording that failed.
Result<int> run_rank_summary(const RankSummaryArguments& arguments) {
  if (arguments.executor == "slurm") return run_on_nodes(arguments);
  ranks::MakeSummariesOptions options;
  options.jobs = arguments.jobs;
  for (const std::string& text : arguments.what_if) {
    PERFLAB_TRY(analyze::WhatIf change, analyze::parse_what_if(text));
    options.summarize.what_if.push_back(std::move(change));
  }
  PERFLAB_TRY(const std::vector<std::filesystem::path> files, files_of(arguments));
  LongWork work("reading recordings");
  options.progress = work.tell();
  PERFLAB_TRY(const ranks::MadeSummaries made,
              ranks::make_summaries(files, arguments.folder, options));
  work.end();
  PERFLAB_TRY_VOID(
      present({.json = arguments.json},
              {{"rank_summary", report::rank_summary_document(made, arguments.folder)}},
              [&] { return report::rank_summary_text(made); }));
  return made.failed.empty() ? 0 : exit_code(made.failed.front().error.code);
}

}  // namespace

void add_rank_summary(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<RankSummaryArguments>();
  CLI::App* command =
      app.add_subcommand("rank-summary", "Make a small file of each rank's recording, for ranks");
  set_examples(*command, {"rocm-perf rank-summary rank*/results.db -o summaries",
                          "rocm-perf rank-summary *.db -o summaries --jobs 4 --what-if 'gemm=2x'"});
  command->footer(
      "Doing it again changes nothing: a summary that is there already is kept, and of a recording "
      "with the same bytes none is made again. Exit codes: 0; of several recordings, that of the "
      "first one that failed, the others are done.");
  command
      ->add_option("TRACE", arguments->files,
                   "Recordings, each of one or more ranks of the job; or a folder of them")
      ->required();
  command->add_option("-o,--out", arguments->folder, "Write the summaries into this folder")
      ->required();
  command->add_option("--what-if", arguments->what_if,
                      "Keep what the ranks' graphs would be with other durations: 'REGEX=2x', "
                      "'copy=0', 'launch=0', 'sync=drop'; one scenario each");
  command
      ->add_option("--jobs", arguments->jobs,
                   "Recordings to read at once; what is written is the same")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command
      ->add_option("--executor", arguments->executor,
                   "local: this process; slurm: inside of an allocation, each node what lies on it")
      ->check(CLI::IsMember({"local", "slurm"}))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "Print rank_summary.json instead of text");
  command->callback([arguments, &exit_code] {
    const Result<int> done = run_rank_summary(*arguments);
    exit_code = done ? *done : report_error(done.error());
  });
}

}  // namespace perflab::cli
