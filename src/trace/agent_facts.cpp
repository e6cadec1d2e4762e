// Hardware figures out of the JSON that rocprofiler-sdk writes of an agent.
#include "trace/agent_facts.h"

namespace perflab::trace {

std::optional<std::int64_t> json_integer(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<std::int64_t> json_positive(const Json& object, const char* key) {
  const auto value = json_integer(object, key);
  return value && *value > 0 ? value : std::nullopt;
}

std::string json_text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

namespace {

/// Attributes of a CUDA device; 0 stands for "not known" there too.
CudaFacts cuda_facts(const Json& object) {
  CudaFacts facts;
  const auto positive = [&](const char* key) { return json_positive(object, key); };
  facts.compute_capability = json_text(object, "compute_capability");
  facts.registers_per_sm = positive("registers_per_sm");
  facts.shared_memory_per_block_optin = positive("shared_memory_per_block_optin");
  facts.reserved_shared_memory_per_block = positive("reserved_shared_memory_per_block");
  facts.max_blocks_per_sm = positive("max_blocks_per_sm");
  facts.l2_bytes = positive("l2_bytes");
  facts.memory_bus_bits = positive("memory_bus_bits");
  facts.memory_clock_khz = positive("memory_clock_khz");
  facts.clock_khz = positive("clock_khz");
  facts.memory_bytes = positive("memory_bytes");
  return facts;
}

}  // namespace

AgentFacts agent_facts(const Json& object) {
  AgentFacts facts;
  const auto positive = [&](const char* key) { return json_positive(object, key); };
  facts.compute_units = positive("cu_count");
  facts.xcc_count = positive("num_xcc");
  facts.simds_per_cu = positive("simd_per_cu");
  facts.wave_size = positive("wave_front_size");
  facts.max_waves_per_simd = positive("max_waves_per_simd");
  facts.max_waves_per_cu = positive("max_waves_per_cu");
  if (const auto kib = positive("lds_size_in_kb"); kib && *kib < (1 << 20))
    facts.lds_bytes_per_cu = *kib * 1024;
  facts.clock_mhz = positive("max_engine_clk_fcompute");
  facts.target_version = positive("gfx_target_version");
  facts.device_id = positive("device_id");
  facts.vendor_id = positive("vendor_id");
  if (const auto cuda = object.find("cuda"); cuda != object.end() && cuda->is_object())
    facts.cuda = cuda_facts(*cuda);
  return facts;
}

std::string_view without_kd(std::string_view name) {
  for (const std::string_view tail : {" [clone .kd]", " (.kd)", ".kd"})
    if (name.ends_with(tail)) return name.substr(0, name.size() - tail.size());
  return name;
}

}  // namespace perflab::trace
