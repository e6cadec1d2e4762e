#include "code/elf/elf_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace perflab::code {
namespace {

constexpr std::uint32_t kMachineMask = 0xff;
constexpr std::uint8_t kNewestAbi = 4;
constexpr int kOldestVersion = 2;

// Numbers below 0x20 are R600's; gaps are reserved. Features: `clang-19 -mcpu=gfxNNN:xnack+` takes
// those and refuses the others.
constexpr std::array kMachines{
    Processor{0x20, "gfx600"},
    Processor{0x21, "gfx601"},
    Processor{0x22, "gfx700"},
    Processor{0x23, "gfx701"},
    Processor{0x24, "gfx702"},
    Processor{0x25, "gfx703"},
    Processor{0x26, "gfx704"},
    Processor{0x28, "gfx801", false, true},
    Processor{0x29, "gfx802"},
    Processor{0x2a, "gfx803"},
    Processor{0x2b, "gfx810", false, true},
    Processor{0x2c, "gfx900", false, true},
    Processor{0x2d, "gfx902", false, true},
    Processor{0x2e, "gfx904", false, true},
    Processor{0x2f, "gfx906", true, true},
    Processor{0x30, "gfx908", true, true},
    Processor{0x31, "gfx909", false, true},
    Processor{0x32, "gfx90c", false, true},
    Processor{0x33, "gfx1010", false, true},
    Processor{0x34, "gfx1011", false, true},
    Processor{0x35, "gfx1012", false, true},
    Processor{0x36, "gfx1030"},
    Processor{0x37, "gfx1031"},
    Processor{0x38, "gfx1032"},
    Processor{0x39, "gfx1033"},
    Processor{0x3a, "gfx602"},
    Processor{0x3b, "gfx705"},
    Processor{0x3c, "gfx805"},
    Processor{0x3d, "gfx1035"},
    Processor{0x3e, "gfx1034"},
    Processor{0x3f, "gfx90a", true, true},
    Processor{0x40, "gfx940", true, true},
    Processor{0x41, "gfx1100"},
    Processor{0x42, "gfx1013", false, true},
    Processor{0x43, "gfx1150"},
    Processor{0x44, "gfx1103"},
    Processor{0x45, "gfx1036"},
    Processor{0x46, "gfx1101"},
    Processor{0x47, "gfx1102"},
    Processor{0x48, "gfx1200"},
    Processor{0x49, "gfx1250"},
    Processor{0x4a, "gfx1151"},
    Processor{0x4b, "gfx941", true, true},
    Processor{0x4c, "gfx942", true, true},
    Processor{0x4e, "gfx1201"},
    Processor{0x4f, "gfx950", true, true},
    Processor{0x50, "gfx1310"},
    Processor{0x51, "gfx9-generic"},
    Processor{0x52, "gfx10-1-generic"},
    Processor{0x53, "gfx10-3-generic"},
    Processor{0x54, "gfx11-generic"},
    Processor{0x55, "gfx1152"},
    Processor{0x57, "gfx1154"},
    Processor{0x58, "gfx1153"},
    Processor{0x59, "gfx12-generic"},
    Processor{0x5a, "gfx1251"},
    Processor{0x5b, "gfx12-5-generic"},
    Processor{0x5c, "gfx1172"},
    Processor{0x5d, "gfx1170"},
    Processor{0x5e, "gfx1171"},
    Processor{0x5f, "gfx9-4-generic"},
    Processor{0x62, "gfx11-7-generic"},
    Processor{0x63, "gfx13-generic"},
};
static_assert(std::ranges::is_sorted(kMachines, {}, &Processor::number));

/// The two-bit feature field of version 4 and later.
Feature feature_of_field(std::uint32_t field) {
  constexpr std::array kStates{Feature::unsupported, Feature::any, Feature::off, Feature::on};
  return kStates.at(field & 3U);
}

/// The one-bit flag of version 3.
Feature feature_of_bit(bool set, bool supported) {
  if (set) return Feature::on;
  return supported ? Feature::off : Feature::unsupported;
}

}  // namespace

std::span<const Processor> machines() {
  return kMachines;
}

std::optional<int> version_of_abi(std::uint8_t abi_version) {
  if (abi_version > kNewestAbi) return std::nullopt;
  return kOldestVersion + abi_version;
}

TargetId target_of_flags(std::uint32_t flags, int version) {
  const std::uint32_t number = flags & kMachineMask;
  const auto found = std::ranges::lower_bound(kMachines, number, {}, &Processor::number);
  const bool known = found != kMachines.end() && found->number == number;
  TargetId target;
  target.processor = known ? std::string(found->processor) : fmt::format("mach 0x{:x}", number);
  if (version >= 4) {
    target.xnack = feature_of_field(flags >> 8U);
    target.sramecc = feature_of_field(flags >> 10U);
  } else {
    target.xnack = feature_of_bit((flags & 0x100U) != 0, known && found->has_xnack);
    target.sramecc = feature_of_bit((flags & 0x200U) != 0, known && found->has_sramecc);
  }
  return target;
}

int generic_version_of_flags(std::uint32_t flags, int version) {
  return version >= 6 ? static_cast<int>(flags >> 24U) : 0;
}

}  // namespace perflab::code
