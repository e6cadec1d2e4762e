#include "report/summary/parts.h"

#include <algorithm>

#include "report/kit/text_table.h"
#include "report/summary/summary.h"

namespace perflab::report {

Part rows_of(Part part, const DocumentPlace& array,
             const std::function<Json(const DocumentPlace&)>& row) {
  const std::size_t shown = std::min(array.size(), kMostSummaryRows);
  for (std::size_t i = 0; i < shown; ++i) part.rows.push_back(row(array[i]));
  part.left_out = array.size() - shown;
  return part;
}

Json summary_head(std::span<const NamedDocument> documents) {
  Json made_from = Json::array();
  for (const NamedDocument& one : documents) made_from.push_back(one.name);
  const DocumentPlace answer(&documents.front());
  const DocumentPlace warnings = answer["warnings"];
  Json texts = Json::array();
  for (std::size_t i = 0; i < std::min(warnings.size(), kMostSummaryRows); ++i)
    texts.push_back(fit(warnings[i].text(), 2 * kMostNameColumns));
  return {
      {"schema_version", "1.0.0"},
      {"document", "summary"},
      {"generator", generator_json()},
      {"made_from", made_from},
      {"synthetic", answer["synthetic"] ? *answer["synthetic"] : Json(nullptr)},
      {"warnings",
       {{"from", warnings.name()}, {"left_out", warnings.size() - texts.size()}, {"texts", texts}}},
      {"parts", Json::array()},
      {"next", Json::array()}};
}

void add_part(Json& summary, const Part& part) {
  if (part.rows.empty() && part.missing.empty()) return;
  summary["parts"].push_back({{"part", part.part},
                              {"title", part.title},
                              {"rows", part.rows},
                              {"left_out", part.left_out},
                              {"missing", or_null(part.missing)},
                              {"details", or_null(part.details)}});
}

void add_next(Json& summary, const NextStep& next) {
  summary["next"].push_back({{"command", or_null(next.command)}, {"why", next.why}});
}

void shorten(Json& summary, const std::function<bool(const Json&)>& fits) {
  while (!fits(summary)) {
    Json* longest = nullptr;
    for (Json& part : summary["parts"])
      if (longest == nullptr || part["rows"].size() > (*longest)["rows"].size()) longest = &part;
    if (longest != nullptr && (*longest)["rows"].size() > 1) {
      (*longest)["rows"].erase((*longest)["rows"].size() - 1);
      (*longest)["left_out"] = (*longest)["left_out"].get<std::size_t>() + 1;
      continue;
    }
    Json& texts = summary["warnings"]["texts"];
    if (texts.empty()) return;
    texts.erase(texts.size() - 1);
    summary["warnings"]["left_out"] = summary["warnings"]["left_out"].get<std::size_t>() + 1;
  }
}

Json summary_document(std::span<const NamedDocument> documents) {
  Json summary = summary_head(documents);
  const auto has = [&](std::string_view name) {
    return static_cast<bool>(document_of(documents, name));
  };
  if (has("analysis"))
    summarise_recording(documents, summary);
  else if (has("dag"))
    summarise_path(documents, summary);
  else if (has("roofline"))
    summarise_roofline(documents, summary);
  else if (has("profile"))
    summarise_process(documents, summary);
  else if (has("comparison"))
    summarise_comparison(documents, summary);
  else if (has("certificate"))
    summarise_certificate(documents, summary);
  else if (has("replay"))
    summarise_replay(documents, summary);
  else if (has("reservation"))
    summarise_reservation(documents, summary);
  else if (has("isolate"))
    summarise_capture_run(documents, summary);
  shorten(summary,
          [](const Json& made) { return to_canonical_text(made).size() <= kMostSummaryBytes; });
  return summary;
}

}  // namespace perflab::report
