#include "cli/written_run.h"

#include <gtest/gtest.h>

#include "support/rocpd_writer.h"

namespace perflab::cli {

void write_steps(const std::filesystem::path& path) {
  test::RocpdWriter writer(path);
  writer.agent(test::host_agent());
  const test::Id gpu = writer.agent(test::mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object();
  const test::Id gemm = writer.kernel({.name = "_Z4gemmPf", .display_name = "gemm(float*)"});
  const test::Id softmax =
      writer.kernel({.name = "_Z7softmaxPf", .display_name = "softmax(float*)"});
  for (int i = 0; i < kSteps; ++i) {
    const auto at = [&](std::int64_t us) { return kT0 + (100 * i + us) * kMicrosecond; };
    writer.region(test::roctx_range("step " + std::to_string(i), at(0), at(95)));
    writer.launch(test::kernel_call(at(1), at(3), kStream),
                  {.kernel = gemm, .start = at(10), .end = at(60), .agent = gpu});
    writer.launch(test::kernel_call(at(4), at(6), kStream),
                  {.kernel = softmax, .start = at(61), .end = at(81), .agent = gpu});
    writer.region(test::stream_synchronize(at(7), at(85), kStream));
  }
  const auto done = writer.close();
  ASSERT_TRUE(done.has_value()) << done.error().message;
}

}  // namespace perflab::cli
