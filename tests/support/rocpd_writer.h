// RocpdWriter makes rocpd databases with the real schema from a few lines: for tests, the bundled
// sample and the benchmark. It can also make everything that a reader has to survive.
//
//   RocpdWriter w(path, {.guid = "0000..."});       // tables, metadata, node, process, main thread
//   w.agent(host_agent());
//   const Id gpu = w.agent(mi300x_agent());
//   w.queue(); w.stream();
//   w.code_object({});
//   const Id k = w.kernel({.name = "_Z4axpyPf", .display_name = "axpy(float*)"});
//   w.launch({.start = 10, .end = 20}, {.kernel = k, .start = 25, .end = 95, .agent = gpu});
//   const Result<void> done = w.close();            // the first error of all calls
//
// Quirks: `.overrides = {{"queue_id", nullptr}}` sets any column of any row to any SQLite value
// (TEXT, REAL, NULL, BLOB); WriterOptions::strictness drops the constraints in the way;
// WriterOptions::missing_tables leaves tables out; FileOptions takes the views away or makes them
// lie; several writers on one RocpdFile (or FileOptions::append) make a merged database;
// rows_of() puts rows of another guid into the same tables; file().execute() does the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "support/rocpd_file.h"
#include "support/rocpd_rows.h"
#include "support/rocpd_schema.h"

namespace perflab::test {

/// One set of tables (one process of one run).
struct WriterOptions {
  std::string guid = "00000001-7f00-7000-8000-000000000001";  ///< any text; "-" optional
  std::string schema_version = "3.0.1";                       ///< "3", "3.0.0", "3.0.1" or worse
  std::string creation_time = "2026-01-01 00:00:00";          ///< fixed, for identical bytes
  Strictness strictness = Strictness::real;
  /// Base names ("memory_allocate", "sample", "metadata"): not created, rows for them are dropped.
  std::vector<std::string> missing_tables = {};
  std::string synthetic = {};  ///< value of the metadata tag `synthetic`; empty: no tag
  std::vector<std::pair<std::string, std::string>> metadata = {};  ///< further tags, e.g. upid
  NodeRow node = {};
  ProcessRow process = {};
};

/// Writes rows of one guid. Ids are given out in call order. Errors are remembered by the file.
class RocpdWriter {
 public:
  /// A database with one set of tables; close() finishes the file.
  explicit RocpdWriter(const std::filesystem::path& path, WriterOptions options = {},
                       FileOptions file_options = {});
  /// One more set of tables in a file that the caller closes.
  RocpdWriter(RocpdFile& file, WriterOptions options);

  Id thread(const ThreadRow& row);
  Id agent(const AgentRow& row);
  Id queue(const QueueRow& row = {});
  Id stream(const QueueRow& row = {});
  Id code_object(const CodeObjectRow& row = {});
  Id kernel(const KernelRow& row);
  Id counter(const CounterRow& row);
  Id track(const TrackRow& row);

  Written region(const RegionRow& row);
  Written dispatch(const DispatchRow& row);
  Written copy(const CopyRow& row);
  Written allocation(const AllocationRow& row);
  Written sample(const SampleRow& row);

  /// One row of pmc_event; rocprofv3 writes one per hardware instance.
  Id counter_value(Id event, Id counter, double value);
  /// One row per value, in order.
  void counter_values(Id event, Id counter, std::span<const double> instances);

  /// Region and dispatch joined by a fresh stack id, as a launch is recorded.
  Launched launch(RegionRow region, DispatchRow dispatch);
  /// Region and copy joined likewise.
  Launched launch_copy(RegionRow region, CopyRow copy);

  /// A stack id (internal correlation id) that was not used before.
  Id next_stack_id() { return ++last_stack_id_; }

  /// Id of the string's row; writes it when it is new.
  Id string_id(std::string_view text);
  /// Always writes a row (duplicates need Strictness::nullable). Later rows use it for that text.
  Id duplicate_string(std::string_view text);

  /// A row of any table with exactly these columns; nothing is added but the id.
  Id raw_row(Table table, const Overrides& columns);

  /// From here on rows carry another guid than the tables are named after, as when tables were
  /// merged by hand: starts with metadata, node, process and '' string of that guid. Ids go on;
  /// node.id and process.pid must be new. Needs Strictness::nullable (strings repeat).
  void rows_of(std::string guid, NodeRow node, ProcessRow process);

  RocpdFile& file() { return *file_; }
  [[nodiscard]] const WriterOptions& options() const { return options_; }

  /// Finishes the file when this writer owns it. Returns the first error of any call.
  Result<void> close();

 private:
  static constexpr std::size_t kNoFeed = SIZE_MAX;
  enum class Habit { region, dispatch, copy, allocation, sample };

  /// Lets the string map be searched without making a std::string.
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  void create_tables();
  void begin_guid();
  void write_metadata();
  void write_host();
  bool missing(Table table) const;
  Id next_id(Table table) { return ++last_ids_[static_cast<std::size_t>(table)]; }
  Id claim_id(Table table, const std::optional<Id>& wanted);
  /// Writes a row: values of plain_columns(table) (id first), and JSON columns in `extras`.
  Id put(Table table, std::span<const RowValue> values, const Overrides& extras,
         const Overrides& overrides);
  Id put_changed(Table table, std::span<const RowValue> values, const Overrides& extras,
                 const Overrides& overrides);
  std::optional<Id> event_of(const EventRow& row, Habit habit);
  Id category_id(const EventRow& row, Habit habit);

  WriterOptions options_;
  std::unique_ptr<RocpdFile> owned_file_;
  RocpdFile* file_;
  std::vector<std::string> physical_names_;
  std::vector<std::vector<std::string_view>> plain_columns_;
  std::vector<bool> missing_;
  std::vector<std::size_t> feeds_;  ///< by table; kNoFeed until the first row
  std::vector<Id> last_ids_;
  std::unordered_map<std::string, Id, StringHash, std::equal_to<>> strings_;
  std::vector<Id> habit_categories_;
  Id empty_string_ = 0;
  Id last_stack_id_ = 0;
  Id last_dispatch_id_ = 0;
  std::string row_guid_;
};

/// Writes a small database of the old rocpd format (2023-24: rocpd_op, rocpd_api, ...), which our
/// readers refuse.
Result<void> write_legacy_rocpd(const std::filesystem::path& path);

}  // namespace perflab::test
