// Poison patterns and the record of pure outputs.
#include "replay/verify/poison.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"

namespace perflab::replay {
namespace {

/// 8-byte words take turns: large and positive in every float and integer type, large and negative,
/// NaN and -1. What a kernel adds to its output, or takes the least or the largest of, shows in one
/// of them. Two bytes rule out at most two of the three.
constexpr std::array<std::byte, 3> kPatterns{std::byte{0x77}, std::byte{0xf7}, std::byte{0xff}};

/// Pages that one thread makes before it takes the next ones.
constexpr std::size_t kPagesAtOnce = 64;

std::byte poison_of(std::uint64_t turn, std::byte before, std::byte after) {
  for (std::size_t i = 0; i < 2; ++i) {
    const std::byte pattern = kPatterns.at((turn + i) % 3);
    if (pattern != before && pattern != after) return pattern;
  }
  return kPatterns.at((turn + 2) % 3);
}

/// Poison of the marked bytes among eight; the turn is that of all of them.
void poison_word(std::uint64_t turn, std::uint8_t marked, std::span<const std::byte> before,
                 std::span<const std::byte> after, std::span<std::byte> out) {
  const std::uint64_t pattern =
      0x0101010101010101U * std::to_integer<std::uint64_t>(kPatterns.at(turn % 3));
  const auto nowhere = [&](std::span<const std::byte> bytes) {
    return nonzero_bytes(eight_at(bytes, 0) ^ pattern) == 0xff;
  };
  if (marked == 0xff && nowhere(before) && nowhere(after)) {
    std::memcpy(out.data(), &pattern, sizeof(pattern));
    return;
  }
  for (std::size_t i = 0; i < sizeof(pattern); ++i)
    if ((marked >> i & 1) != 0) out[i] = poison_of(turn, before[i], after[i]);
}

}  // namespace

Poisoner::Poisoner(const capture::Description& description) {
  for (const capture::MemoryRegion& region : description.regions)
    ranges_.emplace_back(region.base, region.base + region.bytes);
  std::ranges::sort(ranges_);
  for (const auto& [first, last] : ranges_) highest_ = std::max(highest_, last);
}

bool Poisoner::is_address(std::uint64_t word) const {
  if (ranges_.empty() || word < ranges_.front().first || word > highest_) return false;
  auto at = std::ranges::upper_bound(ranges_, word, {}, [](const auto& r) { return r.first; });
  // Regions that were not captured may overlap others: the nearest below are looked at in turn.
  for (int tries = 0; tries < 4 && at != ranges_.begin(); ++tries) {
    --at;
    if (word <= at->second) return true;
  }
  return false;
}

PoisonedPage Poisoner::page(const capture::MemoryRegion& region, const PageView& view, bool whole,
                            std::size_t element_bytes) const {
  PoisonedPage out;
  const std::size_t size = view.before.size(), words = size / 8 * 8;
  std::ranges::copy(view.before, out.bytes.begin());
  for (std::size_t at = 0; at < words; at += 8)
    out.poisoned.set_eight(at, whole ? 0xff
                                     : whole_elements(nonzero_bytes(eight_at(view.before, at) ^
                                                                    eight_at(view.after, at)),
                                                      element_bytes));
  for (std::size_t at = words; at < size; at += element_bytes) {
    const std::size_t part = std::min(element_bytes, size - at);
    if (!whole && same_bytes(view.before.subspan(at, part), view.after.subspan(at, part))) continue;
    for (std::size_t i = at; i < at + part; ++i) out.poisoned.set(i);
  }
  const std::uint64_t address = region.base + view.offset;
  for (std::size_t at = (8 - address % 8) % 8; at + 8 <= size; at += 8) {
    if (!is_address(eight_at(view.before, at))) continue;
    for (std::size_t i = at; i < at + 8; ++i) out.poisoned.reset(i);
  }
  for (std::size_t at = 0; at < words; at += 8)
    if (const std::uint8_t marked = out.poisoned.eight(at); marked != 0)
      poison_word((view.offset + at) / 8, marked, view.before.subspan(at, 8),
                  view.after.subspan(at, 8), std::span(out.bytes).subspan(at, 8));
  for (std::size_t i = words; i < size; ++i)
    if (out.poisoned.test(i))
      out.bytes.at(i) = poison_of((view.offset + i) / 8, view.before[i], view.after[i]);
  return out;
}

std::vector<PoisonedPage> Poisoner::pages(const capture::MemoryRegion& region, const Batch& batch,
                                          bool whole, std::size_t element_bytes) const {
  std::vector<PageView> views;
  const auto listed = each_page(batch, batch.before, [&](const PageView& view) -> Result<void> {
    views.push_back(view);
    return {};
  });
  std::vector<PoisonedPage> out(views.size());
  const std::size_t pieces = (views.size() + kPagesAtOnce - 1) / kPagesAtOnce;
  PERFLAB_CHECK(listed.has_value());
  parallel_each(pieces, thread_count(0), [&](std::size_t piece) {
    const std::size_t end = std::min((piece + 1) * kPagesAtOnce, views.size());
    for (std::size_t i = piece * kPagesAtOnce; i < end; ++i)
      out[i] = page(region, views[i], whole, element_bytes);
  });
  return out;
}

void PureOutputs::set(std::uint64_t page, const ByteMask& poisoned, const ByteMask& pure) {
  State& state = states_.at(page);
  state = State::none;
  if (pure.none()) return;
  state = pure == poisoned ? State::all : State::some;
  if (state == State::some) some_[page] = pure;
}

ByteMask PureOutputs::of(std::uint64_t page, const ByteMask& poisoned) const {
  switch (states_.at(page)) {
    case State::all:
      return poisoned;
    case State::some:
      return some_.at(page);
    case State::none:
      break;
  }
  return {};
}

}  // namespace perflab::replay
