// What every subcommand file offers, and the little they share. A subcommand maps arguments to one
// call and renders the result; it holds no logic (docs/ARCHITECTURE.md "The house"). stdout is
// data, stderr is talk.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "report/kit/style.h"

namespace CLI {
class App;
}

namespace perflab::report {
struct NamedDocument;
struct RenderedDocument;
}  // namespace perflab::report

namespace perflab::cli {

/// Each adds its subcommand to the program; when it is chosen, its exit code is put into
/// `exit_code`. `target`: the words behind "--" on the command line. `words`: the whole of it.
void add_analyze(CLI::App& app, int& exit_code);
void add_autotune(CLI::App& app, const std::vector<std::string>& words, int& exit_code);
void add_autotune_app(CLI::App& app, const std::vector<std::string>& words, int& exit_code);
/// Not shown in the help: what autotune starts on the nodes of a cluster.
void add_autotune_worker(CLI::App& app, int& exit_code);
void add_rank_summary_task(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_capture(CLI::App& app, int& exit_code);
void add_compare(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_critical_path(CLI::App& app, int& exit_code);
void add_dispatch_table(CLI::App& app, int& exit_code);
void add_doctor(CLI::App& app, int& exit_code);
/// Not in the help: the process in which doctor opens the HSA runtime.
void add_doctor_agents(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, const std::vector<std::string>& target, int& exit_code);
void add_isolate(CLI::App& app, const std::vector<std::string>& target, int& exit_code);
/// Not in the help: what the build writes the manual pages with.
void add_manual(CLI::App& app, int& exit_code);
void add_mcp(CLI::App& app, int& exit_code);
void add_occupancy(CLI::App& app, int& exit_code);
void add_optimize(CLI::App& app, const std::vector<std::string>& target,
                  const std::vector<std::string>& words, int& exit_code);
/// Not in the help: what optimize starts to hold the GPU of a capture.
void add_optimize_worker(CLI::App& app, int& exit_code);
void add_autotune_capture_worker(CLI::App& app, int& exit_code);
void add_profile(CLI::App& app, const std::vector<std::string>& target, int& exit_code);
void add_ranks(CLI::App& app, int& exit_code);
void add_rank_summary(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
/// Adds `verify` to `replay`.
void add_replay_verify(CLI::App& replay, int& exit_code);
void add_report(CLI::App& app, int& exit_code);
void add_roofline(CLI::App& app, int& exit_code);
void add_schema(CLI::App& app, int& exit_code);

/// Prints the error to stderr and returns its exit code.
int report_error(const Error& error);

/// Width and colour of stdout: the terminal's, COLUMNS, or 100; colour only on a terminal, NO_COLOR
/// honoured.
report::TerminalStyle terminal_style();

/// Writes rendered text to stdout; the error (usage) when stdout cannot take it.
Result<void> print(const std::string& text);

/// One document of a command's output.
using Document = report::NamedDocument;

/// Writes documents into the folder, which is made.
Result<void> write_documents(const std::string& folder,
                             const std::vector<report::RenderedDocument>& documents);

/// Removes a roofline.json, dag.json, profile.json, timeline.json or thread_trace.json of this
/// program that is not among the documents from the folder and says so on stderr (unless `quiet`):
/// an earlier command left it, and it would be taken for a part of the documents written now. Other
/// files stay. Error (usage): it cannot be removed.
Result<void> remove_stale_documents(const std::string& folder,
                                    const std::vector<report::RenderedDocument>& documents,
                                    bool quiet = false);

}  // namespace perflab::cli
