// What holds for every summary: each figure stands where its `from` says, and both the document and
// its page are short.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "report/kit/document.h"
#include "report/kit/text_table.h"
#include "report/summary/excerpt.h"
#include "report/summary/summary.h"

namespace perflab::test {

/// The place in the documents, as "analysis.json#/totals" names it; null: there is none.
inline Json at_place(const std::vector<report::NamedDocument>& documents, const std::string& from) {
  const std::size_t sign = from.find(".json#");
  for (const report::NamedDocument& one : documents)
    if (sign != std::string::npos && one.name == from.substr(0, sign)) {
      const Json::json_pointer place(from.substr(sign + 6));
      if (one.value.contains(place)) return one.value.at(place);
    }
  ADD_FAILURE() << "nothing stands at " << from;
  return nullptr;
}

/// Follows the excerpt and those within; the number of figures that stand where they say.
inline std::size_t followed(const std::vector<report::NamedDocument>& documents,
                            const Json& excerpt) {
  std::size_t figures = 0;
  const std::string from = excerpt.at("from");
  const Json place = at_place(documents, from);
  for (const auto& [name, value] : excerpt.items()) {
    if (name == "from" || name == "what") continue;
    if (value.is_object()) {
      figures += followed(documents, value);
      continue;
    }
    if (!place.contains(name)) {
      ADD_FAILURE() << from << " has no " << name;
      continue;
    }
    // As it is written: bytes that are no UTF-8 are replaced.
    const Json original = *parse_json(to_canonical_text(place.at(name)), name);
    const std::size_t most = report::most_columns(name);
    if (original.is_string() && report::display_width(original.get<std::string>()) > most)
      EXPECT_EQ(report::fit(original.get<std::string>(), most), value.get<std::string>()) << from;
    else
      EXPECT_EQ(original, value) << from << "/" << name;
    ++figures;
  }
  return figures;
}

/// Of all rows of a summary.
inline std::size_t followed_all(const std::vector<report::NamedDocument>& documents,
                                const Json& summary) {
  std::size_t figures = 0;
  for (const Json& part : summary.at("parts"))
    for (const Json& row : part.at("rows")) figures += followed(documents, row);
  return figures;
}

/// At most 8 KB, and at most 40 lines that fit at every width; a command is never broken.
inline void expect_short(const Json& summary) {
  EXPECT_LE(to_canonical_text(summary).size(), report::kMostSummaryBytes);
  for (const std::size_t width : {80U, 100U, 120U}) {
    const std::string text = report::summary_text(summary, {.width = width}, "--details kernels");
    EXPECT_LE(std::ranges::count(text, '\n'), report::kMostSummaryLines) << text;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      if (!line.starts_with("  rocm-perf ")) EXPECT_LE(report::display_width(line), width) << line;
      begin = end + 1;
    }
  }
}

/// The part of that name; null, and a failed test: there is none.
inline Json part_named(const Json& summary, const std::string& name) {
  for (const Json& part : summary.at("parts"))
    if (part.at("part") == name) return part;
  ADD_FAILURE() << "there is no part " << name;
  return nullptr;
}

}  // namespace perflab::test
