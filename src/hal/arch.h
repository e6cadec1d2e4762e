// Architecture and product tables: what one CU, SIMD and wave of a GPU can hold and do. The numbers
// live in archs/*.json, embedded in the binary, with their sources; there is none in the code.
// An architecture that is not in the tables is unknown: nobody gets a neighbour's numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hal/arch_table.h"
#include "hal/terms.h"

namespace perflab::hal {

/// Every architecture of the tables, of both platforms, ordered by name. Parsed at the first call;
/// thread-safe.
std::span<const Arch> all_archs();

/// Those of one platform.
std::span<const Arch> archs_of(Platform platform);

/// The architecture of a name or target id ("gfx942", "gfx942:sramecc+:xnack-": features are
/// ignored; "sm_90", "sm_90a"); nullptr when it is not in the tables.
const Arch* find_arch(std::string_view target_id);

/// The first feature of a target id that is not "sramecc" or "xnack" with + or -, each once;
/// missing when all are. Which processors have them is code/'s matter.
std::optional<std::string_view> unknown_feature(std::string_view target_id);

/// The error for a gfx name that find_arch() does not know: what is missing because of that, and
/// the names that are known.
Error unknown_architecture(std::string_view gfx, ErrorCode code = ErrorCode::usage);

/// The product with this PCI vendor id (kVendorAmd, kVendorNvidia) and device id; nullptr when
/// there is none or several share the id.
const Product* find_product_by_pci(std::uint32_t vendor_id, std::uint32_t device_id);

/// The PCI vendor id of a platform's GPUs.
constexpr std::uint32_t vendor_id_of(Platform platform) {
  return platform == Platform::amd ? kVendorAmd : kVendorNvidia;
}

/// The product of this marketing name or alias, whatever the case ("AMD Instinct MI300X",
/// "mi300x"); nullptr when it is not in the tables.
const Product* find_product_by_name(std::string_view name);

/// The gfx name of a driver's target version: 90402 -> "gfx942", 90010 -> "gfx90a",
/// 100300 -> "gfx1030". Missing for 0 (a CPU) and for numbers that cannot be one.
std::optional<std::string> gfx_name_from_target_version(std::int64_t version);

/// What a source key of the tables stands for; missing for an unknown key.
std::optional<std::string_view> source_description(std::string_view key);

}  // namespace perflab::hal
