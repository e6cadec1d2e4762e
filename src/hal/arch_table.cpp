// Look-ups in one architecture table, and the reader of its text. A table is ours, so it is read
// strictly: a missing, mistyped, negative or unknown field is an error, never a default.
#include "hal/arch_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text/json.h"
#include "base/text/numbers.h"

namespace perflab::hal {
namespace {

constexpr std::array kPrecisions{Precision::fp64, Precision::fp32, Precision::tf32, Precision::fp16,
                                 Precision::bf16, Precision::fp8,  Precision::fp6,  Precision::fp4,
                                 Precision::int8, Precision::int4};
constexpr std::array kPipes{Pipe::vector, Pipe::packed, Pipe::dual_issue, Pipe::matrix, Pipe::dot};

/// Reads the fields of one JSON object into variables. The first problem is kept in `problem`,
/// which nested readers share; what follows it is read into nothing of use and thrown away.
class FieldReader {
 public:
  FieldReader(const Json& object, std::string path, std::string& problem)
      : object_(object), path_(std::move(path)), problem_(problem) {
    if (!object.is_object()) note("", "must be an object");
  }

  void read(const char* key, int& out) {
    read_if(key, out, "must be a whole number, not negative", [](const Json& value) {
      return value.is_number_integer() && value.get<std::int64_t>() >= 0 &&
             value.get<std::int64_t>() <= std::numeric_limits<int>::max();
    });
  }

  void read(const char* key, double& out) {
    read_if(key, out, "must be a number, not negative",
            [](const Json& value) { return value.is_number() && value.get<double>() >= 0; });
  }

  void read(const char* key, std::string& out) {
    read_if(key, out, "must be a text", [](const Json& value) {
      return value.is_string() && !value.get_ref<const std::string&>().empty();
    });
  }

  void read(const char* key, std::vector<std::string>& out) {
    read_if(key, out, "must be an array of texts", [](const Json& value) {
      return value.is_array() &&
             std::ranges::all_of(value, [](const Json& item) { return item.is_string(); });
    });
  }

  template <class T>
  void read(const char* key, std::optional<T>& out) {
    if (object_.is_object() && object_.contains(key) && object_.at(key).is_null()) {
      ++taken_;
      return;
    }
    read(key, out.emplace());
  }

  /// A reader for the object under `key`.
  FieldReader object(const char* key) { return {take(key), path_ + key + ".", problem_}; }

  /// The array of objects under `key`, each handed to `read_item` with a reader of its own.
  template <class ReadItem>
  void each(const char* key, ReadItem read_item) {
    const Json& value = take(key);
    if (!value.is_array()) {
      note(key, "must be an array");
      return;
    }
    for (std::size_t i = 0; i < value.size(); ++i) {
      FieldReader item(value.at(i), fmt::format("{}{}[{}].", path_, key, i), problem_);
      read_item(item);
    }
  }

  /// The names of all fields, for objects whose fields are names.
  [[nodiscard]] std::vector<std::string> keys() const {
    std::vector<std::string> names;
    if (object_.is_object())
      for (const auto& [name, value] : object_.items()) names.push_back(name);
    return names;
  }

  /// Whether the object has this field, for objects whose fields are a choice.
  [[nodiscard]] bool has(const std::string& key) const {
    return object_.is_object() && object_.contains(key);
  }

  /// Call after the last field: reports fields that nobody read.
  void finish() {
    if (object_.is_object() && taken_ != object_.size()) note("", "has a field that is not known");
  }

  void note(std::string_view key, std::string_view text) {
    if (problem_.empty())
      problem_ = fmt::format("field {}{} {}", path_, key.empty() ? "(object)" : key, text);
  }

 private:
  template <class T, class IsGood>
  void read_if(const char* key, T& out, std::string_view demand, IsGood is_good) {
    const Json& value = take(key);
    if (is_good(value))
      out = value.get<T>();
    else
      note(key, demand);
  }

  const Json& take(const char* key) {
    static const Json missing;
    if (!has(key)) return missing;
    ++taken_;
    return object_.at(key);
  }

  const Json& object_;
  std::string path_;
  std::string& problem_;
  std::size_t taken_ = 0;
};

void read_compute_unit(FieldReader fields, Arch& arch) {
  fields.read("simds_per_cu", arch.simds_per_cu);
  fields.read("simd_width", arch.simd_width);
  fields.read("cus_per_wgp", arch.cus_per_wgp);
  std::string mode;
  fields.read("default_mode", mode);
  if (mode != "cu" && mode != "wgp") fields.note("default_mode", "must be cu or wgp");
  arch.default_mode = mode == "wgp" ? WorkgroupMode::wgp : WorkgroupMode::cu;
  fields.read("max_workgroup_size", arch.max_workgroup_size);
  fields.read("max_waves_per_cu", arch.max_waves_per_cu);
  FieldReader waves = fields.object("max_waves_per_simd");
  waves.read("llvm", arch.max_waves_per_simd_llvm);
  waves.read("hip", arch.max_waves_per_simd_hip);
  waves.read("hardware", arch.max_waves_per_simd_hardware);
  waves.finish();
  FieldReader barriers = fields.object("barrier_workgroups");
  barriers.read("cu", arch.barrier_workgroups_per_cu);
  barriers.read("wgp", arch.barrier_workgroups_per_wgp);
  barriers.finish();
  fields.finish();
}

void read_vgpr(FieldReader fields, Arch& arch) {
  fields.read("addressable", arch.addressable_vgprs);
  fields.read("addressable_agprs", arch.addressable_agprs);
  std::string rule;
  fields.read("agpr_rule", rule);
  bool known = false;
  for (const AgprRule candidate : {AgprRule::none, AgprRule::separate, AgprRule::unified}) {
    if (rule != to_string(candidate)) continue;
    arch.agpr_rule = candidate;
    known = true;
  }
  if (!known) fields.note("agpr_rule", "must be none, separate or unified");
  fields.read("accum_offset_granule", arch.accum_offset_granule);
  if (arch.agpr_rule == AgprRule::unified && !arch.accum_offset_granule)
    fields.note("accum_offset_granule", "must be given when registers are unified");
  fields.finish();
}

void read_sgpr(FieldReader fields, Arch& arch) {
  fields.read("per_simd", arch.sgprs_per_simd);
  fields.read("alloc_granule", arch.sgpr_alloc_granule);
  fields.read("addressable", arch.addressable_sgprs);
  fields.read("extras", arch.extra_sgprs);
  fields.each("llvm_waves", [&](FieldReader& step) {
    std::optional<int> max_sgprs;
    int waves = 0;
    step.read("max_sgprs", max_sgprs);
    step.read("waves", waves);
    step.finish();
    arch.llvm_sgpr_waves.push_back({.max_sgprs = max_sgprs, .waves = waves});
  });
  fields.finish();
}

void read_lds(FieldReader fields, Arch& arch) {
  fields.read("bytes_per_cu", arch.lds_bytes_per_cu);
  fields.read("bytes_per_wgp", arch.lds_bytes_per_wgp);
  fields.read("max_per_workgroup", arch.lds_max_per_workgroup);
  FieldReader granule = fields.object("granule");
  granule.read("llvm", arch.lds_granule_llvm);
  granule.read("rocclr", arch.lds_granule_rocclr);
  granule.finish();
  fields.read("banks", arch.lds_banks);
  fields.finish();
}

void read_rates(FieldReader fields, Arch& arch) {
  for (const Pipe pipe : kPipes) {
    const std::string pipe_name(to_string(pipe));
    if (!fields.has(pipe_name)) continue;
    FieldReader by_precision = fields.object(pipe_name.c_str());
    for (const Precision precision : kPrecisions) {
      const std::string name(to_string(precision));
      if (!by_precision.has(name)) continue;
      double rate = 0;
      by_precision.read(name.c_str(), rate);
      arch.rates.push_back({.pipe = pipe, .precision = precision, .ops_per_clk_per_cu = rate});
    }
    by_precision.finish();
  }
  fields.finish();
}

/// PCI ids are written as "0x74a1": JSON has no hexadecimal numbers.
void read_pci_ids(FieldReader& fields, const char* key, std::vector<std::uint32_t>& ids) {
  std::vector<std::string> texts;
  fields.read(key, texts);
  for (const std::string& text : texts) {
    const auto id = hex_number<std::uint32_t>(text);
    if (!id) {
      fields.note(key, "must hold texts like 0x74a1");
      return;
    }
    ids.push_back(*id);
  }
}

void read_provenance(FieldReader& fields, Provenance& provenance) {
  FieldReader sources = fields.object("sources");
  for (const std::string& field : sources.keys())
    sources.read(field.c_str(),
                 provenance.sources.emplace_back(FieldSources{.field = field, .keys = {}}).keys);
  sources.finish();
  fields.read("unconfirmed", provenance.unconfirmed);
}

void read_product(FieldReader& fields, Arch& arch) {
  Product product;
  product.gfx = arch.gfx;
  fields.read("name", product.name);
  fields.read("aliases", product.aliases);
  read_pci_ids(fields, "pci_device_ids", product.pci_device_ids);
  read_pci_ids(fields, "shared_pci_device_ids", product.shared_pci_device_ids);
  fields.read("gpus_per_package", product.gpus_per_package);
  fields.read("xcds", product.xcds);
  fields.read("shader_engines", product.shader_engines);
  fields.read("cus", product.cus);
  fields.read("max_clock_mhz", product.max_clock_mhz);
  FieldReader memory = fields.object("memory");
  memory.read("type", product.memory_type);
  memory.read("gib", product.memory_gib);
  memory.read("gbps", product.memory_gbps);
  memory.finish();
  FieldReader l2 = fields.object("l2");
  l2.read("mib", product.l2_mib);
  l2.read("channels", product.l2_channels);
  l2.finish();
  FieldReader mall = fields.object("mall");
  mall.read("mib", product.mall_mib);
  mall.read("gbps", product.mall_gbps);
  mall.finish();
  read_provenance(fields, product.provenance);
  fields.finish();
  arch.products.push_back(std::move(product));
}

void read_arch(FieldReader fields, Arch& arch) {
  fields.read("gfx", arch.gfx);
  fields.read("family", arch.family);
  fields.read("target_version", arch.target_version);
  read_compute_unit(fields.object("compute_unit"), arch);
  fields.read("default_wave_size", arch.default_wave_size);
  fields.each("wave_sizes", [&](FieldReader& item) {
    WaveSizeLimits& limits = arch.wave_sizes.emplace_back();
    item.read("wave_size", limits.wave_size);
    item.read("vgprs_per_simd", limits.vgprs_per_simd);
    item.read("vgpr_alloc_granule", limits.vgpr_alloc_granule);
    item.read("vgpr_encoding_granule", limits.vgpr_encoding_granule);
    item.finish();
  });
  read_vgpr(fields.object("vgpr"), arch);
  read_sgpr(fields.object("sgpr"), arch);
  read_lds(fields.object("lds"), arch);
  FieldReader widths = fields.object("bytes_per_clk");
  widths.read("lds_per_cu", arch.lds_bytes_per_clk_per_cu);
  widths.read("l1_per_cu", arch.l1_bytes_per_clk_per_cu);
  widths.read("l2_per_channel", arch.l2_bytes_per_clk_per_channel);
  widths.finish();
  read_rates(fields.object("ops_per_clk_per_cu"), arch);
  fields.read("notes", arch.notes);
  read_provenance(fields, arch.provenance);
  fields.each("products", [&](FieldReader& item) { read_product(item, arch); });
  fields.finish();
}

/// What the models divide by or rely on; the sentence of the first thing that is wrong, or empty.
std::string_view inconsistency(const Arch& arch) {
  if (arch.simds_per_cu < 1 || arch.max_workgroup_size < 1 || arch.max_waves_per_simd_llvm < 1 ||
      arch.max_waves_per_simd_hip < 1 || arch.max_waves_per_simd_hardware < 1)
    return "compute_unit has a zero";
  if (arch.sgpr_alloc_granule < 1 || arch.lds_granule_rocclr < 1 || arch.lds_granule_llvm < 1 ||
      arch.accum_offset_granule.value_or(1) < 1)
    return "a granule is zero";
  if (arch.wave_limits(arch.default_wave_size) == nullptr)
    return "default_wave_size is not among wave_sizes";
  for (const WaveSizeLimits& wave : arch.wave_sizes)
    if (wave.wave_size < 1 || wave.vgpr_alloc_granule < 1 || wave.vgpr_encoding_granule < 1)
      return "wave_sizes has a zero";
  const bool wgp = arch.cus_per_wgp.has_value();
  if (wgp != arch.barrier_workgroups_per_wgp.has_value() ||
      wgp != arch.lds_bytes_per_wgp.has_value() ||
      (arch.default_mode == WorkgroupMode::wgp && !wgp))
    return "the fields of WGP mode must be given together";
  return "";
}

/// Whether the dotted path is `group` or stands below it.
bool is_at_or_below(std::string_view path, std::string_view group) {
  return path.starts_with(group) && (path.size() == group.size() || path[group.size()] == '.');
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

Result<Arch> parse_arch(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(text, what));
  Arch arch;
  std::string problem;
  read_arch(FieldReader(json, "", problem), arch);
  if (problem.empty()) problem = inconsistency(arch);
  if (!problem.empty()) return fail(ErrorCode::bad_input, fmt::format("{}: {}", what, problem));
  return arch;
}

Result<SourceTable> parse_sources(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const Json json, parse_json(text, what));
  SourceTable sources;
  std::string problem;
  FieldReader fields(json, "", problem);
  for (const std::string& key : fields.keys())
    fields.read(key.c_str(), sources.emplace_back(key, "").second);
  if (!problem.empty()) return fail(ErrorCode::bad_input, fmt::format("{}: {}", what, problem));
  return sources;
}

}  // namespace perflab::hal
