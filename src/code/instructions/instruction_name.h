// The parts of an instruction name, shared by the tables of instruction_alu.cpp and
// instruction_memory.cpp. Facts: LLVM's AMDGPU instruction names (AMDGPUAsmGFX9 to GFX12).
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "code/instructions/instruction_info.h"

namespace perflab::code::detail {

/// An instruction name without its encoding suffix, cut at its underscores. Views into the name.
class NameParts {
 public:
  /// Names with more parts than fit keep the rest in the last one: no table knows such a name.
  explicit NameParts(std::string_view name);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::string_view operator[](std::size_t index) const { return parts_.at(index); }
  /// Removes the first part.
  void drop_front();
  /// Removes the part at the index.
  void drop(std::size_t index);
  [[nodiscard]] bool contains(std::string_view part) const;

 private:
  std::array<std::string_view, 12> parts_{};
  std::size_t size_ = 0;
};

/// Parts joined by underscores again, without an allocation; too long ones match no table.
class JoinedName {
 public:
  void append(std::string_view part);
  [[nodiscard]] std::string_view view() const { return {text_.data(), size_}; }

 private:
  std::array<char, 80> text_{};
  std::size_t size_ = 0;
};

/// What a part of a name says about the format of numbers: "f32", "i32" (for u32 too), "f8" (fp8
/// and bf8), ... Empty: the part is not a type.
std::string_view precision_of(std::string_view part);

/// Bytes of one value of a type or size part: "b64" 8, "dwordx3" 12, "ushort" 2, "f16" 2. Missing:
/// the part says no size.
std::optional<int> bytes_of(std::string_view part);

/// Scalar and vector ALU, matrix, branches, waits: names that begin with s_ or v_. Missing:
/// unknown.
std::optional<InstructionInfo> scalar_instruction(std::string_view name);
std::optional<InstructionInfo> vector_instruction(std::string_view name, std::string_view operands);

/// Scalar memory (of the s_ names), vector memory and LDS. Missing: unknown, or another kind.
std::optional<InstructionInfo> scalar_memory(NameParts parts);
std::optional<InstructionInfo> vector_memory(NameParts parts, std::string_view operands,
                                             std::string_view scratch_resource);
std::optional<InstructionInfo> lds_instruction(NameParts parts);

}  // namespace perflab::code::detail
