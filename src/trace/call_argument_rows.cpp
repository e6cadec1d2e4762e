// Which arguments matter, and their rows.
#include "trace/call_argument_rows.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text/numbers.h"

namespace perflab::trace {
namespace {

constexpr std::uint8_t kStream = CallArgumentColumns::kStream;
constexpr std::uint8_t kEvent = CallArgumentColumns::kEvent;
constexpr std::uint8_t kDevice = CallArgumentColumns::kDevice;
constexpr std::uint8_t kStreamId = CallArgumentColumns::kStreamId;
constexpr std::uint8_t kRecord = CallArgumentColumns::kRecord;

/// Those with _id are of rocm-perf-record: the numbers that CUPTI gives streams, events and their
/// records (docs/facts/cuda_calls.md "What a recording says").
constexpr auto kNames =
    std::to_array<std::pair<std::string_view, std::uint8_t>>({{"stream", kStream},
                                                              {"hStream", kStream},
                                                              {"event", kEvent},
                                                              {"hEvent", kEvent},
                                                              {"deviceId", kDevice},
                                                              {"device", kDevice},
                                                              {"stream_id", kStreamId},
                                                              {"event_id", kEvent},
                                                              {"record_id", kRecord}});

}  // namespace

std::uint8_t call_argument_of(std::string_view name) {
  const auto* const found =
      std::ranges::find(kNames, name, &std::pair<std::string_view, std::uint8_t>::first);
  return found == kNames.end() ? std::uint8_t{0} : found->second;
}

std::optional<std::uint64_t> parse_argument(std::string_view text) {
  if (text == "(null)") return 0;
  if (!text.starts_with('-')) return number_of(text);
  const auto below_zero = whole_number<std::int64_t>(text);
  return below_zero ? std::optional(static_cast<std::uint64_t>(*below_zero)) : std::nullopt;
}

std::uint64_t append_calls(std::vector<CallArgument>& rows, CallArgumentColumns& all) {
  std::ranges::sort(rows);
  std::uint64_t twice = 0;
  for (const CallArgument& row : rows) {
    if (all.region.empty() || all.region.back() != row.region) {
      all.region.push_back(row.region);
      all.has.push_back(0);
      all.stream.push_back(0);
      all.event.push_back(0);
      all.device.push_back(0);
      all.record.push_back(0);
    }
    if ((all.has.back() & row.which) != 0) {
      ++twice;
      continue;
    }
    all.has.back() |= row.which;
    if (row.which == kStream || row.which == kStreamId) all.stream.back() = row.value;
    if (row.which == kRecord) all.record.back() = row.value;
    if (row.which == kEvent) all.event.back() = row.value;
    if (row.which == kDevice) all.device.back() = static_cast<std::int64_t>(row.value);
  }
  return twice;
}

}  // namespace perflab::trace
