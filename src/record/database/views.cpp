// The views for analysis that a rocpd database brings along, so that AMD's tools and plain SQL find
// theirs: names and columns are those of rocprofv3's databases (docs/facts/rocpd_cuda.md "Files"),
// the statements are ours. Every join is on id and guid: a merged file has several of both.
#include "record/database/schema.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
// clang-format off

// A row's table is x, its event e, the event's category c, its process p, its thread t.
#define PERFLAB_JOIN(table, name, row, column)                                                    \
  " JOIN rocpd_" table " " name " ON " name ".id = " row "." column                               \
  " AND " name ".guid = " row ".guid"
#define PERFLAB_LEFT_JOIN(table, name, row, column) " LEFT" PERFLAB_JOIN(table, name, row, column)
#define PERFLAB_EVENT                                                                             \
  PERFLAB_JOIN("event", "e", "x", "event_id") PERFLAB_LEFT_JOIN("string", "c", "e", "category_id")
#define PERFLAB_PROCESS PERFLAB_JOIN("info_process", "p", "x", "pid")
#define PERFLAB_THREAD PERFLAB_JOIN("info_thread", "t", "x", "tid")
#define PERFLAB_STACK " e.stack_id, e.parent_stack_id, e.correlation_id AS corr_id"
#define PERFLAB_TIMES " x.start, x.end, x.end - x.start AS duration"
#define PERFLAB_AGENT(prefix, agent)                                                              \
  " " agent ".absolute_index AS " prefix "_abs_index, "                                           \
  agent ".logical_index AS " prefix "_log_index, "                                                \
  agent ".type_index AS " prefix "_type_index, " agent ".type AS " prefix "_type"
// A sample is a region without a length.
#define PERFLAB_SAMPLE(times)                                                                     \
  "SELECT x.id, x.guid, c.string AS category, n.string AS name, k.nid, p.pid, t.tid, " times      \
  ", x.event_id, " PERFLAB_STACK ", e.extdata, e.call_stack, e.line_info FROM rocpd_sample x"     \
  PERFLAB_JOIN("track", "k", "x", "track_id") PERFLAB_EVENT                                       \
  PERFLAB_LEFT_JOIN("string", "n", "k", "name_id") PERFLAB_JOIN("info_process", "p", "k", "pid")  \
  PERFLAB_JOIN("info_thread", "t", "k", "tid")

namespace perflab::record {

std::vector<DataView> data_views() {
  return {
      {.name = "code_objects", .select =
       "SELECT x.id, x.guid, x.nid, p.pid, a.absolute_index AS agent_abs_index, x.uri,"
       " x.load_base, x.load_size, x.load_delta, x.storage_type AS storage_type_str,"
       " json_extract(x.extdata, '$.size') AS code_object_size,"
       " json_extract(x.extdata, '$.storage_type') AS storage_type,"
       " json_extract(x.extdata, '$.memory_base') AS memory_base,"
       " json_extract(x.extdata, '$.memory_size') AS memory_size FROM rocpd_info_code_object x"
       PERFLAB_JOIN("info_agent", "a", "x", "agent_id") PERFLAB_PROCESS},
      {.name = "kernel_symbols", .select =
       "SELECT x.id, x.guid, x.nid, p.pid, x.code_object_id, x.kernel_name, x.display_name,"
       " x.kernel_object, x.kernarg_segment_size, x.kernarg_segment_alignment,"
       " x.group_segment_size, x.private_segment_size, x.sgpr_count, x.arch_vgpr_count,"
       " x.accum_vgpr_count, json_extract(x.extdata, '$.size') AS kernel_symbol_size,"
       " json_extract(x.extdata, '$.kernel_id') AS kernel_id,"
       " json_extract(x.extdata, '$.kernel_code_entry_byte_offset')"
       " AS kernel_code_entry_byte_offset,"
       " json_extract(x.extdata, '$.formatted_kernel_name') AS formatted_kernel_name,"
       " json_extract(x.extdata, '$.demangled_kernel_name') AS demangled_kernel_name,"
       " json_extract(x.extdata, '$.truncated_kernel_name') AS truncated_kernel_name,"
       " json_extract(x.extdata, '$.kernel_address.handle') AS kernel_address"
       " FROM rocpd_info_kernel_symbol x" PERFLAB_PROCESS},
      {.name = "processes", .select =
       "SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release,"
       " n.version AS system_version, p.guid, p.ppid, p.pid, p.init, p.start, p.end, p.fini,"
       " p.command FROM rocpd_info_process p" PERFLAB_JOIN("info_node", "n", "p", "nid")},
      {.name = "threads", .select =
       "SELECT n.id AS nid, n.machine_id, n.system_name, n.hostname, n.release AS system_release,"
       " n.version AS system_version, p.guid, p.ppid, p.pid, x.tid, x.start, x.end, x.name"
       " FROM rocpd_info_thread x" PERFLAB_PROCESS PERFLAB_JOIN("info_node", "n", "x", "nid")},
      {.name = "regions", .select =
       "SELECT x.id, x.guid, c.string AS category, n.string AS name, x.nid, p.pid, t.tid,"
       PERFLAB_TIMES ", x.event_id," PERFLAB_STACK ", e.extdata, e.call_stack, e.line_info"
       " FROM rocpd_region x" PERFLAB_EVENT PERFLAB_JOIN("string", "n", "x", "name_id")
       PERFLAB_PROCESS PERFLAB_THREAD},
      {.name = "region_args", .select =
       "SELECT x.id, x.guid, x.nid, p.pid, a.type, a.name, a.value FROM rocpd_region x"
       " JOIN rocpd_arg a ON a.event_id = x.event_id AND a.guid = x.guid" PERFLAB_PROCESS},
      {.name = "samples", .select = PERFLAB_SAMPLE("x.timestamp")},
      {.name = "sample_regions", .select =
       PERFLAB_SAMPLE("x.timestamp AS start, x.timestamp AS \"END\", 0 AS duration")},
      {.name = "regions_and_samples", .select =
       "SELECT * FROM regions UNION ALL SELECT * FROM sample_regions"},
      {.name = "kernels", .select =
       "SELECT x.id, x.guid, t.tid, c.string AS category, r.string AS region,"
       " s.display_name AS name, x.nid, p.pid," PERFLAB_AGENT("agent", "a")
       ", s.code_object_id, x.kernel_id, x.dispatch_id, x.stream_id, x.queue_id, q.name AS queue,"
       " st.name AS stream," PERFLAB_TIMES
       ", x.grid_size_x AS grid_x, x.grid_size_y AS grid_y, x.grid_size_z AS grid_z,"
       " x.workgroup_size_x AS workgroup_x, x.workgroup_size_y AS workgroup_y,"
       " x.workgroup_size_z AS workgroup_z, x.group_segment_size AS lds_size,"
       " x.private_segment_size AS scratch_size, s.arch_vgpr_count AS vgpr_count,"
       " s.accum_vgpr_count, s.sgpr_count, s.group_segment_size AS static_lds_size,"
       " s.private_segment_size AS static_scratch_size," PERFLAB_STACK
       " FROM rocpd_kernel_dispatch x" PERFLAB_JOIN("info_agent", "a", "x", "agent_id")
       PERFLAB_EVENT PERFLAB_JOIN("string", "r", "x", "region_name_id")
       PERFLAB_JOIN("info_kernel_symbol", "s", "x", "kernel_id")
       PERFLAB_LEFT_JOIN("info_stream", "st", "x", "stream_id")
       PERFLAB_JOIN("info_queue", "q", "x", "queue_id") PERFLAB_PROCESS PERFLAB_THREAD},
      {.name = "pmc_info", .select =
       "SELECT x.id, x.guid, x.nid, p.pid, a.absolute_index AS agent_abs_index, x.is_constant,"
       " x.is_derived, x.name, x.description, x.block, x.expression FROM rocpd_info_pmc x"
       PERFLAB_JOIN("info_agent", "a", "x", "agent_id") PERFLAB_PROCESS},
      {.name = "pmc_events", .select =
       "SELECT v.id, v.guid, v.pmc_id, e.id AS event_id, c.string AS category,"
       " s.display_name AS name, x.nid, p.pid, x.dispatch_id," PERFLAB_TIMES
       ", i.name AS counter_name, v.value AS counter_value FROM rocpd_pmc_event v"
       " JOIN rocpd_kernel_dispatch x ON x.event_id = v.event_id AND x.guid = v.guid"
       PERFLAB_JOIN("info_pmc", "i", "v", "pmc_id") PERFLAB_EVENT
       PERFLAB_LEFT_JOIN("info_kernel_symbol", "s", "x", "kernel_id") PERFLAB_PROCESS},
      {.name = "events_args", .select =
       "SELECT e.id AS event_id, c.string AS category, e.stack_id, e.parent_stack_id,"
       " e.correlation_id, x.position AS arg_position, x.type AS arg_type, x.name AS arg_name,"
       " x.value AS arg_value, e.call_stack, e.line_info, x.extdata FROM rocpd_arg x"
       PERFLAB_EVENT},
      {.name = "stream_args", .select =
       "SELECT x.id AS argument_id, x.event_id, x.position AS arg_position, x.type AS arg_type,"
       " x.value AS arg_value, json_extract(x.extdata, '$.stream_id') AS stream_id, s.nid, p.pid,"
       " s.name AS stream_name, s.extdata AS extdata FROM rocpd_arg x JOIN rocpd_info_stream s"
       " ON s.id = json_extract(x.extdata, '$.stream_id') AND s.guid = x.guid"
       PERFLAB_JOIN("info_process", "p", "s", "pid") " WHERE x.name = 'stream'"},
      {.name = "memory_copies", .select =
       "SELECT x.id, x.guid, c.string AS category, x.nid, p.pid, t.tid," PERFLAB_TIMES
       ", n.string AS name, r.string AS region_name, x.stream_id, x.queue_id,"
       " st.name AS stream_name, q.name AS queue_name, x.size, d.name AS dst_device,"
       PERFLAB_AGENT("dst_agent", "d") ", x.dst_address, o.name AS src_device,"
       PERFLAB_AGENT("src_agent", "o") ", x.src_address," PERFLAB_STACK
       " FROM rocpd_memory_copy x" PERFLAB_JOIN("string", "n", "x", "name_id")
       PERFLAB_LEFT_JOIN("string", "r", "x", "region_name_id")
       PERFLAB_JOIN("info_agent", "d", "x", "dst_agent_id")
       PERFLAB_JOIN("info_agent", "o", "x", "src_agent_id")
       PERFLAB_LEFT_JOIN("info_queue", "q", "x", "queue_id")
       PERFLAB_LEFT_JOIN("info_stream", "st", "x", "stream_id") PERFLAB_EVENT PERFLAB_PROCESS
       PERFLAB_THREAD},
      {.name = "memory_allocations", .select =
       "SELECT x.id, x.guid, c.string AS category, x.nid, p.pid, t.tid," PERFLAB_TIMES
       ", x.type, x.level, a.name AS agent_name," PERFLAB_AGENT("agent", "a")
       ", x.address, x.size, x.queue_id, q.name AS queue_name, x.stream_id,"
       " st.name AS stream_name," PERFLAB_STACK " FROM rocpd_memory_allocate x"
       PERFLAB_LEFT_JOIN("info_agent", "a", "x", "agent_id")
       PERFLAB_LEFT_JOIN("info_queue", "q", "x", "queue_id")
       PERFLAB_LEFT_JOIN("info_stream", "st", "x", "stream_id") PERFLAB_EVENT PERFLAB_PROCESS
       PERFLAB_THREAD},
      {.name = "scratch_memory", .select =
       "SELECT x.id, x.guid, x.nid, p.pid, x.type AS operation, a.name AS agent_name,"
       PERFLAB_AGENT("agent", "a")
       ", x.queue_id, t.tid, json_extract(x.extdata, '$.flags') AS alloc_flags," PERFLAB_TIMES
       ", x.size, x.address, e.correlation_id," PERFLAB_STACK
       ", c.string AS category, e.extdata AS event_extdata FROM rocpd_memory_allocate x"
       PERFLAB_LEFT_JOIN("info_agent", "a", "x", "agent_id") PERFLAB_EVENT PERFLAB_PROCESS
       PERFLAB_THREAD " WHERE x.level = 'SCRATCH' ORDER BY x.start"},
      {.name = "counters_collection", .select =
       "SELECT min(v.id) AS id, v.guid, x.dispatch_id, x.kernel_id, e.id AS event_id,"
       " e.correlation_id, e.stack_id, e.parent_stack_id, p.pid, t.tid, x.agent_id,"
       PERFLAB_AGENT("agent", "a")
       ", x.queue_id, x.grid_size_x, x.grid_size_y, x.grid_size_z,"
       " x.grid_size_x * x.grid_size_y * x.grid_size_z AS grid_size,"
       " s.display_name AS kernel_name, r.string AS kernel_region,"
       " x.workgroup_size_x, x.workgroup_size_y, x.workgroup_size_z,"
       " x.workgroup_size_x * x.workgroup_size_y * x.workgroup_size_z AS workgroup_size,"
       " x.group_segment_size AS lds_block_size, x.private_segment_size AS scratch_size,"
       " s.arch_vgpr_count AS vgpr_count, s.accum_vgpr_count, s.sgpr_count,"
       " i.name AS counter_name, i.symbol AS counter_symbol, i.component, i.description, i.block,"
       " i.expression, i.value_type, i.id AS counter_id, sum(v.value) AS value, x.start, x.end,"
       " i.is_constant, i.is_derived, x.end - x.start AS duration, c.string AS category, x.nid,"
       " e.extdata, s.code_object_id FROM rocpd_pmc_event v"
       " JOIN rocpd_kernel_dispatch x ON x.event_id = v.event_id AND x.guid = v.guid"
       PERFLAB_JOIN("info_pmc", "i", "v", "pmc_id") PERFLAB_EVENT
       PERFLAB_JOIN("info_agent", "a", "x", "agent_id")
       PERFLAB_JOIN("info_kernel_symbol", "s", "x", "kernel_id")
       PERFLAB_LEFT_JOIN("string", "r", "x", "region_name_id") PERFLAB_PROCESS PERFLAB_THREAD
       " GROUP BY v.guid, x.dispatch_id, i.name, x.agent_id"},
      {.name = "top_kernels", .select =
       "SELECT s.display_name AS name, count(*) AS total_calls,"
       " sum(x.end - x.start) / 1000.0 AS total_duration,"
       " sum(x.end - x.start) / count(*) / 1000.0 AS average, sum(x.end - x.start) * 100.0"
       " / (SELECT sum(d.end - d.start) FROM rocpd_kernel_dispatch d) AS percentage"
       " FROM rocpd_kernel_dispatch x"
       PERFLAB_JOIN("info_kernel_symbol", "s", "x", "kernel_id")
       " GROUP BY s.display_name ORDER BY total_duration DESC"},
      {.name = "busy", .select =
       "WITH work AS (SELECT agent_id, guid, start, end FROM rocpd_kernel_dispatch UNION ALL"
       " SELECT dst_agent_id, guid, start, end FROM rocpd_memory_copy),"
       " wall AS (SELECT max(end) - min(start) AS WallTime FROM work),"
       " x AS (SELECT agent_id, guid, sum(end - start) AS GpuTime FROM work"
       " GROUP BY agent_id, guid)"
       " SELECT x.agent_id, a.type, x.GpuTime, wall.WallTime,"
       " x.GpuTime * 1.0 / wall.WallTime AS Busy FROM x CROSS JOIN wall"
       PERFLAB_JOIN("info_agent", "a", "x", "agent_id")},
      {.name = "top", .select =
       "WITH work AS (SELECT s.display_name AS name, x.end - x.start AS duration"
       " FROM rocpd_kernel_dispatch x"
       PERFLAB_JOIN("info_kernel_symbol", "s", "x", "kernel_id")
       " UNION ALL SELECT n.string, x.end - x.start FROM rocpd_memory_copy x"
       PERFLAB_JOIN("string", "n", "x", "name_id")
       " UNION ALL SELECT n.string, x.end - x.start FROM rocpd_region x"
       PERFLAB_JOIN("string", "n", "x", "name_id")
       ") SELECT name, count(*) AS total_calls, sum(duration) / 1000.0 AS total_duration,"
       " sum(duration) / count(*) / 1000.0 AS average,"
       " sum(duration) * 100.0 / (SELECT sum(duration) FROM work) AS percentage"
       " FROM work GROUP BY name ORDER BY total_duration DESC"},
  };
}

}  // namespace perflab::record

#undef PERFLAB_JOIN
#undef PERFLAB_LEFT_JOIN
#undef PERFLAB_EVENT
#undef PERFLAB_PROCESS
#undef PERFLAB_THREAD
#undef PERFLAB_STACK
#undef PERFLAB_TIMES
#undef PERFLAB_AGENT
#undef PERFLAB_SAMPLE

// clang-format on
// NOLINTEND(cppcoreguidelines-macro-usage)
