// Records of a recording, one by one as they stand in the text: dispatches, API calls, copies,
// allocations, counters. Fields in the order in which rocprofv3 writes them, which is the cheapest
// to read; any other is read too.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/text/numbers.h"
#include "trace/api_calls.h"
#include "trace/rocprofv3_json/json_recording.h"

namespace perflab::trace::rocprofv3_json {
namespace {

/// A call of this name returns a thread's id: rocprofv3 puts its name in the place of a text.
constexpr std::string_view kThreadIdCall = "roctxGetThreadId";

bool read_extent(JsonCursor& cursor, od::object& object, std::string_view key,
                 std::array<std::uint32_t, 3>& extent) {
  od::object sizes;
  if (!cursor.object_in(object, key, sizes)) return false;
  constexpr std::array<std::string_view, 3> kAxes = {"x", "y", "z"};
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const auto size = cursor.whole(sizes, kAxes[axis]);
    if (!size || *size > std::numeric_limits<std::uint32_t>::max()) return false;
    extent[axis] = static_cast<std::uint32_t>(*size);
  }
  return true;
}

bool read_size(JsonCursor& cursor, od::object& object, std::string_view key, std::uint32_t& out) {
  const auto size = cursor.whole(object, key);
  if (!size || *size > std::numeric_limits<std::uint32_t>::max()) return false;
  out = static_cast<std::uint32_t>(*size);
  return true;
}

std::optional<std::int64_t> small(std::optional<std::uint64_t> id) {
  return id ? std::optional(static_cast<std::int64_t>(*id)) : std::nullopt;
}

}  // namespace

Index JsonRecording::agent_of(std::optional<std::uint64_t> handle) const {
  if (!handle) return kNone;
  const auto found = agents_.find(*handle);
  return found == agents_.end() ? kNone : found->second;
}

std::optional<std::int64_t> JsonRecording::thread_in(od::object& record) {
  return small(cursor_.whole(record, "thread_id"));
}

bool JsonRecording::read_times(od::object& record, std::int64_t& start, std::int64_t& end) {
  const auto begin = cursor_.integer(record, "start_timestamp");
  const auto until = cursor_.integer(record, "end_timestamp");
  start = begin.value_or(0);
  end = until.value_or(0);
  return begin && until;
}

std::optional<Index> JsonRecording::operation_of(od::object& record, const KindNames*& kind) {
  const auto kind_id = cursor_.whole(record, "kind");
  const auto operation = cursor_.whole(record, "operation");
  if (!kind_id || !operation || *kind_id >= kinds_.size()) return std::nullopt;
  kind = &kinds_[static_cast<std::size_t>(*kind_id)];
  if (*operation >= kind->operations.size()) return std::nullopt;
  return kind->operations[static_cast<std::size_t>(*operation)];
}

bool JsonRecording::read_dispatch_info(od::object& record, DispatchRow& row) {
  od::object about;
  if (!cursor_.object_in(record, "dispatch_info", about)) return false;
  row.agent = agent_of(cursor_.handle(about, "agent_id"));
  row.queue = small(cursor_.handle(about, "queue_id"));
  const auto kernel = cursor_.integer(about, "kernel_id");
  const auto number = cursor_.integer(about, "dispatch_id");
  row.kernel = kernel.value_or(0);
  row.dispatch_id = number.value_or(0);
  return kernel && number &&
         read_size(cursor_, about, "private_segment_size", row.config.scratch_bytes) &&
         read_size(cursor_, about, "group_segment_size", row.config.lds_bytes) &&
         read_extent(cursor_, about, "workgroup_size", row.config.workgroup) &&
         read_extent(cursor_, about, "grid_size", row.config.grid);
}

bool JsonRecording::read_dispatch(od::object& record, DispatchRow& row) {
  row.thread = thread_in(record);
  od::object ids;
  if (cursor_.object_in(record, "correlation_id", ids))
    row.correlation = cursor_.whole(ids, "internal").value_or(0);
  const bool timed = read_times(record, row.start, row.end);
  const bool good = read_dispatch_info(record, row) && timed;
  row.stream = small(cursor_.handle(record, "stream_id"));
  return good;
}

void JsonRecording::load_dispatches(od::array& records) {
  const std::uint64_t others = cursor_.each(records, [&](od::object& record) {
    DispatchRow row;
    if (read_dispatch(record, row))
      rows_->dispatch(row);
    else
      rows_->malformed("kernel_dispatch");
  });
  rows_->malformed("kernel_dispatch", others);
}

void JsonRecording::load_call(od::object& record) {
  CallRow row;
  const KindNames* kind = nullptr;
  const auto name = operation_of(record, kind);
  od::object ids;
  if (cursor_.object_in(record, "correlation_id", ids)) {
    row.correlation = cursor_.whole(ids, "internal").value_or(0);
    row.parent = cursor_.whole(ids, "ancestor").value_or(0);
  }
  const bool timed = read_times(record, row.start, row.end);
  row.thread = thread_in(record);
  if (!timed || !name) return rows_->malformed("region");
  row.name = *name;
  row.category = kind->kind;
  arguments_.clear();
  const std::string_view category = trace_.strings.view(row.category);
  od::array arguments;
  if (category.ends_with("_EXT") && cursor_.array_in(record, "args", arguments))
    cursor_.each(arguments, [&](od::object& argument) {
      const auto argument_name = cursor_.text(argument, "name");
      const auto value = cursor_.text(argument, "value");
      if (argument_name && value) arguments_.push_back({*argument_name, *value});
    });
  const Index region = rows_->call(row, arguments_);
  if (region == kNone || !is_marker_category(category)) return;
  if (trace_.strings.view(row.name) == kThreadIdCall)
    rows_->message(region, kThreadIdCall);
  else if (const auto text = messages_.find(row.correlation); text != messages_.end())
    rows_->message(region, text->second);
}

void JsonRecording::load_calls(od::array& records) {
  const std::uint64_t others =
      cursor_.each(records, [&](od::object& record) { load_call(record); });
  rows_->malformed("region", others);
}

void JsonRecording::load_copies(od::array& records) {
  const std::uint64_t others = cursor_.each(records, [&](od::object& record) {
    CopyRow row;
    const KindNames* kind = nullptr;
    const auto name = operation_of(record, kind);
    row.thread = thread_in(record);
    od::object ids;
    if (cursor_.object_in(record, "correlation_id", ids))
      row.correlation = cursor_.whole(ids, "internal").value_or(0);
    const bool timed = read_times(record, row.start, row.end);
    row.destination = agent_of(cursor_.handle(record, "dst_agent_id"));
    row.source = agent_of(cursor_.handle(record, "src_agent_id"));
    const auto bytes = cursor_.integer(record, "bytes");
    row.stream = small(cursor_.handle(record, "stream_id"));
    if (!timed || !name || !bytes) return rows_->malformed("memory_copy");
    row.kind = *name;
    row.bytes = *bytes;
    rows_->copy(row);
  });
  rows_->malformed("memory_copy", others);
}

void JsonRecording::load_allocations(od::array& records) {
  const std::uint64_t others = cursor_.each(records, [&](od::object& record) {
    AllocationRow row;
    const KindNames* kind = nullptr;
    const auto name = operation_of(record, kind);
    const bool timed = read_times(record, row.start, row.end);
    row.agent = agent_of(cursor_.handle(record, "agent_id"));
    // As text ("0x..."); older versions wrote {"handle": N}. Scratch memory has none.
    od::value address;
    if (cursor_.good(cursor_.field(record, "address").get(address))) {
      std::string_view text;
      od::object handle;
      if (cursor_.good(address.get_string().get(text)))
        row.address = number_of(text).value_or(0);
      else if (cursor_.good(address.get_object().get(handle)))
        row.address = cursor_.whole(handle, "handle").value_or(0);
    }
    const auto bytes = cursor_.integer(record, "allocation_size");
    if (!timed || !name || !bytes) return rows_->malformed("memory_allocate");
    row.bytes = *bytes;
    rows_->allocation(row, trace_.strings.view(*name));
  });
  rows_->malformed("memory_allocate", others);
}

/// Section by section as they stand: to look for one that is not there costs a walk over all
/// others.
void JsonRecording::load_records(od::object& buffers) {
  using Load = void (JsonRecording::*)(od::array&);
  constexpr std::array<std::pair<std::string_view, Load>, 10> kSections = {{
      {"kernel_dispatch", &JsonRecording::load_dispatches},
      {"hip_api", &JsonRecording::load_calls},
      {"hsa_api", &JsonRecording::load_calls},
      {"marker_api", &JsonRecording::load_calls},
      {"rccl_api", &JsonRecording::load_calls},
      {"memory_copy", &JsonRecording::load_copies},
      {"memory_allocation", &JsonRecording::load_allocations},
      {"scratch_memory", &JsonRecording::load_allocations},
      {"rocdecode_api", &JsonRecording::load_calls},
      {"rocjpeg_api", &JsonRecording::load_calls},
  }};
  cursor_.each_field(buffers, [&](std::string_view key, od::value& value) {
    const auto* const section =
        std::ranges::find(kSections, key, &std::pair<std::string_view, Load>::first);
    od::array records;
    if (section != kSections.end() && cursor_.good(value.get_array().get(records)))
      (this->*section->second)(records);
  });
}

void JsonRecording::load_counters(od::object& callbacks) {
  od::array records;
  if (!cursor_.array_in(callbacks, "counter_collection", records)) return;
  cursor_.each(records, [&](od::object& record) {
    DispatchRow row;
    row.thread = thread_in(record);
    od::object about;
    if (!cursor_.object_in(record, "dispatch_data", about)) return rows_->malformed("pmc_event");
    od::object ids;
    if (cursor_.object_in(about, "correlation_id", ids))
      row.correlation = cursor_.whole(ids, "internal").value_or(0);
    const bool timed = read_times(about, row.start, row.end);
    if (!read_dispatch_info(about, row)) return rows_->malformed("pmc_event");
    od::array values;
    if (cursor_.array_in(record, "records", values)) {
      const std::uint64_t others = cursor_.each(values, [&](od::object& value) {
        const auto counter = counters_.find(cursor_.handle(value, "counter_id").value_or(0));
        const auto number = cursor_.real(value, "value");
        if (counter == counters_.end() || !number || std::abs(*number) > kLargestCounter)
          return count(trace_.report.dropped,
                       {"pmc_event", "unknown counter, or a value that no counter can have"}, 1);
        rows_->counter(row.dispatch_id, counter->second, 1, *number, *number, *number);
      });
      rows_->malformed("pmc_event", others);
    }
    row.stream = small(cursor_.handle(record, "stream_id"));
    if (timed) rows_->counted_dispatch(row);
  });
}

}  // namespace perflab::trace::rocprofv3_json
