// Fuzzes what finds code objects in files, with raw bytes: bundles plain and compressed, host ELF
// files, packager images; and the reader of code objects on what is found.
#include "support/code_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perflab::test::check_container({reinterpret_cast<const char*>(data), size});
  return 0;
}
