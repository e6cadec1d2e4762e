#include "analyze/pc_sampling/samples_of.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "analyze/pc_sampling/sampling_config.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::analyze {

pc_sampling::PcSamples samples_of(const test::PcRun& run, std::uint64_t interval,
                                  test::PcForms forms) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) /
                          ("pc_samples_" + std::to_string(getpid()) + "_" +
                           testing::UnitTest::GetInstance()->current_test_info()->name());
  fs::remove_all(folder);
  test::write_pc_run(folder, "made", run, forms);
  auto samples = pc_sampling::read(std::span(&folder, 1));
  EXPECT_TRUE(samples) << describe(samples.error());
  fs::remove_all(folder);
  if (!samples) return {};
  if (interval > 0) samples->interval = interval_of(samples->method, interval);
  return std::move(*samples);
}

PcSampling analysis_of(const pc_sampling::PcSamples& samples) {
  return analyze_pc_samples(
      samples, samples.interval ? PcIntervalSource::given : PcIntervalSource::none, {}, {}, {});
}

PcSampling analysis_of(const test::PcRun& run, std::uint64_t interval) {
  return analysis_of(samples_of(run, interval));
}

const KernelPcSamples& kernel_of(const PcSampling& sampling, const std::string& name) {
  static const KernelPcSamples kNothing;
  const auto found = std::ranges::find(sampling.kernels, name, &KernelPcSamples::kernel);
  EXPECT_NE(found, sampling.kernels.end()) << name;
  return found == sampling.kernels.end() ? kNothing : *found;
}

const PcInstruction& instruction_of(const KernelPcSamples& kernel, const std::string& text) {
  static const PcInstruction kNothing;
  const auto found = std::ranges::find(kernel.instructions, text, &PcInstruction::text);
  EXPECT_NE(found, kernel.instructions.end()) << text;
  return found == kernel.instructions.end() ? kNothing : *found;
}

bool is_missing(const std::vector<Missing>& missing, const std::string& field) {
  return std::ranges::find(missing, field, &Missing::field) != missing.end();
}

}  // namespace perflab::analyze
