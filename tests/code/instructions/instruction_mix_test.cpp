// code/instructions/instruction_mix.h: a table of names from the ISA documents of CDNA 1 to 4 and
// RDNA 2 to 4, names that nobody may guess at, the sums over a function, and recorded code objects.
#include "code/instructions/instruction_mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "base/system/files.h"
#include "code/object/code_object.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;
using enum InstructionClass;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// --- arithmetic -----------------------------------------------------------------------------

struct Arithmetic {
  std::string_view name;
  InstructionClass instruction_class;
  std::string_view precision;
  double flops = 0;             // of a lane; for matrix of the wave
  std::string_view flags = "";  // p packed, d dual issue, t transcendental
  std::string_view operands = "";
};

std::string flags_of(const InstructionInfo& info) {
  return std::string(info.packed ? "p" : "") + (info.dual_issue ? "d" : "") +
         (info.transcendental ? "t" : "");
}

constexpr Arithmetic kArithmetic[] = {
    // VALU, floating point
    {"v_add_f32_e32", valu, "f32", 1},
    {"v_add_f32_e64", valu, "f32", 1},
    {"v_add_f32_dpp", valu, "f32", 1},
    {"v_add_f32_e64_dpp", valu, "f32", 1},
    {"v_add_f32_sdwa", valu, "f32", 1},
    {"v_sub_f16_e32", valu, "f16", 1},
    {"v_subrev_f32_e32", valu, "f32", 1},
    {"v_mul_f64", valu, "f64", 1},
    {"v_mul_legacy_f32_e32", valu, "f32", 1},
    {"v_mul_dx9_zero_f32_e32", valu, "f32", 1},
    {"v_fma_f64", valu, "f64", 2},
    {"v_fma_f32", valu, "f32", 2},
    {"v_fmac_f32_e32", valu, "f32", 2},
    {"v_fmac_f64_e32", valu, "f64", 2},
    {"v_fmamk_f32", valu, "f32", 2},
    {"v_fmaak_f16", valu, "f16", 2},
    {"v_mac_f32_e32", valu, "f32", 2},
    {"v_mad_f32", valu, "f32", 2},
    {"v_madak_f32", valu, "f32", 2},
    {"v_mad_legacy_f16", valu, "f16", 2},
    {"v_fma_mix_f32", valu, "f32", 2},
    {"v_fma_mixlo_f16", valu, "f16", 2},
    {"v_mad_mixhi_f16", valu, "f16", 2},
    {"v_div_fmas_f64", valu, "f64", 2},
    {"v_div_scale_f32", valu, "f32", 0},
    {"v_div_fixup_f64", valu, "f64", 0},
    {"v_max_f32_e32", valu, "f32", 0},
    {"v_max_num_f32_e32", valu, "f32", 0},
    {"v_maximum3_f32", valu, "f32", 0},
    {"v_med3_f16", valu, "f16", 0},
    {"v_ldexp_f64", valu, "f64", 0},
    {"v_frexp_mant_f32_e32", valu, "f32", 0},
    {"v_frexp_exp_i32_f32_e32", valu, "i32", 0},
    {"v_floor_f64_e32", valu, "f64", 0},
    {"v_cmp_gt_f32_e32", valu, "f32", 0},
    {"v_cmpx_class_f64_e64", valu, "f64", 0},
    {"v_exp_f32_e32", valu, "f32", 1, "t"},
    {"v_rcp_iflag_f32_e32", valu, "f32", 1, "t"},
    {"v_rsq_f64_e32", valu, "f64", 1, "t"},
    {"v_sqrt_f16_e32", valu, "f16", 1, "t"},
    {"v_log_f32_dpp", valu, "f32", 1, "t"},
    // packed
    {"v_pk_fma_f32", valu, "f32", 4, "p"},
    {"v_pk_mul_f32", valu, "f32", 2, "p"},
    {"v_pk_add_f16", valu, "f16", 2, "p"},
    {"v_pk_fmac_f16", valu, "f16", 4, "p"},
    {"v_pk_max_i16", valu, "i16", 0, "p"},
    {"v_pk_mul_lo_u16", valu, "i16", 0, "p"},
    {"v_pk_mov_b32", valu, "b32", 0, "p"},
    {"v_pk_lshlrev_b16", valu, "b16", 0, "p"},
    // dot products: of the inputs
    {"v_dot2_f32_f16", valu, "f16", 4},
    {"v_dot2c_f32_f16_e32", valu, "f16", 4},
    {"v_dot2_f32_bf16", valu, "bf16", 4},
    {"v_dot2_bf16_bf16", valu, "bf16", 4},
    {"v_dot4_f32_fp8_bf8", valu, "f8", 8},
    {"v_dot4_i32_iu8", valu, "i8", 0},
    {"v_dot4c_i32_i8_e32", valu, "i8", 0},
    {"v_dot8_u32_u4", valu, "i4", 0},
    {"v_dot2_i32_i16", valu, "i16", 0},
    // conversions: of the result
    {"v_cvt_f32_i32_e32", valu, "f32", 0},
    {"v_cvt_f32_ubyte3_e32", valu, "f32", 0},
    {"v_cvt_u32_f64_e32", valu, "i32", 0},
    {"v_cvt_pkrtz_f16_f32", valu, "f16", 0},
    {"v_cvt_pk_rtz_f16_f32_e32", valu, "f16", 0},
    {"v_cvt_pk_fp8_f32", valu, "f8", 0},
    {"v_cvt_pk_f32_bf8_e32", valu, "f32", 0},
    {"v_cvt_off_f32_i4_e32", valu, "f32", 0},
    {"v_cvt_scalef32_pk_fp8_f32", valu, "f8", 0},
    {"v_cvt_pk_bf16_f32", valu, "bf16", 0},
    // integers, moves, logic
    {"v_add_u32_e32", valu, "i32", 0},
    {"v_add_co_u32_e32", valu, "i32", 0},
    {"v_add_nc_u32_e32", valu, "i32", 0},
    {"v_addc_co_u32_e32", valu, "i32", 0},
    {"v_add_co_ci_u32_e32", valu, "i32", 0},
    {"v_mad_u64_u32", valu, "i64", 0},
    {"v_mad_co_u64_u32", valu, "i64", 0},
    {"v_mul_hi_u32", valu, "i32", 0},
    {"v_mul_u32_u24_e32", valu, "i32", 0},
    {"v_lshl_add_u64", valu, "i64", 0},
    {"v_lshlrev_b64", valu, "b64", 0},
    {"v_cmp_ne_u16_e32", valu, "i16", 0},
    {"v_cmp_lt_i64_e64", valu, "i64", 0},
    {"v_mov_b32_e32", valu, "b32", 0},
    {"v_mov_b64_e32", valu, "b64", 0},
    {"v_mov_b32_dpp", valu, "b32", 0},
    {"v_and_or_b32", valu, "b32", 0},
    {"v_perm_b32", valu, "b32", 0},
    {"v_bitop3_b32", valu, "b32", 0},
    {"v_alignbit_b32", valu, "b32", 0},
    {"v_cndmask_b32_e32", valu, "b32", 0},
    {"v_readfirstlane_b32", valu, "b32", 0},
    {"v_writelane_b32", valu, "b32", 0},
    {"v_permlanex16_b32", valu, "b32", 0},
    {"v_permlane32_swap_b32_e32", valu, "b32", 0},
    {"v_accvgpr_read_b32", valu, "b32", 0},
    {"v_accvgpr_mov_b32", valu, "b32", 0},
    {"v_mbcnt_hi_u32_b32", valu, "i32", 0},
    {"v_sad_u8", valu, "i8", 0},
    {"v_nop", valu, "none", 0},
    // dual issue
    {"v_dual_mul_f32", valu, "f32", 3, "d", "v0, v1, v2 :: v_dual_fmac_f32 v3, v4, v5"},
    {"v_dual_mov_b32", valu, "b32", 0, "d", "v4, 0 :: v_dual_lshlrev_b32 v3, 2, v1"},
    {"v_dual_mov_b32", valu, "f32", 1, "d", "v4, 0 :: v_dual_add_f32 v3, v2, v1"},
    {"v_dual_fmaak_f32", valu, "f32", 2, "d",
     "v3, v3, v1, 0x40400000 :: v_dual_max_num_f32 v2, v2, v1"},
    {"v_dual_add_f32", valu, "f32", 5, "d", "v0, v1, v2 :: v_dual_dot2acc_f32_f16 v3, v4, v5"},
    // matrix: names of gfx908 and gfx90a
    {"v_mfma_f32_32x32x1f32", matrix, "f32", 2.0 * 32 * 32 * 1 * 2},
    {"v_mfma_f32_16x16x1f32", matrix, "f32", 2.0 * 16 * 16 * 1 * 4},
    {"v_mfma_f32_4x4x1f32", matrix, "f32", 2.0 * 4 * 4 * 1 * 16},
    {"v_mfma_f32_32x32x2f32", matrix, "f32", 2.0 * 32 * 32 * 2},
    {"v_mfma_f32_32x32x4f16", matrix, "f16", 2.0 * 32 * 32 * 4 * 2},
    {"v_mfma_f32_32x32x8f16", matrix, "f16", 2.0 * 32 * 32 * 8},
    {"v_mfma_f32_4x4x4f16", matrix, "f16", 2.0 * 4 * 4 * 4 * 16},
    {"v_mfma_f32_32x32x4bf16", matrix, "bf16", 2.0 * 32 * 32 * 4},
    {"v_mfma_f32_32x32x4bf16_1k", matrix, "bf16", 2.0 * 32 * 32 * 4 * 2},
    {"v_mfma_f32_16x16x16bf16_1k", matrix, "bf16", 2.0 * 16 * 16 * 16},
    {"v_mfma_f64_16x16x4f64", matrix, "f64", 2.0 * 16 * 16 * 4},
    {"v_mfma_f64_4x4x4f64", matrix, "f64", 2.0 * 4 * 4 * 4 * 4},
    {"v_mfma_i32_32x32x8i8", matrix, "i8", 0},
    // of gfx942
    {"v_mfma_f32_32x32x1_2b_f32", matrix, "f32", 2.0 * 32 * 32 * 1 * 2},
    {"v_mfma_f32_4x4x4_16b_f16", matrix, "f16", 2.0 * 4 * 4 * 4 * 16},
    {"v_mfma_f32_16x16x16_f16", matrix, "f16", 2.0 * 16 * 16 * 16},
    {"v_mfma_f32_16x16x8_xf32", matrix, "xf32", 2.0 * 16 * 16 * 8},
    {"v_mfma_f32_32x32x16_fp8_bf8", matrix, "f8", 2.0 * 32 * 32 * 16},
    {"v_mfma_i32_16x16x32_i8", matrix, "i8", 0},
    {"v_mfma_f64_4x4x4_4b_f64", matrix, "f64", 2.0 * 4 * 4 * 4 * 4},
    // of gfx950
    {"v_mfma_f32_16x16x32_bf16", matrix, "bf16", 2.0 * 16 * 16 * 32},
    {"v_mfma_f32_32x32x64_f8f6f4", matrix, "f8f6f4", 2.0 * 32 * 32 * 64},
    {"v_mfma_scale_f32_16x16x128_f8f6f4", matrix, "f8f6f4", 2.0 * 16 * 16 * 128},
    {"v_mfma_ld_scale_b32", matrix, "none", 0},
    // sparse: half of what the shape says is done
    {"v_smfmac_f32_16x16x32_f16", matrix, "f16", 16.0 * 16 * 32},
    {"v_smfmac_i32_32x32x32_i8", matrix, "i8", 0},
    {"v_swmmac_f32_16x16x32_bf16", matrix, "bf16", 16.0 * 16 * 32},
    // RDNA 3 and 4
    {"v_wmma_f32_16x16x16_f16", matrix, "f16", 2.0 * 16 * 16 * 16},
    {"v_wmma_bf16_16x16x16_bf16", matrix, "bf16", 2.0 * 16 * 16 * 16},
    {"v_wmma_f32_16x16x16_fp8_bf8", matrix, "f8", 2.0 * 16 * 16 * 16},
    {"v_wmma_i32_16x16x16_iu4", matrix, "i4", 0},
};

TEST(Classify, Arithmetic) {
  for (const Arithmetic& want : kArithmetic) {
    const InstructionInfo info = classify(want.name, want.operands);
    EXPECT_TRUE(info.known) << want.name;
    EXPECT_EQ(to_string(info.instruction_class), to_string(want.instruction_class)) << want.name;
    EXPECT_EQ(info.precision, want.precision) << want.name;
    const bool is_matrix = want.instruction_class == matrix;
    EXPECT_EQ(is_matrix ? info.flops_per_wave : info.flops_per_lane, want.flops) << want.name;
    EXPECT_EQ(is_matrix ? info.flops_per_lane : info.flops_per_wave, 0) << want.name;
    EXPECT_EQ(flags_of(info), want.flags) << want.name;
    EXPECT_EQ(info.memory_bytes_per_lane + info.memory_bytes_per_wave, 0) << want.name;
  }
}

TEST(Classify, ScalarTranscendentalsAreOneValueOfTheWave) {
  const InstructionInfo info = classify("v_s_rsq_f32", "s0, s1");
  EXPECT_EQ(info.instruction_class, valu);
  EXPECT_EQ(info.flops_per_lane, 0);
  EXPECT_EQ(info.flops_per_wave, 1);
  EXPECT_TRUE(info.transcendental);
}

// --- everything else ------------------------------------------------------------------------

struct Other {
  std::string_view name;
  InstructionClass instruction_class;
  int lane_bytes = 0;
  int wave_bytes = 0;
  std::string_view operands = "";
};

constexpr Other kOther[] = {
    {"s_mov_b32", salu},
    {"s_add_u32", salu},
    {"s_add_nc_u64", salu},
    {"s_add_f32", salu},
    {"s_fmac_f16", salu},
    {"s_cvt_pk_rtz_f16_f32", salu},
    {"s_cmp_lg_u64", salu},
    {"s_cmpk_gt_i32", salu},
    {"s_cmp_nge_f16", salu},
    {"s_and_saveexec_b64", salu},
    {"s_and_not1_saveexec_b32", salu},
    {"s_andn2_b64", salu},
    {"s_bitreplicate_b64_b32", salu},
    {"s_pack_ll_b32_b16", salu},
    {"s_getpc_b64", salu},
    {"s_getreg_b32", salu},
    {"s_setreg_imm32_b32", salu},
    {"s_mul_hi_u32", salu},
    {"s_lshl2_add_u32", salu},
    {"s_movk_i32", salu},
    {"s_wqm_b64", salu},
    // scalar memory
    {"s_load_dword", smem, 0, 4},
    {"s_load_dwordx16", smem, 0, 64},
    {"s_load_b96", smem, 0, 12},
    {"s_load_b512", smem, 0, 64},
    {"s_load_u16", smem, 0, 2},
    {"s_load_i8", smem, 0, 1},
    {"s_buffer_load_dwordx4", smem, 0, 16},
    {"s_buffer_load_b256", smem, 0, 32},
    {"s_store_dwordx2", smem, 0, 8},
    {"s_scratch_load_dword", smem, 0, 4},
    {"s_atomic_add_x2", smem, 0, 8},
    {"s_dcache_inv", smem},
    {"s_memtime", smem},
    {"s_prefetch_inst", smem},
    {"s_buffer_prefetch_data", smem},
    // vector memory, gfx9 and gfx10
    {"global_load_dword", vmem_load, 4},
    {"global_load_dwordx3", vmem_load, 12},
    {"global_load_ubyte_d16_hi", vmem_load, 1},
    {"global_load_short_d16", vmem_load, 2},
    {"global_load_sshort", vmem_load, 2},
    {"global_load_lds_dwordx4", vmem_load, 16},
    {"global_store_dwordx4", vmem_store, 16},
    {"global_store_byte_d16_hi", vmem_store, 1},
    {"global_store_short", vmem_store, 2},
    {"flat_load_dwordx2", vmem_load, 8},
    {"flat_store_byte", vmem_store, 1},
    {"buffer_load_dwordx4", vmem_load, 16},
    {"buffer_load_format_xyz", vmem_load, 12},
    {"buffer_load_format_d16_xyzw", vmem_load, 8},
    {"tbuffer_store_format_xy", vmem_store, 8},
    {"tbuffer_load_format_d16_xy", vmem_load, 4},
    {"global_atomic_add", vmem_atomic, 4},
    {"global_atomic_add_x2", vmem_atomic, 8},
    {"global_atomic_add_f32", vmem_atomic, 4},
    {"global_atomic_add_f64", vmem_atomic, 8},
    {"global_atomic_pk_add_f16", vmem_atomic, 4},
    {"global_atomic_pk_add_bf16", vmem_atomic, 4},
    {"global_atomic_cmpswap_x2", vmem_atomic, 8},
    {"buffer_atomic_smax", vmem_atomic, 4},
    {"flat_atomic_fmin_x2", vmem_atomic, 8},
    {"scratch_load_dword", scratch_load, 4},
    {"scratch_store_dwordx4", scratch_store, 16},
    // gfx11 and gfx12
    {"global_load_b32", vmem_load, 4},
    {"global_load_b96", vmem_load, 12},
    {"global_load_u8", vmem_load, 1},
    {"global_load_i16", vmem_load, 2},
    {"global_load_d16_hi_u8", vmem_load, 1},
    {"global_load_d16_b16", vmem_load, 2},
    {"global_load_addtid_b32", vmem_load, 4},
    {"global_load_tr_b128", vmem_load, 16},
    {"global_store_d16_hi_b8", vmem_store, 1},
    {"global_store_b128", vmem_store, 16},
    {"buffer_load_d16_format_xyz", vmem_load, 6},
    {"buffer_load_lds_b32", vmem_load, 4},
    {"global_atomic_add_u64", vmem_atomic, 8},
    {"global_atomic_max_num_f32", vmem_atomic, 4},
    {"global_atomic_cond_sub_u32", vmem_atomic, 4},
    {"global_atomic_ordered_add_b64", vmem_atomic, 8},
    {"flat_atomic_cmpswap_b64", vmem_atomic, 8},
    {"scratch_load_b96", scratch_load, 12},
    {"scratch_store_d16_hi_b16", scratch_store, 2},
    // caches
    {"buffer_wbinvl1_vol", other},
    {"buffer_wbl2", other},
    {"buffer_inv", other},
    {"buffer_gl0_inv", other},
    {"global_wb", other},
    // images
    {"image_load", vmem_load, 16, 0, "v[0:3], v[4:5], s[0:7] dmask:0xf unorm"},
    {"image_sample", vmem_load, 12, 0, "v[0:2], v[4:5], s[0:7], s[8:11] dmask:0x7"},
    {"image_store", vmem_store, 4, 0, "v[0:1], v[4:5], s[0:7] dmask:0x3 d16"},
    {"image_gather4_c_lz_o", vmem_load, 16, 0, "v[0:3], v[4:7], s[0:7], s[8:11] dmask:0x1"},
    {"image_atomic_add", vmem_atomic, 4, 0, "v0, v[4:5], s[0:7] dmask:0x1"},
    {"image_get_resinfo", vmem_load, 0, 0, "v[0:3], v4, s[0:7] dmask:0xf"},
    {"image_bvh64_intersect_ray", vmem_load, 16},
    // LDS
    {"ds_read_b32", lds, 4},
    {"ds_read2_b32", lds, 8},
    {"ds_read2st64_b64", lds, 16},
    {"ds_read_b128", lds, 16},
    {"ds_read_u16_d16_hi", lds, 2},
    {"ds_write_b8_d16_hi", lds, 1},
    {"ds_write2_b64", lds, 16},
    {"ds_load_b96", lds, 12},
    {"ds_load_2addr_b32", lds, 8},
    {"ds_load_2addr_stride64_b64", lds, 16},
    {"ds_store_2addr_b64", lds, 16},
    {"ds_load_u8_d16", lds, 1},
    {"ds_storexchg_2addr_rtn_b32", lds, 8},
    {"ds_wrxchg2st64_rtn_b64", lds, 16},
    {"ds_add_u32", lds, 4},
    {"ds_add_rtn_f32", lds, 4},
    {"ds_add_f64", lds, 8},
    {"ds_pk_add_rtn_bf16", lds, 4},
    {"ds_cmpst_rtn_b64", lds, 8},
    {"ds_cmpstore_b32", lds, 4},
    {"ds_max_num_rtn_f32", lds, 4},
    {"ds_read_b64_tr_b16", lds, 8},
    {"ds_read_b96_tr_b6", lds, 12},
    {"ds_swizzle_b32", lds},
    {"ds_permute_b32", lds},
    {"ds_bpermute_b32", lds},
    {"ds_append", lds, 0, 4},
    {"ds_gws_barrier", lds},
    {"ds_nop", lds},
    {"lds_direct_load", lds, 0, 4},
    // control
    {"s_branch", branch},
    {"s_cbranch_execz", branch},
    {"s_cbranch_scc1", branch},
    {"s_setpc_b64", branch},
    {"s_call_b64", branch},
    {"s_swappc_b64", branch},
    {"s_waitcnt", waitcnt},
    {"s_waitcnt_vscnt", waitcnt},
    {"s_waitcnt_depctr", waitcnt},
    {"s_wait_loadcnt_dscnt", waitcnt},
    {"s_wait_alu", waitcnt},
    {"s_barrier", barrier},
    {"s_barrier_signal", barrier},
    {"s_barrier_wait", barrier},
    {"exp", export_},
    {"s_endpgm", other},
    {"s_nop", other},
    {"s_sleep", other},
    {"s_setprio", other},
    {"s_delay_alu", other},
    {"s_clause", other},
    {"s_sendmsg", other},
    {"s_code_end", other},
};

TEST(Classify, EverythingElse) {
  for (const Other& want : kOther) {
    const InstructionInfo info = classify(want.name, want.operands);
    EXPECT_TRUE(info.known) << want.name;
    EXPECT_EQ(to_string(info.instruction_class), to_string(want.instruction_class)) << want.name;
    EXPECT_EQ(info.memory_bytes_per_lane, want.lane_bytes) << want.name;
    EXPECT_EQ(info.memory_bytes_per_wave, want.wave_bytes) << want.name;
    EXPECT_EQ(info.precision, "") << want.name;
    EXPECT_EQ(info.flops_per_lane + info.flops_per_wave, 0) << want.name;
    EXPECT_EQ(info.call, want.name == "s_call_b64" || want.name == "s_swappc_b64") << want.name;
  }
}

TEST(Classify, UnknownNamesAreNotGuessed) {
  for (const char* name : {"",
                           ".long",
                           "v_",
                           "s_",
                           "ds_",
                           "v_frobnicate_f32",
                           "v_add",
                           "v_add_f128",
                           "v_cmp_xx_f32",
                           "v_cmp_f32",
                           "s_frobnicate_b32",
                           "s_add",
                           "s_cmp_zz_i32",
                           "s_load",
                           "s_load_dwordx7",
                           "global_load",
                           "global_load_dwordx5",
                           "global_load_dword_sideways",
                           "global_frob_dword",
                           "global_atomic_frob",
                           "global_wbinvl1_vol",
                           "ds_frob_b32",
                           "ds_read",
                           "ds_add",
                           "image_frob",
                           "v_mfma",
                           "v_mfma_f32_32x32",
                           "v_mfma_f32_32x32x8f64",
                           "v_mfma_f32_0x4x4_f16",
                           "v_mfma_f32_4x4x4_2b",
                           "v_wmma_f32_16x16x16",
                           "v_mfma_zz_16x16x16_f16",
                           "v_dual_mul_f32",
                           "v_pk",
                           "v_dual",
                           "v_illegal",
                           "x_add_f32",
                           "vv_add_f32",
                           "v_a_b_c_d_e_f_g_h_i_j_k_l_m_n_o_p_f32",
                           "v_mfma_f32_99999999999x4x4_f16"}) {
    const InstructionInfo info = classify(name, "");
    EXPECT_FALSE(info.known) << name;
    EXPECT_EQ(info.instruction_class, other) << name;
  }
  EXPECT_FALSE(classify(std::string(5000, 'v'), "").known);
  EXPECT_FALSE(classify("v_" + std::string(5000, 'x') + "_f32", "").known);
  EXPECT_FALSE(classify("v_dual_mul_f32", "v0, v1, v2 :: v_dual_frob_f32 v3, v4").known);
}

// --- scratch --------------------------------------------------------------------------------

Instruction instruction(std::string_view mnemonic, std::string_view operands = "", int bytes = 4) {
  return {.address = 0,
          .bytes = bytes,
          .mnemonic = std::string(mnemonic),
          .operands = std::string(operands),
          .branch_target = std::nullopt};
}

TEST(Scratch, BuffersOnTheScratchDescriptorAreScratch) {
  EXPECT_EQ(
      classify("buffer_store_dword", "v40, off, s[0:3], s32 offset:4", "s[0:3]").instruction_class,
      scratch_store);
  EXPECT_EQ(classify("buffer_load_dword", "v1, v2, s[0:3], 0 offen", "s[0:3]").instruction_class,
            scratch_load);
  EXPECT_EQ(classify("buffer_load_dword", "v1, v2, s[4:7], 0 offen", "s[0:3]").instruction_class,
            vmem_load);
  EXPECT_EQ(classify("buffer_load_dword", "v1, v2, s[0:3], 0 offen").instruction_class, vmem_load);
  // Not as a part of something else.
  EXPECT_EQ(classify("buffer_load_dword", "ttmps[0:3], v2, s[4:7], 0", "s[0:3]").instruction_class,
            vmem_load);
}

TEST(Scratch, TheDescriptorIsThePresetOneOrTheProloguesCopy) {
  EXPECT_EQ(scratch_resource_of({}), "s[0:3]");
  const std::vector<Instruction> copied{
      instruction("s_mov_b64", "s[22:23], s[2:3]"), instruction("s_mov_b64", "s[20:21], s[0:1]"),
      instruction("s_add_u32", "s20, s20, s7"),
      instruction("buffer_store_dword", "v0, off, s[20:23], 0 offset:4")};
  EXPECT_EQ(scratch_resource_of(copied), "s[20:23]");
  // Copied, but for something else.
  const std::vector<Instruction> unused{
      instruction("s_mov_b64", "s[22:23], s[2:3]"), instruction("s_mov_b64", "s[20:21], s[0:1]"),
      instruction("buffer_store_dword", "v0, off, s[0:3], 0 offset:4")};
  EXPECT_EQ(scratch_resource_of(unused), "s[0:3]");
  const std::vector<Instruction> apart{instruction("s_mov_b64", "s[30:31], s[2:3]"),
                                       instruction("s_mov_b64", "s[20:21], s[0:1]"),
                                       instruction("buffer_store_dword", "v0, off, s[20:23], 0")};
  EXPECT_EQ(scratch_resource_of(apart), "s[0:3]");
  const std::vector<Instruction> flat{instruction("scratch_load_dword", "v0, off, s32"),
                                      instruction("buffer_load_dword", "v0, off, s[0:3], 0")};
  EXPECT_EQ(scratch_resource_of(flat), "");
}

TEST(Scratch, AKernelWithoutScratchHasNone) {
  const std::vector<Instruction> code{instruction("buffer_load_dwordx2", "v[0:1], off, s[0:3], 0")};
  EXPECT_EQ(instruction_mix(code, 64).scratch_bytes, 8 * 64);
  const InstructionMix mix = instruction_mix(code, 64, false);
  EXPECT_EQ(mix.scratch_bytes, 0);
  EXPECT_EQ(mix.global_bytes, 8 * 64);
}

// --- sums -----------------------------------------------------------------------------------

std::vector<Instruction> sample() {
  std::vector<Instruction> code{
      instruction("s_load_dwordx4", "s[4:7], s[0:1], 0x0", 8),
      instruction("global_load_dwordx2", "v[0:1], v2, s[4:5]", 8),
      instruction("s_waitcnt", "vmcnt(0)"),
      instruction("v_pk_fma_f32", "v[0:1], v[0:1], v[0:1], v[0:1]", 8),
      instruction("v_exp_f32_e32", "v0, v0"),
      instruction("v_mfma_f32_32x32x8f16", "a[0:15], v[0:1], v[0:1], 0", 8),
      instruction("ds_write_b64", "v3, v[0:1]", 8),
      instruction("s_swappc_b64", "s[30:31], s[4:5]"),
      instruction("scratch_store_dword", "off, v0, s32", 8),
      instruction("global_store_dword", "v2, v0, s[6:7]", 8),
      instruction("v_frobnicate_f32", "v0, v0"),
      instruction("s_cbranch_scc1", "65530"),
      instruction("v_frobnicate_f32", "v0, v0"),
      instruction("a_first", ""),
      instruction("s_endpgm")};
  code[11].address = 100;
  code[11].branch_target = 80;
  return code;
}

TEST(Mix, CountsOperationsAndBytesOfAWave) {
  const InstructionMix mix = instruction_mix(sample(), 64);
  EXPECT_EQ(mix.instructions, 15);
  EXPECT_EQ(mix.code_bytes, 15 * 4 + 7 * 4);
  EXPECT_THAT(mix.by_class,
              ElementsAre(Pair(valu, 2), Pair(matrix, 1), Pair(smem, 1), Pair(vmem_load, 1),
                          Pair(vmem_store, 1), Pair(scratch_store, 1), Pair(lds, 1),
                          Pair(branch, 2), Pair(waitcnt, 1), Pair(other, 4)));
  EXPECT_THAT(mix.valu_by_precision, ElementsAre(Pair("f32", 2)));
  EXPECT_THAT(mix.matrix_by_precision, ElementsAre(Pair("f16", 1)));
  EXPECT_EQ(mix.packed, 1);
  EXPECT_EQ(mix.transcendental, 1);
  EXPECT_EQ(mix.calls, 1);
  EXPECT_EQ(mix.backward_branches, 1);
  EXPECT_THAT(mix.unknown, ElementsAre("a_first", "v_frobnicate_f32"));
  EXPECT_EQ(mix.vector_flops, (4 + 1) * 64);
  EXPECT_EQ(mix.matrix_flops, 2.0 * 32 * 32 * 8);
  EXPECT_EQ(mix.global_bytes, (8 + 4) * 64);
  EXPECT_EQ(mix.scalar_bytes, 16);
  EXPECT_EQ(mix.lds_bytes, 8 * 64);
  EXPECT_EQ(mix.scratch_bytes, 4 * 64);
  EXPECT_DOUBLE_EQ(mix.static_intensity().value_or(0), (320 + 16384) / 768.0);
  // Lanes count by the wave's size; a matrix instruction's work does not.
  const InstructionMix narrow = instruction_mix(sample(), 32);
  EXPECT_EQ(narrow.vector_flops, mix.vector_flops / 2);
  EXPECT_EQ(narrow.matrix_flops, mix.matrix_flops);
  EXPECT_EQ(narrow.scalar_bytes, mix.scalar_bytes);
}

TEST(Mix, ForwardBranchesAreNoLoopsAndASelfBranchIs) {
  std::vector<Instruction> code{instruction("s_branch", "1"), instruction("s_branch", "65535")};
  code[0].branch_target = 8;
  code[1].address = 4;
  code[1].branch_target = 4;
  EXPECT_EQ(instruction_mix(code, 32).backward_branches, 1);
}

TEST(Mix, WithoutVmemThereIsNoIntensity) {
  const std::vector<Instruction> code{instruction("v_add_f32_e32")};
  EXPECT_EQ(instruction_mix(code, 64).static_intensity(), std::nullopt);
  EXPECT_EQ(instruction_mix({}, 64).static_intensity(), std::nullopt);
}

TEST(Mix, OfAConcatenationIsTheSum) {
  const std::vector<Instruction> all = sample();
  for (std::size_t cut = 0; cut <= all.size(); ++cut) {
    const std::span<const Instruction> code(all);
    const InstructionMix a = instruction_mix(code.first(cut), 64);
    const InstructionMix b = instruction_mix(code.subspan(cut), 64);
    const InstructionMix whole = instruction_mix(all, 64);
    EXPECT_EQ(a.instructions + b.instructions, whole.instructions);
    EXPECT_EQ(a.code_bytes + b.code_bytes, whole.code_bytes);
    EXPECT_EQ(a.vector_flops + b.vector_flops, whole.vector_flops);
    EXPECT_EQ(a.matrix_flops + b.matrix_flops, whole.matrix_flops);
    EXPECT_EQ(a.global_bytes + b.global_bytes, whole.global_bytes);
    EXPECT_EQ(a.lds_bytes + b.lds_bytes, whole.lds_bytes);
    auto classes = a.by_class;
    for (const auto& [key, count] : b.by_class) classes[key] += count;
    EXPECT_EQ(classes, whole.by_class);
  }
}

TEST(Mix, RecordedCodeObjectsHoldNothingUnknown) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/codeobjects";
  if (!fs::exists(folder)) GTEST_SKIP() << "skipped: " << folder << " is not there";
  const auto objdump = find_disassembler("gfx1201");
  if (!objdump) GTEST_SKIP() << "skipped: " << describe(objdump.error());
  std::vector<std::string> files;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string bytes = entry.is_regular_file() ? read_file(entry.path()).value() : std::string{};
    if (!is_code_object(bytes)) continue;
    files.push_back(std::move(bytes));
    names.push_back(entry.path().filename().string());
  }
  std::vector<ToDisassemble> objects;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto object = read_code_object(files[i], names[i]);
    if (object)
      objects.push_back({.bytes = files[i], .processor = object->target.processor, .symbols = {}});
  }
  const auto result = disassemble(*objdump, objects);
  ASSERT_TRUE(result.has_value()) << describe(result.error());
  int known = 0;
  std::int64_t instructions = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (!(*result)[i]) continue;  // a processor that this LLVM does not know
    ++known;
    for (const Function& function : (*result)[i].value()) {
      const InstructionMix mix = instruction_mix(function.instructions, 64);
      EXPECT_THAT(mix.unknown, IsEmpty()) << objects[i].processor << " " << function.symbol;
      instructions += mix.instructions;
    }
  }
  EXPECT_GE(known, 9);
  EXPECT_GT(instructions, 4000);
}

}  // namespace
}  // namespace perflab::code
