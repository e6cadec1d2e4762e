// Classes of code rows, by src/code's instruction table.
#include "analyze/thread_trace/row_table.h"

#include "base/text/text.h"

namespace perflab::analyze {

using code::InstructionClass;

SplitInstruction split_instruction(std::string_view text) {
  text = trimmed(text);
  const std::size_t cut = text.find_first_of(" \t");
  if (cut == std::string_view::npos) return {.mnemonic = text, .operands = {}};
  return {.mnemonic = text.substr(0, cut), .operands = trimmed(text.substr(cut))};
}

RowTable::RowTable(std::span<const att::CodeRow> code) {
  rows_.reserve(code.size());
  for (const att::CodeRow& row : code) {
    Row& made = rows_.emplace_back();
    made.label = row.is_label();
    if (made.label) continue;
    const auto [mnemonic, operands] = split_instruction(row.text);
    made.instruction_class = code::classify(mnemonic, operands).instruction_class;
    // Instructions that the captures of shared/data/att have in category 9.
    made.waits = made.instruction_class == InstructionClass::waitcnt || mnemonic == "s_nop" ||
                 mnemonic == "s_sleep" || mnemonic == "s_barrier" || mnemonic == "s_barrier_wait";
  }
}

TimePart RowTable::part_of(att::RowIndex row, att::Category category) const {
  const InstructionClass instruction_class = rows_[row].instruction_class;
  if (instruction_class == InstructionClass::waitcnt) return TimePart::wait;
  if (category != att::Category::other_salu) return TimePart::issue;
  return instruction_class == InstructionClass::barrier ? TimePart::barrier : TimePart::wait;
}

TimePart RowTable::part_of(att::RowIndex row) const {
  if (!rows_[row].waits) return TimePart::issue;
  return rows_[row].instruction_class == InstructionClass::barrier ? TimePart::barrier
                                                                   : TimePart::wait;
}

}  // namespace perflab::analyze
