#include "report/summary/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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
  Json summary = {{"schema_version", "1.0.0"},
                  {"document", "summary"},
                  {"generator", generator_json()},
                  {"made_from", made_from},
                  {"synthetic", answer["synthetic"] ? *answer["synthetic"] : Json(nullptr)},
                  {"warnings", nullptr},
                  {"parts", Json::array()},
                  {"next", Json::array()}};
  const DocumentPlace warnings = answer["warnings"];
  take_warnings(summary, warnings, warnings.texts());
  return summary;
}

void take_warnings(Json& summary, const DocumentPlace& place,
                   const std::vector<std::string>& texts) {
  Json shown = Json::array();
  for (std::size_t i = 0; i < std::min(texts.size(), kMostSummaryRows); ++i)
    shown.push_back(fit(texts[i], kMostSentenceColumns));
  summary["warnings"] = {
      {"from", place.name()}, {"left_out", texts.size() - shown.size()}, {"texts", shown}};
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

std::string factor_text(double factor) {
  return factor < 1000 ? fmt::format("{:.3g}x", factor) : fmt::format("{:.0f}x", factor);
}

void add_next(Json& summary, const NextStep& next) {
  if (next.command.size() > kMostCommandBytes) return;
  summary["next"].push_back({{"command", or_null(next.command)}, {"why", next.why}});
}

double row_number(const Json& row, std::string_view field) {
  const auto found = row.find(field);
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

std::string row_text(const Json& row, std::string_view field) {
  const auto found = row.find(field);
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool has_row_number(const Json& row, std::string_view field) {
  const auto found = row.find(field);
  return found != row.end() && found->is_number();
}

std::string margined(std::string_view text, std::size_t width, std::size_t margin) {
  constexpr std::size_t kLeastRoom = 20;
  std::string out;
  for (const std::string& line : wrapped(text, std::max(width, margin + kLeastRoom) - margin))
    out += fmt::format("{:{}}{}\n", "", margin, line);
  return out;
}

void shorten(Json& summary, const std::function<bool(const Json&)>& fits) {
  while (!fits(summary)) {
    Json* longest = nullptr;
    // First where the rest is a section of --details away.
    for (const bool elsewhere : {true, false}) {
      if (longest != nullptr) break;
      for (Json& part : summary["parts"])
        if (part["details"].is_null() != elsewhere && part["part"] != "recorded" &&
            part["rows"].size() > 1 &&
            (longest == nullptr || part["rows"].size() > (*longest)["rows"].size()))
          longest = &part;
    }
    if (longest != nullptr) {
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

const Answer* answer_of(const std::function<bool(std::string_view)>& has) {
  // An analysis comes with a profile, a roofline and a path of its own.
  static constexpr std::array<Answer, 14> kAnswers = {{
      {"analysis", summarise_recording},
      {"dag", summarise_path},
      {"roofline", summarise_roofline},
      {"profile", summarise_process},
      {"inspection", summarise_inspection, inspection_part_text},
      {"doctor", summarise_doctor, doctor_part_text},
      {"capture", summarise_capture, capture_part_text},
      {"autotune", summarise_autotune, autotune_part_text},
      {"optimization", summarise_optimization, optimization_part_text},
      {"comparison", summarise_comparison, comparison_part_text},
      {"certificate", summarise_certificate, replay_part_text},
      {"replay", summarise_replay, replay_part_text},
      {"reservation", summarise_reservation, replay_part_text},
      {"isolate", summarise_capture_run, replay_part_text},
  }};
  const auto* const found = std::ranges::find_if(kAnswers, has, &Answer::document);
  return found == kAnswers.end() ? nullptr : found;
}

Json summary_document(std::span<const NamedDocument> documents) {
  Json summary = summary_head(documents);
  const Answer* const answer = answer_of(
      [&](std::string_view name) { return static_cast<bool>(document_of(documents, name)); });
  if (answer != nullptr) answer->summarise(documents, summary);
  shorten(summary,
          [](const Json& made) { return to_canonical_text(made).size() <= kMostSummaryBytes; });
  return summary;
}

}  // namespace perflab::report
