// The answers of the commands: what each says, out of its documents, and how its parts are drawn
// that have a form of their own. Which answer it is, the documents say.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "report/excerpt/excerpt.h"
#include "report/kit/text_parts.h"

namespace perflab::report {

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
/// Many ranks of one job.
void summarise_ranks(std::span<const NamedDocument> documents, Json& summary);
void summarise_roofline(std::span<const NamedDocument> documents, Json& summary);
/// A process that was only timed.
void summarise_process(std::span<const NamedDocument> documents, Json& summary);
void summarise_inspection(std::span<const NamedDocument> documents, Json& summary);
void summarise_doctor(std::span<const NamedDocument> documents, Json& summary);
void summarise_capture(std::span<const NamedDocument> documents, Json& summary);
void summarise_autotune_app(std::span<const NamedDocument> documents, Json& summary);
void summarise_autotune(std::span<const NamedDocument> documents, Json& summary);
void summarise_dispatch_table(std::span<const NamedDocument> documents, Json& summary);
/// Which row has the times on the captured input: its "what".
inline constexpr std::string_view kOnCaptured = "on the captured input";
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
std::optional<std::string> autotune_app_part_text(const Json& summary, const Json& part,
                                                  std::size_t width, const Paint& paint);
std::optional<std::string> dispatch_table_part_text(const Json& summary, const Json& part,
                                                    std::size_t width, const Paint& paint);
std::optional<std::string> optimization_part_text(const Json& summary, const Json& part,
                                                  std::size_t width, const Paint& paint);
std::optional<std::string> comparison_part_text(const Json& summary, const Json& part,
                                                std::size_t width, const Paint& paint);
std::optional<std::string> ranks_part_text(const Json& summary, const Json& part, std::size_t width,
                                           const Paint& paint);
std::optional<std::string> replay_part_text(const Json& summary, const Json& part,
                                            std::size_t width, const Paint& paint);

}  // namespace perflab::report
