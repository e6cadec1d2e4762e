// Which ranges a replay has to place, from the regions of a capture: rounded to granules, those
// that touch or share a granule merged into one (a guard page follows each reservation in the
// runtime's reserved mode: docs/facts/hsa_runtime.md "Reservations"), kinds kept apart where they
// can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "capture/model.h"
#include "replay/device.h"

namespace perflab::replay {

/// Granule of memory before the runtime can be asked: x86-64's page.
inline constexpr std::uint64_t kSystemPage = 4096;

/// One range and the regions (numbers in the description) that lie in it.
struct PlannedRange {
  FixedRange range;
  std::vector<std::size_t> regions;
  /// Nothing but variables of a CUDA module: a replay can do without unless something points there.
  bool optional = false;
};

/// What a platform's memory is handed out in, bytes; powers of two.
struct Granules {
  std::uint64_t device = kSystemPage, host = kSystemPage;
};
/// CUDA backs addresses with 2 MiB at a time (docs/facts/cuda_cupti.md "Addresses").
inline constexpr Granules kCudaGranules{.device = std::uint64_t{2} << 20U, .host = kSystemPage};
/// What it reserves at a wished address begins at a multiple of this.
inline constexpr std::uint64_t kCudaEnvelope = std::uint64_t{32} << 20U;

struct AddressPlan {
  std::vector<PlannedRange> ranges;  ///< by base, disjoint
  std::uint64_t bytes = 0;           ///< in all
  /// What could not be kept apart, a sentence each: regions of different kinds in one granule.
  std::vector<std::string> notes;
};

/// Plans the regions whose contents were captured. Variables are left out on AMD; on CUDA they get
/// ranges at the addresses that they had, for pointers to them (their own place is another one).
/// A range that begins at a multiple of its pool's recommended granule and is as large is rounded
/// up to whole ones where no neighbour is in the way, as the runtime rounds such allocations.
/// Errors: not_replayable (regions that overlap, addresses outside the 47-bit user space).
Result<AddressPlan> plan_addresses(const capture::Description& description, Granules granules);
/// The same with one granule for both.
inline Result<AddressPlan> plan_addresses(const capture::Description& description,
                                          std::uint64_t granule) {
  return plan_addresses(description, Granules{.device = granule, .host = granule});
}
/// The granules of the capture's platform, before a device can be asked.
Granules granules_of(const capture::Description& description);

/// Addresses [base, base + bytes).
struct Span {
  std::uint64_t base = 0, bytes = 0;
  [[nodiscard]] std::uint64_t end() const { return base + bytes; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// What to hold and reserve for the ranges: those that touch lie in one reservation, whatever their
/// kinds, because the runtime's reserved mode puts a guard page behind each. Host memory keeps
/// spans of its own: it is no part of a reservation where it can be locked (HsaMemory). By base.
std::vector<Span> reservations(const AddressPlan& plan);

/// The reservations that CUDA's driver can make for the ranges: whole 32 MiB around each, those
/// that share some made one; with whether nothing in it is needed. Host memory that lies in one is
/// part of it, other host memory needs none. By base.
struct Envelope {
  Span span;
  bool optional = false;
};
std::vector<Envelope> envelopes(const AddressPlan& plan);

/// One mapping of this process (/proc/self/maps).
struct Mapping {
  std::uint64_t first = 0, last = 0;  ///< [first, last)
  std::string permissions;            ///< "rw-p"
  std::string name;                   ///< path, "[heap]", "[stack]"; empty: anonymous
};

/// Reads a maps file (proc(5)). Lines that are none are an error (bad_input).
Result<std::vector<Mapping>> parse_mappings(const std::string& text);
Result<std::vector<Mapping>> own_mappings();

/// The mappings that overlap a range, in words: "/usr/lib/libc.so.6 (r-xp 7f…-7f…)"; empty: none.
std::string who_holds(const std::vector<Mapping>& mappings, std::uint64_t first,
                      std::uint64_t last);

}  // namespace perflab::replay
