// The pattern that outputs are overwritten with before a dispatch. It is a function of the captured
// bytes alone, so that it need not be kept to be recognised afterwards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "capture/model.h"
#include "replay/elements/element_diff.h"
#include "replay/session/page_batches.h"

namespace perflab::replay {

/// A page with its poison.
struct PoisonedPage {
  PageBytes bytes{};  ///< the pre-image where nothing is poisoned
  ByteMask poisoned;
};

/// Makes poisoned pages. The pattern differs from pre- and post-image in every byte.
class Poisoner {
 public:
  explicit Poisoner(const capture::Description& description);

  /// `whole`: every byte; else the elements that changed. Aligned words of 8 bytes whose pre-image
  /// is an address in (or just behind) a region of the capture stay.
  [[nodiscard]] PoisonedPage page(const capture::MemoryRegion& region, const PageView& view,
                                  bool whole, std::size_t element_bytes) const;

  /// All pages of a batch, made on all cores.
  [[nodiscard]] std::vector<PoisonedPage> pages(const capture::MemoryRegion& region,
                                                const Batch& batch, bool whole,
                                                std::size_t element_bytes) const;

  /// Whether a word is an address in (or just behind) a region of the capture.
  [[nodiscard]] bool is_address(std::uint64_t word) const;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_;  ///< [first, last], by first
  std::uint64_t highest_ = 0;                                    ///< last of all
};

/// Which elements of one region are pure outputs: a byte per page, and a mask only for pages where
/// some elements are and others are not.
class PureOutputs {
 public:
  explicit PureOutputs(std::uint64_t pages) : states_(pages, State::none) {}
  /// `pure` is a part of `poisoned`.
  void set(std::uint64_t page, const ByteMask& poisoned, const ByteMask& pure);
  [[nodiscard]] ByteMask of(std::uint64_t page, const ByteMask& poisoned) const;

 private:
  enum class State : std::uint8_t { none, all, some };
  std::vector<State> states_;
  std::map<std::uint64_t, ByteMask> some_;
};

}  // namespace perflab::replay
