// Tables of scalar, vector and matrix instruction names. Facts: LLVM's AMDGPU instruction names
// (AMDGPUAsmGFX9 to GFX12); AMD's ISA documents for CDNA 1 to 4 and RDNA 1 to 4, chapters "VALU",
// "SALU", "Matrix Arithmetic Instructions", "WMMA". A name that is in no table is unknown: nothing
// is derived from a likeness.
#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>

#include "base/text/numbers.h"
#include "code/instructions/instruction_name.h"

namespace perflab::code::detail {
namespace {

using enum InstructionClass;

// --- scalar ---------------------------------------------------------------------------------

struct ScalarGroup {
  InstructionClass instruction_class;
  std::string_view names;  // without "s_"
};

// Whole names; what is in none of these lists may be scalar memory or ALU.
constexpr ScalarGroup kScalarGroups[] = {
    {branch,
     "branch call_b64 swappc_b64 setpc_b64 rfe_b64 rfe_restore_b64 "
     "subvector_loop_begin subvector_loop_end "},
    {waitcnt, "waitcnt "},
    {barrier, "barrier get_barrier_state wakeup_barrier "},
    {other,
     "nop endpgm endpgm_saved endpgm_ordered_ps_done code_end sleep sleep_var monitor_sleep "
     "wakeup setprio sethalt setkill trap clause delay_alu icache_inv inst_prefetch "
     "set_inst_prefetch_distance sendmsg sendmsghalt sendmsg_rtn_b32 sendmsg_rtn_b64 "
     "incperflevel decperflevel ttracedata ttracedata_imm version denorm_mode round_mode "
     "setvskip set_gpr_idx_on set_gpr_idx_off set_gpr_idx_idx set_gpr_idx_mode singleuse_vdst "}};

// Beginnings of names: newer ones of these families mean the same.
constexpr ScalarGroup kScalarPrefixes[] = {
    {branch, "cbranch_"}, {waitcnt, "waitcnt_"}, {waitcnt, "wait_"}, {barrier, "barrier_"}};

// Scalar ALU: names without "s_" and without types.
constexpr std::string_view kScalarStems =
    "abs absdiff add add_co add_co_ci add_nc addc addk addk_co and and_not0_saveexec "
    "and_not0_wrexec and_not1 and_not1_saveexec and_not1_wrexec and_saveexec andn1_saveexec "
    "andn1_wrexec andn2 andn2_saveexec andn2_wrexec ashr bcnt0 bcnt1 bfe bfm bitcmp0 bitcmp1 "
    "bitreplicate bitset0 bitset1 brev ceil cls clz cmov cmovk cselect ctz cvt cvt_hi "
    "cvt_pk_rtz ff0 ff1 flbit floor fmaak fmac fmamk getpc getreg lshl lshl1_add lshl2_add "
    "lshl3_add lshl4_add lshr max max_num maximum min min_num minimum mov movk movreld movrels "
    "movrelsd_2 mul mul_hi mulk nand nand_saveexec nor nor_saveexec not or or_not0_saveexec "
    "or_not1 or_not1_saveexec or_saveexec orn1_saveexec orn2 orn2_saveexec pack_hh pack_hl "
    "pack_lh pack_ll quadmask rndne setreg setreg_imm32 sext sub sub_co sub_co_ci sub_nc subb "
    "trunc wqm xnor xnor_saveexec xor xor_saveexec ";

// --- vector ---------------------------------------------------------------------------------

enum class Takes : std::uint8_t {
  result,  // precision of the result: the first type of the name
  input,   // of the inputs: the last type
};

struct VectorGroup {
  double flops;  // of one lane, when the precision is a floating-point one
  bool transcendental;
  Takes precision;
  std::string_view stems;  // names without "v_", "pk_", "dual_", "s_" and without types
};

constexpr VectorGroup kVectorGroups[] = {
    {0, false, Takes::result,
     "accvgpr_mov accvgpr_read accvgpr_write add3 add_co add_co_ci add_lshl add_nc addc "
     "addc_co alignbit alignbyte and and_or ashr ashr_pk ashrrev bcnt bfe bfi bfm bfrev bitop3 "
     "ceil cls clz cndmask ctz cubeid cubema cubesc cubetc div_fixup div_fixup_legacy "
     "div_scale ffbh ffbl floor fract frexp_exp frexp_mant interp_mov ldexp lerp lshl lshl_add "
     "lshl_or lshlrev lshr lshrrev mad_co max max3 max3_num max_legacy max_num maximum "
     "maximum3 maximumminimum maxmin maxmin_num mbcnt_hi mbcnt_lo med3 med3_num min min3 "
     "min3_num min_legacy min_num minimum minimum3 minimummaximum minmax minmax_num mov "
     "movreld movrels movrelsd movrelsd_2 mqsad mqsad_pk msad mul_hi mul_lo not or or3 pack "
     "perm permlane16 permlane16_swap permlane16_var permlane32_swap permlane64 permlanex16 "
     "permlanex16_var prng qsad_pk readfirstlane readlane rndne sad sad_hi sat_pk "
     "screen_partition_4se sub_co sub_co_ci sub_nc subb subb_co subbrev subbrev_co subrev_co "
     "subrev_co_ci subrev_nc swap swaprel trig_preop trunc writelane xad xnor xor xor3 "},
    {1, false, Takes::result, "add mul mul_dx9_zero mul_legacy mullit sub subrev "},
    {2, false, Takes::result,
     "div_fmas fma fma_dx9_zero fma_legacy fma_mix fma_mixhi fma_mixlo fmaak fmac "
     "fmac_dx9_zero fmac_legacy fmamk interp_p1 interp_p10 interp_p10_rtz interp_p1ll "
     "interp_p1lv interp_p2 interp_p2_legacy interp_p2_rtz mac mac_legacy mad mad_legacy "
     "mad_mix mad_mixhi mad_mixlo madak madmk "},
    {1, true, Takes::result,
     "cos exp exp_legacy log log_legacy rcp rcp_iflag rcp_legacy rsq rsq_legacy sin sqrt tanh "},
    {4, false, Takes::input, "dot2 dot2acc dot2c "},
    {8, false, Takes::input, "dot4 dot4c "},
    {16, false, Takes::input, "dot8 dot8c "}};

// Conditions of v_cmp, v_cmpx, s_cmp and s_cmpk.
constexpr std::string_view kConditions =
    "class eq f ge gt le lg lt ne neq nge ngt nle nlg nlt o t tru u ";

// --- matrix ---------------------------------------------------------------------------------

struct OldMatrixName {
  std::string_view shape;  // shape and input type, as LLVM wrote them before gfx940
  int blocks;              // independent products that one instruction does
};

// Blocks of the names that do not tell them ("v_mfma_f32_4x4x4f16"); newer names do
// ("v_mfma_f32_4x4x4_16b_f16"). CDNA 1 and 2 ISA documents, "Matrix Arithmetic Instructions".
constexpr OldMatrixName kOldMatrixNames[] = {
    {"32x32x1f32", 2},    {"16x16x1f32", 4},     {"4x4x1f32", 16},      {"32x32x2f32", 1},
    {"16x16x4f32", 1},    {"32x32x4f16", 2},     {"16x16x4f16", 4},     {"4x4x4f16", 16},
    {"32x32x8f16", 1},    {"16x16x16f16", 1},    {"32x32x4i8", 2},      {"16x16x4i8", 4},
    {"4x4x4i8", 16},      {"32x32x8i8", 1},      {"16x16x16i8", 1},     {"32x32x2bf16", 2},
    {"16x16x2bf16", 4},   {"4x4x2bf16", 16},     {"32x32x4bf16", 1},    {"16x16x8bf16", 1},
    {"16x16x4f64", 1},    {"4x4x4f64", 4},       {"16x16x32i8", 1},     {"32x32x16i8", 1},
    {"16x16x8xf32", 1},   {"32x32x4xf32", 1},    {"32x32x4bf16_1k", 2}, {"16x16x4bf16_1k", 4},
    {"4x4x4bf16_1k", 16}, {"32x32x8bf16_1k", 1}, {"16x16x16bf16_1k", 1}};

struct MatrixFamily {
  std::string_view name;
  double share;  // of the shape's multiply-adds that is really done
};

// Sparse ones (4:2): the shape counts A as if it were not compressed.
constexpr MatrixFamily kMatrixFamilies[] = {
    {"mfma", 1}, {"smfmac", 0.5}, {"wmma", 1}, {"swmmac", 0.5}};

struct Shape {
  int m = 0, n = 0, k = 0;
  std::string_view rest;  // what follows k: the type in old names
};

std::optional<Shape> parse_shape(std::string_view part) {
  Shape shape;
  for (int* field : {&shape.m, &shape.n, &shape.k}) {
    *field = take_number<int>(part).value_or(0);
    if (*field <= 0 || *field > 4096) return std::nullopt;
    if (field == &shape.k) break;
    if (!part.starts_with('x')) return std::nullopt;
    part.remove_prefix(1);
  }
  shape.rest = part;
  return shape;
}

/// "16b": 16 blocks.
std::optional<int> parse_blocks(std::string_view part) {
  const auto blocks = take_number<int>(part);
  return blocks && *blocks > 0 && part == "b" ? blocks : std::nullopt;
}

std::optional<InstructionInfo> matrix_instruction(NameParts parts, double share) {
  InstructionInfo info;
  info.instruction_class = matrix;
  parts.drop_front();
  if (parts.size() == 3 && parts[0] == "ld" && parts[1] == "scale") {  // v_mfma_ld_scale_b32
    info.precision = "none";
    return info;
  }
  if (parts.size() > 0 && (parts[0] == "scale" || parts[0] == "scale16")) parts.drop_front();
  if (parts.size() < 2 || precision_of(parts[0]).empty()) return std::nullopt;
  const std::optional<Shape> shape = parse_shape(parts[1]);
  if (!shape) return std::nullopt;
  int blocks = 1;
  if (!shape->rest.empty()) {
    JoinedName name;
    name.append(parts[1]);
    if (parts.contains("1k")) name.append("1k");
    const auto* const old = std::ranges::find(kOldMatrixNames, name.view(), &OldMatrixName::shape);
    if (old == std::ranges::end(kOldMatrixNames)) return std::nullopt;
    blocks = old->blocks;
    info.precision = precision_of(shape->rest);
  } else {
    std::size_t at = 2;
    if (const auto told = at < parts.size() ? parse_blocks(parts[at]) : std::nullopt) {
      blocks = *told;
      ++at;
    }
    if (at >= parts.size()) return std::nullopt;
    info.precision = precision_of(parts[at]);
  }
  if (info.precision.empty()) return std::nullopt;
  // Integer products are operations, not floating-point ones.
  if (!info.precision.starts_with('i'))
    info.flops_per_wave = share * 2.0 * shape->m * shape->n * shape->k * blocks;
  return info;
}

// --- types ----------------------------------------------------------------------------------

struct TypeName {
  std::string_view part;
  std::string_view precision;
};

constexpr TypeName kTypes[] = {
    {"f64", "f64"},   {"f32", "f32"},   {"f16", "f16"},      {"bf16", "bf16"}, {"xf32", "xf32"},
    {"fp8", "f8"},    {"bf8", "f8"},    {"fp6", "f6"},       {"bf6", "f6"},    {"fp4", "f4"},
    {"i64", "i64"},   {"u64", "i64"},   {"i32", "i32"},      {"u32", "i32"},   {"i24", "i32"},
    {"u24", "i32"},   {"i16", "i16"},   {"u16", "i16"},      {"i8", "i8"},     {"u8", "i8"},
    {"iu8", "i8"},    {"i4", "i4"},     {"u4", "i4"},        {"iu4", "i4"},    {"b64", "b64"},
    {"b32", "b32"},   {"b16", "b16"},   {"b8", "b8"},        {"ubyte0", "i8"}, {"ubyte1", "i8"},
    {"ubyte2", "i8"}, {"ubyte3", "i8"}, {"f8f6f4", "f8f6f4"}};

bool is_float(std::string_view precision) {
  return precision.starts_with('f') || precision.starts_with("bf") || precision == "xf32";
}

/// Calls `use` with every word of a list.
template <class F>
void for_each_word(std::string_view words, F use) {
  while (!words.empty()) {
    const std::size_t end = std::min(words.find(' '), words.size());
    if (end != 0) use(words.substr(0, end));
    words.remove_prefix(std::min(end + 1, words.size()));
  }
}

using Words = std::unordered_set<std::string_view>;

Words words_of(std::string_view list) {
  Words words;
  for_each_word(list, [&](std::string_view word) { words.insert(word); });
  return words;
}

bool is_condition(std::string_view part) {
  static const Words kWords = words_of(kConditions);
  return kWords.contains(part);
}

bool is_scalar_stem(std::string_view stem) {
  static const Words kWords = words_of(kScalarStems);
  return kWords.contains(stem);
}

const VectorGroup* vector_group(std::string_view stem) {
  static const auto kGroups = [] {
    std::unordered_map<std::string_view, const VectorGroup*> groups;
    for (const VectorGroup& group : kVectorGroups)
      for_each_word(group.stems, [&](std::string_view word) { groups.emplace(word, &group); });
    return groups;
  }();
  const auto found = kGroups.find(stem);
  return found == kGroups.end() ? nullptr : found->second;
}

std::optional<InstructionClass> scalar_class(std::string_view name) {
  static const auto kClasses = [] {
    std::unordered_map<std::string_view, InstructionClass> classes;
    for (const ScalarGroup& group : kScalarGroups)
      for_each_word(group.names,
                    [&](std::string_view word) { classes.emplace(word, group.instruction_class); });
    return classes;
  }();
  if (const auto found = kClasses.find(name); found != kClasses.end()) return found->second;
  for (const ScalarGroup& group : kScalarPrefixes)
    if (name.starts_with(group.names)) return group.instruction_class;
  return std::nullopt;
}

/// The stem of a name (what is left without types), and its first and last type.
struct Stem {
  JoinedName name;
  std::string_view first_type, last_type;
};

Stem stem_of(const NameParts& parts) {
  Stem stem;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string_view type = precision_of(parts[i]);
    if (type.empty()) {
      stem.name.append(parts[i]);
      continue;
    }
    if (stem.first_type.empty()) stem.first_type = type;
    stem.last_type = type;
  }
  return stem;
}

InstructionInfo of_class(InstructionClass instruction_class) {
  InstructionInfo info;
  info.instruction_class = instruction_class;
  return info;
}

InstructionInfo vector_of(std::string_view precision) {
  InstructionInfo info = of_class(valu);
  info.precision = precision;
  return info;
}

/// One vector instruction of a name without "v_" and "dual_".
std::optional<InstructionInfo> plain_vector(NameParts parts) {
  bool packed = false;
  bool one_value = false;  // v_s_exp_f32 and the like: a transcendental of scalar registers
  if (parts.size() > 1 && parts[0] == "pk") {
    packed = true;
    parts.drop_front();
  } else if (parts.size() > 1 && parts[0] == "s") {
    one_value = true;
    parts.drop_front();
  }
  const Stem stem = stem_of(parts);
  if (stem.first_type.empty()) return std::nullopt;
  if (parts[0] == "cvt") return vector_of(stem.first_type);
  if (parts[0] == "cmp" || parts[0] == "cmpx")
    return parts.size() == 3 && is_condition(parts[1]) ? std::optional(vector_of(stem.first_type))
                                                       : std::nullopt;
  const VectorGroup* const found = vector_group(stem.name.view());
  if (found == nullptr) return std::nullopt;
  InstructionInfo info =
      vector_of(found->precision == Takes::input ? stem.last_type : stem.first_type);
  info.packed = packed;
  info.transcendental = found->transcendental;
  if (!is_float(info.precision)) return info;
  if (one_value)
    info.flops_per_wave = found->flops;
  else
    info.flops_per_lane = packed ? 2 * found->flops : found->flops;
  return info;
}

/// v_dual_a OPERANDS :: v_dual_b OPERANDS.
std::optional<InstructionInfo> dual_vector(const NameParts& first, std::string_view operands) {
  constexpr std::string_view kSecond = ":: v_dual_";
  std::optional<InstructionInfo> info = plain_vector(first);
  const std::size_t at = operands.find(kSecond);
  if (!info || at == std::string_view::npos) return std::nullopt;
  std::string_view name = operands.substr(at + kSecond.size());
  name = name.substr(0, name.find_first_of(" \t"));
  const std::optional<InstructionInfo> second = plain_vector(NameParts(name));
  if (!second) return std::nullopt;
  info->dual_issue = true;
  info->flops_per_lane += second->flops_per_lane;
  // One count for both: the half that does arithmetic gives the precision.
  if (!is_float(info->precision) && is_float(second->precision))
    info->precision = second->precision;
  return info;
}

}  // namespace

std::string_view precision_of(std::string_view part) {
  const auto* const found = std::ranges::find(kTypes, part, &TypeName::part);
  return found == std::ranges::end(kTypes) ? std::string_view{} : found->precision;
}

std::optional<InstructionInfo> scalar_instruction(std::string_view name) {
  const std::string_view rest = name.substr(2);
  if (const auto instruction_class = scalar_class(rest)) {
    InstructionInfo info = of_class(*instruction_class);
    info.call = rest == "call_b64" || rest == "swappc_b64";
    return info;
  }
  NameParts parts(rest);
  if (std::optional<InstructionInfo> memory = scalar_memory(parts)) return memory;
  const Stem stem = stem_of(parts);
  if (stem.first_type.empty()) return std::nullopt;
  const bool compare =
      parts.size() == 3 && (parts[0] == "cmp" || parts[0] == "cmpk") && is_condition(parts[1]);
  if (compare || is_scalar_stem(stem.name.view())) return of_class(salu);
  return std::nullopt;
}

std::optional<InstructionInfo> vector_instruction(std::string_view name,
                                                  std::string_view operands) {
  if (name == "v_nop" || name == "v_pipeflush" || name == "v_clrexcp") return vector_of("none");
  NameParts parts(name);
  parts.drop_front();
  if (parts.size() == 0) return std::nullopt;
  for (const MatrixFamily& family : kMatrixFamilies)
    if (parts[0] == family.name) return matrix_instruction(parts, family.share);
  if (parts[0] != "dual") return plain_vector(parts);
  parts.drop_front();
  return parts.size() == 0 ? std::nullopt : dual_vector(parts, operands);
}

}  // namespace perflab::code::detail
