// rocm-perf ranks: summaries or recordings of a job's ranks in; who makes whom wait, out.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/present.h"
#include "ranks/analyze_ranks.h"
#include "ranks/open_ranks.h"
#include "ranks/path/rank_what_if.h"
#include "report/kit/document.h"
#include "report/ranks/ranks_document.h"
#include "report/ranks/ranks_text.h"

namespace perflab::cli {
namespace {

struct RanksArguments {
  std::vector<std::string> files;
  std::vector<std::string> what_if;
  Outputs outputs;
  unsigned threads = 0;
};

Result<void> run_ranks(const RanksArguments& arguments) {
  const std::vector<std::filesystem::path> files(arguments.files.begin(), arguments.files.end());
  PERFLAB_TRY_VOID(check_html_file(arguments.outputs.html, files, arguments.outputs.folder));
  ranks::RanksOptions options;
  ranks::OpenOptions open;
  options.threads = open.threads = arguments.threads;
  for (const std::string& text : arguments.what_if) {
    PERFLAB_TRY(ranks::RankWhatIf what_if, ranks::parse_rank_what_if(text));
    if (what_if.target == ranks::RankWhatIf::Target::scenario &&
        std::ranges::find(open.scenarios, what_if.scenario) == open.scenarios.end())
      open.scenarios.push_back(what_if.scenario);
    options.what_if.push_back(std::move(what_if));
  }
  LongWork work("reading ranks");
  open.progress = part_of(work.tell(), 0, 0.5);
  options.progress = part_of(work.tell(), 0.5, 1);
  PERFLAB_TRY(const ranks::SummarySource source, ranks::open_ranks(files, open));
  PERFLAB_TRY(const ranks::RanksAnalysis found, ranks::analyze_ranks(source, options));
  work.end();
  const auto style = terminal_style();
  std::vector<Document> documents;
  documents.push_back({"ranks", report::ranks_document(found)});
  return present_answer(
      arguments.outputs, std::move(documents),
      {{"ranks", [&] { return report::ranks_ranks_text(found, style); }},
       {"stragglers", [&] { return report::ranks_stragglers_text(found, style); }},
       {"collectives", [&] { return report::ranks_collectives_text(found, style); }},
       {"path", [&] { return report::ranks_path_text(found, style); }},
       {"clocks", [&] { return report::ranks_clocks_text(found, style); }},
       {"matching", [&] { return report::ranks_matching_text(found, style); }}});
}

}  // namespace

void add_ranks(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<RanksArguments>();
  CLI::App* command =
      app.add_subcommand("ranks", "Show which rank of a job makes the others wait, and why");
  set_examples(*command, {"rocm-perf ranks summaries/",
                          "rocm-perf ranks rank*.db --what-if 'rank:3/gemm=2x' --what-if balance"});
  command
      ->add_option("FILE", arguments->files,
                   "Summaries of rank-summary, folders of them, or recordings of ranks")
      ->required();
  command
      ->add_option("--what-if", arguments->what_if,
                   "What the job would gain: 'NAME=2x' (on all ranks), 'rank:3/NAME=2x', "
                   "'rank:3=median', 'balance', 'transfer=2x', 'wait=0'; can be given again")
      ->allow_extra_args(false);
  command->add_option("-o,--out", arguments->outputs.folder,
                      "Write ranks.json and summary.json into this folder");
  add_html_option(*command, arguments->outputs.html, "the ranks, and who waits for whom");
  add_answer_options(*command, arguments->outputs, "ranks");
  offer_sections(*command, {"ranks", "stragglers", "collectives", "path", "clocks", "matching"});
  command->add_option("--threads", arguments->threads,
                      "Threads to read with (default: all cores); the result is the same");
  command->callback([arguments, &exit_code] {
    if (const auto done = run_ranks(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
