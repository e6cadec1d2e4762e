// rocm-perf report: documents that were written earlier, as one page.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include "base/system/files.h"
#include "base/text/json.h"
#include "base/text/progress.h"
#include "cli/kit/command.h"
#include "cli/kit/help.h"
#include "cli/kit/html_page.h"
#include "report/kit/document.h"
#include "report/page/page.h"
#include "report/summary/summary.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::vector<std::string> paths;
  HtmlArguments html;
};

/// A document with the file that it was read from.
struct FoundDocument {
  fs::path file;
  std::string name;
  std::string text;  ///< as this version writes it
};

constexpr const char* kHowDocumentsAreMade =
    "documents are what --out and --json of the commands write: rocm-perf analyze run.db --out DIR";

/// What is told of one run stands together; the other documents follow by name.
std::vector<std::string> names_in_order() {
  constexpr std::array<std::string_view, 6> kFirst = {"analysis", "profile",  "roofline",
                                                      "dag",      "timeline", "thread_trace"};
  std::vector<std::string> names(kFirst.begin(), kFirst.end());
  for (std::string& name : report::schema_names())
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  return names;
}

/// Name of the document when this program made it.
std::optional<std::string> made_here(const Json& value) {
  const auto text_at = [&](const char* field) -> std::optional<std::string> {
    const Json::json_pointer at(field);
    if (!value.contains(at) || !value.at(at).is_string()) return std::nullopt;
    return value.at(at).get<std::string>();
  };
  if (text_at("/generator/name") != "rocm-perf") return std::nullopt;
  return text_at("/document");
}

/// Error (bad_input): it is no document of this program, or of another version.
Result<FoundDocument> read_document(const fs::path& file) {
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(Json value, parse_json(text, file.string()));
  const std::optional<std::string> name = made_here(value);
  if (!name || !report::schema_text(*name))
    return fail(ErrorCode::bad_input,
                fmt::format("{}: this is not a document of rocm-perf", file.string()),
                kHowDocumentsAreMade);
  Result<std::string> rendered = report::render(*name, std::move(value));
  if (!rendered)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is damaged, or of another version of rocm-perf: {}", file.string(),
                            rendered.error().message),
                "write it again with this version");
  return FoundDocument{.file = file, .name = *name, .text = std::move(*rendered)};
}

/// The documents among the files of a folder that have a document's name.
Result<std::vector<FoundDocument>> read_folder(const fs::path& folder) {
  std::vector<FoundDocument> found;
  std::error_code error;
  for (const std::string& name : names_in_order()) {
    const fs::path file = folder / (name + ".json");
    if (name == report::kSummary || !fs::exists(file, error)) continue;
    PERFLAB_TRY(found.emplace_back(), read_document(file));
    if (found.back().name != name)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: holds the document {}", file.string(), found.back().name),
                  "give the files instead of the folder");
  }
  if (found.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{}: there is no document of rocm-perf in it", folder.string()),
                kHowDocumentsAreMade);
  return found;
}

/// All documents, each file once.
Result<std::vector<FoundDocument>> read_all(const std::vector<std::string>& paths) {
  std::vector<FoundDocument> all;
  const auto is_new = [&](const FoundDocument& document) {
    return std::ranges::none_of(all, [&](const FoundDocument& other) {
      std::error_code error;
      return fs::equivalent(document.file, other.file, error);
    });
  };
  for (const std::string& path : paths) {
    std::vector<FoundDocument> found;
    std::error_code error;
    if (fs::is_directory(path, error)) {
      PERFLAB_TRY(found, read_folder(path));
    } else {
      PERFLAB_TRY(found.emplace_back(), read_document(path));
    }
    for (FoundDocument& document : found)
      if (is_new(document)) all.push_back(std::move(document));
  }
  return all;
}

Result<void> run_report(const ReportArguments& arguments) {
  const std::vector<fs::path> inputs(arguments.paths.begin(), arguments.paths.end());
  PERFLAB_TRY_VOID(check_html_file(arguments.html, inputs));
  LongWork work("reading documents");
  PERFLAB_TRY(const std::vector<FoundDocument> found, read_all(arguments.paths));
  std::vector<report::PageDocument> shown;
  for (const FoundDocument& one : found)
    shown.push_back({.name = one.name, .file = one.file.filename().string(), .text = one.text});
  work.end();
  return write_page(arguments.html, shown);
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* command =
      app.add_subcommand("report", "Make one HTML page from documents written earlier");
  set_examples(*command,
               {"rocm-perf report report/ --html report.html",
                "rocm-perf report report/ optimization/optimization.json --html report.html"});
  command->footer("The page needs no network, and a browser of 2023 or later.");
  command
      ->add_option("PATH", arguments->paths,
                   "Documents (analysis.json, optimization.json, ...), or folders that hold them")
      ->required();
  add_html_option(*command, arguments->html, "them");
  command->get_option("--html")->required();
  command->callback([arguments, &exit_code] {
    if (const auto done = run_report(*arguments); !done) exit_code = report_error(done.error());
  });
}

}  // namespace perflab::cli
