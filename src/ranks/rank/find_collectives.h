// The collectives of a rank: its communication kernels, each with what its call says. Which kernel
// is of which call follows from the launch; the name of the kernel decides where there is no call.
// Facts: docs/facts/ranks.md "What is recorded", "Kernel names".
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ranks/rank/calls.h"
#include "ranks/values/rank_summary.h"
#include "trace/trace.h"

namespace perflab::ranks {

/// Names of a summary, each once.
class Names {
 public:
  Name add(std::string_view text);
  /// The list; empty afterwards.
  std::vector<std::string> take();

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, Name> index_;
};

/// Short names of kernels by symbol, added when they are first asked for.
class KernelNames {
 public:
  KernelNames(const trace::Trace& trace, Names& names);
  Name of(trace::Index kernel);

 private:
  const trace::Trace& trace_;
  Names& names_;
  std::vector<Name> known_;
};

struct FoundCollectives {
  std::vector<Communicator> communicators;
  std::vector<Collective> collectives;  ///< by entry, then exit
  /// Dispatches of collectives, ascending, and which collective each belongs to.
  std::vector<std::pair<trace::Index, std::uint32_t>> dispatches;
  std::uint64_t by_order = 0;       ///< tied to calls by order alone (launched by another thread)
  std::uint64_t without_call = 0;   ///< kernels outside graphs of which no call is known
  std::uint64_t inside_graphs = 0;  ///< kernels
  std::uint64_t by_annotation = 0;  ///< collectives that an annotation around the launch names
  std::uint64_t without_bytes = 0;
};

/// Of a process on an agent. `calls`: of the process; groups without a start get their parts.
FoundCollectives find_collectives(const trace::Trace& trace, trace::Index process,
                                  trace::Index agent, ProcessCalls& calls, bool only_agent,
                                  Names& names, KernelNames& kernel_names);

}  // namespace perflab::ranks
