// What the summaries of all commands are put together from.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/kit/text_parts.h"
#include "report/summary/excerpt.h"

namespace perflab::report {

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

/// Takes rows out, the last of the longest part first (of parts without `details` at last), and
/// then warnings, until it fits; what was taken out is counted. What was recorded stays.
void shorten(Json& summary, const std::function<bool(const Json&)>& fits);

/// Writes the parts and next steps of an answer into a summary that has a head.
using Summarise = void (*)(std::span<const NamedDocument> documents, Json& summary);
/// The lines below a part's heading; nothing: a table or facts, as they are drawn for all.
using DrawPart = std::optional<std::string> (*)(const Json& summary, const Json& part,
                                                std::size_t width, const Paint& paint);

/// The answer of the commands whose first document is this one.
struct Answer {
  std::string_view document;
  Summarise summarise;
  DrawPart draw = nullptr;  ///< nullptr: no part has a form of its own
};
/// That of the first document that has one; nullptr: there is none.
const Answer* answer_of(const std::function<bool(std::string_view)>& has);

void summarise_recording(std::span<const NamedDocument> documents, Json& summary);
void summarise_path(std::span<const NamedDocument> documents, Json& summary);
void summarise_roofline(std::span<const NamedDocument> documents, Json& summary);
/// A process that was only timed.
void summarise_process(std::span<const NamedDocument> documents, Json& summary);
void summarise_inspection(std::span<const NamedDocument> documents, Json& summary);
void summarise_doctor(std::span<const NamedDocument> documents, Json& summary);
void summarise_capture(std::span<const NamedDocument> documents, Json& summary);
void summarise_autotune(std::span<const NamedDocument> documents, Json& summary);
void summarise_optimization(std::span<const NamedDocument> documents, Json& summary);
void summarise_comparison(std::span<const NamedDocument> documents, Json& summary);
void summarise_certificate(std::span<const NamedDocument> documents, Json& summary);
void summarise_replay(std::span<const NamedDocument> documents, Json& summary);
void summarise_reservation(std::span<const NamedDocument> documents, Json& summary);
void summarise_capture_run(std::span<const NamedDocument> documents, Json& summary);

std::optional<std::string> inspection_part_text(const Json& summary, const Json& part,
                                                std::size_t width, const Paint& paint);
std::optional<std::string> doctor_part_text(const Json& summary, const Json& part,
                                            std::size_t width, const Paint& paint);
std::optional<std::string> capture_part_text(const Json& summary, const Json& part,
                                             std::size_t width, const Paint& paint);
std::optional<std::string> autotune_part_text(const Json& summary, const Json& part,
                                              std::size_t width, const Paint& paint);
std::optional<std::string> optimization_part_text(const Json& summary, const Json& part,
                                                  std::size_t width, const Paint& paint);
std::optional<std::string> comparison_part_text(const Json& summary, const Json& part,
                                                std::size_t width, const Paint& paint);
std::optional<std::string> replay_part_text(const Json& summary, const Json& part,
                                            std::size_t width, const Paint& paint);

/// A field of a row: its number, 0 where there is none; whether there is one; its text, empty where
/// there is none.
double row_number(const Json& row, std::string_view field);
bool has_row_number(const Json& row, std::string_view field);
std::string row_text(const Json& row, std::string_view field);

/// A text in lines of at most `width` columns that begin with `margin` blanks.
std::string margined(std::string_view text, std::size_t width, std::size_t margin);

}  // namespace perflab::report
