// The kinds of tables of counters and what their columns are called (facts/pmc.md section 5;
// rocprofiler-sdk source/lib/output/generateCSV.cpp, rocprofiler-compute tests/workloads).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/counter_csv/recording.h"

namespace perflab::trace::counter_csv {

enum class Kind {
  rocprofv3,     ///< <pid>_counter_collection.csv: a row per dispatch and counter
  compute_long,  ///< rocprof-compute: a row per dispatch and counter
  compute_wide,  ///< rocprof-compute: a row per dispatch, a column per counter
};

using Fields = std::span<const std::string_view>;

/// The kind of table that has this header; nullopt: none of them.
std::optional<Kind> kind_of(Fields header);

/// Where the facts about a dispatch stand in a row.
struct Columns {
  std::size_t dispatch = 0, agent = 0, kernel_name = 0, grid = 0, workgroup = 0, lds = 0,
              scratch = 0;
  std::optional<std::size_t> guid, process, thread, queue, kernel_id, start, end, sgprs, arch_vgprs,
      accum_vgprs;
};

/// Finds the columns of a kind. `suffix` ("_3") is preferred: it marks those of one of several
/// passes in a merged table. Error (bad_input): one that the kind always has is missing.
Result<Columns> find_columns(Kind kind, Fields header, std::string_view suffix,
                             std::string_view file);

/// Position of a column that has to be there.
Result<std::size_t> required_column(Fields header, std::string_view name, std::string_view file);

/// Whether rocprof-compute writes a column of that name beside the counters.
bool is_bookkeeping(std::string_view column);

/// "TCC_HIT[3]" -> {"TCC_HIT", 3}; other names: no channel (kNone).
std::pair<std::string_view, std::uint32_t> split_channel(std::string_view counter);

/// Builds the recordings of one table, or of one pass of a merged one, row by row.
class DraftBuilder {
 public:
  DraftBuilder(Kind kind, const Columns& columns, Fields header, std::string file);

  struct Building {
    Draft draft;
    /// By dispatch number: position, and the line that it was first seen in.
    std::map<std::int64_t, std::pair<Index, std::size_t>> dispatches;
    std::map<std::string, Index, std::less<>> counters;
    /// Index of a counter (without "[N]") in the draft's list.
    Index counter(std::string_view name);
  };
  /// Where a row belongs.
  struct Target {
    Building* building = nullptr;
    Index dispatch = kNone;  ///< kNone: the dispatch cannot be kept, which was counted
    bool added = false;      ///< the first row of the dispatch
  };
  /// Errors (bad_input): a field that is no number, no kernel name, another dispatch under the same
  /// number.
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
  std::vector<std::string> header_;
  std::string file_;
  std::vector<std::size_t> used_columns_;
  std::map<std::pair<std::string, std::int64_t>, Building> building_;
  /// Rows of one dispatch follow each other: what identified the last row, and where it went.
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

/// Errors (bad_input): a column that has to be there is missing.
Result<std::unique_ptr<RowReader>> long_reader(Kind kind, Fields header, std::string_view file);
Result<std::unique_ptr<RowReader>> wide_reader(Fields header, std::string_view file);

/// Everything that a table of a known kind says, with the machine given. Errors (bad_input) name
/// the file: a missing column, a field that is no number (line and column named), …
Result<std::vector<Recording>> read_table(std::string_view text, std::string_view file, Kind kind,
                                          const Machine& machine);

}  // namespace perflab::trace::counter_csv
