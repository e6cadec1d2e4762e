// Forward data flow over the basic blocks of each function. A value is a constant, or a half of a
// pointer into the kernel arguments; what is not recognised becomes unknown, and a pointer to
// anything but the beginning of a block of arguments that is lost that way makes the answer
// unknown, since constants then no longer tell what is loaded.
#include "code/instructions/kernarg_use.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/numbers.h"

namespace perflab::code {
namespace {

constexpr int kSgprs = 106, kVgprs = 512, kAgprs = 512;  // AGPRs are numbered behind the VGPRs
/// First SGPR of the pointer to hidden arguments that functions are given; first SGPR that calls
/// preserve; frame pointer; stack pointer.
constexpr int kHiddenPointer = 8, kPreserved = 34, kFrame = 33, kStack = 32;
constexpr unsigned kLow = 32;

struct Value {
  enum class Kind : std::uint8_t { unknown, constant, low, high } kind = Kind::unknown;
  std::int64_t number = 0;  ///< the constant; of `low`: bytes behind the kernel arguments' start
  friend bool operator==(const Value&, const Value&) = default;
};
using Kind = Value::Kind;

/// One VGPR or AGPR, or 4 bytes of a frame for each lane: the same everywhere, or lanes that SGPRs
/// were saved in.
struct Lanes {
  Value all;
  std::map<std::int64_t, Value> some;
  friend bool operator==(const Lanes&, const Lanes&) = default;
};

struct Registers {
  std::array<Value, kSgprs> sgprs{};
  std::map<std::int64_t, Lanes> vectors, frame;  ///< what is known; the frame by offset
  Value carry;                                   ///< `high`: of an addition to a pointer's low half
  friend bool operator==(const Registers&, const Registers&) = default;
};

/// One operand: registers, a number, or something else.
struct Operand {
  char file = 0;  ///< 's', 'v' (AGPRs too), or 0
  int first = 0, count = 0;
  std::optional<std::int64_t> number;
  std::int64_t offset = 0;  ///< of "offset:..."
};

std::optional<std::int64_t> number_in(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto value = perflab::number_of<std::uint32_t>(text);
  if (!value) return std::nullopt;
  const std::int64_t number = static_cast<std::int32_t>(*value);
  return negative ? -number : number;
}

Operand read_operand(std::string_view text) {
  Operand out;
  const auto offset = text.find("offset:");
  if (offset != std::string_view::npos) {
    const std::string_view rest = text.substr(offset + 7);
    out.offset = number_in(rest.substr(0, rest.find(' '))).value_or(0);
  }
  text = text.substr(0, text.find(' '));
  if (text.empty()) return out;
  if (text == "null") out.number = 0;
  const bool accumulator = text.front() == 'a';
  if (text.front() != 's' && text.front() != 'v' && !accumulator) {
    if (!out.number) out.number = number_in(text);
    return out;
  }
  const bool range = text.size() > 2 && text[1] == '[' && text.back() == ']';
  const std::string_view inside = range ? text.substr(2, text.size() - 3) : text.substr(1);
  const auto colon = inside.find(':');
  const auto first = number_in(inside.substr(0, colon));
  const auto last = colon == std::string_view::npos ? first : number_in(inside.substr(colon + 1));
  const int limit = text.front() == 's' ? kSgprs : accumulator ? kAgprs : kVgprs;
  if (!first || !last || *first < 0 || *last < *first || *last >= limit) return out;
  out.file = text.front() == 's' ? 's' : 'v';
  out.first = static_cast<int>(*first) + (accumulator ? kVgprs : 0);
  out.count = static_cast<int>(*last - *first) + 1;
  return out;
}

std::vector<Operand> read_operands(std::string_view text) {
  std::vector<Operand> out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (one.starts_with(' ')) one.remove_prefix(1);
    out.push_back(read_operand(one));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return out;
}

/// Bytes that a load brings: "s_load_dwordx4", "s_load_b128", "global_load_ushort", "flat_load_u8".
std::int64_t bytes_of_load(std::string_view mnemonic) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 22> kSizes{
      {{"dwordx16", 64}, {"dwordx8", 32}, {"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8},
       {"dword", 4},     {"b512", 64},    {"b256", 32},    {"b128", 16},    {"b96", 12},
       {"b64", 8},       {"b32", 4},      {"ushort", 2},   {"sshort", 2},   {"short", 2},
       {"u16", 2},       {"i16", 2},      {"b16", 2},      {"ubyte", 1},    {"sbyte", 1},
       {"u8", 1},        {"i8", 1}}};
  for (const auto& [ending, bytes] : kSizes)
    if (mnemonic.ends_with(ending)) return bytes;
  return 64;  // whatever it is
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings, [&](auto one) { return text.starts_with(one); });
}

/// Whether a call leaves a VGPR or AGPR as it was: v40 to v47, v56 to v63, ..., a32 and on.
bool is_preserved(std::int64_t vector) {
  return vector >= kVgprs ? vector >= kVgprs + 32 : vector >= 40 && (vector - 40) / 8 % 2 == 0;
}

class Analysis {
 public:
  Analysis(const CodeObject& object, const KernelMetadata& kernel,
           std::span<const Function> functions)
      : object_(object), kernel_(kernel), functions_(functions) {
    bool first = true;
    for (const KernelArgument& argument : kernel.arguments) {
      if (!argument.hidden()) continue;
      out_.hidden_base = first ? argument.offset : std::min(out_.hidden_base, argument.offset);
      first = false;
    }
  }

  KernargUse run() {
    if (!kernel_.descriptor || kernel_.code_bytes == 0)
      return nothing("the code of the kernel was not found");
    const KernelDescriptor& descriptor = *kernel_.descriptor;
    const auto has = [&](unsigned bit) { return (descriptor.properties >> bit & 1U) != 0; };
    if (!has(3)) return out_;  // it has no pointer to its arguments
    const unsigned length = descriptor.kernarg_preload & 0x7fU;
    const unsigned from = static_cast<unsigned>(descriptor.kernarg_preload) >> 7U;
    if (length > 0)
      out_.loads.push_back(
          {.first = std::int64_t{from} * 4, .end = (std::int64_t{from} + length) * 4});
    const int pointer = 4 * has(0) + 2 * has(1) + 2 * has(2);
    Registers entry;
    set_pointer(entry, pointer, 0);
    const Function code =
        function_at(functions_, kernel_.name, kernel_.code_address, kernel_.code_bytes);
    if (code.instructions.empty() || code.instructions.front().address != kernel_.code_address)
      return nothing("its code was not disassembled");
    flow(code, entry);
    Registers called;
    set_pointer(called, kHiddenPointer, out_.hidden_base);
    if (!follow_calls(called)) return nothing("it calls code that is not in the object");
    if (!any_call_) return out_;
    const std::vector<OffsetRange> certain = std::exchange(out_.loads, {});
    for (const Function& function : functions_)
      if (std::ranges::find(object_.kernels, function.address, &KernelMetadata::code_address) ==
          object_.kernels.end())
        call(function.address);
    if (!follow_calls(called)) return nothing("it calls code that is not in the object");
    for (const OffsetRange& load : out_.loads)
      out_.may_loads.push_back(
          {.first = load.first - out_.hidden_base, .end = load.end - out_.hidden_base});
    out_.loads = certain;
    return out_;
  }

 private:
  KernargUse nothing(std::string because) {
    out_.nothing_known_because = std::move(because);
    return out_;
  }
  static void set_pointer(Registers& registers, int first, std::int64_t offset) {
    registers.sgprs.at(static_cast<std::size_t>(first)) = {.kind = Kind::low, .number = offset};
    registers.sgprs.at(static_cast<std::size_t>(first) + 1) = {.kind = Kind::high, .number = 0};
  }
  void call(std::uint64_t address) {
    if (seen_.insert(address).second) to_do_.push_back(address);
  }
  /// Analyses what is to be called. False: some of it is not in the object.
  bool follow_calls(const Registers& entry) {
    for (; !to_do_.empty() && out_.nothing_known_because.empty(); to_do_.pop_front()) {
      const auto callee = std::ranges::find(functions_, to_do_.front(), &Function::address);
      if (callee == functions_.end()) return false;
      flow(*callee, entry);
    }
    return true;
  }
  /// A value of a pointer is used where it is not followed.
  void lose(const Value& value) {
    if (value.kind == Kind::low && value.number != 0 && value.number != out_.hidden_base)
      out_.nothing_known_because =
          "a pointer into the middle of the arguments is kept where it cannot be followed";
  }

  void computes() {
    out_.nothing_known_because = "it reads its arguments at an offset that it computes";
  }

  // ---- control flow

  struct Block {
    std::size_t first = 0, end = 0;
    std::optional<Registers> entry{};
  };

  void flow(const Function& function, const Registers& entry) {
    const auto& code = function.instructions;
    if (code.empty()) return;
    std::map<std::uint64_t, Block> blocks = blocks_of(code);
    blocks.begin()->second.entry = entry;
    std::deque<std::uint64_t> pending{blocks.begin()->first};
    for (; !pending.empty(); pending.pop_front()) {
      const Block& block = blocks.at(pending.front());
      Registers state = *block.entry;
      for (std::size_t i = block.first; i < block.end; ++i) step(code[i], state);
      for (const std::uint64_t next : successors(code, block))
        if (const auto at = blocks.find(next); at != blocks.end() && join(at->second.entry, state))
          pending.push_back(next);
    }
    for (const auto& [address, block] : blocks) {  // reached by computed branches, if at all
      Registers state;
      for (std::size_t i = block.first; !block.entry && i < block.end; ++i) step(code[i], state);
    }
  }
  static bool ends_block(const Instruction& one) {
    return one.branch_target ||
           starts_with_any(one.mnemonic, {"s_branch", "s_cbranch", "s_endpgm", "s_setpc"});
  }
  static std::map<std::uint64_t, Block> blocks_of(const std::vector<Instruction>& code) {
    std::set<std::uint64_t> starts{code.front().address};
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (code[i].branch_target) starts.insert(*code[i].branch_target);
      if (ends_block(code[i]) && i + 1 < code.size()) starts.insert(code[i + 1].address);
    }
    std::map<std::uint64_t, Block> blocks;
    for (std::size_t i = 0; i < code.size(); ++i) {
      if (starts.contains(code[i].address) || blocks.empty())
        blocks[code[i].address] = {.first = i, .end = i};
      blocks.rbegin()->second.end = i + 1;
    }
    return blocks;
  }
  static std::vector<std::uint64_t> successors(const std::vector<Instruction>& code,
                                               const Block& block) {
    const Instruction& last = code[block.end - 1];
    std::vector<std::uint64_t> out;
    if (last.branch_target) out.push_back(*last.branch_target);
    if (!starts_with_any(last.mnemonic, {"s_branch", "s_endpgm", "s_setpc"}) &&
        block.end < code.size())
      out.push_back(code[block.end].address);
    return out;
  }
  /// What holds on both ways into a block. Whether that is less than what was known.
  bool join(std::optional<Registers>& entry, const Registers& from) {
    if (!entry) {
      entry = from;
      return true;
    }
    const Registers before = *entry;
    for (std::size_t i = 0; i < before.sgprs.size(); ++i) {
      if (before.sgprs.at(i) == from.sgprs.at(i)) continue;
      lose(before.sgprs.at(i));
      lose(from.sgprs.at(i));
      entry->sgprs.at(i) = {};
    }
    join(entry->vectors, from.vectors);
    join(entry->frame, from.frame);
    if (entry->carry != from.carry) entry->carry = {};
    return *entry != before;
  }

  void lose(const Lanes& lanes) {
    lose(lanes.all);
    for (const auto& [lane, value] : lanes.some) lose(value);
  }
  void join(std::map<std::int64_t, Lanes>& known, const std::map<std::int64_t, Lanes>& from) {
    for (auto& [number, lanes] : known) {
      const auto other = from.find(number);
      const Lanes there = other == from.end() ? Lanes() : other->second;
      if (there == lanes) continue;
      lose(there);
      lose(lanes);
      if (there.all != lanes.all) lanes.all = {};
      std::erase_if(lanes.some, [&](const auto& one) {
        const auto same = there.some.find(one.first);
        return same == there.some.end() || same->second != one.second;
      });
    }
    std::erase_if(known, [](const auto& one) { return one.second == Lanes(); });
  }

  // ---- instructions

  static Lanes lanes_of(const Registers& state, const Operand& operand, int half) {
    if (operand.file != 'v' || half >= operand.count) return {};
    const auto found = state.vectors.find(operand.first + half);
    return found == state.vectors.end() ? Lanes() : found->second;
  }
  static Value value_of(const Registers& state, const Operand& operand, int half = 0) {
    if (operand.number)
      return {.kind = Kind::constant,
              .number = half == 0 ? *operand.number : (*operand.number < 0 ? -1 : 0)};
    if (operand.file != 's' || half >= operand.count) return lanes_of(state, operand, half).all;
    return state.sgprs.at(static_cast<std::size_t>(operand.first + half));
  }
  static void write(Registers& state, const Operand& operand, int half, const Lanes& lanes) {
    if (half >= operand.count) return;
    if (operand.file == 's')
      state.sgprs.at(static_cast<std::size_t>(operand.first + half)) = lanes.all;
    else if (lanes == Lanes())
      state.vectors.erase(operand.first + half);
    else
      state.vectors[operand.first + half] = lanes;
  }
  static void write(Registers& state, const Operand& operand, int half, const Value& value) {
    write(state, operand, half, Lanes{.all = value, .some = {}});
  }
  static void forget(Registers& state, const Operand& operand) {
    for (int i = 0; i < operand.count; ++i) write(state, operand, i, Value());
  }

  void step(const Instruction& instruction, Registers& state) {
    const std::string_view name = instruction.mnemonic;
    if (name.starts_with('.') || name.starts_with('<')) {
      out_.nothing_known_because = "the disassembler does not know all of its instructions";
      return;
    }
    const std::vector<Operand> operands = read_operands(instruction.operands);
    if (starts_with_any(name, {"s_swappc", "s_setpc", "s_call"}))
      return jump(instruction, operands, state);
    if (name == "s_getpc_b64" && !operands.empty()) {
      const auto next = static_cast<std::int64_t>(instruction.address) + instruction.bytes;
      write(state, operands[0], 0, {.kind = Kind::constant, .number = next & 0xffffffff});
      write(state, operands[0], 1, {.kind = Kind::constant, .number = next >> kLow});
    } else if (starts_with_any(name, {"s_mov_b32", "s_mov_b64", "v_mov_b32_e32", "v_mov_b32_e64",
                                      "v_mov_b64", "v_pk_mov_b32", "v_accvgpr_"}) &&
               operands.size() >= 2) {
      copy(name, operands, state);
    } else if (starts_with_any(name, {"v_writelane_b32", "v_readlane_b32"}) &&
               operands.size() == 3 && operands[2].number) {
      save_in_lane(name.starts_with("v_write"), operands, state);
    } else if (starts_with_any(name, {"scratch_store_", "scratch_load_", "buffer_store_dword",
                                      "buffer_load_dword"}) &&
               is_frame(operands)) {
      use_frame(name.find("_store_") != std::string_view::npos, operands, state);
    } else if (starts_with_any(name, {"s_add_u32", "s_add_co_u32"}) && operands.size() == 3) {
      add(operands, state);
    } else if (starts_with_any(name, {"s_addc_u32", "s_add_co_ci_u32"}) && operands.size() == 3) {
      add_high(operands, state);
    } else if (starts_with_any(name, {"s_load_", "global_load_", "flat_load_"})) {
      access(name, operands, state);
    } else {
      other(name, operands, state);
    }
  }

  void copy(std::string_view name, const std::vector<Operand>& operands, Registers& state) {
    const auto half_of = [&](int half) {
      // v_pk_mov_b32 takes its second half from its second source.
      const Operand& from =
          name.starts_with("v_pk") && operands.size() > 2 && half == 1 ? operands[2] : operands[1];
      if (from.file == 'v') return lanes_of(state, from, half);
      return Lanes{.all = value_of(state, from, half), .some = {}};
    };
    const std::array<Lanes, 2> halves{half_of(0), half_of(1)};
    forget(state, operands[0]);
    for (int half = 0; half < std::min(operands[0].count, 2); ++half)
      write(state, operands[0], half, halves.at(static_cast<std::size_t>(half)));
  }

  static void save_in_lane(bool save, const std::vector<Operand>& operands, Registers& state) {
    const std::int64_t lane = *operands[2].number;
    if (save) {
      Lanes lanes = lanes_of(state, operands[0], 0);
      lanes.all = {};
      lanes.some[lane] = value_of(state, operands[1]);
      return write(state, operands[0], 0, lanes);
    }
    const Lanes lanes = lanes_of(state, operands[1], 0);
    const auto found = lanes.some.find(lane);
    write(state, operands[0], 0, found == lanes.some.end() ? lanes.all : found->second);
  }

  /// "off, v1, s33 offset:40", "v1, off, s33 offset:40", "v1, off, s[0:3], s33 offset:40".
  static bool is_frame(const std::vector<Operand>& operands) {
    return operands.size() >= 3 && operands.back().file == 's' && operands.back().first == kFrame &&
           operands.back().count == 1;
  }
  void use_frame(bool store, const std::vector<Operand>& operands, Registers& state) {
    const Operand& vector = operands[0].file == 'v' ? operands[0] : operands[1];
    for (int i = 0; i < vector.count; ++i) {
      const std::int64_t at = operands.back().offset + std::int64_t{4} * i;
      if (store) {
        state.frame[at] = lanes_of(state, vector, i);
        continue;
      }
      const auto found = state.frame.find(at);
      write(state, vector, i, found == state.frame.end() ? Lanes() : found->second);
    }
  }

  void jump(const Instruction& instruction, const std::vector<Operand>& operands,
            Registers& state) {
    const std::string_view name = instruction.mnemonic;
    const bool returns = name.starts_with("s_setpc") && !operands.empty() &&
                         operands[0].file == 's' && operands[0].first == 30;
    if (returns) return;
    const Value low = operands.empty() ? Value() : value_of(state, operands.back(), 0);
    const Value high = operands.empty() ? Value() : value_of(state, operands.back(), 1);
    if (low.kind == Kind::constant && high.kind == Kind::constant)
      call(static_cast<std::uint64_t>(low.number & 0xffffffff) |
           static_cast<std::uint64_t>(high.number) << kLow);
    else
      any_call_ = true;
    for (std::size_t i = 0; i < state.sgprs.size(); ++i) {
      lose(state.sgprs.at(i));
      if (i < kPreserved) state.sgprs.at(i) = {};
    }
    for (const auto& [number, lanes] : state.vectors) lose(lanes);
    std::erase_if(state.vectors, [](const auto& one) { return !is_preserved(one.first); });
    state.carry = {};
  }

  void add(const std::vector<Operand>& operands, Registers& state) {
    Value a = value_of(state, operands[1]), b = value_of(state, operands[2]);
    if (b.kind == Kind::low) std::swap(a, b);
    Value sum;
    state.carry = {};
    if (a.kind == Kind::low && b.kind == Kind::constant) {
      sum = {.kind = Kind::low, .number = a.number + b.number};
      state.carry = {.kind = Kind::high, .number = 0};
    } else if (a.kind == Kind::constant && b.kind == Kind::constant) {
      const auto total = (a.number & 0xffffffff) + (b.number & 0xffffffff);
      sum = {.kind = Kind::constant, .number = total & 0xffffffff};
      state.carry = {.kind = Kind::constant, .number = total >> kLow};
    } else {
      if (a.kind == Kind::low) computes();
      note_constants(operands, state);
    }
    forget(state, operands[0]);
    write(state, operands[0], 0, sum);
  }
  void add_high(const std::vector<Operand>& operands, Registers& state) {
    Value a = value_of(state, operands[1]), b = value_of(state, operands[2]);
    if (b.kind == Kind::high) std::swap(a, b);
    Value sum;
    if (a.kind == Kind::high && b.kind == Kind::constant && state.carry.kind == Kind::high)
      sum = {.kind = Kind::high, .number = 0};
    else if (a.kind == Kind::constant && b.kind == Kind::constant &&
             state.carry.kind == Kind::constant)
      sum = {.kind = Kind::constant,
             .number = (a.number + b.number + state.carry.number) & 0xffffffff};
    state.carry = {};
    forget(state, operands[0]);
    write(state, operands[0], 0, sum);
  }

  void access(std::string_view name, const std::vector<Operand>& operands, Registers& state) {
    const bool scalar = name.starts_with("s_");
    const Operand none;
    // "d, base, offset", "d, v, base offset:n", "d, v[0:1], off offset:n", "d, v[0:1] offset:n"
    const Operand& base = operands.size() < 2 ? none : scalar ? operands[1] : operands.back();
    const Operand& index = operands.size() < 3 ? none : scalar ? operands[2] : operands[1];
    std::int64_t offset = operands.empty() ? 0 : operands.back().offset;
    const Value low = value_of(state, base, 0), high = value_of(state, base, 1);
    if (base.file == 'v') lose(low);
    std::optional<std::int64_t> more = 0;  // what the index adds
    if (index.number && scalar)
      offset += *index.number;
    else if (index.file == 's')
      more = value_of(state, index).kind == Kind::constant
                 ? std::optional(value_of(state, index).number)
                 : std::nullopt;
    else if (index.file == 'v' && base.file == 's')
      more = value_of(state, index).kind == Kind::constant
                 ? std::optional(value_of(state, index).number)
                 : std::nullopt;
    const std::int64_t bytes = bytes_of_load(name);
    const bool pointer = base.count == 2;
    if (pointer && low.kind == Kind::low && high.kind == Kind::high) {
      if (more) {
        const std::int64_t first = low.number + offset + *more;
        out_.loads.push_back({.first = first, .end = first + bytes});
      } else {
        computes();
      }
    } else if (!pointer || low.kind != Kind::constant || high.kind != Kind::constant) {
      const std::int64_t first = offset + more.value_or(0);
      out_.may_loads.push_back({.first = first, .end = first + bytes});
      lose(low);
    }
    if (!operands.empty()) forget(state, operands[0]);
  }

  void other(std::string_view name, const std::vector<Operand>& operands, Registers& state) {
    const bool no_address =
        starts_with_any(name, {"ds_", "scratch_", "buffer_", "s_waitcnt", "s_wait_", "s_nop",
                               "s_delay_alu", "s_clause", "s_cbranch", "s_branch", "s_sleep",
                               "s_setreg", "s_barrier", "s_sendmsg", "s_set", "s_endpgm"});
    // Selections are how addresses of the frame are made.
    if (!no_address && !starts_with_any(name, {"v_cmp", "s_cmp", "v_cndmask", "s_cselect"}))
      note_constants(operands, state);
    for (std::size_t i = 0; i < operands.size(); ++i)
      for (int half = 0; half < operands[i].count; ++half)
        if (i > 0 || no_address) {
          const Value value = value_of(state, operands[i], half);
          lose(value);
          lose(lanes_of(state, operands[i], half));
          if (value.kind == Kind::low && name.find("_add") != std::string_view::npos) computes();
        }
    // Comparisons and the like write their first operand; a carry out is the second.
    const bool writes = !starts_with_any(name, {"s_cmp", "s_bitcmp"});
    for (std::size_t i = 0; writes && i < std::min<std::size_t>(operands.size(), 2); ++i)
      if (i == 0 || (name.starts_with("v_") && operands[i].file == 's')) forget(state, operands[i]);
    if (name.starts_with("v_dual") || name.starts_with("v_swap")) state.vectors.clear();
    if (starts_with_any(name, {"s_add", "s_sub"})) state.carry = {};
  }

  static bool is_stack_pointer(const Operand& operand) {
    return operand.file == 's' && operand.count == 1 &&
           (operand.first == kStack || operand.first == kFrame);
  }
  /// Constants that may be added to a pointer; those that are added to the stack's are not.
  void note_constants(const std::vector<Operand>& operands, const Registers& state) {
    if (std::ranges::any_of(operands, is_stack_pointer)) return;
    for (const Operand& operand : operands)
      if (const Value value = value_of(state, operand); value.kind == Kind::constant)
        out_.constants.insert(value.number);
  }

  const CodeObject& object_;
  const KernelMetadata& kernel_;
  std::span<const Function> functions_;
  KernargUse out_;
  std::deque<std::uint64_t> to_do_;
  std::set<std::uint64_t> seen_;
  bool any_call_ = false;  ///< one whose target is not known: any function that is no kernel
};

bool any_overlaps(const std::vector<OffsetRange>& ranges, std::int64_t first, std::int64_t bytes) {
  return std::ranges::any_of(ranges, [&](const OffsetRange& range) {
    return range.first < first + bytes && first < range.end;
  });
}

}  // namespace

KernargUse KernargUse::of(const CodeObject& object, const KernelMetadata& kernel,
                          std::span<const Function> functions) {
  return Analysis(object, kernel, functions).run();
}

ArgumentUse KernargUse::use_of(std::int64_t offset, std::int64_t bytes) const {
  if (any_overlaps(loads, offset, bytes)) return ArgumentUse::loaded;
  return why_unknown(offset, bytes).empty() ? ArgumentUse::unused : ArgumentUse::unknown;
}

std::string KernargUse::why_unknown(std::int64_t offset, std::int64_t bytes) const {
  if (any_overlaps(loads, offset, bytes)) return {};
  if (!nothing_known_because.empty()) return nothing_known_because;
  for (const std::int64_t distance : {offset, offset - hidden_base}) {
    if (any_overlaps(may_loads, distance, bytes))
      return fmt::format("something is loaded {} bytes after a pointer that cannot be followed",
                         distance);
    if (constants.contains(distance))
      return fmt::format("the number {} may be added to a pointer that cannot be followed",
                         distance);
  }
  return {};
}

}  // namespace perflab::code
