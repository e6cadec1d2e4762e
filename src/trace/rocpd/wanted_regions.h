// Which regions' arguments and texts are read, and how an event leads to them. Noted while the
// regions are read: arguments are the largest table of some traces (six rows per launch), and a
// trace without them pays nothing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/api_calls.h"
#include "trace/string_pool.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

/// Filled by begin() and note() by one thread; then read by any.
class WantedRegions {
 public:
  /// `arguments`: calls whose arguments can matter are noted. `marker_categories`: by category
  /// index of the event table, regions of these are noted too. With neither nothing is kept.
  /// `rccl_categories`: likewise, those of RCCL's calls, all of whose arguments can matter.
  void begin(std::size_t events, bool arguments, std::vector<bool> marker_categories,
             std::vector<bool> rccl_categories) {
    arguments_ = arguments;
    markers_ = std::move(marker_categories);
    rccl_ = std::move(rccl_categories);
    any_marker_ = std::ranges::find(markers_, true) != markers_.end();
    if (arguments_ || any_marker_) region_of_event_.assign(events, kNone);
  }

  /// A region that was read, with the position and category index of its event.
  void note(Index region, Index event, Index name, std::uint16_t category,
            const StringPool& strings) {
    if (region_of_event_.empty()) return;
    const bool marker = any_marker_ && markers_[category];
    const CallKind call = arguments_ ? learn(name, strings) : CallKind::other;
    const bool rccl = arguments_ && rccl_[category];
    has_rccl_ = has_rccl_ || rccl;
    needed_ = needed_ || needs_arguments(call);
    marked_ = marked_ || marker;
    if ((marker || rccl || needs_arguments(call) || submits(call)) &&
        region_of_event_[event] == kNone)
      region_of_event_[event] = region;
  }

  /// Calls that submit work: they teach which stream a handle is.
  static constexpr bool submits(CallKind call) {
    return call == CallKind::launch || call == CallKind::copy || call == CallKind::blocking_copy;
  }

  /// Whether there is a call, other than RCCL's, that cannot be understood without its arguments.
  [[nodiscard]] bool needs_arguments_read() const { return needed_; }
  /// Whether there is a call of RCCL.
  [[nodiscard]] bool has_rccl() const { return has_rccl_; }
  /// Whether there is a user range.
  [[nodiscard]] bool has_markers() const { return marked_; }
  [[nodiscard]] const std::vector<bool>& marker_categories() const { return markers_; }

  /// The noted region of an event (the first that was read when several share it), or kNone.
  [[nodiscard]] Index region_of(Index event) const {
    return event == kNone ? kNone : region_of_event_[event];
  }
  /// What the call of that name does. Precondition: the name was noted.
  [[nodiscard]] CallKind kind(Index name) const {
    return name < kinds_.size() ? kinds_[name].second : CallKind::other;
  }

  void clear() { *this = {}; }

 private:
  CallKind learn(Index name, const StringPool& strings) {
    if (name >= kinds_.size()) kinds_.resize(strings.size());
    auto& [known, kind] = kinds_[name];
    if (!known) kind = call_kind(strings.view(name));
    known = true;
    return kind;
  }

  bool arguments_ = false, any_marker_ = false, needed_ = false, marked_ = false;
  bool has_rccl_ = false;
  std::vector<bool> markers_, rccl_;
  std::vector<Index> region_of_event_;            ///< by event position
  std::vector<std::pair<bool, CallKind>> kinds_;  ///< by name: known yet, what it does
};

}  // namespace perflab::trace::rocpd
