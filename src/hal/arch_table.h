// One architecture as its table (archs/*.json) has it: what a CU, a SIMD and a wave can hold and
// do, its products, and where the numbers come from. In the text of a table every field of its
// platform must be there and no other; null is allowed where the Arch has an optional. On NVIDIA's
// GPUs a CU is an SM, a SIMD a sub-partition, a wave a warp, LDS shared memory (hal/terms.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hal/occupancy_model.h"
#include "hal/table_files.h"
#include "hal/terms.h"

namespace perflab::hal {

/// Number formats that rates are given for.
enum class Precision { fp64, fp32, tf32, fp16, bf16, fp8, fp6, fp4, int8, int4 };

/// The way to a rate; each is a ceiling of its own.
enum class Pipe {
  vector,      ///< one plain vector instruction after the other
  packed,      ///< packed vector instructions (v_pk_*, HFMA2): two operations per lane
  dual_issue,  ///< VOPD: two vector instructions in one
  matrix,      ///< MFMA or WMMA; NVIDIA's tensor cores
  dot,         ///< dot-product instructions
};

/// Stable names for documents, the same as in the tables.
std::string_view to_string(Precision precision);
std::string_view to_string(Pipe pipe);

/// One rate: FLOPs (or integer operations) per clock of one CU, dense; a fused multiply-add is two.
struct Rate {
  Pipe pipe = Pipe::vector;
  Precision precision = Precision::fp32;
  double ops_per_clk_per_cu = 0;
};

/// Vector register file as one wave size sees it, in registers of one lane.
struct WaveSizeLimits {
  int wave_size = 0;
  int vgprs_per_simd = 0;
  int vgpr_alloc_granule = 0;     ///< what the hardware allocates in
  int vgpr_encoding_granule = 0;  ///< what the kernel descriptor counts in; 0 on NVIDIA
};

/// Source keys of a field of a table, or of the group of fields below it.
struct FieldSources {
  std::string field;              ///< dotted path: "lds", "ops_per_clk_per_cu.matrix"
  std::vector<std::string> keys;  ///< for source_description()
};

/// Where the numbers of a table come from.
struct Provenance {
  std::vector<FieldSources> sources;
  std::vector<std::string> unconfirmed;  ///< fields (dotted path) that no source stands behind

  /// Keys of the closest entry at or above the field; empty when there is none.
  [[nodiscard]] std::span<const std::string> sources_of(std::string_view field) const;
  /// Whether the field, or a group that it is in, is listed as unconfirmed.
  [[nodiscard]] bool is_unconfirmed(std::string_view field) const;
};

/// One GPU as it is sold; of a package with several GPUs, one of them. A trace's own agent record
/// goes before these numbers. Missing = unknown.
struct Product {
  std::string gfx;                            ///< architecture: find_arch(gfx)
  std::string name;                           ///< marketing name: "AMD Instinct MI300X"
  std::vector<std::string> aliases;           ///< other spellings, also those that drivers report
  std::vector<std::uint32_t> pci_device_ids;  ///< of the platform's vendor; virtual functions too
  std::vector<std::uint32_t> shared_pci_device_ids;  ///< other products have them too, by revision
  int gpus_per_package = 1;
  int xcds = 1;  ///< accelerator complex dies; 1 on NVIDIA
  std::optional<int> shader_engines;
  int cus = 0;
  double max_clock_mhz = 0;  ///< peak engine clock; NVIDIA's boost clock
  /// The clock that the vendor's matrix rates, but for FP64, are published for when it is another.
  std::optional<double> matrix_clock_mhz;
  std::string memory_type;
  std::optional<double> memory_gib;
  double memory_gbps = 0;  ///< theoretical, 1e9 bytes per second
  double l2_mib = 0;
  std::optional<int> l2_channels;
  double mall_mib = 0;              ///< Infinity Cache; 0 = there is none
  std::optional<double> mall_gbps;  ///< 1e9 bytes per second
  std::vector<Rate> rates;  ///< those that are not the architecture's (GeForce: halved FP32 sums)
  Provenance provenance;
};

/// One architecture. Missing = does not exist there, or unknown.
struct Arch {
  std::string gfx;         ///< "gfx942", "sm_90"
  std::string family;      ///< "CDNA3", "Hopper"
  Platform platform = Platform::amd;
  int target_version = 0;  ///< as AMD's drivers report it: 90402; 0 on NVIDIA

  int simds_per_cu = 0;
  int simd_width = 0;              ///< lanes
  std::optional<int> cus_per_wgp;  ///< missing: no WGP mode
  WorkgroupMode default_mode = WorkgroupMode::cu;
  int max_workgroup_size = 0;  ///< work-items
  int max_waves_per_cu = 0;
  int max_waves_per_simd_llvm = 0;      ///< what LLVM computes with
  int max_waves_per_simd_hip = 0;       ///< what the HIP runtime computes with
  int max_waves_per_simd_hardware = 0;  ///< what the resident model computes with
  int max_workgroups_per_cu = 0;        ///< of any size (NVIDIA)
  int barrier_workgroups_per_cu = 0;    ///< work-groups of two waves or more (AMD)
  std::optional<int> barrier_workgroups_per_wgp;

  int default_wave_size = 0;
  std::vector<WaveSizeLimits> wave_sizes;

  int addressable_vgprs = 0;  ///< architected, of one wave
  int addressable_agprs = 0;
  AgprRule agpr_rule = AgprRule::none;
  std::optional<int> accum_offset_granule;  ///< rounding of the architected part (unified only)

  std::optional<int> sgprs_per_simd;  ///< missing: every wave has its own full set
  int sgpr_alloc_granule = 0;
  int addressable_sgprs = 0;
  int extra_sgprs = 0;                    ///< VCC, XNACK, FLAT_SCRATCH on top of the addressable
  std::vector<SgprStep> llvm_sgpr_waves;  ///< LLVM's fixed table; empty: no limit

  int lds_bytes_per_cu = 0;
  std::optional<int> lds_bytes_per_wgp;
  int lds_max_per_workgroup = 0;  ///< bytes
  int lds_granule_llvm = 0;       ///< bytes; what LLVM documents (encoding)
  int lds_granule_rocclr = 0;     ///< bytes; what the runtime rounds to (allocation)
  int lds_granule_hardware = 0;   ///< bytes; what NVIDIA's GPUs allocate in
  int lds_reserved_per_workgroup = 0;  ///< bytes that NVIDIA's driver takes of each block
  int lds_without_opt_in = 0;          ///< bytes of a block unless the program asks for more (NVIDIA)
  int lds_banks = 0;

  int lds_bytes_per_clk_per_cu = 0;
  std::optional<int> l1_bytes_per_clk_per_cu;  ///< vector L1
  std::optional<int> l2_bytes_per_clk_per_channel;
  std::vector<Rate> rates;

  std::vector<std::string> notes;
  Provenance provenance;
  std::vector<Product> products;

  /// The register file at one wave size; nullptr when the architecture does not have that size.
  [[nodiscard]] const WaveSizeLimits* wave_limits(std::int64_t wave_size) const;
  /// FLOPs or integer operations per clock of one CU; missing when the hardware has no such way.
  [[nodiscard]] std::optional<double> ops_per_clk_per_cu(Pipe pipe, Precision precision) const;
  /// Unconfirmed fields that occupancy is computed from, to be named beside such a figure.
  [[nodiscard]] std::vector<std::string> unconfirmed_of_occupancy() const;
};

/// Parses one architecture table. The error (bad_input) names `what` and the field.
Result<Arch> parse_arch(std::string_view text, std::string_view what);

/// Parses archs/sources.json: an object of strings. The error (bad_input) names `what`.
Result<SourceTable> parse_sources(std::string_view text, std::string_view what);

}  // namespace perflab::hal
