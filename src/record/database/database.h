// Writes one process's recording as a rocpd database: values in, rows out. It stands as
// <path>.partial until finish() renames it; what was committed before a kill can be read from the
// .partial file (docs/facts/rocpd_cuda.md "Files"). For use by one thread at a time.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "record/database/rows.h"
#include "record/database/values.h"
#include "record/protocol.h"

namespace perflab::record {

/// The writer. The first failure (a full disk) is remembered; everything after it is dropped.
class Database {
 public:
  /// Makes <path>.partial (folders too) with the schema, this machine and the process, committed.
  /// Error (usage): it cannot be written.
  static Result<std::unique_ptr<Database>> create(const std::string& path, const Process& process);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  /// Closes the file; without finish() it stays .partial.
  ~Database();

  // What rows refer to, once each.
  void add(const Agent& agent);
  /// A stream, and the queue of the same id. A second call changes the name.
  void add_stream(std::int64_t id, std::string_view name);
  /// A symbol's id. Its code object is that of the agent, made with the first symbol there.
  std::int64_t add(const Symbol& symbol);
  /// A counter's id.
  std::int64_t add(const Counter& counter);
  /// The id of a text in the table of strings.
  std::int64_t string_id(std::string_view text);

  // Rows. They are in the file after the next commit().
  /// The id of the dispatch's event, which counter values need.
  std::int64_t add(Dispatch row);
  void add(Copy row);
  void add(Call row);
  void add(const Argument& row);
  void add(Allocation row);
  /// How many rows were added; the id of the last one.
  [[nodiscard]] std::int64_t rows(OfThread table) const;
  /// The thread of a row that was added before it was known.
  void set_thread(OfThread table, std::int64_t row, std::int64_t tid);
  void add(Range row);
  /// Makes the table of PC samples. Before the first of them.
  void make_pc_counts();
  void add(const PcCount& row);
  /// A counter's value of a dispatch, by the id of its event.
  void add_value(std::int64_t event, std::int64_t counter, double value);

  /// Writes what waits, and makes it last. A failure is what failure() returns from then on.
  void commit();
  /// Changes the process's JSON and, where not 0, its end; lasts with the next commit().
  void set_process(std::int64_t end, const std::string& extdata);
  /// Commits, closes and renames. Error (usage): the first failure of all calls.
  Result<void> finish();
  /// Closes and removes the unfinished file.
  void discard();

  /// The first failure; null while there is none.
  [[nodiscard]] const Error* failure() const { return failure_ ? failure_.get() : nullptr; }
  [[nodiscard]] const std::string& guid() const { return guid_; }
  [[nodiscard]] std::int64_t dispatches() const { return dispatches_; }
  /// Rows that the database refused: an id that was there already.
  [[nodiscard]] std::int64_t refused_rows() const;

 private:
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  Database(std::string path, const Process& process);
  bool open();
  void write_start(const Process& process);
  void write_node();
  void remember(std::string_view doing);
  /// Runs SQL without rows.
  bool execute(const std::string& sql);
  /// One row, now.
  void insert(std::string_view base, std::string_view columns, std::span<const Cell> cells);
  void close();
  void begin();
  void flush(Rows& rows);
  /// A row that waits; many are written together.
  void wait(Rows& rows, std::span<const Cell> cells);
  void need_thread(std::int64_t tid);
  void write_late_threads();
  std::int64_t add_event(std::string_view category, std::int64_t call, std::string extdata);
  std::int64_t code_object(std::int64_t agent);
  std::int64_t track(std::int64_t tid, std::string_view name);
  [[nodiscard]] std::string table(std::string_view base) const;

  std::string path_;
  std::string guid_;
  std::int64_t node_ = 0;
  std::int64_t pid_ = 0;
  std::int64_t ppid_ = 0;
  sqlite3* handle_ = nullptr;
  std::unique_ptr<RowWriter> writer_;
  std::unique_ptr<Error> failure_;
  bool in_transaction_ = false;

  // Events of calls apart from the others: each batch goes to one place of the table.
  Rows calls_, events_, dispatches_rows_, copies_, regions_, arguments_, allocations_, samples_,
      values_, pc_counts_;
  std::unordered_map<std::string, std::int64_t, StringHash, std::equal_to<>> strings_;
  std::unordered_set<std::int64_t> threads_, streams_;
  std::unordered_map<std::int64_t, std::int64_t> code_objects_, tracks_;
  struct LateThread {
    OfThread table;
    std::int64_t row, tid;
  };
  std::vector<LateThread> late_threads_;
  std::int64_t next_event_ = kFirstOwnEvent;
  std::int64_t symbols_ = 0, counters_ = 0, dispatches_ = 0;
  std::int64_t copies_count_ = 0, regions_count_ = 0, arguments_count_ = 0;
  std::int64_t allocations_count_ = 0, samples_count_ = 0, values_count_ = 0;
  std::int64_t pc_counts_count_ = 0;
};

}  // namespace perflab::record
