// One comparison with the span of all variables for most words; the exact one for what is left.
#include "replay/variable_pointers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <span>

namespace perflab::replay {
namespace {

struct Range {
  std::uint64_t first = 0, last = 0;  ///< [first, last)
  std::size_t region = 0;
};

class Search {
 public:
  explicit Search(const capture::Description& description) {
    for (std::size_t i = 0; i < description.regions.size(); ++i) {
      const capture::MemoryRegion& one = description.regions[i];
      if (one.origin == capture::Origin::variable && one.captured() && one.base != 0)
        ranges_.push_back({.first = one.base, .last = one.base + one.bytes, .region = i});
    }
    std::ranges::sort(ranges_, {}, &Range::first);
  }
  [[nodiscard]] bool has_variables() const { return !ranges_.empty(); }

  /// The words at multiples of 8 of `base`; `name` says where one is.
  template <class Name>
  void look(std::uint64_t base, std::span<const std::byte> bytes, Name name) {
    constexpr std::uint64_t kWord = 8;
    const std::uint64_t low = ranges_.front().first, high = ranges_.back().last;
    for (std::uint64_t at = (kWord - base % kWord) % kWord; at + kWord <= bytes.size();
         at += kWord) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if (word < low || word >= high) continue;
      const auto behind = std::ranges::upper_bound(ranges_, word, {}, &Range::first);
      if (behind == ranges_.begin() || word >= std::prev(behind)->last) continue;
      VariablePointers& one = found_[std::prev(behind)->region];
      if (one.count++ == 0) one.first = name(base + at);
      one.region = std::prev(behind)->region;
    }
  }

  std::vector<VariablePointers> take() {
    std::vector<VariablePointers> all;
    for (auto& [region, one] : found_) all.push_back(std::move(one));
    return all;
  }

 private:
  std::vector<Range> ranges_;
  std::map<std::size_t, VariablePointers> found_;
};

}  // namespace

Result<std::vector<VariablePointers>> variable_pointers(const capture::Capture& capture) {
  const capture::Description& description = capture.description();
  Search search(description);
  if (!search.has_variables()) return std::vector<VariablePointers>{};
  search.look(0, capture.kernarg(), [](std::uint64_t at) {
    return fmt::format("the word at byte {} of the arguments", at);
  });
  for (std::size_t i = 0; i < description.regions.size(); ++i) {
    const capture::MemoryRegion& region = description.regions[i];
    if (!region.captured()) continue;
    PERFLAB_TRY_VOID(capture.read(
        i, capture::Pages::not_zero,
        [&](std::uint64_t offset, std::span<const std::byte> bytes) -> Result<void> {
          search.look(region.base + offset, bytes,
                      [](std::uint64_t at) { return fmt::format("the word at {:#x}", at); });
          return {};
        }));
  }
  return search.take();
}

}  // namespace perflab::replay
