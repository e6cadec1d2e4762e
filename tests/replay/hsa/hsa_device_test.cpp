// The HSA device on the stand-in runtime (tests/hsa_sim), in this process: what a replay leaves in
// memory. Faults and the command line: tests/cli/replay_test.cpp.
#include "replay/hsa/hsa_device.h"

#include <gmock/gmock.h>

#include "base/temp_folder.h"
#include "hsa/types.h"
#include "hsa_sim/sim_code_objects.h"
#include "replay/sample_capture.h"
#include "replay/session/full_vm.h"
#include "replay/session/reserve_check.h"

namespace perflab::replay {
namespace {

using test::kSampleBase;
using test::SampleCapture;
using test::SampleRegion;

/// A capture of one of the stand-in's kernels over the floats 0, 1, 2, ...
SampleCapture sim_capture(const std::string& kernel, std::uint32_t count) {
  SampleCapture sample = test::inplace_sample(count);
  sample.code_object = test::sim_code_object({{.name = "empty"}, {.name = kernel}});
  sample.kernarg.resize(test::sim_kernarg_bytes(kernel));
  sample.description.dispatch.kernel = sample.description.dispatch.demangled = kernel;
  sample.description.dispatch.kernarg_bytes = test::sim_kernarg_bytes(kernel);
  return sample;
}

/// Opens it on the stand-in and hands the session to `use`.
template <class Use>
void with_session(const SampleCapture& sample, Use use) {
  const test::TempFolder folder;
  const auto capture = sample.write(folder / "capture");
  ASSERT_TRUE(capture.has_value());
  const auto device = open_hsa_device(capture->description(), {.may_restart = false});
  ASSERT_TRUE(device.has_value()) << describe(device.error());
  EXPECT_EQ((*device)->facts().agent_name, "gfx942");
  auto session = Session::open(*capture, **device, {});
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  use(*session);
}

std::vector<float> floats_of(Session& session, std::size_t region) {
  std::vector<float> values(session.capture().description().regions[region].bytes / 4);
  const auto done = session.read(region, 0, std::as_writable_bytes(std::span(values)));
  EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
  return values;
}

TEST(HsaDevice, ReplaysFromThePreImageAndWithoutRecopyAddsUp) {
  with_session(sim_capture("inplace", 5000), [](Session& session) {
    const auto fresh = run_full_vm(session, {.iterations = 4});
    ASSERT_TRUE(fresh.has_value()) << describe(fresh.error());
    EXPECT_EQ(floats_of(session, 0)[4999], 5000);
    EXPECT_TRUE(fresh->restored_on_device);
    EXPECT_EQ(fresh->restored_bytes_per_iteration, 20000U);
    EXPECT_EQ(fresh->learned_pages, 0U);
    for (const Nanos time : fresh->times) EXPECT_GT(time.value, 0);
    ASSERT_TRUE(session.restore_all().has_value());
    EXPECT_EQ(floats_of(session, 0)[4999], 4999);
    ASSERT_TRUE(run_full_vm(session, {.iterations = 7, .no_recopy = true}).has_value());
    EXPECT_EQ(floats_of(session, 0)[4999], 5006);
    EXPECT_EQ(floats_of(session, 0)[0], 7);
  });
}

/// A batch of neighbours of every kind, in the order that a runtime could hand them out.
SampleCapture neighbours() {
  SampleCapture sample = sim_capture("inplace", 1024);
  const auto filled = [](std::size_t bytes, int value) {
    return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
  };
  sample.add(kSampleBase + 0x1000, filled(0x1001, 1), filled(0x1001, 1));
  SampleRegion& host = sample.add(kSampleBase + 0x3000, filled(0x2003, 2), filled(0x2003, 2));
  host.region.on_gpu = false;
  host.region.pool_flags = hsa::pool_fine_grained;
  sample.add(kSampleBase + 0x6000, filled(0x2000, 0), filled(0x2000, 0));
  return sample;
}

void expect_all_in_place(const SampleCapture& sample) {
  with_session(sample, [&](Session& session) {
    ASSERT_TRUE(session.run().has_value());
    for (std::size_t i = 1; i < sample.regions.size(); ++i) {
      std::vector<std::byte> now(sample.regions[i].before.size());
      ASSERT_TRUE(session.read(i, 0, now).has_value());
      EXPECT_EQ(now, sample.regions[i].before) << i;
    }
    EXPECT_EQ(floats_of(session, 0)[1023], 1024);
  });
}

TEST(HsaDevice, PlacesNeighboursHostMemoryAndOddSizes) {
  expect_all_in_place(neighbours());
  // Where the GPU has locked memory elsewhere, virtual memory is the way.
  for (const char* how : {"relocate", "0x1000"}) {
    const test::ScopedVariable fault("HSA_SIM_FAULT",
                                     std::string("hsa_amd_memory_lock_to_pool@*=") + how);
    expect_all_in_place(neighbours());
    capture::Description description = neighbours().description;
    for (const auto sample = neighbours(); const SampleRegion& one : sample.regions)
      description.regions.push_back(one.region);
    const auto report = check_reservations(description, {.may_restart = false});
    ASSERT_TRUE(report.has_value()) << describe(report.error());
    EXPECT_EQ(report->exact, 3U);
  }
}

/// The same captured in the runtime's reserved mode, which refuses host memory as virtual memory.
class HsaDeviceReserved : public testing::Test {
 protected:
  HsaDeviceReserved() {
    sample_.description.machine.address_mode = "reserved";
    description_ = sample_.description;
    for (const SampleRegion& one : sample_.regions) description_.regions.push_back(one.region);
  }
  /// The message with which placing the memory ends.
  std::string failure() const {
    const test::TempFolder folder;
    const auto capture = sample_.write(folder / "capture");
    const auto device = open_hsa_device(capture->description(), {.may_restart = false});
    EXPECT_TRUE(device.has_value());
    const auto session = Session::open(*capture, **device, {});
    EXPECT_FALSE(session.has_value());
    return session ? "" : session.error().message;
  }
  RangeCheck host_range() const {
    const auto report = check_reservations(description_, {.may_restart = false});
    EXPECT_TRUE(report.has_value());
    EXPECT_EQ(report->ranges.size(), 3U);
    EXPECT_EQ(report->ranges[0].outcome, Reservation::exact);
    EXPECT_EQ(report->ranges[2].outcome, Reservation::exact);
    return report->ranges.at(1);
  }

  const test::ScopedVariable mode_{"HSA_RESERVE_SVM", "1"};
  SampleCapture sample_ = neighbours();
  capture::Description description_;
};

TEST_F(HsaDeviceReserved, LocksHostMemoryAtItsAddress) {
  for (int i = 0; i < 2; ++i) expect_all_in_place(sample_);
  EXPECT_EQ(host_range().outcome, Reservation::exact);
  EXPECT_EQ(who_holds(own_mappings().value(), kSampleBase, kSampleBase + 0x8000), "");
}

// What lay between them is freed: each has a reservation of its own.
TEST_F(HsaDeviceReserved, PlacesBuffersWithGapsThatAreSmallerThanThey) {
  sample_.add(kSampleBase + 0x9000, std::vector<std::byte>(0x4000), std::vector<std::byte>(0x4000));
  sample_.add(kSampleBase + 0xe000, std::vector<std::byte>(0x8000), std::vector<std::byte>(0x8000));
  expect_all_in_place(sample_);
}

TEST_F(HsaDeviceReserved, NamesHostMemoryThatTheGpuHasElsewhere) {
  const test::ScopedVariable fault("HSA_SIM_FAULT", "hsa_amd_memory_lock_to_pool@*=relocate");
  EXPECT_THAT(failure(), testing::StartsWith("relocated: host memory at 0x200000003000-"
                                             "0x200000006000: the runtime gave it to the GPU at "));
  const RangeCheck host = host_range();
  EXPECT_EQ(host.outcome, Reservation::relocated);
  EXPECT_NE(host.returned, kSampleBase + 0x3000);
  EXPECT_EQ(who_holds(own_mappings().value(), kSampleBase, kSampleBase + 0x8000), "");
}

TEST_F(HsaDeviceReserved, NamesHostMemoryThatCannotBeLocked) {
  const test::ScopedVariable fault("HSA_SIM_FAULT", "hsa_amd_memory_lock_to_pool@*=0x1008");
  EXPECT_THAT(failure(),
              testing::StartsWith("hsa_call_failed: hsa_amd_memory_lock_to_pool(0x200000003000, "
                                  "0x3000) for host memory answered 0x1008"));
  EXPECT_EQ(host_range().outcome, Reservation::failed);
  EXPECT_EQ(host_range().status, "0x1008 (out of resources)");
}

TEST(HsaDevice, GivesThePacketsDynamicLds) {
  SampleCapture sample = sim_capture("reverse", 1024);
  sample.description.dispatch.group_segment_bytes = 1024;  // 256 work-items of 4 bytes
  with_session(sample, [](Session& session) {
    ASSERT_TRUE(session.restore_writes().has_value());
    ASSERT_TRUE(session.run().has_value());
    EXPECT_EQ(floats_of(session, 0)[0], 255);
    EXPECT_EQ(floats_of(session, 0)[1023], 768);
  });
}

TEST(HsaDevice, PutsVariablesWhereTheLoadedCodeObjectHasThem) {
  SampleCapture sample = sim_capture("scale", 16);
  const auto bytes = test::bytes_of_values<float>({10});
  sample.add_variable("factor", bytes, bytes);  // 2.5 in the file, 10 at the dispatch
  with_session(sample, [](Session& session) {
    ASSERT_TRUE(session.run().has_value());
    EXPECT_EQ(floats_of(session, 0)[15], 150);
  });
}

TEST(HsaDevice, ReadsKernelArgumentsWhereTheyWere) {
  SampleCapture sample = sim_capture("inplace", 64);
  std::vector<std::byte> ring(0x2000);
  std::ranges::copy(sample.kernarg, ring.begin() + 0x1040);
  sample.add(kSampleBase + 0x10000, ring, ring);
  sample.description.dispatch.kernarg_address = kSampleBase + 0x11040;
  with_session(sample, [](Session& session) {
    EXPECT_TRUE(session.notes().empty());
    ASSERT_TRUE(session.run().has_value());
    EXPECT_EQ(floats_of(session, 0)[63], 64);
  });
}

TEST(HsaDevice, LeavesNothingBehind) {
  const SampleCapture sample = sim_capture("inplace", 64);
  for (int i = 0; i < 2; ++i)
    with_session(sample, [](Session& session) { ASSERT_TRUE(session.run().has_value()); });
  capture::Description description = sample.description;
  description.regions = {sample.regions[0].region};
  for (int i = 0; i < 2; ++i) {
    const auto report = check_reservations(description, {.may_restart = false});
    ASSERT_TRUE(report.has_value()) << describe(report.error());
    EXPECT_EQ(report->through, "hsa");
    EXPECT_EQ(report->exact, 1U);
    EXPECT_EQ(report->exit_code(), 0);
  }
  EXPECT_EQ(who_holds(own_mappings().value(), kSampleBase, kSampleBase + 0x1000), "");
}

}  // namespace
}  // namespace perflab::replay
