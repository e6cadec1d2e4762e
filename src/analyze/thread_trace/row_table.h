// What is looked up for every executed instruction: the class of its code row, and sums of cycles
// that cannot overflow whatever a file says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "att/thread_trace.h"
#include "code/instructions/instruction_mix.h"

namespace perflab::analyze {

/// "v_add_f32 v0, v1" in two; without operands the second part is empty.
struct SplitInstruction {
  std::string_view mnemonic, operands;
};
SplitInstruction split_instruction(std::string_view text);

/// Cycles are held below this (2^58, about five years at 2 GHz), so that a few of them add up
/// without a check.
inline constexpr std::int64_t kMostCycles = std::int64_t{1} << 58;

/// A number from a file, within what can be added.
constexpr std::int64_t bounded(std::int64_t cycles) {
  return std::clamp(cycles, -kMostCycles, kMostCycles);
}
/// Adds cycles (not negative) to a sum.
constexpr void add_cycles(std::int64_t& sum, std::int64_t cycles) {
  sum = std::min(sum + std::clamp<std::int64_t>(cycles, 0, kMostCycles), kMostCycles);
}

/// Where the latency of an execution goes.
enum class TimePart : std::uint8_t { issue, wait, barrier };

/// Classes of the code rows of a trace.
class RowTable {
 public:
  explicit RowTable(std::span<const att::CodeRow> code);

  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// Whether a row stands for an instruction: it exists and is no label.
  [[nodiscard]] bool is_instruction(att::RowIndex row) const {
    return row < rows_.size() && !rows_[row].label;
  }
  [[nodiscard]] code::InstructionClass class_of(att::RowIndex row) const {
    return rows_[row].instruction_class;
  }
  /// Barriers are waits only where the category says so: what stalls their other half (the message
  /// that the wave has arrived) is the message bus.
  [[nodiscard]] TimePart part_of(att::RowIndex row, att::Category category) const;
  /// The same without a category (stats files).
  [[nodiscard]] TimePart part_of(att::RowIndex row) const;

 private:
  struct Row {
    code::InstructionClass instruction_class = code::InstructionClass::other;
    bool label = false;
    bool waits = false;  ///< recorded as a wait: nop, sleep and such beside waitcnt
  };
  std::vector<Row> rows_;
};

}  // namespace perflab::analyze
