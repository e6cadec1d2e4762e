// Restoring. The saved copy is dense: the pages of the write set one run behind the other, so that
// one buffer of the device holds them and each run is one copy within the device.
#include "replay/session/pre_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ranges>

#include "replay/code_choice.h"

namespace perflab::replay {
namespace {

using capture::kPageBytes;
using capture::PageRun;
using capture::Pages;

/// Bytes that pass through the host at a time.
constexpr std::uint64_t kChunk = std::uint64_t{4} << 20U;

bool has_page(const std::vector<PageRun>& runs, std::uint64_t page) {
  const auto behind = std::ranges::upper_bound(runs, page, {}, &PageRun::first);
  if (behind == runs.begin()) return false;
  const PageRun& run = *std::prev(behind);
  return page < run.first + run.count;
}

/// Adds a page to ascending runs.
void append_page(std::uint64_t page, std::vector<PageRun>& runs) {
  if (!runs.empty() && runs.back().first + runs.back().count == page)
    ++runs.back().count;
  else
    runs.push_back({page, 1});
}

/// The union of disjoint ascending runs.
std::vector<PageRun> united(const std::vector<PageRun>& a, std::span<const PageRun> b) {
  std::vector<PageRun> all(a);
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all, {}, &PageRun::first);
  std::vector<PageRun> runs;
  for (const PageRun& run : all)
    if (!runs.empty() && runs.back().first + runs.back().count == run.first)
      runs.back().count += run.count;
    else
      runs.push_back(run);
  return runs;
}

}  // namespace

PreImage::PreImage(const capture::Capture& capture, Device& device)
    : capture_(capture),
      device_(device),
      addresses_(capture.description().regions.size()),
      write_set_(capture.description().regions.size()) {
  for (std::size_t i = 0; i < write_set_.size(); ++i)
    if (region(i).captured()) add_to_write_set(i, region(i).written);
}

Result<void> PreImage::place(const AddressPlan& plan) {
  ranges_ = plan.ranges;
  // From above: the runtime's reserved mode refuses a range that lies close behind another, but not
  // one close before it (docs/REPLAY.md).
  for (const PlannedRange& planned : std::views::reverse(ranges_)) {
    const Result<void> placed = device_.place(planned.range);
    if (!placed && !planned.optional) return placed;
    for (const std::size_t number : planned.regions) {
      if (!placed)
        not_placed_.emplace(number, placed.error());
      else if (is_own_variable(number))
        copies_.push_back(number);
      else
        addresses_[number] = region(number).base;
    }
  }
  std::erase_if(ranges_, [&](const PlannedRange& planned) {
    return not_placed_.contains(planned.regions.front());
  });
  return {};
}

bool PreImage::is_own_variable(std::size_t number) const {
  return region(number).origin == capture::Origin::variable &&
         region(number).code_object_hash == capture_.description().code_object_hash;
}

Result<void> PreImage::restore_copies() {
  for (const std::size_t number : copies_)
    PERFLAB_TRY_VOID(restore_region(number, region(number).base, Pages::all));
  return {};
}

Result<std::vector<std::string>> PreImage::find_variables(
    const std::map<std::string, std::string>& renamed) {
  std::vector<std::string> lost;
  const capture::Description& description = capture_.description();
  for (std::size_t i = 0; i < description.regions.size(); ++i) {
    const capture::MemoryRegion& one = description.regions[i];
    // Those of other code objects are nobody's here.
    if (one.origin != capture::Origin::variable ||
        one.code_object_hash != description.code_object_hash)
      continue;
    const auto other = renamed.find(one.symbol);
    PERFLAB_TRY(addresses_[i],
                device_.variable(other == renamed.end() ? one.symbol : other->second, one.bytes));
    if (!addresses_[i] && !is_unit_marker(one)) lost.push_back(one.symbol);
    if (addresses_[i] && one.captured())
      PERFLAB_TRY_VOID(restore_region(i, *addresses_[i], Pages::all));
  }
  return lost;
}

std::uint64_t PreImage::bytes_of(const Kept& kept) const {
  const std::uint64_t first = kept.pages.first * kPageBytes;
  return std::min(kept.pages.count * kPageBytes, region(kept.region).bytes - first);
}

Result<void> PreImage::restore_region(std::size_t number, std::uint64_t base, Pages pages) {
  return capture_.read(number, pages, [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    return device_.write(base + offset, bytes);
  });
}

Result<Restored> PreImage::restore_all() {
  Restored restored;
  for (const PlannedRange& planned : ranges_) {
    PERFLAB_TRY_VOID(device_.zero(planned.range.base, planned.range.bytes));
    for (const std::size_t number : planned.regions) {
      PERFLAB_TRY_VOID(restore_region(number, region(number).base, Pages::not_zero));
      restored.bytes += region(number).bytes;
    }
  }
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (!is_own_variable(i) || !region(i).captured() || !addresses_[i]) continue;
    PERFLAB_TRY_VOID(restore_region(i, *addresses_[i], Pages::all));
    restored.bytes += region(i).bytes;
  }
  return restored;
}

Result<void> PreImage::save_new() {
  if (saved_ == kept_.size() || !from_host_because_.empty()) return {};
  std::uint64_t bytes = 0;
  for (std::size_t i = saved_; i < kept_.size(); ++i) bytes += kept_[i].pages.count * kPageBytes;
  PERFLAB_TRY(const std::optional<std::uint64_t> buffer, device_.allocate(bytes));
  if (!buffer) {
    from_host_because_ = fmt::format(
        "the GPU has no room for a copy of the {} bytes that the kernel writes: they are restored "
        "from the host",
        bytes);
    return {};
  }
  const std::span<Kept> fresh = std::span(kept_).subspan(saved_);
  std::uint64_t at = *buffer;
  for (Kept& kept : fresh) {
    kept.saved_at = at;
    at += kept.pages.count * kPageBytes;
  }
  PERFLAB_TRY_VOID(fill_saved(fresh));
  saved_ = kept_.size();
  return {};
}

Result<void> PreImage::fill_saved(std::span<const Kept> kept) {
  // The buffer is dense: what is gathered here is one piece of it, however many runs it has.
  std::vector<std::byte> gathered;
  std::uint64_t start = kept.front().saved_at;
  for (const Kept& one : kept) {
    const std::uint64_t whole = one.pages.count * kPageBytes, exact = bytes_of(one);
    for (std::uint64_t done = 0; done < whole;) {
      const std::uint64_t piece = std::min(kChunk - gathered.size(), whole - done);
      gathered.resize(gathered.size() + piece);
      // Behind the end of a region the last page stays zero; it is never copied back.
      if (done < exact)
        PERFLAB_TRY_VOID(
            capture_.read_at(one.region, one.pages.first * kPageBytes + done,
                             std::span(gathered).last(piece).first(std::min(piece, exact - done))));
      done += piece;
      if (gathered.size() < kChunk) continue;
      PERFLAB_TRY_VOID(device_.write(start, gathered));
      start += gathered.size();
      gathered.clear();
    }
  }
  if (gathered.empty()) return {};
  return device_.write(start, gathered);
}

Result<Restored> PreImage::restore_from_host() {
  Restored restored;
  std::vector<std::byte> piece;
  for (const Kept& one : kept_) {
    if (!addresses_[one.region]) continue;
    const std::uint64_t first = one.pages.first * kPageBytes, bytes = bytes_of(one);
    for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
      piece.resize(std::min(kChunk, bytes - done));
      PERFLAB_TRY_VOID(capture_.read_at(one.region, first + done, piece));
      PERFLAB_TRY_VOID(device_.write(*addresses_[one.region] + first + done, piece));
    }
    restored.bytes += bytes;
  }
  return restored;
}

Result<Restored> PreImage::restore_writes() {
  PERFLAB_TRY_VOID(restore_copies());
  PERFLAB_TRY_VOID(save_new());
  if (!from_host_because_.empty()) return restore_from_host();
  Restored restored{.on_device = true};
  std::vector<CopyRun> runs;
  runs.reserve(kept_.size());
  for (const Kept& one : kept_) {
    if (!addresses_[one.region]) continue;
    runs.push_back({.to = *addresses_[one.region] + one.pages.first * kPageBytes,
                    .from = one.saved_at,
                    .bytes = bytes_of(one)});
    restored.bytes += runs.back().bytes;
  }
  if (!runs.empty()) PERFLAB_TRY_VOID(device_.copy(runs));
  return restored;
}

Result<std::uint64_t> PreImage::learn_writes() {
  std::uint64_t learned = 0;
  for (std::size_t i = 0; i < addresses_.size(); ++i) {
    if (!addresses_[i] || !region(i).captured()) continue;
    PERFLAB_TRY(const std::uint64_t pages, learn_region(i));
    learned += pages;
  }
  return learned;
}

Result<std::uint64_t> PreImage::learn_region(std::size_t number) {
  std::vector<PageRun> fresh;
  std::vector<std::byte> now;
  const auto compare = [&](std::uint64_t offset,
                           std::span<const std::byte> before) -> Result<void> {
    now.resize(before.size());
    PERFLAB_TRY_VOID(device_.read(*addresses_[number] + offset, now));
    for (std::size_t at = 0; at < now.size(); at += kPageBytes) {
      const std::size_t size = std::min<std::size_t>(kPageBytes, now.size() - at);
      const std::uint64_t page = (offset + at) / kPageBytes;
      if (std::memcmp(now.data() + at, before.data() + at, size) != 0 &&
          !has_page(write_set_[number], page))
        append_page(page, fresh);
    }
    return {};
  };
  PERFLAB_TRY_VOID(capture_.read(number, Pages::all, compare));
  std::uint64_t pages = 0;
  for (const PageRun& run : fresh) pages += run.count;
  add_to_write_set(number, fresh);
  return pages;
}

void PreImage::add_to_write_set(std::size_t number, std::span<const PageRun> pages) {
  write_set_[number] = united(write_set_[number], pages);
  for (const PageRun& run : pages) kept_.push_back({.region = number, .pages = run});
}

}  // namespace perflab::replay
