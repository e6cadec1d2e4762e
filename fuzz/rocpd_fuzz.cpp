// Fuzzes the rocpd reader with raw bytes: damaged, truncated and foreign files.
#include "check_rocpd.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  perflab::fuzz::check_rocpd({data, size});
  return 0;
}
