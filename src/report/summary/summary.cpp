// One answer, made by its command's function, then cut to its size.
#include "report/summary/summary.h"

#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/summary/shorten.h"

namespace perflab::report {

Json summary_document(std::span<const NamedDocument> documents) {
  Json summary = summary_head(documents);
  const Answer* const answer = answer_of(
      [&](std::string_view name) { return static_cast<bool>(document_of(documents, name)); });
  if (answer != nullptr) answer->summarise(documents, summary);
  fit_in_bytes(summary, kMostSummaryBytes);
  return summary;
}

}  // namespace perflab::report
