#include "llm/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/system/files.h"
#include "base/text/json_fields.h"

namespace perflab::llm {
namespace {

constexpr std::string_view kFormat = "rocm-perf optimize";
constexpr int kVersion = 1;
constexpr std::size_t kMostDepth = 500;
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

/// One line, whatever bytes are in its texts.
std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::unexpected<Error> damaged_transcript(const std::filesystem::path& file, std::size_t line,
                                          std::string_view why) {
  return fail(ErrorCode::bad_input, fmt::format("{}: line {} {}", file.string(), line, why));
}

/// The part of a line of JSON around a place; the line has no control characters.
std::string around(std::string_view text, std::size_t at) {
  constexpr std::size_t kBefore = 30, kMost = 90;
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  std::size_t begin = at > kBefore ? std::min(at, text.size()) - kBefore : 0;
  while (begin > 0 && continues(begin)) --begin;
  std::size_t end = std::min(begin + kMost, text.size());
  while (continues(end)) ++end;
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", text.substr(begin, end - begin),
                     end < text.size() ? "..." : "");
}

/// How deep a line of JSON is nested; no more is needed to know that it is none of ours.
std::size_t depth_of(std::string_view line) {
  std::size_t depth = 0, deepest = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return deepest;
}

}  // namespace

Result<void> Transcript::read_line(const Json& line, std::size_t number) {
  if (!line.is_object()) return damaged_transcript(file_, number, "is not an object");
  if (!header_) {
    const auto format = member_as<std::string>(line, "transcript");
    const auto proposer = member_as<std::string>(line, "proposer");
    if (format != kFormat || !proposer)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is not a transcript of {}", file_.string(), kFormat));
    if (const auto version = line.find("version"); version == line.end() || *version != kVersion)
      return fail(
          ErrorCode::bad_input,
          fmt::format("{}: is a transcript of version {}, this program reads {}", file_.string(),
                      version == line.end() ? "none" : version->dump(), kVersion));
    const bool any = proposer_.ends_with(' ') && proposer->starts_with(proposer_);
    if (!any && *proposer != proposer_)
      return fail(ErrorCode::usage,
                  fmt::format("the transcript {} was recorded with the proposer {}, now it is {}",
                              file_.string(), *proposer, proposer_),
                  "name another --transcript, or the same proposer");
    proposer_ = *proposer;
    header_ = true;
    return {};
  }
  if (end_) return damaged_transcript(file_, number, "comes after the end");
  if (const auto reason = member_as<std::string>(line, "end")) {
    end_ = *reason;
    return {};
  }
  const auto request = line.find("request"), answer = line.find("answer");
  const auto count = line.find("exchange");
  if (request == line.end() || answer == line.end() || !request->is_object() ||
      !answer->is_object())
    return damaged_transcript(file_, number, "holds no exchange");
  if (count == line.end() || *count != exchanges_.size() + 1)
    return damaged_transcript(file_, number,
                              fmt::format("is not exchange {}", exchanges_.size() + 1));
  exchanges_.push_back({.request = line_of(*request), .answer = *answer});
  return {};
}

Result<void> Transcript::read(std::string_view lines) {
  for (std::size_t number = 1; !lines.empty(); ++number) {
    const std::size_t length = lines.find('\n');
    // Writing and copying JSON recurses.
    if (depth_of(lines.substr(0, length)) > kMostDepth)
      return damaged_transcript(file_, number, "is damaged: it is nested too deep");
    const Result<Json> json = parse_json(lines.substr(0, length), file_.string());
    lines.remove_prefix(length + 1);
    if (!json && number == 1)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is not a transcript of {}", file_.string(), kFormat));
    if (!json) return damaged_transcript(file_, number, "is damaged: it is not JSON");
    PERFLAB_TRY_VOID(read_line(*json, number));
  }
  return {};
}

Result<Transcript> Transcript::open(const std::filesystem::path& file, const std::string& proposer,
                                    bool resume) {
  Transcript transcript;
  transcript.file_ = file;
  transcript.proposer_ = proposer;
  transcript.resumes_ = resume;
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    PERFLAB_TRY(const std::string text, read_file(file, kMostBytes));
    const std::string_view lines = whole_lines(text);
    // Nothing but a line without its end: the header that a kill cut short, or no transcript.
    const std::string beginning = fmt::format(R"({{"transcript":"{}")", kFormat);
    if (lines.empty() && !std::string_view(text).starts_with(beginning) &&
        !std::string_view(beginning).starts_with(text))
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is not a transcript of {}", file.string(), kFormat));
    PERFLAB_TRY_VOID(transcript.read(lines));
    transcript.bytes_ = text.size();
    transcript.whole_bytes_ = lines.size();
  }
  transcript.plays_back_ = transcript.end_ || (!transcript.exchanges_.empty() && !resume);
  return transcript;
}

Result<void> Transcript::begin() {
  if (plays_back_) return {};
  PERFLAB_TRY(LineLog log, LineLog::open(file_, "the transcript",
                                         "wait for the other run to end, or name another file"));
  std::error_code error;
  if (std::filesystem::file_size(file_, error) != bytes_ || error)
    return fail(ErrorCode::usage, fmt::format("the transcript {} was written by another process "
                                              "just now",
                                              file_.string()));
  PERFLAB_TRY_VOID(log.keep(whole_bytes_));
  log_.emplace(std::move(log));
  return {};
}

Result<Transcript::Found> Transcript::find(const Json& request) {
  Found found;
  const std::string asked = line_of(request);
  if (next_ < exchanges_.size() && exchanges_[next_].request == asked) {
    found.kind = Found::Kind::answer;
    found.answer = exchanges_[next_++].answer;
    return found;
  }
  if (resumes_ && !plays_back()) {
    // A run that goes on may not ask again for what it has decided already.
    const auto rest = exchanges_.begin() + static_cast<std::ptrdiff_t>(next_);
    const auto match = std::ranges::find(rest, exchanges_.end(), asked, &Exchange::request);
    for (auto it = rest; it != match; ++it) found.passed.push_back(it->answer);
    next_ = static_cast<std::size_t>(match - exchanges_.begin());
    if (match == exchanges_.end()) return found;
    found.kind = Found::Kind::answer;
    found.answer = exchanges_[next_++].answer;
    return found;
  }
  if (!plays_back()) return found;
  if (next_ >= exchanges_.size()) {
    found.kind = Found::Kind::ended;
    found.reason = end_ ? *end_
                        : fmt::format("the transcript {} ends after {} exchange{}", file_.string(),
                                      exchanges_.size(), exchanges_.size() == 1 ? "" : "s");
    return found;
  }
  const std::string& recorded = exchanges_[next_].request;
  const auto place =
      static_cast<std::size_t>(std::ranges::mismatch(recorded, asked).in1 - recorded.begin());
  return fail(
      ErrorCode::usage,
      fmt::format("the transcript {} does not fit: exchange {} differs from byte {} on: "
                  "recorded is {}, now it is {}",
                  file_.string(), next_ + 1, place, around(recorded, place), around(asked, place)),
      "play it back with the source, options and program version it was recorded with, or "
      "name another --transcript");
}

Result<void> Transcript::append(const Json& line) {
  PERFLAB_CHECK(log_.has_value());
  if (!header_)
    PERFLAB_TRY_VOID(log_->append(
        line_of(Json{{"transcript", kFormat}, {"version", kVersion}, {"proposer", proposer_}}) +
        "\n"));
  header_ = true;
  return log_->append(line_of(line) + "\n");
}

Result<void> Transcript::record(const Json& request, const Json& answer) {
  PERFLAB_TRY_VOID(
      append(Json{{"exchange", exchanges_.size() + 1}, {"request", request}, {"answer", answer}}));
  exchanges_.push_back({.request = line_of(request), .answer = answer});
  next_ = exchanges_.size();
  return {};
}

Result<void> Transcript::record_end(std::string_view reason) {
  if (end_ || plays_back()) return {};
  PERFLAB_TRY_VOID(append(Json{{"end", reason}}));
  end_ = reason;
  return {};
}

}  // namespace perflab::llm
