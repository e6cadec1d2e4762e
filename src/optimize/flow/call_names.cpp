// Names of HIP's device functions: the HIP C++ language extensions and math API pages; CUDA's: its
// C++ Programming Guide, "C++ Language Extensions", and its math API; clang's builtins: its
// language extensions page, BuiltinsAMDGPU.def and BuiltinsNVPTX.def; the host's: C and POSIX
// headers.
#include "optimize/flow/call_names.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>

namespace perflab::optimize {
namespace {

struct NameRule {
  CallKind kind;
  std::string_view names;  ///< with blanks between them; '*': anything
};

// The first name that fits counts. What is a clock or outside is so in std, too.
constexpr NameRule kNameRules[] = {
    // Clocks. s_getreg reads the cycle counter among other registers.
    {CallKind::clock,
     "clock clock64 __clock __clock64 wall_clock64 __wall_clock64 __builtin_readcyclecounter "
     "__builtin_readsteadycounter __builtin_amdgcn_s_memtime __builtin_amdgcn_s_memrealtime "
     "__builtin_amdgcn_s_getreg __builtin_amdgcn_s_sendmsg_rtn* __builtin_amdgcn_*cycle* "
     "__builtin_amdgcn_*clock* __builtin_amdgcn_*realtime* __ockl_steadyctr_u64 "
     "__nvvm_read_ptx_sreg_*clock* __nvvm_read_ptx_sreg_globaltimer* __nvvm_read_ptx_sreg_pm* "
     "__globaltimer* __nv_*clock* cudaEvent* cuda::std::chrono::* "
     "__ockl_cyclectr_u64 __builtin_ia32_rdtsc* __builtin_ia32_rdpmc __rdtsc* _rdtsc* _rdpmc "
     "std::chrono::* time times ftime timespec_get gettimeofday clock_gettime getrusage "
     "hipEvent*"},
    // Files, processes, network, environment.
    {CallKind::outside,
     "fopen* freopen* fdopen fread* fwrite* fscanf fgets open fclose fflush fseek* fsetpos* "
     "ftell* fgetpos* rewind fgetc getc fputc fputs putc feof ferror fprintf vfprintf vfscanf "
     "setbuf setvbuf ungetc getline fileno close lseek* ioctl fstat* lstat* dup* fcntl access "
     "bind listen accept open64 openat* creat read pread* readv write pwrite* readlink* "
     "opendir unlink* remove rename tmpfile mkstemp* stat mmap* shm_open shmget shmat system "
     "exec* posix_spawn* fork vfork clone kill ptrace syscall process_vm_* popen pipe* socket* "
     "connect send sendto recv* getaddrinfo getenv secure_getenv setenv putenv dlopen dlsym "
     "dl_iterate_phdr std::filesystem::* std::basic_ifstream* std::basic_ofstream* "
     "std::basic_fstream* std::basic_filebuf* std::ifstream std::ofstream std::fstream"},
    // Pointers out of nowhere: the dispatch packet, the kernel's arguments, the stack; descriptors
    // and addresses in the LDS that are vectors of numbers.
    {CallKind::makes_pointer,
     "__builtin_amdgcn_dispatch_ptr __builtin_amdgcn_queue_ptr "
     "__builtin_amdgcn_kernarg_segment_ptr __builtin_amdgcn_implicitarg_ptr"},
    {CallKind::harmless, "__builtin_amdgcn_groupstaticsize"},
    {CallKind::makes_pointer,
     "__builtin_amdgcn_s_getpc __builtin_amdgcn_image_bvh* __builtin_amdgcn_ds_bvh_stack* "
     "__builtin_amdgcn_tensor_* __builtin_return_address __builtin_frame_address "
     "__builtin_extract_return_addr __get_dynamicgroupbaseptr __cvta_* __nvvm_mapa* "
     "__cluster_map_shared_*"},
    // Barriers, and fences, which wait for nobody.
    {CallKind::barrier,
     "__syncthreads* __syncwarp __work_group_barrier __barrier __barrier_sync* __nvvm_bar* "
     "__cluster_barrier_arrive __cluster_barrier_wait __cluster_barrier_sync"},
    {CallKind::fence,
     "__threadfence* __atomic_work_item_fence __atomic_thread_fence __atomic_signal_fence "
     "__sync_synchronize std::atomic_thread_fence std::atomic_signal_fence __nvvm_membar_* "
     "__nvvm_fence_*"},
    {CallKind::barrier, "__builtin_amdgcn_s_barrier __builtin_amdgcn_s_barrier_wait"},
    {CallKind::fence, "__builtin_amdgcn_s_barrier_*"},
    {CallKind::barrier, "__builtin_amdgcn_wave_barrier"},
    {CallKind::fence,
     "__builtin_amdgcn_sched_* __builtin_amdgcn_fence __builtin_amdgcn_s_waitcnt*"},
    {CallKind::barrier, "__ockl_*grid_sync"},
    {CallKind::fence, "__ockl_grid_* __ockl_multi_grid_* __ockl_gws_*"},
    {CallKind::barrier,
     "cooperative_groups::sync cooperative_groups::grid_group::sync "
     "cooperative_groups::multi_grid_group::sync cooperative_groups::thread_block::sync "
     "cooperative_groups::thread_group::sync cooperative_groups::tiled_group::sync "
     "cooperative_groups::thread_block_tile::sync "
     "cooperative_groups::thread_block_tile_base::sync "
     "cooperative_groups::coalesced_group::sync"},
    // Atomics.
    {CallKind::atomic,
     "__nvvm_atom_* __i*Atomic* __u*Atomic* __f*Atomic* __d*Atomic* __ll*Atomic* __ull*Atomic* "
     "atomic* safeAtomic* unsafeAtomic* __atomic_* __hip_atomic_* __opencl_atomic_* "
     "__scoped_atomic_* __c11_atomic_* __sync_* std::atomic* std::__atomic_* "
     "__builtin_amdgcn_atomic_* __builtin_amdgcn_global_atomic_* "
     "__builtin_amdgcn_flat_atomic_* __builtin_amdgcn_ds_atomic_* __builtin_amdgcn_ds_fadd* "
     "__builtin_amdgcn_ds_fmin* __builtin_amdgcn_ds_fmax* __builtin_amdgcn_ds_append "
     "__builtin_amdgcn_ds_consume"},
    // Lanes.
    {CallKind::lanes,
     "__shfl* __ballot* __any* __all* __activemask __match_* __reduce_*_sync __nvvm_shfl_* "
     "__nvvm_vote_* __nvvm_match_* __nvvm_redux_* __nvvm_activemask __hmma_* __imma_* __bmma_* "
     "__dmma_* __mma_* nvcuda::wmma::*"},
    {CallKind::harmless, "__lane_id"},
    {CallKind::lanes,
     "__lane* __hip_ds_* __hip_move_dpp* __ockl_wf* __ockl_activelane_u32 "
     "__builtin_amdgcn_ds_bpermute __builtin_amdgcn_ds_permute __builtin_amdgcn_ds_swizzle "
     "__builtin_amdgcn_mov_dpp* __builtin_amdgcn_update_dpp __builtin_amdgcn_readlane "
     "__builtin_amdgcn_readfirstlane __builtin_amdgcn_writelane __builtin_amdgcn_permlane* "
     "__builtin_amdgcn_ballot_w* __builtin_amdgcn_uicmp* __builtin_amdgcn_sicmp* "
     "__builtin_amdgcn_fcmp* __builtin_amdgcn_wqm* __builtin_amdgcn_read_exec* "
     "__builtin_amdgcn_inverse_ballot* __builtin_amdgcn_wave_reduce_* __builtin_amdgcn_mfma_* "
     "__builtin_amdgcn_smfmac_* __builtin_amdgcn_wmma_* __builtin_amdgcn_swmmac_* "
     "cooperative_groups::*::shfl*"},
    // Places of work-items.
    {CallKind::harmless,
     "__HIP_Coordinates::* __builtin_amdgcn_workitem_id_* __builtin_amdgcn_workgroup_id_* "
     "__builtin_amdgcn_workgroup_size_* __builtin_amdgcn_grid_size_* __builtin_amdgcn_mbcnt_* "
     "__builtin_amdgcn_wavefrontsize __ockl_get_* __ockl_lane_u32 __cuda_builtin_* "
     "__nvvm_read_ptx_sreg_*tid_* __nvvm_read_ptx_sreg_laneid __nvvm_read_ptx_sreg_warpsize "
     "__nvvm_read_ptx_sreg_lanemask_*"},
    // Arithmetic of the device; loads and stores with a hint for the caches.
    {CallKind::harmless,
     "__nvvm_ldg_* __nvvm_ldu_* __nvvm_add_* __nvvm_mul* __nvvm_div_* __nvvm_fma_* __nvvm_rcp_* "
     "__nvvm_sqrt_* __nvvm_rsqrt_* __nvvm_sin_* __nvvm_cos_* __nvvm_ex2_* __nvvm_lg2_* "
     "__nvvm_floor_* __nvvm_ceil_* __nvvm_round_* __nvvm_trunc_* __nvvm_fabs_* __nvvm_fmin_* "
     "__nvvm_fmax_* __nvvm_saturate_* __nvvm_prmt __nvvm_sad_* __nvvm_bitcast_* __nvvm_d2* "
     "__nvvm_f2* __nvvm_i2* __nvvm_ui2* __nvvm_ll2* __nvvm_ull2* __nvvm_lohi_* __ldlu "
     "__stcg __stcs __stwb __stwt __nanosleep "
     "__dp4a __dp2a_* __vabs* __vadd* __vsub* __vavg* __vmax* __vmin* __vset* __vcmp* __vneg* "
     "__fns __frcp_* __fsqrt_* __frsqrt_* __tanhf __nv_cvt_* __nv_bfloat16::* __nv_bfloat162::* "
     "__nv_fp8_*::* cuCadd* cuCmul* cuCsub* cuCdiv* cuCfma* cuCabs* cuConj* cuCreal* cuCimag* "
     "make_cu*Complex cuda::std::min cuda::std::max "
     "__ocml_* __llvm_amdgcn_rcp* __llvm_amdgcn_sqrt* __llvm_amdgcn_rsq* __ockl_clz_* "
     "__ockl_ctz_* __ockl_popcount_* __ockl_mul* __ockl_fdot2 __ockl_sdot* __ockl_udot* "
     "__ockl_sadd_sat* __ockl_image_load* __ockl_image_sample* __builtin_amdgcn_rcp* "
     "__builtin_amdgcn_sqrt* __builtin_amdgcn_rsq* __builtin_amdgcn_sin* __builtin_amdgcn_cos* "
     "__builtin_amdgcn_exp2* __builtin_amdgcn_log* __builtin_amdgcn_fract* "
     "__builtin_amdgcn_ldexp* __builtin_amdgcn_frexp* __builtin_amdgcn_fmed3* "
     "__builtin_amdgcn_fmul_legacy __builtin_amdgcn_fma_legacy __builtin_amdgcn_div_* "
     "__builtin_amdgcn_class* __builtin_amdgcn_fdot2* __builtin_amdgcn_sdot* "
     "__builtin_amdgcn_udot* __builtin_amdgcn_sudot* __builtin_amdgcn_dot* "
     "__builtin_amdgcn_perm __builtin_amdgcn_align* __builtin_amdgcn_sad_* "
     "__builtin_amdgcn_msad_* __builtin_amdgcn_ubfe __builtin_amdgcn_sbfe "
     "__builtin_amdgcn_lerp __builtin_amdgcn_cvt_* __builtin_amdgcn_cube* "
     "__builtin_amdgcn_s_setprio __builtin_amdgcn_s_sleep __builtin_amdgcn_iglp_opt "
     "__builtin_amdgcn_is_shared __builtin_amdgcn_is_private"},
    // Clang's own.
    {CallKind::harmless,
     "__builtin_expect* __builtin_assume* __builtin_unreachable __builtin_unpredictable "
     "__builtin_constant_p __builtin_is_constant_evaluated __builtin_prefetch "
     "__builtin_nontemporal_* __builtin_shufflevector __builtin_convertvector "
     "__builtin_bit_cast __builtin_bitreverse* __builtin_bswap* __builtin_rotate* "
     "__builtin_clz* __builtin_ctz* __builtin_ffs* __builtin_popcount* __builtin_parity* "
     "__builtin_clrsb* __builtin_*_overflow __builtin_elementwise_* __builtin_reduce_* "
     "__builtin_memcpy* __builtin_memset* __builtin_memmove __builtin_huge_val* __builtin_inf* "
     "__builtin_nan* __builtin_isnan __builtin_isinf* __builtin_isfinite __builtin_isnormal "
     "__builtin_signbit* __builtin_fpclassify __builtin_addressof __builtin_launder"},
    // SIMD of the host, but for its control register and random numbers.
    {CallKind::unknown,
     "__builtin_ia32_ldmxcsr __builtin_ia32_stmxcsr __builtin_ia32_rd* __builtin_ia32_wr* "
     "__builtin_ia32_x* __builtin_ia32_f* __builtin_ia32_clflush*"},
    {CallKind::harmless, "__builtin_ia32_*"},
    {CallKind::unknown, "_mm_getcsr _mm_setcsr _mm_clflush* _mm_malloc _mm_free"},
    {CallKind::harmless, "_mm_* _mm256_* _mm512_*"},
    // HIP: vectors, bits, conversions, read-only loads; hipCs*: hipCsqabs, hipCsub.
    {CallKind::harmless,
     "make_char* make_uchar* make_short* make_ushort* make_int* make_uint* make_long* "
     "make_ulong* make_longlong* make_ulonglong* make_float* make_double* make_hip*Complex "
     "hipCabs* hipCadd* hipCdiv* hipCfma* hipCimag* hipCmul* hipConj* hipCreal* hipCs* "
     "hipComplex* HIP_vector_type::* HIP_vector_base::* __ldg __ldc* __popc* __clz* __ffs* "
     "__brev* __byte_perm __funnelshift_* __bitextract_* __bitinsert_* __hadd* __rhadd __uhadd "
     "__urhadd __usad __sad __mul24 __umul24 __mulhi __umulhi __mul64hi __umul64hi "
     "amd_mixed_dot __half::* __half2::* __half_raw::* hip_bfloat16::* __hip_bfloat16::*"},
    // Copies.
    {CallKind::harmless, "memcpy memset memmove std::memcpy std::memset std::memmove"},
};

// Builtins of the processor that reach beyond what they are given: messages, traps, jumps, modes of
// arithmetic and other registers of a wave, counters and traces, which dispatch it is, semaphores
// and memory of the whole GPU, parameters that graphics leaves in the LDS.
constexpr std::string_view kReachingBuiltins =
    "s_sendmsg* s_setreg* s_sethalt s_trap* *trap* s_rfe* s_call* s_set*pc* s_swap*pc* s_alloc_* "
    "s_ttrace* s_*perflevel get_fpenv* set_fpenv* *dispatch_id* ds_gws_* ds_ordered_* *gds* "
    "interp_* lds_direct* lds_param* exp_*";

// Functions of <cmath>, <math.h> and HIP's math API, and std's small helpers; likewise in std, with
// an 'f' or 'l' behind, as __builtin_... and with the device's suffixes for how a result is
// rounded.
constexpr std::string_view kMathNames =
    "abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc "
    "erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma fmax fmin fmod frexp "
    "hypot ilogb isfinite isinf isnan isnormal isless isgreater j0 j1 jn labs ldexp lgamma llabs "
    "llrint llround log log10 log1p log2 logb lrint lround max min modf nan nearbyint nextafter "
    "norm norm3d norm4d normcdf normcdfinv pow powi rcbrt remainder remquo rhypot rint rnorm "
    "rnorm3d rnorm4d round rsqrt saturate scalbln scalbn signbit sin sincos sincospi sinh sinpi "
    "sqrt tan tanh tgamma trunc umin umax llmin llmax ullmin ullmax y0 y1 yn clamp lerp midpoint "
    "swap move forward exchange declval as_const addressof bit_cast popcount countl_zero "
    "countr_zero rotl rotr div";

constexpr std::string_view kRoundedMath = "add sub mul div fma rcp sqrt";
constexpr std::string_view kFastMath =
    "cosf exp10f expf fdividef log10f log2f logf powf sinf sincosf tanf saturatef frsqrt_rn";
constexpr std::string_view kConversionSources =
    "float floats low high double int uint ll ull half half2 hiloint short ushort longlong "
    "lowhigh2highlow "
    "low2half high2half halves2half2 bfloat16 bfloat162 bf16";

bool fits(std::string_view pattern, std::string_view name) {
  return fnmatch(std::string(pattern).c_str(), std::string(name).c_str(), 0) == 0;
}

/// Whether one of the words of a text satisfies the condition.
template <class Condition>
bool any_word(std::string_view words, const Condition& condition) {
  while (!words.empty()) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (condition(word)) return true;
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return false;
}

bool has(std::string_view words, std::string_view name) {
  return any_word(words, [&](std::string_view word) { return word == name; });
}

bool is_math(std::string_view name) {
  for (const std::string_view scope : {"std::", "__builtin_", "hip::"})
    if (name.starts_with(scope)) {
      name.remove_prefix(scope.size());
      break;
    }
  if (has(kMathNames, name)) return true;
  return name.size() > 1 && (name.ends_with('f') || name.ends_with('l')) &&
         has(kMathNames, name.substr(0, name.size() - 1));
}

/// Those that no rule names.
CallKind kind_of_processor_builtin(std::string_view name) {
  if (name.ends_with("_ptr")) return CallKind::makes_pointer;
  return any_word(kReachingBuiltins, [&](std::string_view one) { return fits(one, name); })
             ? CallKind::unknown
             : CallKind::device;
}

/// "__fadd_rn", "__expf", "__float2int_rz", "__hmul2".
bool is_device_math(std::string_view name) {
  if (!name.starts_with("__")) return false;
  name.remove_prefix(2);
  if (has(kFastMath, name)) return true;
  if (name.size() > 4 && (name.starts_with('f') || name.starts_with('d')) &&
      name[name.size() - 3] == '_' && has(kRoundedMath, name.substr(1, name.size() - 4)))
    return true;
  if (name.size() > 3 && name[name.size() - 3] == '_' &&
      has(kRoundedMath, name.substr(0, name.size() - 3)))
    return true;
  const std::size_t two = name.find('2');
  if (two != std::string_view::npos && has(kConversionSources, name.substr(0, two))) return true;
  if (name.find("_as_") != std::string_view::npos)
    return has(kConversionSources, name.substr(0, name.find("_as_")));
  if (has(kConversionSources, name)) return true;
  return name.starts_with("half_") ||
         any_word(
             "hadd hsub hmul hdiv hfma hneg habs heq hne hlt hle hgt hge hmax hmin hisnan hisinf",
             [&](std::string_view stem) { return name.starts_with(stem); });
}

}  // namespace

CallKind kind_of_call(std::string_view qualified) {
  if (qualified.starts_with("::")) qualified.remove_prefix(2);
  std::string_view plain = qualified;
  if (plain.starts_with("std::")) plain.remove_prefix(5);
  for (const NameRule& rule : kNameRules) {
    const bool everywhere = rule.kind == CallKind::clock || rule.kind == CallKind::outside;
    if (any_word(rule.names, [&](std::string_view one) {
          return fits(one, qualified) || (everywhere && fits(one, plain));
        }))
      return rule.kind;
  }
  constexpr std::string_view kProcessor = "__builtin_amdgcn_";
  if (qualified.starts_with(kProcessor))
    return kind_of_processor_builtin(qualified.substr(kProcessor.size()));
  if (is_math(qualified) || is_device_math(qualified)) return CallKind::harmless;
  return CallKind::unknown;
}

bool is_index_variable(std::string_view qualified) {
  constexpr std::string_view kNames =
      "threadIdx blockIdx blockDim gridDim warpSize hipThreadIdx_x "
      "hip_host::item";  // examples/host
  // HIP's headers before 6.0 keep threadIdx.x and its like there; so do clang's for CUDA.
  return has(kNames, qualified) || qualified.starts_with("__HIP_Coordinates::") ||
         qualified.starts_with("__cuda_builtin_");
}

bool is_plain_attribute(std::string_view name) {
  constexpr std::string_view kNames =
      "launch_bounds amdgpu_waves_per_eu amdgpu_flat_work_group_size amdgpu_num_vgpr "
      "amdgpu_num_sgpr amdgpu_num_work_groups amdgpu_max_num_work_groups aligned always_inline "
      "assume assume_aligned cold device ext_vector_type fallthrough flatten global host hot "
      "block_size cluster_dims grid_constant maxnreg "
      "likely maybe_unused may_alias noinline nounroll opencl_unroll_hint packed shared unlikely "
      "unused vector_size";
  return has(kNames, name);
}

}  // namespace perflab::optimize
