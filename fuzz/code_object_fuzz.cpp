// Fuzzes the reader of code objects with raw bytes: ELF, metadata note, symbols, descriptors.
#include "support/code_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perflab::test::check_code_object({reinterpret_cast<const char*>(data), size});
  return 0;
}
