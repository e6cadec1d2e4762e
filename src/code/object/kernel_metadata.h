// One kernel of a code object: what its metadata and its descriptor say. Facts:
// docs/facts/code_object.md "Metadata", "Kernel descriptor".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perflab::code {

/// One kernel argument of the metadata; hidden ones are filled by the runtime.
struct KernelArgument {
  std::int64_t offset = 0;    ///< bytes from the start of the kernarg segment
  std::int64_t size = 0;      ///< bytes
  std::string value_kind;     ///< "global_buffer", "by_value", "hidden_block_count_x", ...
  std::string name;           ///< empty: not recorded (compilers write it with -g only)
  std::string type_name;      ///< likewise
  std::string address_space;  ///< "global", "local", ...; empty: not recorded
  std::string access;         ///< as declared: "read_only", ...; empty: not recorded
  std::string actual_access;  ///< as the compiler found it; likewise
  bool is_const = false;
  bool is_restrict = false;
  bool is_volatile = false;
  [[nodiscard]] bool hidden() const { return value_kind.starts_with("hidden_"); }
};

/// The 64 bytes behind a kernel's ".kd" symbol (docs/facts/code_object.md "Kernel descriptor"),
/// decoded but not interpreted: granules are the architecture's, hal/ knows them.
struct KernelDescriptor {
  std::uint32_t group_segment_bytes = 0;    ///< static LDS of a work-group
  std::uint32_t private_segment_bytes = 0;  ///< scratch of a work-item
  std::uint32_t kernarg_bytes = 0;
  std::int64_t entry_offset = 0;  ///< code address = descriptor address + this
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0;
  std::uint16_t kernarg_preload = 0;

  /// VGPR granules that a wave is given: rsrc1[5:0] + 1.
  [[nodiscard]] int vgpr_granules() const { return static_cast<int>(rsrc1 & 0x3fU) + 1; }
  /// SGPR granules (gfx6 to gfx9; 0 means the field is not used): rsrc1[9:6].
  [[nodiscard]] int sgpr_granule_field() const { return static_cast<int>(rsrc1 >> 6U & 0xfU); }
  /// ACCUM_OFFSET (unified register files only): rsrc3[5:0]; architected VGPRs = (it + 1) * 4.
  [[nodiscard]] int accum_offset_field() const { return static_cast<int>(rsrc3 & 0x3fU); }
  /// WGP_MODE (gfx10 and later): rsrc1[29].
  [[nodiscard]] bool wgp_mode() const { return (rsrc1 >> 29U & 1U) != 0; }
  /// Waves of 32: properties bit 10.
  [[nodiscard]] bool wave32() const { return (properties >> 10U & 1U) != 0; }
  /// Scratch size is only known at run time: properties bit 11.
  [[nodiscard]] bool dynamic_stack() const { return (properties >> 11U & 1U) != 0; }
};

/// One kernel of a code object. Counts that the producer did not write are missing, never 0; what
/// is not optional here is required by the format.
struct KernelMetadata {
  std::string name;      ///< ".name": the mangled function name
  std::string symbol;    ///< ".symbol": the descriptor's, name + ".kd"
  std::string language;  ///< "OpenCL C" for HIP; empty: not recorded
  std::optional<std::array<std::int64_t, 2>> language_version;
  std::string kind;  ///< "normal", "init", "fini"; empty: not recorded, which means "normal"
  std::vector<KernelArgument> arguments;
  std::int64_t kernarg_bytes = 0, kernarg_align = 0;
  std::int64_t lds_bytes = 0;      ///< static, of a work-group
  std::int64_t scratch_bytes = 0;  ///< of a work-item; the least when dynamic_stack
  std::int64_t wave_size = 0;      ///< 32 or 64
  /// VGPRs used. On unified files (gfx90a and later CDNA): architected, rounded up to 4, plus
  /// AGPRs; on gfx908 architected only.
  std::optional<std::int64_t> vgpr_count;
  std::optional<std::int64_t> agpr_count;
  std::optional<std::int64_t> sgpr_count;  ///< with VCC and the like on gfx9
  std::optional<std::int64_t> sgpr_spills, vgpr_spills;
  std::optional<std::int64_t> max_workgroup_size;  ///< from launch bounds; work-items
  std::optional<std::array<std::int64_t, 3>> required_workgroup_size;
  std::optional<bool> wgp_mode;  ///< ".workgroup_processor_mode" (gfx10 and later)
  bool uniform_workgroups = false;
  bool dynamic_stack = false;

  std::optional<KernelDescriptor> descriptor;  ///< missing: no symbol, or it lies outside
  std::uint64_t descriptor_address = 0;        ///< Vaddr of the descriptor
  std::uint64_t code_address = 0;              ///< Vaddr of the first instruction
  std::uint64_t code_bytes = 0;                ///< size of the function symbol; 0: not known
};

}  // namespace perflab::code
