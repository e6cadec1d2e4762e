// Guards on cubins, on files that are written here: every difference alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "optimize/guards/guards.h"
#include "support/cubin_writer.h"

namespace perflab::optimize {
namespace {

using test::WrittenCubin;
using testing::HasSubstr;

WrittenCubin guarded_cubin() {
  WrittenCubin cubin;
  cubin.kernels = {{.name = "vadd",
                    .registers = 32,
                    .shared_bytes = 1000,
                    .parameters = {{0, 8}, {8, 8}, {16, 4}}},
                   {.name = "other", .registers = 20, .parameters = {{0, 8}}}};
  cubin.variables = {{.name = "table", .contents = std::string(64, '\1'), .constant = true},
                     {.name = "counter", .zeros = 4}};
  return cubin;
}

Result<ObjectGuards> check_files(const std::string& before, const std::string& after,
                                 std::optional<std::int64_t> block = 256) {
  return check_object(before, after, {.kernel = "vadd", .workgroup_size = block, .dynamic_lds = 0});
}

/// The guards on the original and a changed copy of it.
ObjectGuards guards_after(const std::function<void(WrittenCubin&)>& change,
                          std::optional<std::int64_t> block = 256) {
  WrittenCubin candidate = guarded_cubin();
  change(candidate);
  const auto checked =
      check_files(test::write_cubin(guarded_cubin()), test::write_cubin(candidate), block);
  EXPECT_TRUE(checked) << checked.error().message;
  return checked ? *checked : ObjectGuards{};
}

/// Only this guard fails, for this reason; its sentence.
std::string only_cubin_failure(const std::string& name, Reason reason,
                               const std::function<void(WrittenCubin&)>& change) {
  std::string detail;
  for (const ObjectGuards guards = guards_after(change);
       const GuardResult& guard : guards.results) {
    EXPECT_EQ(guard.passed, guard.name != name) << guard.name << ": " << guard.detail;
    EXPECT_EQ(guard.reason.has_value(), !guard.passed);
    if (guard.name != name) continue;
    EXPECT_EQ(guard.reason, reason);
    detail = guard.detail;
  }
  return detail;
}

const ResourceChange& change_named(const ObjectGuards& guards, const std::string& figure) {
  static const ResourceChange none;
  const auto found = std::ranges::find(guards.changes, figure, &ResourceChange::figure);
  EXPECT_NE(found, guards.changes.end()) << figure;
  return found == guards.changes.end() ? none : *found;
}

TEST(CubinGuards, TheSameCubinPassesAllWithoutAWord) {
  const ObjectGuards guards = guards_after([](WrittenCubin&) {});
  ASSERT_EQ(guards.results.size(), 7U);
  for (const GuardResult& guard : guards.results) {
    EXPECT_TRUE(guard.passed) << guard.name;
    EXPECT_EQ(guard.detail, "") << guard.name;
  }
  EXPECT_TRUE(guards.changes.empty());
}

TEST(CubinGuards, CodeOfTheKernelItselfMayChange) {
  for (const auto guards =
           guards_after([](WrittenCubin& cubin) { cubin.kernels[0].code.append(128, 'x'); });
       const GuardResult& guard : guards.results)
    EXPECT_TRUE(guard.passed) << guard.name;
}

TEST(CubinGuards, EveryChangeOfTheParametersIsSeen) {
  const auto with = [](const std::function<void(test::WrittenCubinKernel&)>& change) {
    return only_cubin_failure("kernarg", Reason::kernarg_changed,
                              [&](WrittenCubin& cubin) { change(cubin.kernels[0]); });
  };
  EXPECT_EQ(with([](auto& kernel) { kernel.parameters[2].size = 8; }),
            "parameter 2: the original has 4 bytes at offset 16, the candidate has 8 bytes at "
            "offset 16");
  EXPECT_THAT(with([](auto& kernel) { kernel.parameters[1].offset = 24; }),
              HasSubstr("parameter 1"));
  EXPECT_THAT(with([](auto& kernel) { kernel.parameters.push_back({24, 8}); }),
              HasSubstr("the original has none"));
  EXPECT_THAT(with([](auto& kernel) { kernel.parameters.pop_back(); }),
              HasSubstr("the candidate has none"));
}

TEST(CubinGuards, OtherKernelsHaveToStay) {
  const auto with = [](const std::function<void(WrittenCubin&)>& change) {
    return only_cubin_failure("other_kernels", Reason::other_code_changed, change);
  };
  EXPECT_EQ(with([](auto& cubin) { cubin.kernels.push_back({.name = "second"}); }),
            "new kernels: second");
  EXPECT_EQ(with([](auto& cubin) { cubin.kernels.pop_back(); }), "kernels that are gone: other");
  for (const std::function<void(test::WrittenCubinKernel&)>& change :
       {std::function<void(test::WrittenCubinKernel&)>([](auto& k) { k.registers = 24; }),
        {[](auto& k) { k.shared_bytes = 16; }},
        {[](auto& k) { k.stack_bytes = 16; }},
        {[](auto& k) { k.spills = 1; }},
        {[](auto& k) { k.parameters[0].size = 4; }},
        {[](auto& k) { k.max_threads = {{128, 1, 1}}; }},
        {[](auto& k) { k.code.append(16, '\0'); }}})
    EXPECT_EQ(with([&](auto& cubin) { change(cubin.kernels[1]); }), "kernels that changed: other");
}

TEST(CubinGuards, WordsOfOtherKernelsMayMove) {
  const ObjectGuards guards =
      guards_after([](WrittenCubin& cubin) { cubin.kernels[1].code[20] = 'x'; });
  const auto others = std::ranges::find(guards.results, "other_kernels", &GuardResult::name);
  EXPECT_TRUE(others->passed);
  EXPECT_THAT(others->detail, HasSubstr("other (1 of 8 instructions)"));
}

TEST(CubinGuards, VariablesHaveToStay) {
  const auto with = [](const std::function<void(WrittenCubin&)>& change) {
    return only_cubin_failure("variables", Reason::other_code_changed, change);
  };
  EXPECT_EQ(with([](auto& cubin) { cubin.variables.push_back({.name = "more", .zeros = 8}); }),
            "variables: more (8 bytes) is new");
  EXPECT_EQ(with([](auto& cubin) { cubin.variables.pop_back(); }), "variables: counter is gone");
  EXPECT_EQ(with([](auto& cubin) { cubin.variables[1].zeros = 16; }),
            "variables: counter has 16 bytes, it had 4");
  EXPECT_EQ(with([](auto& cubin) { cubin.variables[0].contents[3] = 'x'; }),
            "variables: table begins with other contents");
  EXPECT_EQ(with([](auto& cubin) { cubin.variables[0].constant = false; }),
            "variables: table is global, it was constant");
}

TEST(CubinGuards, NamesOfAUnitAreNoDifference) {
  WrittenCubin before = guarded_cubin(), after = guarded_cubin();
  before.kernels[1].name = "_ZN33_GLOBAL__N__643c1924_4_b_cu_table5innerEPi";
  after.kernels[1].name = "_ZN33_GLOBAL__N__e2a86b8a_4_b_cu_table5innerEPi";
  const auto checked = check_files(test::write_cubin(before), test::write_cubin(after));
  ASSERT_TRUE(checked);
  EXPECT_EQ(first_failure(checked->results), nullptr);
}

TEST(CubinGuards, TargetBoundsAndClusters) {
  EXPECT_EQ(only_cubin_failure("target", Reason::other_code_changed,
                               [](auto& cubin) { cubin.architecture = 100; }),
            "the original is for sm_90, the candidate for sm_100");
  const auto bounds = [](const std::function<void(test::WrittenCubinKernel&)>& change) {
    return only_cubin_failure("launch_bounds_of_code", Reason::launch_bounds,
                              [&](WrittenCubin& cubin) { change(cubin.kernels[0]); });
  };
  EXPECT_EQ(bounds([](auto& kernel) { kernel.max_threads = {{128, 1, 1}}; }),
            "the candidate allows blocks of 128 threads at most, and 256 are launched");
  EXPECT_EQ(bounds([](auto& kernel) { kernel.required_threads = {{16, 8, 1}}; }),
            "the candidate requires blocks of 128 threads, and 256 are launched");
  EXPECT_EQ(bounds([](auto& kernel) { kernel.cluster = {{2, 1, 1}}; }),
            "the original has no clusters, the candidate has clusters of 2x1x1");
  const auto unknown = guards_after([](auto&) {}, std::nullopt);
  EXPECT_THAT(
      std::ranges::find(unknown.results, "launch_bounds_of_code", &GuardResult::name)->detail,
      HasSubstr("the size of the blocks that are launched is not known"));
}

TEST(CubinGuards, WhatGetsWorseIsSaidInWordsOfCuda) {
  const ObjectGuards guards = guards_after([](WrittenCubin& cubin) {
    cubin.kernels[0].registers = 80;
    cubin.kernels[0].shared_bytes = 4096;
    cubin.kernels[0].stack_bytes = 64;
    cubin.kernels[0].spills = 9;
  });
  EXPECT_TRUE(guards.regressed());
  EXPECT_EQ(guards.results.back().detail,
            "worse, a gain has to be proven: registers 80 instead of 32, shared_bytes 4096 instead "
            "of 1000, local_bytes 64 instead of 0, spills 9 instead of 0, occupancy 6 instead of "
            "16");
  EXPECT_TRUE(guards.results.back().passed);
  const ObjectGuards better = guards_after([](auto& cubin) { cubin.kernels[0].registers = 24; });
  EXPECT_FALSE(better.regressed());
  EXPECT_FALSE(change_named(better, "registers").regression);
}

TEST(CubinGuards, OlderCompilersDoNotListSpills) {
  WrittenCubin old = guarded_cubin();
  old.cuda_version = 124;
  const auto checked = check_files(test::write_cubin(old), test::write_cubin(old));
  ASSERT_TRUE(checked);
  EXPECT_THAT(checked->results.back().detail, HasSubstr("not known whether spills are new"));
}

TEST(CubinGuards, FilesOfSeveralArchitecturesAreComparedByThatOfTheGpu) {
  WrittenCubin old = guarded_cubin(), worse = guarded_cubin();
  old.architecture = 80;
  worse.kernels[0].registers = 80;
  const std::vector<test::WrittenFatbinEntry> before{
      {.architecture = 80, .bytes = test::write_cubin(old)},
      {.architecture = 90, .bytes = test::write_cubin(guarded_cubin())}};
  const std::vector<test::WrittenFatbinEntry> after{
      {.architecture = 80, .bytes = test::write_cubin(old)},
      {.architecture = 90, .bytes = test::write_cubin(worse)}};
  const auto checked =
      check_object(test::write_fatbin(before),
                   test::write_cuda_host_file(".nv_fatbin", test::write_fatbin(after)),
                   {.kernel = "vadd", .workgroup_size = 256, .dynamic_lds = 0, .architecture = 90});
  ASSERT_TRUE(checked) << checked.error().message;
  EXPECT_EQ(change_named(*checked, "registers").after, 80.0);
}

TEST(CubinGuards, AKernelThatIsGoneAndFilesThatAreNone) {
  const std::string original = test::write_cubin(guarded_cubin());
  WrittenCubin without = guarded_cubin();
  without.kernels.erase(without.kernels.begin());
  const auto gone = check_files(original, test::write_cubin(without));
  ASSERT_TRUE(gone);
  ASSERT_EQ(gone->results.size(), 1U);
  EXPECT_EQ(gone->results[0].reason, Reason::kernel_missing);
  const auto none = check_files(test::write_cubin(without), original);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::bad_input);
  EXPECT_FALSE(check_files(original, "text"));
}

}  // namespace
}  // namespace perflab::optimize
