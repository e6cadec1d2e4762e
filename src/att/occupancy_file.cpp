// occupancy.json: starts and ends of waves on all CUs of the traced shader engines, the kernels
// they belong to, and events of the trace (docs/facts/thread_trace.md "Occupancy and events").
#include <fmt/format.h>

#include <algorithm>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/rows.h"

namespace perflab::att {
namespace {

/// Numbers of events (docs/facts/thread_trace.md "Occupancy and events").
constexpr std::int64_t kPacketLoss = 6, kTraceStallBegin = 9;

/// Place of "workgroup_id" in the rows, where the file names their fields.
Result<std::optional<std::size_t>> workgroup_field(const dom::object& root, std::string_view file) {
  std::optional<std::size_t> place;
  std::size_t at = 0;
  PERFLAB_TRY_VOID(for_each_in(root, "occupancy_fields", file, [&](const dom::element& element) {
    std::string_view name;
    if (element.get(name) == simdjson::SUCCESS && name == "workgroup_id") place = at;
    ++at;
  }));
  return place;
}

std::optional<OccupancyRow> occupancy_row(const dom::element& element,
                                          std::optional<std::size_t> workgroup) {
  const auto fields = integers<6>(element);
  if (!fields) return std::nullopt;
  const auto& [time, cu, simd, slot, start, kernel] = *fields;
  if (!is_time(time) || !is_small(cu) || !is_small(simd) || !is_small(slot) || start < 0 ||
      start > 1 || kernel < 0)
    return std::nullopt;
  OccupancyRow row{.time = time,
                   .cu = static_cast<int>(cu),
                   .simd = static_cast<int>(simd),
                   .slot = static_cast<int>(slot),
                   .start = start == 1,
                   .kernel = kernel,
                   .workgroup = std::nullopt};
  std::int64_t id = 0;
  if (workgroup && element.at(*workgroup).get(id) == simdjson::SUCCESS) row.workgroup = id;
  return row;
}

void take_kernels(const dom::object& dispatches, ThreadTrace& trace) {
  for (const dom::key_value_pair field : dispatches) {
    const auto id = whole_number(field.key);
    std::string_view name;
    if (id && field.value.get(name) == simdjson::SUCCESS)
      trace.kernels.emplace(*id, name);
    else
      count_drop(trace.dropped, kKernelDropped);
  }
}

Result<void> take_events(const dom::object& events, std::string_view file, ThreadTrace& trace) {
  for (const dom::key_value_pair field : events) {
    const auto number = engine_number(field.key);
    if (!number) continue;
    ShaderEngine& engine = engine_of(trace, *number);
    PERFLAB_TRY_VOID(for_each_of(field.value, field.key, file, [&](const dom::element& event) {
      std::string_view kind;
      std::int64_t type = 0;
      if (event["kind"].get(kind) != simdjson::SUCCESS) {
        count_drop(trace.dropped, kEventDropped);
      } else if (kind == "event") {
        if (event["type"].get(type) != simdjson::SUCCESS) count_drop(trace.dropped, kEventDropped);
        if (type == kPacketLoss) ++engine.packets_lost;
        if (type == kTraceStallBegin) ++engine.trace_stalls;
      }
    }));
  }
  return {};
}

}  // namespace

Result<void> take_occupancy(const dom::object& root, std::string_view file, ThreadTrace& trace) {
  take_version(root, trace);
  PERFLAB_TRY(const std::optional<std::size_t> workgroup, workgroup_field(root, file));
  for (const dom::key_value_pair field : root) {
    const auto number = engine_number(field.key);
    if (!number) continue;  // "dispatches", "version", …
    auto& rows = engine_of(trace, *number).occupancy;
    PERFLAB_TRY_VOID(for_each_of(field.value, field.key, file, [&](const dom::element& element) {
      const auto row = occupancy_row(element, workgroup);
      if (row)
        rows.push_back(*row);
      else
        count_drop(trace.dropped, kOccupancyDropped);
    }));
    std::ranges::stable_sort(rows, {}, &OccupancyRow::time);
  }
  PERFLAB_TRY(const auto dispatches, object_at(root, "dispatches", file));
  if (dispatches) take_kernels(*dispatches, trace);
  PERFLAB_TRY(const auto events, object_at(root, "events", file));
  if (events) PERFLAB_TRY_VOID(take_events(*events, file, trace));
  return {};
}

}  // namespace perflab::att
