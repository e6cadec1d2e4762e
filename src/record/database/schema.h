// The tables and views of a rocpd database, schema 3.0.1, as SQL: what AMD's tools expect to find
// (docs/facts/rocpd.md "Files and tables", "Columns"; docs/facts/rocpd_cuda.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace perflab::record {

inline constexpr std::string_view kSchemaVersion = "3.0.1";

/// The name of a physical table: rocpd_<base>_<guid with "-" as "_">.
std::string physical_table(std::string_view base, std::string_view guid);

/// The statements that create all tables, the views of their plain names, and the views for
/// analysis (kernels, regions, memory_copies, top ...), in order.
std::vector<std::string> schema_statements(std::string_view guid);

/// The statements that create the table of PC samples, which a database of rocprofv3 has not, and
/// the view of its plain name: docs/facts/rocpd_cuda.md "PC samples".
std::vector<std::string> pc_count_statements(std::string_view guid);

/// The names of the views for analysis and their SELECT statements, over the plain names.
struct DataView {
  std::string_view name;
  std::string_view select;
};
std::vector<DataView> data_views();

}  // namespace perflab::record
