// What a verification carries from step to step. Inside src/replay only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/elements/element_diff.h"
#include "replay/elements/element_type.h"
#include "replay/session/page_batches.h"
#include "replay/session/session.h"
#include "replay/verify/certificate.h"

namespace perflab::replay {

/// One region with captured contents.
struct RegionState {
  std::size_t region = 0;
  std::optional<ElementType> type;
  std::string type_from;
  ElementDiffer comparer;  ///< of the code object that is verified
  RegionVerdict verdict;
  /// Elements beyond tolerance in the run of the original that has most, and among them those that
  /// are the same in every run.
  std::uint64_t most_beyond = 0, steady_beyond = 0;
  bool covered = false;  ///< some bytes vary, and all runs keep to the tolerance there
  /// Bytes that the other code object wrote unexpectedly, by page: forgiven when they turn out to
  /// be outputs. At most kMostSuspects pages.
  std::map<std::uint64_t, ByteMask> suspects;
  std::uint64_t forgiven_bytes = 0;
  std::uint64_t last_varying_end = 0;  ///< behind the range that was added last
};
inline constexpr std::size_t kMostSuspects = 65536;

struct VerifyState {
  Session& session;
  const VerifyOptions& options;
  const capture::Capture& capture;
  std::vector<PointerArgument> arguments;
  std::vector<RegionState> regions;
  PageStore kept;            ///< of the original's runs
  Certificate certificate;   ///< its `poison` is what is done
  bool device_lost = false;  ///< a dispatch failed
  bool restored = false;     ///< nothing was written since everything was brought back

  [[nodiscard]] bool has_other() const { return !options.code_object.empty(); }
  [[nodiscard]] const capture::MemoryRegion& description_of(const RegionState& state) const {
    return capture.description().regions[state.region];
  }
};

enum class Look : std::uint8_t {
  written,  ///< the captured write set
  changed,  ///< that, and where a run wrote something else
  wrong,    ///< where it is not the post-image; `before` is not read, but is the post-image, too
  every,    ///< every page
};

/// Hands over take(batch, found): batches of a region, and what the device holds there now.
template <class F>
Result<void> scan_batches(VerifyState& state, std::size_t region, Look where, F&& take) {
  std::vector<std::byte> found(most_batch_bytes(state.capture, region));
  const auto look = [&](const Batch& batch) -> Result<void> {
    const auto now = std::span(found).first(batch.before.size());
    PERFLAB_TRY_VOID(state.session.read(region, batch.offset, now));
    // Nothing else is here now; but a page that an earlier run wrote is looked at again.
    const auto kept = state.kept.pages().lower_bound({region, batch.offset / capture::kPageBytes});
    const bool any_kept =
        kept != state.kept.pages().end() && kept->first.first == region &&
        kept->first.second * capture::kPageBytes < batch.offset + batch.before.size();
    const bool passes = where == Look::wrong || (where == Look::changed && !batch.written);
    if (passes && !any_kept && same_bytes(now, batch.after)) return {};
    return take(batch, std::span<const std::byte>(now));
  };
  PERFLAB_TRY_VOID(where == Look::wrong ? each_after_batch(state.capture, region, look)
                                        : each_written_batch(state.capture, region, look));
  if (where == Look::written) return {};
  return each_other_batch(state.capture, region, look);
}

/// Hands over pages of a region with what the device holds there now.
template <class F>
Result<void> scan(VerifyState& state, std::size_t region, Look where, F&& take) {
  return scan_batches(state, region, where,
                      [&](const Batch& batch, std::span<const std::byte> found) {
                        return each_page(batch, found, take);
                      });
}

/// The regions that can be compared, each with its type, and notes on those that cannot.
Result<void> find_regions(VerifyState& state);

/// The type that a region's data is plausible as: where the captured dispatch changed it, else all
/// of it.
Result<std::optional<ElementType>> guess_type(const capture::Capture& capture, std::size_t region);

/// Elements of two stretches of memory that differ by more than the tolerance.
std::uint64_t beyond_of(const ElementDiffer& comparer, std::span<const std::byte> expected,
                        std::span<const std::byte> found);

/// A dispatch, unless Ctrl-C was pressed. Its error marks the device as lost.
Result<void> dispatch(VerifyState& state);

/// Brings back the pre-image of everything.
Result<void> restore_all(VerifyState& state);

/// Step 4 of verify(): poisoned runs of the original and of the other code object.
Result<void> verify_on_poison(VerifyState& state);

/// Verdicts of the regions and of all together, and the sentence.
void conclude(VerifyState& state);

}  // namespace perflab::replay
