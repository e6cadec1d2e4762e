// Fuzzes what an MCP server takes from outside. First byte 'o': the rest is what a tool printed;
// 's': a line with the arguments of a selection, then a document; the byte after it says how much
// an answer may have; any other: bytes of a client, in pieces of that length, as a connection
// brings them. What must hold: answers are one line of JSON-RPC each,
// with a result or an error; a call has no option that its tool does not offer; the same bytes give
// the same answers, in whatever pieces.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/protocol.h"
#include "mcp/sample_offer.h"
#include "mcp/selection.h"
#include "mcp/shortened.h"
#include "mcp/stdio.h"
#include "mcp/tool_answer.h"

namespace {

using namespace perflab::mcp;  // NOLINT(google-build-using-namespace): all of it is used
using perflab::Json;

/// The line that a message goes out as, checked.
std::string line_of(const Json& message) {
  std::string line = to_line(message);
  PERFLAB_CHECK(line.find('\n') == std::string::npos);
  const auto again = perflab::parse_json(line, "the answer");
  PERFLAB_CHECK(again.has_value());
  PERFLAB_CHECK(again->at("jsonrpc") == "2.0");
  PERFLAB_CHECK(again->contains("result") != again->contains("error"));
  if (again->contains("result")) PERFLAB_CHECK(again->contains("id"));
  return line;
}

constexpr std::size_t kLeast = kLeastAnswerBytes;

/// The result, checked.
Json limited(Json result, std::size_t most_bytes) {
  PERFLAB_CHECK(to_line(result).size() <= most_bytes);
  return result;
}

const Tool& tool_of(const Offer& offer, const std::vector<std::string>& words) {
  const auto tool = std::ranges::find_if(offer.tools, [&](const Tool& one) {
    return one.command.size() <= words.size() &&
           std::equal(one.command.begin(), one.command.end(), words.begin());
  });
  PERFLAB_CHECK(tool != offer.tools.end());
  return *tool;
}

/// Every word in front of "--" that looks like an option is one that the tool has and offers.
void check_call(const Offer& offer, const Call& call) {
  const Tool& tool = tool_of(offer, call.words);
  PERFLAB_CHECK(!tool.withheld);
  for (std::size_t i = tool.command.size(); i < call.words.size() && call.words[i] != "--"; ++i) {
    const std::string& word = call.words[i];
    if (!word.starts_with('-')) continue;
    const std::string name = word.substr(0, word.find('='));
    const bool offered = std::ranges::any_of(tool.parameters, [&](const Parameter& one) {
      return one.place == Place::option && one.option == name && !one.withheld;
    });
    PERFLAB_CHECK(offered || std::ranges::count(tool.always, word) == 1);
  }
}

/// Answers to what a client sent, in pieces of so many bytes.
std::vector<std::string> answers_to(std::string_view bytes, std::size_t piece) {
  Offer offer = perflab::mcp::sample_offer();
  Protocol protocol(offer);
  LineSplitter splitter(2000);
  std::vector<std::string> answers;
  std::string all(bytes);
  all += '\n';
  for (std::size_t at = 0; at < all.size(); at += piece)
    for (const std::string& line : splitter.feed(std::string_view(all).substr(at, piece))) {
      PERFLAB_CHECK(line.find('\n') == std::string::npos && line.size() <= 2001);
      const Reaction reaction = protocol.receive(line);
      PERFLAB_CHECK(int{reaction.answer.has_value()} + int{reaction.call.has_value()} +
                        int{reaction.cancelled.has_value()} <=
                    1);
      if (reaction.answer) answers.push_back(line_of(*reaction.answer));
      if (!reaction.call) continue;
      const Answering with{.offer = offer, .kept = protocol.kept(), .most_bytes = kLeast};
      if (reaction.call->kept) {
        answers.push_back(line_of(
            protocol.answer(*reaction.call, limited(kept_result(*reaction.call, with), kLeast))));
        continue;
      }
      check_call(offer, *reaction.call);
      Outcome outcome;
      outcome.exit_code = 0;
      for (const std::string& word : reaction.call->words) outcome.said += word + "\n";
      // Something to read on in.
      outcome.output = to_line({{"document", "words"}, {"words", reaction.call->words}});
      outcome.output_bytes = outcome.output.size();
      answers.push_back(line_of(protocol.answer(
          *reaction.call, limited(tool_result(*reaction.call, outcome, with), kLeast))));
    }
  return answers;
}

/// What a tool printed as an answer of at most so many bytes of document.
void check_output(std::string_view text, std::size_t most_bytes) {
  constexpr std::array<std::string_view, 3> kRevisions{"2024-11-05", "2025-11-25", "2026-07-28"};
  Outcome outcome;
  outcome.exit_code = static_cast<int>(text.size() % 6);
  outcome.output = text;
  outcome.output_bytes = text.size() + (text.size() % 7 == 0 ? 1 : 0);
  const Offer offer = sample_offer();
  KeptRuns kept("sample");
  for (const std::string_view revision : kRevisions) {
    const Call call{.id = 1,
                    .revision = std::string(revision),
                    .tool = "analyze",
                    .summarises = text.size() % 2 == 0};
    const Json result = limited(tool_result(call, outcome, {offer, kept, most_bytes}), most_bytes);
    PERFLAB_CHECK(result.at("isError").is_boolean());
    PERFLAB_CHECK(!result.at("content").empty());
    const std::string line = to_line(result);
    PERFLAB_CHECK(line.find('\n') == std::string::npos);
    PERFLAB_CHECK(perflab::parse_json(line, "the result").has_value());
  }
}

/// A selection of a document, and the pages behind it.
void check_selection(std::string_view text, std::size_t most_weight) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return;
  const auto arguments = perflab::parse_json(text.substr(0, end), "arguments");
  const auto document = perflab::parse_json(text.substr(end + 1), "document");
  if (!arguments || !document || !arguments->is_object()) return;
  auto selection = selection_of(*arguments);
  if (!selection) return;
  Json joined = Json::array();
  bool cut = false;
  const std::size_t first = selection->offset;
  for (int pages = 0; pages < 50; ++pages) {
    const auto part = select(*document, *selection, read_call("sample://document/0"), most_weight);
    if (!part) return;
    PERFLAB_CHECK(weight(*part) <= most_weight);
    cut = cut || part->contains("cut");
    const Json& value = part->at("value");
    if (value.is_array()) joined.insert(joined.end(), value.begin(), value.end());
    if (!part->contains("next")) {
      if (cut || !value.is_array() || !selection->kernel.empty() ||
          selection->section.contains('~'))
        return;
      const Json& whole = document->at(Json::json_pointer(selection->section));
      PERFLAB_CHECK(std::equal(joined.begin(), joined.end(),
                               whole.begin() + static_cast<std::ptrdiff_t>(first), whole.end()));
      return;
    }
    const auto next = selection_of(part->at("next").at("arguments"));
    PERFLAB_CHECK(next.has_value() && next->offset > selection->offset);
    selection = next;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t number = data[1];
  if (data[0] == 'o') {
    check_output(text, kLeast + 16 * number);
    return 0;
  }
  if (data[0] == 's') {
    check_selection(text, kLeastWeight + 16 * number);
    return 0;
  }
  PERFLAB_CHECK(answers_to(text, number + 1) == answers_to(text, text.size() + 1));
  return 0;
}
