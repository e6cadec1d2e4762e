// What readers of recordings share while a Trace is being filled: rows are appended recording by
// recording, then finish() sorts and links them. Used by rocpd/ and counter_csv/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/interner.h"
#include "trace/trace.h"

namespace perflab::trace {

/// Counters are registers of at most 64 bits: what is larger is damage.
inline constexpr double kLargestCounter = 0x1p64;

/// State that outlives one recording: the Trace, and what is needed to sort and link it at the end.
/// Until then dispatches.launch, copies.launch and regions.parent hold stack codes (0: none), not
/// region indices.
struct LoadState {
  explicit LoadState(Trace& filled) : trace(filled) {}

  Trace& trace;
  PackedColumn<std::uint32_t> region_stack;  ///< per region: its own stack code
  std::uint64_t stack_base = 0;              ///< codes of the next recording start behind this
  Interner<Track> tracks;
  Interner<LaunchConfig> configs;
  /// What recordings of one node share, by identity.
  std::map<std::pair<std::int64_t, std::string>, Index> nodes;
  std::map<std::tuple<Index, std::int64_t, std::string, std::string, std::string>, Index> agents;
  std::map<Index, Index> counter_by_name;  ///< name in Trace::strings -> counter_infos
  std::set<std::string> recordings;        ///< their guids
  std::uint64_t memory_need = 0;  ///< bytes that the databases so far take, and what follows

  /// The counter of that name, added when it is new.
  Index counter(std::string_view name);
};

/// N of the nearest folder named pass_N or pmc_N: rocprofv3 puts each counter pass in one
/// (docs/facts/rocpd.md "Files and tables").
std::optional<int> pass_of(const std::filesystem::path& file);

/// The error for a recording that was read before; `remedy` says what to give only once.
[[nodiscard]] std::unexpected<Error> given_twice(std::string_view file, std::string_view recording,
                                                 std::string remedy);

/// The profiler's accumulator register comes under one name whatever it accumulated
/// (docs/facts/counters.md "Tables"): in the counter rows of one recording, from `first_row` on,
/// SQ_ACCUM_PREV_HIRES becomes <LEVEL>_ACCUM where the dispatch has exactly one level counter.
/// Elsewhere nobody can say what it means: those rows are left out and counted as of `table`.
void name_accumulators(LoadState& state, std::size_t first_row, std::string_view table);

/// Sorts all columns by time and turns stack codes into region indices. `threads`: 0 for all cores.
void finish(LoadState& state, unsigned threads = 0);

}  // namespace perflab::trace
