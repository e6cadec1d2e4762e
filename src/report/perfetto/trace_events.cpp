// Events are put together as text; a Json value per event would take most of the time.
#include "report/perfetto/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text/json.h"

namespace perflab::report {
namespace {

/// Bytes that are collected before they are written.
constexpr std::size_t kBuffer = std::size_t{1} << 16;

/// Microseconds with three decimals.
void append_us(std::string& out, std::int64_t ns) {
  fmt::format_to(std::back_inserter(out), "{}.{:03}", ns / 1000, ns % 1000);
}

}  // namespace

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void TraceEventWriter::begin_event() {
  if (buffer_.size() >= kBuffer) {
    file_.write(buffer_);
    buffer_.clear();
  }
  buffer_ += first_ ? "\n" : ",\n";
  first_ = false;
}

void TraceEventWriter::process_name(std::uint32_t process, std::string_view name, int order) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"M","name":"process_name","pid":{},"tid":0,"args":{{"name":{}}}}})",
                 process, name);
  begin_event();
  fmt::format_to(
      std::back_inserter(buffer_),
      R"({{"ph":"M","name":"process_sort_index","pid":{},"tid":0,"args":{{"sort_index":{}}}}})",
      process, order);
}

void TraceEventWriter::thread_name(EventTrack track, std::string_view name, int order) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                 track.process, track.thread, name);
  begin_event();
  fmt::format_to(
      std::back_inserter(buffer_),
      R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
      track.process, track.thread, order);
}

void TraceEventWriter::slice(EventTrack track, std::int64_t start, std::int64_t end,
                             std::string_view name, std::string_view category,
                             std::string_view args, std::string_view colour) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"X","pid":{},"tid":{},"ts":)",
                 track.process, track.thread);
  append_us(buffer_, start - origin_);
  buffer_ += ",\"dur\":";
  append_us(buffer_, end - start);
  fmt::format_to(std::back_inserter(buffer_), R"(,"name":{},"cat":"{}")", name, category);
  if (!colour.empty()) fmt::format_to(std::back_inserter(buffer_), R"(,"cname":"{}")", colour);
  if (!args.empty()) fmt::format_to(std::back_inserter(buffer_), R"(,"args":{{{}}})", args);
  buffer_ += '}';
}

void TraceEventWriter::counter(std::uint32_t process, std::string_view name, std::int64_t time,
                               std::string_view value) {
  begin_event();
  fmt::format_to(std::back_inserter(buffer_), R"({{"ph":"C","pid":{},"tid":0,"ts":)", process);
  append_us(buffer_, time - origin_);
  fmt::format_to(std::back_inserter(buffer_), R"(,"name":{},"args":{{"value":{}}}}})", name, value);
}

void TraceEventWriter::flow(std::string_view name, EventTrack from, std::int64_t start,
                            EventTrack to, std::int64_t end) {
  ++flows_;
  begin_event();
  fmt::format_to(std::back_inserter(buffer_),
                 R"({{"ph":"s","id":{},"pid":{},"tid":{},"name":"{}","cat":"launch","ts":)", flows_,
                 from.process, from.thread, name);
  append_us(buffer_, start - origin_);
  buffer_ += '}';
  begin_event();
  fmt::format_to(
      std::back_inserter(buffer_),
      R"({{"ph":"f","bp":"e","id":{},"pid":{},"tid":{},"name":"{}","cat":"launch","ts":)", flows_,
      to.process, to.thread, name);
  append_us(buffer_, end - origin_);
  buffer_ += '}';
}

void TraceEventWriter::finish(std::string_view other) {
  fmt::format_to(std::back_inserter(buffer_), "\n],\"otherData\":{{{}}}}}\n", other);
  file_.write(buffer_);
  buffer_.clear();
}

std::size_t OverlapLanes::lane(std::int64_t start, std::int64_t end) {
  while (!busy_.empty() && busy_.top().first <= start) {
    free_.push(busy_.top().second);
    busy_.pop();
  }
  std::size_t lane = lanes_;
  if (free_.empty()) {
    ++lanes_;
  } else {
    lane = free_.top();
    free_.pop();
  }
  busy_.emplace(end, lane);
  return lane;
}

std::size_t NestedLanes::lane(std::int64_t start, std::int64_t end) {
  for (std::size_t lane = 0; lane < kMost; ++lane) {
    if (lane == open_.size()) open_.emplace_back();
    std::vector<std::int64_t>& open = open_[lane];
    while (!open.empty() && open.back() <= start) open.pop_back();
    if (!open.empty() && open.back() < end) continue;
    open.push_back(end);
    return lane;
  }
  return kMost;
}

}  // namespace perflab::report
