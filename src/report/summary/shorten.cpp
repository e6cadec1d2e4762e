// Rows go one by one and are counted, so that the summary always says how many there were. Texts
// are cut last of all but parts: a name of 10,000 characters (a template's) is one row.
#include "report/summary/shorten.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "report/excerpt/excerpt.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

/// Columns of the longest text, tried in turn.
constexpr std::array<std::size_t, 5> kTextCaps = {kMostReasonColumns, 160, 80, 40, 20};

/// The part with most rows above `least`; nullptr: there is none. `elsewhere`: of those whose rest
/// is a section of --details away.
Json* longest_part(Json& summary, std::size_t least, bool elsewhere) {
  Json* longest = nullptr;
  for (Json& part : summary["parts"])
    if (part["details"].is_null() != elsewhere && part["part"] != "recorded" &&
        part["rows"].size() > least &&
        (longest == nullptr || part["rows"].size() > (*longest)["rows"].size()))
      longest = &part;
  return longest;
}

/// Whether there was a row to take.
bool take_row(Json* part) {
  if (part == nullptr) return false;
  (*part)["rows"].erase((*part)["rows"].size() - 1);
  (*part)["left_out"] = (*part)["left_out"].get<std::size_t>() + 1;
  return true;
}

bool take_warning(Json& summary, std::size_t least) {
  Json& texts = summary["warnings"]["texts"];
  if (texts.size() <= least) return false;
  texts.erase(texts.size() - 1);
  summary["warnings"]["left_out"] = summary["warnings"]["left_out"].get<std::size_t>() + 1;
  return true;
}

/// Cuts a text, or those of an array, to `most` columns. The number that were longer.
std::size_t cut_text(Json& value, std::size_t most) {
  if (value.is_array()) {
    std::size_t count = 0;
    for (Json& one : value) count += cut_text(one, most);
    return count;
  }
  if (!value.is_string()) return 0;
  const auto& text = value.get_ref<const std::string&>();
  if (display_width(text) <= most) return 0;
  value = fit(text, most);
  return 1;
}

/// The same of an excerpt and those within. Where it is from stays whole.
std::size_t cut_excerpt(Json& row, std::size_t most) {
  std::size_t count = 0;
  for (auto& [field, value] : row.items()) {
    if (field == "from" || field == "where") continue;
    count += value.is_object() ? cut_excerpt(value, most)
                               : cut_text(value, std::min(most, most_columns(field)));
  }
  return count;
}

/// The same of a summary. Commands stay whole: half of one cannot be pasted.
std::size_t cut_texts(Json& summary, std::size_t most) {
  std::size_t count = cut_text(summary["synthetic"], most);
  count += cut_text(summary["warnings"]["texts"], std::min(most, kMostSentenceColumns));
  for (Json& part : summary["parts"]) {
    count += cut_text(part["title"], most) + cut_text(part["missing"], most);
    for (Json& row : part["rows"]) count += cut_excerpt(row, most);
  }
  for (Json& step : summary["next"]) count += cut_text(step["why"], most);
  return count;
}

/// The summary with its texts cut.
Json with_texts_cut(Json summary, std::size_t most) {
  summary["cut"]["texts"] = cut_texts(summary, most);
  return summary;
}

/// Takes the last element out. Whether there was one.
bool take_last(Json& summary, const char* array) {
  if (summary[array].empty()) return false;
  summary[array].erase(summary[array].size() - 1);
  summary["cut"][array] = summary["cut"][array].get<std::size_t>() + 1;
  return true;
}

}  // namespace

void shorten(Json& summary, const std::function<bool(const Json&)>& fits) {
  while (!fits(summary) &&
         (take_row(longest_part(summary, kLeastTableRows, true)) || take_warning(summary, 1) ||
          take_row(longest_part(summary, 1, true)) || take_row(longest_part(summary, 1, false)) ||
          take_warning(summary, 0))) {
  }
}

void fit_in_bytes(Json& summary, std::size_t most) {
  const auto small = [&](const Json& made) { return to_canonical_text(made).size() <= most; };
  summary["cut"] = {{"texts", 0}, {"parts", 0}, {"next", 0}};
  for (const std::size_t cap : kTextCaps) {
    Json made = summary;
    shorten(made, [&](const Json& shorter) { return small(with_texts_cut(shorter, cap)); });
    made = with_texts_cut(std::move(made), cap);
    if (small(made)) {
      summary = std::move(made);
      return;
    }
  }
  const auto cut = [&] { return with_texts_cut(summary, kTextCaps.back()); };
  shorten(summary, [](const Json&) { return false; });
  while (!small(cut()) && (take_last(summary, "parts") || take_last(summary, "next"))) {
  }
  summary = cut();
}

}  // namespace perflab::report
