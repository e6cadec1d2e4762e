// Launches that differ from the captured one: packet, hidden arguments, limits. No runtime.
#include "replay/launch_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"
#include "replay/fake_device.h"
#include "replay/sample_capture.h"
#include "replay/session/session.h"
#include "replay/verify/verify.h"

namespace perflab::replay {
namespace {

using test::argument;
using test::FakeDevice;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kItems = 1024;
constexpr std::int64_t kHiddenAt = 16;  // behind {x, n}

/// x[i] += 1 with the hidden arguments that tell of its geometry.
std::string object_with_hidden(std::string_view code, std::uint32_t static_lds = 0) {
  return test::one_kernel_object("inplace",
                                 {{0, 8, "global_buffer"},
                                  {8, 4, "by_value"},
                                  {kHiddenAt, 4, "hidden_block_count_x"},
                                  {kHiddenAt + 4, 4, "hidden_block_count_y"},
                                  {kHiddenAt + 12, 2, "hidden_group_size_x"},
                                  {kHiddenAt + 18, 2, "hidden_remainder_x"},
                                  {kHiddenAt + 64, 2, "hidden_grid_dims"},
                                  {kHiddenAt + 120, 4, "hidden_dynamic_lds_size"}},
                                 kHiddenAt + 256, code, static_lds);
}

/// Every work-item of the launch, as its hidden arguments tell of them, adds 1 to its element.
void add_by_hidden(const Launch& launch) {
  auto* const x = reinterpret_cast<float*>(argument<std::uint64_t>(launch, 0));
  const std::uint64_t items = std::uint64_t{argument<std::uint32_t>(launch, kHiddenAt)} *
                                  argument<std::uint16_t>(launch, kHiddenAt + 12) +
                              argument<std::uint16_t>(launch, kHiddenAt + 18);
  for (std::uint64_t i = 0; i < items; ++i) x[i] += 1;
}

class LaunchChanges : public ::testing::Test {
 protected:
  void SetUp() override {
    sample_ = test::inplace_sample(kItems);
    sample_.code_object = object_with_hidden("");
    sample_.kernarg.resize(kHiddenAt + 256);
    capture::Dispatch& dispatch = sample_.description.dispatch;
    dispatch.kernarg_bytes = kHiddenAt + 256;
    dispatch.group_segment_bytes = 512;
    put(kHiddenAt, std::uint32_t{kItems / 256});
    put(kHiddenAt + 12, std::uint16_t{256});
    capture_ = sample_.write(folder_ / "capture");
    device_.kernels["inplace"] = {.body = add_by_hidden};
    auto opened = Session::open(*capture_, device_, {});
    ASSERT_TRUE(opened) << describe(opened.error());
    session_.emplace(std::move(*opened));
  }
  template <class T>
  void put(std::size_t offset, T value) {
    std::memcpy(sample_.kernarg.data() + offset, &value, sizeof value);
  }
  std::filesystem::path object(const std::string& bytes) {
    return folder_.write("other.hsaco", bytes);
  }
  std::string refused(const LaunchChange& change, const std::string& bytes) {
    const auto loaded = session_->load(object(bytes), change);
    EXPECT_FALSE(loaded);
    return loaded ? "" : loaded.error().message;
  }

  test::TempFolder folder_;
  test::SampleCapture sample_;
  std::optional<capture::Capture> capture_;
  FakeDevice device_;
  std::optional<Session> session_;
};

TEST_F(LaunchChanges, PacketAndHiddenArgumentsFollow) {
  const auto file = object(object_with_hidden("x", 128));
  device_.kernels["inplace"].loaded.group_segment_bytes = 128;
  ASSERT_TRUE(session_->load(
      file, {.grid = {{1000, 2, 1}}, .workgroup = {{64, 2, 1}}, .dynamic_lds_bytes = 1024}));
  ASSERT_TRUE(session_->run());
  const Launch& launch = device_.last_launch;
  EXPECT_THAT(launch.grid, ElementsAre(1000, 2, 1));
  EXPECT_THAT(launch.workgroup, ElementsAre(64, 2, 1));
  EXPECT_EQ(launch.setup, 2);
  EXPECT_EQ(launch.group_segment_bytes, 1152U);
  EXPECT_EQ(argument<std::uint64_t>(launch, 0), test::kSampleBase);
  EXPECT_EQ(argument<std::uint32_t>(launch, kHiddenAt), 15U);
  EXPECT_EQ(argument<std::uint32_t>(launch, kHiddenAt + 4), 1U);
  EXPECT_EQ(argument<std::uint16_t>(launch, kHiddenAt + 12), 64);
  EXPECT_EQ(argument<std::uint16_t>(launch, kHiddenAt + 18), 1000 - 15 * 64);
  EXPECT_EQ(argument<std::uint16_t>(launch, kHiddenAt + 64), 2);
  EXPECT_EQ(argument<std::uint32_t>(launch, kHiddenAt + 120), 1024U);
  // Without a change everything is as captured again.
  const std::uint64_t changed = launch.kernarg_address;
  ASSERT_TRUE(session_->load({}));
  ASSERT_TRUE(session_->run());
  EXPECT_NE(device_.last_launch.kernarg_address, changed);
  EXPECT_THAT(device_.last_launch.grid, ElementsAre(kItems, 1, 1));
  EXPECT_EQ(device_.last_launch.setup, 1);
  EXPECT_EQ(argument<std::uint16_t>(device_.last_launch, kHiddenAt + 12), 256);
}

TEST_F(LaunchChanges, OtherGeometriesAreProvenAgainstTheCapturedOutput) {
  const auto file = object(object_with_hidden("x"));
  const auto verdict = [&](const LaunchChange& launch) {
    const auto proof = verify(*session_, {.code_object = file, .launch = launch, .compare = {}});
    EXPECT_TRUE(proof) << describe(proof.error());
    return proof ? proof->verdict : ProofVerdict::proves_nothing;
  };
  EXPECT_EQ(verdict({.workgroup = {{32, 1, 1}}}), ProofVerdict::bitwise);
  EXPECT_EQ(verdict({.grid = {{kItems - 24, 1, 1}}, .workgroup = {{96, 1, 1}}}),
            ProofVerdict::differs);
}

TEST_F(LaunchChanges, WhatCannotBeLaunchedIsRefusedByName) {
  const std::string plain = object_with_hidden("x");
  EXPECT_THAT(refused({.workgroup = {{64, 32, 1}}}, plain),
              AllOf(HasSubstr("not_replayable: "), HasSubstr("at most 1024 work-items")));
  EXPECT_THAT(refused({.grid = {{0, 1, 1}}}, plain), HasSubstr("none that can be launched"));
  EXPECT_THAT(refused({.grid = {{1ULL << 32U, 1, 1}}}, plain),
              HasSubstr("none that can be launched"));
  EXPECT_THAT(refused({.dynamic_lds_bytes = 65'000}, object_with_hidden("x", 1024)),
              HasSubstr("1024 static and 65000 dynamic bytes of LDS are more than the 65536"));
  EXPECT_TRUE(session_->load(object(plain), {.dynamic_lds_bytes = 65'000}));
}

}  // namespace
}  // namespace perflab::replay
