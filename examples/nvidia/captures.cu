// Launches that are hard to capture and replay, each with memory of another kind, and a check of
// its own result: exit code 1 says that it is wrong.
//     nvcc -O2 -std=c++17 -arch=native captures.cu -lcuda -o captures && ./captures list
// list, shared, counter, inplace [MiB], sparse [MiB], mixed, cooperative, cluster, large [MiB]: each
// launches the kernel of its name three times. copy [MiB [FILE]] copies memory to a file instead.
#include <cooperative_groups.h>
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}
#define MUST(call) must((call), #call)

void must_driver(CUresult answer, const char* what) {
  if (answer == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %d\n", what, static_cast<int>(answer));
  std::exit(3);
}

constexpr int kLaunches = 3;
constexpr unsigned kThreads = 256;

template <class T>
T* device(std::size_t count) {
  T* made = nullptr;
  MUST(cudaMalloc(&made, count * sizeof(T)));
  return made;
}

unsigned blocks(std::size_t count) {
  return static_cast<unsigned>((count + kThreads - 1) / kThreads);
}

bool equal(double found, double expected, const char* what) {
  if (found == expected) return true;
  std::fprintf(stderr, "%s: %.17g instead of %.17g\n", what, found, expected);
  return false;
}

}  // namespace

/// A node of a list whose nodes are allocations of their own.
struct Node {
  Node* next;
  unsigned count;
  unsigned value[1];
};

/// Follows the list and adds 1 to the first value of each node, 3 to every value of every tenth.
__global__ void list(Node* head) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned number = 0;
  for (Node* node = head; node != nullptr; node = node->next, ++number) {
    if (i == 0) node->value[0] += 1;
    if (number % 10 == 9 && i > 0 && i < node->count) node->value[i] += 3;
  }
}

__constant__ float factors[64];
__device__ unsigned long long visits;
__device__ float offsets[1024];

/// Reverses within a block through 100 000 bytes of dynamic shared memory, with a factor and an
/// offset from variables of the module.
__global__ void shared(float* x) {
  extern __shared__ float tile[];
  constexpr unsigned kTile = 25'000;
  float* const mine = x + static_cast<std::size_t>(blockIdx.x) * kTile;
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x) tile[i] = mine[i];
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kTile; i += blockDim.x)
    mine[i] = tile[kTile - 1 - i] * factors[i % 64] + offsets[i % 1024];
  if (threadIdx.x == 0) atomicAdd(&visits, 1ULL);
}

/// Counts matches with an atomic in memory, and writes where a pointer in memory leads.
__global__ void counter(const unsigned* in, unsigned n, unsigned* count, unsigned** where) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (in[i] % 7 == 0) atomicAdd(count, 1U);
  (*where)[i] += in[i];
}

/// x = x * 1.5 + 1, in place.
__global__ void inplace(float* x, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 1.5F + 1.0F;
}

/// Adds 1 to one page of 4 KiB in a hundred.
__global__ void sparse(float* x, std::size_t n) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * 100 * 1024 + threadIdx.x * 4;
  for (std::size_t k = i; k < i + 4; ++k)
    if (k < n) x[k] += 1;
}

/// Adds memory of four kinds into the last, and what a pointer to a variable of the module holds.
__global__ void mixed(const float* pooled, const float* managed, const float* pinned, float* mapped,
                      const float* const* variable, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) mapped[i] += pooled[i] + managed[i] + pinned[i] + (*variable)[i % 1024];
}

/// Each block adds up its part, then, when all have, the first one adds up the sums.
__global__ void cooperative(const float* x, unsigned n, float* sums) {
  auto grid = cooperative_groups::this_grid();
  __shared__ float part[kThreads];
  float sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += x[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float all = 0;
    for (const float one : part) all += one;
    sums[1 + blockIdx.x] = all;
  }
  grid.sync();
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  float all = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) all += sums[1 + block];
  sums[0] += all;
}

/// Blocks of a cluster of 4 read each other's shared memory.
__global__ void cluster(float* x) {
  auto group = cooperative_groups::this_cluster();
  __shared__ float mine[kThreads];
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  mine[threadIdx.x] = x[i];
  group.sync();
  const float* const next =
      group.map_shared_rank(mine, (group.block_rank() + 1) % group.num_blocks());
  x[i] += next[threadIdx.x];
  group.sync();
}

/// One sum of each 1024 numbers of a large input.
__global__ void large(const float* x, std::size_t n, float* sums) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n / 1024) return;
  float sum = 0;
  for (unsigned k = 0; k < 1024; ++k) sum += x[k * (n / 1024) + i];
  sums[i] += sum;
}

/// Inputs of others: the first is `value`. Noise does not compress, and no page is like another.
__global__ void fill(float* x, std::size_t n, float value, bool noise) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto hash = static_cast<std::uint32_t>((i * 0x9e3779b97f4a7c15ULL) >> 40U);
  if (i < n) x[i] = value + (noise ? static_cast<float>(hash) * 0x1p-24F : static_cast<float>(i % 3));
}

namespace {

template <class T>
T value_at(const T* address) {
  T value{};
  MUST(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDefault));
  return value;
}

float* filled(std::size_t n, float value, bool noise = false) {
  float* const x = device<float>(n);
  fill<<<blocks(n), kThreads>>>(x, n, value, noise);
  return x;
}

bool run_list() {
  constexpr unsigned kNodes = 50;
  std::vector<Node*> nodes(kNodes);
  for (unsigned i = 0; i < kNodes; ++i) {
    const std::size_t bytes = sizeof(Node) + (std::size_t{1} << (i % 19)) * sizeof(unsigned);
    MUST(cudaMalloc(&nodes[i], bytes));
    MUST(cudaMemset(nodes[i], 0, bytes));
  }
  for (unsigned i = 0; i < kNodes; ++i) {
    const Node head{i + 1 < kNodes ? nodes[i + 1] : nullptr, 1U << (i % 19), {i}};
    MUST(cudaMemcpy(nodes[i], &head, sizeof head, cudaMemcpyHostToDevice));
  }
  for (int launch = 0; launch < kLaunches; ++launch) list<<<64, kThreads>>>(nodes[0]);
  MUST(cudaDeviceSynchronize());
  Node last{};
  MUST(cudaMemcpy(&last, nodes[kNodes - 1], sizeof last, cudaMemcpyDeviceToHost));
  return equal(last.value[0], kNodes - 1 + kLaunches, "list");
}

bool run_shared() {
  constexpr unsigned kBlocks = 200, kTile = 25'000;
  constexpr int kShared = 100'000;
  std::vector<float> numbers(1024, 0.5F);
  MUST(cudaMemcpyToSymbol(offsets, numbers.data(), sizeof offsets));
  numbers.assign(64, 2.0F);
  MUST(cudaMemcpyToSymbol(factors, numbers.data(), sizeof factors));
  float* const x = filled(std::size_t{kBlocks} * kTile, 1);
  MUST(cudaFuncSetAttribute(shared, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared));
  for (int launch = 0; launch < kLaunches; ++launch) shared<<<kBlocks, 1024, kShared>>>(x);
  MUST(cudaDeviceSynchronize());
  unsigned long long seen = 0;
  MUST(cudaMemcpyFromSymbol(&seen, visits, sizeof seen));
  return equal(static_cast<double>(seen), kBlocks * kLaunches, "shared");
}

bool run_counter() {
  constexpr unsigned kCount = 1U << 20;
  std::vector<unsigned> in(kCount);
  unsigned expected = 0;
  for (unsigned i = 0; i < kCount; ++i) in[i] = i * 2654435761U;
  for (const unsigned one : in) expected += one % 7 == 0 ? kLaunches : 0;
  unsigned* const numbers = device<unsigned>(kCount);
  unsigned* const out = device<unsigned>(kCount);
  unsigned* const count = device<unsigned>(1);
  unsigned** const where = device<unsigned*>(1);
  MUST(cudaMemcpy(numbers, in.data(), kCount * sizeof(unsigned), cudaMemcpyHostToDevice));
  MUST(cudaMemset(out, 0, kCount * sizeof(unsigned)));
  MUST(cudaMemset(count, 0, sizeof(unsigned)));
  MUST(cudaMemcpy(where, &out, sizeof out, cudaMemcpyHostToDevice));
  for (int launch = 0; launch < kLaunches; ++launch)
    counter<<<blocks(kCount), kThreads>>>(numbers, kCount, count, where);
  MUST(cudaDeviceSynchronize());
  return equal(value_at(count), expected, "counter");
}

bool run_inplace(std::size_t mib) {
  const std::size_t n = mib << 18U;
  float* const x = filled(n, 1, true);
  for (int launch = 0; launch < kLaunches; ++launch) inplace<<<blocks(n), kThreads>>>(x, n);
  MUST(cudaDeviceSynchronize());
  return equal(value_at(x), ((1 * 1.5 + 1) * 1.5 + 1) * 1.5 + 1, "inplace");
}

bool run_sparse(std::size_t mib) {
  const std::size_t n = mib << 18U;
  float* const x = filled(n, 1, true);
  for (int launch = 0; launch < kLaunches; ++launch)
    sparse<<<static_cast<unsigned>(n / (100 * 1024) + 1), kThreads>>>(x, n);
  MUST(cudaDeviceSynchronize());
  return equal(value_at(x), 1 + kLaunches, "sparse");
}

/// 2 MiB by cuMemCreate and cuMemMap.
float* mapped_memory() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  constexpr std::size_t kBytes = std::size_t{2} << 20U;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr address = 0;
  must_driver(cuMemCreate(&handle, kBytes, &properties, 0), "cuMemCreate");
  must_driver(cuMemAddressReserve(&address, kBytes, 0, 0, 0), "cuMemAddressReserve");
  must_driver(cuMemMap(address, kBytes, 0, handle, 0), "cuMemMap");
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  must_driver(cuMemSetAccess(address, kBytes, &access, 1), "cuMemSetAccess");
  return reinterpret_cast<float*>(address);
}

bool run_mixed() {
  constexpr unsigned kCount = 300'000;
  MUST(cudaFree(nullptr));
  float *pooled = nullptr, *managed = nullptr, *pinned = nullptr;
  MUST(cudaMallocAsync(&pooled, kCount * sizeof(float), nullptr));
  MUST(cudaMallocManaged(&managed, kCount * sizeof(float)));
  MUST(cudaMallocHost(&pinned, kCount * sizeof(float)));
  float* const mapped = mapped_memory();
  for (unsigned i = 0; i < kCount; ++i) {
    managed[i] = 2;
    pinned[i] = 4;
  }
  fill<<<blocks(kCount), kThreads>>>(pooled, kCount, 1, false);
  MUST(cudaMemset(mapped, 0, kCount * sizeof(float)));
  const std::vector<float> numbers(1024, 0.5F);
  MUST(cudaMemcpyToSymbol(offsets, numbers.data(), sizeof offsets));
  void* variable = nullptr;
  MUST(cudaGetSymbolAddress(&variable, offsets));
  float** const where = device<float*>(1);
  MUST(cudaMemcpy(where, &variable, sizeof variable, cudaMemcpyHostToDevice));
  for (int launch = 0; launch < kLaunches; ++launch)
    mixed<<<blocks(kCount), kThreads>>>(pooled, managed, pinned, mapped, where, kCount);
  MUST(cudaDeviceSynchronize());
  return equal(value_at(mapped), 7.5 * kLaunches, "mixed");
}

bool run_cooperative() {
  unsigned n = 1U << 20;
  const float* x = filled(n, 0);
  constexpr unsigned kBlocks = 128;
  float* sums = device<float>(1 + kBlocks);
  MUST(cudaMemset(sums, 0, (1 + kBlocks) * sizeof(float)));
  void* arguments[] = {&x, &n, &sums};
  for (int launch = 0; launch < kLaunches; ++launch)
    MUST(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(cooperative), kBlocks, kThreads,
                                     arguments, 0, nullptr));
  MUST(cudaDeviceSynchronize());
  const unsigned whole = n / 3;
  return equal(value_at(sums), kLaunches * (3.0 * whole + (n % 3 > 1 ? 1 : 0)), "cooperative");
}

bool run_cluster() {
  constexpr unsigned kBlocks = 1024;
  float* const x = filled(std::size_t{kBlocks} * kThreads, 1);
  cudaLaunchConfig_t shape{};
  shape.gridDim = kBlocks;
  shape.blockDim = kThreads;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  shape.attrs = &attribute;
  shape.numAttrs = 1;
  const double before = value_at(x) + value_at(x + kThreads);
  for (int launch = 0; launch < kLaunches; ++launch) {
    MUST(cudaLaunchKernelEx(&shape, cluster, x));
    MUST(cudaDeviceSynchronize());
    if (launch == 0 && !equal(value_at(x), before, "cluster")) return false;
  }
  return true;
}

bool run_large(std::size_t mib) {
  const std::size_t n = mib << 18U;
  const float* const x = filled(n, 1, true);
  float* const sums = device<float>(n / 1024);
  MUST(cudaMemset(sums, 0, n / 1024 * sizeof(float)));
  for (int launch = 0; launch < kLaunches; ++launch)
    large<<<blocks(n / 1024), kThreads>>>(x, n, sums);
  MUST(cudaDeviceSynchronize());
  return value_at(sums) > 1024.0F * kLaunches;
}

/// No launch to be captured: what a plain copy of memory to a file takes.
bool run_copy(std::size_t mib, const char* file) {
  const std::size_t bytes = mib << 20U, piece = std::size_t{64} << 20U;
  const float* const x = filled(bytes / sizeof(float), 1, true);
  void* staging = nullptr;
  MUST(cudaMallocHost(&staging, piece));
  MUST(cudaDeviceSynchronize());
  std::FILE* const out = std::fopen(file, "wb");
  if (out == nullptr) return false;
  bool good = true;
  for (std::size_t at = 0; at < bytes; at += piece) {
    const std::size_t size = bytes - at < piece ? bytes - at : piece;
    MUST(cudaMemcpy(staging, reinterpret_cast<const char*>(x) + at, size, cudaMemcpyDeviceToHost));
    good = std::fwrite(staging, 1, size, out) == size && good;
  }
  return std::fclose(out) == 0 && good;
}

bool run(const std::string& what, std::size_t mib, const char* file) {
  if (what == "list") return run_list();
  if (what == "shared") return run_shared();
  if (what == "counter") return run_counter();
  if (what == "inplace") return run_inplace(mib != 0 ? mib : 256);
  if (what == "sparse") return run_sparse(mib != 0 ? mib : 1024);
  if (what == "mixed") return run_mixed();
  if (what == "cooperative") return run_cooperative();
  if (what == "cluster") return run_cluster();
  if (what == "large") return run_large(mib != 0 ? mib : 4096);
  if (what == "copy") return run_copy(mib != 0 ? mib : 1024, file);
  std::fprintf(stderr, "unknown: %s\n", what.c_str());
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t mib = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const bool good = run(argc > 1 ? argv[1] : "list", mib, argc > 3 ? argv[3] : "copy.bin");
  std::puts(good ? "right" : "wrong");
  return good ? 0 : 1;
}
