// Look-ups in one architecture table, and the reader of its text. A table is ours, so it is read
// strictly: a missing, mistyped, negative or unknown field is an error, never a default. What only
// one platform has is a field of its tables alone.
#include "hal/arch_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/enum_names.h"
#include "base/text/json_fields.h"
#include "base/text/numbers.h"

namespace perflab::hal {
namespace {

// Tables have no negative numbers and no empty texts.
void read(JsonFields& fields, std::string_view key, int& out) {
  fields.read(key, out, 0);
}
void read(JsonFields& fields, std::string_view key, double& out) {
  fields.read(key, out, 0);
}
void read(JsonFields& fields, std::string_view key, std::string& out) {
  fields.read(key, out);
  if (out.empty()) fields.wrong(key, "is empty");
}
void read(JsonFields& fields, std::string_view key, std::vector<std::string>& out) {
  fields.read(key, out);
}
template <class T>
void read(JsonFields& fields, std::string_view key, std::optional<T>& out) {
  if (!fields.is_null(key)) read(fields, key, out.emplace());
}

bool is_amd(const Arch& arch) {
  return arch.platform == Platform::amd;
}

void read_platform(JsonFields& fields, Arch& arch) {
  std::string name;
  read(fields, "platform", name);
  if (name != to_string(Platform::amd) && name != to_string(Platform::nvidia))
    fields.wrong("platform", "must be amd or nvidia");
  arch.platform = name == to_string(Platform::nvidia) ? Platform::nvidia : Platform::amd;
}

/// WGPs and barriers are AMD's.
void read_workgroup_mode(JsonFields& fields, Arch& arch) {
  read(fields, "cus_per_wgp", arch.cus_per_wgp);
  std::string mode;
  read(fields, "default_mode", mode);
  if (mode != "cu" && mode != "wgp") fields.wrong("default_mode", "must be cu or wgp");
  arch.default_mode = mode == "wgp" ? WorkgroupMode::wgp : WorkgroupMode::cu;
  JsonFields barriers = fields.object("barrier_workgroups");
  read(barriers, "cu", arch.barrier_workgroups_per_cu);
  read(barriers, "wgp", arch.barrier_workgroups_per_wgp);
  barriers.refuse_unknown();
}

void read_compute_unit(JsonFields&& fields, Arch& arch) {
  read(fields, "simds_per_cu", arch.simds_per_cu);
  read(fields, "simd_width", arch.simd_width);
  read(fields, "max_workgroup_size", arch.max_workgroup_size);
  read(fields, "max_waves_per_cu", arch.max_waves_per_cu);
  JsonFields waves = fields.object("max_waves_per_simd");
  if (is_amd(arch)) {
    read_workgroup_mode(fields, arch);
    read(waves, "llvm", arch.max_waves_per_simd_llvm);
    read(waves, "hip", arch.max_waves_per_simd_hip);
  } else {
    read(fields, "max_workgroups_per_cu", arch.max_workgroups_per_cu);
  }
  read(waves, "hardware", arch.max_waves_per_simd_hardware);
  waves.refuse_unknown();
  fields.refuse_unknown();
}

void read_vgpr(JsonFields&& fields, Arch& arch) {
  read(fields, "addressable", arch.addressable_vgprs);
  if (!is_amd(arch)) return fields.refuse_unknown();
  read(fields, "addressable_agprs", arch.addressable_agprs);
  std::string rule;
  read(fields, "agpr_rule", rule);
  if (const auto known = from_name<AgprRule>(rule))
    arch.agpr_rule = *known;
  else
    fields.wrong("agpr_rule", "must be none, separate or unified");
  read(fields, "accum_offset_granule", arch.accum_offset_granule);
  if (arch.agpr_rule == AgprRule::unified && !arch.accum_offset_granule)
    fields.wrong("accum_offset_granule", "must be given when registers are unified");
  fields.refuse_unknown();
}

void read_sgpr(JsonFields&& fields, Arch& arch) {
  read(fields, "per_simd", arch.sgprs_per_simd);
  read(fields, "alloc_granule", arch.sgpr_alloc_granule);
  read(fields, "addressable", arch.addressable_sgprs);
  read(fields, "extras", arch.extra_sgprs);
  fields.each("llvm_waves", [&](JsonFields& step) {
    std::optional<int> max_sgprs;
    int waves = 0;
    read(step, "max_sgprs", max_sgprs);
    read(step, "waves", waves);
    step.refuse_unknown();
    arch.llvm_sgpr_waves.push_back({.max_sgprs = max_sgprs, .waves = waves});
  });
  fields.refuse_unknown();
}

void read_lds(JsonFields&& fields, Arch& arch) {
  read(fields, "bytes_per_cu", arch.lds_bytes_per_cu);
  read(fields, "max_per_workgroup", arch.lds_max_per_workgroup);
  JsonFields granule = fields.object("granule");
  if (is_amd(arch)) {
    read(fields, "bytes_per_wgp", arch.lds_bytes_per_wgp);
    read(granule, "llvm", arch.lds_granule_llvm);
    read(granule, "rocclr", arch.lds_granule_rocclr);
  } else {
    read(fields, "without_opt_in", arch.lds_without_opt_in);
    read(fields, "reserved_per_workgroup", arch.lds_reserved_per_workgroup);
    read(granule, "hardware", arch.lds_granule_hardware);
  }
  granule.refuse_unknown();
  read(fields, "banks", arch.lds_banks);
  fields.refuse_unknown();
}

void read_rates(JsonFields&& fields, std::vector<Rate>& rates) {
  for (const Pipe pipe : enumerators<Pipe>()) {
    const std::string pipe_name(to_string(pipe));
    if (!fields.has(pipe_name)) continue;
    JsonFields by_precision = fields.object(pipe_name);
    for (const Precision precision : enumerators<Precision>()) {
      const std::string name(to_string(precision));
      if (!by_precision.has(name)) continue;
      double rate = 0;
      read(by_precision, name, rate);
      rates.push_back({.pipe = pipe, .precision = precision, .ops_per_clk_per_cu = rate});
    }
    by_precision.refuse_unknown();
  }
  fields.refuse_unknown();
}

/// PCI ids are written as "0x74a1": JSON has no hexadecimal numbers.
void read_pci_ids(JsonFields& fields, const char* key, std::vector<std::uint32_t>& ids) {
  std::vector<std::string> texts;
  read(fields, key, texts);
  for (const std::string& text : texts) {
    const auto id = hex_number<std::uint32_t>(text);
    if (!id) {
      fields.wrong(key, "must hold texts like 0x74a1");
      return;
    }
    ids.push_back(*id);
  }
}

void read_provenance(JsonFields& fields, Provenance& provenance) {
  JsonFields sources = fields.object("sources");
  for (const std::string& field : sources.names())
    read(sources, field,
         provenance.sources.emplace_back(FieldSources{.field = field, .keys = {}}).keys);
  sources.refuse_unknown();
  read(fields, "unconfirmed", provenance.unconfirmed);
}

void read_product(JsonFields& fields, Arch& arch) {
  Product product;
  product.gfx = arch.gfx;
  read(fields, "name", product.name);
  read(fields, "aliases", product.aliases);
  read_pci_ids(fields, "pci_device_ids", product.pci_device_ids);
  read_pci_ids(fields, "shared_pci_device_ids", product.shared_pci_device_ids);
  read(fields, "cus", product.cus);
  read(fields, "max_clock_mhz", product.max_clock_mhz);
  JsonFields memory = fields.object("memory");
  read(memory, "type", product.memory_type);
  read(memory, "gib", product.memory_gib);
  read(memory, "gbps", product.memory_gbps);
  memory.refuse_unknown();
  JsonFields l2 = fields.object("l2");
  read(l2, "mib", product.l2_mib);
  read(l2, "channels", product.l2_channels);
  l2.refuse_unknown();
  if (is_amd(arch)) {
    read(fields, "gpus_per_package", product.gpus_per_package);
    read(fields, "xcds", product.xcds);
    read(fields, "shader_engines", product.shader_engines);
    JsonFields mall = fields.object("mall");
    read(mall, "mib", product.mall_mib);
    read(mall, "gbps", product.mall_gbps);
    mall.refuse_unknown();
  } else {
    read(fields, "matrix_clock_mhz", product.matrix_clock_mhz);
    read_rates(fields.object("ops_per_clk_per_cu"), product.rates);
  }
  read_provenance(fields, product.provenance);
  fields.refuse_unknown();
  arch.products.push_back(std::move(product));
}

void read_arch(JsonFields& fields, Arch& arch) {
  read(fields, "gfx", arch.gfx);
  read(fields, "family", arch.family);
  read_platform(fields, arch);
  if (is_amd(arch)) read(fields, "target_version", arch.target_version);
  read_compute_unit(fields.object("compute_unit"), arch);
  read(fields, "default_wave_size", arch.default_wave_size);
  fields.each("wave_sizes", [&](JsonFields& item) {
    WaveSizeLimits& limits = arch.wave_sizes.emplace_back();
    read(item, "wave_size", limits.wave_size);
    read(item, "vgprs_per_simd", limits.vgprs_per_simd);
    read(item, "vgpr_alloc_granule", limits.vgpr_alloc_granule);
    if (is_amd(arch)) read(item, "vgpr_encoding_granule", limits.vgpr_encoding_granule);
    item.refuse_unknown();
  });
  read_vgpr(fields.object("vgpr"), arch);
  if (is_amd(arch)) read_sgpr(fields.object("sgpr"), arch);
  read_lds(fields.object("lds"), arch);
  JsonFields widths = fields.object("bytes_per_clk");
  read(widths, "lds_per_cu", arch.lds_bytes_per_clk_per_cu);
  read(widths, "l1_per_cu", arch.l1_bytes_per_clk_per_cu);
  read(widths, "l2_per_channel", arch.l2_bytes_per_clk_per_channel);
  widths.refuse_unknown();
  read_rates(fields.object("ops_per_clk_per_cu"), arch.rates);
  read(fields, "notes", arch.notes);
  read_provenance(fields, arch.provenance);
  fields.each("products", [&](JsonFields& item) { read_product(item, arch); });
  fields.refuse_unknown();
}

/// As inconsistency(), for what only AMD's tables have.
std::string_view inconsistency_of_amd(const Arch& arch) {
  if (arch.max_waves_per_simd_llvm < 1 || arch.max_waves_per_simd_hip < 1)
    return "compute_unit has a zero";
  if (arch.sgpr_alloc_granule < 1 || arch.lds_granule_rocclr < 1 || arch.lds_granule_llvm < 1 ||
      arch.accum_offset_granule.value_or(1) < 1)
    return "a granule is zero";
  for (const WaveSizeLimits& wave : arch.wave_sizes)
    if (wave.vgpr_encoding_granule < 1) return "wave_sizes has a zero";
  const bool wgp = arch.cus_per_wgp.has_value();
  if (wgp != arch.barrier_workgroups_per_wgp.has_value() ||
      wgp != arch.lds_bytes_per_wgp.has_value() ||
      (arch.default_mode == WorkgroupMode::wgp && !wgp))
    return "the fields of WGP mode must be given together";
  return "";
}

/// What the models divide by or rely on; the sentence of the first thing that is wrong, or empty.
std::string_view inconsistency(const Arch& arch) {
  if (arch.platform != platform_of(arch.gfx)) return "the name is not one of the platform";
  if (arch.simds_per_cu < 1 || arch.max_workgroup_size < 1 || arch.max_waves_per_simd_hardware < 1)
    return "compute_unit has a zero";
  if (arch.wave_limits(arch.default_wave_size) == nullptr)
    return "default_wave_size is not among wave_sizes";
  for (const WaveSizeLimits& wave : arch.wave_sizes)
    if (wave.wave_size < 1 || wave.vgpr_alloc_granule < 1) return "wave_sizes has a zero";
  if (is_amd(arch)) return inconsistency_of_amd(arch);
  if (arch.max_workgroups_per_cu < 1) return "compute_unit has a zero";
  if (arch.lds_granule_hardware < 1) return "a granule is zero";
  return "";
}

/// Whether the dotted path is `group` or stands below it.
bool is_at_or_below(std::string_view path, std::string_view group) {
  return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '.');
}

}  // namespace

std::string_view to_string(Precision precision) {
  using enum Precision;
  static constexpr auto kNames = enum_names<Precision>({{fp64, "fp64"},
                                                        {fp32, "fp32"},
                                                        {tf32, "tf32"},
                                                        {fp16, "fp16"},
                                                        {bf16, "bf16"},
                                                        {fp8, "fp8"},
                                                        {fp6, "fp6"},
                                                        {fp4, "fp4"},
                                                        {int8, "int8"},
                                                        {int4, "int4"}});
  return kNames[precision];
}

std::string_view to_string(Pipe pipe) {
  using enum Pipe;
  static constexpr auto kNames = enum_names<Pipe>({{vector, "vector"},
                                                   {packed, "packed"},
                                                   {dual_issue, "dual_issue"},
                                                   {matrix, "matrix"},
                                                   {dot, "dot"}});
  return kNames[pipe];
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

Result<Arch> parse_arch(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(text, what));
  Arch arch;
  JsonFields fields(json, what);
  read_arch(fields, arch);
  if (fields.good())
    if (const std::string_view problem = inconsistency(arch); !problem.empty())
      fields.wrong("", problem);
  PERFLAB_TRY_VOID(fields.result());
  return arch;
}

Result<SourceTable> parse_sources(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(text, what));
  SourceTable sources;
  JsonFields fields(json, what);
  for (const std::string& key : fields.names())
    read(fields, key, sources.emplace_back(key, "").second);
  PERFLAB_TRY_VOID(fields.result());
  return sources;
}

}  // namespace perflab::hal
