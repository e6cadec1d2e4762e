// Column lists of the rocpd tables and the SQL made from them. Order and spelling follow the real
// files, because readers may look at either.
#include "support/rocpd_schema.h"

#include <fmt/format.h>

#include "base/error.h"

namespace perflab::test {
namespace {

constexpr bool kRequired = true;

ColumnSpec integer(std::string_view name, bool required = false) {
  return {.name = name, .type = "INTEGER", .required = required, .default_value = {}, .tail = {}};
}

ColumnSpec bigint(std::string_view name, bool required = false, std::string_view tail = {}) {
  return {.name = name, .type = "BIGINT", .required = required, .default_value = {}, .tail = tail};
}

ColumnSpec text(std::string_view name, bool required = false, std::string_view tail = {}) {
  return {.name = name, .type = "TEXT", .required = required, .default_value = {}, .tail = tail};
}

ColumnSpec text_or_empty(std::string_view name) {
  return {.name = name, .type = "TEXT", .required = false, .default_value = "\"\"", .tail = {}};
}

/// A column of JSON text; SQLite gives the declared type JSONB numeric affinity.
ColumnSpec json(std::string_view name, bool required = true) {
  return {
      .name = name, .type = "JSONB", .required = required, .default_value = "\"{}\"", .tail = {}};
}

/// Every table but a few ends its constraints with these two.
const ForeignKey kNode = {.column = "nid", .table = "info_node"};
const ForeignKey kProcess = {.column = "pid", .table = "info_process"};
const ForeignKey kThread = {.column = "tid", .table = "info_thread"};
const ForeignKey kEvent = {.column = "event_id", .table = "event"};
const ForeignKey kAgent = {.column = "agent_id", .table = "info_agent"};
const ForeignKey kQueue = {.column = "queue_id", .table = "info_queue"};
const ForeignKey kStream = {.column = "stream_id", .table = "info_stream"};
const ForeignKey kName = {.column = "name_id", .table = "string"};
const ForeignKey kRegionName = {.column = "region_name_id", .table = "string"};

void add_names_and_hosts(std::vector<TableSpec>& tables) {
  tables.push_back(
      {Table::metadata, "metadata", {text("tag", kRequired), text("value", kRequired)}, {}});
  tables.push_back(
      {Table::string, "string", {text("string", kRequired, "UNIQUE ON CONFLICT ABORT")}, {}});
  tables.push_back({Table::info_node,
                    "info_node",
                    {bigint("hash", kRequired, "UNIQUE"), text("machine_id", kRequired, "UNIQUE"),
                     text("system_name"), text("hostname"), text("release"), text("version"),
                     text("hardware_name"), text("domain_name")},
                    {}});
  tables.push_back({Table::info_process,
                    "info_process",
                    {integer("nid", kRequired), integer("ppid"), integer("pid", kRequired),
                     bigint("init"), bigint("fini"), bigint("start"), bigint("end"),
                     text("command"), json("environment"), json("extdata")},
                    {kNode}});
  tables.push_back(
      {Table::info_thread,
       "info_thread",
       {integer("nid", kRequired), integer("ppid"), integer("pid", kRequired),
        integer("tid", kRequired), text("name"), bigint("start"), bigint("end"), json("extdata")},
       {kNode, kProcess}});
}

void add_devices(std::vector<TableSpec>& tables) {
  tables.push_back({Table::info_agent,
                    "info_agent",
                    {integer("nid", kRequired), integer("pid", kRequired),
                     text("type", false, "CHECK (\"type\" IN ('CPU', 'GPU', 'NIC'))"),
                     integer("absolute_index"), integer("logical_index"), integer("type_index"),
                     integer("uuid"), text("name"), text("model_name"), text("vendor_name"),
                     text("product_name"), text("user_name"), json("extdata")},
                    {kNode, kProcess}});
  for (const auto& [table, name] : {std::pair{Table::info_queue, std::string_view("info_queue")},
                                    std::pair{Table::info_stream, std::string_view("info_stream")}})
    tables.push_back(
        {table,
         name,
         {integer("nid", kRequired), integer("pid", kRequired), text("name"), json("extdata")},
         {kNode, kProcess}});
  tables.push_back(
      {Table::info_pmc,
       "info_pmc",
       {integer("nid", kRequired), integer("pid", kRequired), integer("agent_id"),
        text("target_arch", false, "CHECK (\"target_arch\" IN ('CPU', 'GPU', 'NIC'))"),
        ColumnSpec{.name = "event_code", .type = "INT", .default_value = {}, .tail = {}},
        integer("instance_id"), text("name", kRequired), text("symbol", kRequired),
        text("description"), text_or_empty("long_description"), text("component"),
        text_or_empty("units"),
        text("value_type", false, "CHECK (\"value_type\" IN ('ABS', 'ACCUM', 'RELATIVE'))"),
        text("block"), text("expression"), integer("is_constant"), integer("is_derived"),
        json("extdata")},
       {kNode, kProcess, kAgent}});
}

void add_code(std::vector<TableSpec>& tables) {
  tables.push_back({Table::info_code_object,
                    "info_code_object",
                    {integer("nid", kRequired), integer("pid", kRequired), integer("agent_id"),
                     text("uri"), bigint("load_base"), bigint("load_size"), bigint("load_delta"),
                     text("storage_type", false, "CHECK (\"storage_type\" IN ('FILE', 'MEMORY'))"),
                     json("extdata")},
                    {kNode, kProcess, kAgent}});
  tables.push_back(
      {Table::info_kernel_symbol,
       "info_kernel_symbol",
       {integer("nid", kRequired), integer("pid", kRequired), integer("code_object_id", kRequired),
        text("kernel_name"), text("display_name"), integer("kernel_object"),
        integer("kernarg_segment_size"), integer("kernarg_segment_alignment"),
        integer("group_segment_size"), integer("private_segment_size"), integer("sgpr_count"),
        integer("arch_vgpr_count"), integer("accum_vgpr_count"), json("extdata")},
       {kNode, kProcess, {.column = "code_object_id", .table = "info_code_object"}}});
}

void add_events(std::vector<TableSpec>& tables) {
  tables.push_back({Table::track,
                    "track",
                    {integer("nid", kRequired), integer("pid"), integer("tid"), integer("name_id"),
                     json("extdata")},
                    {kNode, kProcess, kThread, kName}});
  tables.push_back(
      {Table::event,
       "event",
       {integer("category_id"), integer("stack_id"), integer("parent_stack_id"),
        integer("correlation_id"), json("call_stack"), json("line_info"), json("extdata")},
       {{.column = "category_id", .table = "string"}}});
  tables.push_back(
      {Table::arg,
       "arg",
       {integer("event_id", kRequired), integer("position", kRequired), text("type", kRequired),
        text("name", kRequired), text("value"), json("extdata")},
       {kEvent}});
  tables.push_back(
      {Table::pmc_event,
       "pmc_event",
       {integer("event_id"), integer("pmc_id", kRequired),
        ColumnSpec{.name = "value", .type = "REAL", .default_value = "0.0", .tail = {}},
        json("extdata", false)},
       {{.column = "pmc_id", .table = "info_pmc"}, kEvent}});
  tables.push_back(
      {Table::region,
       "region",
       {integer("nid", kRequired), integer("pid", kRequired), integer("tid", kRequired),
        bigint("start", kRequired), bigint("end", kRequired), integer("name_id", kRequired),
        integer("event_id"), json("extdata")},
       {kNode, kProcess, kThread, kName, kEvent}});
  tables.push_back({Table::sample,
                    "sample",
                    {integer("track_id", kRequired), bigint("timestamp", kRequired),
                     integer("event_id"), json("extdata")},
                    {{.column = "track_id", .table = "track"}, kEvent}});
}

void add_dispatches(std::vector<TableSpec>& tables) {
  tables.push_back({Table::kernel_dispatch,
                    "kernel_dispatch",
                    {integer("nid", kRequired),
                     integer("pid", kRequired),
                     integer("tid"),
                     integer("agent_id", kRequired),
                     integer("kernel_id", kRequired),
                     integer("dispatch_id", kRequired),
                     integer("queue_id", kRequired),
                     integer("stream_id", kRequired),
                     bigint("start", kRequired),
                     bigint("end", kRequired),
                     integer("private_segment_size"),
                     integer("group_segment_size"),
                     integer("workgroup_size_x", kRequired),
                     integer("workgroup_size_y", kRequired),
                     integer("workgroup_size_z", kRequired),
                     integer("grid_size_x", kRequired),
                     integer("grid_size_y", kRequired),
                     integer("grid_size_z", kRequired),
                     integer("region_name_id"),
                     integer("event_id"),
                     json("extdata")},
                    {kNode,
                     kProcess,
                     kThread,
                     kAgent,
                     {.column = "kernel_id", .table = "info_kernel_symbol"},
                     kQueue,
                     kStream,
                     kRegionName,
                     kEvent}});
}

void add_memory(std::vector<TableSpec>& tables) {
  tables.push_back(
      {Table::memory_copy,
       "memory_copy",
       {integer("nid", kRequired), integer("pid", kRequired), integer("tid"),
        bigint("start", kRequired), bigint("end", kRequired), integer("name_id", kRequired),
        integer("dst_agent_id"), integer("dst_address"), integer("src_agent_id"),
        integer("src_address"), integer("size", kRequired), integer("queue_id"),
        integer("stream_id"), integer("region_name_id"), integer("event_id"), json("extdata")},
       {kNode,
        kProcess,
        kThread,
        kName,
        {.column = "dst_agent_id", .table = "info_agent"},
        {.column = "src_agent_id", .table = "info_agent"},
        kStream,
        kQueue,
        kRegionName,
        kEvent}});
  tables.push_back(
      {Table::memory_allocate,
       "memory_allocate",
       {integer("nid", kRequired), integer("pid", kRequired), integer("tid"), integer("agent_id"),
        text("type", false, "CHECK (\"type\" IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM'))"),
        text("level", false, "CHECK (\"level\" IN ('REAL', 'VIRTUAL', 'SCRATCH'))"),
        bigint("start", kRequired), bigint("end", kRequired), integer("address"),
        integer("size", kRequired), integer("queue_id"), integer("stream_id"), integer("event_id"),
        json("extdata")},
       {kNode, kProcess, kThread, kAgent, kStream, kQueue, kEvent}});
}

std::vector<TableSpec> build_tables() {
  std::vector<TableSpec> tables;
  add_names_and_hosts(tables);
  add_devices(tables);
  add_code(tables);
  add_events(tables);
  add_dispatches(tables);
  add_memory(tables);
  for (std::size_t i = 0; i < tables.size(); ++i)
    PERFLAB_CHECK(tables[i].table == static_cast<Table>(i));
  return tables;
}

std::string column_sql(const ColumnSpec& column, std::string_view schema_version,
                       Strictness strictness) {
  std::string sql = fmt::format("        \"{}\"", column.name);
  if (strictness != Strictness::untyped) sql += fmt::format(" {}", column.type);
  if (!column.default_value.empty()) sql += fmt::format(" DEFAULT {}", column.default_value);
  if (strictness != Strictness::real) return sql;
  if (column.required) sql += " NOT NULL";
  if (column.tail.empty()) return sql;
  std::string tail(column.tail);
  const std::string nic = ", 'NIC'";
  if (const auto at = tail.find(nic); schema_version != "3.0.1" && at != std::string::npos)
    tail.erase(at, nic.size());
  return sql + " " + tail;
}

}  // namespace

const std::vector<TableSpec>& rocpd_tables() {
  static const std::vector<TableSpec> tables = build_tables();
  return tables;
}

const TableSpec& table_spec(Table table) {
  return rocpd_tables()[static_cast<std::size_t>(table)];
}

std::vector<std::string_view> plain_columns(Table table) {
  std::vector<std::string_view> names = {"id"};
  for (const ColumnSpec& column : table_spec(table).columns)
    if (column.type != "JSONB") names.push_back(column.name);
  return names;
}

std::string table_suffix(std::string_view guid) {
  std::string suffix = "_";
  for (const char c : guid) suffix += c == '-' ? '_' : c;
  return suffix;
}

std::string physical_name(Table table, std::string_view guid) {
  return fmt::format("rocpd_{}{}", table_spec(table).name, table_suffix(guid));
}

std::string create_table_sql(Table table, std::string_view guid, std::string_view schema_version,
                             Strictness strictness) {
  const TableSpec& spec = table_spec(table);
  std::string sql = fmt::format("CREATE TABLE `{}` (\n", physical_name(table, guid));
  sql += "        \"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT";
  if (table != Table::metadata)
    sql += fmt::format(",\n        \"guid\" TEXT DEFAULT \"{}\" NOT NULL", guid);
  for (const ColumnSpec& column : spec.columns)
    sql += ",\n" + column_sql(column, schema_version, strictness);
  for (const ForeignKey& key : spec.foreign_keys)
    sql += fmt::format(",\n        FOREIGN KEY ({}) REFERENCES `rocpd_{}{}` (id) ON UPDATE CASCADE",
                       key.column, key.table, table_suffix(guid));
  return sql + "\n    )";
}

}  // namespace perflab::test
