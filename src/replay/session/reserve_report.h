// What a check of reservations found (reserve_check.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "replay/addresses/address_plan.h"

namespace perflab::replay {

enum class Reservation : std::uint8_t { exact, relocated, failed };
std::string_view to_string(Reservation reservation);

struct RangeCheck {
  FixedRange range;
  std::vector<std::size_t> regions;
  Reservation outcome = Reservation::failed;
  std::uint64_t returned = 0;  ///< the base that came back; 0: none
  std::string status;          ///< of the runtime's call: "0x1008 out of resources"; empty: success
  std::string holder;          ///< who is in the way; empty: nobody known
};

struct ReserveReport {
  bool probe = false;      ///< typical addresses, not those of a capture
  std::string through;     ///< "hsa", "cuda" or "mmap" (no runtime on this machine)
  std::string no_runtime;  ///< why "mmap"; empty: it is not
  std::uint64_t granule = 0;
  std::vector<RangeCheck> ranges;  ///< by base
  std::uint64_t exact = 0, relocated = 0, failed = 0, bytes = 0;

  /// 0 all exact, 1 one failed, else 2: one was relocated.
  [[nodiscard]] int exit_code() const;
};

struct ReserveOptions {
  bool may_restart = true;  ///< as in open_device.h
};

}  // namespace perflab::replay
