// The report as one self-contained HTML page: documents, packed, in a template that web/ builds and
// the build embeds. What is drawn from them is written there, in TypeScript.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "base/text/json.h"

namespace perflab::report {

/// A document of a page.
struct PageDocument {
  std::string name;                 ///< of its schema: "analysis"
  std::optional<std::string> file;  ///< the file that it stands in as well, without folder
  const Json* document = nullptr;   ///< as the schema describes it; not null
};

/// The page with these documents, in this order. Same documents, same bytes. Error (internal): a
/// document does not satisfy its schema, or the template is damaged.
Result<std::string> html_page(std::span<const PageDocument> documents);

}  // namespace perflab::report
