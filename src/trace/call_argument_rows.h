// Arguments of API calls that order work (streams, events, devices), and of calls of RCCL, out of
// the texts that a profiler writes. Argument names are those of the HIP API reference; values are
// text, as rocprofv3 writes them: "0x55…", "(null)", decimal (docs/facts/rocpd.md "Columns").
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace perflab::trace {

/// Which of CallArgumentColumns an argument of that name is; 0: none of them.
std::uint8_t call_argument_of(std::string_view name);

/// A handle or ordinal as 64 bits; nullopt when the text is none.
std::optional<std::uint64_t> parse_argument(std::string_view text);

/// What an argument of RCCL's functions says (docs/facts/rocprofv3_outputs.md "RCCL").
enum class RcclArgument : std::uint8_t {
  none,
  count,
  data_type,
  handle,
  root,
  peer,
  stream,
  ranks
};

/// By its name in RCCL's header.
RcclArgument rccl_argument_of(std::string_view name);

/// One of them, of one call.
struct RcclValue {
  Index region;
  RcclArgument which;
  std::string value;  ///< as recorded
  friend auto operator<=>(const RcclValue&, const RcclValue&) = default;
};

/// What happened to those that could not be kept.
struct RcclLeftOut {
  std::uint64_t odd = 0, twice = 0;
};

/// Whether regions of the category are calls of RCCL: RCCL_API, and RCCL_API_EXT with arguments.
bool is_rccl_category(std::string_view category);

/// Puts those of a call into one Communication each, by region. Sorts `rows`.
RcclLeftOut append_rccl_calls(std::vector<RcclValue>& rows, Trace& trace);

/// Counts what was left out in the report, as of the table of arguments.
void report_rccl(const RcclLeftOut& left_out, ReadReport& report);

/// One argument of one call.
struct CallArgument {
  Index region;
  std::uint8_t which;
  std::uint64_t value;
  friend auto operator<=>(const CallArgument&, const CallArgument&) = default;
};

/// What one sample stands for: a handle in calls of one name whose work ran on one stream.
struct HandleKey {
  std::uint64_t handle;
  Index name;
  std::uint16_t stream;
  friend bool operator==(const HandleKey&, const HandleKey&) = default;
};
struct HandleHash {
  std::size_t operator()(const HandleKey& key) const {
    const std::uint64_t hash =
        (key.handle ^ (std::uint64_t{key.name} << 48) ^ (std::uint64_t{key.stream} << 32)) *
        0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(hash ^ (hash >> 32));
  }
};

/// The earliest and the latest region of each key: enough to know which stream a handle was at any
/// time, since a stream is never made twice, even when its handle is.
class HandleSamples {
 public:
  void add(const RegionColumns& regions, const HandleKey& key, Index region) {
    const auto [entry, added] = kept_.try_emplace(key, std::pair{region, region});
    if (added) return;
    auto& [first, last] = entry->second;
    const auto before = [&](Index a, Index b) {
      return std::tuple{regions.start[a], regions.end[a], a} <
             std::tuple{regions.start[b], regions.end[b], b};
    };
    if (before(region, first)) first = region;
    if (before(last, region)) last = region;
  }
  void add(const RegionColumns& regions, const HandleSamples& more) {
    for (const auto& [key, ends] : more.kept_) {
      add(regions, key, ends.first);
      add(regions, key, ends.second);
    }
  }
  void append_to(std::vector<CallArgument>& rows) const {
    for (const auto& [key, ends] : kept_) {
      rows.push_back(
          {.region = ends.first, .which = CallArgumentColumns::kStream, .value = key.handle});
      if (ends.second != ends.first)
        rows.push_back(
            {.region = ends.second, .which = CallArgumentColumns::kStream, .value = key.handle});
    }
  }

 private:
  std::unordered_map<HandleKey, std::pair<Index, Index>, HandleHash> kept_;
};

/// Sorts the arguments and puts those of a call into one row. Returns how many were there twice.
std::uint64_t append_calls(std::vector<CallArgument>& rows, CallArgumentColumns& all);

}  // namespace perflab::trace
