// `replay verify`, the runs on poisoned memory: which outputs the original writes whatever stood
// there, and whether the other code object writes them too.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "replay/verify/poison.h"
#include "replay/verify/verify_state.h"

namespace perflab::replay {
namespace {

/// Most runs with one region poisoned each; what is left is poisoned at once.
constexpr std::size_t kMostGroups = 16;

/// A region to be poisoned: whole, or where it changed.
struct Target {
  RegionState* region;
  bool whole;
  PureOutputs pure;
};
using Group = std::vector<Target>;

std::vector<Group> groups_of(VerifyState& state) {
  std::vector<Group> groups;
  for (RegionState& region : state.regions) {
    const capture::MemoryRegion& description = state.description_of(region);
    const bool whole = state.certificate.poison == Poison::arguments &&
                       std::ranges::any_of(state.arguments, [&](const PointerArgument& argument) {
                         return argument.writable && argument.address >= description.base &&
                                argument.address - description.base < description.bytes;
                       });
    if (!whole && description.written.empty()) continue;
    if (!state.session.address(region.region)) continue;
    if (groups.size() < kMostGroups) groups.emplace_back();
    groups.back().push_back(
        {.region = &region, .whole = whole, .pure = PureOutputs(description.pages())});
  }
  return groups;
}

Result<void> write_poison(VerifyState& state, const Poisoner& poisoner, const Target& target) {
  const std::size_t region = target.region->region;
  std::vector<std::byte> buffer;
  const auto poison = [&](const Batch& batch) -> Result<void> {
    buffer.resize(batch.before.size());
    std::size_t at = 0;
    for (const PoisonedPage& page :
         poisoner.pages(state.description_of(*target.region), batch, target.whole,
                        target.region->comparer.element_bytes())) {
      const std::size_t size = std::min(page.bytes.size(), buffer.size() - at);
      std::memcpy(buffer.data() + at, page.bytes.data(), size);
      at += size;
    }
    return state.session.write(region, batch.offset, buffer);
  };
  PERFLAB_TRY_VOID(each_written_batch(state.capture, region, poison));
  return target.whole ? each_other_batch(state.capture, region, poison) : Result<void>{};
}

/// One run on poisoned memory. An error of the dispatch alone comes back as a value.
Result<std::optional<Error>> run_poisoned(VerifyState& state, const Poisoner& poisoner,
                                          const Group& group) {
  state.restored = false;
  for (const Target& target : group) PERFLAB_TRY_VOID(write_poison(state, poisoner, target));
  if (const auto done = dispatch(state); !done) {
    if (done.error().code != ErrorCode::target_failed) return std::unexpected(done.error());
    return done.error();
  }
  return std::optional<Error>{};
}

/// One element of a page: its first byte and its bytes.
struct Place {
  std::size_t at, bytes;
};

/// Calls take(place) for every element with a bit in `mask`. Elements of eight bytes at once for
/// which skip(at, bits) is true are passed over.
template <class Skip, class F>
void each_element(const ByteMask& mask, std::size_t step, std::size_t size, Skip&& skip, F&& take) {
  for (std::size_t word = 0; word < size; word += 8) {
    const std::uint8_t bits = mask.eight(word);
    if (bits == 0 || (word + 8 <= size && skip(word, bits))) continue;
    const std::size_t end = std::min(word + 8, size);
    for (std::size_t at = word; at < end; at += step) {
      const std::size_t part = std::min(step, end - at);
      bool any = false;
      for (std::size_t i = at; i < at + part; ++i) any = any || mask.test(i);
      if (any) take(Place{at, part});
    }
  }
}

bool unchanged(const PageView& view, const Place& place) {
  return same_bytes(view.before.subspan(place.at, place.bytes),
                    view.after.subspan(place.at, place.bytes));
}

/// Of eight bytes, those of elements that the captured dispatch changed.
std::uint8_t changed_elements(const PageView& view, std::size_t at, std::size_t step) {
  return whole_elements(nonzero_bytes(eight_at(view.before, at) ^ eight_at(view.after, at)), step);
}
/// Of eight bytes, those of elements that are not what the captured dispatch left.
std::uint8_t other_elements(const PageView& view, std::size_t at, std::size_t step) {
  return whole_elements(nonzero_bytes(eight_at(view.found, at) ^ eight_at(view.after, at)), step);
}

/// Whether the original brought an element to its captured value.
bool is_written(const RegionState& region, const PageView& view, const PoisonedPage& page,
                const KeptPage& kept, const Place& place) {
  bool same = true, varies = false;
  for (std::size_t i = place.at; i < place.at + place.bytes; ++i) {
    same = same && (!page.poisoned.test(i) || view.found[i] == view.after[i]);
    varies = varies || kept.varying.test(i);
  }
  if (!varies) return same;
  // What the original does not repeat was right by chance, unless the tolerance covers it.
  return region.covered && region.comparer.accepts(view.after.subspan(place.at, place.bytes),
                                                   view.found.subspan(place.at, place.bytes));
}

/// Poisoned bytes of a page that are something else now.
std::uint64_t changed_poison(const PageView& view, const PoisonedPage& page) {
  ByteMask changed;
  changed.set_differences(view.found, std::span(page.bytes).first(view.found.size()));
  for (std::size_t i = 0; i < changed.words().size(); ++i)
    changed.words()[i] &= page.poisoned.words()[i];
  return changed.count();
}

/// Hands over take(page, its poison) for every page of a target after a run on poison.
template <class F>
Result<void> scan_poisoned(VerifyState& state, const Poisoner& poisoner, const Target& target,
                           F&& take) {
  const RegionState& region = *target.region;
  const auto look = [&](const Batch& batch, std::span<const std::byte> found) {
    const std::vector<PoisonedPage> poisoned = poisoner.pages(
        state.description_of(region), batch, target.whole, region.comparer.element_bytes());
    std::size_t at = 0;
    return each_page(batch, found,
                     [&](const PageView& view) { return take(view, poisoned[at++]); });
  };
  return scan_batches(state, region.region, target.whole ? Look::every : Look::written, look);
}

/// After a run of the original: elements whose poisoned bytes all became the post-image's.
Result<void> find_pure_outputs(VerifyState& state, const Poisoner& poisoner, Target& target) {
  RegionState& region = *target.region;
  region.verdict.poisoned = true;
  const std::size_t step = region.comparer.element_bytes();
  const auto look = [&](const PageView& view, const PoisonedPage& page) -> Result<void> {
    KeptPage kept;
    const PageStore::Key key{region.region, view.page};
    if (state.kept.has(key)) {
      PERFLAB_TRY(kept, state.kept.get(key));
    }
    region.verdict.changed_poison_bytes += changed_poison(view, page);
    ByteMask pure;
    const auto eight = [&](std::size_t at, std::uint8_t bits) {
      if (kept.varying.eight(at) != 0) return false;
      const auto wrong = static_cast<std::uint8_t>(whole_elements(
          nonzero_bytes(eight_at(view.found, at) ^ eight_at(view.after, at)) & bits, step));
      const auto right = static_cast<std::uint8_t>(bits & ~wrong);
      if (!state.has_other() && (right & ~changed_elements(view, at, step)) != 0) return false;
      pure.set_eight(at, right);
      return true;
    };
    each_element(page.poisoned, step, view.before.size(), eight, [&](const Place& place) {
      if (!is_written(region, view, page, kept, place)) return;
      for (std::size_t i = place.at; i < place.at + place.bytes; ++i)
        if (page.poisoned.test(i)) pure.set(i);
      // What changed was compared in the runs before.
      if (state.has_other() || !unchanged(view, place)) return;
      region.comparer.count(view.offset + place.at, view.after.subspan(place.at, place.bytes),
                            view.found.subspan(place.at, place.bytes));
    });
    region.verdict.pure_output_bytes += pure.count();
    target.pure.set(view.page, page.poisoned, pure);
    return {};
  };
  return scan_poisoned(state, poisoner, target, look);
}

/// Bytes of an element that are no longer unexpected.
void forgive(RegionState& region, std::uint64_t page, const Place& place) {
  const auto suspects = region.suspects.find(page);
  if (suspects == region.suspects.end()) return;
  for (std::size_t i = place.at; i < place.at + place.bytes; ++i) {
    region.forgiven_bytes += suspects->second.test(i);
    suspects->second.reset(i);
  }
}

/// After a run of the other code object: every pure output has its value again.
Result<void> check_pure_outputs(VerifyState& state, const Poisoner& poisoner,
                                const Target& target) {
  RegionState& region = *target.region;
  const std::size_t step = region.comparer.element_bytes();
  return scan_poisoned(
      state, poisoner, target, [&](const PageView& view, const PoisonedPage& page) -> Result<void> {
        const ByteMask pure = target.pure.of(view.page, page.poisoned);
        const auto eight = [&](std::size_t at, std::uint8_t bits) {
          const std::uint8_t whole = whole_elements(bits, step);
          return (other_elements(view, at, step) & whole) == 0 &&
                 (whole & ~changed_elements(view, at, step)) == 0;
        };
        each_element(pure, step, view.before.size(), eight, [&](const Place& place) {
          const auto expected = view.after.subspan(place.at, place.bytes);
          const auto found = view.found.subspan(place.at, place.bytes);
          std::uint64_t bytes = 0;
          bool poisoned = true;
          for (std::size_t i = place.at; i < place.at + place.bytes; ++i) {
            bytes += pure.test(i);
            poisoned = poisoned && (!pure.test(i) || view.found[i] == page.bytes.at(i));
          }
          const bool fine = region.comparer.accepts(expected, found);
          if (!fine) {
            auto& wrong = poisoned ? region.verdict.not_rewritten_bytes
                                   : region.verdict.wrong_on_poison_bytes;
            wrong += bytes;
          }
          if (!unchanged(view, place)) return;
          if (fine || !poisoned) region.comparer.count(view.offset + place.at, expected, found);
          forgive(region, view.page, place);
        });
        return {};
      });
}

/// Poisons one group for each code object. False: a dispatch failed and the device is lost.
Result<bool> verify_group(VerifyState& state, const Poisoner& poisoner, Group& group) {
  if (state.has_other()) PERFLAB_TRY_VOID(state.session.load({}));
  PERFLAB_TRY(std::optional<Error> failure, run_poisoned(state, poisoner, group));
  if (failure) {
    state.certificate.poison_note = fmt::format(
        "the original does not end well when region {:#x} is poisoned, so that nothing was "
        "poisoned "
        "from there on: {}",
        state.description_of(*group.front().region).base, failure->message);
    return false;
  }
  for (Target& target : group) PERFLAB_TRY_VOID(find_pure_outputs(state, poisoner, target));
  PERFLAB_TRY_VOID(restore_all(state));
  if (!state.has_other()) return true;
  PERFLAB_TRY_VOID(state.session.load(state.options.code_object, state.options.launch));
  PERFLAB_TRY(failure, run_poisoned(state, poisoner, group));
  if (failure) {
    state.certificate.run_failure = fmt::format("{} (on poisoned outputs)", failure->message);
    state.certificate.failure = failure_of(*failure);
    state.certificate.failed_on_poison = true;
    return false;
  }
  for (const Target& target : group) PERFLAB_TRY_VOID(check_pure_outputs(state, poisoner, target));
  PERFLAB_TRY_VOID(restore_all(state));
  return true;
}

}  // namespace

Result<void> verify_on_poison(VerifyState& state) {
  const Poisoner poisoner(state.capture.description());
  for (Group& group : groups_of(state)) {
    PERFLAB_TRY(const bool go_on, verify_group(state, poisoner, group));
    if (!go_on) return {};
  }
  return {};
}

}  // namespace perflab::replay
