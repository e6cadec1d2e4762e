// Any bytes as the code of a CUDA kernel: refused, or instructions of which each has a class.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/error.h"
#include "code/cubin/sass.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace code = perflab::code;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto instructions = code::read_sass(bytes, "fuzz");
  if (!instructions) return 0;
  for (const code::Instruction& one : *instructions) {
    const code::InstructionInfo info = code::classify_sass(one);
    PERFLAB_CHECK(info.known || one.mnemonic.starts_with("op_"));
    PERFLAB_CHECK(one.address % code::kSassBytes == 0);
  }
  return 0;
}
