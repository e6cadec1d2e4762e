// --html FILE, the same for every subcommand that has it: its documents as one page.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/kit/analysis_options.h"
#include "cli/kit/command.h"
#include "cli/kit/output_file.h"
#include "report/page/page.h"

namespace CLI {
class App;
}

namespace perflab::cli {

struct HtmlArguments {
  std::optional<std::string> file;

  explicit operator bool() const { return file.has_value(); }
};

/// Adds --html. `what`: what the page shows, for the help.
void add_html_option(CLI::App& command, HtmlArguments& arguments, const std::string& what);

/// The page as a file that is written. Precondition: one was asked for.
OutputFile page_file(const HtmlArguments& arguments);

/// Refuses a page that would replace one of the inputs, a document that goes into folder `out` (may
/// be empty), the Perfetto file of `path`, or something that is no file, before any work is done.
/// Error (usage).
Result<void> check_html_file(const HtmlArguments& arguments,
                             const std::vector<std::filesystem::path>& inputs,
                             const std::filesystem::path& out = {},
                             const PathArguments* path = nullptr);

/// Writes the page when one was asked for and, unless `quiet`, says so on stderr. `folder`: where
/// the documents were written as NAME.json; empty: nowhere.
Result<void> write_html_file(const HtmlArguments& arguments,
                             const std::vector<report::RenderedDocument>& documents,
                             const std::string& folder, bool quiet = false);

/// The same of documents that stand in files already.
Result<void> write_page(const HtmlArguments& arguments,
                        std::span<const report::PageDocument> documents, bool quiet = false);

}  // namespace perflab::cli
