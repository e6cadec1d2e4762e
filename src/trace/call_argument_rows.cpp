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

/// Texts of arguments are short; what is longer than this is damage.
constexpr std::size_t kMostText = 256;

/// As rccl.h.in has them. AllGather and Gather have sendcount, ReduceScatter and Scatter recvcount.
constexpr auto kRcclNames = std::to_array<std::pair<std::string_view, RcclArgument>>({
    {"count", RcclArgument::count},
    {"sendcount", RcclArgument::count},
    {"recvcount", RcclArgument::count},
    {"datatype", RcclArgument::data_type},
    {"comm", RcclArgument::handle},
    {"root", RcclArgument::root},
    {"peer", RcclArgument::peer},
    {"stream", RcclArgument::stream},
    {"nranks", RcclArgument::ranks},
});

/// False: the text is none of that kind.
bool keep(const RcclValue& row, StringPool& strings, Communication& said) {
  if (row.value.size() > kMostText) return false;
  if (row.which == RcclArgument::data_type) {
    said.data_type = strings.intern(row.value);
    return !row.value.empty();
  }
  const auto value = parse_argument(row.value);
  if (!value) return false;
  const auto number = static_cast<std::int64_t>(*value);
  switch (row.which) {
    case RcclArgument::handle:
      if (number != 0) said.handle = strings.intern(row.value);
      return true;
    case RcclArgument::stream:
      said.stream = number;
      return true;
    case RcclArgument::count:
      if (number >= 0) said.count = number;
      break;
    case RcclArgument::root:
      if (number >= 0) said.root = number;
      break;
    case RcclArgument::peer:
      if (number >= 0) said.peer = number;
      break;
    case RcclArgument::ranks:
      if (number > 0) said.group_size = number;
      break;
    case RcclArgument::data_type:
    case RcclArgument::none:
      break;
  }
  return number >= 0;
}

}  // namespace

RcclArgument rccl_argument_of(std::string_view name) {
  const auto* const found =
      std::ranges::find(kRcclNames, name, &std::pair<std::string_view, RcclArgument>::first);
  return found == kRcclNames.end() ? RcclArgument::none : found->second;
}

bool is_rccl_category(std::string_view category) {
  return category == "RCCL_API" || category == "RCCL_API_EXT";
}

RcclLeftOut append_rccl_calls(std::vector<RcclValue>& rows, Trace& trace) {
  std::ranges::sort(rows);
  RcclLeftOut left_out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RcclValue& row = rows[i];
    const bool same_call = i > 0 && rows[i - 1].region == row.region;
    if (!same_call) {
      Communication said;
      said.of_region = true;
      said.row = row.region;
      said.function = trace.regions.name[row.region];
      trace.communications.push_back(std::move(said));
    } else if (rows[i - 1].which == row.which) {
      ++left_out.twice;
      continue;
    }
    if (!keep(row, trace.strings, trace.communications.back())) ++left_out.odd;
  }
  return left_out;
}

void report_rccl(const RcclLeftOut& left_out, ReadReport& report) {
  count(report.odd, {"arg", "of a call of RCCL, not a number or name: taken as missing"},
        left_out.odd);
  count(report.odd, {"arg", "named twice in one call: the smallest value is taken"},
        left_out.twice);
}

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
