// The report as one self-contained HTML page: documents, packed, in a template that web/ builds and
// the build embeds. What is drawn from them is written there, in TypeScript.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"

namespace perflab::report {

/// A document of a page.
struct PageDocument {
  std::string name;                 ///< of its schema: "analysis"
  std::optional<std::string> file;  ///< the file that it stands in as well, without folder
  std::string_view text;            ///< what that file holds: report::render
};

/// The page with these documents, in this order. Same documents, same bytes. Error: (usage) they
/// are too large; (internal) the template is damaged.
Result<std::string> html_page(std::span<const PageDocument> documents);

}  // namespace perflab::report
