// What the answers of all commands are put together from: parts of excerpts, warnings, next steps,
// as summary.json has them (schemas/summary.schema.json).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/excerpt/excerpt.h"

namespace perflab::report {

/// Rows of a table and warnings in a summary at most; the rest is counted.
inline constexpr std::size_t kMostSummaryRows = 5;

/// One answer of a summary: a title over rows.
struct Part {
  std::string part, title;
  std::vector<Json> rows = {};  ///< excerpts
  std::size_t left_out = 0;     ///< rows that the document has beside them
  std::string missing = {};     ///< why there are none
  std::string details = {};     ///< section that has all of it
};

/// A part whose rows are the first elements of an array.
Part rows_of(Part part, const DocumentPlace& array,
             const std::function<Json(const DocumentPlace&)>& row);

/// The values of a configuration of parameters that `shown` takes, the first ones when there are
/// very many. A parameter whose name means something in every excerpt is left out: the document has
/// it.
Json configuration_excerpt(const DocumentPlace& place,
                           const std::function<bool(const std::string& name)>& shown);
Json whole_configuration(const DocumentPlace& place);

/// "1.78x", as --what-if takes it.
std::string factor_text(double factor);

/// What to do next.
struct NextStep {
  std::string command;  ///< empty: it is no command
  std::string why;
};

/// The document without its parts: names, the note of a made-up recording, warnings.
Json summary_head(std::span<const NamedDocument> documents);

/// Texts of the document that change the answer, in place of its `warnings`.
void take_warnings(Json& summary, const DocumentPlace& place,
                   const std::vector<std::string>& texts);

/// Adds what has rows or says why it has none.
void add_part(Json& summary, const Part& part);
/// Adds a step; one whose command nobody would paste (with hundreds of files) is left out.
void add_next(Json& summary, const NextStep& next);
inline constexpr std::size_t kMostCommandBytes = 1000;

/// A field of a row: its number, 0 where there is none; whether there is one; its text, empty where
/// there is none.
double row_number(const Json& row, std::string_view field);
bool has_row_number(const Json& row, std::string_view field);
std::string row_text(const Json& row, std::string_view field);

/// A text in lines of at most `width` columns that begin with `margin` blanks.
std::string margined(std::string_view text, std::size_t width, std::size_t margin);

}  // namespace perflab::report
