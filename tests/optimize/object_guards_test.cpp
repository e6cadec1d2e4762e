// Guards on code objects, on objects that are written here: every difference alone.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "optimize/guards/guards.h"
#include "support/code_writer.h"

namespace perflab::optimize {
namespace {

using test::WrittenCodeObject;
using test::WrittenKernel;
using testing::HasSubstr;

constexpr std::int64_t kGroup = 256;

/// The pointers and the count of a vector addition, then what the runtime fills in.
std::vector<test::WrittenArgument> vadd_arguments() {
  return {{0, 8, "global_buffer"},
          {8, 8, "global_buffer"},
          {16, 4, "by_value"},
          {24, 4, "hidden_block_count_x"}};
}

WrittenKernel written_kernel(const std::string& name,
                             const std::vector<test::WrittenArgument>& arguments) {
  WrittenKernel kernel;
  kernel.name = name;
  kernel.metadata = test::kernel_metadata(name, arguments);
  kernel.code = std::string("\0\0\x80\xbf\0\0\x80\xbf\0\0\x81\xbf", 12);  // s_nop, s_nop, s_endpgm
  return kernel;
}

WrittenCodeObject guarded_object() {
  WrittenCodeObject object;
  object.metadata = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx942");
  object.kernels = {written_kernel("vadd", vadd_arguments()),
                    written_kernel("other", {{0, 8, "global_buffer"}})};
  object.variables = {{.name = "table", .bytes = std::string(64, '\1'), .exported = true},
                      {.name = "inner", .bytes = std::string(8, '\2'), .exported = false}};
  return object;
}

ObjectGuards guards_of(const WrittenCodeObject& candidate,
                       std::optional<std::int64_t> group = kGroup, std::int64_t lds = 0,
                       const WrittenCodeObject& original = guarded_object()) {
  const auto checked =
      check_object(test::write_code_object(original), test::write_code_object(candidate),
                   {.kernel = "vadd", .workgroup_size = group, .dynamic_lds = lds});
  EXPECT_TRUE(checked) << checked.error().message;
  return checked ? *checked : ObjectGuards{};
}

const GuardResult& guard_named(const ObjectGuards& guards, const std::string& name) {
  static const GuardResult none;
  const auto found = std::ranges::find(guards.results, name, &GuardResult::name);
  EXPECT_NE(found, guards.results.end()) << name;
  return found == guards.results.end() ? none : *found;
}

/// Only this guard fails, for this reason; its sentence.
std::string only_failure(const ObjectGuards& guards, const std::string& name, Reason reason) {
  std::string detail;
  for (const GuardResult& guard : guards.results) {
    EXPECT_EQ(guard.passed, guard.name != name) << guard.name << ": " << guard.detail;
    EXPECT_EQ(guard.reason.has_value(), !guard.passed);
    if (guard.name != name) continue;
    EXPECT_EQ(guard.reason, reason);
    detail = guard.detail;
  }
  return detail;
}

TEST(ObjectGuards, TheSameObjectPassesAllWithoutAWord) {
  const ObjectGuards guards = guards_of(guarded_object());
  ASSERT_EQ(guards.results.size(), 7U);
  for (const GuardResult& guard : guards.results) {
    EXPECT_TRUE(guard.passed) << guard.name;
    EXPECT_EQ(guard.detail, "") << guard.name;
  }
  EXPECT_TRUE(guards.changes.empty());
  EXPECT_FALSE(guards.regressed());
}

TEST(ObjectGuards, CodeOfTheKernelItselfMayChange) {
  WrittenCodeObject candidate = guarded_object();
  candidate.kernels[0].code.append(64, '\0');
  for (const auto guards = guards_of(candidate); const GuardResult& guard : guards.results)
    EXPECT_TRUE(guard.passed);
}

TEST(ObjectGuards, EveryChangeOfTheArgumentsIsSeen) {
  const auto with = [](const std::vector<test::WrittenArgument>& arguments) {
    WrittenCodeObject candidate = guarded_object();
    candidate.kernels[0] = written_kernel("vadd", arguments);
    return only_failure(guards_of(candidate), "kernarg", Reason::kernarg_changed);
  };
  auto arguments = vadd_arguments();
  arguments[2].size = 8;
  EXPECT_EQ(with(arguments),
            "argument 2: the original has by_value of 4 bytes at offset 16, the candidate has "
            "by_value of 8 bytes at offset 16");
  arguments = vadd_arguments();
  arguments[1].kind = "by_value";
  EXPECT_THAT(with(arguments), HasSubstr("the original has global_buffer of 8 bytes at offset 8, "
                                         "address space global, the candidate has by_value"));
  arguments = vadd_arguments();
  std::swap(arguments[0].offset, arguments[1].offset);
  EXPECT_THAT(with(arguments), HasSubstr("argument 0"));
  arguments = vadd_arguments();
  arguments.insert(arguments.begin() + 3, {20, 4, "by_value"});
  EXPECT_THAT(with(arguments), HasSubstr("the original has none, the candidate has by_value"));
  arguments = vadd_arguments();
  arguments.erase(arguments.begin() + 2);
  EXPECT_THAT(with(arguments), HasSubstr("the candidate has none"));
}

TEST(ObjectGuards, HiddenArgumentsMayComeAndGo) {
  auto arguments = vadd_arguments();
  arguments.pop_back();
  WrittenCodeObject candidate = guarded_object();
  candidate.kernels[0] = written_kernel("vadd", arguments);
  EXPECT_EQ(guard_named(guards_of(candidate), "kernarg").detail, "");
  EXPECT_TRUE(guard_named(guards_of(candidate), "kernarg").passed);
  arguments = vadd_arguments();
  arguments.push_back({32, 8, "hidden_heap_v1"});
  candidate.kernels[0] = written_kernel("vadd", arguments);
  EXPECT_TRUE(guard_named(guards_of(candidate), "kernarg").passed);
  EXPECT_THAT(guard_named(guards_of(candidate), "kernarg").detail, HasSubstr("hidden_heap_v1"));
}

TEST(ObjectGuards, OtherKernelsHaveToStay) {
  WrittenCodeObject candidate = guarded_object();
  candidate.kernels.push_back(written_kernel("second", {}));
  EXPECT_EQ(only_failure(guards_of(candidate), "other_kernels", Reason::other_code_changed),
            "new kernels: second");
  candidate = guarded_object();
  candidate.kernels.pop_back();
  EXPECT_EQ(only_failure(guards_of(candidate), "other_kernels", Reason::other_code_changed),
            "kernels that are gone: other");
  candidate = guarded_object();
  candidate.kernels[1].metadata[".vgpr_count"] = 9;
  EXPECT_EQ(only_failure(guards_of(candidate), "other_kernels", Reason::other_code_changed),
            "kernels that changed: other");
  candidate = guarded_object();
  candidate.kernels[1].code.append(4, '\0');
  EXPECT_EQ(only_failure(guards_of(candidate), "other_kernels", Reason::other_code_changed),
            "kernels that changed: other");
  // Words of the same length may be addresses: said, and passed.
  candidate = guarded_object();
  candidate.kernels[1].code[4] = '\1';
  EXPECT_TRUE(guard_named(guards_of(candidate), "other_kernels").passed);
  EXPECT_THAT(guard_named(guards_of(candidate), "other_kernels").detail,
              HasSubstr("other (1 of 3 words)"));
}

TEST(ObjectGuards, VariablesThatTheRuntimeSeesHaveToStay) {
  WrittenCodeObject candidate = guarded_object();
  candidate.variables.push_back({.name = "cache", .bytes = std::string(4, '\0'), .exported = true});
  EXPECT_EQ(only_failure(guards_of(candidate), "variables", Reason::other_code_changed),
            "variables: cache (4 bytes) is new");
  candidate = guarded_object();
  candidate.variables.erase(candidate.variables.begin());
  EXPECT_EQ(only_failure(guards_of(candidate), "variables", Reason::other_code_changed),
            "variables: table is gone");
  candidate = guarded_object();
  candidate.variables[0].bytes.resize(60);
  EXPECT_EQ(only_failure(guards_of(candidate), "variables", Reason::other_code_changed),
            "variables: table has 60 bytes, it had 64");
  candidate = guarded_object();
  candidate.variables.pop_back();  // the one that stays inside
  EXPECT_TRUE(guard_named(guards_of(candidate), "variables").passed);
}

/// An object with one more variable, as a compiler marks a translation unit with.
WrittenCodeObject marked(const std::string& name, const std::string& bytes = std::string(1, '\0')) {
  WrittenCodeObject object = guarded_object();
  object.variables.push_back({.name = name, .bytes = bytes, .exported = true});
  return object;
}

TEST(ObjectGuards, MarkersOfTranslationUnitsMayDifferComeAndGo) {
  const WrittenCodeObject here = marked("__hip_cuid_7de0a077e60a5253"),
                          there = marked("__hip_cuid_f2f48c724a18e0"), none = guarded_object(),
                          unnamed = marked("__hip_cuid_");  // -fuse-cuid=none with -fgpu-rdc
  for (const WrittenCodeObject* original : {&here, &there, &none, &unnamed})
    for (const WrittenCodeObject* candidate : {&here, &there, &none, &unnamed})
      EXPECT_EQ(guard_named(guards_of(*candidate, kGroup, 0, *original), "variables").detail, "");
}

TEST(ObjectGuards, WhatIsOnlyNamedLikeAMarkerIsAVariable) {
  const auto refused = [](const WrittenCodeObject& candidate) {
    return only_failure(guards_of(candidate, kGroup, 0, marked("__hip_cuid_7de0a077e60a5253")),
                        "variables", Reason::other_code_changed);
  };
  EXPECT_EQ(refused(marked("__hip_cuid_7de0a077e60a5254", std::string(4, '\0'))),
            "variables: __hip_cuid_7de0a077e60a5254 (4 bytes) is new");
  EXPECT_THAT(refused(marked("__hip_cuid_7de0a077e60a5254", "\1")), HasSubstr("(1 bytes) is new"));
  for (const char* name : {"__hip_cuid_cache", "__hip_cuid_7de0a077e60a52534", "__hip_cuid_7DE0",
                           "x__hip_cuid_7de0", "__hip_cuid_7de0.managed", "__cuda_cuid_7de0"})
    EXPECT_THAT(refused(marked(name)), HasSubstr(std::string(name) + " (1 bytes) is new"));
  WrittenCodeObject bound = marked("__hip_cuid_7de0a077e60a5254");
  bound.variables.back().replaceable = false;
  EXPECT_THAT(refused(bound), HasSubstr("is new"));
  WrittenCodeObject function = marked("__hip_cuid_7de0a077e60a5254");
  function.variables.back().function = true;
  EXPECT_THAT(refused(function), HasSubstr("the function __hip_cuid_7de0a077e60a5254 is new"));
}

TEST(ObjectGuards, NamesMayDifferInTheirTranslationUnitOnly) {
  const auto with = [](const std::string& kernel, const std::string& variable,
                       const std::string& bytes) {
    WrittenCodeObject object = guarded_object();
    object.kernels[1] = written_kernel(kernel, {{0, 8, "global_buffer"}});
    object.variables.push_back({.name = variable, .bytes = bytes, .exported = true});
    return object;
  };
  const std::string four(4, '\3');
  const WrittenCodeObject original =
      with("_ZL5otherPi.intern.a29b7bc44de004a4", "_ZL1m.static.a29b7bc44de004a4.managed", four);
  const auto against = [&](const WrittenCodeObject& candidate) {
    return guards_of(candidate, kGroup, 0, original);
  };
  for (const char* unit : {"1842227ace5d8122", "6fe5a6d6f046dd", "52641bfe00_059a4aa7"}) {
    const ObjectGuards guards = against(with(fmt::format("_ZL5otherPi.intern.{}", unit),
                                             fmt::format("_ZL1m.static.{}.managed", unit), four));
    for (const GuardResult& guard : guards.results) EXPECT_EQ(guard.detail, "") << guard.name;
  }
  // Everything else about them has to stay.
  const std::string kernel = "_ZL5otherPi.intern.1842227ace5d8122";
  EXPECT_EQ(only_failure(against(with(kernel, "_ZL1m.static.1842227ace5d8122.managed",
                                      std::string(4, '\4'))),
                         "variables", Reason::other_code_changed),
            "variables: _ZL1m.static.1842227ace5d8122.managed begins with other contents");
  EXPECT_THAT(only_failure(against(with(kernel, "_ZL1m.static.1842227ace5d8122.managed",
                                        std::string(8, '\3'))),
                           "variables", Reason::other_code_changed),
              HasSubstr("has 8 bytes, it had 4"));
  for (const char* variable :
       {"_ZL1m.static.1842227ace5d8122", "_ZL1n.static.1842227ace5d8122.managed",
        "_ZL1m.intern2.1842227ace5d8122.managed", "_ZL1m.1842227ace5d8122.managed",
        "_ZL1m.static.18G2.managed", "_ZL1m.managed"})
    EXPECT_THAT(only_failure(against(with(kernel, variable, four)), "variables",
                             Reason::other_code_changed),
                HasSubstr(fmt::format("{} (4 bytes) is new", variable)));
  WrittenCodeObject longer = with(kernel, "_ZL1m.static.1842227ace5d8122.managed", four);
  longer.kernels[1].code.append(4, '\0');
  EXPECT_THAT(only_failure(against(longer), "other_kernels", Reason::other_code_changed),
              HasSubstr("kernels that changed: _ZL5otherPi.intern."));
  EXPECT_THAT(only_failure(against(with("other", "_ZL1m.static.1842227ace5d8122.managed", four)),
                           "other_kernels", Reason::other_code_changed),
              HasSubstr("new kernels: other"));
  // Two of one name: which is which cannot be told.
  WrittenCodeObject twice = original, other_twice = with(kernel, "_ZL1m.static.12.managed", four);
  twice.variables.push_back({.name = "_ZL1m.static.b1.managed", .bytes = four});
  other_twice.variables.push_back({.name = "_ZL1m.static.b2.managed", .bytes = four});
  EXPECT_FALSE(guard_named(guards_of(other_twice, kGroup, 0, twice), "variables").passed);
}

TEST(ObjectGuards, TheKernelItselfIsFoundInAnotherTranslationUnit) {
  const auto object = [](const std::string& kernel) {
    WrittenCodeObject out = guarded_object();
    out.kernels[0] = written_kernel(kernel, vadd_arguments());
    return test::write_code_object(out);
  };
  const auto judged = [&](const std::string& candidate) {
    const auto checked = check_object(object("_ZL4vadd.intern.12ab"), object(candidate),
                                      {.kernel = "_ZL4vadd.intern.12ab", .workgroup_size = kGroup});
    EXPECT_TRUE(checked) << checked.error().message;
    return checked ? *checked : ObjectGuards{};
  };
  for (const auto guards = judged("_ZL4vadd.intern.34cd");
       const GuardResult& guard : guards.results)
    EXPECT_EQ(guard.detail, "") << guard.name;
  for (const char* other : {"_ZL4vadd", "_ZL4vadd.static2.34cd", "_ZL5vadd2.intern.34cd"})
    EXPECT_EQ(judged(other).results.at(0).reason, Reason::kernel_missing) << other;
}

TEST(ObjectGuards, FunctionsThatTheObjectOffersHaveToStay) {
  WrittenCodeObject original = guarded_object();
  original.variables.push_back({.name = "helper", .bytes = "code", .function = true});
  const auto refused = [&](const WrittenCodeObject& candidate) {
    return only_failure(guards_of(candidate, kGroup, 0, original), "variables",
                        Reason::other_code_changed);
  };
  EXPECT_EQ(refused(guarded_object()), "variables: the function helper is gone");
  WrittenCodeObject candidate = original;
  candidate.variables.back().name = "helper.intern2.7de0a077e60a5253";
  EXPECT_THAT(refused(candidate), HasSubstr("the function helper.intern2.7de0a077e60a5253 is new"));
  candidate = original;
  candidate.variables.back().function = false;
  EXPECT_EQ(refused(candidate), "variables: helper is a variable, it was a function");
  candidate = original;
  candidate.variables.back().bytes = "longer code";  // it may call what changed
  EXPECT_TRUE(guard_named(guards_of(candidate, kGroup, 0, original), "variables").passed);
}

TEST(ObjectGuards, LaunchBoundsHaveToAllowTheWorkGroup) {
  WrittenCodeObject candidate = guarded_object();
  candidate.kernels[0].metadata[".max_flat_workgroup_size"] = kGroup;
  EXPECT_TRUE(guard_named(guards_of(candidate), "launch_bounds_of_code").passed);
  candidate.kernels[0].metadata[".max_flat_workgroup_size"] = kGroup - 1;
  EXPECT_EQ(only_failure(guards_of(candidate), "launch_bounds_of_code", Reason::launch_bounds),
            "the candidate allows work-groups of 255 work-items at most, and 256 are launched");
  EXPECT_THAT(guard_named(guards_of(candidate, std::nullopt), "launch_bounds_of_code").detail,
              HasSubstr("not compared"));
  candidate = guarded_object();
  candidate.kernels[0].metadata[".reqd_workgroup_size"] = {16, 16, 1};
  EXPECT_TRUE(guard_named(guards_of(candidate), "launch_bounds_of_code").passed);
  candidate.kernels[0].metadata[".reqd_workgroup_size"] = {64, 2, 1};
  EXPECT_THAT(only_failure(guards_of(candidate), "launch_bounds_of_code", Reason::launch_bounds),
              HasSubstr("requires work-groups of 128 work-items"));
}

TEST(ObjectGuards, TargetAndWaveSizeHaveToStay) {
  WrittenCodeObject candidate = guarded_object();
  candidate.flags = 0x54b;  // gfx940's neighbour: another processor
  candidate.metadata = test::object_metadata(5, "amdgcn-amd-amdhsa--gfx90a");
  EXPECT_THAT(only_failure(guards_of(candidate), "target", Reason::other_code_changed),
              HasSubstr("the candidate for gfx941"));
  candidate = guarded_object();
  candidate.kernels[0].metadata[".wavefront_size"] = 32;
  EXPECT_THAT(only_failure(guards_of(candidate), "target", Reason::other_code_changed),
              HasSubstr("in waves of 32"));
}

/// The change of one figure, with the original's and the candidate's value of a metadata key.
std::optional<ResourceChange> change_of(const std::string& figure, const std::string& key,
                                        std::int64_t before, std::int64_t after,
                                        std::int64_t dynamic_lds = 0) {
  WrittenCodeObject original = guarded_object(), candidate = guarded_object();
  original.kernels[0].metadata[key] = before;
  candidate.kernels[0].metadata[key] = after;
  const ObjectGuards guards = guards_of(candidate, kGroup, dynamic_lds, original);
  for (const GuardResult& guard : guards.results) EXPECT_TRUE(guard.passed) << guard.detail;
  const auto found = std::ranges::find(guards.changes, figure, &ResourceChange::figure);
  if (found == guards.changes.end()) return std::nullopt;
  EXPECT_EQ(found->regression,
            guard_named(guards, "resources").detail.find(figure) != std::string::npos);
  return *found;
}

TEST(ObjectGuards, ResourcesThatGrowBeyondTheLimitsAreRegressions) {
  EXPECT_FALSE(change_of("vgprs", ".vgpr_count", 40, 48)->regression);  // 20 %
  EXPECT_TRUE(change_of("vgprs", ".vgpr_count", 40, 52)->regression);
  EXPECT_FALSE(change_of("vgprs", ".vgpr_count", 48, 40)->regression);
  const auto vgprs = change_of("vgprs", ".vgpr_count", 40, 52);
  EXPECT_EQ(vgprs->before, 40.0);
  EXPECT_EQ(vgprs->after, 52.0);
  EXPECT_FALSE(change_of("sgprs", ".sgpr_count", 16, 100)->regression);
  EXPECT_FALSE(change_of("lds_bytes", ".group_segment_fixed_size", 1000, 1300)->regression);
  EXPECT_TRUE(change_of("lds_bytes", ".group_segment_fixed_size", 1000, 1301)->regression);
  EXPECT_TRUE(change_of("lds_bytes", ".group_segment_fixed_size", 0, 4)->regression);
  // Dynamic LDS counts on both sides.
  EXPECT_FALSE(change_of("lds_bytes", ".group_segment_fixed_size", 0, 300, 1000)->regression);
  EXPECT_TRUE(change_of("scratch_bytes", ".private_segment_fixed_size", 0, 16)->regression);
  EXPECT_FALSE(change_of("scratch_bytes", ".private_segment_fixed_size", 16, 0)->regression);
  EXPECT_TRUE(change_of("spills", ".vgpr_spill_count", 0, 1)->regression);
  EXPECT_TRUE(change_of("spills", ".sgpr_spill_count", 2, 3)->regression);
  EXPECT_FALSE(change_of("spills", ".sgpr_spill_count", 3, 3));
  // 64 registers: 8 waves; 72: 7; 80: 6.
  EXPECT_FALSE(change_of("occupancy", ".vgpr_count", 64, 72)->regression);
  EXPECT_TRUE(change_of("occupancy", ".vgpr_count", 64, 80)->regression);
}

/// The spills of two kernels that lack some keys of their metadata, and what is said of resources.
struct SpillsSaid {
  std::optional<ResourceChange> change;
  std::string said;
};
SpillsSaid spills_without(const std::vector<std::string>& of_original,
                          const std::vector<std::string>& of_candidate) {
  WrittenCodeObject original = guarded_object(), candidate = guarded_object();
  candidate.kernels[0].metadata[".vgpr_spill_count"] = 7;
  for (const std::string& key : of_original) original.kernels[0].metadata.erase(key);
  for (const std::string& key : of_candidate) candidate.kernels[0].metadata.erase(key);
  const ObjectGuards guards = guards_of(candidate, kGroup, 0, original);
  const auto found = std::ranges::find(guards.changes, "spills", &ResourceChange::figure);
  return {.change = found == guards.changes.end() ? std::nullopt : std::optional(*found),
          .said = guard_named(guards, "resources").detail};
}

TEST(ObjectGuards, ASpillCountThatIsMissingIsNoZero) {
  const std::string sgprs = ".sgpr_spill_count", vgprs = ".vgpr_spill_count";
  const SpillsSaid both = spills_without({}, {});
  ASSERT_TRUE(both.change);
  EXPECT_EQ(both.change->after, 7.0);
  EXPECT_TRUE(both.change->regression);
  EXPECT_EQ(both.said, "worse, a gain has to be proven: spills 7 instead of 0");
  for (const std::string& key : {sgprs, vgprs}) {
    const SpillsSaid candidate = spills_without({}, {key});
    ASSERT_TRUE(candidate.change) << key;
    EXPECT_EQ(candidate.change->before, 0.0);
    EXPECT_EQ(candidate.change->after, std::nullopt);
    EXPECT_FALSE(candidate.change->regression);
    EXPECT_THAT(candidate.said, HasSubstr("the metadata of the candidate does not count both"));
    const SpillsSaid original = spills_without({key}, {});
    ASSERT_TRUE(original.change) << key;
    EXPECT_EQ(original.change->before, std::nullopt);
    EXPECT_EQ(original.change->after, 7.0);
    EXPECT_THAT(original.said, HasSubstr("the metadata of the original does not count both"));
  }
  const SpillsSaid neither = spills_without({sgprs}, {vgprs});
  EXPECT_FALSE(neither.change);
  EXPECT_EQ(neither.said,
            "not known whether spills are new: the metadata of either kernel does not count both "
            "kinds");
}

TEST(ObjectGuards, ACandidateWithoutTheKernelFailsAndAnOriginalWithoutItIsAnError) {
  WrittenCodeObject renamed = guarded_object();
  renamed.kernels[0] = written_kernel("vadd2", vadd_arguments());
  const ObjectGuards guards = guards_of(renamed);
  ASSERT_EQ(guards.results.size(), 1U);
  EXPECT_EQ(guards.results[0].reason, Reason::kernel_missing);
  const std::string whole = test::write_code_object(guarded_object());
  const auto missing = check_object(test::write_code_object(renamed), whole,
                                    {.kernel = "vadd", .workgroup_size = {}});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::bad_input);
  EXPECT_THAT(missing.error().message, HasSubstr("has no kernel vadd"));
  const auto damaged =
      check_object(whole, whole.substr(0, 100), {.kernel = "vadd", .workgroup_size = {}});
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("candidate's code object"));
}

TEST(ObjectGuards, TheRightObjectOfABundleIsCompared) {
  const std::string whole = test::write_code_object(guarded_object());
  WrittenCodeObject other = guarded_object();
  other.kernels.erase(other.kernels.begin());
  const std::vector<test::WrittenEntry> entries{{"host-x86_64-unknown-linux-gnu-", ""},
                                                {"hipv4-amdgcn-amd-amdhsa--gfx942", whole}};
  const auto checked =
      check_object(whole, test::write_bundle(entries), {.kernel = "vadd", .workgroup_size = 64});
  ASSERT_TRUE(checked) << checked.error().message;
  for (const GuardResult& guard : checked->results) EXPECT_TRUE(guard.passed) << guard.detail;
}

}  // namespace
}  // namespace perflab::optimize
