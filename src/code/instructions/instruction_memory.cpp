// Tables of memory instruction names: scalar memory, vector memory (global, flat, scratch, buffer,
// typed buffer, image) and LDS, with the bytes that they move. Facts: LLVM's AMDGPU instruction
// names (AMDGPUAsmGFX9 to GFX12); AMD's ISA documents for CDNA 1 to 4 and RDNA 1 to 4, chapters
// "Scalar Memory", "Vector Memory", "Flat Memory", "Data Share". gfx9 and gfx10 spell sizes
// "dword", "ubyte", "x2"; gfx11 and later "b32", "u8", "b64".
#include <algorithm>
#include <array>
#include <bit>

#include "base/text/numbers.h"
#include "code/instructions/instruction_name.h"

namespace perflab::code::detail {
namespace {

using enum InstructionClass;

struct Size {
  std::string_view part;
  int bytes;
};

constexpr Size kSizes[] = {
    {"dword", 4},     {"dwordx2", 8}, {"dwordx3", 12}, {"dwordx4", 16}, {"dwordx8", 32},
    {"dwordx16", 64}, {"b8", 1},      {"b16", 2},      {"b32", 4},      {"b64", 8},
    {"b96", 12},      {"b128", 16},   {"b256", 32},    {"b512", 64},    {"u8", 1},
    {"i8", 1},        {"u16", 2},     {"i16", 2},      {"u32", 4},      {"i32", 4},
    {"u64", 8},       {"i64", 8},     {"f16", 2},      {"bf16", 2},     {"f32", 4},
    {"f64", 8},       {"ubyte", 1},   {"sbyte", 1},    {"byte", 1},     {"ushort", 2},
    {"sshort", 2},    {"short", 2},   {"x2", 8}};

// Operations of atomics: the name without unit, sizes and "rtn". Sorted.
constexpr auto kAtomicOperations = std::to_array<std::string_view>(
    {"add",         "add_flt",  "add_uint", "and",      "cmpst",    "cmpstore", "cmpswap",
     "cond_sub",    "csub",     "dec",      "dec_uint", "fcmpswap", "fmax",     "fmin",
     "inc",         "inc_uint", "max",      "max_flt",  "max_int",  "max_num",  "max_uint",
     "min",         "min_flt",  "min_int",  "min_num",  "min_uint", "mskor",    "or",
     "ordered_add", "pk_add",   "rsub",     "smax",     "smin",     "sub",      "sub_clamp",
     "sub_uint",    "swap",     "umax",     "umin",     "wrap",     "xor"});
static_assert(std::ranges::is_sorted(kAtomicOperations));

bool is_atomic_operation(std::string_view stem) {
  return std::ranges::binary_search(kAtomicOperations, stem);
}

std::optional<InstructionInfo> lane_memory(InstructionClass instruction_class,
                                           std::optional<int> bytes) {
  if (!bytes) return std::nullopt;
  InstructionInfo info;
  info.instruction_class = instruction_class;
  info.memory_bytes_per_lane = *bytes;
  return info;
}

std::optional<InstructionInfo> wave_memory(InstructionClass instruction_class,
                                           std::optional<int> bytes) {
  if (!bytes) return std::nullopt;
  InstructionInfo info;
  info.instruction_class = instruction_class;
  info.memory_bytes_per_wave = *bytes;
  return info;
}

/// An atomic of a name without its unit and "atomic": the operation, and sizes in either spelling.
/// Without a size it works on 32 bits (the old names' rule).
std::optional<int> atomic_bytes(const NameParts& parts) {
  JoinedName stem;
  std::optional<int> bytes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (const auto size = bytes_of(parts[i]))
      bytes = bytes.value_or(*size);
    else if (parts[i] != "rtn" && parts[i] != "src2")
      stem.append(parts[i]);
  }
  if (!is_atomic_operation(stem.view())) return std::nullopt;
  return stem.view() == "pk_add" ? 4 : bytes.value_or(4);  // two halves of 16 bits
}

/// Components of a format ("x", "xyzw"), as one register each, or half of one (d16).
std::optional<int> format_bytes(const NameParts& parts) {
  constexpr std::string_view kComponents = "xyzw";
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (!parts[i].empty() && kComponents.starts_with(parts[i]))
      return static_cast<int>(parts[i].size()) * (parts.contains("d16") ? 2 : 4);
  return std::nullopt;
}

/// A load or store of a name without its unit and direction.
std::optional<int> access_bytes(const NameParts& parts) {
  // What may stand beside the size: halves of registers, LDS as the target, other addressing,
  // transposed layouts.
  constexpr auto kModifiers = std::to_array<std::string_view>(
      {"addtid", "d16", "format", "hi", "lds", "tr", "x", "xy", "xyz", "xyzw"});
  if (parts.size() == 1 && parts[0] == "block") return 128;  // 32 registers, less those M0 masks
  std::optional<int> bytes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (const auto size = bytes_of(parts[i]))
      bytes = bytes.value_or(*size);  // "b64_tr_b16": 64 bits, of 16-bit elements
    else if (!std::ranges::binary_search(kModifiers, parts[i]))
      return std::nullopt;
  }
  return parts.contains("format") ? format_bytes(parts) : bytes;
}

/// The value of "dmask:0x7" in operands: which components an image instruction moves.
int image_components(std::string_view operands) {
  constexpr std::string_view kKey = "dmask:";
  const std::size_t at = operands.find(kKey);
  if (at == std::string_view::npos) return 1;
  std::string_view text = operands.substr(at + kKey.size());
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  return std::popcount(take_number<unsigned>(text, hex ? 16 : 10).value_or(0) & 0xfU);
}

std::optional<InstructionInfo> image_instruction(NameParts parts, std::string_view operands) {
  if (parts.size() == 0) return std::nullopt;
  const std::string_view action = parts[0];
  const int components = image_components(operands);
  const bool d16 = operands.find(" d16") != std::string_view::npos;
  const int bytes = components * (d16 ? 2 : 4);
  if (action == "load" || action == "sample" || action == "msaa")
    return lane_memory(vmem_load, bytes);
  if (action == "store") return lane_memory(vmem_store, bytes);
  if (action == "atomic") {
    parts.drop_front();
    if (!atomic_bytes(parts)) return std::nullopt;
    return lane_memory(vmem_atomic, bytes);  // of a compare-and-swap both operands
  }
  if (action.starts_with("gather4")) return lane_memory(vmem_load, d16 ? 8 : 16);
  if (action == "get") return lane_memory(vmem_load, 0);  // the descriptor's own facts
  if (action.starts_with("bvh")) return lane_memory(vmem_load, 16);
  return std::nullopt;
}

/// Whether one of the operands of a buffer instruction is this group of registers.
bool names_resource(std::string_view operands, std::string_view resource) {
  if (resource.empty()) return false;
  for (std::size_t at = operands.find(resource); at != std::string_view::npos;
       at = operands.find(resource, at + 1))
    if (at == 0 || operands[at - 1] == ' ') return true;
  return false;
}

bool is_cache_control(std::string_view unit, const NameParts& parts) {
  JoinedName name;
  for (std::size_t i = 0; i < parts.size(); ++i) name.append(parts[i]);
  constexpr auto kBuffer = std::to_array<std::string_view>(
      {"gl0_inv", "gl1_inv", "inv", "invl2", "wbinvl1", "wbinvl1_sc", "wbinvl1_vol", "wbl2"});
  constexpr auto kGlobal = std::to_array<std::string_view>({"inv", "wb", "wbinv"});
  return (unit == "buffer" && std::ranges::binary_search(kBuffer, name.view())) ||
         (unit == "global" && std::ranges::binary_search(kGlobal, name.view()));
}

/// LDS instructions that touch no memory of a lane, or serve the wave as a whole.
struct SpecialLds {
  std::string_view name;  // without "ds_" or "lds_"
  int bytes_per_wave;
};

constexpr SpecialLds kSpecialLds[] = {
    // Through the LDS crossbar, not its memory.
    {"swizzle_b32", 0},
    {"permute_b32", 0},
    {"bpermute_b32", 0},
    {"bpermute_fi_b32", 0},
    {"nop", 0},
    // Global wave sync.
    {"gws_barrier", 0},
    {"gws_init", 0},
    {"gws_sema_br", 0},
    {"gws_sema_p", 0},
    {"gws_sema_release_all", 0},
    {"gws_sema_v", 0},
    {"add_gs_reg_rtn", 0},
    {"sub_gs_reg_rtn", 0},
    // One value for the wave.
    {"append", 4},
    {"consume", 4},
    {"ordered_count", 4},
    {"direct_load", 4},
    // Attributes of a primitive: three values for every quad, from where the wave's primitives lie.
    {"param_load", 0}};

}  // namespace

std::optional<int> bytes_of(std::string_view part) {
  const auto* const found = std::ranges::find(kSizes, part, &Size::part);
  return found == std::ranges::end(kSizes) ? std::nullopt : std::optional(found->bytes);
}

std::optional<InstructionInfo> scalar_memory(NameParts parts) {
  constexpr auto kNoData = std::to_array<std::string_view>(
      {"atc_probe", "atc_probe_buffer", "dcache_discard", "dcache_discard_x2", "dcache_inv",
       "dcache_inv_vol", "dcache_wb", "dcache_wb_vol", "get_waveid_in_workgroup", "gl1_inv",
       "memrealtime", "memtime", "prefetch_data", "prefetch_data_pc_rel", "prefetch_inst",
       "prefetch_inst_pc_rel"});
  JoinedName name;
  for (std::size_t i = 0; i < parts.size(); ++i) name.append(parts[i]);
  if (std::ranges::binary_search(kNoData, name.view()) || name.view() == "buffer_prefetch_data")
    return wave_memory(smem, 0);
  if (parts.size() > 1 && (parts[0] == "buffer" || parts[0] == "scratch")) parts.drop_front();
  if (parts.size() < 2) return std::nullopt;
  const std::string_view action = parts[0];
  parts.drop_front();
  if (action == "load" || action == "store")
    return parts.size() == 1 ? wave_memory(smem, bytes_of(parts[0])) : std::nullopt;
  return action == "atomic" ? wave_memory(smem, atomic_bytes(parts)) : std::nullopt;
}

std::optional<InstructionInfo> vector_memory(NameParts parts, std::string_view operands,
                                             std::string_view scratch_resource) {
  if (parts.size() < 2) return std::nullopt;
  const std::string_view unit = parts[0];
  parts.drop_front();
  if (unit == "image") return image_instruction(parts, operands);
  if (is_cache_control(unit, parts)) return InstructionInfo{};
  const bool scratch =
      unit == "scratch" || (unit == "buffer" && names_resource(operands, scratch_resource));
  const std::string_view action = parts[0];
  parts.drop_front();
  if (action == "load") return lane_memory(scratch ? scratch_load : vmem_load, access_bytes(parts));
  if (action == "store")
    return lane_memory(scratch ? scratch_store : vmem_store, access_bytes(parts));
  return action == "atomic" ? lane_memory(vmem_atomic, atomic_bytes(parts)) : std::nullopt;
}

std::optional<InstructionInfo> lds_instruction(NameParts parts) {
  // Loads, stores and exchanges, with how many values of the named size one moves. Sorted.
  constexpr auto kAccesses = std::to_array<Size>({{"bvh_stack", 1},
                                                  {"bvh_stack_push4_pop1", 1},
                                                  {"bvh_stack_push8_pop1", 1},
                                                  {"bvh_stack_push8_pop2", 1},
                                                  {"condxchg32", 1},
                                                  {"load", 1},
                                                  {"load_2addr", 2},
                                                  {"load_2addr_stride64", 2},
                                                  {"load_addtid", 1},
                                                  {"load_tr", 1},
                                                  {"read", 1},
                                                  {"read2", 2},
                                                  {"read2st64", 2},
                                                  {"read_addtid", 1},
                                                  {"read_tr", 1},
                                                  {"store", 1},
                                                  {"store_2addr", 2},
                                                  {"store_2addr_stride64", 2},
                                                  {"store_addtid", 1},
                                                  {"storexchg", 1},
                                                  {"storexchg_2addr", 2},
                                                  {"storexchg_2addr_stride64", 2},
                                                  {"write", 1},
                                                  {"write2", 2},
                                                  {"write2st64", 2},
                                                  {"write_addtid", 1},
                                                  {"wrxchg", 1},
                                                  {"wrxchg2", 2},
                                                  {"wrxchg2st64", 2}});
  static_assert(std::ranges::is_sorted(kAccesses, {}, &Size::part));
  parts.drop_front();
  JoinedName name;
  JoinedName stem;
  std::optional<int> bytes;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    name.append(parts[i]);
    if (const auto size = bytes_of(parts[i]); size)
      bytes = bytes.value_or(*size);
    else if (parts[i] != "rtn" && parts[i] != "d16" && parts[i] != "hi" && parts[i] != "src2" &&
             !(parts[i] == "b6" && bytes))  // "b96_tr_b6"
      stem.append(parts[i]);
  }
  if (const auto* const special = std::ranges::find(kSpecialLds, name.view(), &SpecialLds::name);
      special != std::ranges::end(kSpecialLds))
    return wave_memory(lds, special->bytes_per_wave);
  if (const auto* const access = std::ranges::lower_bound(kAccesses, stem.view(), {}, &Size::part);
      access != kAccesses.end() && access->part == stem.view())
    return lane_memory(lds, bytes ? std::optional(*bytes * access->bytes) : std::nullopt);
  return bytes ? lane_memory(lds, atomic_bytes(parts)) : std::nullopt;
}

}  // namespace perflab::code::detail
