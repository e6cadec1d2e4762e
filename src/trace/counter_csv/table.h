// The kinds of tables of counters and what their columns are called (docs/facts/counters.md
// "Tables"; rocprofiler-sdk source/lib/output/generateCSV.cpp, rocprofiler-compute
// tests/workloads).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "base/error.h"
#include "trace/counter_csv/csv_recording.h"
#include "trace/counter_csv/fields.h"

namespace perflab::trace::counter_csv {

enum class Kind {
  rocprofv3,     ///< <pid>_counter_collection.csv: a row per dispatch and counter
  compute_long,  ///< rocprof-compute: a row per dispatch and counter
  compute_wide,  ///< rocprof-compute: a row per dispatch, a column per counter
};

using Fields = std::span<const std::string_view>;

/// The kind of table that has this header; nullopt: none of them.
std::optional<Kind> kind_of(Fields header);

/// Most passes side by side in a merged table, and recordings in any (18 is the most seen). More
/// are damage, and every one of them looks at every row.
inline constexpr std::size_t kMostRecordings = 1024;

/// What all who read a table's rows share: its header, and texts that its rows repeat.
class Table {
 public:
  /// Error (bad_input): two columns have the same name. Columns that are named like no counter may
  /// (spreadsheets leave such).
  static Result<std::shared_ptr<Table>> make(Fields header, std::string_view file);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }
  /// Names without blanks around them, in the order of the columns.
  [[nodiscard]] std::span<const std::string> names() const { return names_; }
  /// Position of the column of that name, of several the first; nullopt: there is none, or no name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  /// Position of a column that has to be there; an error (bad_input) when it is not.
  [[nodiscard]] Result<std::size_t> require(std::string_view name) const;
  /// Where a field of that column stands, for messages.
  [[nodiscard]] Place place(std::size_t line, std::size_t column) const {
    return {.file = file_, .line = line, .column = names_[column]};
  }

  /// The text, kept once.
  SharedText shared(std::string_view text);
  /// The GPU that a field names. Errors (bad_input): it names none, or the table more than a node
  /// has (kMostAgents).
  Result<AgentLabel> agent(std::size_t line, std::size_t column, std::string_view field);

 private:
  Table(Fields header, std::string_view file);

  std::string file_;
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, std::size_t> columns_;
  std::map<std::string, SharedText, std::less<>> texts_;
  std::set<AgentLabel> agents_;
};

/// Where the facts about a dispatch stand in a row.
struct Columns {
  std::size_t dispatch = 0, agent = 0, kernel_name = 0, grid = 0, workgroup = 0, lds = 0,
              scratch = 0;
  std::optional<std::size_t> guid, process, thread, queue, kernel_id, start, end, sgprs, arch_vgprs,
      accum_vgprs;
};

/// Finds the columns of a kind. `suffix` ("_3") is preferred: it marks those of one of several
/// passes in a merged table. Error (bad_input): one that the kind always has is missing.
Result<Columns> find_columns(Kind kind, const Table& table, std::string_view suffix);

/// Whether rocprof-compute writes a column of that name beside the counters.
bool is_bookkeeping(std::string_view column);

/// Whether a column can be a counter by its name: like a C identifier, with "[N]" behind when it is
/// of one channel.
bool is_counter_name(std::string_view name);

/// "TCC_HIT[3]" -> {"TCC_HIT", 3}; other names: no channel (kNone).
std::pair<std::string_view, std::uint32_t> split_channel(std::string_view counter);

/// Builds the recordings of one table, or of one pass of a merged one, row by row.
class DraftBuilder {
 public:
  DraftBuilder(Kind kind, const Columns& columns, std::shared_ptr<Table> table);

  struct Building {
    Draft draft;
    /// By dispatch number: position, and the line that it was first seen in.
    std::map<std::int64_t, std::pair<Index, std::size_t>> dispatches;
    std::map<std::string, Index, std::less<>> counters;
    Index next = 0;  ///< the counter behind the last one that was asked for
    /// Index of a counter (without "[N]") in the draft's list.
    Index counter(std::string_view name);
  };
  /// Where a row belongs.
  struct Target {
    Building* building = nullptr;
    Index dispatch = kNone;
    bool added = false;  ///< the first row of the dispatch
  };
  /// Errors (bad_input): a field that is no number, no kernel name, another dispatch under the same
  /// number, more recordings than kMostRecordings.
  Result<Target> target(Fields fields, std::size_t line);

  /// All drafts, by guid and process.
  std::vector<Draft> take() &&;

 private:
  Result<Dispatch> read_dispatch(Fields fields, std::size_t line, Draft& draft) const;
  Result<void> read_times(Fields fields, std::size_t line, Dispatch& dispatch, Draft& draft) const;
  Result<std::int64_t> whole(Fields fields, std::size_t line, std::size_t column) const;
  Result<std::optional<std::int64_t>> maybe_whole(Fields fields, std::size_t line,
                                                  std::optional<std::size_t> column) const;
  Result<Building*> building_of(Fields fields, std::size_t line);
  Result<Target> find_or_add(Building& building, Fields fields, std::size_t line);

  Kind kind_;
  Columns columns_;
  std::shared_ptr<Table> table_;
  std::vector<std::size_t> used_columns_;
  std::map<std::pair<std::string, std::int64_t>, Building> building_;
  /// Rows of one dispatch follow each other in long tables: what identified the last row, and where
  /// it went.
  std::vector<std::string> last_fields_;
  Target last_target_;
};

/// Takes the rows of a table behind its header.
class RowReader {
 public:
  RowReader() = default;
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;
  virtual Result<void> row(Fields fields, std::size_t line) = 0;
  virtual std::vector<Draft> take() = 0;
};

/// Errors (bad_input): a column that has to be there is missing; more than kMostRecordings passes.
Result<std::unique_ptr<RowReader>> long_reader(Kind kind, std::shared_ptr<Table> table);
Result<std::unique_ptr<RowReader>> wide_reader(std::shared_ptr<Table> table);

/// What the rows of a table say.
struct TableRows {
  Kind kind = Kind::rocprofv3;
  std::vector<Draft> drafts;
  std::uint64_t rows = 0;  ///< behind the header
};

/// Reads a table. Errors (bad_input) name the file: its header is of no kind, a missing column, a
/// field that is no number (line and column named), …
Result<TableRows> read_rows(const ReadBytes& read, std::string_view file, unsigned threads);

/// The recordings of a table, with the machine given.
std::vector<Recording> finish_rows(TableRows rows, std::string_view file,
                                   std::shared_ptr<const SystemInfo> machine);

}  // namespace perflab::trace::counter_csv
