// Which AMD GPUs can be PC-sampled, and how: docs/facts/pc_sampling.md "Collecting". What a machine
// can do depends on its driver and firmware too, which only its tools say.
#pragma once

#include <array>
#include <string_view>

namespace perflab::pc_sampling {

/// Methods that an architecture's hardware and driver have.
struct Support {
  std::string_view gfx;
  bool stochastic = false;  ///< by the hardware: says why a wave did not issue
  bool host_trap = false;   ///< by the driver: says where a wave was
};

inline constexpr std::array<Support, 6> kSupportByGpu = {{{"gfx90a", false, true},
                                                          {"gfx942", true, true},
                                                          {"gfx950", true, true},
                                                          {"gfx1200", false, true},
                                                          {"gfx1201", false, true},
                                                          {"gfx1250", true, true}}};

/// Neither method where the architecture is not in the table.
constexpr Support support_of(std::string_view architecture) {
  for (const Support& support : kSupportByGpu)
    if (support.gfx == architecture) return support;
  return {.gfx = architecture};
}

}  // namespace perflab::pc_sampling
