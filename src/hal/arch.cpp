// Look-ups in the architecture tables, which are parsed once, at the first question.
#include "hal/arch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "arch_tables.h"
#include "base/error.h"
#include "base/text/text.h"
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
  static const Catalog loaded = load();
  return loaded;
}

/// Whether the dotted path is `group` or stands below it.
bool is_at_or_below(std::string_view path, std::string_view group) {
  return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '.');
}

/// The one product of which `matches` holds; nullptr when there is none or several.
template <class Matches>
const Product* the_product(Matches matches) {
  const Product* found = nullptr;
  for (const Arch& arch : all_archs()) {
    for (const Product& product : arch.products) {
      if (!matches(product)) continue;
      if (found != nullptr) return nullptr;
      found = &product;
    }
  }
  return found;
}

}  // namespace

std::string_view to_string(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return "fp64";
    case Precision::fp32:
      return "fp32";
    case Precision::tf32:
      return "tf32";
    case Precision::fp16:
      return "fp16";
    case Precision::bf16:
      return "bf16";
    case Precision::fp8:
      return "fp8";
    case Precision::fp6:
      return "fp6";
    case Precision::fp4:
      return "fp4";
    case Precision::int8:
      return "int8";
    case Precision::int4:
      return "int4";
  }
  return "";
}

std::string_view to_string(Pipe pipe) {
  switch (pipe) {
    case Pipe::vector:
      return "vector";
    case Pipe::packed:
      return "packed";
    case Pipe::dual_issue:
      return "dual_issue";
    case Pipe::matrix:
      return "matrix";
    case Pipe::dot:
      return "dot";
  }
  return "";
}

const WaveSizeLimits* Arch::wave_limits(std::int64_t wave_size) const {
  const auto it = std::ranges::find(wave_sizes, wave_size, &WaveSizeLimits::wave_size);
  return it == wave_sizes.end() ? nullptr : &*it;
}

std::optional<double> Arch::ops_per_clk_per_cu(Pipe pipe, Precision precision) const {
  for (const Rate& rate : rates)
    if (rate.pipe == pipe && rate.precision == precision) return rate.ops_per_clk_per_cu;
  return std::nullopt;
}

std::vector<std::string> Arch::unconfirmed_of_occupancy() const {
  constexpr std::array kGroups{"compute_unit", "default_wave_size", "wave_sizes", "vgpr", "sgpr",
                               "lds"};
  std::vector<std::string> fields;
  for (const std::string& field : provenance.unconfirmed)
    if (std::ranges::any_of(kGroups, [&](auto group) { return is_at_or_below(field, group); }))
      fields.push_back(field);
  return fields;
}

std::span<const std::string> Provenance::sources_of(std::string_view field) const {
  const FieldSources* closest = nullptr;
  for (const FieldSources& entry : sources)
    if (is_at_or_below(field, entry.field) &&
        (closest == nullptr || entry.field.size() > closest->field.size()))
      closest = &entry;
  return closest == nullptr ? std::span<const std::string>{} : closest->keys;
}

bool Provenance::is_unconfirmed(std::string_view field) const {
  return std::ranges::any_of(
      unconfirmed, [field](const std::string& entry) { return is_at_or_below(field, entry); });
}

std::span<const Arch> all_archs() {
  return catalog().archs;
}

const Arch* find_arch(std::string_view target_id) {
  const std::string_view gfx = gfx_of(target_id);
  for (const Arch& arch : all_archs())
    if (arch.gfx == gfx) return &arch;
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
          .message = fmt::format("unknown architecture {}: its register files, LDS, occupancy and "
                                 "peaks are missing from the tables",
                                 gfx),
          .notes = {},
          .remedy = fmt::format("known are: {}", fmt::join(known, ", "))};
}

const Product* find_product_by_pci(std::uint32_t device_id) {
  return the_product([device_id](const Product& product) {
    return std::ranges::find(product.pci_device_ids, device_id) != product.pci_device_ids.end();
  });
}

const Product* find_product_by_name(std::string_view name) {
  return the_product([name](const Product& product) {
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
