#include "report/excerpt/parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

/// Bytes of the values of one configuration in a summary: spaces can have hundreds of parameters.
constexpr std::size_t kMostConfigurationBytes = 800;

}  // namespace

Json configuration_excerpt(const DocumentPlace& place,
                           const std::function<bool(const std::string& name)>& shown) {
  Json out = place.excerpt({});
  if (!place || !(*place).is_object()) return out;
  std::size_t bytes = 0;
  for (const auto& [name, value] : (*place).items()) {
    if (name == "from" || name == "what" || !shown(name)) continue;
    const Json one = place.excerpt({name});
    bytes += name.size() + to_canonical_text(one[name]).size();
    if (bytes > kMostConfigurationBytes) break;
    out[name] = one[name];
  }
  return out;
}

Json whole_configuration(const DocumentPlace& place) {
  return configuration_excerpt(place, [](const std::string&) { return true; });
}

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
  Json summary = {{"schema_version", "1.1.0"},
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
    shown.push_back(texts[i]);
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

}  // namespace perflab::report
