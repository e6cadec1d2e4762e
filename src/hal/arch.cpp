// Look-ups in the architecture tables, which are parsed once, at the first question.
#include "hal/arch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "arch_tables.h"
#include "base/error.h"
#include "base/text/text.h"
#include "hal/arch_table.h"
#include "hal/table_files.h"

namespace perflab::hal {
namespace {

struct Catalog {
  std::vector<Arch> archs;
  SourceTable sources;
};

Catalog load() {
  Catalog catalog;
  for (const EmbeddedFile& file : arch_tables()) {
    if (file.name == kSourcesFile)
      catalog.sources = must(parse_sources(file.text, file.name));
    else
      catalog.archs.push_back(must(parse_arch(file.text, file.name)));
  }
  std::ranges::sort(catalog.archs, {}, &Arch::gfx);
  return catalog;
}

const Catalog& catalog() {
  static const Catalog kLoaded = load();
  return kLoaded;
}

/// The one product of which `matches` (of it and its architecture) holds; nullptr when there is
/// none or several.
template <class Matches>
const Product* the_product(Matches matches) {
  const Product* found = nullptr;
  for (const Arch& arch : all_archs()) {
    for (const Product& product : arch.products) {
      if (!matches(product, arch)) continue;
      if (found != nullptr) return nullptr;
      found = &product;
    }
  }
  return found;
}

}  // namespace

std::span<const Arch> all_archs() {
  return catalog().archs;
}

std::span<const Arch> archs_of(Platform platform) {
  // Names of one platform begin alike, so that they stand together.
  const std::span<const Arch> all = all_archs();
  const auto found = std::ranges::equal_range(all, platform, {}, &Arch::platform);
  return {found.begin(), found.end()};
}

const Arch* find_arch(std::string_view target_id) {
  const std::string_view name = architecture_of_target(target_id);
  for (const Arch& arch : all_archs())
    if (arch.gfx == name) return &arch;
  return nullptr;
}

std::optional<std::string_view> unknown_feature(std::string_view target_id) {
  constexpr std::array<std::string_view, 2> kFeatures{"sramecc", "xnack"};
  std::array<bool, kFeatures.size()> seen{};
  for (auto colon = target_id.find(':'); colon != std::string_view::npos;
       colon = target_id.find(':')) {
    target_id.remove_prefix(colon + 1);
    const std::string_view feature = target_id.substr(0, target_id.find(':'));
    const bool signed_name = feature.ends_with('+') || feature.ends_with('-');
    const auto* const known =
        std::ranges::find(kFeatures, feature.substr(0, feature.size() - (signed_name ? 1 : 0)));
    if (!signed_name || known == kFeatures.end()) return feature;
    bool& twice = seen[static_cast<std::size_t>(known - kFeatures.begin())];
    if (twice) return feature;
    twice = true;
  }
  return std::nullopt;
}

Error unknown_architecture(std::string_view gfx, ErrorCode code) {
  std::vector<std::string_view> known;
  for (const Arch& arch : all_archs()) known.push_back(arch.gfx);
  return {.code = code,
          .message = fmt::format("unknown architecture {}: its register files, {}, occupancy and "
                                 "peaks are missing from the tables",
                                 gfx, terms(platform_of(gfx)).lds),
          .notes = {},
          .remedy = fmt::format("known are: {}", fmt::join(known, ", "))};
}

const Product* find_product_by_pci(std::uint32_t vendor_id, std::uint32_t device_id) {
  return the_product([&](const Product& product, const Arch& arch) {
    return vendor_id == vendor_id_of(arch.platform) &&
           std::ranges::find(product.pci_device_ids, device_id) != product.pci_device_ids.end();
  });
}

const Product* find_product_by_name(std::string_view name) {
  return the_product([name](const Product& product, const Arch&) {
    const auto same = [name](std::string_view other) { return equal_ignoring_case(name, other); };
    return same(product.name) || std::ranges::any_of(product.aliases, same);
  });
}

std::optional<std::string> gfx_name_from_target_version(std::int64_t version) {
  // Decimal digits mmnnss: major in decimal, minor and stepping as one hexadecimal digit each.
  const std::int64_t major = version / 10000;
  const std::int64_t minor = version / 100 % 100;
  const std::int64_t stepping = version % 100;
  if (version <= 0 || major < 1 || major > 99 || minor > 15 || stepping > 15) return std::nullopt;
  return fmt::format("gfx{}{:x}{:x}", major, minor, stepping);
}

std::optional<std::string_view> source_description(std::string_view key) {
  return meaning_of(catalog().sources, key);
}

}  // namespace perflab::hal
