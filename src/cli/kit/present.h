// What subcommands have in common at their end: documents into a folder, a page, JSON or text on
// stdout.
#pragma once

#include <functional>
#include <string>
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
  bool json = false;   ///< --json: the first document and nothing else
  bool quiet = false;  ///< nothing but errors
  /// The documents are all that there is of a recording: what an earlier command left of another
  /// one in the folder goes.
  bool whole_recording = false;

  /// Whether any document is shown or written: those of large inputs are made only then.
  [[nodiscard]] bool wants_documents() const { return json || html || !folder.empty(); }
};

/// What the analysis has to keep for them.
void apply(const Outputs& outputs, analyze::AnalyzeOptions& options);

/// All documents are rendered before one is written. `text` is asked only when it is
/// printed; the documents are named on stderr behind it. Errors: usage, of the file system.
Result<void> present(const Outputs& outputs, std::vector<Document> documents,
                     const std::function<std::string()>& text);

}  // namespace perflab::cli
