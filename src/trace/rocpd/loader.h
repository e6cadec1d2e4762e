// Reading one recording (guid) of one rocpd file into the Trace. The order matters: names and info
// tables first, then events, then the tables whose rows point to events. What links rows of
// different tables is resolved in finish.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/rocpd/events.h"
#include "trace/rocpd/file.h"
#include "trace/rocpd/interner.h"
#include "trace/rocpd/scan.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// State that outlives one recording: the Trace, and what is needed to sort and link it at the end.
/// Until then dispatches.launch, copies.launch and regions.parent hold stack codes, not region
/// indices.
struct LoadState {
  Trace& trace;
  std::vector<std::uint32_t> region_stack;  ///< per region: its own stack code
  std::uint64_t stack_base = 0;             ///< codes of the next recording start behind this
  Interner<Track> tracks;
  Interner<LaunchConfig> configs;
  /// What recordings of one node share, by identity.
  std::map<std::pair<std::int64_t, std::string>, Index> nodes;
  std::map<std::tuple<Index, std::int64_t, std::string, std::string, std::string>, Index> agents;
  std::map<Index, Index> counter_by_name;
};

/// Maps ids of one recording to indices of the Trace.
using IdMap = std::unordered_map<std::int64_t, Index>;

/// Reads everything of one recording. Use once.
class RecordingLoader {
 public:
  RecordingLoader(LoadState& state, File& file, const TableSet& set, const RowFilter& filter,
                  Index source)
      : state_(state),
        trace_(state.trace),
        file_(file),
        set_(set),
        filter_(filter),
        source_(source) {}

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
  // counters.cpp
  Result<void> load_counters();

  Result<void> each(std::string_view base, std::span<const std::string_view> columns,
                    const std::function<void(const Statement&)>& visit);
  void dropped(std::string_view table, std::string_view reason, std::uint64_t many);
  void odd(std::string_view table, std::string_view reason, std::uint64_t many);

  [[nodiscard]] Index string_of(std::optional<std::int64_t> id) const;
  Index thread_of(std::optional<std::int64_t> id);
  Index kernel_of(std::int64_t id);
  [[nodiscard]] static Index lookup(const IdMap& map, std::optional<std::int64_t> id);
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
  std::vector<Index> event_to_dispatch_;  ///< by event position; only when there are counter rows
  IdMap strings_, nodes_, processes_, threads_, agents_, queues_, streams_, code_objects_, kernels_,
      counters_;
  Index default_process_ = kNone;
};

/// Sorts all columns by time and turns stack codes into region indices.
Result<void> finish(LoadState& state);

}  // namespace perflab::trace::rocpd
