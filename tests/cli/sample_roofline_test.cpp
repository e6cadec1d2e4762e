// The bundled sample with its counter passes, as `make demo` shows it: the roofline says what the
// description (examples/decode_step.json) says, and nothing about it is doubtful.
#include <gmock/gmock.h>

#include <array>
#include <map>

#include "cli/program.h"
#include "report/kit/text_table.h"
#include "support/trace_description.h"

namespace perflab::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Peaks of an MI300X, in FLOP/ns and bytes/ns: 304 CUs and 128 L2 channels at 2.1 GHz.
constexpr double kMatrixPeak = 2048 * 304 * 2.1, kVectorPeak = 128 * 304 * 2.1;
constexpr double kMemoryPeak = 5300, kL2Peak = 128 * 128 * 2.1, kLdsPeak = 128 * 304 * 2.1;

std::vector<std::string> with_passes(std::vector<std::string> arguments) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(PERFLAB_SAMPLE_PASSES))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  std::ranges::sort(files);
  arguments.insert(arguments.end(), files.begin(), files.end());
  return arguments;
}

/// What the description says of each kernel, by the name that documents show.
std::map<std::string, test::DescribedKernel> described_kernels() {
  const auto description = test::read_description(test::sample_description(), "sample");
  std::map<std::string, test::DescribedKernel> kernels;
  if (!description) {
    ADD_FAILURE() << describe(description.error());
    return kernels;
  }
  for (const auto& [name, kernel] : description->kernels)
    kernels[kernel.display.empty() ? kernel.symbol : kernel.display] = kernel;
  return kernels;
}

/// The level ("hbm", "l2", "lds") or "compute" that keeps this work busy the longest.
std::string slowest(const test::DescribedCounts& work) {
  const auto vector = static_cast<double>(work.flop() - work.matrix_bf16) * 64 / work.lanes;
  const std::array<std::pair<const char*, double>, 4> times = {
      {{"compute", static_cast<double>(work.matrix_bf16) / kMatrixPeak + vector / kVectorPeak},
       {"hbm", static_cast<double>(work.read + work.write) / kMemoryPeak},
       {"l2", static_cast<double>(work.l2_read + work.l2_write) / kL2Peak},
       {"lds", static_cast<double>(work.lds) / kLdsPeak}}};
  return std::ranges::max_element(times, {}, [](const auto& entry) { return entry.second; })->first;
}

class SampleRoofline : public ::testing::Test {
 protected:
  /// roofline.json of the sample; once for all tests.
  const Json& roofline() {
    static const Json once = [&] {
      const Outcome outcome = rocm_perf(
          folder.path(),
          with_passes({"analyze", PERFLAB_SAMPLE, "--out", "docs", "--json", "--counters"}));
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      return document("roofline", test::text_of(folder / "docs/roofline.json"));
    }();
    return once;
  }
  test::TempFolder folder;
};

TEST_F(SampleRoofline, IsCompleteAndNothingInItIsDoubtful) {
  EXPECT_TRUE(roofline()["warnings"].empty()) << roofline()["warnings"];
  EXPECT_THAT(roofline()["synthetic"].dump(), HasSubstr("not measured on a GPU"));
  ASSERT_EQ(roofline()["kernels"].size(), 14U);
  for (const Json& kernel : roofline()["kernels"]) {
    const std::string name = kernel["name"];
    EXPECT_FALSE(kernel["binding"].is_null()) << name;
    EXPECT_TRUE(kernel["explanations"].empty()) << name << kernel["explanations"];
    EXPECT_EQ(kernel["time"]["from"], "trace") << name;
    for (const Json& counter : kernel["counters"])
      EXPECT_TRUE(counter["state"] == "measured" || counter["state"] == "zero")
          << name << counter.dump();
    for (const Json& group : kernel["features"])
      for (const Json& figure : group["figures"]) {
        // The one reason to lack a figure: a kernel without LDS has no conflicts per access.
        if (figure["value"].is_null()) {
          EXPECT_THAT(figure["reason"].dump(), HasSubstr("what it divides by is 0")) << name;
        } else if (figure["unit"] == "%") {
          EXPECT_LE(figure["value"].get<double>(), 100) << name << figure.dump();
        }
      }
  }
}

TEST_F(SampleRoofline, HasTheWorkAndTheBytesOfTheDescription) {
  const auto described = described_kernels();
  for (const Json& kernel : roofline()["kernels"]) {
    const std::string name = kernel["name"];
    ASSERT_TRUE(described.contains(name)) << name;
    const test::DescribedCounts& work = described.at(name).counts.value();
    const auto total = [&](std::int64_t amount) {
      return static_cast<double>(amount) * kernel["dispatches"].get<double>();
    };
    const auto bytes = [&](std::size_t level, const char* direction) {
      return kernel["levels"][level][direction]["value"].get<double>();
    };
    // Instructions are whole ones: a kernel with masked lanes is off by less than one of each kind.
    const double flops = total(work.flop());
    EXPECT_NEAR(kernel["flops"]["lane_corrected"].get<double>(), flops, 1e-6 * flops) << name;
    EXPECT_EQ(bytes(0, "read_bytes"), total(work.read)) << name;
    EXPECT_EQ(bytes(0, "write_bytes"), total(work.write)) << name;
    EXPECT_EQ(bytes(1, "read_bytes"), total(work.l2_read)) << name;
    EXPECT_EQ(bytes(1, "write_bytes"), total(work.l2_write)) << name;
    EXPECT_EQ(bytes(2, "read_bytes"), total(work.lds)) << name;
  }
}

TEST_F(SampleRoofline, IsBoundByWhatTakesTheLongest) {
  const auto described = described_kernels();
  int near_the_roof = 0, far_below = 0;
  for (const Json& kernel : roofline()["kernels"]) {
    const std::string name = kernel["name"];
    ASSERT_TRUE(described.contains(name)) << name;
    EXPECT_EQ(kernel["binding"]["roof"], slowest(*described.at(name).counts)) << name;
    const double share = kernel["binding"]["share"];
    EXPECT_LT(share, 1) << name;
    if (name.starts_with("Cijk")) {
      EXPECT_GT(share, 0.5) << name;
      ++near_the_roof;
    } else if (share < 0.2) {
      ++far_below;
    }
  }
  EXPECT_EQ(near_the_roof, 5);  // the GEMMs
  EXPECT_EQ(far_below, 8);      // all others but attention
}

TEST_F(SampleRoofline, IsDrawnInEightyColumns) {
  ProcessOptions options;
  options.set_environment = {{"COLUMNS", "80"}};
  const Outcome outcome = rocm_perf(
      folder.path(), with_passes({"analyze", PERFLAB_SAMPLE, "--details", "--counters"}), options);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Roofline of AMD Instinct MI300X gfx942"));
  EXPECT_THAT(outcome.out, HasSubstr("matrix bf16 1.31 PFLOP/s"));
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("suspicious")));
  EXPECT_THAT(outcome.out, HasSubstr("24.75 ms of kernel time"));  // as without passes
}

}  // namespace
}  // namespace perflab::cli
