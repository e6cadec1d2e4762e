// The tables: columns in their real order, types and constraints of databases written by rocprofv3
// (docs/facts/rocpd.md). tests/record compares them with recorded databases.
#include "record/database/schema.h"

#include <algorithm>
#include <array>

namespace perflab::record {
namespace {

/// A table without its first columns, id and guid. `keys`: pairs "column>table", by spaces.
struct TableText {
  std::string_view name;
  std::string_view columns;
  std::string_view keys;
};

constexpr std::array<TableText, 20> kTables = {{
    {.name = "metadata", .columns = R"("tag" TEXT NOT NULL, "value" TEXT NOT NULL)", .keys = ""},
    {.name = "string", .columns = R"("string" TEXT NOT NULL UNIQUE ON CONFLICT ABORT)", .keys = ""},
    {.name = "info_node",
     .columns =
         R"("hash" BIGINT NOT NULL UNIQUE, "machine_id" TEXT NOT NULL UNIQUE, "system_name" TEXT,
        "hostname" TEXT, "release" TEXT, "version" TEXT, "hardware_name" TEXT,
        "domain_name" TEXT)",
     .keys = ""},
    {.name = "info_process",
     .columns = R"("nid" INTEGER NOT NULL, "ppid" INTEGER, "pid" INTEGER NOT NULL, "init" BIGINT,
        "fini" BIGINT, "start" BIGINT, "end" BIGINT, "command" TEXT,
        "environment" JSONB DEFAULT "{}" NOT NULL, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node"},
    {.name = "info_thread",
     .columns =
         R"("nid" INTEGER NOT NULL, "ppid" INTEGER, "pid" INTEGER NOT NULL, "tid" INTEGER NOT NULL,
        "name" TEXT, "start" BIGINT, "end" BIGINT, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process"},
    {.name = "info_agent",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL,
        "type" TEXT CHECK ("type" IN ('CPU', 'GPU', 'NIC')), "absolute_index" INTEGER,
        "logical_index" INTEGER, "type_index" INTEGER, "uuid" INTEGER, "name" TEXT,
        "model_name" TEXT, "vendor_name" TEXT, "product_name" TEXT, "user_name" TEXT,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process"},
    {.name = "info_queue",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "name" TEXT,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process"},
    {.name = "info_stream",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "name" TEXT,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process"},
    {.name = "info_pmc",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "agent_id" INTEGER,
        "target_arch" TEXT CHECK ("target_arch" IN ('CPU', 'GPU', 'NIC')), "event_code" INT,
        "instance_id" INTEGER, "name" TEXT NOT NULL, "symbol" TEXT NOT NULL, "description" TEXT,
        "long_description" TEXT DEFAULT "", "component" TEXT, "units" TEXT DEFAULT "",
        "value_type" TEXT CHECK ("value_type" IN ('ABS', 'ACCUM', 'RELATIVE')), "block" TEXT,
        "expression" TEXT, "is_constant" INTEGER, "is_derived" INTEGER,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process agent_id>info_agent"},
    {.name = "info_code_object",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "agent_id" INTEGER, "uri" TEXT,
        "load_base" BIGINT, "load_size" BIGINT, "load_delta" BIGINT,
        "storage_type" TEXT CHECK ("storage_type" IN ('FILE', 'MEMORY')),
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process agent_id>info_agent"},
    {.name = "info_kernel_symbol",
     .columns =
         R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "code_object_id" INTEGER NOT NULL,
        "kernel_name" TEXT, "display_name" TEXT, "kernel_object" INTEGER,
        "kernarg_segment_size" INTEGER, "kernarg_segment_alignment" INTEGER,
        "group_segment_size" INTEGER, "private_segment_size" INTEGER, "sgpr_count" INTEGER,
        "arch_vgpr_count" INTEGER, "accum_vgpr_count" INTEGER,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process code_object_id>info_code_object"},
    {.name = "track",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER, "tid" INTEGER, "name_id" INTEGER,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process tid>info_thread name_id>string"},
    {.name = "event",
     .columns = R"("category_id" INTEGER, "stack_id" INTEGER, "parent_stack_id" INTEGER,
        "correlation_id" INTEGER, "call_stack" JSONB DEFAULT "{}" NOT NULL,
        "line_info" JSONB DEFAULT "{}" NOT NULL, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "category_id>string"},
    {.name = "arg",
     .columns = R"("event_id" INTEGER NOT NULL, "position" INTEGER NOT NULL, "type" TEXT NOT NULL,
        "name" TEXT NOT NULL, "value" TEXT, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "event_id>event"},
    {.name = "pmc_event",
     .columns = R"("event_id" INTEGER, "pmc_id" INTEGER NOT NULL, "value" REAL DEFAULT 0.0,
        "extdata" JSONB DEFAULT "{}")",
     .keys = "pmc_id>info_pmc event_id>event"},
    {.name = "region",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "tid" INTEGER NOT NULL,
        "start" BIGINT NOT NULL, "end" BIGINT NOT NULL, "name_id" INTEGER NOT NULL,
        "event_id" INTEGER, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process tid>info_thread name_id>string event_id>event"},
    {.name = "sample",
     .columns = R"("track_id" INTEGER NOT NULL, "timestamp" BIGINT NOT NULL, "event_id" INTEGER,
        "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "track_id>track event_id>event"},
    {.name = "kernel_dispatch",
     .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "tid" INTEGER,
        "agent_id" INTEGER NOT NULL, "kernel_id" INTEGER NOT NULL,
        "dispatch_id" INTEGER NOT NULL, "queue_id" INTEGER NOT NULL,
        "stream_id" INTEGER NOT NULL, "start" BIGINT NOT NULL, "end" BIGINT NOT NULL,
        "private_segment_size" INTEGER, "group_segment_size" INTEGER,
        "workgroup_size_x" INTEGER NOT NULL, "workgroup_size_y" INTEGER NOT NULL,
        "workgroup_size_z" INTEGER NOT NULL, "grid_size_x" INTEGER NOT NULL,
        "grid_size_y" INTEGER NOT NULL, "grid_size_z" INTEGER NOT NULL,
        "region_name_id" INTEGER, "event_id" INTEGER, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys = "nid>info_node pid>info_process tid>info_thread agent_id>info_agent "
             "kernel_id>info_kernel_symbol queue_id>info_queue stream_id>info_stream "
             "region_name_id>string event_id>event"},
    {.name = "memory_copy",
     .columns =
         R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "tid" INTEGER, "start" BIGINT NOT NULL,
        "end" BIGINT NOT NULL, "name_id" INTEGER NOT NULL, "dst_agent_id" INTEGER,
        "dst_address" INTEGER, "src_agent_id" INTEGER, "src_address" INTEGER,
        "size" INTEGER NOT NULL, "queue_id" INTEGER, "stream_id" INTEGER,
        "region_name_id" INTEGER, "event_id" INTEGER, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys =
         "nid>info_node pid>info_process tid>info_thread name_id>string dst_agent_id>info_agent "
         "src_agent_id>info_agent stream_id>info_stream queue_id>info_queue region_name_id>string "
         "event_id>event"},
    {.name = "memory_allocate",
     .columns =
         R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "tid" INTEGER, "agent_id" INTEGER,
        "type" TEXT CHECK ("type" IN ('ALLOC', 'FREE', 'REALLOC', 'RECLAIM')),
        "level" TEXT CHECK ("level" IN ('REAL', 'VIRTUAL', 'SCRATCH')), "start" BIGINT NOT NULL,
        "end" BIGINT NOT NULL, "address" INTEGER, "size" INTEGER NOT NULL, "queue_id" INTEGER,
        "stream_id" INTEGER, "event_id" INTEGER, "extdata" JSONB DEFAULT "{}" NOT NULL)",
     .keys =
         "nid>info_node pid>info_process tid>info_thread agent_id>info_agent stream_id>info_stream "
         "queue_id>info_queue event_id>event"},
}};

constexpr TableText kPcCounts = {
    .name = "pc_sample_count",
    .columns = R"("nid" INTEGER NOT NULL, "pid" INTEGER NOT NULL, "agent_id" INTEGER NOT NULL,
        "cubin_crc" BIGINT NOT NULL, "function_id" INTEGER NOT NULL, "pc_offset" BIGINT NOT NULL,
        "reason_id" INTEGER NOT NULL, "samples" BIGINT NOT NULL)",
    .keys =
        "nid>info_node pid>info_process agent_id>info_agent function_id>string "
        "reason_id>string"};

std::string foreign_keys(std::string_view keys, std::string_view guid) {
  std::string sql;
  while (!keys.empty()) {
    const std::string_view pair = keys.substr(0, keys.find(' '));
    keys.remove_prefix(std::min(keys.size(), pair.size() + 1));
    const std::size_t arrow = pair.find('>');
    sql += ", FOREIGN KEY (" + std::string(pair.substr(0, arrow)) + ") REFERENCES `" +
           physical_table(pair.substr(arrow + 1), guid) + "` (id) ON UPDATE CASCADE";
  }
  return sql;
}

std::string create_table(const TableText& table, std::string_view guid) {
  std::string sql = "CREATE TABLE `" + physical_table(table.name, guid) +
                    "` (\"id\" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, ";
  if (table.name != "metadata")
    sql += "\"guid\" TEXT DEFAULT \"" + std::string(guid) + "\" NOT NULL, ";
  return sql + std::string(table.columns) + foreign_keys(table.keys, guid) + ")";
}

std::string create_view(const TableText& table, std::string_view guid) {
  return "CREATE VIEW `rocpd_" + std::string(table.name) + "` AS SELECT * FROM `" +
         physical_table(table.name, guid) + "`";
}

}  // namespace

std::string physical_table(std::string_view base, std::string_view guid) {
  std::string name = "rocpd_" + std::string(base) + "_";
  for (const char c : guid) name += c == '-' ? '_' : c;
  return name;
}

std::vector<std::string> pc_count_statements(std::string_view guid) {
  return {create_table(kPcCounts, guid), create_view(kPcCounts, guid)};
}

std::vector<std::string> schema_statements(std::string_view guid) {
  std::vector<std::string> statements;
  for (const TableText& table : kTables) statements.push_back(create_table(table, guid));
  for (const TableText& table : kTables) statements.push_back(create_view(table, guid));
  for (const DataView& view : data_views())
    statements.push_back("CREATE VIEW `" + std::string(view.name) + "` AS " +
                         std::string(view.select));
  return statements;
}

}  // namespace perflab::record
