// The three backends: commands, dispatches under the stand-in rocprofv3, code objects on the fake
// device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/shell.h"
#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "collect/stand_in_rocprofv3.h"
#include "measure/backend_command.h"
#include "measure/backend_replay.h"
#include "measure/backend_rocprofv3.h"
#include "replay/fake_device.h"
#include "replay/sample_capture.h"
#include "support/rocpd_writer.h"

namespace perflab::measure {
namespace {

using std::chrono::milliseconds;
using test::shell;
using test::TempFolder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Variant command(std::string script) {
  Variant variant;
  variant.name = "candidate";
  variant.command = shell(std::move(script));
  return variant;
}

Measured measured(Backend& backend, const Variant& variant) {
  Result<Measured> one = backend.measure(variant);
  EXPECT_TRUE(one.has_value()) << describe(one.error());
  return std::move(one).value_or(Measured{});
}

TEST(CommandBackend, TakesTheWallTimeOrWhatIsPrinted) {
  const auto wall = make_command_backend({.time_limit = milliseconds(20'000)}).value();
  EXPECT_EQ(wall->name(), "command (wall time)");
  EXPECT_EQ(wall->unit(), "s");
  const Measured slept = measured(*wall, command("sleep 0.05"));
  ASSERT_EQ(slept.samples.size(), 1U);
  EXPECT_GE(slept.samples[0], 0.05);
  EXPECT_EQ(slept.failure, "");

  std::string seen;
  const auto metric = make_command_backend({.metric_pattern = "([0-9.]+) GB/s",
                                            .metric_unit = "GB/s",
                                            .larger_is_better = true,
                                            .on_stream =
                                                [&](int stream, std::string_view bytes) {
                                                  if (stream == 1) seen += bytes;
                                                }})
                          .value();
  EXPECT_EQ(metric->name(), "command (metric)");
  EXPECT_EQ(metric->unit(), "GB/s");
  EXPECT_TRUE(metric->larger_is_better());
  Variant loud = command("echo \"$RATE GB/s\"; echo 3 GB/s >&2; cat");
  loud.environment = {{"RATE", "1.5"}};
  const Measured rates = measured(*metric, loud);
  EXPECT_THAT(rates.samples, testing::UnorderedElementsAre(1.5, 3));
  EXPECT_EQ(seen, "1.5 GB/s\n");
}

TEST(CommandBackend, WhatTheCommandDoesWrongIsItsFailure) {
  const auto wall = make_command_backend({.time_limit = milliseconds(20'000)}).value();
  EXPECT_EQ(measured(*wall, command("echo error: no luck; exit 3")).failure,
            "exited with code 3: error: no luck");
  const auto hasty = make_command_backend({.time_limit = milliseconds(300)}).value();
  const Measured hung = measured(*hasty, command("sleep 60"));
  EXPECT_THAT(hung.failure, HasSubstr("0.3 s, the time limit"));
  EXPECT_THAT(hung.samples, IsEmpty());
  Variant nothing;
  nothing.command = {"/nowhere/app"};
  EXPECT_THAT(measured(*wall, nothing).failure, HasSubstr("cannot be started"));
  const auto metric = make_command_backend({.metric_pattern = "t=(.*)"}).value();
  EXPECT_THAT(measured(*metric, command("echo u=1")).failure, HasSubstr("printed nothing"));
  EXPECT_THAT(measured(*metric, command("echo t=nan")).failure, HasSubstr("'nan'"));
  EXPECT_EQ(make_command_backend({.metric_pattern = "t="}).error().code, ErrorCode::usage);
  EXPECT_EQ(make_command_backend({.larger_is_better = true}).error().code, ErrorCode::usage);
}

TEST(Rocprofv3Backend, TakesTheDispatchesOfTheKernel) {
  const TempFolder folder;
  const auto database = folder / "recorded.db";
  test::RocpdWriter writer(database);
  writer.agent(test::host_agent());
  const test::Id gpu = writer.agent(test::mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object({});
  const test::Id axpy = writer.kernel({.name = "_Z4axpyPf", .display_name = "axpy(float*)"});
  const test::Id fill = writer.kernel({.name = "_Z4fillPf", .display_name = "fill(float*)"});
  writer.dispatch({.kernel = fill, .start = 1000, .end = 9000, .agent = gpu});
  writer.dispatch({.kernel = axpy, .start = 10'000, .end = 10'300, .agent = gpu});
  writer.dispatch({.kernel = axpy, .start = 11'000, .end = 11'201, .agent = gpu});
  ASSERT_TRUE(writer.close().has_value());

  const test::StandInRocprofv3 stand_in(folder / "log");
  const test::ScopedVariable recorded("FAKE_ROCPROFV3_DB", database.string());
  const auto backend =
      make_rocprofv3_backend(
          {.kernel_pattern = "axpy", .time_limit = milliseconds(60'000), .scratch = folder.path()})
          .value();
  EXPECT_EQ(backend->name(), "rocprofv3");
  EXPECT_EQ(backend->unit(), "ns");
  EXPECT_THAT(measured(*backend, command("true")).samples, ElementsAre(300, 201));
  EXPECT_EQ(measured(*backend, command("exit 4")).failure, "exited with code 4");
  EXPECT_EQ(make_rocprofv3_backend({.kernel_pattern = "("}).error().code, ErrorCode::usage);
  const test::ScopedVariable none("ROCPROFV3", "/nowhere/rocprofv3");
  EXPECT_EQ(make_rocprofv3_backend({}).error().code, ErrorCode::missing_tool);
}

/// The captured kernel and others on one fake device.
class ReplayBench : public testing::Test {
 protected:
  using Body = std::function<void(const replay::Launch&)>;
  /// A region that the captured dispatch does not write.
  static constexpr std::uint64_t kQuietBase = test::kSampleBase + 0x100000;

  void SetUp() override {
    test::SampleCapture sample = test::inplace_sample();
    const std::vector<std::byte> quiet(8192, std::byte{5});
    sample.add(kQuietBase, quiet, quiet);
    capture_ = sample.write(folder_ / "capture");
    ASSERT_TRUE(capture_);
    device_.kernels["inplace"] = {.body = [&](const replay::Launch& launch) {
      ran_ += 'o';
      started_from_.push_back(*first_float(launch));
      *first_float(launch) += 1;
    }};
    // Times tell dispatches apart: the nth takes n us.
    device_.times.clear();
    for (int i = 1; i <= 200; ++i) device_.times.push_back(Nanos{1000 * i});
    auto session = replay::Session::open(*capture_, device_, {});
    ASSERT_TRUE(session) << describe(session.error());
    session_.emplace(*std::move(session));
    device_.forget();
    backend_ =
        make_replay_backend(*session_, {.iterations = 3, .caches = replay::Caches::restored});
  }

  static float* first_float(const replay::Launch& launch) {
    return reinterpret_cast<float*>(test::argument<std::uint64_t>(launch, 0));
  }
  Variant other(const std::string& name, Body body, const std::string& kernel = "inplace") {
    const std::string bytes =
        test::one_kernel_object(kernel, {{0, 8, "global_buffer"}, {8, 4, "by_value"}}, 12, name);
    device_.define(bytes, kernel, {.body = std::move(body)});
    Variant variant;
    variant.name = name;
    variant.code_object = folder_.write(name + ".hsaco", bytes);
    return variant;
  }

  TempFolder folder_;
  std::optional<capture::Capture> capture_;
  test::FakeDevice device_;
  std::optional<replay::Session> session_;
  std::unique_ptr<Backend> backend_;
  std::string ran_;
  std::vector<float> started_from_;
};

TEST_F(ReplayBench, MeasuresBothFromTheCapturedMemory) {
  EXPECT_EQ(backend_->name(), "replay");
  EXPECT_EQ(backend_->unit(), "ns");
  const Variant candidate = other("candidate", [&](const replay::Launch& launch) {
    ran_ += 'c';
    started_from_.push_back(*first_float(launch));
    *first_float(launch) = 77;
  });
  EXPECT_THAT(measured(*backend_, {}).samples, ElementsAre(2000, 3000, 4000));
  EXPECT_THAT(measured(*backend_, candidate).samples, ElementsAre(6000, 7000, 8000));
  EXPECT_THAT(measured(*backend_, candidate).samples, ElementsAre(10'000, 11'000, 12'000));
  EXPECT_THAT(measured(*backend_, {}).samples, ElementsAre(14'000, 15'000, 16'000));
  EXPECT_EQ(ran_,
            "oooo"
            "cccc"
            "cccc"
            "oooo");
  EXPECT_THAT(started_from_, testing::Each(0.0F)) << "each from the pre-image";
}

TEST_F(ReplayBench, WarmsCachesWithADispatchThatDoesNotCount) {
  backend_ = make_replay_backend(*session_, {.iterations = 3});
  EXPECT_THAT(measured(*backend_, {}).samples, ElementsAre(4000, 6000, 8000));
  EXPECT_THAT(started_from_, testing::Each(0.0F)) << "its outputs are put back";
}

TEST_F(ReplayBench, ANoteToTheDispatchThatCountsIsSeenBeforeItIsTakenAway) {
  auto* const aside = reinterpret_cast<char*>(kQuietBase + 4096);
  // Every other dispatch finds the note, does nothing, and removes it.
  const Variant cheat =
      other("cheat", [&](const replay::Launch&) { *aside = *aside == 5 ? 6 : 5; });
  int brought = 0, put_back = 0;
  std::set<std::uint64_t> looked_at;
  backend_ = make_replay_backend(
      *session_,
      {.iterations = 3,
       .inputs = ReplayInputs{
           .bring = [&](std::uint64_t) -> Result<void> { return ++brought, Result<void>(); },
           .bring_written = [&](std::uint64_t) -> Result<void> {
             return ++put_back, Result<void>();
           },
           .is_new = [&](const Variant&, std::uint64_t n) { return !looked_at.contains(n); },
           .check = [&](const Variant&, std::uint64_t n) -> Result<std::string> {
             looked_at.insert(n);
             return std::string(*aside == 5 ? "" : "a byte was written");
           }}});
  EXPECT_EQ(measured(*backend_, cheat).failure, "a timed dispatch is wrong: a byte was written");
  EXPECT_EQ(put_back, 0) << "seen after its first dispatch";
  *aside = 5;
  brought = 0;
  EXPECT_THAT(measured(*backend_, {}).failure, IsEmpty());
  EXPECT_EQ(put_back, 4);
  EXPECT_EQ(brought, 4 + 3) << "again where the variant was new to the input";
}

TEST_F(ReplayBench, RestoresWhatACodeObjectWritesBesides) {
  std::vector<std::byte> seen;
  const Variant stray = other("stray", [&](const replay::Launch&) {
    auto* const aside = reinterpret_cast<std::byte*>(kQuietBase + 4096);
    seen.push_back(*aside);
    *aside = std::byte{9};
  });
  measured(*backend_, {});
  measured(*backend_, stray);
  measured(*backend_, stray);
  EXPECT_EQ(seen, std::vector<std::byte>(8, std::byte{5}));
}

TEST_F(ReplayBench, AnUnusableCodeObjectFailsAndTheNextIsMeasured) {
  Variant nothing;
  nothing.code_object = folder_.write("junk.hsaco", "junk");
  EXPECT_THAT(measured(*backend_, nothing).failure, HasSubstr("junk.hsaco"));
  const Variant misnamed = other("misnamed", {}, "another");
  EXPECT_THAT(measured(*backend_, misnamed).failure, HasSubstr("kernel_not_found"));
  EXPECT_EQ(measured(*backend_, {}).samples.size(), 3U);
}

TEST_F(ReplayBench, AFaultIsTheVariantsAndEndsTheDevice) {
  const Variant faulty = other("faulty", [&](const replay::Launch&) {
    device_.fault = replay::fail(replay::Failure::kernel_fault, "page not present").error();
  });
  const Measured failed = measured(*backend_, faulty);
  EXPECT_EQ(failed.failure, "kernel_fault: page not present");
  EXPECT_THAT(failed.samples, IsEmpty());
  const auto after = backend_->measure({});
  ASSERT_FALSE(after.has_value());
  EXPECT_EQ(after.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(after.error().message, HasSubstr("lost to faulty"));
}

TEST_F(ReplayBench, OtherErrorsAreErrors) {
  device_.inject("run", 2, replay::Failure::hsa_call_failed);
  EXPECT_EQ(backend_->measure({}).error().code, ErrorCode::missing_tool);
  raise_interrupt();
  const auto stopped = backend_->measure({});
  clear_interrupts();
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
}

}  // namespace
}  // namespace perflab::measure
