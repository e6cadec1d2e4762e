// Rows of one recording on their way into the Trace, for the readers of formats that say the same
// as rocpd in another form (rocprofv3_json/, trace_csv/): ids become indices, unfinished rows are
// left out and counted, calls and what they launched are joined by correlation ids
// (docs/facts/rocprofv3_outputs.md). rocpd/ has a path of its own, by columns and in parallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "trace/call_argument_rows.h"
#include "trace/call_kind.h"
#include "trace/load_state.h"
#include "trace/stack_codes.h"
#include "trace/trace.h"

namespace perflab::trace {

/// A kernel dispatch as a format says it.
struct DispatchRow {
  std::int64_t start = 0, end = 0, dispatch_id = 0;  ///< ns; the profiler's number
  std::int64_t kernel = 0;                           ///< id of a kernel symbol
  Index agent = kNone;
  std::optional<std::int64_t> queue, stream, thread;
  LaunchConfig config;
  std::uint64_t correlation = 0;  ///< internal correlation id; 0: none
};

/// An argument of a call, as text.
struct NamedArgument {
  std::string_view name, value;
};

/// An API call or a user's range.
struct CallRow {
  std::int64_t start = 0, end = 0;  ///< ns
  Index name = 0, category = 0;     ///< strings
  std::optional<std::int64_t> thread;
  std::uint64_t correlation = 0, parent = 0;  ///< internal correlation ids; 0: none
};

struct CopyRow {
  std::int64_t start = 0, end = 0, bytes = 0;  ///< ns
  Index kind = 0;                              ///< strings
  Index source = kNone, destination = kNone;   ///< agents
  std::optional<std::int64_t> stream, thread;
  std::uint64_t correlation = 0;
};

struct AllocationRow {
  std::int64_t start = 0, end = 0, bytes = 0;  ///< ns
  std::uint64_t address = 0;
  Index agent = kNone;  ///< of one that allocates; a free takes that of its address
};

/// Appends one recording. Use once: rows in any order, then finish_recording().
class RecordingRows {
 public:
  /// `expected_calls`: about how many correlation ids there are, for the size of a table.
  RecordingRows(LoadState& state, Source source, Process process, std::size_t expected_calls);

  [[nodiscard]] Index source() const { return source_; }
  [[nodiscard]] Index process() const { return process_; }

  /// A kernel symbol; its `source` is set here.
  Index add_kernel(KernelSymbol symbol);
  [[nodiscard]] bool has_kernel(std::int64_t id) const { return kernels_.contains(id); }

  void dispatch(const DispatchRow& row);
  /// Arguments of calls that are launched, or wait, are kept as the critical path needs them; those
  /// of RCCL calls become a Communication. Gives the region; kNone: it was left out.
  Index call(const CallRow& row, std::span<const NamedArgument> arguments = {});
  /// The text of a user's range.
  void message(Index region, std::string_view text);
  void copy(const CopyRow& row);
  /// `operation`: MEMORY_ALLOCATION_ALLOCATE, SCRATCH_MEMORY_FREE, ...
  void allocation(const AllocationRow& row, std::string_view operation);
  /// A counter's value over `instances` of hardware, of the dispatch of that number.
  void counter(std::int64_t dispatch_id, Index counter, std::uint32_t instances, double sum,
               double least, double most);
  /// A dispatch that counters name: a row of its own if nothing else says it.
  void counted_dispatch(const DispatchRow& row);
  /// A row whose fields are not all there, or not numbers.
  void malformed(std::string_view table, std::uint64_t many = 1);
  /// Whether a dispatch of that number is there.
  [[nodiscard]] bool has_dispatch(std::int64_t dispatch_id);

  /// Joins what waited for all rows. `table`: that counters are counted under. Error (bad_input):
  /// more correlation ids than can be told apart.
  Result<void> finish_recording(std::string_view table = "pmc_event");

 private:
  struct Value {
    std::int64_t dispatch_id;
    Index counter;
    std::uint32_t instances;
    double sum, least, most;
  };
  /// A stream that a call which submits work names; the work's stream is known at the end.
  struct Submitted {
    Index region;
    std::uint32_t code;
    std::uint64_t handle;
  };

  bool finished(std::string_view table, std::int64_t start, std::int64_t end);
  std::uint32_t code_of(std::uint64_t correlation);
  Index thread_of(std::optional<std::int64_t> tid);
  Index queue_of(std::optional<std::int64_t> id);
  Index stream_of(std::optional<std::int64_t> id);
  Index kernel_of(std::int64_t id);
  CallKind kind_of(Index name);
  void keep_arguments(Index region, std::span<const NamedArgument> arguments);
  void keep_communication(Index region, std::span<const NamedArgument> arguments);
  void find_dispatches();
  void name_queues_and_streams();
  void join_arguments();
  void join_counters(std::string_view table);

  LoadState& state_;
  Trace& trace_;
  Index source_, process_;
  StackCodes codes_;
  std::uint64_t code_limit_ = 1;
  std::size_t first_dispatch_, first_copy_, first_queue_, first_stream_, first_symbol_;
  std::unordered_map<std::int64_t, Index> threads_, queues_, streams_, kernels_;
  std::unordered_map<std::int64_t, Index> dispatches_;  ///< by number, up to dispatches_known_
  std::size_t dispatches_known_;
  std::unordered_map<std::uint64_t, Index> agent_of_address_;
  std::unordered_map<Index, CallKind> kinds_;
  std::vector<CallArgument> arguments_;
  std::vector<Submitted> submitted_;
  std::vector<Value> values_;
  std::vector<DispatchRow> counted_;
  std::uint64_t odd_arguments_ = 0;
};

}  // namespace perflab::trace
