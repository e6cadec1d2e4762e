// The memory of a capture on a device: where each region lies, and bringing back what was in it
// before the dispatch, all of it or only what a dispatch writes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"
#include "replay/addresses/address_plan.h"
#include "replay/device.h"
#include "replay/session/restored.h"

namespace perflab::replay {

/// Host memory stays fixed whatever the size of the capture: contents are streamed.
class PreImage {
 public:
  PreImage(const capture::Capture& capture, Device& device);

  /// Places every range of the plan; of one that it can do without only the failure is kept.
  Result<void> place(const AddressPlan& plan);
  /// Why regions of such ranges are not placed, by their number.
  [[nodiscard]] const std::map<std::size_t, Error>& not_placed() const { return not_placed_; }
  /// Addresses of the variables of the code object that was just loaded; those that it does not
  /// have lie nowhere. Writes their pre-image. `renamed`: names that some have there, by the
  /// captured ones. Returns the symbols that were not found, but for markers of translation units,
  /// which hold nothing.
  Result<std::vector<std::string>> find_variables(
      const std::map<std::string, std::string>& renamed);

  [[nodiscard]] std::optional<std::uint64_t> address(std::size_t region) const {
    return addresses_[region];
  }

  /// Everything. Memory between the regions of a range becomes zero.
  Result<Restored> restore_all();
  /// The pages of the write set: copied from where they were saved on the device the first time;
  /// from the host when the device has no room for that.
  Result<Restored> restore_writes();
  /// Adds the pages that differ from the pre-image now to the write set. Returns how many are new.
  Result<std::uint64_t> learn_writes();
  /// Why restore_writes() copies from the host; empty: it does not.
  [[nodiscard]] const std::string& from_host_because() const { return from_host_because_; }

 private:
  /// Pages of the write set, and where their pre-image is kept on the device.
  struct Kept {
    std::size_t region = 0;
    capture::PageRun pages;
    std::uint64_t saved_at = 0;
  };

  [[nodiscard]] const capture::MemoryRegion& region(std::size_t number) const {
    return capture_.description().regions[number];
  }
  [[nodiscard]] std::uint64_t bytes_of(const Kept& kept) const;
  Result<void> restore_region(std::size_t number, std::uint64_t base, capture::Pages pages);
  /// Copies of the loaded module's variables at their old addresses, for pointers to them.
  Result<void> restore_copies();
  [[nodiscard]] bool is_own_variable(std::size_t number) const;
  /// Saves what joined the write set since the last time.
  Result<void> save_new();
  Result<void> fill_saved(std::span<const Kept> kept);
  Result<Restored> restore_from_host();
  Result<std::uint64_t> learn_region(std::size_t number);
  void add_to_write_set(std::size_t number, std::span<const capture::PageRun> pages);

  const capture::Capture& capture_;
  Device& device_;
  std::vector<PlannedRange> ranges_;
  std::vector<std::optional<std::uint64_t>> addresses_;  ///< by region
  std::vector<std::size_t> copies_;  ///< variables that lie at their old addresses besides
  std::map<std::size_t, Error> not_placed_;
  std::vector<std::vector<capture::PageRun>> write_set_;  ///< by region; ascending, not adjacent
  std::vector<Kept> kept_;                                ///< the same, the first `saved_` saved
  std::size_t saved_ = 0;
  std::string from_host_because_;
};

}  // namespace perflab::replay
