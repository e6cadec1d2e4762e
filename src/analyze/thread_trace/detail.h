// A traced kernel instruction by instruction: all of its code with the cycles of each row, the
// text of its sources, what its waves were doing over time. For thread_trace.json, kept only where
// asked for. Cycles as in figures.h: those of the traced waves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/thread_trace/cycle_figures.h"
#include "analyze/thread_trace/state_bins.h"
#include "att/thread_trace.h"
#include "base/missing.h"
#include "code/instructions/instruction_mix.h"

namespace perflab::analyze {

/// One instruction of the kernel, executed or not.
struct DetailRow {
  att::RowIndex row = att::kNoRow;  ///< of ThreadTrace::code
  std::string text;
  std::string source;  ///< "file:line -> file:line", innermost first; empty without -g
  std::int64_t code_object = 0;
  std::uint64_t vaddr = 0;
  code::InstructionClass instruction_class = code::InstructionClass::other;
  CycleSums sums;
  std::int64_t wait_caused = 0;  ///< cycles that waits spent on its result
};

/// The name of a kernel or function, before the rows from `row` on.
struct DetailLabel {
  att::RowIndex row = att::kNoRow;
  std::string name;  ///< demangled where the trace has it so
};

/// A file that rows name. Its text is the trace's own copy.
struct DetailSource {
  std::optional<std::string> text;
  Missing missing;  ///< why there is no text; its field is empty
};

/// One frame of an inline chain.
struct SourceFrame {
  std::string path;
  std::int64_t line = 0;  ///< from 1; 0: the compiler names none
  friend auto operator<=>(const SourceFrame&, const SourceFrame&) = default;
};

/// "file:line" in two; without a line, all of it is the path.
SourceFrame split_frame(std::string_view frame);

struct TraceDetail {
  std::vector<DetailRow> rows;                  ///< ascending
  std::vector<DetailLabel> labels;              ///< ascending
  std::map<std::string, DetailSource> sources;  ///< by path, those that rows name
  std::vector<WaitPair> waits;                  ///< all, most cycles first; without texts
  std::map<int, StateBins> states;              ///< by shader engine; empty: no timelines
  std::vector<WaveStates> waves;  ///< by slot, engine, SIMD, id; at most kMostKeptWaves
  std::uint64_t wave_count = 0;   ///< of all that were traced
};

}  // namespace perflab::analyze
