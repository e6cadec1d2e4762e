// Results of tools/call. Structured content is of revision 2025-06-18 and later; until 2025-11-25
// it has to be an object.
#include "mcp/tool_answer.h"

#include <fmt/format.h>

#include <array>
#include <map>

namespace perflab::mcp {
namespace {

constexpr std::string_view kFirstWithStructure = "2025-06-18";
constexpr std::string_view kFirstWithAnyStructure = "2026-07-28";

Json text_block(std::string text) {
  return {{"type", "text"}, {"text", std::move(text)}};
}

/// Cuts every array of more than `most` items, and notes the length that it had at first.
void cut_arrays(Json& value, std::size_t most, const std::string& path,
                std::map<std::string, std::size_t>& lengths) {
  if (value.is_array()) {
    if (value.size() > most) {
      lengths.try_emplace(path, value.size());
      value.erase(value.begin() + static_cast<std::ptrdiff_t>(most), value.end());
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      cut_arrays(value[i], most, fmt::format("{}/{}", path, i), lengths);
  } else if (value.is_object()) {
    for (auto& [name, item] : value.items()) cut_arrays(item, most, path + "/" + name, lengths);
  }
}

/// Those of the noted arrays that are still there.
void list_cuts(const Json& value, const std::string& path,
               const std::map<std::string, std::size_t>& lengths, Json& cuts) {
  if (value.is_array()) {
    if (const auto found = lengths.find(path); found != lengths.end())
      cuts.push_back({{"path", path}, {"kept", value.size()}, {"of", found->second}});
    for (std::size_t i = 0; i < value.size(); ++i)
      list_cuts(value[i], fmt::format("{}/{}", path, i), lengths, cuts);
  } else if (value.is_object()) {
    for (const auto& [name, item] : value.items())
      list_cuts(item, path + "/" + name, lengths, cuts);
  }
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

/// The document of a run, shortened if need be, into the result. False: it does not fit.
bool add_document(Json document, std::string_view revision, std::size_t most_bytes, Json& result) {
  std::string text = to_line(document);
  if (const std::size_t bytes = text.size(); bytes > most_bytes) {
    std::optional<Json> part = shortened(std::move(document), most_bytes);
    if (!part) return false;
    result["content"].push_back(text_block(fmt::format(
        "The document has {} bytes, more than the {} of an answer: {} of its arrays are cut to "
        "their first items. They are listed under \"cut\"; what is there is unchanged.",
        bytes, most_bytes, part->at("cut").size())));
    document = std::move(*part);
    text = to_line(document);
  }
  result["content"].push_back(text_block(std::move(text)));
  if (revision >= kFirstWithAnyStructure ||
      (revision >= kFirstWithStructure && document.is_object()))
    result["structuredContent"] = std::move(document);
  return true;
}

/// What the tool printed. False: it is too long for an answer.
bool add_output(const Outcome& outcome, std::string_view revision, std::size_t most_bytes,
                Json& result) {
  if (outcome.output.find_first_not_of(" \n") == std::string::npos) return true;
  if (outcome.output.size() < outcome.output_bytes) return false;
  if (auto document = parse_json(outcome.output, "the output"))
    return add_document(std::move(*document), revision, most_bytes, result);
  if (outcome.output.size() > most_bytes) return false;
  result["content"].push_back(text_block(outcome.output));
  return true;
}

}  // namespace

std::string to_line(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<Json> shortened(Json document, std::size_t most_bytes) {
  std::map<std::string, std::size_t> lengths;
  for (const std::size_t most : std::array<std::size_t, 8>{3000, 1000, 300, 100, 30, 10, 3, 1}) {
    cut_arrays(document, most, "", lengths);
    Json cuts = Json::array();
    list_cuts(document, "", lengths, cuts);
    Json out = {{"cut", std::move(cuts)}, {"document", std::move(document)}};
    if (to_line(out).size() <= most_bytes) return out;
    document = std::move(out["document"]);
  }
  return std::nullopt;
}

Json refusal_result(const std::string& text) {
  return {{"content", Json::array({text_block(text)})}, {"isError", true}};
}

Json tool_result(const Outcome& outcome, std::string_view revision, std::size_t most_bytes) {
  if (!outcome.failure.empty()) return refusal_result(outcome.failure);
  const int code = outcome.exit_code.value_or(-1);
  Json result = {{"content", Json::array()}};
  bool failed = code != 0 && code != 1;
  const bool complete = add_output(outcome, revision, most_bytes, result);
  const bool has_document = !result["content"].empty();
  if (!complete) {
    failed = true;
    result["content"].push_back(text_block(fmt::format(
        "The output has {} bytes, more than an answer can have, even shortened: ask for less (one "
        "kernel, one segment), or run the command outside and write it into a file.",
        outcome.output_bytes)));
  }
  if (!outcome.exit_code)
    result["content"].push_back(text_block("rocm-perf " + outcome.end + "."));
  else if (code != 0)
    result["content"].push_back(text_block(fmt::format(
        "Exit code {}: {}.", code,
        // Some commands have codes of their own for what a document says.
        failed && has_document ? "the document and the tool's description say what it means"
                               : meaning(code))));
  if (!outcome.said.empty()) result["content"].push_back(text_block("On stderr:\n" + outcome.said));
  if (result["content"].empty())
    result["content"].push_back(text_block("Done; it printed nothing."));
  result["isError"] = failed;
  return result;
}

}  // namespace perflab::mcp
