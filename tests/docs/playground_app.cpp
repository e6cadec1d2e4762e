// ./app of the documents' playground: launches a softmax over rows on whatever runtime is found
// (the stand-in of tests/hsa_sim), as the host half of examples/optimize/softmax_rows.hip does with
// HIP.
//     playground_app CODE_OBJECT KERNEL [LAUNCHES]
// Exit codes: 0 every row sums up to 1, 1 it does not, 3 a call failed.
#include <cmath>
#include <cstdint>
#include <string>

#include "hsa_sim/apps/gpu.h"
#include "hsa_sim/sim_code_objects.h"

namespace perflab::test {
namespace {

constexpr std::int32_t kRows = 32, kColumns = 259;

struct SoftmaxArguments {
  const float* input;
  float* output;
  std::int32_t rows, columns;
};

/// Numbers from 20 to 100, the same in every run, others for each launch.
void fill(float* numbers, std::size_t count, int launch) {
  std::uint32_t state = 2654435762U + static_cast<std::uint32_t>(launch);
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    numbers[i] = 20.0F + 80.0F * static_cast<float>(state >> 8U) / 16777216.0F;
  }
}

bool rows_sum_to_one(const float* numbers) {
  for (std::int32_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (std::int32_t i = 0; i < kColumns; ++i)
      sum += static_cast<double>(numbers[row * kColumns + i]);
    if (!(std::abs(sum - 1) < 1e-3)) return false;
  }
  return true;
}

int run(const std::string& object, const std::string& name, int launches) {
  Gpu gpu;
  gpu.load({.door = "file", .file = object});
  constexpr std::size_t kCount = std::size_t{kRows} * kColumns;
  auto* const input = gpu.device<float>(kCount);
  auto* const output = gpu.device<float>(kCount);
  const Work work{.kernel = gpu.kernel(name),
                  .arguments = bytes_of(SoftmaxArguments{input, output, kRows, kColumns}),
                  .n = kRows,
                  .workgroup = 64};
  hsa::Queue* const queue = gpu.queue(64);
  for (int i = 0; i < launches; ++i) {
    fill(input, kCount, i);
    const hsa::Signal done = gpu.signal(1);
    gpu.submit(queue, {gpu.packet(work, done)});
    gpu.wait(done);
  }
  const bool right = rows_sum_to_one(output);
  std::printf("%s %s\n", right ? "PASS" : "FAIL", name.c_str());
  gpu.shut_down();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace perflab::test

int main(int argc, char** argv) {
  if (argc < 3) perflab::test::fail("usage: playground_app CODE_OBJECT KERNEL [LAUNCHES]");
  return perflab::test::run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
}
