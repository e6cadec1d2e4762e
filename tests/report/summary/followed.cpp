#include "report/summary/followed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/excerpt/excerpt.h"
#include "report/kit/text_table.h"
#include "report/summary/summary.h"

namespace perflab::report {
namespace {

/// The place in the documents, as "analysis.json#/totals" names it; null: there is none.
Json at_place(const std::vector<NamedDocument>& documents, const std::string& from) {
  const std::size_t sign = from.find(".json#");
  for (const NamedDocument& one : documents)
    if (sign != std::string::npos && one.name == from.substr(0, sign)) {
      const Json::json_pointer place(from.substr(sign + 6));
      if (one.value.contains(place)) return one.value.at(place);
    }
  ADD_FAILURE() << "nothing stands at " << from;
  return nullptr;
}

/// Counts the elements of the array again.
void expect_counted(const Json& array, const Json& excerpt) {
  std::size_t counted = array.size();
  if (excerpt.contains("where")) {
    const Json::json_pointer where(excerpt["where"].get<std::string>());
    counted = static_cast<std::size_t>(std::ranges::count_if(array, [&](const Json& element) {
      return element.contains(where) && element.at(where) == excerpt["is"];
    }));
  }
  EXPECT_EQ(excerpt["elements"], counted) << excerpt;
}

/// Follows the excerpt and those within. `cut_texts`: as many texts as the summary says are cut.
std::size_t followed(const std::vector<NamedDocument>& documents, const Json& excerpt,
                     std::size_t cut_texts) {
  std::size_t figures = 0;
  const std::string from = excerpt.at("from");
  const Json place = at_place(documents, from);
  if (place.is_array()) {
    expect_counted(place, excerpt);
    return 1;
  }
  for (const auto& [name, value] : excerpt.items()) {
    if (name == "from" || name == "what") continue;
    if (value.is_object()) {
      figures += followed(documents, value, cut_texts);
      continue;
    }
    if (!place.contains(name)) {
      ADD_FAILURE() << from << " has no " << name;
      continue;
    }
    // As it is written: bytes that are no UTF-8 are replaced.
    const Json original = *parse_json(to_canonical_text(place.at(name)), name);
    if (original.is_string() && value.is_string() && original != value) {
      const std::string shown = value.get<std::string>();
      EXPECT_GT(cut_texts, 0U) << from << "/" << name;
      EXPECT_LT(display_width(shown), display_width(original.get<std::string>())) << from;
      EXPECT_EQ(fit(original.get<std::string>(), display_width(shown)), shown) << from;
    } else {
      EXPECT_EQ(original, value) << from << "/" << name;
    }
    ++figures;
  }
  return figures;
}

/// Whether the line is one of the commands of `next`, which are never broken.
bool is_command(const Json& summary, const std::string& line) {
  return std::ranges::any_of(summary["next"], [&](const Json& step) {
    return step["command"].is_string() && line == "  " + step["command"].get<std::string>();
  });
}

}  // namespace

std::size_t figures_followed(const std::vector<NamedDocument>& documents, const Json& summary) {
  std::size_t figures = 0;
  for (const Json& part : summary["parts"])
    for (const Json& row : part["rows"])
      figures += followed(documents, row, summary["cut"]["texts"].get<std::size_t>());
  return figures;
}

void expect_short(const Json& summary) {
  EXPECT_LE(to_canonical_text(summary).size(), kMostSummaryBytes);
  for (const std::size_t width : {80U, 100U, 120U}) {
    const std::string text = summary_text(summary, {.width = width}, "--details kernels");
    EXPECT_LE(std::ranges::count(text, '\n'), static_cast<std::ptrdiff_t>(kMostSummaryLines))
        << text;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      if (!is_command(summary, line)) {
        EXPECT_LE(display_width(line), width) << line;
      }
      begin = end + 1;
    }
  }
}

Json part_named(const Json& summary, std::string_view name) {
  for (const Json& part : summary["parts"])
    if (part["part"] == name) return part;
  ADD_FAILURE() << "there is no part " << name;
  return nullptr;
}

}  // namespace perflab::report
