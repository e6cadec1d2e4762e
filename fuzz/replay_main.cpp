// Stands in for libFuzzer's main in ordinary builds: runs the target once on every file named on
// the command line.
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "base/system/files.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto text = perflab::read_file(argv[i]);
    if (!text) {
      std::fprintf(stderr, "%s\n", text.error().message.c_str());
      return 1;
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text->data()), text->size());
  }
  std::printf("%d inputs\n", argc - 1);
  return 0;
}
