// Which of its arguments a kernel loads, as far as its instructions tell: hidden arguments are
// listed in the metadata of unoptimised code, and of code with calls, whether or not they are used.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "code/instructions/disassembly.h"
#include "code/object/code_object.h"

namespace perflab::code {

enum class ArgumentUse : std::uint8_t {
  unused,   ///< no instruction that the kernel can reach loads it
  loaded,   ///< one does
  unknown,  ///< the code does not tell
};

/// Where constants lead: bytes [first, end) behind some pointer.
struct OffsetRange {
  std::int64_t first = 0, end = 0;
};

/// What the code of a kernel and of all functions that it can call loads of its arguments.
class KernargUse {
 public:
  /// Follows the pointer to the kernel arguments (user SGPRs, as the descriptor says) and the one
  /// to the hidden ones that functions are given in s[8:9] (LLVM AMDGPUUsage, "Non-Kernel
  /// Functions") through additions of constants and copies: in SGPRs, VGPRs, AGPRs, lanes and the
  /// frame. Where a pointer is lost (stored elsewhere, kept over a call), any load at the
  /// argument's distance, and any constant of that size that is added to something, may be its
  /// load. `functions`: all of the object, in address order, as disassemble() gives them.
  static KernargUse of(const CodeObject& object, const KernelMetadata& kernel,
                       std::span<const Function> functions);

  /// Of bytes [offset, offset + bytes) of the kernel arguments.
  [[nodiscard]] ArgumentUse use_of(std::int64_t offset, std::int64_t bytes) const;
  /// Why use_of() says `unknown`, a clause; empty: it does not.
  [[nodiscard]] std::string why_unknown(std::int64_t offset, std::int64_t bytes) const;

  // What of() collects.
  std::vector<OffsetRange> loads;      ///< of the kernel arguments, from their beginning
  std::vector<OffsetRange> may_loads;  ///< behind pointers that are not followed
  std::set<std::int64_t> constants;    ///< operands that may be added to such pointers
  std::int64_t hidden_base = 0;        ///< offset of the first hidden argument
  std::string nothing_known_because;   ///< a clause; empty: the above holds
};

}  // namespace perflab::code
