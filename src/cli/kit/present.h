// What subcommands have in common at their end: documents into a folder, a page, JSON or text on
// stdout. The text is the answer on one page (report/summary); --details has all of it.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/pipeline.h"
#include "base/error.h"
#include "cli/kit/command.h"
#include "cli/kit/html_page.h"

namespace perflab::cli {

/// What the options say of the output.
struct Outputs {
  std::string folder = {};  ///< --out; empty: no documents in files
  HtmlArguments html = {};
  bool json = false;         ///< --json: the first document and nothing else
  bool brief = false;        ///< --brief: with --json the answer as a document
  bool all = false;          ///< --all-documents: with --json all of them, members of one object
  bool quiet = false;        ///< nothing but errors
  std::string details = {};  ///< --details SECTION, or kAllSections; empty: the answer
  /// The documents are all that there is of a recording: what an earlier command left of another
  /// one in the folder goes.
  bool whole_recording = false;
  bool takes_folder = true;  ///< the command has --out
  bool takes_page = true;    ///< the command has --html
  /// Option with which the command prints again what it found, and runs nothing twice; empty: it
  /// is the same command.
  std::string again = {};

  /// Whether any document is shown or written: those of large inputs are made only then.
  [[nodiscard]] bool wants_documents() const { return json || html || !folder.empty(); }
};

/// A part of the text, by its name in --details: one of kSectionNames.
struct Section {
  std::string_view name;
  std::function<std::string()> text;
};
inline constexpr std::array<std::string_view, 38> kSectionNames = {
    "against",     "best",     "bottleneck", "candidates",     "capture",       "clocks",
    "collectives", "command",  "commands",   "configurations", "critical-path", "diff",
    "dispatch",    "findings", "gates",      "gpus",           "kernels",       "matching",
    "missing",     "mix",      "notes",      "parameters",     "parts",         "path",
    "pc-samples",  "problems", "profile",    "proof",          "ranges",        "ranks",
    "regions",     "roofline", "rule",       "search",         "stragglers",    "thread-trace",
    "times",       "verdict"};
inline constexpr std::string_view kAllSections = "all";

/// --details alone means all of them: it takes the word behind it only when that is the name of a
/// section, and no file. The words of a command line, up to "--".
void complete_details(std::vector<std::string>& words);

/// Adds --json (of the document of that name), --brief and --details, and --all-documents, which
/// is for `rocm-perf mcp` and not in the help.
void add_answer_options(CLI::App& command, Outputs& outputs, const std::string& document);

/// Adds --all: every row of the tables of --details, which it stands for when that is not given.
void add_all_option(CLI::App& command, bool& all, Outputs& outputs);
/// Whether --details names one of these, or all. Error (usage): it does not. present_answer() asks
/// it too; a command that runs for long asks first.
Result<void> check_details(const Outputs& outputs, std::span<const std::string_view> sections);
/// The names that --details of the command takes: another one is refused before any work is done.
void offer_sections(CLI::App& command, const std::vector<std::string>& names);

/// What the analysis has to keep for them.
void apply(const Outputs& outputs, analyze::AnalyzeOptions& options);

/// All documents are rendered before one is written. `text` is asked only when it is
/// printed; the documents are named on stderr behind it. Errors: usage, of the file system.
Result<void> present(const Outputs& outputs, std::vector<Document> documents,
                     const std::function<std::string()>& text);

/// The same with an answer (report/summary), which is the text and one of the documents in the
/// folder; --details has the sections. Error (usage): there is no such section.
Result<void> present_answer(const Outputs& outputs, std::vector<Document> documents,
                            const std::vector<Section>& sections);

}  // namespace perflab::cli
