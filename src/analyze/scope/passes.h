// Counter passes: the application is run once per set of counters, so that several recordings tell
// of the same work. Which recording is of which pass follows from its folder (pass_N), otherwise
// from the counters that it holds: recordings of one pass hold the same ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace perflab::analyze {

/// One counter pass.
struct PassInfo {
  int number = 0;  ///< as the folder says (pass_N), else numbered after those
  bool numbered_by_folder = false;
  std::vector<std::string> counters;  ///< by name
  std::uint64_t dispatches = 0;       ///< that have counters
};

/// One counter pass and its recordings (one per process).
struct Pass {
  PassInfo info;
  std::vector<trace::Index> sources;  ///< ordered by their first dispatch
};

struct Passes {
  std::vector<Pass> passes;  ///< by number
  /// By Trace::sources: index into passes; trace::kNone for a recording without counters.
  std::vector<trace::Index> pass_of_source;
  std::vector<bool> source_counted;  ///< by Trace::sources: some counter of it is not zero
  std::uint64_t duplicates = 0;  ///< tables of counters whose dispatches a database has as well:
                                 ///< they are of no pass

  [[nodiscard]] bool has_counters(std::size_t source) const {
    return pass_of_source[source] != trace::kNone;
  }
};

/// Folders' numbers are kept. Passes without one are numbered after those, by the time of their
/// first dispatch and the names of their counters: never by the order of files.
Passes find_passes(const trace::Trace& trace);

}  // namespace perflab::analyze
