// What does not fit the window is walked into; what does is scanned and handed out.
#include "pc_sampling/json_window.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/json_scan.h"

namespace perflab::pc_sampling {
namespace {

constexpr std::size_t kDeepest = 512;

}  // namespace

JsonWindow::JsonWindow(ReadBytes read, std::string name, std::size_t room)
    : read_(std::move(read)),
      name_(std::move(name)),
      buffer_(kFront + std::max<std::size_t>(room, 16) + simdjson::SIMDJSON_PADDING) {}

std::unexpected<Error> JsonWindow::damaged() const {
  return fail(ErrorCode::bad_input,
              fmt::format("{}: is not JSON, or only a part of it (at byte {})", name_, offset()),
              "give the file as rocprofv3 wrote it; one that was cut off has to be recorded again");
}

Result<bool> JsonWindow::fill() {
  if (at_end_) return false;
  std::memmove(data(), data() + at_, end_ - at_);
  before_ += at_;
  end_ -= at_;
  at_ = 0;
  const auto room = [&] { return buffer_.size() - kFront - simdjson::SIMDJSON_PADDING; };
  if (end_ == room()) {
    if (room() >= kMostValue)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: a value at byte {} is larger than 64 MiB", name_, before_));
    buffer_.resize(buffer_.size() + room());
  }
  PERFLAB_TRY(const std::size_t many, read_(data() + end_, room() - end_));
  end_ += many;
  at_end_ = many == 0;
  // Behind the end stands a space: the scan ends there.
  std::memset(data() + end_, ' ', simdjson::SIMDJSON_PADDING);
  return !at_end_;
}

Result<char> JsonWindow::next_byte() {
  while (true) {
    while (at_ < end_ && is_json_space(data()[at_])) ++at_;
    if (at_ < end_) return data()[at_];
    PERFLAB_TRY(const bool more, fill());
    if (!more) return damaged();
  }
}

Result<char> JsonWindow::peek() {
  return next_byte();
}

Result<void> JsonWindow::take(char expected) {
  PERFLAB_TRY(const char found, next_byte());
  if (found != expected) return damaged();
  ++at_;
  return {};
}

Result<std::string_view> JsonWindow::value() {
  PERFLAB_TRY_VOID(next_byte());
  while (true) {
    const JsonScan found = scan_json_value(data() + at_, data() + end_);
    if (found.malformed) return damaged();
    const char* end = found.end;
    if (end == nullptr) {
      PERFLAB_TRY(const bool more, fill());
      if (more) continue;
      // A number may be the last of a text; nothing else ends without an end of its own.
      if (std::string_view("{[\"").contains(data()[at_])) return damaged();
      end = data() + end_;
    }
    const std::string_view text(data() + at_, static_cast<std::size_t>(end - data()) - at_);
    at_ += text.size();
    return text;
  }
}

Result<void> JsonWindow::skip() {
  return skip_at(0);
}

Result<void> JsonWindow::skip_at(std::size_t depth) {
  PERFLAB_TRY(const char first, next_byte());
  const JsonScan found = scan_json_value(data() + at_, data() + end_);
  if (found.malformed) return damaged();
  if (found.end != nullptr) {
    at_ = static_cast<std::size_t>(found.end - data());
    return {};
  }
  if (depth == kDeepest) return damaged();
  // What is not there as a whole is passed part by part, so that it needs no room.
  if (first == '{') return each_field([&](std::string_view) { return skip_at(depth + 1); });
  if (first == '[') return each_element([&] { return skip_at(depth + 1); });
  PERFLAB_TRY_VOID(value());
  return {};
}

Result<void> JsonWindow::each_field(
    const std::function<Result<void>(std::string_view key)>& visit) {
  PERFLAB_TRY_VOID(take('{'));
  PERFLAB_TRY(char next, next_byte());
  if (next == '}') return take('}');
  std::string key;
  while (true) {
    if (next != '"') return damaged();
    PERFLAB_TRY(const std::string_view quoted, value());
    key = quoted.substr(1, quoted.size() - 2);
    PERFLAB_TRY_VOID(take(':'));
    PERFLAB_TRY_VOID(visit(key));
    PERFLAB_TRY(next, next_byte());
    if (next == '}') return take('}');
    PERFLAB_TRY_VOID(take(','));
    PERFLAB_TRY(next, next_byte());
  }
}

Result<void> JsonWindow::each_element(const std::function<Result<void>()>& visit) {
  PERFLAB_TRY_VOID(take('['));
  PERFLAB_TRY(char next, next_byte());
  if (next == ']') return take(']');
  while (true) {
    PERFLAB_TRY_VOID(visit());
    PERFLAB_TRY(next, next_byte());
    if (next == ']') return take(']');
    PERFLAB_TRY_VOID(take(','));
  }
}

Result<void> JsonWindow::batches(
    const std::function<Result<void>(std::string_view elements)>& visit) {
  PERFLAB_TRY_VOID(take('['));
  PERFLAB_TRY(char next, next_byte());
  if (next == ']') return take(']');
  bool last = false;
  while (!last) {
    PERFLAB_TRY_VOID(next_byte());
    PERFLAB_TRY(const Whole whole, whole_elements());
    if (whole.end == 0) {
      PERFLAB_TRY(const bool more, fill());
      if (!more) return damaged();
      continue;
    }
    last = whole.last;
    char* const begin = data() + at_ - 1;
    const char behind = std::exchange(data()[whole.end], ']');
    *begin = '[';
    PERFLAB_TRY_VOID(visit({begin, whole.end + 1 - (at_ - 1)}));
    data()[whole.end] = behind;
    at_ = whole.next;
  }
  return {};
}

Result<JsonWindow::Whole> JsonWindow::whole_elements() {
  Whole whole;
  for (std::size_t at = at_;;) {
    const auto pass_space = [&] {
      while (at < end_ && is_json_space(data()[at])) ++at;
      return at < end_;
    };
    if (!pass_space()) return whole;
    const JsonScan found = scan_json_value(data() + at, data() + end_);
    if (found.malformed) return damaged();
    if (found.end == nullptr) return whole;
    at = static_cast<std::size_t>(found.end - data());
    const std::size_t end = at;
    if (!pass_space()) return whole;
    const char next = data()[at++];
    if (next != ',' && next != ']') return damaged();
    whole = {.end = end, .next = at, .last = next == ']'};
    if (whole.last) return whole;
  }
}

Result<void> JsonWindow::finish() {
  while (true) {
    while (at_ < end_ && is_json_space(data()[at_])) ++at_;
    if (at_ < end_) return damaged();
    PERFLAB_TRY(const bool more, fill());
    if (!more) return {};
  }
}

}  // namespace perflab::pc_sampling
