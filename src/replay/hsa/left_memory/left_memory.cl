// What overwrites whatever earlier launches left in a GPU: LDS, registers and scratch. Built for
// every AMD architecture of the tables by scripts/left-memory-objects, with WAVES waves to a
// work-group and REGISTERS vector registers of each, which together are all that a CU has. One
// value goes everywhere.
#define GROUP (WAVES * __AMDGCN_WAVEFRONT_SIZE__)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || \
    defined(__gfx942__)
#define ACCUMULATORS 1
#endif

// 6400 clocks: so long that work-groups lie beside each other, on all CUs, not after another.
#define STAY 100

// Address 0 of LDS or scratch, of which the compiler must not know that it is 0: in these address
// spaces a pointer made of the constant is the null pointer, which is -1.
static uint first_address(void) {
  uint zero = 0;
  __asm__ volatile("" : "+s"(zero));
  return zero;
}

// A work-group fills the LDS and all vector registers of a CU, so that it has it for itself. Of the
// registers that are written, only the highest are named: they set how many are allocated, and
// nothing follows that needs the others. (v255 is the compiler's own on gfx908.)
__attribute__((amdgpu_flat_work_group_size(GROUP, GROUP)))
kernel void left_memory_registers(uint pattern, uint lds_words) {
  volatile local uint* lds = (volatile local uint*)first_address();
  for (uint i = __builtin_amdgcn_workitem_id_x(); i < lds_words; i += GROUP) lds[i] = pattern;
  __builtin_amdgcn_s_sleep(STAY);
  __asm__ volatile(
      ".set at, 34\n .rept 62\n s_mov_b32 s[at], %0\n .set at, at + 1\n .endr\n"
      ".set at, 0\n .rept " TEXT(REGISTERS) "\n v_mov_b32 v[at], %0\n .set at, at + 1\n .endr\n"
#ifdef ACCUMULATORS
      ".set at, 0\n .rept 256\n v_accvgpr_write_b32 a[at], v0\n .set at, at + 1\n .endr\n"
#endif
      :
      : "s"(pattern)
#ifdef ACCUMULATORS
      : "s95", "v254", "a255");
#else
      : "s95", HIGHEST);
#endif
}

// Every work-item fills its scratch; as many waves as a CU holds.
__attribute__((amdgpu_flat_work_group_size(256, 256)))
kernel void left_memory_scratch(uint pattern, uint scratch_words) {
  volatile uint own = pattern;  // tells the compiler that there is scratch
  volatile private uint* scratch = (volatile private uint*)first_address();
  for (uint i = 0; i < scratch_words; ++i) scratch[i] = pattern;
  __builtin_amdgcn_s_sleep(STAY);
}
