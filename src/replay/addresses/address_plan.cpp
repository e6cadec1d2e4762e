// Rounding and merging of regions, and proc(5)'s maps. The bound of user space is x86-64's with
// four-level page tables: a runtime that is asked for more moves the range
// (docs/facts/hsa_runtime.md "Reservations").
#include "replay/addresses/address_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <optional>
#include <sstream>
#include <tuple>

#include "base/text/numbers.h"
#include "hsa/types.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::uint64_t kUserSpaceEnd = std::uint64_t{1} << 47U;

std::uint64_t rounded_up(std::uint64_t value, std::uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

/// Flags that make two pools of different kinds; kernarg is no matter of contents.
std::uint32_t kind_flags(std::uint32_t pool_flags) {
  return pool_flags & (hsa::pool_fine_grained | hsa::pool_coarse_grained |
                       hsa::pool_extended_scope_fine_grained);
}

bool same_kind(const FixedRange& a, const FixedRange& b) {
  return std::tuple(a.on_gpu, a.agent_index, kind_flags(a.pool_flags)) ==
         std::tuple(b.on_gpu, b.agent_index, kind_flags(b.pool_flags));
}

std::uint64_t end_of(const FixedRange& range) {
  return range.base + range.bytes;
}

bool is_planned(const capture::Description& description, const capture::MemoryRegion& region) {
  const bool stays_away = region.origin == capture::Origin::variable &&
                          description.machine.platform == capture::Platform::hip;
  return !stays_away && region.not_captured.empty() && region.bytes != 0;
}

/// The numbers of the planned regions, by base.
std::vector<std::size_t> regions_by_base(const capture::Description& description) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < description.regions.size(); ++i)
    if (is_planned(description, description.regions[i])) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return description.regions[i].base; });
  return order;
}

Result<void> check_place(const capture::MemoryRegion& region) {
  if (region.base != 0 && region.base < kUserSpaceEnd &&
      region.bytes <= kUserSpaceEnd - region.base)
    return {};
  return fail(Failure::not_replayable,
              fmt::format("the region of {} bytes at {:#x} lies outside the address space that a "
                          "process can have",
                          region.bytes, region.base));
}

FixedRange rounded(const capture::MemoryRegion& region, Granules granules) {
  const std::uint64_t granule = region.on_gpu ? granules.device : granules.host;
  const std::uint64_t first = region.base / granule * granule;
  return {.base = first,
          .bytes = rounded_up(region.base + region.bytes, granule) - first,
          .on_gpu = region.on_gpu,
          .agent_index = region.on_gpu ? region.agent_index : 0,
          .pool_flags = region.pool_flags};
}

/// Adds the region's range, merged with the one before it where they touch or share a granule.
void add_range(std::size_t number, const FixedRange& range, bool optional, AddressPlan& plan) {
  PlannedRange* const last = plan.ranges.empty() ? nullptr : &plan.ranges.back();
  const bool shares = last != nullptr && range.base < end_of(last->range);
  const bool touches = last != nullptr && range.base == end_of(last->range);
  const bool same = last != nullptr && same_kind(range, last->range);
  if (!shares && !(touches && same)) {
    plan.ranges.push_back({.range = range, .regions = {number}, .optional = optional});
    return;
  }
  last->optional = last->optional && optional;
  if (!same) {
    plan.notes.push_back(fmt::format(
        "memory of different kinds shares a granule at {:#x}: all of it becomes {}", range.base,
        last->range.on_gpu || range.on_gpu ? "memory of the GPU" : "host memory"));
    if (range.on_gpu && !last->range.on_gpu) {
      last->range.on_gpu = true;
      last->range.agent_index = range.agent_index;
      last->range.pool_flags = range.pool_flags;
    }
  }
  last->range.bytes = std::max(end_of(last->range), end_of(range)) - last->range.base;
  last->regions.push_back(number);
}

/// The largest recommended granule of the range's regions that is a power of two.
std::uint64_t recommended_granule(const PlannedRange& planned,
                                  const capture::Description& description) {
  std::uint64_t best = 0;
  for (const std::size_t i : planned.regions)
    if (const std::uint64_t granule = description.regions[i].recommended_granule;
        std::has_single_bit(granule))
      best = std::max(best, granule);
  return best;
}

/// Rounds large ranges up to whole recommended granules where there is room.
void widen(const capture::Description& description, AddressPlan& plan) {
  for (std::size_t i = 0; i < plan.ranges.size(); ++i) {
    FixedRange& range = plan.ranges[i].range;
    const std::uint64_t granule = recommended_granule(plan.ranges[i], description);
    if (granule == 0 || range.base % granule != 0 || range.bytes < granule) continue;
    const std::uint64_t room =
        (i + 1 < plan.ranges.size() ? plan.ranges[i + 1].range.base : kUserSpaceEnd) - range.base;
    if (const std::uint64_t whole = rounded_up(range.bytes, granule); whole <= room)
      range.bytes = whole;
  }
}

/// "first-last perms offset device inode   name".
std::optional<Mapping> mapping_of(const std::string& line) {
  std::istringstream fields(line);
  std::string range, permissions, offset, device, inode, name;
  if (!(fields >> range >> permissions >> offset >> device >> inode)) return std::nullopt;
  std::getline(fields >> std::ws, name);
  const std::size_t dash = range.find('-');
  if (dash == std::string::npos) return std::nullopt;
  const auto first = whole_number(std::string_view(range).substr(0, dash), 16);
  const auto last = whole_number(std::string_view(range).substr(dash + 1), 16);
  if (!first || !last || *first >= *last) return std::nullopt;
  return Mapping{.first = *first, .last = *last, .permissions = permissions, .name = name};
}

}  // namespace

Granules granules_of(const capture::Description& description) {
  return description.machine.platform == capture::Platform::cuda ? kCudaGranules : Granules{};
}

Result<AddressPlan> plan_addresses(const capture::Description& description, Granules granules) {
  PERFLAB_CHECK(std::has_single_bit(granules.device) && std::has_single_bit(granules.host));
  AddressPlan plan;
  const capture::MemoryRegion* before = nullptr;
  for (const std::size_t i : regions_by_base(description)) {
    const capture::MemoryRegion& region = description.regions[i];
    PERFLAB_TRY_VOID(check_place(region));
    if (before != nullptr && region.base < before->base + before->bytes)
      return fail(Failure::not_replayable,
                  fmt::format("the region of {} bytes at {:#x} overlaps the one of {} bytes at "
                              "{:#x}",
                              region.bytes, region.base, before->bytes, before->base));
    before = &region;
    add_range(i, rounded(region, granules), region.origin == capture::Origin::variable, plan);
  }
  widen(description, plan);
  for (const PlannedRange& planned : plan.ranges) plan.bytes += planned.range.bytes;
  return plan;
}

std::vector<Span> reservations(const AddressPlan& plan) {
  std::vector<Span> spans;
  bool last_on_gpu = false;
  for (const PlannedRange& planned : plan.ranges) {
    const FixedRange& range = planned.range;
    if (!spans.empty() && spans.back().end() == range.base && last_on_gpu == range.on_gpu)
      spans.back().bytes += range.bytes;
    else
      spans.push_back({.base = range.base, .bytes = range.bytes});
    last_on_gpu = range.on_gpu;
  }
  return spans;
}

std::vector<Envelope> envelopes(const AddressPlan& plan) {
  std::vector<Envelope> all;
  for (const PlannedRange& planned : plan.ranges) {
    if (!planned.range.on_gpu) continue;
    const std::uint64_t first = planned.range.base / kCudaEnvelope * kCudaEnvelope;
    const std::uint64_t last = rounded_up(end_of(planned.range), kCudaEnvelope);
    if (all.empty() || first >= all.back().span.end()) {
      all.push_back({.span = {.base = first, .bytes = last - first}, .optional = planned.optional});
      continue;
    }
    Span& before = all.back().span;
    before.bytes = std::max(before.end(), last) - before.base;
    all.back().optional = all.back().optional && planned.optional;
  }
  return all;
}

Result<std::vector<Mapping>> parse_mappings(const std::string& text) {
  std::vector<Mapping> mappings;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto mapping = mapping_of(line);
    if (!mapping)
      return fail(ErrorCode::bad_input,
                  fmt::format("the process map: \"{}\" is not a mapping", line.substr(0, 80)));
    mappings.push_back(std::move(*mapping));
  }
  return mappings;
}

Result<std::vector<Mapping>> own_mappings() {
  std::ifstream file("/proc/self/maps");
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return fail(ErrorCode::missing_tool, "/proc/self/maps cannot be read",
                "replay needs /proc to see what is in the way");
  return parse_mappings(text.str());
}

std::string who_holds(const std::vector<Mapping>& mappings, std::uint64_t first,
                      std::uint64_t last) {
  constexpr std::size_t kMostNamed = 3;
  std::string text;
  std::size_t found = 0;
  for (const Mapping& mapping : mappings) {
    if (mapping.last <= first || mapping.first >= last) continue;
    if (++found > kMostNamed) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{} ({} {:x}-{:x})",
                        mapping.name.empty() ? "memory without a name" : mapping.name,
                        mapping.permissions, mapping.first, mapping.last);
  }
  if (found > kMostNamed) text += fmt::format(" and {} more", found - kMostNamed);
  return text;
}

}  // namespace perflab::replay
