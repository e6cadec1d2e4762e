// Launches the kernels of a library with twenty code objects: twenty LIBRARY.
#include <dlfcn.h>

#include "self_test.h"

using namespace self_test;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) stop(dlerror());
  float* values = on_device(std::vector<float>(64, 0.0F));
  for (int part = 0; part < 20; ++part) {
    const std::string name = "launch_part_" + std::to_string(part);
    auto* const launch = reinterpret_cast<int (*)(float*)>(dlsym(library, name.c_str()));
    EXPECT(launch != nullptr);
    EXPECT(launch(values) == 0);
  }
  finish();
  EXPECT(on_host(values, 64)[63] == 190.0F);
  std::printf("ok\n");
  return 0;
}
