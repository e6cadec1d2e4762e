// Kernels whose limit, or whose counted work, is known by construction.
//     nvcc -O2 -std=c++17 -arch=native limits.cu -o limits && ./limits copy
// Limits: copy, fma, tensor, chase, divergence, one_block, storm. Work for counters: work_copy,
// work_fp32, work_fp64, work_fp16x2, work_wmma. `all`, `work`: every one of a group.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "zoo.h"

namespace {

constexpr std::size_t kCopyBytes = std::size_t{256} << 20;

// Inline PTX, so that neither compiler changes what is counted.
__device__ void ffma(float& x, float a, float b) {
  asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
}

}  // namespace

/// Reads and writes 16 bytes per thread once: bound by DRAM.
__global__ void limit_copy(const float4* __restrict__ from, float4* __restrict__ to) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  to[i] = from[i];
}

/// Eight independent chains of FP32 multiply-adds: bound by the FP32 pipe.
__global__ void limit_fma(float* out, int rounds, float a, float b) {
  float x[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(threadIdx.x + i);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 64; ++i) ffma(x[i % 8], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += x[i];
  out[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

/// Four independent 16x16x16 products per round from registers: bound by the tensor cores.
__global__ void limit_tensor(float* out, int rounds) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
  wmma::fill_fragment(a, __float2half(0.001F * static_cast<float>(threadIdx.x % 32)));
  wmma::fill_fragment(b, __float2half(0.002F * static_cast<float>(blockIdx.x % 64)));
#pragma unroll
  for (int i = 0; i < 4; ++i) wmma::fill_fragment(sums[i], 0.0F);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 4; ++i) wmma::mma_sync(sums[i], a, b, sums[i]);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += sums[i].x[0];
  out[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}

/// next[i] is the successor of i in one cycle over all entries (a generator of full period).
__global__ void make_chase(unsigned* next, unsigned entries) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = (i * 1664525U + 1013904223U) & (entries - 1);
}

/// One dependent load after the other, one chain per warp: bound by latency, though every SM is
/// full of warps and the memory has little to do.
__global__ void limit_chase(const unsigned* __restrict__ next, unsigned* out, int steps) {
  const unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned at = warp * 7919U;
  for (int step = 0; step < steps; ++step) at = next[at];
  if (threadIdx.x % 32 == 0) out[warp] = at;
}

/// Every lane of a warp takes its own path: one lane of 32 works.
__global__ void limit_divergence(float* out, int rounds, float a, float b) {
  float x = static_cast<float>(threadIdx.x);
  for (int round = 0; round < rounds; ++round) {
    for (int lane = 0; lane < 32; ++lane) {
      if (lane == static_cast<int>(threadIdx.x % 32)) {
#pragma unroll
        for (int i = 0; i < 32; ++i) ffma(x, a, b + static_cast<float>(lane));
      }
    }
  }
  out[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = x;
}

/// limit_fma's loop in one block: one SM works, the others have nothing.
__global__ void limit_one_block(float* out, int rounds, float a, float b) {
  float x[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(threadIdx.x + i);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < 64; ++i) ffma(x[i % 8], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += x[i];
  out[threadIdx.x] = sum;
}

/// Next to nothing: the launches are the work.
__global__ void limit_storm(float* out) {
  if (threadIdx.x == 0) out[blockIdx.x] += 1.0F;
}

/// 100 FFMA, 50 FADD and 25 FMUL per thread.
__global__ void work_fp32(float* out, float a, float b) {
  float x = static_cast<float>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < 100; ++i) ffma(x, a, b);
#pragma unroll
  for (int i = 0; i < 50; ++i) asm volatile("add.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(a));
#pragma unroll
  for (int i = 0; i < 25; ++i) asm volatile("mul.rn.f32 %0, %0, %1;" : "+f"(x) : "f"(b));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/// 100 DFMA per thread.
__global__ void work_fp64(double* out, double a, double b) {
  double x = a;
#pragma unroll
  for (int i = 0; i < 100; ++i)
    asm volatile("fma.rn.f64 %0, %0, %1, %2;" : "+d"(x) : "d"(a), "d"(b));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/// 100 HFMA2 per thread.
__global__ void work_fp16x2(unsigned* out, unsigned a, unsigned b) {
  unsigned x = a;
#pragma unroll
  for (int i = 0; i < 100; ++i)
    asm volatile("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(x) : "r"(a), "r"(b));
  out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

/// 100 products of 16x16x16 per warp, FP16 to FP32.
__global__ void work_wmma(const half* in, float* out) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::load_matrix_sync(a, in, 16);
  wmma::load_matrix_sync(b, in, 16);
  wmma::fill_fragment(sum, 0.0F);
#pragma unroll 10
  for (int i = 0; i < 100; ++i) wmma::mma_sync(sum, a, b, sum);
  wmma::store_matrix_sync(out + static_cast<std::size_t>(blockIdx.x) * 256, sum, 16,
                          wmma::mem_row_major);
}

namespace {

/// Device memory, set to zero.
class Memory {
 public:
  explicit Memory(std::size_t bytes) {
    CALL(cudaMalloc(&data_, bytes));
    CALL(cudaMemset(data_, 0, bytes));
    zoo::count("fills");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { CALL(cudaFree(data_)); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};

int processors() {
  int count = 0;
  CALL(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

/// Launches `repeats` times and waits.
void repeat(long repeats, const std::function<void()>& launch) {
  for (long i = 0; i < repeats; ++i) {
    launch();
    zoo::launched();
  }
  CALL(cudaDeviceSynchronize());
}

void copy(long repeats) {
  const Memory from(kCopyBytes);
  const Memory to(kCopyBytes);
  repeat(repeats,
         [&] { limit_copy<<<kCopyBytes / 16 / 256, 256>>>(from.as<float4>(), to.as<float4>()); });
}

void fma(long repeats) {
  const int blocks = processors() * 8;
  const Memory out(static_cast<std::size_t>(blocks) * 256 * sizeof(float));
  repeat(repeats, [&] { limit_fma<<<blocks, 256>>>(out.as<float>(), 400, 0.999F, 0.5F); });
}

void tensor(long repeats) {
  const int blocks = processors() * 8;
  const Memory out(static_cast<std::size_t>(blocks) * 256 * sizeof(float));
  repeat(repeats, [&] { limit_tensor<<<blocks, 256>>>(out.as<float>(), 1000); });
}

void chase(long repeats) {
  constexpr unsigned kEntries = 1U << 26;  // 256 MiB: several times the L2
  const Memory next(std::size_t{kEntries} * sizeof(unsigned));
  const int blocks = processors() * 8;
  const Memory out(static_cast<std::size_t>(blocks) * 8 * sizeof(unsigned));
  make_chase<<<kEntries / 256, 256>>>(next.as<unsigned>(), kEntries);
  zoo::launched();
  repeat(repeats,
         [&] { limit_chase<<<blocks, 256>>>(next.as<unsigned>(), out.as<unsigned>(), 1000); });
}

void divergence(long repeats) {
  const int blocks = processors() * 8;
  const Memory out(static_cast<std::size_t>(blocks) * 256 * sizeof(float));
  repeat(repeats, [&] { limit_divergence<<<blocks, 256>>>(out.as<float>(), 10, 0.999F, 0.5F); });
}

void one_block(long repeats) {
  const Memory out(1024 * sizeof(float));
  repeat(repeats, [&] { limit_one_block<<<1, 1024>>>(out.as<float>(), 400, 0.999F, 0.5F); });
}

void storm(long repeats) {
  const Memory out(4096);
  repeat(repeats * 100, [&] { limit_storm<<<1, 32>>>(out.as<float>()); });
}

// Each kernel of known work runs once: counters are of one dispatch.
void known_copy(long) {
  copy(1);
  const double bytes = kCopyBytes;
  zoo::expect("limit_copy", "dram__bytes_read.sum", bytes, 0.01);
  zoo::expect("limit_copy", "dram__bytes_write.sum", bytes, 0.03);  // the rest is dirty in the L2
  zoo::expect("limit_copy", "lts__t_sectors_srcunit_tex.sum", 2 * bytes / 32, 0);
  zoo::expect("limit_copy", "l1tex__t_bytes.sum", 2 * bytes, 0);
}

constexpr int kWorkBlocks = 500;
constexpr double kWorkThreads = kWorkBlocks * 256;  // 128 000

void known_fp32(long) {
  const Memory out(kWorkBlocks * 256 * sizeof(float));
  repeat(1, [&] { work_fp32<<<kWorkBlocks, 256>>>(out.as<float>(), 0.999F, 0.5F); });
  zoo::expect("work_fp32", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
              100 * kWorkThreads, 0);
  zoo::expect("work_fp32", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", 50 * kWorkThreads,
              0);
  zoo::expect("work_fp32", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", 25 * kWorkThreads,
              0);
}

void known_fp64(long) {
  const Memory out(kWorkBlocks * 256 * sizeof(double));
  repeat(1, [&] { work_fp64<<<kWorkBlocks, 256>>>(out.as<double>(), 0.999, 0.5); });
  zoo::expect("work_fp64", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
              100 * kWorkThreads, 0);
}

void known_fp16x2(long) {
  const Memory out(kWorkBlocks * 256 * sizeof(unsigned));
  // 0x3800: 0.5. The compiler may load a constant with one more HFMA2 per thread.
  repeat(1,
         [&] { work_fp16x2<<<kWorkBlocks, 256>>>(out.as<unsigned>(), 0x38003800U, 0x38003800U); });
  zoo::expect("work_fp16x2", "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
              100 * kWorkThreads, 0, kWorkThreads);
}

void known_wmma(long) {
  const Memory in(512);
  const Memory out(1000 * 256 * sizeof(float));
  repeat(1, [&] { work_wmma<<<1000, 32>>>(in.as<half>(), out.as<float>()); });
  zoo::expect("work_wmma", "sm__ops_path_tensor_src_fp16.sum", 1000.0 * 100 * 2 * 16 * 16 * 16, 0);
  // Two HMMA per product, and what the compiler's HFMA2 add to this pipe.
  zoo::expect("work_wmma", "sm__inst_executed_pipe_tensor_op_hmma.sum", 200000, 0, 4000);
}

using Program = std::pair<const char*, void (*)(long)>;
constexpr Program kPrograms[] = {
    {"copy", copy},
    {"fma", fma},
    {"tensor", tensor},
    {"chase", chase},
    {"divergence", divergence},
    {"one_block", one_block},
    {"storm", storm},
    {"work_copy", known_copy},
    {"work_fp32", known_fp32},
    {"work_fp64", known_fp64},
    {"work_fp16x2", known_fp16x2},
    {"work_wmma", known_wmma},
};

}  // namespace

int main(int argc, char** argv) {
  const char* wanted = argc > 1 ? argv[1] : "";
  bool found = false;
  for (const auto& [name, run] : kPrograms) {
    const bool work = std::strncmp(name, "work_", 5) == 0;
    const bool group = std::strcmp(wanted, work ? "work" : "all") == 0;
    if (!group && std::strcmp(wanted, name) != 0) continue;
    found = true;
    run(zoo::number(argc, argv, 2, 20));
  }
  if (!found) {
    std::fprintf(stderr, "usage: limits NAME|all|work [REPEATS]; names:");
    for (const auto& [name, run] : kPrograms) std::fprintf(stderr, " %s", name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  zoo::say();
  return 0;
}
