// The parts of the library alone: tables, names, events, verdicts.
#include <map>

#include "base/random.h"
#include "isolate/isolated.h"
#include "isolate/protocol/fixed_table.h"
#include "isolate/protocol/kernels.h"
#include "isolate/protocol/settings.h"
#include "isolate/tool/allocations.h"

namespace perflab::test {
namespace {

using isolate::Allocation;
using isolate::Unreadable;

TEST(IsolateParts, FixedTableDoesWhatAMapDoes) {
  isolate::FixedTable<std::uint64_t, 6> table;
  std::map<std::uint64_t, std::uint64_t> map;
  std::uint64_t state = 12345;
  const auto random = [&] { return state = SplitMix64(state).next(); };
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t key = 1 + random() % 90, value = random();
    if (random() % 2 == 0) {
      const bool fits = map.contains(key) || map.size() < decltype(table)::kCapacity;
      ASSERT_EQ(table.put(key, value), fits);
      if (fits) map[key] = value;
    } else {
      ASSERT_EQ(table.erase(key), map.erase(key) == 1);
    }
    const std::uint64_t asked = 1 + random() % 90;
    const std::uint64_t* const found = table.find(asked);
    ASSERT_EQ(found != nullptr, map.contains(asked));
    if (found != nullptr) {
      ASSERT_EQ(*found, map[asked]);
    }
    ASSERT_EQ(table.size(), map.size());
  }
  EXPECT_FALSE(table.put(0, 1));
  EXPECT_EQ(table.find(0), nullptr);
}

Allocation mapping(std::uint64_t base, std::uint64_t bytes) {
  Allocation out{};
  out.base = base;
  out.bytes = bytes;
  out.reservation_base = 0x1000;
  out.reservation_bytes = 0x100000;
  out.origin = capture::Origin::vmem;
  return out;
}

std::vector<std::uint64_t> bases(const isolate::Allocations& memory) {
  std::vector<std::uint64_t> out;
  for (const Allocation& one : memory.all()) out.push_back(one.base);
  return out;
}

TEST(IsolateParts, UnmappingTakesWhatIsBehindButNotWhatCameSince) {
  isolate::Allocations memory;
  for (const std::uint64_t base : {0x4000U, 0x2000U, 0x6000U}) memory.add(mapping(base, 0x2000));
  const std::uint64_t now = memory.moment();
  memory.add(mapping(0x4000, 0x2000));  // mapped again before its end was heard of
  memory.take_mappings(0x2000, 0x4000, now);
  EXPECT_EQ(bases(memory), (std::vector<std::uint64_t>{0x4000, 0x6000}));
  memory.take_mappings(0x4000, 0x4000, memory.moment());
  EXPECT_TRUE(bases(memory).empty());
}

TEST(IsolateParts, ReservationsAreFoundByAnyAddressInThem) {
  isolate::Allocations memory;
  memory.reserve({.base = 0x9000, .bytes = 0x1000, .flags = 1});
  memory.reserve({.base = 0x1000, .bytes = 0x2000, .flags = 0});
  EXPECT_EQ(memory.reservation_of(0x0fff), std::nullopt);
  ASSERT_TRUE(memory.reservation_of(0x2fff).has_value());
  EXPECT_EQ(memory.reservation_of(0x2fff)->base, 0x1000U);
  EXPECT_FALSE(memory.reservation_of(0x3000).has_value());
  EXPECT_EQ(memory.reservation_of(0x9000)->flags, 1U);
  EXPECT_FALSE(memory.release(0x2000).has_value());
  EXPECT_EQ(memory.release(0x1000)->bytes, 0x2000U);
  EXPECT_FALSE(memory.reservation_of(0x2fff).has_value());
}

TEST(IsolateParts, LocksAreCounted) {
  isolate::Allocations memory;
  Allocation locked{};
  locked.base = 0x5000;
  locked.bytes = 64;
  locked.uses = 1;
  locked.origin = capture::Origin::locked;
  memory.lock(0x5000, locked);
  memory.lock(0x5000, locked);
  memory.unlock(0x5000);
  EXPECT_EQ(bases(memory).size(), 1U);
  memory.unlock(0x5000);
  memory.unlock(0x5000);
  EXPECT_TRUE(bases(memory).empty());
}

TEST(IsolateParts, PatternsAreTriedOnDemangledNames) {
  const auto matches = [](const char* pattern, const char* symbol) {
    const auto compiled = Pattern::compile(pattern);
    return compiled.has_value() && isolate::wanted(*compiled, symbol);
  };
  EXPECT_TRUE(matches("^vadd\\(float\\*", "_Z4vaddPfS_S_i"));
  EXPECT_FALSE(matches("_Z4vadd", "_Z4vaddPfS_S_i"));
  EXPECT_TRUE(matches("gemm", "Cijk_gemm_1"));
  EXPECT_FALSE(matches(".*", "__amd_rocclr_copyBuffer"));
  EXPECT_TRUE(matches("__amd_rocclr_copy", "__amd_rocclr_copyBuffer"));
  EXPECT_EQ(isolate::demangled("_Z7inplacePfi"), "inplace(float*, int)");
  for (const char* plain : {"no C++ name", "f", "y", "_Znonsense", ""})
    EXPECT_EQ(isolate::demangled(plain), plain);
}

TEST(IsolateParts, KernelsAreForgottenAndBoundAnew) {
  const TempFolder folder;
  const auto status = isolate::StatusLog::open(folder.path().string());
  ASSERT_TRUE(status.has_value());
  isolate::Kernels kernels(*Pattern::compile("b"), **status);
  isolate::KernelName* const a = kernels.named("a");
  isolate::KernelName* const b = kernels.named("b\"\n");
  EXPECT_FALSE(a->wanted);
  EXPECT_TRUE(b->wanted);
  EXPECT_EQ(kernels.named("a"), a);
  EXPECT_TRUE(kernels.bind(0x40, a));
  EXPECT_EQ(kernels.find(0x40), a);
  EXPECT_EQ(kernels.find(0x80), nullptr);
  kernels.unbind(0x40);
  EXPECT_EQ(kernels.find(0x40), nullptr);
  EXPECT_TRUE(kernels.bind(0x40, b));
  kernels.count(*kernels.find(0x40));
  kernels.count(*b);
  const auto events = isolate::read_events(folder.path());
  ASSERT_TRUE(events.has_value());
  const std::vector<isolate::SeenKernel> expected = {
      {.symbol = "b\"\n", .demangled = "b\"\n", .dispatches = 2}};
  EXPECT_EQ(events->kernels, expected);
}

TEST(IsolateParts, EventsThatAreNoneArePassedOver) {
  const TempFolder folder;
  EXPECT_EQ(isolate::read_events(folder.path())->loaded, 0);
  (void)folder.write("events.jsonl",
                     "{\"event\":\"loaded\",\"pid\":1}\nnonsense\n[]\n{\"event\":7}\n"
                     "{\"event\":\"kernel\",\"pid\":-3,\"slot\":0,\"name\":\"x\"}\n"
                     "{\"event\":\"kernel\",\"pid\":4,\"slot\":99999999,\"name\":\"y\"}\n"
                     "{\"event\":\"refused\",\"reason\":\"first\"}\n"
                     "{\"event\":\"refused\",\"reason\":\"second\"}\n"
                     "{\"event\":\"capt");
  const auto events = isolate::read_events(folder.path());
  ASSERT_TRUE(events.has_value());
  EXPECT_EQ(events->loaded, 1);
  EXPECT_FALSE(events->captured);
  EXPECT_EQ(events->refused, "first");
  // Its counter is gone; the event itself says that there was a dispatch.
  const std::vector<isolate::SeenKernel> expected = {
      {.symbol = "y", .demangled = "y", .dispatches = 1}};
  EXPECT_EQ(events->kernels, expected);
}

TEST(IsolateParts, VerdictsHaveTheirExitCodes) {
  isolate::LaunchOutcome outcome;
  isolate::LaunchPlan plan;
  plan.kernel = "k";
  const auto code = [&] {
    const auto judged = isolate::judge(outcome, plan);
    return judged ? 0 : exit_code(judged.error().code);
  };
  outcome.process.exit_code = 0;
  EXPECT_EQ(code(), 4) << "never loaded";
  outcome.events.loaded = 1;
  outcome.events.unusable = {"an entry is missing"};
  EXPECT_EQ(code(), 4) << "could not work";
  outcome.events.hooked = 1;
  EXPECT_EQ(code(), 1) << "no match";
  outcome.events.refused = "why";
  EXPECT_EQ(code(), 1) << "not captured";
  outcome.process.exit_code = 3;
  EXPECT_EQ(code(), 5) << "the program failed";
  outcome.events.captured = true;
  EXPECT_EQ(code(), 0) << "captured before it failed";
}

TEST(IsolateParts, SettingsAreCheckedBeforeAnythingIsHooked) {
  EXPECT_FALSE(isolate::settings_from_environment()->has_value());
  const ScopedVariable status(isolate::kStatusVariable, "/tmp");
  EXPECT_FALSE(isolate::settings_from_environment().has_value()) << "no folder";
  const ScopedVariable folder(isolate::kFolderVariable, "/tmp/x");
  for (const char* number : {"0", "-1", "three", "1x", "99999999999999999999"}) {
    const ScopedVariable dispatch(isolate::kDispatchVariable, number);
    EXPECT_FALSE(isolate::settings_from_environment().has_value()) << number;
  }
  const ScopedVariable dispatch(isolate::kDispatchVariable, "7");
  EXPECT_EQ((*isolate::settings_from_environment())->dispatch, 7U);
}

}  // namespace
}  // namespace perflab::test
