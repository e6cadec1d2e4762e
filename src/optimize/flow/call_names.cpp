// Names of HIP's device functions: the HIP C++ language extensions and math API pages; clang's
// builtins: its language extensions page and BuiltinsAMDGPU.def; the host's: C and POSIX headers.
#include "optimize/flow/call_names.h"

#include <algorithm>
#include <iterator>

namespace perflab::optimize {
namespace {

struct NameRule {
  std::string_view name;  ///< '*' at its end: and whatever follows
  CallKind kind;
};

// The first rule that fits counts. What is a clock or outside is so in std, too.
constexpr NameRule kNameRules[] = {
    // Clocks. s_getreg reads the cycle counter among other registers.
    {"clock", CallKind::clock},
    {"clock64", CallKind::clock},
    {"__clock", CallKind::clock},
    {"__clock64", CallKind::clock},
    {"wall_clock64", CallKind::clock},
    {"__wall_clock64", CallKind::clock},
    {"__builtin_readcyclecounter", CallKind::clock},
    {"__builtin_readsteadycounter", CallKind::clock},
    {"__builtin_amdgcn_s_memtime", CallKind::clock},
    {"__builtin_amdgcn_s_memrealtime", CallKind::clock},
    {"__builtin_amdgcn_s_getreg", CallKind::clock},
    {"__builtin_amdgcn_s_sendmsg_rtn*", CallKind::clock},
    {"__builtin_amdgcn_*cycle*", CallKind::clock},
    {"__builtin_amdgcn_*clock*", CallKind::clock},
    {"__builtin_amdgcn_*realtime*", CallKind::clock},
    {"__ockl_steadyctr_u64", CallKind::clock},
    {"__ockl_cyclectr_u64", CallKind::clock},
    {"__builtin_ia32_rdtsc*", CallKind::clock},
    {"__builtin_ia32_rdpmc", CallKind::clock},
    {"__rdtsc*", CallKind::clock},
    {"_rdtsc*", CallKind::clock},
    {"_rdpmc", CallKind::clock},
    {"std::chrono::*", CallKind::clock},
    {"time", CallKind::clock},
    {"times", CallKind::clock},
    {"ftime", CallKind::clock},
    {"timespec_get", CallKind::clock},
    {"gettimeofday", CallKind::clock},
    {"clock_gettime", CallKind::clock},
    {"getrusage", CallKind::clock},
    {"hipEvent*", CallKind::clock},
    // Files, processes, network, environment.
    {"fopen*", CallKind::outside},
    {"freopen*", CallKind::outside},
    {"fdopen", CallKind::outside},
    {"fread*", CallKind::outside},
    {"fwrite*", CallKind::outside},
    {"fscanf", CallKind::outside},
    {"fgets", CallKind::outside},
    {"open", CallKind::outside},
    {"fclose", CallKind::outside},
    {"fflush", CallKind::outside},
    {"fseek*", CallKind::outside},
    {"fsetpos*", CallKind::outside},
    {"ftell*", CallKind::outside},
    {"fgetpos*", CallKind::outside},
    {"rewind", CallKind::outside},
    {"fgetc", CallKind::outside},
    {"getc", CallKind::outside},
    {"fputc", CallKind::outside},
    {"fputs", CallKind::outside},
    {"putc", CallKind::outside},
    {"feof", CallKind::outside},
    {"ferror", CallKind::outside},
    {"fprintf", CallKind::outside},
    {"vfprintf", CallKind::outside},
    {"vfscanf", CallKind::outside},
    {"setbuf", CallKind::outside},
    {"setvbuf", CallKind::outside},
    {"ungetc", CallKind::outside},
    {"getline", CallKind::outside},
    {"fileno", CallKind::outside},
    {"close", CallKind::outside},
    {"lseek*", CallKind::outside},
    {"ioctl", CallKind::outside},
    {"fstat*", CallKind::outside},
    {"lstat*", CallKind::outside},
    {"dup*", CallKind::outside},
    {"fcntl", CallKind::outside},
    {"access", CallKind::outside},
    {"bind", CallKind::outside},
    {"listen", CallKind::outside},
    {"accept", CallKind::outside},
    {"open64", CallKind::outside},
    {"openat*", CallKind::outside},
    {"creat", CallKind::outside},
    {"read", CallKind::outside},
    {"pread*", CallKind::outside},
    {"readv", CallKind::outside},
    {"write", CallKind::outside},
    {"pwrite*", CallKind::outside},
    {"readlink*", CallKind::outside},
    {"opendir", CallKind::outside},
    {"unlink*", CallKind::outside},
    {"remove", CallKind::outside},
    {"rename", CallKind::outside},
    {"tmpfile", CallKind::outside},
    {"mkstemp*", CallKind::outside},
    {"stat", CallKind::outside},
    {"mmap*", CallKind::outside},
    {"shm_open", CallKind::outside},
    {"shmget", CallKind::outside},
    {"shmat", CallKind::outside},
    {"system", CallKind::outside},
    {"exec*", CallKind::outside},
    {"posix_spawn*", CallKind::outside},
    {"fork", CallKind::outside},
    {"vfork", CallKind::outside},
    {"clone", CallKind::outside},
    {"kill", CallKind::outside},
    {"ptrace", CallKind::outside},
    {"syscall", CallKind::outside},
    {"process_vm_*", CallKind::outside},
    {"popen", CallKind::outside},
    {"pipe*", CallKind::outside},
    {"socket*", CallKind::outside},
    {"connect", CallKind::outside},
    {"send", CallKind::outside},
    {"sendto", CallKind::outside},
    {"recv*", CallKind::outside},
    {"getaddrinfo", CallKind::outside},
    {"getenv", CallKind::outside},
    {"secure_getenv", CallKind::outside},
    {"setenv", CallKind::outside},
    {"putenv", CallKind::outside},
    {"dlopen", CallKind::outside},
    {"dlsym", CallKind::outside},
    {"dl_iterate_phdr", CallKind::outside},
    {"std::filesystem::*", CallKind::outside},
    {"std::basic_ifstream*", CallKind::outside},
    {"std::basic_ofstream*", CallKind::outside},
    {"std::basic_fstream*", CallKind::outside},
    {"std::basic_filebuf*", CallKind::outside},
    {"std::ifstream", CallKind::outside},
    {"std::ofstream", CallKind::outside},
    {"std::fstream", CallKind::outside},
    // Pointers out of nowhere: the dispatch packet, the kernel's arguments, the stack; descriptors
    // and addresses in the LDS that are vectors of numbers.
    {"__builtin_amdgcn_dispatch_ptr", CallKind::makes_pointer},
    {"__builtin_amdgcn_queue_ptr", CallKind::makes_pointer},
    {"__builtin_amdgcn_kernarg_segment_ptr", CallKind::makes_pointer},
    {"__builtin_amdgcn_implicitarg_ptr", CallKind::makes_pointer},
    {"__builtin_amdgcn_groupstaticsize", CallKind::harmless},
    {"__builtin_amdgcn_s_getpc", CallKind::makes_pointer},
    {"__builtin_amdgcn_image_bvh*", CallKind::makes_pointer},
    {"__builtin_amdgcn_ds_bvh_stack*", CallKind::makes_pointer},
    {"__builtin_amdgcn_tensor_*", CallKind::makes_pointer},
    {"__builtin_return_address", CallKind::makes_pointer},
    {"__builtin_frame_address", CallKind::makes_pointer},
    {"__builtin_extract_return_addr", CallKind::makes_pointer},
    {"__get_dynamicgroupbaseptr", CallKind::makes_pointer},
    // Barriers, and fences, which wait for nobody.
    {"__syncthreads*", CallKind::barrier},
    {"__syncwarp", CallKind::barrier},
    {"__work_group_barrier", CallKind::barrier},
    {"__barrier", CallKind::barrier},
    {"__threadfence*", CallKind::fence},
    {"__atomic_work_item_fence", CallKind::fence},
    {"__atomic_thread_fence", CallKind::fence},
    {"__atomic_signal_fence", CallKind::fence},
    {"__sync_synchronize", CallKind::fence},
    {"std::atomic_thread_fence", CallKind::fence},
    {"std::atomic_signal_fence", CallKind::fence},
    {"__builtin_amdgcn_s_barrier", CallKind::barrier},
    {"__builtin_amdgcn_s_barrier_wait", CallKind::barrier},
    {"__builtin_amdgcn_s_barrier_*", CallKind::fence},
    {"__builtin_amdgcn_wave_barrier", CallKind::barrier},
    {"__builtin_amdgcn_sched_*", CallKind::fence},
    {"__builtin_amdgcn_fence", CallKind::fence},
    {"__builtin_amdgcn_s_waitcnt*", CallKind::fence},
    {"__ockl_*grid_sync", CallKind::barrier},
    {"__ockl_grid_*", CallKind::fence},
    {"__ockl_multi_grid_*", CallKind::fence},
    {"__ockl_gws_*", CallKind::fence},
    {"cooperative_groups::sync", CallKind::barrier},
    {"cooperative_groups::grid_group::sync", CallKind::barrier},
    {"cooperative_groups::multi_grid_group::sync", CallKind::barrier},
    {"cooperative_groups::thread_block::sync", CallKind::barrier},
    {"cooperative_groups::thread_group::sync", CallKind::barrier},
    {"cooperative_groups::tiled_group::sync", CallKind::barrier},
    {"cooperative_groups::thread_block_tile::sync", CallKind::barrier},
    {"cooperative_groups::thread_block_tile_base::sync", CallKind::barrier},
    {"cooperative_groups::coalesced_group::sync", CallKind::barrier},
    // Atomics.
    {"atomic*", CallKind::atomic},
    {"safeAtomic*", CallKind::atomic},
    {"unsafeAtomic*", CallKind::atomic},
    {"__atomic_*", CallKind::atomic},
    {"__hip_atomic_*", CallKind::atomic},
    {"__opencl_atomic_*", CallKind::atomic},
    {"__scoped_atomic_*", CallKind::atomic},
    {"__c11_atomic_*", CallKind::atomic},
    {"__sync_*", CallKind::atomic},
    {"std::atomic*", CallKind::atomic},
    {"std::__atomic_*", CallKind::atomic},
    {"__builtin_amdgcn_atomic_*", CallKind::atomic},
    {"__builtin_amdgcn_global_atomic_*", CallKind::atomic},
    {"__builtin_amdgcn_flat_atomic_*", CallKind::atomic},
    {"__builtin_amdgcn_ds_atomic_*", CallKind::atomic},
    {"__builtin_amdgcn_ds_fadd*", CallKind::atomic},
    {"__builtin_amdgcn_ds_fmin*", CallKind::atomic},
    {"__builtin_amdgcn_ds_fmax*", CallKind::atomic},
    {"__builtin_amdgcn_ds_append", CallKind::atomic},
    {"__builtin_amdgcn_ds_consume", CallKind::atomic},
    // Lanes.
    {"__shfl*", CallKind::lanes},
    {"__ballot*", CallKind::lanes},
    {"__any*", CallKind::lanes},
    {"__all*", CallKind::lanes},
    {"__activemask", CallKind::lanes},
    {"__match_*", CallKind::lanes},
    {"__reduce_*_sync", CallKind::lanes},
    {"__lane_id", CallKind::harmless},
    {"__lane*", CallKind::lanes},
    {"__hip_ds_*", CallKind::lanes},
    {"__hip_move_dpp*", CallKind::lanes},
    {"__ockl_wf*", CallKind::lanes},
    {"__ockl_activelane_u32", CallKind::lanes},
    {"__builtin_amdgcn_ds_bpermute", CallKind::lanes},
    {"__builtin_amdgcn_ds_permute", CallKind::lanes},
    {"__builtin_amdgcn_ds_swizzle", CallKind::lanes},
    {"__builtin_amdgcn_mov_dpp*", CallKind::lanes},
    {"__builtin_amdgcn_update_dpp", CallKind::lanes},
    {"__builtin_amdgcn_readlane", CallKind::lanes},
    {"__builtin_amdgcn_readfirstlane", CallKind::lanes},
    {"__builtin_amdgcn_writelane", CallKind::lanes},
    {"__builtin_amdgcn_permlane*", CallKind::lanes},
    {"__builtin_amdgcn_ballot_w*", CallKind::lanes},
    {"__builtin_amdgcn_uicmp*", CallKind::lanes},
    {"__builtin_amdgcn_sicmp*", CallKind::lanes},
    {"__builtin_amdgcn_fcmp*", CallKind::lanes},
    {"__builtin_amdgcn_wqm*", CallKind::lanes},
    {"__builtin_amdgcn_read_exec*", CallKind::lanes},
    {"__builtin_amdgcn_inverse_ballot*", CallKind::lanes},
    {"__builtin_amdgcn_wave_reduce_*", CallKind::lanes},
    {"__builtin_amdgcn_mfma_*", CallKind::lanes},
    {"__builtin_amdgcn_smfmac_*", CallKind::lanes},
    {"__builtin_amdgcn_wmma_*", CallKind::lanes},
    {"__builtin_amdgcn_swmmac_*", CallKind::lanes},
    {"cooperative_groups::*::shfl*", CallKind::lanes},
    // Places of work-items.
    {"__HIP_Coordinates::*", CallKind::harmless},
    {"__builtin_amdgcn_workitem_id_*", CallKind::harmless},
    {"__builtin_amdgcn_workgroup_id_*", CallKind::harmless},
    {"__builtin_amdgcn_workgroup_size_*", CallKind::harmless},
    {"__builtin_amdgcn_grid_size_*", CallKind::harmless},
    {"__builtin_amdgcn_mbcnt_*", CallKind::harmless},
    {"__builtin_amdgcn_wavefrontsize", CallKind::harmless},
    {"__ockl_get_*", CallKind::harmless},
    {"__ockl_lane_u32", CallKind::harmless},
    // Arithmetic of the device.
    {"__ocml_*", CallKind::harmless},
    {"__llvm_amdgcn_rcp*", CallKind::harmless},
    {"__llvm_amdgcn_sqrt*", CallKind::harmless},
    {"__llvm_amdgcn_rsq*", CallKind::harmless},
    {"__ockl_clz_*", CallKind::harmless},
    {"__ockl_ctz_*", CallKind::harmless},
    {"__ockl_popcount_*", CallKind::harmless},
    {"__ockl_mul*", CallKind::harmless},
    {"__ockl_fdot2", CallKind::harmless},
    {"__ockl_sdot*", CallKind::harmless},
    {"__ockl_udot*", CallKind::harmless},
    {"__ockl_sadd_sat*", CallKind::harmless},
    {"__ockl_image_load*", CallKind::harmless},
    {"__ockl_image_sample*", CallKind::harmless},
    {"__builtin_amdgcn_rcp*", CallKind::harmless},
    {"__builtin_amdgcn_sqrt*", CallKind::harmless},
    {"__builtin_amdgcn_rsq*", CallKind::harmless},
    {"__builtin_amdgcn_sin*", CallKind::harmless},
    {"__builtin_amdgcn_cos*", CallKind::harmless},
    {"__builtin_amdgcn_exp2*", CallKind::harmless},
    {"__builtin_amdgcn_log*", CallKind::harmless},
    {"__builtin_amdgcn_fract*", CallKind::harmless},
    {"__builtin_amdgcn_ldexp*", CallKind::harmless},
    {"__builtin_amdgcn_frexp*", CallKind::harmless},
    {"__builtin_amdgcn_fmed3*", CallKind::harmless},
    {"__builtin_amdgcn_fmul_legacy", CallKind::harmless},
    {"__builtin_amdgcn_fma_legacy", CallKind::harmless},
    {"__builtin_amdgcn_div_*", CallKind::harmless},
    {"__builtin_amdgcn_class*", CallKind::harmless},
    {"__builtin_amdgcn_fdot2*", CallKind::harmless},
    {"__builtin_amdgcn_sdot*", CallKind::harmless},
    {"__builtin_amdgcn_udot*", CallKind::harmless},
    {"__builtin_amdgcn_sudot*", CallKind::harmless},
    {"__builtin_amdgcn_dot*", CallKind::harmless},
    {"__builtin_amdgcn_perm", CallKind::harmless},
    {"__builtin_amdgcn_align*", CallKind::harmless},
    {"__builtin_amdgcn_sad_*", CallKind::harmless},
    {"__builtin_amdgcn_msad_*", CallKind::harmless},
    {"__builtin_amdgcn_ubfe", CallKind::harmless},
    {"__builtin_amdgcn_sbfe", CallKind::harmless},
    {"__builtin_amdgcn_lerp", CallKind::harmless},
    {"__builtin_amdgcn_cvt_*", CallKind::harmless},
    {"__builtin_amdgcn_cube*", CallKind::harmless},
    {"__builtin_amdgcn_s_setprio", CallKind::harmless},
    {"__builtin_amdgcn_s_sleep", CallKind::harmless},
    {"__builtin_amdgcn_iglp_opt", CallKind::harmless},
    {"__builtin_amdgcn_is_shared", CallKind::harmless},
    {"__builtin_amdgcn_is_private", CallKind::harmless},
    // Clang's own.
    {"__builtin_expect*", CallKind::harmless},
    {"__builtin_assume*", CallKind::harmless},
    {"__builtin_unreachable", CallKind::harmless},
    {"__builtin_unpredictable", CallKind::harmless},
    {"__builtin_constant_p", CallKind::harmless},
    {"__builtin_is_constant_evaluated", CallKind::harmless},
    {"__builtin_prefetch", CallKind::harmless},
    {"__builtin_nontemporal_*", CallKind::harmless},
    {"__builtin_shufflevector", CallKind::harmless},
    {"__builtin_convertvector", CallKind::harmless},
    {"__builtin_bit_cast", CallKind::harmless},
    {"__builtin_bitreverse*", CallKind::harmless},
    {"__builtin_bswap*", CallKind::harmless},
    {"__builtin_rotate*", CallKind::harmless},
    {"__builtin_clz*", CallKind::harmless},
    {"__builtin_ctz*", CallKind::harmless},
    {"__builtin_ffs*", CallKind::harmless},
    {"__builtin_popcount*", CallKind::harmless},
    {"__builtin_parity*", CallKind::harmless},
    {"__builtin_clrsb*", CallKind::harmless},
    {"__builtin_*_overflow", CallKind::harmless},
    {"__builtin_elementwise_*", CallKind::harmless},
    {"__builtin_reduce_*", CallKind::harmless},
    {"__builtin_memcpy*", CallKind::harmless},
    {"__builtin_memset*", CallKind::harmless},
    {"__builtin_memmove", CallKind::harmless},
    {"__builtin_huge_val*", CallKind::harmless},
    {"__builtin_inf*", CallKind::harmless},
    {"__builtin_nan*", CallKind::harmless},
    {"__builtin_isnan", CallKind::harmless},
    {"__builtin_isinf*", CallKind::harmless},
    {"__builtin_isfinite", CallKind::harmless},
    {"__builtin_isnormal", CallKind::harmless},
    {"__builtin_signbit*", CallKind::harmless},
    {"__builtin_fpclassify", CallKind::harmless},
    {"__builtin_addressof", CallKind::harmless},
    {"__builtin_launder", CallKind::harmless},
    // SIMD of the host, but for its control register and random numbers.
    {"__builtin_ia32_ldmxcsr", CallKind::unknown},
    {"__builtin_ia32_stmxcsr", CallKind::unknown},
    {"__builtin_ia32_rd*", CallKind::unknown},
    {"__builtin_ia32_wr*", CallKind::unknown},
    {"__builtin_ia32_x*", CallKind::unknown},
    {"__builtin_ia32_f*", CallKind::unknown},
    {"__builtin_ia32_clflush*", CallKind::unknown},
    {"__builtin_ia32_*", CallKind::harmless},
    {"_mm_getcsr", CallKind::unknown},
    {"_mm_setcsr", CallKind::unknown},
    {"_mm_clflush*", CallKind::unknown},
    {"_mm_malloc", CallKind::unknown},
    {"_mm_free", CallKind::unknown},
    {"_mm_*", CallKind::harmless},
    {"_mm256_*", CallKind::harmless},
    {"_mm512_*", CallKind::harmless},
    // HIP: vectors, bits, conversions, read-only loads.
    {"make_char*", CallKind::harmless},
    {"make_uchar*", CallKind::harmless},
    {"make_short*", CallKind::harmless},
    {"make_ushort*", CallKind::harmless},
    {"make_int*", CallKind::harmless},
    {"make_uint*", CallKind::harmless},
    {"make_long*", CallKind::harmless},
    {"make_ulong*", CallKind::harmless},
    {"make_longlong*", CallKind::harmless},
    {"make_ulonglong*", CallKind::harmless},
    {"make_float*", CallKind::harmless},
    {"make_double*", CallKind::harmless},
    {"make_hip*Complex", CallKind::harmless},
    {"hipCabs*", CallKind::harmless},
    {"hipCadd*", CallKind::harmless},
    {"hipCdiv*", CallKind::harmless},
    {"hipCfma*", CallKind::harmless},
    {"hipCimag*", CallKind::harmless},
    {"hipCmul*", CallKind::harmless},
    {"hipConj*", CallKind::harmless},
    {"hipCreal*", CallKind::harmless},
    {"hipCs*", CallKind::harmless},  // hipCsqabs, hipCsub
    {"hipComplex*", CallKind::harmless},
    {"HIP_vector_type::*", CallKind::harmless},
    {"HIP_vector_base::*", CallKind::harmless},
    {"__ldg", CallKind::harmless},
    {"__ldc*", CallKind::harmless},
    {"__popc*", CallKind::harmless},
    {"__clz*", CallKind::harmless},
    {"__ffs*", CallKind::harmless},
    {"__brev*", CallKind::harmless},
    {"__byte_perm", CallKind::harmless},
    {"__funnelshift_*", CallKind::harmless},
    {"__bitextract_*", CallKind::harmless},
    {"__bitinsert_*", CallKind::harmless},
    {"__hadd*", CallKind::harmless},
    {"__rhadd", CallKind::harmless},
    {"__uhadd", CallKind::harmless},
    {"__urhadd", CallKind::harmless},
    {"__usad", CallKind::harmless},
    {"__sad", CallKind::harmless},
    {"__mul24", CallKind::harmless},
    {"__umul24", CallKind::harmless},
    {"__mulhi", CallKind::harmless},
    {"__umulhi", CallKind::harmless},
    {"__mul64hi", CallKind::harmless},
    {"__umul64hi", CallKind::harmless},
    {"amd_mixed_dot", CallKind::harmless},
    {"__half::*", CallKind::harmless},
    {"__half2::*", CallKind::harmless},
    {"__half_raw::*", CallKind::harmless},
    {"hip_bfloat16::*", CallKind::harmless},
    {"__hip_bfloat16::*", CallKind::harmless},
    // Copies.
    {"memcpy", CallKind::harmless},
    {"memset", CallKind::harmless},
    {"memmove", CallKind::harmless},
    {"std::memcpy", CallKind::harmless},
    {"std::memset", CallKind::harmless},
    {"std::memmove", CallKind::harmless}};

// Builtins of the processor that reach beyond what they are given: messages, traps, jumps, modes of
// arithmetic and other registers of a wave, counters and traces, which dispatch it is, semaphores
// and memory of the whole GPU, parameters that graphics leaves in the LDS.
constexpr std::string_view kReachingBuiltins[] = {
    "s_sendmsg*", "s_setreg*",   "s_sethalt",     "s_trap*",   "*trap*",       "s_rfe*",
    "s_call*",    "s_set*pc*",   "s_swap*pc*",    "s_alloc_*", "s_ttrace*",    "s_*perflevel",
    "get_fpenv*", "set_fpenv*",  "*dispatch_id*", "ds_gws_*",  "ds_ordered_*", "*gds*",
    "interp_*",   "lds_direct*", "lds_param*",    "exp_*"};

// Functions of <cmath>, <math.h> and HIP's math API, and std's small helpers; likewise in std, with
// an 'f' or 'l' behind, as __builtin_... and with the device's suffixes for how a result is
// rounded.
constexpr std::string_view kMathNames[] = {
    "abs",       "acos",     "acosh",       "asin",        "asinh",     "atan",      "atan2",
    "atanh",     "cbrt",     "ceil",        "copysign",    "cos",       "cosh",      "cospi",
    "erf",       "erfc",     "erfcinv",     "erfcx",       "erfinv",    "exp",       "exp10",
    "exp2",      "expm1",    "fabs",        "fdim",        "fdivide",   "floor",     "fma",
    "fmax",      "fmin",     "fmod",        "frexp",       "hypot",     "ilogb",     "isfinite",
    "isinf",     "isnan",    "isnormal",    "isless",      "isgreater", "j0",        "j1",
    "jn",        "labs",     "ldexp",       "lgamma",      "llabs",     "llrint",    "llround",
    "log",       "log10",    "log1p",       "log2",        "logb",      "lrint",     "lround",
    "max",       "min",      "modf",        "nan",         "nearbyint", "nextafter", "norm",
    "norm3d",    "norm4d",   "normcdf",     "normcdfinv",  "pow",       "powi",      "rcbrt",
    "remainder", "remquo",   "rhypot",      "rint",        "rnorm",     "rnorm3d",   "rnorm4d",
    "round",     "rsqrt",    "saturate",    "scalbln",     "scalbn",    "signbit",   "sin",
    "sincos",    "sincospi", "sinh",        "sinpi",       "sqrt",      "tan",       "tanh",
    "tgamma",    "trunc",    "umin",        "umax",        "llmin",     "llmax",     "ullmin",
    "ullmax",    "y0",       "y1",          "yn",          "clamp",     "lerp",      "midpoint",
    "swap",      "move",     "forward",     "exchange",    "declval",   "as_const",  "addressof",
    "bit_cast",  "popcount", "countl_zero", "countr_zero", "rotl",      "rotr",      "div"};

constexpr std::string_view kRoundedMath[] = {"add", "sub", "mul", "div", "fma", "rcp", "sqrt"};
constexpr std::string_view kFastMath[] = {"cosf",  "exp10f",    "expf",     "fdividef", "log10f",
                                          "log2f", "logf",      "powf",     "sinf",     "sincosf",
                                          "tanf",  "saturatef", "frsqrt_rn"};
constexpr std::string_view kConversionSources[] = {"float",
                                                   "double",
                                                   "int",
                                                   "uint",
                                                   "ll",
                                                   "ull",
                                                   "half",
                                                   "half2",
                                                   "hiloint",
                                                   "short",
                                                   "ushort",
                                                   "longlong",
                                                   "lowhigh2highlow",
                                                   "low2half",
                                                   "high2half",
                                                   "halves2half2"};

/// '*' in a pattern: anything. Patterns are short and have few of them.
bool fits(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  name.remove_prefix(star);
  if (pattern.empty()) return true;
  for (std::size_t skip = 0; skip <= name.size(); ++skip)
    if (fits(pattern, name.substr(skip))) return true;
  return false;
}

template <class Names>
bool has(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != std::ranges::end(names);
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
  return std::ranges::any_of(kReachingBuiltins,
                             [&](std::string_view pattern) { return fits(pattern, name); })
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
         std::ranges::any_of(
             std::initializer_list<std::string_view>{"hadd", "hsub", "hmul", "hdiv", "hfma", "hneg",
                                                     "habs", "heq", "hne", "hlt", "hle", "hgt",
                                                     "hge", "hmax", "hmin", "hisnan", "hisinf"},
             [&](std::string_view stem) { return name.starts_with(stem); });
}

}  // namespace

CallKind kind_of_call(std::string_view qualified) {
  if (qualified.starts_with("::")) qualified.remove_prefix(2);
  std::string_view plain = qualified;
  if (plain.starts_with("std::")) plain.remove_prefix(5);
  const auto* const rule = std::ranges::find_if(kNameRules, [&](const NameRule& r) {
    const bool everywhere = r.kind == CallKind::clock || r.kind == CallKind::outside;
    return fits(r.name, qualified) || (everywhere && fits(r.name, plain));
  });
  if (rule != std::ranges::end(kNameRules)) return rule->kind;
  constexpr std::string_view kProcessor = "__builtin_amdgcn_";
  if (qualified.starts_with(kProcessor))
    return kind_of_processor_builtin(qualified.substr(kProcessor.size()));
  if (is_math(qualified) || is_device_math(qualified)) return CallKind::harmless;
  return CallKind::unknown;
}

bool is_index_variable(std::string_view qualified) {
  constexpr std::string_view kNames[] = {
      "threadIdx", "blockIdx",       "blockDim",      "gridDim",
      "warpSize",  "hipThreadIdx_x", "hip_host::item"};  // examples/host
  // HIP's headers before 6.0 keep threadIdx.x and its like there.
  return has(kNames, qualified) || qualified.starts_with("__HIP_Coordinates::");
}

bool is_plain_attribute(std::string_view name) {
  constexpr std::string_view kNames[] = {"launch_bounds",
                                         "amdgpu_waves_per_eu",
                                         "amdgpu_flat_work_group_size",
                                         "amdgpu_num_vgpr",
                                         "amdgpu_num_sgpr",
                                         "amdgpu_num_work_groups",
                                         "amdgpu_max_num_work_groups",
                                         "aligned",
                                         "always_inline",
                                         "assume",
                                         "assume_aligned",
                                         "cold",
                                         "device",
                                         "ext_vector_type",
                                         "fallthrough",
                                         "flatten",
                                         "global",
                                         "host",
                                         "hot",
                                         "likely",
                                         "maybe_unused",
                                         "may_alias",
                                         "noinline",
                                         "nounroll",
                                         "opencl_unroll_hint",
                                         "packed",
                                         "shared",
                                         "unlikely",
                                         "unused",
                                         "vector_size"};
  return has(kNames, name);
}

}  // namespace perflab::optimize
