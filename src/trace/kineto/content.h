// What one Kineto file says, before it is put in order: events of each kind as the file has them.
// Internal to trace/kineto.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::trace::kineto {

/// Where a call or range ran.
struct Place {
  std::int64_t pid = 0, tid = 0;
  friend auto operator<=>(const Place&, const Place&) = default;
};

using Extent = std::array<std::uint32_t, 3>;

/// What an operation's args say of the communication that it does.
struct CommFacts {
  Index function = kNone, group = kNone, data_type = kNone;  ///< strings
  std::optional<std::int64_t> sequence, group_size, in_count, out_count, source, destination;
  std::vector<std::int64_t> members;

  [[nodiscard]] bool any() const { return function != kNone || group != kNone; }
};

/// What is read of an event's args.
struct Args {
  std::optional<std::int64_t> external_id, correlation, device, stream, queue, bytes, registers,
      shared_memory, from_device, to_device, wait_on_stream, event, record;
  std::optional<Extent> grid, block;
  CommFacts communication;
};

struct Kernel {
  std::int64_t start = 0, end = 0;
  Index name = 0;
  Place place;  ///< device and stream, where args do not say
  std::optional<std::int64_t> device, stream, queue, correlation, external_id, registers, shared;
  std::optional<Extent> grid, block;
  Index communication = kNone;  ///< Content::communications
};

struct Copy {
  std::int64_t start = 0, end = 0;
  Index name = 0;
  Place place;
  std::optional<std::int64_t> device, stream, queue, correlation, bytes, from_device, to_device;
};

struct Call {
  std::int64_t start = 0, end = 0;
  Index name = 0;
  bool driver = false;
  Place place;
  std::optional<std::int64_t> correlation, shared;
  std::optional<Extent> grid, block;
};

struct Range {
  std::int64_t start = 0, end = 0;
  Index text = 0;
  Place place;
};

/// A record_param_comms: the operation of the host that issues a communication.
struct CommOperation {
  std::int64_t start = 0, end = 0;
  Place place;
  std::optional<std::int64_t> external_id;
  Index communication = kNone;
};

/// What a call waited for or ordered (category cuda_sync).
struct Sync {
  std::int64_t correlation = 0;
  std::optional<std::int64_t> stream, wait_on_stream, event, record;
};

struct Device {
  std::int64_t id = 0;
  std::string name;
  std::optional<std::int64_t> memory_bytes, major, minor, threads_per_sm, wave_size, sms,
      registers_per_sm, shared_optin, shared_per_sm;
  bool cuda = false;  ///< has fields that only CUDA's have
};

struct Content {
  std::string schema_version, hostname;
  std::int64_t base = 0;  ///< ns, to be added to every time
  std::vector<Device> devices;
  std::optional<std::int64_t> rank, world_size;
  std::map<Index, std::vector<std::int64_t>> group_members;  ///< name of the process group

  std::vector<Kernel> kernels;
  std::vector<Copy> copies;
  std::vector<Call> calls;
  std::vector<Range> ranges;
  std::vector<CommOperation> operations;
  std::vector<Sync> syncs;
  std::vector<CommFacts> communications;
  std::map<std::string, std::uint64_t, std::less<>> malformed, unfinished, rows;  ///< by category
  std::uint64_t split = 0, strangers = 0;  ///< events in two parts; those that are no object
  bool known_category = false;             ///< an event of a category that Kineto writes
};

/// Reads a text; strings go into `strings`. The text gets simdjson's padding behind it. Errors
/// (bad_input) name `name`.
Result<Content> read_content(std::string& text, std::string_view name, StringPool& strings);

}  // namespace perflab::trace::kineto
