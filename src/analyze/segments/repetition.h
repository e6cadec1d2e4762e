// Repetitions in a sequence of work: where the outermost loop of a program begins each time.
// Knows nothing of traces, so that it can be tested on sequences of letters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/packed_column.h"

namespace perflab::analyze {

/// Work in the order in which the program asked for it.
struct WorkSequence {
  PackedColumn<std::uint32_t> symbol;   ///< dense, from 0: kernel and launch geometry
  PackedColumn<std::uint32_t> name;     ///< dense, from 0: kernel
  PackedColumn<std::int64_t> duration;  ///< ns
  PackedColumn<std::int64_t> idle;      ///< ns before it in which no work ran

  [[nodiscard]] std::size_t size() const { return symbol.size(); }
};

/// Occurrences of the repeated phase: [begins[i], begins[i + 1]), the last one up to `end`.
struct Repetition {
  std::vector<std::size_t> begins;
  std::size_t end = 0;
};

struct FoundRepetition {
  std::optional<Repetition> repetition;
  std::string reason;  ///< a sentence, when there is none
};

/// The outermost repetition of at least three occurrences that covers most of the sequence: cut at
/// a symbol that occurs once in each. Which cuts are good follows from how often the same kernels
/// lie between them, compared with a shuffled sequence. Linear in the sequence.
FoundRepetition find_repetition(const WorkSequence& work);

}  // namespace perflab::analyze
