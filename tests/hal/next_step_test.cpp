// hal/occupancy_next_step.h against brute force over the public model functions: random kernels on
// every architecture, wave size and mode of the tables, with examples to read.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/sizes.h"
#include "hal/occupancy.h"

namespace perflab::hal {
namespace {

using ::testing::ElementsAre;

double waves(const OccupancyLimits& limits, const KernelResources& kernel, OccupancyModel model) {
  switch (model) {
    case OccupancyModel::llvm:
      return llvm_occupancy(limits, kernel).waves_per_simd;
    case OccupancyModel::hip:
      return hip_occupancy(limits, kernel).waves_per_simd;
    case OccupancyModel::resident:
      return resident_occupancy(limits, kernel).waves_per_simd;
    case OccupancyModel::cuda:
      return cuda_occupancy(limits, kernel).waves_per_simd;
  }
  return -1;
}

std::int64_t demand(const OccupancyLimits& limits, const KernelResources& kernel) {
  if (kernel.allocated_vgprs) return *kernel.allocated_vgprs;
  if (limits.agpr_rule == AgprRule::unified && kernel.agprs > 0)
    return (kernel.vgprs + limits.accum_offset_granule - 1) / limits.accum_offset_granule *
               limits.accum_offset_granule +
           kernel.agprs;
  return std::max(kernel.vgprs, kernel.agprs);
}

/// The kernel with one amount set, written anew here so that a slip in the header shows.
KernelResources with(KernelResources kernel, OccupancyModel model, Resource resource,
                     std::int64_t amount) {
  switch (resource) {
    case Resource::vgpr:
      kernel.allocated_vgprs = amount;
      break;
    case Resource::sgpr:
      kernel.sgprs = amount;
      break;
    case Resource::lds:
      kernel.static_lds = amount;
      if (model != OccupancyModel::llvm) kernel.dynamic_lds = 0;
      break;
    case Resource::block:
      kernel.workgroup_size = amount;
      break;
  }
  return kernel;
}

std::int64_t amount(const OccupancyLimits& limits, const KernelResources& kernel,
                    OccupancyModel model, Resource resource) {
  switch (resource) {
    case Resource::vgpr:
      return demand(limits, kernel);
    case Resource::sgpr:
      return kernel.sgprs.value_or(0);
    case Resource::lds:
      return kernel.static_lds + (model == OccupancyModel::llvm ? 0 : kernel.dynamic_lds);
    case Resource::block:
      return kernel.workgroup_size;
  }
  return 0;
}

/// Every amount of `resource` from `first` to `last`; LDS beyond a few thousand only where a model
/// can change (granules, and what divides the LDS) and at random.
std::vector<std::int64_t> amounts(const OccupancyLimits& limits, Resource resource,
                                  std::int64_t first, std::int64_t last, bool all,
                                  std::mt19937_64& random) {
  std::vector<std::int64_t> result;
  if (first > last) return result;
  if (resource != Resource::lds || all || last - first < 600) {
    for (std::int64_t value = first; value <= last; ++value) result.push_back(value);
    return result;
  }
  const auto add = [&](std::int64_t value) {
    for (std::int64_t near = value - 1; near <= value + 1; ++near)
      if (near >= first && near <= last) result.push_back(near);
  };
  for (std::int64_t groups = 1; groups <= 70; ++groups)
    for (const std::int64_t bytes : {limits.lds_bytes / groups, limits.lds_bytes_per_cu / groups}) {
      add(bytes);
      add(bytes / limits.lds_granule * limits.lds_granule - limits.lds_reserved);
    }
  for (int i = 0; i < 50; ++i) add(std::uniform_int_distribution(first, last)(random));
  add(first);
  add(last);
  return result;
}

struct Case {
  OccupancyLimits limits;
  KernelResources kernel;
};

class NextStepProperty : public ::testing::TestWithParam<std::string> {
 protected:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }

  bool one_in(int n) { return pick(1, n) == 1; }

  /// A kernel that can be launched, of a random kind: small and large, tied limits among them.
  Case any_case() {
    const Arch& arch = *find_arch(GetParam());
    for (;;) {
      const auto wave = pick(0, static_cast<std::int64_t>(arch.wave_sizes.size()) - 1);
      const auto mode = arch.cus_per_wgp && one_in(2) ? WorkgroupMode::wgp : WorkgroupMode::cu;
      Case result;
      result.limits =
          limits_of(arch, arch.wave_sizes[static_cast<std::size_t>(wave)].wave_size, mode).value();
      KernelResources& k = result.kernel;
      k.workgroup_size = one_in(2) ? 64 * pick(1, 16) : pick(1, arch.max_workgroup_size);
      if (one_in(2)) k.static_lds = pick(0, arch.lds_max_per_workgroup / pick(1, 20));
      if (one_in(3)) k.dynamic_lds = pick(0, arch.lds_max_per_workgroup - k.static_lds);
      if (one_in(8)) k.static_lds = arch.lds_max_per_workgroup / pick(1, 16);
      k.vgprs = pick(1, arch.addressable_vgprs / pick(1, 4));
      if (one_in(2)) k.agprs = pick(0, arch.addressable_agprs / pick(1, 4));
      if (one_in(5)) k.allocated_vgprs = pick(1, arch.addressable_vgprs + arch.addressable_agprs);
      const bool amd = arch.platform == Platform::amd;
      if (amd && !one_in(4)) k.sgprs = pick(1, arch.addressable_sgprs + arch.extra_sgprs);
      if (amd && one_in(6))
        k.waves_per_eu = WavesPerEu{.lo = pick(1, 4), .hi = pick(1, arch.max_waves_per_simd_llvm)};
      if (one_in(3)) k.workgroup_size_min = pick(1, k.workgroup_size);
      if (one_in(2)) k.llvm_rule = LlvmRule::v20;
      if (!check_launch(result.limits, k)) return result;
    }
  }

  static std::span<const OccupancyModel> models() {
    return models_of(find_arch(GetParam())->platform);
  }

  std::mt19937_64 random_{20240701};
};

std::string told(const Case& c, OccupancyModel model) {
  const KernelResources& k = c.kernel;
  return fmt::format(
      "{} wave{} simds {} block {} (min {}) lds {}+{} v {} a {} alloc {} s {} eu {}-{} rule {}",
      to_string(model), c.limits.wave_size, c.limits.simds, k.workgroup_size,
      k.workgroup_size_min.value_or(-1), k.static_lds, k.dynamic_lds, k.vgprs, k.agprs,
      k.allocated_vgprs.value_or(-1), k.sgprs.value_or(-1),
      k.waves_per_eu ? k.waves_per_eu->lo : -1,
      k.waves_per_eu ? k.waves_per_eu->hi.value_or(-1) : -1, to_string(k.llvm_rule));
}

/// The largest amount below the present one that gains by itself, by trying.
std::optional<std::int64_t> brute_single(const Case& c, OccupancyModel model, Resource resource,
                                         bool all, std::mt19937_64& random) {
  if (resource == Resource::sgpr && !c.kernel.sgprs) return std::nullopt;
  const double now = waves(c.limits, c.kernel, model);
  const std::int64_t least =
      resource == Resource::block ? c.kernel.workgroup_size_min.value_or(1) : 0;
  std::optional<std::int64_t> best;
  for (const std::int64_t value : amounts(
           c.limits, resource, least, amount(c.limits, c.kernel, model, resource) - 1, all, random))
    if (waves(c.limits, with(c.kernel, model, resource, value), model) > now)
      best = std::max(best.value_or(value), value);
  return best;
}

void expect_singles(const Case& c, OccupancyModel model, const NextStep& step, bool all,
                    std::mt19937_64& random) {
  for (const Resource resource : kResources) {
    const SingleStep& single = step.of(resource);
    const auto brute = brute_single(c, model, resource, all, random);
    ASSERT_EQ(single.step.has_value(), brute.has_value()) << to_string(resource);
    if (!brute) {
      const std::int64_t now = amount(c.limits, c.kernel, model, resource);
      EXPECT_EQ(single.reason == NoStep::others, !single.limited_by.empty());
      if (single.reason == NoStep::not_known) {
        EXPECT_FALSE(c.kernel.sgprs.has_value());
      }
      if (single.reason == NoStep::nothing && resource != Resource::block) {
        EXPECT_EQ(now, 0);
      }
      continue;
    }
    ASSERT_EQ(single.step->changes.size(), 1U);
    const Change& change = single.step->changes.front();
    EXPECT_EQ(change.resource, resource);
    EXPECT_EQ(change.from, amount(c.limits, c.kernel, model, resource));
    EXPECT_EQ(change.to, *brute) << to_string(resource);
    const KernelResources after = with(c.kernel, model, resource, *brute);
    EXPECT_EQ(single.step->waves_per_simd, waves(c.limits, after, model));
  }
}

/// Gains with every change; without the last unit of any of them it does not.
void expect_combined(const Case& c, OccupancyModel model, const Step& step) {
  const double now = waves(c.limits, c.kernel, model);
  KernelResources after = c.kernel;
  for (const Change& change : step.changes) after = with(after, model, change.resource, change.to);
  EXPECT_FALSE(check_launch(c.limits, after).has_value());
  EXPECT_GT(waves(c.limits, after, model), now);
  EXPECT_EQ(waves(c.limits, after, model), step.waves_per_simd);
  for (const Change& change : step.changes) {
    EXPECT_LT(change.to, change.from);
    const KernelResources less = with(after, model, change.resource, change.to + 1);
    EXPECT_LE(waves(c.limits, less, model), now) << "less of " << to_string(change.resource);
  }
}

/// Whether any amounts of registers and LDS gain waves at this work-group size, by trying.
bool gains_at(const Case& c, OccupancyModel model, std::int64_t block, double now) {
  KernelResources k = with(c.kernel, model, Resource::block, block);
  if (k.sgprs) k.sgprs = 0;
  k.allocated_vgprs = 0;
  if (model != OccupancyModel::llvm) k.dynamic_lds = 0;
  const std::int64_t lds = k.static_lds;
  for (std::int64_t groups = 0; groups <= 70; ++groups) {
    const std::int64_t bytes = groups == 0 ? 0 : c.limits.lds_bytes / groups;
    if (bytes > lds) continue;
    k.static_lds = bytes;
    if (waves(c.limits, k, model) > now) return true;
  }
  return false;
}

void expect_best(const Case& c, OccupancyModel model, const NextStep& step) {
  const double now = waves(c.limits, c.kernel, model);
  const auto share = [](const Change& change) {
    return static_cast<double>(change.from - change.to) / static_cast<double>(change.from);
  };
  bool single = false;
  for (const SingleStep& alone : step.alone)
    if (alone.step) {
      single = true;
      ASSERT_TRUE(step.best.has_value());
      EXPECT_LE(share(step.best->changes.front()), share(alone.step->changes.front()) + 1e-12);
    }
  if (step.best) {
    EXPECT_EQ(step.best->changes.size() == 1, single);
    expect_combined(c, model, *step.best);
  }
  // No larger work-group gains, and when there is no step at all none does.
  const std::int64_t wave = c.limits.wave_size;
  const bool block = step.best && step.best->changes.back().resource == Resource::block && !single;
  if (step.best && !block) return;
  const std::int64_t stop = block ? step.best->changes.back().to : 0;
  for (std::int64_t size = c.kernel.workgroup_size;
       size > stop && size >= c.kernel.workgroup_size_min.value_or(1);
       size = (size - 1) / wave * wave) {
    EXPECT_FALSE(gains_at(c, model, size, now)) << "work-group of " << size;
  }
}

TEST_P(NextStepProperty, IsTheSmallestDecreaseThatGains) {
  int combined = 0;
  int without = 0;
  for (int round = 0; round < test::size_of_test(600, 200); ++round) {
    const Case c = any_case();
    for (const OccupancyModel model : models()) {
      SCOPED_TRACE(told(c, model));
      const NextStep step = next_step(c.limits, c.kernel, model);
      expect_singles(c, model, step, round < 3, random_);
      expect_best(c, model, step);
      if (HasFatalFailure() || HasNonfatalFailure()) return;
      if (step.best && step.best->changes.size() > 1) ++combined;
      if (!step.best) ++without;
    }
  }
  EXPECT_GT(combined, test::size_of_test(20, 6)) << "the cases must be worth something";
  EXPECT_GT(without, test::size_of_test(20, 6));
}

/// Grown up to `room` nothing is lost and the launch stands; one more loses, or cannot be.
void expect_room(const Case& c, OccupancyModel model, std::int64_t room,
                 std::int64_t most_there_are, std::mt19937_64& random, Resource sampled,
                 const std::function<KernelResources(std::int64_t)>& grown_by) {
  ASSERT_GE(room, 0);
  const double now = waves(c.limits, c.kernel, model);
  for (const std::int64_t more : amounts(c.limits, sampled, 0, room, false, random)) {
    const KernelResources grown = grown_by(more);
    ASSERT_FALSE(check_launch(c.limits, grown).has_value())
        << "grown by " << more << " of " << room;
    ASSERT_GE(waves(c.limits, grown, model), now) << "grown by " << more << " of " << room;
  }
  if (room >= most_there_are) return;
  const KernelResources beyond = grown_by(room + 1);
  EXPECT_TRUE(check_launch(c.limits, beyond) || waves(c.limits, beyond, model) < now)
      << "one more than " << room << " is free, too";
}

constexpr std::int64_t kNoEnd = std::int64_t{1} << 40;

TEST_P(NextStepProperty, HeadroomIsFreeAndOneMoreIsNot) {
  for (int round = 0; round < test::size_of_test(600, 200); ++round) {
    const Case c = any_case();
    const KernelResources& k = c.kernel;
    for (const OccupancyModel model : models()) {
      SCOPED_TRACE(told(c, model));
      const Headroom room = headroom(c.limits, k, model);
      const auto expect = [&](Resource like, std::int64_t free, std::int64_t end, auto member) {
        SCOPED_TRACE(to_string(like));
        expect_room(c, model, free, end, random_, like, [&](std::int64_t more) {
          KernelResources grown = k;
          member(grown) += more;
          return grown;
        });
      };
      expect(Resource::vgpr, room.vgprs, kNoEnd, [](KernelResources& r) -> std::int64_t& {
        return r.allocated_vgprs ? *r.allocated_vgprs : r.vgprs;
      });
      EXPECT_EQ(room.agprs.has_value(), !k.allocated_vgprs && c.limits.agpr_rule != AgprRule::none);
      if (room.agprs)
        expect(Resource::vgpr, *room.agprs, kNoEnd,
               [](KernelResources& r) -> std::int64_t& { return r.agprs; });
      EXPECT_EQ(room.sgprs.has_value(), k.sgprs.has_value());
      if (room.sgprs)
        expect(Resource::sgpr, *room.sgprs, c.limits.max_sgprs - *k.sgprs,
               [](KernelResources& r) -> std::int64_t& { return *r.sgprs; });
      expect(Resource::lds, room.lds, kNoEnd,
             [](KernelResources& r) -> std::int64_t& { return r.static_lds; });
      expect(Resource::block, room.block, kNoEnd,
             [](KernelResources& r) -> std::int64_t& { return r.workgroup_size; });
      if (HasFatalFailure() || HasNonfatalFailure()) return;
    }
  }
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Arch& arch : all_archs()) names.push_back(arch.gfx);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Archs, NextStepProperty, ::testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

OccupancyInput kernel(std::int64_t block, std::int64_t vgprs, std::int64_t lds) {
  OccupancyInput input;
  input.kernel.workgroup_size = block;
  input.kernel.vgprs = vgprs;
  input.kernel.static_lds = lds;
  return input;
}

ModelAdvice advice(std::string_view gfx, const OccupancyInput& input, OccupancyModel model) {
  return advise_occupancy(*find_arch(gfx), input).value().of(model);
}

std::string said(const std::optional<Step>& step) {
  if (!step) return "none";
  std::string out;
  for (const Change& change : step->changes)
    out += fmt::format("{} {}->{} ", to_string(change.resource), change.from, change.to);
  return out + fmt::format("= {}", step->waves_per_simd);
}

TEST(NextStep, ReadsAsExpectedOnAnMi300) {
  const ModelAdvice lds = advice("gfx942", kernel(256, 72, 16384), OccupancyModel::resident);
  // 65536 / 5 groups, rounded down to 512 bytes; a smaller block is 25 % and more.
  EXPECT_EQ(said(lds.next_step.best), "lds 16384->12800 = 5");
  EXPECT_EQ(lds.headroom.vgprs, 56) << "128 registers still give four waves";
  EXPECT_EQ(lds.headroom.lds, 0);
  const ModelAdvice llvm = advice("gfx942", kernel(256, 72, 16384), OccupancyModel::llvm);
  EXPECT_EQ(said(llvm.next_step.best), "lds 16384->13107 = 5") << "not rounded";
  EXPECT_EQ(said(advice("gfx942", kernel(256, 72, 0), OccupancyModel::llvm).next_step.best),
            "vgpr 72->64 = 8");
}

TEST(NextStep, ReadsAsExpectedOnAnH100) {
  // 96 registers: five warps a sub-partition, two blocks of eight warps; three need six, 80.
  const ModelAdvice registers = advice("sm_90", kernel(256, 96, 0), OccupancyModel::cuda);
  EXPECT_EQ(said(registers.next_step.best), "vgpr 96->80 = 6");
  EXPECT_EQ(registers.headroom.vgprs, 32) << "128 leave room for four warps";
  EXPECT_EQ(registers.headroom.lds, 233472 / 2 - 1024);
  // Two blocks of 100 000 bytes: three may have 77 824 with the driver's 1024.
  const ModelAdvice shared = advice("sm_90", kernel(128, 32, 100000), OccupancyModel::cuda);
  EXPECT_EQ(said(shared.next_step.best), "lds 100000->76800 = 3");
  EXPECT_EQ(shared.headroom.lds, 233472 / 2 - 1024 - 100000);
  // 32 blocks of one warp: only larger blocks would help, and nothing that is lowered.
  const ModelAdvice small = advice("sm_90", kernel(32, 16, 0), OccupancyModel::cuda);
  EXPECT_EQ(said(small.next_step.best), "none");
  EXPECT_THAT(small.next_step.of(Resource::vgpr).limited_by, ElementsAre(Limiter::workgroups));
  EXPECT_GE(small.headroom.block, 32);
}

TEST(NextStep, LowersTogetherWhatLimitsTogether) {
  const ModelAdvice both = advice("gfx942", kernel(256, 128, 16384), OccupancyModel::resident);
  EXPECT_EQ(said(both.next_step.best), "vgpr 128->96 lds 16384->12800 = 5");
  const SingleStep& vgpr = both.next_step.of(Resource::vgpr);
  EXPECT_EQ(vgpr.reason, NoStep::others);
  EXPECT_THAT(vgpr.limited_by, ElementsAre(Limiter::lds));
  EXPECT_EQ(both.next_step.of(Resource::sgpr).reason, NoStep::not_known);
}

TEST(NextStep, SmallerBlockWhereSlotsAreLeftOver) {
  // 12 waves: two work-groups of 32 slots, 24 taken.
  const ModelAdvice slots = advice("gfx942", kernel(768, 16, 0), OccupancyModel::resident);
  EXPECT_EQ(said(slots.next_step.best), "block 768->640 = 7.5");
  EXPECT_EQ(slots.next_step.of(Resource::lds).reason, NoStep::nothing);
  EXPECT_THAT(slots.next_step.of(Resource::vgpr).limited_by, ElementsAre(Limiter::workgroup_slots));
}

TEST(NextStep, NoneAtTheMaximum) {
  const ModelAdvice full = advice("gfx942", kernel(256, 64, 0), OccupancyModel::resident);
  EXPECT_EQ(said(full.next_step.best), "none");
  for (const Resource resource : kResources)
    EXPECT_EQ(full.next_step.of(resource).reason, NoStep::at_maximum);
  EXPECT_EQ(full.headroom.vgprs, 0);
  EXPECT_EQ(full.headroom.lds, 8192);
  EXPECT_EQ(full.headroom.block, 0) << "with 257 work-items slots are left over";
}

TEST(NextStep, LdsOfLlvm20IsNotMonotone) {
  // Work-groups of 12 to 22 waves on 64 slots: five that fit by LDS use 60; four grow to 16 waves.
  OccupancyInput input = kernel(704, 16, 25000);
  input.kernel.workgroup_size_min = 384;
  input.kernel.llvm_rule = LlvmRule::v20;
  EXPECT_EQ(compute_occupancy(*find_arch("gfx1030"), input)->llvm.waves_per_simd, 15);
  const ModelAdvice llvm = advice("gfx1030", input, OccupancyModel::llvm);
  EXPECT_EQ(llvm.headroom.lds, 131072 / 4 - 25000);
  EXPECT_FALSE(llvm.next_step.of(Resource::lds).step.has_value());
  input.kernel.static_lds = 131072 / 4;
  EXPECT_EQ(compute_occupancy(*find_arch("gfx1030"), input)->llvm.waves_per_simd, 16);
}

}  // namespace
}  // namespace perflab::hal
