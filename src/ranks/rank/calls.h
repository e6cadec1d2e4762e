// The calls of RCCL and NCCL in a recording: outermost ones, what the recording says of each, and
// which of them are launched together. Facts: docs/facts/ranks.md "What is recorded".
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ranks/rank/names.h"
#include "trace/trace.h"

namespace perflab::ranks {

inline constexpr std::uint32_t kNoUnit = std::numeric_limits<std::uint32_t>::max();

/// What the recording says of an operation, and how it says it; trace::Communication with its
/// names as text. An empty text: not said.
struct Said {
  KeySource source = KeySource::arguments;
  std::string function, group, data_type;
  std::string handle;  ///< of the communicator, of this process alone
  std::optional<std::int64_t> sequence, group_size, in_count, out_count, count, bytes, root, peer;
  std::vector<std::int64_t> members;
};

/// Of a row of Trace::communications.
Said said_by(const trace::Trace& trace, const trace::Communication& what);

/// An outermost call: RCCL calls itself through its own table.
struct LibraryCall {
  trace::Index region = trace::kNone;
  FunctionFacts facts;
  std::string function;          ///< as recorded
  std::uint32_t said = kNoUnit;  ///< ProcessCalls::said
  std::uint32_t unit = kNoUnit;  ///< ProcessCalls::units
};

/// What is launched together: a call, or all between the outermost GroupStart and GroupEnd.
struct CallUnit {
  trace::Index thread = trace::kNone;
  bool group = false;
  bool start_lost = false;           ///< a GroupEnd without its start: which calls belong to it
                                     ///< is for adopt_parts()
  std::vector<std::uint32_t> parts;  ///< calls that communicate
  std::int64_t start = 0;            ///< ns, of the first call
};

struct ProcessCalls {
  std::vector<LibraryCall> calls;  ///< by start
  std::vector<CallUnit> units;     ///< by start of what launches them
  std::vector<Said> said;
  std::unordered_map<trace::Index, std::uint32_t> call_of_region;
  std::unordered_map<trace::Index, std::vector<std::uint32_t>> by_thread;  ///< calls, by start
  /// No call was recorded: these are the annotations of a framework around its calls, which say
  /// the function alone, and may hold kernels of others.
  bool annotations = false;

  /// The outermost call behind a launch: by the chain of parents, else by the times on its thread.
  [[nodiscard]] const LibraryCall* behind(const trace::Trace& trace, trace::Index region) const;
  /// Whether a kernel that the call launched may be part of it although its name does not say so.
  [[nodiscard]] bool own_all() const { return !annotations; }
};

/// All of a process.
ProcessCalls find_calls(const trace::Trace& trace, trace::Index process);

/// Gives the groups whose start was not recorded the calls before them, as far back as these
/// launched nothing. `launched`: by unit.
void adopt_parts(ProcessCalls& calls, const std::vector<bool>& launched);

}  // namespace perflab::ranks
