// Results of tools/call. Structured content and links are of revision 2025-06-18 and later; until
// 2025-11-25 structured content has to be an object.
#include "mcp/tool_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mcp/selection.h"
#include "mcp/shortened.h"

namespace perflab::mcp {
namespace {

constexpr std::string_view kFirstWithStructure = "2025-06-18";
constexpr std::string_view kFirstWithAnyStructure = "2026-07-28";
constexpr std::string_view kSummary = "summary";

constexpr std::size_t kEnvelope = 300;         // what a revision adds to a result
constexpr std::size_t kMostSaid = 1500;        // of stderr, as JSON
constexpr std::size_t kMostAdviceBytes = 800;  // of one, as JSON
constexpr std::size_t kMostAdvice = 2;
constexpr std::size_t kMostLinks = 10;
constexpr std::size_t kMostCallBytes = std::size_t{16} << 10;  // that are remembered of a call

Json text_block(std::string text) {
  return {{"type", "text"}, {"text", std::move(text)}};
}

/// The end of a text that takes at most so many bytes as JSON.
std::string end_of(std::string text, std::size_t most_bytes) {
  while (to_line(Json(text)).size() > most_bytes) {
    std::size_t drop = text.size() / 4 + 1;
    drop += utf8_next(std::string_view(text).substr(drop - 1)) - 1;
    text.erase(0, std::min(drop, text.size()));
  }
  return text;
}

/// What an exit code of this program means (docs/ARCHITECTURE.md "Errors").
std::string meaning(int exit_code) {
  switch (exit_code) {
    case 1:
      return "it was done, and the answer is no: a result, not a failure";
    case 2:
      return "the arguments are wrong, or a place cannot be written";
    case 3:
      return "an input is missing, damaged or of another format";
    case 4:
      return "a tool or device that it needs is not there";
    case 5:
      return "the program that was run failed or was stopped";
    case 130:
      return "it was interrupted";
    default:
      return "it failed";
  }
}

std::optional<ErrorCode> kind_of(int code) {
  constexpr std::array kKinds{
      ErrorCode::usage,   ErrorCode::bad_input,   ErrorCode::missing_tool, ErrorCode::target_failed,
      ErrorCode::refused, ErrorCode::interrupted, ErrorCode::internal};
  const auto found = std::ranges::find(kKinds, code, exit_code);
  return found == kKinds.end() ? std::nullopt : std::optional(*found);
}

/// The calls that do better, for programs (`structured`) and for models.
void add_instead(const std::vector<Advice>& instead, Json& structured, Json& content) {
  Json calls = Json::array();
  for (const Advice& one : instead) {
    Json call = {{"tool", one.tool}, {"arguments", one.arguments}, {"why", one.why}};
    if (calls.size() == kMostAdvice || to_line(call).size() > kMostAdviceBytes) continue;
    content.push_back(text_block(
        fmt::format("Call instead: {} {} ({})", one.tool, to_line(one.arguments), one.why)));
    calls.push_back(std::move(call));
  }
  structured["instead"] = std::move(calls);
}

/// A name of a document of ours: what a URI can have.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 40 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string_view::npos;
}

struct NamedValue {
  std::string name;
  Json value;
};

/// The documents that a tool printed: one, or as members of an object. A text is one, too.
std::vector<NamedValue> documents_of(const Call& call, const Outcome& outcome) {
  if (outcome.output.find_first_not_of(" \n") == std::string::npos) return {};
  Result<Json> printed = parse_json(outcome.output, "the output");
  if (!printed) return {{call.tool, Json(outcome.output)}};
  if (call.summarises && printed->is_object() && !printed->empty() &&
      printed->items().begin().key() == kSummary &&
      std::ranges::all_of(printed->items(), [](const auto& one) { return is_name(one.key()); })) {
    std::vector<NamedValue> out;
    for (auto& [name, value] : printed->items()) out.push_back({name, std::move(value)});
    return out;
  }
  const Json* const name =
      printed->is_object() && printed->contains("document") ? &(*printed)["document"] : nullptr;
  return {{name != nullptr && name->is_string() && is_name(name->get_ref<const std::string&>())
               ? name->get<std::string>()
               : call.tool,
           std::move(*printed)}};
}

std::shared_ptr<const KeptRun> keep(const Call& call, const std::vector<NamedValue>& documents,
                                    KeptRuns& kept) {
  std::vector<KeptDocument> texts;
  for (const NamedValue& one : documents) texts.push_back({one.name, to_canonical_text(one.value)});
  // What is all of it stands first.
  if (texts.front().name == kSummary) std::ranges::rotate(texts, texts.begin() + 1);
  const bool small =
      call.arguments.dump(-1, ' ', false, Json::error_handler_t::replace).size() <= kMostCallBytes;
  return kept.keep({{"tool", call.tool}, {"arguments", small ? call.arguments : Json::object()}},
                   std::move(texts));
}

/// What is around a document in a result: made first, since the document has what they leave.
struct Around {
  Json blocks = Json::array();
  Json structured = nullptr;  ///< of an answer without a document
  bool failed = false;
};

/// Links to the documents that were kept.
void add_links(const KeptRun& run, std::string_view revision, Json& blocks) {
  std::string names;
  for (const KeptDocument& one : run.documents)
    names += fmt::format("{}{} ({} bytes)", names.empty() ? "" : ", ", one.name, one.text.size());
  if (run.documents.size() > kMostLinks) names = fmt::format("{} documents", run.documents.size());
  blocks.push_back(text_block(
      fmt::format("All of it: {}. Parts: {} {{\"uri\": \"{}\", \"section\": \"{}.json#/...\"}}",
                  names, kReadTool, run.uri, run.documents.front().name)));
  if (revision < kFirstWithStructure) return;
  for (std::size_t i = 0; i < std::min(run.documents.size(), kMostLinks); ++i)
    blocks.push_back({{"type", "resource_link"},
                      {"uri", run.uri + "/" + run.documents[i].name},
                      {"name", run.documents[i].name},
                      {"mimeType", "application/json"},
                      {"size", run.documents[i].text.size()}});
}

/// How the run ended, what was said, and what to call instead.
void add_end(const Call& call, const Outcome& outcome, bool has_document, const Answering& with,
             Around& around) {
  const int code = outcome.exit_code.value_or(-1);
  around.failed = around.failed || (code != 0 && code != 1);
  if (!outcome.exit_code)
    around.blocks.push_back(text_block(fmt::format("rocm-perf {}.", end_of(outcome.end, 300))));
  else if (code != 0)
    around.blocks.push_back(text_block(fmt::format(
        "Exit code {}: {}.", code,
        // Some commands have codes of their own for what a document says.
        around.failed && has_document ? "the document and the tool's description say what it means"
                                      : meaning(code))));
  if (!outcome.said.empty())
    around.blocks.push_back(text_block("On stderr:\n" + end_of(outcome.said, kMostSaid)));
  if (!around.failed || has_document) return;
  const auto kind = kind_of(code);
  around.structured = {{"error", kind ? Json(to_string(*kind)) : Json(nullptr)},
                       {"exit_code", outcome.exit_code ? Json(code) : Json(nullptr)}};
  add_instead(kind && with.offer.advise ? with.offer.advise(call.tool, call.arguments, *kind)
                                        : std::vector<Advice>(),
              around.structured, around.blocks);
}

/// The result of what is around and, first, of the document.
Json result_of(std::optional<Json> document, Around around, std::string_view revision) {
  Json result = {{"content", Json::array()}};
  if (document) {
    // A text stays one.
    result["content"].push_back(
        text_block(document->is_string() ? document->get<std::string>() : to_line(*document)));
    around.structured = document->is_string() ? Json(nullptr) : std::move(*document);
  }
  for (Json& block : around.blocks) result["content"].push_back(std::move(block));
  if (result["content"].empty())
    result["content"].push_back(text_block("Done; it printed nothing."));
  if (revision >= kFirstWithAnyStructure
          ? !around.structured.is_null()
          : revision >= kFirstWithStructure && around.structured.is_object())
    result["structuredContent"] = std::move(around.structured);
  result["isError"] = around.failed;
  return result;
}

/// What a document may weigh beside what is around it.
std::size_t room_for(const Around& around, std::size_t most_bytes) {
  const std::size_t taken = to_line(around.blocks).size() + kEnvelope;
  return std::max(most_bytes - std::min(taken, most_bytes), kLeastWeight);
}

/// There is no such part: the outline says what there is.
Json no_such_part(const Error& error, const KeptRun& run, const std::string& document,
                  std::string_view revision) {
  return refusal_result(error,
                        {{.tool = std::string(kReadTool),
                          .arguments = {{"uri", run.uri + "/" + document}},
                          .why = "its sections"}},
                        revision);
}

/// The answer, or the part of a document that was asked for, and where the rest is.
Json documents_result(const Call& call, std::vector<NamedValue> documents, Around around,
                      const Answering& with) {
  const bool summary = documents.size() > 1 && documents.front().name == kSummary;
  const bool whole = !call.selection.asks();
  const auto run = keep(call, documents, with.kept);
  auto chosen = documents.begin() + (summary && !whole ? 1 : 0);
  if (!call.selection.document.empty()) {
    const auto named = document_in(*run, call.selection.document);
    if (!named)
      return no_such_part(named.error(), *run, run->documents.front().name, call.revision);
    chosen = std::ranges::find(documents, (*named)->name, &NamedValue::name);
  }
  auto& [name, document] = *chosen;
  if (whole && !summary && weight(document) <= room_for(around, with.most_bytes))
    return result_of(std::move(document), std::move(around), call.revision);
  add_links(*run, call.revision, around.blocks);
  const std::size_t room = room_for(around, with.most_bytes);
  if (whole && weight(document) <= room)
    return result_of(std::move(document), std::move(around), call.revision);
  Selection part = call.selection;
  part.document.clear();
  auto selected = select(document, part, read_call(run->uri + "/" + name), room);
  if (!selected) return no_such_part(selected.error(), *run, name, call.revision);
  return result_of(std::move(*selected), std::move(around), call.revision);
}

}  // namespace

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json refusal_result(const Error& error, const std::vector<Advice>& instead,
                    std::string_view revision) {
  Around around{.failed = true};
  around.blocks.push_back(text_block(end_of(describe(error), 4 * kMostSaid)));
  around.structured = {{"error", to_string(error.code)}};
  add_instead(instead, around.structured, around.blocks);
  return result_of(std::nullopt, std::move(around), revision);
}

Json kept_result(const Call& call, const Answering& with) {
  const auto run = with.kept.find(call.kept->run);
  if (run == nullptr)
    return refusal_result(fail(ErrorCode::usage, "no call left documents of that URI here",
                               "call the tool again: its answer names the URI")
                              .error(),
                          {}, call.revision);
  Selection part = call.kept->selection;
  const Result<const KeptDocument*> found = document_in(*run, part.document);
  if (!found && run->documents.empty())
    return refusal_result(found.error(),
                          {{.tool = run->call["tool"].get<std::string>(),
                            .arguments = run->call["arguments"],
                            .why = "it makes them again"}},
                          call.revision);
  if (!found) return no_such_part(found.error(), *run, run->documents.front().name, call.revision);
  const KeptDocument& document = **found;
  part.document.clear();
  const auto value = parse_json(document.text, document.name);
  if (!value) return refusal_result(value.error(), {}, call.revision);
  auto selected = select(*value, part, read_call(run->uri + "/" + document.name),
                         room_for({}, with.most_bytes));
  if (!selected) return no_such_part(selected.error(), *run, document.name, call.revision);
  return result_of(std::move(*selected), {}, call.revision);
}

Json tool_result(const Call& call, const Outcome& outcome, const Answering& with) {
  Around around;
  if (!outcome.failure.empty()) {
    Outcome never = outcome;
    never.exit_code = exit_code(ErrorCode::internal);
    never.said = outcome.failure;
    add_end(call, never, false, with, around);
    return result_of(std::nullopt, std::move(around), call.revision);
  }
  if (outcome.output.size() < outcome.output_bytes) {
    around.failed = true;
    around.blocks.push_back(text_block(fmt::format(
        "The output has {} bytes, more than this server reads: ask for less (one kernel, one "
        "segment), or run the command outside and write it into a file.",
        outcome.output_bytes)));
    add_end(call, outcome, false, with, around);
    return result_of(std::nullopt, std::move(around), call.revision);
  }
  std::vector<NamedValue> documents = documents_of(call, outcome);
  add_end(call, outcome, !documents.empty(), with, around);
  if (documents.empty()) return result_of(std::nullopt, std::move(around), call.revision);
  return documents_result(call, std::move(documents), std::move(around), with);
}

}  // namespace perflab::mcp
