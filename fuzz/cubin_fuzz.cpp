// Fuzzes the readers of cubins, fat binaries and host files with raw bytes. 'c' in front: the rest
// is a cubin; else a file.
#include "support/code_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('c'))
    perflab::test::check_cubin(bytes.substr(1));
  else
    perflab::test::check_cubin_file(std::string(bytes));
  return 0;
}
