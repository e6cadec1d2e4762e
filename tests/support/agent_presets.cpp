// Agents of a real machine, as rocprofv3 describes them. The extdata JSON has the keys and values
// of an MI300X host: what the emulated databases hold, with the product's 304 CUs, 1216 SIMDs and
// names.
#include "support/rocpd_rows.h"

namespace perflab::test {
namespace {

constexpr const char* kMi300xExtdata =
    R"({"size":312,"id":{"handle":38668},"type":2,"cpu_cores_count":0,"simd_count":1216,)"
    R"("mem_banks_count":1,"caches_count":2,"io_links_count":1,"cpu_core_id_base":0,)"
    R"("simd_id_base":2147487744,"max_waves_per_simd":8,"lds_size_in_kb":64,"gds_size_in_kb":0,)"
    R"("num_gws":64,"wave_front_size":64,"num_xcc":8,"cu_count":304,"array_count":32,)"
    R"("num_shader_banks":32,"simd_arrays_per_engine":1,"cu_per_simd_array":10,"simd_per_cu":4,)"
    R"("max_slots_scratch_cu":32,"gfx_target_version":90402,"vendor_id":4098,"device_id":29857,)"
    R"("location_id":768,"domain":0,"drm_render_minor":128,"num_sdma_engines":4,)"
    R"("num_sdma_xgmi_engines":6,"num_sdma_queues_per_engine":2,"num_cp_queues":128,)"
    R"("max_engine_clk_ccompute":0,"max_engine_clk_fcompute":2100,)"
    R"("sdma_fw_version":{"uCodeSDMA":0,"uCodeRes":0},"fw_version":{"uCode":0,"Major":0,)"
    R"("Minor":0,"Stepping":0},"capability":{"HotPluggable":0,"HSAMMUPresent":1,)"
    R"("SharedWithGraphics":0,"QueueSizePowerOfTwo":0,"QueueSize32bit":0,"QueueIdleEvent":1,)"
    R"("VALimit":0,"WatchPointsSupported":1,"WatchPointsTotalBits":4,"DoorbellType":2,)"
    R"("AQLQueueDoubleMap":1,"DebugTrapSupported":1,"WaveLaunchTrapOverrideSupported":1,)"
    R"("WaveLaunchModeSupported":1,"PreciseMemoryOperationsSupported":1,)"
    R"("DEPRECATED_SRAM_EDCSupport":0,"Mem_EDCSupport":1,"RASEventNotify":1,"ASICRevision":0,)"
    R"("SRAM_EDCSupport":1,"SVMAPISupported":1,"CoherentHostAccess":1,)"
    R"("DebugSupportedFirmware":1},"cu_per_engine":10,"max_waves_per_cu":32,"family_id":0,)"
    R"("workgroup_max_size":1024,"grid_max_size":4294967295,"local_mem_size":206158430208,)"
    R"("hive_id":0,"gpu_id":50148,"workgroup_max_dim":{"x":1024,"y":1024,"z":1024},)"
    R"("grid_max_dim":{"x":2147483647,"y":65535,"z":65535},"name":"gfx942","vendor_name":"AMD",)"
    R"("product_name":"AMD Instinct MI300X","model_name":"ip discovery","node_id":1,)"
    R"("logical_node_id":1,"logical_node_type_id":0,"runtime_visibility":{"hsa":1,"hip":1,)"
    R"("rccl":1,"rocdecode":1},"uuid":{"bytes":{"value0":0,"value1":0,"value2":0,"value3":0,)"
    R"("value4":0,"value5":0,"value6":0,"value7":0,"value8":0,"value9":0,"value10":0,)"
    R"("value11":0,"value12":0,"value13":0,"value14":0,"value15":0}},)"
    R"("mem_banks":[{"heap_type":1,"flags":{"HotPluggable":0,"NonVolatile":0},"width":8192,)"
    R"("mem_clk_max":1300,"size_in_bytes":206158430208}],"caches":[{"processor_id_low":0,)"
    R"("size":32,"level":1,"cache_line_size":128,"cache_lines_per_tag":1,"association":4,)"
    R"("latency":0,"type":{"Data":1,"Instruction":0,"CPU":0,"HSACU":1}},{"processor_id_low":0,)"
    R"("size":4096,"level":2,"cache_line_size":128,"cache_lines_per_tag":1,"association":16,)"
    R"("latency":0,"type":{"Data":1,"Instruction":0,"CPU":0,"HSACU":1}}],"io_links":[{"type":2,)"
    R"("version_major":0,"version_minor":0,"node_from":1,"node_to":0,"weight":20,)"
    R"("min_latency":0,"max_latency":0,"min_bandwidth":0,"max_bandwidth":0,)"
    R"("recommended_transfer_size":0,"flags":{"Override":1,"NonCoherent":0,"NoAtomics32bit":0,)"
    R"("NoAtomics64bit":0,"NoPeerToPeerDMA":0}}],"gpu_index":0})";

constexpr const char* kHostExtdata =
    R"({"size":312,"id":{"handle":38667},"type":1,"cpu_cores_count":192,"simd_count":0,)"
    R"("mem_banks_count":1,"caches_count":0,"io_links_count":1,"cpu_core_id_base":0,)"
    R"("simd_id_base":0,"max_waves_per_simd":0,"lds_size_in_kb":0,"gds_size_in_kb":0,)"
    R"("num_gws":0,"wave_front_size":0,"num_xcc":1,"cu_count":192,"array_count":0,)"
    R"("num_shader_banks":0,"simd_arrays_per_engine":0,"cu_per_simd_array":0,"simd_per_cu":0,)"
    R"("max_slots_scratch_cu":0,"gfx_target_version":0,"vendor_id":2,"device_id":0,)"
    R"("location_id":0,"domain":0,"drm_render_minor":0,"num_sdma_engines":0,)"
    R"("num_sdma_xgmi_engines":0,"num_sdma_queues_per_engine":0,"num_cp_queues":0,)"
    R"("max_engine_clk_ccompute":3700,"max_engine_clk_fcompute":0,)"
    R"("sdma_fw_version":{"uCodeSDMA":0,"uCodeRes":0},"fw_version":{"uCode":0,"Major":0,)"
    R"("Minor":0,"Stepping":0},"capability":{"HotPluggable":0,"HSAMMUPresent":0,)"
    R"("SharedWithGraphics":0,"QueueSizePowerOfTwo":0,"QueueSize32bit":0,"QueueIdleEvent":0,)"
    R"("VALimit":0,"WatchPointsSupported":0,"WatchPointsTotalBits":0,"DoorbellType":0,)"
    R"("AQLQueueDoubleMap":0,"DebugTrapSupported":0,"WaveLaunchTrapOverrideSupported":0,)"
    R"("WaveLaunchModeSupported":0,"PreciseMemoryOperationsSupported":0,)"
    R"("DEPRECATED_SRAM_EDCSupport":0,"Mem_EDCSupport":0,"RASEventNotify":0,"ASICRevision":0,)"
    R"("SRAM_EDCSupport":0,"SVMAPISupported":0,"CoherentHostAccess":0,)"
    R"("DebugSupportedFirmware":0},"cu_per_engine":0,"max_waves_per_cu":0,"family_id":25,)"
    R"("workgroup_max_size":0,"grid_max_size":0,"local_mem_size":0,"hive_id":0,"gpu_id":0,)"
    R"("workgroup_max_dim":{"x":0,"y":0,"z":0},"grid_max_dim":{"x":0,"y":0,"z":0},)"
    R"("name":"AMD EPYC 9654 96-Core Processor","vendor_name":"CPU",)"
    R"("product_name":"AMD EPYC 9654 96-Core Processor","model_name":"","node_id":0,)"
    R"("logical_node_id":0,"logical_node_type_id":0,"runtime_visibility":{"hsa":1,"hip":1,)"
    R"("rccl":1,"rocdecode":1},"uuid":{"bytes":{"value0":0,"value1":0,"value2":0,"value3":0,)"
    R"("value4":0,"value5":0,"value6":0,"value7":0,"value8":0,"value9":0,"value10":0,)"
    R"("value11":0,"value12":0,"value13":0,"value14":0,"value15":0}},)"
    R"("mem_banks":[{"heap_type":0,"flags":{"HotPluggable":0,"NonVolatile":0},"width":0,)"
    R"("mem_clk_max":0,"size_in_bytes":1622720876544}],"caches":[],"io_links":[{"type":2,)"
    R"("version_major":0,"version_minor":0,"node_from":0,"node_to":1,"weight":20,)"
    R"("min_latency":0,"max_latency":0,"min_bandwidth":0,"max_bandwidth":0,)"
    R"("recommended_transfer_size":0,"flags":{"Override":1,"NonCoherent":0,"NoAtomics32bit":0,)"
    R"("NoAtomics64bit":0,"NoPeerToPeerDMA":0}}],"gpu_index":-1})";

}  // namespace

AgentRow mi300x_agent() {
  return {.id = {},
          .type = "GPU",
          .absolute_index = 1,
          .logical_index = 1,
          .type_index = 0,
          .uuid = 0x74a1,
          .name = "gfx942",
          .model_name = "ip discovery",
          .vendor_name = "AMD",
          .product_name = "AMD Instinct MI300X",
          .user_name = "AMD Instinct MI300X",
          .extdata = kMi300xExtdata,
          .overrides = {}};
}

AgentRow host_agent() {
  const std::string name = "AMD EPYC 9654 96-Core Processor";
  return {.id = {},
          .type = "CPU",
          .absolute_index = 0,
          .logical_index = 0,
          .type_index = 0,
          .uuid = 0,
          .name = name,
          .model_name = {},
          .vendor_name = "CPU",
          .product_name = name,
          .user_name = name,
          .extdata = kHostExtdata,
          .overrides = {}};
}

}  // namespace perflab::test
