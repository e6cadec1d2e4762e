// The tables of a recording, by name. Times and other numbers are the Trace's own columns; names
// become codes when their table is first asked for.
#include "api/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "base/text/json.h"

namespace perflab::api {
namespace {

using trace::Index;
using trace::kNone;
using trace::Trace;

/// The name as documents have it: bytes that are not UTF-8 are replaced.
std::string as_in_documents(std::string name) {
  const bool ascii =
      std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (ascii) return name;
  const std::string quoted = Json(name).dump(-1, ' ', false, Json::error_handler_t::replace);
  return Json::parse(quoted).get<std::string>();
}

/// The member of `rows[index]`, or none.
template <class Row, class T>
T member_or(const std::vector<Row>& rows, Index index, T Row::* member, T none) {
  return index == kNone ? none : rows[index].*member;
}

Index recording_of_process(const Trace& trace, Index process) {
  return member_or(trace.processes, process, &trace::Process::source, kNone);
}

/// Names that stand in the Trace's pool.
void pooled(TableMaker& table, const char* name, const Trace& trace, const auto& strings) {
  table.names(
      name, trace.strings.size(), [&](Index key) { return std::string(trace.strings.view(key)); },
      [&](std::size_t row) { return strings[row]; });
}

Table dispatches(const Trace& trace) {
  const trace::DispatchColumns& rows = trace.dispatches;
  TableMaker table(rows.size());
  table.numbers("start", "ns", rows.start);
  table.numbers("end", "ns", rows.end);
  table.names(
      "kernel", trace.kernel_symbols.size(),
      [&](Index key) { return std::string(trace.strings.view(trace.kernel_symbols[key].name)); },
      [&](std::size_t row) { return rows.kernel[row]; });
  table.numbers("dispatch_id", "", rows.dispatch_id);
  table.rows_of("kernel_symbol", "kernel_symbols", rows.kernel);
  table.rows_of("launch_config", "launch_configs", rows.config);
  table.rows_of("track", "tracks", rows.track);
  table.rows_of("api_call", "api_calls", rows.launch);
  return std::move(table).finish();
}

Table api_calls(const Trace& trace) {
  const trace::RegionColumns& rows = trace.regions;
  TableMaker table(rows.size());
  table.numbers("start", "ns", rows.start);
  table.numbers("end", "ns", rows.end);
  pooled(table, "name", trace, rows.name);
  pooled(table, "category", trace, rows.category);
  table.rows_of("thread", "threads", rows.thread);
  table.rows_of("parent", "api_calls", rows.parent);
  return std::move(table).finish();
}

Table ranges(const Trace& trace) {
  TableMaker table(trace.ranges.size());
  table.rows_of("api_call", "api_calls", trace.ranges.region);
  pooled(table, "text", trace, trace.ranges.message);
  return std::move(table).finish();
}

Table copies(const Trace& trace) {
  const trace::CopyColumns& rows = trace.copies;
  TableMaker table(rows.size());
  table.numbers("start", "ns", rows.start);
  table.numbers("end", "ns", rows.end);
  table.numbers("bytes", "bytes", rows.bytes);
  pooled(table, "kind", trace, rows.kind);
  table.rows_of("source_agent", "agents", rows.source_agent);
  table.rows_of("track", "tracks", rows.track);
  table.rows_of("api_call", "api_calls", rows.launch);
  return std::move(table).finish();
}

Table allocations(const Trace& trace) {
  const trace::AllocationColumns& rows = trace.allocations;
  TableMaker table(rows.size());
  table.numbers("start", "ns", rows.start);
  table.numbers("end", "ns", rows.end);
  table.numbers("address", "", rows.address);
  table.numbers("bytes", "bytes", rows.bytes);
  pooled(table, "type", trace, rows.type);
  pooled(table, "level", trace, rows.level);
  table.rows_of("agent", "agents", rows.agent);
  table.rows_of("process", "processes", rows.process);
  return std::move(table).finish();
}

Table counters(const Trace& trace) {
  const trace::CounterColumns& rows = trace.counters;
  TableMaker table(rows.size());
  table.rows_of("dispatch", "dispatches", rows.dispatch);
  table.names(
      "counter", trace.counter_infos.size(),
      [&](Index key) { return std::string(trace.strings.view(trace.counter_infos[key].name)); },
      [&](std::size_t row) { return rows.counter[row]; });
  table.rows_of("counter_info", "counter_infos", rows.counter);
  table.numbers("instances", "", rows.instances);
  table.numbers("sum", "", rows.sum);
  table.numbers("min", "", rows.min);
  table.numbers("max", "", rows.max);
  return std::move(table).finish();
}

Table counter_infos(const Trace& trace) {
  const auto& rows = trace.counter_infos;
  TableMaker table(rows.size());
  table.texts("counter",
              [&](Index row) { return std::string(trace.strings.view(rows[row].name)); });
  table.texts("block", [&](Index row) { return rows[row].block; });
  table.texts("units", [&](Index row) { return rows[row].units; });
  table.texts("description", [&](Index row) { return rows[row].description; });
  table.make("derived", "", [&](std::size_t row) -> std::uint8_t { return rows[row].derived; });
  return std::move(table).finish();
}

Table kernel_symbols(const Trace& trace) {
  const auto& rows = trace.kernel_symbols;
  TableMaker table(rows.size());
  table.texts("kernel", [&](Index row) { return std::string(trace.strings.view(rows[row].name)); });
  table.texts("mangled_name",
              [&](Index row) { return std::string(trace.strings.view(rows[row].mangled_name)); });
  table.make_rows_of("recording", "recordings", [&](std::size_t row) { return rows[row].source; });
  return std::move(table).finish();
}

Table launch_configs(const Trace& trace) {
  const auto& rows = trace.launch_configs;
  TableMaker table(rows.size());
  constexpr std::array<const char*, 3> kWorkgroup = {"workgroup_x", "workgroup_y", "workgroup_z"};
  constexpr std::array<const char*, 3> kGrid = {"grid_x", "grid_y", "grid_z"};
  for (std::size_t axis = 0; axis < 3; ++axis)
    table.make(kWorkgroup[axis], "work-items",
               [&](std::size_t row) { return rows[row].workgroup[axis]; });
  for (std::size_t axis = 0; axis < 3; ++axis)
    table.make(kGrid[axis], "work-items", [&](std::size_t row) { return rows[row].grid[axis]; });
  table.make("lds_bytes", "bytes", [&](std::size_t row) { return rows[row].lds_bytes; });
  table.make("scratch_bytes", "bytes", [&](std::size_t row) { return rows[row].scratch_bytes; });
  return std::move(table).finish();
}

/// Which recordings' times count (analyze/scope/timing_scope.h).
analyze::TimingScope scope_of(const Trace& trace) {
  return analyze::find_timing_scope(trace, analyze::find_passes(trace));
}

Table tracks(const Trace& trace) {
  const auto& rows = trace.tracks;
  const analyze::TimingScope scope = scope_of(trace);
  TableMaker table(rows.size());
  table.make("timed", "", [&](std::size_t row) -> std::uint8_t { return scope.track_counts[row]; });
  table.make("pid", "", [&](std::size_t row) {
    return member_or(trace.processes, rows[row].process, &trace::Process::pid, std::int64_t{-1});
  });
  table
      .make("tid", "",
            [&](std::size_t row) {
              return member_or(trace.threads, rows[row].thread, &trace::Thread::tid,
                               std::int64_t{-1});
            })
      .may_be_none = true;
  table.names(
      "queue", trace.queues.size(), [&](Index key) { return trace.queues[key].name; },
      [&](std::size_t row) { return rows[row].queue; });
  table.names(
      "stream", trace.streams.size(), [&](Index key) { return trace.streams[key].name; },
      [&](std::size_t row) { return rows[row].stream; });
  table
      .make("queue_id", "",
            [&](std::size_t row) {
              return member_or(trace.queues, rows[row].queue, &trace::Queue::id, std::int64_t{-1});
            })
      .may_be_none = true;
  table
      .make("stream_id", "",
            [&](std::size_t row) {
              return member_or(trace.streams, rows[row].stream, &trace::Stream::id,
                               std::int64_t{-1});
            })
      .may_be_none = true;
  table.make_rows_of("agent", "agents", [&](std::size_t row) { return rows[row].agent; });
  table.make_rows_of("thread", "threads", [&](std::size_t row) { return rows[row].thread; });
  table.make_rows_of("process", "processes", [&](std::size_t row) { return rows[row].process; });
  table.make_rows_of("recording", "recordings", [&](std::size_t row) {
    return recording_of_process(trace, rows[row].process);
  });
  return std::move(table).finish();
}

Table threads(const Trace& trace) {
  const auto& rows = trace.threads;
  TableMaker table(rows.size());
  table.make("tid", "", [&](std::size_t row) { return rows[row].tid; });
  table.make_rows_of("process", "processes", [&](std::size_t row) { return rows[row].process; });
  table.make_rows_of("recording", "recordings", [&](std::size_t row) {
    return recording_of_process(trace, rows[row].process);
  });
  return std::move(table).finish();
}

Table processes(const Trace& trace) {
  const auto& rows = trace.processes;
  TableMaker table(rows.size());
  table.make("pid", "", [&](std::size_t row) { return rows[row].pid; });
  table.texts("command", [&](Index row) { return rows[row].command; });
  table.make_rows_of("recording", "recordings", [&](std::size_t row) { return rows[row].source; });
  return std::move(table).finish();
}

Table agents(const Trace& trace) {
  const auto& rows = trace.agents;
  TableMaker table(rows.size());
  table.make("id", "", [&](std::size_t row) { return rows[row].id; });
  table.texts("type", [&](Index row) { return rows[row].type; });
  table.texts("name", [&](Index row) { return rows[row].name; });
  table.texts("product", [&](Index row) { return rows[row].product; });
  return std::move(table).finish();
}

Table recordings(const Trace& trace) {
  const auto& rows = trace.sources;
  const analyze::TimingScope scope = scope_of(trace);
  TableMaker table(rows.size());
  table.texts("file", [&](Index row) { return rows[row].file; });
  table.texts("guid", [&](Index row) { return rows[row].guid; });
  table.texts("collector", [&](Index row) { return rows[row].collector; });
  table.make("timed", "",
             [&](std::size_t row) -> std::uint8_t { return scope.source_counts[row]; });
  table
      .make("pass", "",
            [&](std::size_t row) { return static_cast<std::int32_t>(rows[row].pass.value_or(-1)); })
      .may_be_none = true;
  return std::move(table).finish();
}

struct NamedTable {
  const char* name;
  Table (*make)(const Trace&);
};

constexpr std::array kTables = {
    NamedTable{"dispatches", dispatches},
    NamedTable{"api_calls", api_calls},
    NamedTable{"ranges", ranges},
    NamedTable{"copies", copies},
    NamedTable{"allocations", allocations},
    NamedTable{"counters", counters},
    NamedTable{"counter_infos", counter_infos},
    NamedTable{"kernel_symbols", kernel_symbols},
    NamedTable{"launch_configs", launch_configs},
    NamedTable{"tracks", tracks},
    NamedTable{"threads", threads},
    NamedTable{"processes", processes},
    NamedTable{"agents", agents},
    NamedTable{"recordings", recordings},
};

}  // namespace

void Names::add(std::string_view name) {
  if (bytes.size() + name.size() > INT32_MAX)
    throw std::length_error("the names of one column are longer than 2 GiB together");
  bytes += name;
  offsets.push_back(static_cast<std::int32_t>(bytes.size()));
}

std::shared_ptr<const Names> TableMaker::number_names(
    std::vector<std::pair<std::string, Index>> used, std::vector<std::int32_t>& code_of) {
  for (auto& [name, key] : used) name = as_in_documents(std::move(name));
  std::ranges::sort(used);
  auto names = std::make_shared<Names>();
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (i == 0 || used[i].first != used[i - 1].first) names->add(used[i].first);
    code_of[used[i].second] = static_cast<std::int32_t>(names->size() - 1);
  }
  return names;
}

Result<std::shared_ptr<Recording>> Recording::of(trace::Trace trace) {
  for (const auto& [name, rows] :
       {std::pair{"dispatches", trace.dispatches.size()},
        std::pair{"API calls", trace.regions.size()}, std::pair{"copies", trace.copies.size()},
        std::pair{"counter values", trace.counters.size()}})
    if (rows > INT32_MAX)
      return fail(ErrorCode::bad_input,
                  fmt::format("{} {} are more than a table can have", rows, name),
                  "open the databases of the run one by one");
  return std::shared_ptr<Recording>(new Recording(std::move(trace)));
}

const char* Recording::table_name(std::size_t index) {
  return index < kTables.size() ? kTables[index].name : nullptr;
}

const Table* Recording::table(std::string_view name) {
  if (const auto found = made_.find(name); found != made_.end()) return &found->second;
  for (const NamedTable& named : kTables)
    if (named.name == name) return &made_.emplace(name, named.make(trace_)).first->second;
  return nullptr;
}

}  // namespace perflab::api
