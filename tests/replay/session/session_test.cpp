// Sessions and full-vm on host memory: contents, write set, code objects, notes, failures.
#include "replay/session/session.h"

#include <gmock/gmock.h>

#include <map>
#include <random>

#include "base/system/interrupt.h"
#include "base/temp_folder.h"
#include "replay/fake_device.h"
#include "replay/sample_capture.h"
#include "replay/session/full_vm.h"

namespace perflab::replay {
namespace {

using test::argument;
using test::FakeDevice;
using test::kSampleBase;
using test::SampleCapture;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kPage = 4096;

void add_one(const Launch& launch) {
  auto* const x = reinterpret_cast<float*>(argument<std::uint64_t>(launch, 0));
  const auto n = argument<std::uint32_t>(launch, 8);
  for (std::uint32_t i = 0; i < n; ++i) x[i] += 1;
}

/// A capture, a device that has its kernel, and a session on both.
struct SessionBench {
  explicit SessionBench(const SampleCapture& sample = test::inplace_sample())
      : capture(sample.write(folder / "capture")) {
    device.kernels["inplace"] = {.body = add_one};
  }
  Result<Session> open(const SessionOptions& options = {}) {
    return Session::open(*capture, device, options);
  }
  std::string failure(const SessionOptions& options = {}) {
    const auto session = open(options);
    EXPECT_FALSE(session.has_value());
    return session ? "" : describe(session.error());
  }

  test::TempFolder folder;
  std::optional<capture::Capture> capture;
  FakeDevice device;
};

std::vector<float> floats(Session& session, std::size_t region = 0) {
  std::vector<float> values(session.capture().description().regions[region].bytes / 4);
  EXPECT_TRUE(session.read(region, 0, std::as_writable_bytes(std::span(values))).has_value());
  return values;
}

TEST(Session, BringsBackMemoryThenLoadsThenRunsTheCapturedPacket) {
  SampleCapture sample = test::inplace_sample();
  sample.description.dispatch.group_segment_bytes = 1024 + 64;
  sample.description.dispatch.static_group_segment_bytes = 64;
  sample.description.dispatch.private_segment_bytes = 272;
  SessionBench bench(sample);
  bench.device.kernels["inplace"].loaded = {.kernarg_bytes = 12, .group_segment_bytes = 64};
  auto session = bench.open({.time_limit = Nanos{5}});
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  EXPECT_EQ(bench.device.log[0], "place 0x200000000000 0x4000 gpu 0");
  const auto index = [&](std::string_view prefix) {
    return std::ranges::find_if(bench.device.log,
                                [&](const std::string& line) { return line.starts_with(prefix); }) -
           bench.device.log.begin();
  };
  EXPECT_LT(index("zero"), index("write"));
  EXPECT_LT(index("write"), index("load"));
  EXPECT_EQ(floats(*session)[3], 3);
  ASSERT_TRUE(session->run().has_value());
  EXPECT_EQ(floats(*session)[3], 4);
  const Launch& launch = bench.device.last_launch;
  EXPECT_THAT(launch.grid, ElementsAre(4096, 1, 1));
  EXPECT_THAT(launch.workgroup, ElementsAre(256, 1, 1));
  EXPECT_EQ(launch.header, 0x1502);
  EXPECT_EQ(launch.setup, 1);
  EXPECT_EQ(launch.group_segment_bytes, 1088U);
  EXPECT_EQ(launch.private_segment_bytes, 272U);
  EXPECT_EQ(bench.device.last_limit, Nanos{5});
  EXPECT_THAT(session->notes(), ElementsAre(HasSubstr("kernel's arguments lie in a buffer")));
}

TEST(Session, RestoresTheWriteSetOnTheDeviceAndEverythingFromTheHost) {
  SessionBench bench;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(session->run().has_value());
  EXPECT_EQ(floats(*session)[7], 9);
  auto restored = session->restore_writes();
  ASSERT_TRUE(restored.has_value());
  EXPECT_TRUE(restored->on_device);
  EXPECT_EQ(restored->bytes, 4 * kPage);
  EXPECT_EQ(floats(*session)[7], 7);
  bench.device.forget();
  ASSERT_TRUE(session->run().has_value());
  ASSERT_TRUE(session->restore_writes().has_value());
  EXPECT_EQ(floats(*session)[4095], 4095);
  EXPECT_EQ(bench.device.count("write"), 0);  // the second time nothing comes from the host
  EXPECT_EQ(bench.device.count("copy"), 1);
  ASSERT_TRUE(session->run().has_value());
  EXPECT_EQ(session->restore_all()->bytes, 4 * kPage);
  EXPECT_EQ(floats(*session)[4095], 4095);
}

TEST(Session, RestoresFromTheHostWhereTheDeviceHasNoRoom) {
  SampleCapture sample = test::inplace_sample();
  // The kernargs lie in a captured region: no buffer is needed for them.
  std::vector<std::byte> ring(kPage);
  std::ranges::copy(sample.kernarg, ring.begin() + 0x100);
  sample.add(kSampleBase + 0x10000, ring, ring);
  sample.description.dispatch.kernarg_address = kSampleBase + 0x10100;
  SessionBench bench(sample);
  bench.device.room = 0;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  ASSERT_TRUE(session->run().has_value());
  EXPECT_EQ(bench.device.last_launch.kernarg_address, kSampleBase + 0x10100);
  const auto restored = session->restore_writes();
  ASSERT_TRUE(restored.has_value());
  EXPECT_FALSE(restored->on_device);
  EXPECT_EQ(restored->bytes, 4 * kPage);
  EXPECT_EQ(floats(*session)[9], 9);
  EXPECT_THAT(session->notes(), ElementsAre(HasSubstr("no room for a copy of the 16384 bytes")));
}

TEST(Session, LearnsWhatAnotherCodeObjectWritesElsewhere) {
  SampleCapture sample = test::inplace_sample();
  const std::vector<std::byte> quiet(3 * kPage + 100, std::byte{5});
  sample.add(kSampleBase + 0x100000, quiet, quiet);
  SessionBench bench(sample);
  bench.device.kernels["inplace"].body = [](const Launch& launch) {
    add_one(launch);
    // One byte in the second page, one at the very end.
    auto* const other = reinterpret_cast<std::byte*>(kSampleBase + 0x100000);
    other[kPage + 1] = other[3 * kPage + 99] = std::byte{9};
  };
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  ASSERT_TRUE(session->restore_writes().has_value());
  ASSERT_TRUE(session->run().has_value());
  EXPECT_EQ(session->learn_writes().value(), 2U);
  EXPECT_EQ(session->learn_writes().value(), 0U);
  const auto restored = session->restore_writes();
  EXPECT_EQ(restored.value().bytes, 5 * kPage + 100);
  std::vector<std::byte> now(quiet.size());
  ASSERT_TRUE(session->read(1, 0, now).has_value());
  EXPECT_EQ(now, quiet);
  EXPECT_EQ(floats(*session)[5], 5);
}

// Random regions (partial pages, holes of zeros) with random changes: whatever a kernel did within
// the write set is undone, byte by byte, and only there.
TEST(Session, RestoresRandomRegionsExactly) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 8; ++round) {
    SampleCapture sample = test::inplace_sample(8);
    std::uint64_t at = kSampleBase + 0x100000;
    for (int i = 0; i < 12; ++i) {
      std::vector<std::byte> before(1 + random() % 40000);
      for (std::size_t b = 0; b < before.size(); ++b)
        before[b] = b / kPage % 3 == 1 ? std::byte{0} : static_cast<std::byte>(random());
      std::vector<std::byte> after = before;
      for (int c = 0; c < 5; ++c) after[random() % after.size()] ^= std::byte{1};
      sample.add(at, before, after);
      at += before.size() + random() % 3 * 1000;
    }
    SessionBench bench(sample);
    bench.device.room = round % 2 == 0 ? 0x8000 : UINT64_MAX;
    auto session = bench.open();
    ASSERT_TRUE(session.has_value()) << describe(session.error());
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < sample.regions.size(); ++i)
        ASSERT_TRUE(session->write(i, 0, sample.regions[i].after).has_value());
      ASSERT_TRUE(session->restore_writes().has_value());
      for (std::size_t i = 0; i < sample.regions.size(); ++i) {
        std::vector<std::byte> now(sample.regions[i].before.size());
        ASSERT_TRUE(session->read(i, 0, now).has_value());
        EXPECT_EQ(now, sample.regions[i].before) << i;
      }
    }
    EXPECT_EQ(session->learn_writes().value(), 0U);
  }
}

TEST(Session, FollowsVariablesToTheLoadedCodeObject) {
  SampleCapture sample = test::inplace_sample();
  const auto bytes = [](float value) { return test::bytes_of_values<float>({value}); };
  sample.add_variable("factor", bytes(3), bytes(4));
  sample.add_variable("gone", bytes(1), bytes(1));
  sample.add_variable("foreign", bytes(1), bytes(1)).region.code_object_hash = "xxh3:0";
  SessionBench bench(sample);
  bench.device.variables = {{"factor", 4}, {"foreign", 4}};
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  const auto& regions = session->capture().description().regions;
  std::map<std::string, std::size_t> number;
  for (std::size_t i = 0; i < regions.size(); ++i) number[regions[i].symbol] = i;
  const std::size_t factor = number.at("factor");
  EXPECT_EQ(floats(*session, factor)[0], 3);
  EXPECT_FALSE(session->address(number.at("gone")).has_value());
  EXPECT_FALSE(session->address(number.at("foreign")).has_value());
  const std::uint64_t first = *session->address(factor);
  ASSERT_TRUE(session->restore_writes().has_value());
  ASSERT_TRUE(session->load({}).has_value());
  EXPECT_NE(*session->address(factor), first);
  ASSERT_TRUE(session->write(factor, 0, bytes(9)).has_value());
  ASSERT_TRUE(session->restore_writes().has_value());
  EXPECT_EQ(floats(*session, factor)[0], 3);
  EXPECT_THAT(session->notes(),
              ElementsAre(HasSubstr("a variable of other code objects is not brought back"),
                          HasSubstr("arguments"), HasSubstr("has no variable gone")));
}

TEST(Session, NotesWhatTheCaptureDoesNotHave) {
  SampleCapture sample = test::inplace_sample();
  for (const std::uint64_t base : {0x100000ULL, 0x200000ULL})
    sample.add(kSampleBase + base, std::vector<std::byte>(8), {}).region.not_captured =
        "memory of the host";
  SessionBench bench(sample);
  const auto session = bench.open();
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  EXPECT_EQ(session->notes()[0], "2 regions are not in the capture: memory of the host");
  EXPECT_FALSE(session->address(1).has_value());
}

TEST(Session, ChecksIsaAndPacketBeforeAnythingIsPlaced) {
  SessionBench bench;
  const std::string captured = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  for (const char* isa :
       {"amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack+",
        "amdgcn-amd-amdhsa--gfx942:sramecc-:xnack-", "nonsense"}) {
    bench.device.facts_.isa = isa;
    EXPECT_THAT(bench.failure(), ::testing::AllOf(::testing::StartsWith("isa_mismatch: "),
                                                  HasSubstr(captured), HasSubstr(isa)));
  }
  EXPECT_TRUE(bench.device.log.empty());
  bench.device.facts_.isa = "amdgcn-amd-amdhsa--gfx942";  // features not named
  EXPECT_TRUE(bench.open().has_value());

  const auto spoil = [](auto change) {
    SampleCapture sample = test::inplace_sample();
    change(sample.description.dispatch);
    SessionBench spoilt(sample);
    // The lint says so first; whoever ignores it does not get a dispatch either.
    EXPECT_THAT(spoilt.failure({.ignore_findings = true}),
                HasSubstr("not_replayable: the captured packet has"));
    EXPECT_TRUE(spoilt.device.log.empty());
  };
  spoil([](capture::Dispatch& one) { one.header = 0x1503; });
  spoil([](capture::Dispatch& one) { one.setup = 0; });
  spoil([](capture::Dispatch& one) { one.grid[1] = 0; });
  spoil([](capture::Dispatch& one) { one.workgroup[0] = 0x10000; });
}

TEST(Session, TakesAnotherCodeObjectOnlyWhenItsArgumentsFit) {
  SessionBench bench;
  const auto with = [&](const std::string& object) {
    return SessionOptions{.code_object = bench.folder.write("other.hsaco", object)};
  };
  using Arguments = std::vector<test::WrittenArgument>;
  const Arguments same{{0, 8, "global_buffer"}, {8, 4, "by_value"}};
  const auto object = [](const Arguments& arguments, std::uint32_t bytes,
                         std::string_view name = "inplace") {
    return test::one_kernel_object(name, arguments, bytes, "other");
  };
  const auto mismatch = [](const char* what) {
    return ::testing::AllOf(::testing::StartsWith("kernel_mismatch: "), HasSubstr(what));
  };
  EXPECT_THAT(bench.failure(with(object(same, 16))), mismatch("takes 16 bytes"));
  EXPECT_THAT(bench.failure(with(object({{0, 8, "global_buffer"}}, 8))),
              mismatch("it lacks by_value of 4 bytes at offset 8, which the captured kernel has"));
  EXPECT_THAT(bench.failure(with(object({{0, 4, "by_value"}, {8, 4, "by_value"}}, 12))),
              mismatch("it has by_value of 4 bytes at offset 0, which the captured kernel lacks"));
  EXPECT_THAT(
      bench.failure(with(object(
          {{0, 8, "global_buffer"}, {8, 4, "by_value"}, {12, 0, "hidden_block_count_x"}}, 12))),
      mismatch("hidden_block_count_x"));
  EXPECT_THAT(bench.failure(with(object(same, 12, "other"))),
              ::testing::AllOf(HasSubstr("kernel_not_found: "), HasSubstr("it has: other")));
  EXPECT_THAT(bench.failure(with(test::one_kernel_object("inplace", same, 12, "", 0, 0x54b,
                                                         "amdgcn-amd-amdhsa--gfx90a"))),
              HasSubstr("isa_mismatch: "));
  EXPECT_THAT(bench.failure(with("junk")), HasSubstr("other.hsaco"));
  EXPECT_TRUE(bench.device.log.empty());

  const std::string other = object(same, 12);
  bench.device.define(other, "inplace",
                      {.body = [](const Launch& launch) { add_one(launch), add_one(launch); },
                       .loaded = {.group_segment_bytes = 128}});
  auto session = bench.open(with(other));
  ASSERT_TRUE(session.has_value()) << describe(session.error());
  EXPECT_FALSE(session->runs_original());
  ASSERT_TRUE(session->run().has_value());
  EXPECT_EQ(floats(*session)[1], 3);
  EXPECT_EQ(bench.device.last_launch.group_segment_bytes, 128U);
  ASSERT_TRUE(session->load({}).has_value());
  EXPECT_TRUE(session->runs_original());
}

TEST(Session, PassesEveryFailureOfTheDeviceOn) {
  const SessionBench bench;
  const auto replay_once = [&](FakeDevice& device) -> Result<void> {
    device.kernels["inplace"] = {.body = add_one};
    PERFLAB_TRY(Session session, Session::open(*bench.capture, device, {}));
    PERFLAB_TRY([[maybe_unused]] const Restored restored, session.restore_writes());
    PERFLAB_TRY([[maybe_unused]] const Nanos time, session.run());
    return {};
  };
  std::map<std::string, int> calls;
  {
    FakeDevice device;
    ASSERT_TRUE(replay_once(device).has_value());
    calls = device.calls;
  }
  EXPECT_GE(calls.size(), 8U);
  for (const auto& [name, times] : calls)
    for (int nth = 1; nth <= times; ++nth) {
      FakeDevice device;
      device.inject(name, nth, Failure::hsa_call_failed);
      const auto done = replay_once(device);
      ASSERT_FALSE(done.has_value()) << name << " " << nth;
      EXPECT_EQ(done.error().message, "hsa_call_failed: injected") << name << " " << nth;
      EXPECT_EQ(exit_code(done.error().code), 4);
    }
}

TEST(FullVm, StartsEveryIterationFromThePreImage) {
  SessionBench bench;
  bench.device.times = {Nanos{9000}, Nanos{1000}, Nanos{1100}, Nanos{1050}};
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  std::vector<std::uint64_t> progress;
  const auto result = run_full_vm(*session, {.iterations = 3},
                                  [&](std::uint64_t done) { progress.push_back(done); });
  ASSERT_TRUE(result.has_value());
  EXPECT_THAT(result->times, ElementsAre(Nanos{1000}, Nanos{1100}, Nanos{1050}));
  EXPECT_THAT(progress, ElementsAre(1, 2, 3));
  EXPECT_EQ(floats(*session)[5], 6);  // one dispatch after the last restore
  EXPECT_EQ(result->restored_bytes_per_iteration, 4 * kPage);
  EXPECT_TRUE(result->restored_on_device && result->recopy);
  EXPECT_EQ(result->captured_ns, 2000U);
  EXPECT_EQ(result->learned_pages, 0U);
  EXPECT_GT(result->wall.value, 0);
  EXPECT_EQ(bench.device.count("run"), 4);
}

TEST(FullVm, WarmCachesAreThoseOfADispatchWhoseOutputsWerePutBack) {
  SessionBench bench;
  bench.device.times.clear();
  for (int i = 1; i <= 8; ++i) bench.device.times.push_back(Nanos{1000 * i});
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  const auto result = run_full_vm(*session, {.iterations = 3, .caches = Caches::warm});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->caches, Caches::warm);
  EXPECT_THAT(result->times, ElementsAre(Nanos{4000}, Nanos{6000}, Nanos{8000}));
  EXPECT_EQ(floats(*session)[5], 6);  // one dispatch after the last restore
}

TEST(FullVm, ColdCachesWereDisplacedBeforeEachDispatch) {
  SessionBench bench;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  bench.device.room = kDisplacingBytes;
  bench.device.forget();
  const auto result = run_full_vm(*session, {.iterations = 3, .caches = Caches::cold});
  ASSERT_TRUE(result.has_value());
  std::vector<std::string> order;
  for (const std::string& call : bench.device.log)
    if (const std::string moved = fmt::format("{:#x}", kDisplacingBytes / 2);
        call == "run" || call.ends_with(moved))
      order.push_back(call == "run" ? call : "displace");
  EXPECT_THAT(order, ElementsAre("displace", "run", "displace", "run", "displace", "run",
                                 "displace", "run"));
  EXPECT_EQ(floats(*session)[5], 6);
}

TEST(FullVm, ColdCachesTakeRoom) {
  SessionBench bench;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  bench.device.room = kDisplacingBytes - 1;
  const auto refused = run_full_vm(*session, {.iterations = 3, .caches = Caches::cold});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::missing_tool);
}

TEST(FullVm, WithoutRecopyTheStateCarriesOver) {
  SessionBench bench;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  const auto result = run_full_vm(*session, {.iterations = 5, .warmup = 3, .no_recopy = true});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(floats(*session)[5], 10);
  EXPECT_EQ(bench.device.count("run"), 5);  // no warm-up: it would be seen in the state
  EXPECT_EQ(bench.device.count("copy"), 0);
  EXPECT_EQ(result->restored_bytes_per_iteration, 0U);
}

TEST(FullVm, RestoresWhatOnlyAnotherCodeObjectWrites) {
  SampleCapture sample = test::inplace_sample();
  const std::vector<std::byte> zero(kPage);
  sample.add(kSampleBase + 0x100000, zero, zero);
  SessionBench bench(sample);
  const std::string other = test::one_kernel_object(
      "inplace", {{0, 8, "global_buffer"}, {8, 4, "by_value"}}, 12, "other");
  std::vector<int> counts;
  bench.device.define(other, "inplace", {.body = [&](const Launch& launch) {
                        add_one(launch);
                        counts.push_back(++*reinterpret_cast<int*>(kSampleBase + 0x100000));
                      }});
  auto session = bench.open({.code_object = bench.folder.write("other.hsaco", other)});
  ASSERT_TRUE(session.has_value());
  const auto result = run_full_vm(*session, {.iterations = 3});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->learned_pages, 1U);
  EXPECT_THAT(counts, ::testing::Each(1));
  EXPECT_THAT(result->notes, ::testing::Contains(HasSubstr("1 pages are written here")));
}

/// Sensors whose core clock follows a list, the last value for ever.
class ScriptedSensors final : public sensors::Sensors {
 public:
  explicit ScriptedSensors(std::vector<double> clocks) : clocks_(std::move(clocks)) {}
  [[nodiscard]] std::string source() const override { return "nvml"; }
  sensors::Reading read() override {
    sensors::Reading reading;
    reading.core_mhz = clocks_[std::min(next_++, clocks_.size() - 1)];
    miss("power_w", "not in the script");
    return reading;
  }
  std::optional<double> read_energy() override { return std::nullopt; }

 private:
  std::vector<double> clocks_;
  std::size_t next_ = 0;
};

TEST(FullVm, RepeatsATurnInWhichTheClockChanged) {
  SessionBench bench;
  bench.device.times = {Nanos{9000}, Nanos{5000}, Nanos{1000}, Nanos{1100}, Nanos{1050}};
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  ScriptedSensors clocks({345, 1980});
  const auto result = run_full_vm(*session, {.iterations = 3, .sensors = &clocks});
  ASSERT_TRUE(result.has_value());
  // The one of 5000 ns was taken while the clock rose.
  EXPECT_THAT(result->times, ElementsAre(Nanos{1000}, Nanos{1100}, Nanos{1050}));
  EXPECT_EQ(result->conditions.source, "nvml");
  EXPECT_EQ(result->conditions.repeated, 1U);
  EXPECT_EQ(result->conditions.disturbed, 0U);
  ASSERT_EQ(result->conditions.turns.size(), 3U);
  EXPECT_EQ(result->conditions.turns[0].repeats, 1U);
  EXPECT_EQ(result->conditions.missing.at("power_w"), "not in the script");
}

TEST(FullVm, AClockThatNeverRestsEndsAfterTheBound) {
  SessionBench bench;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  std::vector<double> restless;
  for (int i = 0; i < 100; ++i) restless.push_back(i % 2 == 0 ? 1980 : 1410);
  ScriptedSensors clocks(restless);
  const auto result = run_full_vm(*session, {.iterations = 4, .sensors = &clocks});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->times.size(), 4U);
  EXPECT_EQ(result->conditions.repeated, 10U);
  EXPECT_EQ(result->conditions.disturbed, 4U);
  EXPECT_EQ(bench.device.count("run"), 1 + 10 + 4);
  ScriptedSensors again(restless);
  ASSERT_TRUE(session->restore_all().has_value());
  const auto carried =
      run_full_vm(*session, {.iterations = 4, .no_recopy = true, .sensors = &again});
  ASSERT_TRUE(carried.has_value());
  EXPECT_EQ(carried->conditions.repeated, 0U);  // each would be seen in the state
  EXPECT_EQ(carried->conditions.disturbed, 4U);
}

TEST(FullVm, ManyIterationsShareTheReadingsOfATurn) {
  SessionBench bench;
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  ScriptedSensors clocks({1980});
  const auto result = run_full_vm(*session, {.iterations = 250, .sensors = &clocks});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->times.size(), 250U);
  EXPECT_EQ(result->iterations_per_turn, 3U);
  EXPECT_EQ(result->conditions.turns.size(), 84U);
}

TEST(FullVm, EndsAtAFailureAndAtCtrlC) {
  SessionBench bench;
  bench.device.inject("run", 3, Failure::timed_out);
  auto session = bench.open();
  ASSERT_TRUE(session.has_value());
  const auto late = run_full_vm(*session, {.iterations = 5});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().message, "timed_out: injected");
  const auto stopped = run_full_vm(*session, {.iterations = 5}, [](std::uint64_t done) {
    if (done == 2) raise_interrupt();
  });
  clear_interrupts();
  ASSERT_FALSE(stopped.has_value());
  EXPECT_EQ(stopped.error().code, ErrorCode::interrupted);
  EXPECT_EQ(stopped.error().message, "interrupted after 2 of 5 iterations");
}

}  // namespace
}  // namespace perflab::replay
