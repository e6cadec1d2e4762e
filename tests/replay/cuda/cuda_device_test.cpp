// The CUDA device on the stand-in driver (tests/cuda_sim), in this process: addresses, contents,
// launches, times. What ends a device or depends on the environment runs in processes of its own:
// tests/cli/replay_cuda_test.cpp.
#include "replay/cuda/cuda_device.h"

#include <gmock/gmock.h>

#include <sys/mman.h>

#include "base/system/files.h"
#include "base/temp_folder.h"
#include "hsa_sim/sim_code_objects.h"
#include "replay/cuda/cuda_capture.h"
#include "replay/failures.h"
#include "replay/inputs/perturb.h"
#include "replay/session/full_vm.h"
#include "replay/session/open_device.h"
#include "replay/session/reserve_check.h"
#include "replay/session/session.h"
#include "replay/verify/verify.h"

namespace perflab::replay {
namespace {

using test::add_cuda;
using test::bytes_of_values;
using test::counting;
using test::cuda_inplace;
using test::cuda_launch;
using test::kCudaBase;
using test::SampleCapture;
using test::SampleRegion;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// The capture's description with its regions, as it is read back.
capture::Description described(const SampleCapture& sample) {
  capture::Description description = sample.description;
  for (const SampleRegion& one : sample.regions) description.regions.push_back(one.region);
  return description;
}

/// Opens it on the stand-in and hands the session to `use`.
template <class Use>
void with_cuda(const SampleCapture& sample, Use use) {
  const test::TempFolder folder;
  const auto capture = sample.write(folder / "capture");
  ASSERT_TRUE(capture.has_value());
  const auto device = open_device(capture->description(), {.may_restart = false});
  ASSERT_TRUE(device.has_value()) << describe(device.error());
  EXPECT_EQ((*device)->facts().agent_name, "sm_90");
  EXPECT_EQ((*device)->facts().runtime_version, "13.0");
  EXPECT_EQ((*device)->facts().pci_address, "0000:17:00.0");
  auto session = Session::open(*capture, **device, {});
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  use(*session);
}

/// The message with which opening ends.
std::string refusal(const SampleCapture& sample) {
  const test::TempFolder folder;
  const auto capture = sample.write(folder / "capture");
  const auto device = open_device(capture->description(), {.may_restart = false});
  if (!device) return device.error().message;
  const auto session = Session::open(*capture, **device, {});
  return session ? "" : session.error().message;
}

std::vector<float> cuda_floats(Session& session, std::size_t region) {
  std::vector<float> values(session.capture().description().regions[region].bytes / 4);
  const auto done = session.read(region, 0, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
  return values;
}

TEST(CudaDevice, ReplaysFromThePreImageAndWithoutRecopyAddsUp) {
  with_cuda(cuda_inplace(), [](Session& session) {
    const auto fresh = run_full_vm(session, {.iterations = 4});
    ASSERT_TRUE(fresh.has_value()) << describe(fresh.error());
    EXPECT_EQ(cuda_floats(session, 0)[4999], 5000);
    EXPECT_TRUE(fresh->restored_on_device);
    EXPECT_EQ(fresh->restored_bytes_per_iteration, 20000U);
    EXPECT_EQ(fresh->learned_pages, 0U);
    // The stand-in's kernels take 10 us, and the driver's record says so.
    for (const Nanos time : fresh->times) {
      EXPECT_GE(time.value, 10'000);
      EXPECT_LT(time.value, 1'000'000'000);
    }
    ASSERT_TRUE(session.restore_all().has_value());
    EXPECT_EQ(cuda_floats(session, 0)[4999], 4999);
    ASSERT_TRUE(run_full_vm(session, {.iterations = 7, .no_recopy = true}).has_value());
    EXPECT_EQ(cuda_floats(session, 0)[4999], 5006);
    EXPECT_THAT(session.notes(), testing::IsEmpty());
  });
}

TEST(CudaDevice, ManyRunsAreCopiedByAKernel) {
  // One page in two is written, with an odd end: more runs than the driver is asked for one by one.
  constexpr std::uint32_t kCount = 200 * 1024 + 5;
  SampleCapture sample = cuda_launch("inplace", 1);
  std::vector<float> before = counting(kCount), after = before;
  for (std::uint32_t i = 0; i < kCount; ++i)
    if (i / 1024 % 2 == 0) after[i] += 1;
  add_cuda(sample, kCudaBase, bytes_of_values(before), bytes_of_values(after));
  sample.push<std::uint64_t>(kCudaBase);
  sample.push<std::uint32_t>(0);
  with_cuda(sample, [&](Session& session) {
    const std::vector<std::byte> junk(std::size_t{kCount} * 4, std::byte{9});
    ASSERT_TRUE(session.write(0, 0, junk).has_value());
    const auto restored = session.restore_writes();
    ASSERT_TRUE(restored.has_value()) << describe(restored.error());
    EXPECT_TRUE(restored->on_device);
    const std::vector<float> now = cuda_floats(session, 0);
    for (std::uint32_t i = 0; i < kCount; ++i)
      if (i / 1024 % 2 == 0) {
        ASSERT_EQ(now[i], before[i]) << i;
      } else {
        ASSERT_NE(now[i], before[i]) << i;
      }
  });
}

/// Neighbours that share 2 MiB, 32 MiB, or neither; host memory; memory far away.
SampleCapture cuda_neighbours() {
  SampleCapture sample = cuda_inplace(1024);
  const auto filled = [](std::size_t bytes, int value) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
  };
  add_cuda(sample, kCudaBase + 0x1000, filled(0x1001, 1), filled(0x1001, 1));
  add_cuda(sample, kCudaBase + 3 * kMiB, filled(5 * kMiB + 7, 2), filled(5 * kMiB + 7, 2));
  add_cuda(sample, kCudaBase + 40 * kMiB, filled(100, 3), filled(100, 3));
  SampleRegion& pinned =
      add_cuda(sample, kCudaBase + 200 * kMiB + 0x3000, filled(0x2003, 4), filled(0x2003, 4));
  pinned.region.origin = capture::Origin::pinned;
  pinned.region.on_gpu = false;
  return sample;
}

TEST(CudaDevice, PlacesNeighboursHostMemoryAndOddSizes) {
  const SampleCapture sample = cuda_neighbours();
  for (int i = 0; i < 2; ++i)
    with_cuda(sample, [&](Session& session) {
      ASSERT_TRUE(session.run().has_value());
      for (std::size_t region = 1; region < sample.regions.size(); ++region) {
        std::vector<std::byte> now(sample.regions[region].before.size());
        ASSERT_TRUE(session.read(region, 0, now).has_value());
        EXPECT_EQ(now, sample.regions[region].before) << region;
        EXPECT_EQ(session.address(region), sample.regions[region].region.base);
      }
      EXPECT_EQ(cuda_floats(session, 0)[1023], 1024);
    });
  const auto report = check_reservations(described(sample), {.may_restart = false});
  ASSERT_TRUE(report.has_value()) << describe(report.error());
  EXPECT_EQ(report->through, "cuda");
  EXPECT_EQ(report->granule, 32 * kMiB);
  EXPECT_EQ(report->exit_code(), 0);
  EXPECT_EQ(report->exact, report->ranges.size());
}

TEST(CudaDevice, HostMemoryBetweenMemoryOfTheGpuBecomesSuch) {
  SampleCapture sample = cuda_inplace(1024);
  const std::vector<std::byte> bytes(5000, std::byte{7});
  SampleRegion& pinned = add_cuda(sample, kCudaBase + 4 * kMiB + 0x5000, bytes, bytes);
  pinned.region.origin = capture::Origin::pinned;
  pinned.region.on_gpu = false;
  with_cuda(sample, [&](Session& session) {
    EXPECT_THAT(session.notes(),
                testing::Contains(testing::HasSubstr("becomes memory of the GPU")));
    std::vector<std::byte> now(bytes.size());
    ASSERT_TRUE(session.read(1, 0, now).has_value());
    EXPECT_EQ(now, bytes);
  });
}

TEST(CudaDevice, SomethingInTheWayIsNamed) {
  const SampleCapture sample = cuda_inplace(1024);
  const std::uint64_t place = kCudaBase / (32 * kMiB) * 32 * kMiB + 4096;
  void* const wish = reinterpret_cast<void*>(place);
  void* const there = ::mmap(wish, 4096, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  ASSERT_EQ(there, wish);
  EXPECT_THAT(refusal(sample), testing::StartsWith("occupied: "));
  const auto report = check_reservations(described(sample), {.may_restart = false});
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->ranges[0].outcome, Reservation::relocated);
  EXPECT_THAT(report->ranges[0].holder, testing::HasSubstr("memory without a name"));
  EXPECT_EQ(report->exit_code(), 2);
  ::munmap(there, 4096);
  EXPECT_EQ(refusal(sample), "");
}

TEST(CudaDevice, SharedMemoryAndAttributesAreThoseOfTheLaunch) {
  SampleCapture sample = cuda_launch("reverse", 256);
  std::vector<float> reversed = counting(20'000);
  std::ranges::reverse(reversed);
  sample.description.dispatch.grid = {1024, 1, 1};
  sample.description.dispatch.workgroup = {1024, 1, 1};
  sample.description.dispatch.group_segment_bytes = 100'000;
  sample.description.dispatch.cuda->max_dynamic_shared_bytes = 100'000;
  sample.description.dispatch.cuda->shared_carveout = 80;
  sample.description.dispatch.cuda->cooperative = true;
  sample.description.dispatch.cuda->cluster = {1, 1, 1};
  std::vector<float> after = counting(1024);
  std::ranges::reverse(after);
  add_cuda(sample, kCudaBase, bytes_of_values(counting(1024)), bytes_of_values(after));
  sample.push<std::uint64_t>(kCudaBase);
  sample.push<std::uint32_t>(1024);
  with_cuda(sample, [&](Session& session) {
    ASSERT_TRUE(session.run().has_value());
    EXPECT_EQ(cuda_floats(session, 0), after);
  });
}

/// scale_through multiplies by what its argument points to: a variable of its module, where it was
/// in the captured process.
SampleCapture pointing_capture(float factor, bool written) {
  constexpr std::uint64_t kVariable = kCudaBase + 66 * kMiB;
  SampleCapture sample = cuda_launch(
      written ? "accumulate_through" : "scale_through", 256,
      {.kernels = {{.name = written ? "accumulate_through" : "scale_through"}},
       .variables = {{.name = written ? "total" : "factor", .bytes = test::bytes_of(1.0F)}}});
  add_cuda(sample, kCudaBase, bytes_of_values(counting(256)), bytes_of_values([&] {
             std::vector<float> after = counting(256);
             for (float& one : after) one *= factor;
             return after;
           }()));
  const std::vector<float> value{factor};
  SampleRegion& variable =
      sample.add_variable(written ? "total" : "factor", bytes_of_values(value),
                          bytes_of_values(written ? std::vector<float>{factor + 1} : value));
  variable.region.base = kVariable;
  sample.push<std::uint64_t>(kCudaBase);
  sample.push<std::uint32_t>(256);
  sample.push<std::uint64_t>(kVariable);
  return sample;
}

TEST(CudaDevice, PointersToVariablesFindACopyWhereTheyWere) {
  with_cuda(pointing_capture(3, false), [](Session& session) {
    ASSERT_TRUE(session.run().has_value());
    EXPECT_EQ(cuda_floats(session, 0)[100], 300);
    EXPECT_THAT(session.notes(), testing::Contains(testing::HasSubstr("puts a copy")));
    // The variable itself lies elsewhere and has the captured contents too.
    EXPECT_NE(session.address(1), session.capture().description().regions[1].base);
    EXPECT_EQ(cuda_floats(session, 1)[0], 3);
  });
}

TEST(CudaDevice, AWrittenVariableThatIsPointedToIsRefused) {
  EXPECT_THAT(refusal(pointing_capture(3, true)),
              testing::AllOf(testing::StartsWith("not_replayable: variable_written_both_ways"),
                             testing::HasSubstr("total")));
}

TEST(CudaDevice, VariablesKeepTheirContentsWhereverTheyLie) {
  SampleCapture sample = cuda_launch("accumulate", 256);
  add_cuda(sample, kCudaBase, bytes_of_values(std::vector<float>(256, 2)),
           bytes_of_values(std::vector<float>(256, 2)));
  sample.add_variable("total", bytes_of_values(std::vector<float>{5}),
                      bytes_of_values(std::vector<float>{517}));
  sample.push<std::uint64_t>(kCudaBase);
  sample.push<std::uint32_t>(256);
  with_cuda(sample, [](Session& session) {
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(session.restore_writes().has_value());
      ASSERT_TRUE(session.run().has_value());
      EXPECT_EQ(cuda_floats(session, 1)[0], 517);
    }
  });
}

TEST(CudaDevice, AnotherArchitectureOrSignatureIsRefused) {
  SampleCapture other = cuda_inplace(1024);
  other.description.machine.isa = other.description.machine.agent_name = "sm_80";
  EXPECT_THAT(refusal(other), testing::StartsWith("isa_mismatch: "));
  SampleCapture newer = cuda_inplace(1024);
  newer.code_object = test::sim_cubin({.kernels = {{.name = "inplace"}}, .architecture = 100});
  EXPECT_THAT(refusal(newer), testing::HasSubstr("isa"));
  SampleCapture gone = cuda_inplace(1024);
  gone.description.dispatch.kernel = "vanished";
  EXPECT_THAT(refusal(gone), testing::HasSubstr("kernel_not_found"));
  SampleCapture ragged = cuda_inplace(1024);
  ragged.description.dispatch.grid[0] += 1;
  EXPECT_THAT(refusal(ragged), testing::StartsWith("not_replayable: "));
}

TEST(CudaDevice, TheSecondGpuIsNotThere) {
  SampleCapture sample = cuda_inplace(1024);
  sample.description.machine.gpu_index = 1;
  EXPECT_THAT(refusal(sample), testing::StartsWith("no_gpu: "));
}

class CudaVerify : public testing::Test {
 protected:
  /// Verifies another body under the captured kernel's name against the sample.
  Certificate verified(const SampleCapture& sample, const std::string& body,
                       VerifyOptions options = {}) {
    const test::TempFolder folder;
    Certificate certificate;
    const auto capture = sample.write(folder / "capture");
    const auto device = open_device(capture->description(), {.may_restart = false});
    EXPECT_TRUE(device.has_value()) << (device ? "" : device.error().message);
    if (!device) return certificate;
    auto session = Session::open(*capture, **device, {});
    EXPECT_TRUE(session.has_value()) << (session ? "" : session.error().message);
    if (!session) return certificate;
    if (!body.empty()) {
      const std::string& name = sample.description.dispatch.kernel;
      test::CubinKernel kernel{.name = name, .body = body};
      kernel.local_bytes = sample.description.dispatch.private_segment_bytes;
      for (const capture::Parameter& one : sample.description.dispatch.cuda->parameters)
        kernel.parameters.push_back({.offset = one.offset, .bytes = one.size});
      const std::string cubin = test::sim_cubin({kernel});
      options.code_object = folder / "other.cubin";
      EXPECT_TRUE(write_file_atomically(options.code_object, cubin));
    }
    auto made = verify(*session, options);
    EXPECT_TRUE(made.has_value()) << (made ? "" : describe(made.error()));
    return made ? std::move(*made) : certificate;
  }
};

/// c[i] = a[i] + b[i].
SampleCapture cuda_vadd() {
  constexpr std::uint32_t kCount = 2048;
  SampleCapture sample = cuda_launch("vadd", kCount);
  std::vector<float> sum = counting(kCount);
  for (float& one : sum) one += one + 1;
  const std::uint64_t a = kCudaBase, b = a + 16 * kMiB, c = b + 16 * kMiB;
  add_cuda(sample, a, bytes_of_values(counting(kCount)), bytes_of_values(counting(kCount)));
  add_cuda(sample, b, bytes_of_values(counting(kCount, 1)), bytes_of_values(counting(kCount, 1)));
  std::vector<float> before(kCount + 1, -5), after(kCount + 1, -5);
  std::ranges::copy(sum, after.begin());
  add_cuda(sample, c, bytes_of_values(before), bytes_of_values(after));
  for (const std::uint64_t one : {a, b, c}) sample.push<std::uint64_t>(one);
  sample.push<std::uint32_t>(kCount);
  sample.description.dispatch.demangled = "vadd(float const*, float const*, float*, unsigned int)";
  return sample;
}

TEST_F(CudaVerify, TheOriginalIsBitwiseEqual) {
  EXPECT_EQ(verified(cuda_vadd(), "").verdict, ProofVerdict::bitwise);
  EXPECT_EQ(verified(cuda_vadd(), "vadd").verdict, ProofVerdict::bitwise);
  EXPECT_EQ(verified(cuda_inplace(), "inplace").verdict, ProofVerdict::bitwise);
}

TEST_F(CudaVerify, WrongEmptyAndRacyCandidatesAreRefused) {
  for (const char* body : {"vadd_skips", "vadd_oob", "empty"})
    EXPECT_EQ(verified(cuda_vadd(), body).verdict, ProofVerdict::differs) << body;
  for (const char* body : {"inplace_skips", "empty", "atomic_order"})
    EXPECT_EQ(verified(cuda_inplace(), body).verdict, ProofVerdict::differs) << body;
}

TEST_F(CudaVerify, CodeThatFitsTheCapturedInputAloneIsFoundOnOthers) {
  EXPECT_EQ(verified(cuda_vadd(), "vadd_overfitted").verdict, ProofVerdict::bitwise);
  const test::TempFolder folder;
  const SampleCapture sample = cuda_vadd();
  const auto capture = sample.write(folder / "capture");
  const auto device = open_device(capture->description(), {.may_restart = false});
  ASSERT_TRUE(device.has_value()) << describe(device.error());
  auto session = Session::open(*capture, **device, {});
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  for (const std::string body : {"vadd", "vadd_overfitted"}) {
    const std::filesystem::path file = folder / (body + ".cubin");
    ASSERT_TRUE(write_file_atomically(file, test::sim_cubin({{.name = "vadd", .body = body}})));
    const auto result = verify_perturbed(*session, {.code_object = file, .compare = {}});
    ASSERT_TRUE(result.has_value()) << describe(result.error());
    ASSERT_FALSE(result->inputs.empty()) << result->none_because;
    EXPECT_GT(result->inputs.back().changed_output_bytes, 0U);
    EXPECT_EQ(result->inputs.back().verdict,
              body == "vadd" ? ProofVerdict::bitwise : ProofVerdict::differs);
  }
}

TEST_F(CudaVerify, WhatTheCapturedLaunchLeftAsItWasIsProvenOnPoison) {
  SampleCapture again = cuda_vadd();
  again.regions[2].before = again.regions[2].after;
  EXPECT_EQ(verified(again, "").verdict, ProofVerdict::bitwise);
  EXPECT_EQ(verified(again, "empty").verdict, ProofVerdict::differs);
}

/// A capture of reverse (shared memory) or spill (local memory) in blocks of 256.
SampleCapture cuda_through(const std::string& kernel) {
  constexpr std::uint32_t kCount = 2048;
  test::CubinKernel code{.name = kernel};
  code.local_bytes = kernel == "spill" ? 16 : 0;
  SampleCapture sample = cuda_launch(kernel, kCount, {.kernels = {code}});
  std::vector<float> after(kCount);
  for (std::uint32_t i = 0; i < kCount; ++i)
    after[i] = static_cast<float>(kernel == "spill" ? i + 1 : i / 256 * 256 + 255 - i % 256);
  add_cuda(sample, kCudaBase, bytes_of_values(counting(kCount)), bytes_of_values(after));
  sample.push<std::uint64_t>(kCudaBase);
  sample.push<std::uint32_t>(kCount);
  sample.description.dispatch.group_segment_bytes = kernel == "spill" ? 0 : 1024;
  sample.description.dispatch.private_segment_bytes = code.local_bytes;
  return sample;
}

// The candidates compute nothing: they hand over what the original left.
TEST_F(CudaVerify, WhatEarlierLaunchesLeftIsOfNoUse) {
  for (const std::string kernel : {"reverse", "spill"}) {
    const Certificate honest = verified(cuda_through(kernel), kernel);
    EXPECT_EQ(honest.verdict, ProofVerdict::bitwise) << kernel;
    ASSERT_TRUE(honest.left_memory.what.has_value()) << honest.left_memory.missing_because;
    EXPECT_EQ(honest.left_memory.what->lds_bytes, 232'448U);
    EXPECT_EQ(honest.left_memory.what->scratch_bytes, kernel == "spill" ? 16U : 0U);
    EXPECT_EQ(verified(cuda_through(kernel), kernel + "_left").verdict, ProofVerdict::differs);
    const test::ScopedVariable without("CUDA_SIM_NO_TRAP", "1");
    EXPECT_EQ(verified(cuda_through(kernel), kernel + "_left").verdict, ProofVerdict::bitwise);
  }
}

}  // namespace
}  // namespace perflab::replay
