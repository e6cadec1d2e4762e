// The agent's own record goes before hal's tables; the tables fill gaps.
#include "analyze/kernels/gpu.h"

#include <fmt/format.h>

#include <cmath>

namespace perflab::analyze {
namespace {

// Fields of hal's tables (Provenance).
constexpr const char* kCusField = "cus";
constexpr const char* kXcdsField = "xcds";
constexpr const char* kClockField = "max_clock_mhz";
constexpr const char* kWaveSizeField = "default_wave_size";

/// What the agent says otherwise than the tables: of another configuration (partitions, power caps)
/// or of an emulator, or because a table is wrong.
std::vector<TableDifference> differences(const trace::AgentFacts& facts, const hal::Arch* arch,
                                         const hal::Product* product) {
  std::vector<TableDifference> found;
  const auto compare = [&](const char* field, const std::optional<std::int64_t>& recorded,
                           std::int64_t table, const hal::Provenance& from,
                           const char* table_field) {
    if (recorded && *recorded != table)
      found.push_back({.field = field,
                       .recorded = *recorded,
                       .table = table,
                       .confirmed = !from.is_unconfirmed(table_field)});
  };
  if (product != nullptr) {
    const hal::Provenance& from = product->provenance;
    compare("compute_units", facts.compute_units, product->cus, from, kCusField);
    if (hal::platform_of(product->gfx) == hal::Platform::amd)
      compare("xcc_count", facts.xcc_count, product->xcds, from, kXcdsField);
    compare("clock_mhz", facts.clock_mhz, std::llround(product->max_clock_mhz), from, kClockField);
  }
  if (arch != nullptr) {
    const hal::Provenance& from = arch->provenance;
    compare("wave_size", facts.wave_size, arch->default_wave_size, from, kWaveSizeField);
    compare("simds_per_cu", facts.simds_per_cu, arch->simds_per_cu, from,
            "compute_unit.simds_per_cu");
    compare("max_waves_per_simd", facts.max_waves_per_simd, arch->max_waves_per_simd_hardware, from,
            "compute_unit.max_waves_per_simd.hardware");
    compare("max_waves_per_cu", facts.max_waves_per_cu, arch->max_waves_per_cu, from,
            "compute_unit.max_waves_per_cu");
    compare("lds_bytes_per_cu", facts.lds_bytes_per_cu, arch->lds_bytes_per_cu, from,
            "lds.bytes_per_cu");
    if (arch->platform == hal::Platform::amd)
      compare("target_version", facts.target_version, arch->target_version, from, "target_version");
  }
  return found;
}

}  // namespace

std::string architecture_of(const trace::Agent& agent) {
  if (agent.name.starts_with("gfx") || agent.name.starts_with("sm_"))
    return std::string(hal::architecture_of_target(agent.name));
  if (agent.facts.target_version)
    return hal::gfx_name_from_target_version(*agent.facts.target_version).value_or("");
  // PyTorch's profiler says the product alone (docs/facts/kineto.md "GPUs").
  if (agent.type != "GPU" || !agent.name.empty()) return {};
  const hal::Product* const product = hal::find_product_by_name(agent.product);
  return product == nullptr ? std::string() : product->gfx;
}

const hal::Product* product_of(const trace::Agent& agent) {
  const std::string architecture = architecture_of(agent);
  // Drivers name one product in several ways, and in either string; its PCI id is one.
  const auto device_id = agent.facts.device_id.value_or(agent.uuid);
  const hal::Product* product = nullptr;
  if (device_id > 0 && device_id <= 0xFFFF)
    product = hal::find_product_by_pci(hal::vendor_id_of(hal::platform_of(architecture)),
                                       static_cast<std::uint32_t>(device_id));
  if (product == nullptr) product = hal::find_product_by_name(agent.product);
  if (product == nullptr) product = hal::find_product_by_name(agent.model);
  return product != nullptr && product->gfx == architecture ? product : nullptr;
}

Gpu describe_gpu(const trace::Agent& agent) {
  Gpu gpu;
  gpu.architecture = architecture_of(agent);
  gpu.agent_index = agent.absolute_index;
  const hal::Product* const product = product_of(agent);
  gpu.product = product != nullptr ? product->name : agent.product;

  const trace::AgentFacts& facts = agent.facts;
  gpu.compute_units = facts.compute_units;
  gpu.xcc_count = facts.xcc_count;
  gpu.wave_size = facts.wave_size;
  gpu.clock_mhz = facts.clock_mhz;
  const bool recorded =
      facts.compute_units || facts.xcc_count || facts.wave_size || facts.clock_mhz;
  bool filled = false;
  const auto fill = [&](std::optional<std::int64_t>& field, std::int64_t value, const auto& owner,
                        const std::string& name, const char* table_field) {
    if (field) return;
    field = value;
    filled = true;
    if (owner.provenance.is_unconfirmed(table_field))
      gpu.unconfirmed.push_back(fmt::format("{} of {}", table_field, name));
  };
  if (product != nullptr) {
    fill(gpu.compute_units, product->cus, *product, product->name, kCusField);
    if (hal::platform_of(product->gfx) == hal::Platform::amd)
      fill(gpu.xcc_count, product->xcds, *product, product->name, kXcdsField);
    fill(gpu.clock_mhz, std::llround(product->max_clock_mhz), *product, product->name, kClockField);
  }
  const hal::Arch* const arch = hal::find_arch(gpu.architecture);
  if (arch != nullptr)
    fill(gpu.wave_size, arch->default_wave_size, *arch, arch->gfx, kWaveSizeField);
  gpu.differences = differences(facts, arch, product);
  gpu.recorded_limits = {.max_waves_per_simd = facts.max_waves_per_simd,
                         .simds_per_cu = facts.simds_per_cu,
                         .lds_bytes_per_cu = facts.lds_bytes_per_cu};
  gpu.facts_from = recorded && filled ? "recording and hal"
                   : recorded         ? "recording"
                   : filled           ? "hal"
                                      : "";
  return gpu;
}

}  // namespace perflab::analyze
