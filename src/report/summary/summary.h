// summary.json: the answer of a command in at most 8 KB. It is made of the command's documents
// alone, as excerpts (excerpt.h): whoever reads it can follow every figure to its field.
//
// {made_from, synthetic, warnings, parts: [{part, title, rows | facts, left_out, details}], next}
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"
#include "report/kit/document.h"
#include "report/kit/style.h"

namespace perflab::report {

/// The document's name. A page has what it is made of, and not the summary itself.
inline constexpr std::string_view kSummary = "summary";
/// Lines of its text at most.
inline constexpr std::size_t kMostSummaryLines = 40;
/// Bytes of summary.json at most.
inline constexpr std::size_t kMostSummaryBytes = 8192;

/// The summary of a command's documents, the first of which is its answer ("analysis", "dag",
/// "roofline", ...). The document "summary" with its schema. Precondition: there is a document.
Json summary_document(std::span<const NamedDocument> documents);

/// The same for people: at most 40 lines. `more`: how the rest is had ("--details, --out DIR").
std::string summary_text(const Json& summary, const TerminalStyle& style, std::string_view more);

}  // namespace perflab::report
