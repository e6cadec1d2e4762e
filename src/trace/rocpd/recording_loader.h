// Reading one recording (guid) of one rocpd file into the Trace. The order matters: names and info
// tables first, then events, then the tables whose rows point to events. What links rows of
// different tables is resolved in ../finish.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trace/load_state.h"
#include "trace/part.h"
#include "trace/rocpd/event_table.h"
#include "trace/rocpd/file.h"
#include "trace/rocpd/id_map.h"
#include "trace/rocpd/scan.h"
#include "trace/rocpd/wanted_regions.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// Rows that a scan left out, by reason.
struct LeftOut {
  std::uint64_t unfinished = 0, malformed = 0, outside = 0;
};

/// Reads everything of one recording. Use once.
class RecordingLoader {
 public:
  /// Rows that begin outside of the window, or are of other kernels than `part` wants, are passed
  /// over.
  RecordingLoader(LoadState& state, File& file, const TableSet& set, const RowFilter& filter,
                  Index source, const Part& part, const Window& window)
      : state_(state),
        trace_(state.trace),
        file_(file),
        set_(set),
        filter_(filter),
        source_(source),
        part_(part),
        window_(window) {}

  Result<void> load();

 private:
  // info_tables.cpp
  Result<void> load_strings();
  Result<void> load_processes();
  Result<void> load_threads();
  Result<void> load_agents();
  Result<void> load_queues_and_streams();
  Result<void> load_code_objects();
  Result<void> load_kernel_symbols();
  Result<void> load_counter_infos();
  void mark_runtime_code_objects(std::size_t first_symbol);

  // dispatches.cpp
  Result<void> load_dispatches();
  // activity_tables.cpp
  Result<void> load_regions();
  Result<void> load_copies();
  Result<void> load_allocations();
  // call_arguments.cpp
  void prepare_wanted_regions();
  /// By stack code of this recording: 0 when no dispatch or copy carries it, else a number for the
  /// stream of that work (1: unknown).
  [[nodiscard]] std::vector<std::uint16_t> streams_of_calls() const;
  Result<void> load_call_arguments();
  Result<void> load_range_texts();
  // counters.cpp
  Result<void> load_counters();

  Result<void> each(std::string_view base, std::span<const std::string_view> columns,
                    const std::function<void(const Statement&)>& visit);
  /// Of kernels by their names; of ids that have no symbol too.
  void find_wanted_kernels(std::size_t first_symbol);
  [[nodiscard]] bool is_wanted_kernel(std::int64_t id) const;
  /// Counts rows that a scan left out. Of a part of a run nothing more is said of them: which rows
  /// outside of it are looked at depends on where they stand.
  void left_out(std::string_view table, const LeftOut& rows);
  void dropped(std::string_view table, std::string_view reason, std::uint64_t many);
  void odd(std::string_view table, std::string_view reason, std::uint64_t many);

  [[nodiscard]] Index string_of(std::optional<std::int64_t> id) const;
  Index thread_of(std::optional<std::int64_t> id);
  Index kernel_of(std::int64_t id);
  /// Stack code of the event in the whole Trace's numbering; 0 when there is none.
  [[nodiscard]] std::uint32_t global_stack(std::uint32_t code) const {
    return code == 0 ? 0 : static_cast<std::uint32_t>(state_.stack_base + code);
  }

  LoadState& state_;
  Trace& trace_;
  File& file_;
  const TableSet& set_;
  RowFilter filter_;
  Index source_;

  EventTable events_;
  WantedRegions wanted_;
  std::vector<Index> rccl_categories_;               ///< strings
  std::size_t first_dispatch_ = 0, first_copy_ = 0;  ///< of this recording
  Index first_stream_ = 0;
  std::vector<Index> event_to_dispatch_;  ///< by event position; only when there are counter rows
  IdMap strings_, nodes_, processes_, threads_, agents_, queues_, streams_, code_objects_, kernels_,
      counters_;
  Index default_process_ = kNone;
  const Part& part_;
  Window window_;
  std::vector<std::pair<std::int64_t, bool>> wanted_kernels_;  ///< by id; only where some are not
  std::vector<bool> launching_;  ///< by stack code, whether a dispatch of them carries it
  std::pair<std::int64_t, Index> last_thread_ = {0, kNone};  ///< id, thread
};

}  // namespace perflab::trace::rocpd
