// The program that tests of `optimize` improve: its time is what its source says, so that no clock
// decides them.
#pragma once

namespace perflab::test {

constexpr const char* kToldTimeSource = R"(#include <cstdio>
void k(int* out) { for (int i = 0; i < 8; ++i) out[i] = i * 3; }
int main() {
  int out[8] = {};
  k(out);
  for (int value : out) std::printf("%d ", value);
  std::printf("\ntime: 100\n");
}
)";

}  // namespace perflab::test
