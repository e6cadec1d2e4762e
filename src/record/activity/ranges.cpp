// Markers: docs/facts/cuda_cupti.md "Records"; rows as rocprofv3 writes roctx's
// (docs/facts/rocpd.md "Links").
#include "record/activity/ranges.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <utility>

#include "record/json_text.h"

namespace perflab::record {
namespace {

/// A program that never ends its ranges does not fill the memory.
constexpr std::size_t kMostOpen = 1'000'000;

// CUPTI's records of push and pop and of start and end are alike, so ranges are told apart by what
// they do: a pop ends the innermost range of its thread and domain, and no other.
constexpr std::string_view kPushPop = "nvtxRangePushA";
constexpr std::string_view kStartEnd = "nvtxRangeStartA";

std::string range_members(const cuda::MarkerRecord& record) {
  std::string members = "\"message\": " + json_text(record.name == nullptr ? "" : record.name);
  if (record.domain != nullptr && *record.domain != '\0')
    members += ", \"domain\": " + json_text(record.domain);
  return members;
}

std::string payload_text(const cuda::MarkerDataRecord& record) {
  if (record.payload_kind == cuda::payload_kind::unsigned_integer)
    return std::to_string(record.payload);
  if (record.payload_kind == cuda::payload_kind::signed_integer)
    return std::to_string(static_cast<std::int64_t>(record.payload));
  const auto value = std::bit_cast<double>(record.payload);
  if (record.payload_kind != cuda::payload_kind::floating || !std::isfinite(value)) return {};
  char text[32];
  const auto done = std::to_chars(std::begin(text), std::end(text), value);
  return {std::begin(text), done.ptr};
}

}  // namespace

void Ranges::take(const cuda::MarkerRecord& record) {
  namespace flag = cuda::marker_flag;
  const auto time = static_cast<std::int64_t>(record.timestamp);
  if ((record.flags & flag::end) != 0) {
    const auto found = open_.find(record.id);
    if (found == open_.end()) return;  // its start was before the recording
    Open open = std::move(found->second);
    open_.erase(found);
    const std::int64_t thread = record.object.thread_or_context;
    const bool moved = thread != 0 && thread != open.range.tid;
    if (!closes_innermost(open, record.id) || moved) open.range.function = kStartEnd;
    open.range.end = std::max(time, open.range.start + 1);
    open.range.extdata = "{" + open.members + "}";
    return database_.add(std::move(open.range));
  }
  Range range;
  range.tid = record.object.thread_or_context;
  range.start = range.end = time;
  range.function = kPushPop;  // until its end says otherwise
  if ((record.flags & flag::instantaneous) != 0) {
    range.function = "nvtxMarkA";
    range.extdata = "{" + range_members(record) + "}";
    return database_.add(std::move(range));
  }
  if ((record.flags & flag::start) == 0 || open_.size() >= kMostOpen) return;
  const std::string domain = record.domain == nullptr ? "" : record.domain;
  stacks_[{range.tid, domain}].emplace(time, record.id);
  open_[record.id] = {
      .range = std::move(range), .members = range_members(record), .domain = domain};
}

bool Ranges::closes_innermost(const Open& open, std::uint32_t id) {
  const auto stack = stacks_.find({open.range.tid, open.domain});
  if (stack == stacks_.end()) return true;
  const bool innermost = stack->second.rbegin()->second == id;
  stack->second.erase({open.range.start, id});
  if (stack->second.empty()) stacks_.erase(stack);
  return innermost;
}

void Ranges::take(const cuda::MarkerDataRecord& record) {
  const auto found = open_.find(record.id);
  if (found == open_.end() || record.payload == 0) return;  // 0: none was given
  if (const std::string text = payload_text(record); !text.empty())
    found->second.members += ", \"payload\": " + text;
}

}  // namespace perflab::record
