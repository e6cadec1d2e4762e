// Operations by the low nine bits of an instruction; the next three say where operands come from.
// Each name was found by compiling kernels that have 64 (or 16, 8, 4) of the one operation, for
// sm_80, sm_90, sm_100 and sm_120 (docs/facts/cuda_code.md "Instructions"); tests/code/cubin and
// tests/calibrate do it again with the toolkit that is there.
#include "code/cubin/sass.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace perflab::code {
namespace {

using enum InstructionClass;

/// How an operation's width stands in it.
enum class SassWidth : std::uint8_t { none, memory };

struct SassOperation {
  std::uint16_t bits = 0;
  std::string_view name;
  InstructionClass unit = valu;
  std::string_view precision = "b32";
  double flops_per_lane = 0;
  SassWidth width = SassWidth::none;
};

constexpr std::array<SassOperation, 43> kOperations = {{
    {0x002, "MOV", valu, "b32", 0, {}},
    {0x005, "CS2R", valu, "b32", 0, {}},
    {0x00c, "ISETP", valu, "i32", 0, {}},
    {0x010, "IADD3", valu, "i32", 0, {}},
    {0x011, "LEA", valu, "i32", 0, {}},
    {0x012, "LOP3", valu, "b32", 0, {}},
    {0x016, "PRMT", valu, "b32", 0, {}},
    {0x019, "SHF", valu, "b32", 0, {}},
    {0x020, "FMUL", valu, "f32", 1, {}},
    {0x021, "FADD", valu, "f32", 1, {}},
    {0x023, "FFMA", valu, "f32", 2, {}},
    {0x024, "IMAD", valu, "i32", 0, {}},
    {0x025, "IMAD.WIDE", valu, "i64", 0, {}},
    {0x028, "DMUL", valu, "f64", 1, {}},
    {0x029, "DADD", valu, "f64", 1, {}},
    {0x02b, "DFMA", valu, "f64", 2, {}},
    {0x030, "HADD2", valu, "f16", 2, {}},
    {0x031, "HFMA2", valu, "f16", 4, {}},
    {0x032, "HMUL2", valu, "f16", 2, {}},
    {0x035, "HFMA2.MMA", valu, "f16", 4, {}},
    {0x036, "VIADD", valu, "i32", 0, {}},
    {0x037, "IMMA", matrix, "i8", 0, {}},
    {0x03c, "HMMA", matrix, "f16", 0, {}},
    {0x03f, "DMMA", matrix, "f64", 0, {}},
    {0x07a, "QMMA", matrix, "f8", 0, {}},
    {0x08c, "UISETP", salu, "i32", 0, {}},
    {0x090, "UIADD3", salu, "i32", 0, {}},
    {0x091, "ULEA", salu, "i32", 0, {}},
    {0x0b9, "ULDC", smem, "b32", 0, {}},
    {0x108, "MUFU", valu, "f32", 1, {}},
    {0x118, "NOP", other, "", 0, {}},
    {0x119, "S2R", valu, "b32", 0, {}},
    {0x11d, "BAR", barrier, "", 0, {}},
    {0x147, "BRA", branch, "", 0, {}},
    {0x14d, "EXIT", other, "", 0, {}},
    {0x181, "LDG", vmem_load, "", 0, SassWidth::memory},
    {0x182, "LDC", smem, "b32", 0, {}},
    {0x184, "LDS", lds, "", 0, SassWidth::memory},
    {0x186, "STG", vmem_store, "", 0, SassWidth::memory},
    {0x188, "STS", lds, "", 0, SassWidth::memory},
    {0x18e, "RED", vmem_atomic, "", 0, {}},
    {0x1ac, "LDCU", smem, "b32", 0, {}},
    {0x1c3, "S2UR", salu, "b32", 0, {}},
}};

const SassOperation* operation_of(std::uint16_t bits) {
  const auto found = std::ranges::lower_bound(kOperations, bits, {}, &SassOperation::bits);
  return found != kOperations.end() && found->bits == bits ? &*found : nullptr;
}

struct SassWord {
  std::uint64_t low = 0, high = 0;

  [[nodiscard]] std::uint16_t bits() const { return low & 0x1ff; }
  [[nodiscard]] bool predicated() const { return ((low >> 12) & 0xf) != 7; }
  /// Whether the first factor is the register that is always 0: a compiler's way to load a constant
  /// by half-precision arithmetic.
  [[nodiscard]] bool multiplies_zero() const { return ((low >> 24) & 0xff) == 0xff; }
  /// Bytes of one thread's access: sizes 0 to 3 are parts of a word.
  [[nodiscard]] int access_bytes() const {
    constexpr std::array<int, 8> kBytes = {1, 1, 2, 2, 4, 8, 16, 0};
    return kBytes.at((high >> 9) & 7);
  }
  /// Bytes from the next instruction to a branch's target: until sm_89 in bits 32 and up, since
  /// sm_90 in words of four bytes with the lowest eight bits elsewhere. An endless loop of one
  /// branch, which ends every kernel, tells which.
  [[nodiscard]] std::int64_t offset(bool split) const {
    constexpr std::uint64_t kSign = std::uint64_t{1} << 47;
    std::uint64_t raw = split ? ((low >> 34) << 8) | ((low >> 16) & 0xff) | ((high & 0xffff) << 38)
                              : (low >> 32) | ((high & 0xffff) << 32);
    if (split) raw &= (kSign << 1) - 1;
    const auto value =
        static_cast<std::int64_t>(raw & (kSign - 1)) - static_cast<std::int64_t>(raw & kSign);
    return split ? value * 4 : value;
  }
};

std::vector<SassWord> words_of(std::string_view code) {
  std::vector<SassWord> words(code.size() / kSassBytes);
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::memcpy(&words[i].low, code.data() + i * kSassBytes, 8);
    std::memcpy(&words[i].high, code.data() + i * kSassBytes + 8, 8);
  }
  return words;
}

std::string name_of(const SassWord& word) {
  const SassOperation* const known = operation_of(word.bits());
  if (known == nullptr) return fmt::format("op_{:03x}", word.bits());
  if (known->width == SassWidth::none || word.access_bytes() == 4) return std::string(known->name);
  return fmt::format("{}.{}", known->name, word.access_bytes() * 8);
}

}  // namespace

Result<std::vector<Instruction>> read_sass(std::string_view code, std::string_view what) {
  constexpr std::uint16_t kBranch = 0x147, kNop = 0x118;
  if (code.size() % kSassBytes != 0)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: its code is no whole number of instructions", what));
  std::vector<SassWord> words = words_of(code);
  while (!words.empty() && words.back().bits() == kNop) words.pop_back();
  const bool ends = !words.empty() && words.back().bits() == kBranch;
  const bool split = ends && words.back().offset(true) == -kSassBytes;
  if (!ends || (!split && words.back().offset(false) != -kSassBytes))
    return fail(ErrorCode::bad_input,
                fmt::format("{}: its code does not end as that of sm_70 to sm_120 does", what));
  words.pop_back();
  std::vector<Instruction> instructions;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const SassWord& word = words[i];
    Instruction& one = instructions.emplace_back();
    one.address = i * kSassBytes;
    one.bytes = kSassBytes;
    one.mnemonic = name_of(word);
    if (word.predicated()) one.operands = kSassPredicated;
    if (one.mnemonic.starts_with("HFMA2") && word.multiplies_zero()) one.operands += kSassConstant;
    if (word.bits() == kBranch)
      one.branch_target = one.address + kSassBytes + static_cast<std::uint64_t>(word.offset(split));
  }
  return instructions;
}

InstructionInfo classify_sass(const Instruction& instruction) {
  const std::string_view mnemonic = instruction.mnemonic;
  InstructionInfo info{.instruction_class = valu, .precision = "b32", .known = false};
  for (const SassOperation& known : kOperations) {
    const bool wide = known.width == SassWidth::memory && mnemonic.starts_with(known.name) &&
                      mnemonic.substr(known.name.size()).starts_with('.');
    if (known.name != mnemonic && !wide) continue;
    info.instruction_class = known.unit;
    info.precision = known.precision;
    const bool constant = instruction.operands.ends_with(kSassConstant);
    info.flops_per_lane = constant ? 0 : known.flops_per_lane;
    info.packed = known.precision == "f16" && known.unit == valu;
    info.transcendental = known.bits == 0x108;
    info.known = true;
    if (known.width == SassWidth::memory) {
      info.memory_bytes_per_lane = 4;
      for (const int bytes : {1, 2, 8, 16})
        if (mnemonic == fmt::format("{}.{}", known.name, bytes * 8))
          info.memory_bytes_per_lane = bytes;
    }
    if (known.bits == 0x18e) info.memory_bytes_per_lane = 4;
    return info;
  }
  return info;
}

}  // namespace perflab::code
