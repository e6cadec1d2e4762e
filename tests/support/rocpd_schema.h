// The tables of the rocpd format (schema 3.x, as rocprofv3 of 2025-2026 writes them), as data:
// every column with its type and constraints, and the SQL that follows from them. The facts are
// read from
// `.schema` of databases written by rocprofv3; tests/support/rocpd_writer_test.cpp compares.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perflab::test {

/// The tables, in the order in which rocprofv3 creates them.
enum class Table {
  metadata,
  string,
  info_node,
  info_process,
  info_thread,
  info_agent,
  info_queue,
  info_stream,
  info_pmc,
  info_code_object,
  info_kernel_symbol,
  track,
  event,
  arg,
  pmc_event,
  region,
  sample,
  kernel_dispatch,
  memory_copy,
  memory_allocate,
};

/// How many of the real constraints the created tables have. Quirky databases need fewer.
enum class Strictness {
  real,      ///< as rocprofv3 declares them
  nullable,  ///< real types, but no NOT NULL, CHECK or UNIQUE: NULL queues, duplicate strings
  untyped,   ///< no types either, so that integers given as TEXT stay TEXT
};

/// One column, without its constraint on other tables.
struct ColumnSpec {
  std::string_view name;
  std::string_view type;           ///< as declared: INTEGER, BIGINT, TEXT, JSONB, REAL, INT
  bool required = false;           ///< NOT NULL
  std::string_view default_value;  ///< SQL text after DEFAULT; empty: none
  std::string_view tail;           ///< CHECK or UNIQUE clause; empty: none
};

/// FOREIGN KEY (column) REFERENCES table (id).
struct ForeignKey {
  std::string_view column;
  std::string_view table;  ///< base name without "rocpd_"
};

/// One table. Column `id` (the rowid) and, everywhere but in metadata, `guid` are implied: they are
/// not in `columns`.
struct TableSpec {
  Table table;
  std::string_view name;  ///< base name without "rocpd_"
  std::vector<ColumnSpec> columns;
  std::vector<ForeignKey> foreign_keys;
};

/// Every table, indexed by the values of Table.
const std::vector<TableSpec>& rocpd_tables();

/// The spec of one table.
const TableSpec& table_spec(Table table);

/// Columns that a row of the table usually fills, starting with `id`: all but guid and the JSON
/// columns, whose defaults are what rocprofv3 writes in most rows.
std::vector<std::string_view> plain_columns(Table table);

/// "_" + guid with "-" replaced by "_": what the writer appends to every table name.
std::string table_suffix(std::string_view guid);

/// "rocpd_" + base name + suffix of the guid.
std::string physical_name(Table table, std::string_view guid);

/// CREATE TABLE statement. `schema_version` "3" and "3.0.0" lack 'NIC' in two CHECK clauses.
std::string create_table_sql(Table table, std::string_view guid, std::string_view schema_version,
                             Strictness strictness);

}  // namespace perflab::test
