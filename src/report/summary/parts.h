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

/// What to do next.
struct NextStep {
  std::string command;  ///< empty: it is no command
  std::string why;
};

/// The document without its parts: names, the note of a made-up recording, warnings.
Json summary_head(std::span<const NamedDocument> documents);

/// Adds what has rows or says why it has none.
void add_part(Json& summary, const Part& part);
void add_next(Json& summary, const NextStep& next);

/// Takes rows out, the last of the longest part first, and then warnings, until it fits; what was
/// taken out is counted.
void shorten(Json& summary, const std::function<bool(const Json&)>& fits);

/// Summaries by the document that is the answer.
void summarise_recording(std::span<const NamedDocument> documents, Json& summary);
void summarise_path(std::span<const NamedDocument> documents, Json& summary);
void summarise_roofline(std::span<const NamedDocument> documents, Json& summary);
/// A process that was only timed.
void summarise_process(std::span<const NamedDocument> documents, Json& summary);
void summarise_comparison(std::span<const NamedDocument> documents, Json& summary);
void summarise_certificate(std::span<const NamedDocument> documents, Json& summary);
void summarise_replay(std::span<const NamedDocument> documents, Json& summary);
void summarise_reservation(std::span<const NamedDocument> documents, Json& summary);
void summarise_capture_run(std::span<const NamedDocument> documents, Json& summary);

/// The words in lines that begin two columns from the left.
std::string indented(const std::string& text, std::size_t width);
/// The lines below a part's heading, of the parts that are drawn in a way of their own; nullopt:
/// not one of these.
std::optional<std::string> comparison_part_text(const Json& part, std::size_t width,
                                                const Paint& paint);
/// Of isolate, replay reserve-check, replay full-vm and replay verify.
std::optional<std::string> replay_part_text(const Json& part, std::size_t width,
                                            const Paint& paint);

}  // namespace perflab::report
