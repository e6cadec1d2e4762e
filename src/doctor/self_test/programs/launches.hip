// Kernels launched in every usual way; the first argument chooses.
#include <sys/wait.h>
#include <unistd.h>

#include "self_test.h"

using namespace self_test;

namespace {
constexpr int kCount = 1000;  // not a multiple of the block
constexpr int kBlock = 128;
constexpr int kBlocks = (kCount + kBlock - 1) / kBlock;
}  // namespace

__device__ inline int global_index() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void first_of_three(float* x, int n) {
  if (const int i = global_index(); i < n) x[i] += 1.0F;
}
__global__ void second_of_three(const float* x, float* y, int n) {
  if (const int i = global_index(); i < n) y[i] = 2.0F * x[i];
}
__global__ void third_of_three(float* y, int n) {
  if (const int i = global_index(); i < n) y[i] -= 1.0F;
}
__global__ void in_place(float* x, int n) {
  if (const int i = global_index(); i < n) x[i] = 0.5F * x[i] + 1.0F;
}

extern __shared__ float reversed_block[];
__global__ void reverse_blocks(const float* in, float* out) {
  const int i = static_cast<int>(threadIdx.x), last = static_cast<int>(blockDim.x) - 1;
  reversed_block[i] = in[global_index()];
  __syncthreads();
  out[global_index()] = reversed_block[last - i];
}

struct Node {
  float value;
  Node* next;
};
__global__ void walk_list(Node* first, float* sum) {
  float all = 0.0F;
  for (Node* at = first; at != nullptr; at = at->next) {
    at->value += 1.0F;
    all += at->value;
  }
  *sum = all;
}

__global__ void pointer_table(float** rows, int count, int length) {
  if (const int i = global_index(); i < count * length)
    rows[i / length][i % length] += static_cast<float>(i / length);
}

__global__ void count_values(const float* values, unsigned* counts, int n) {
  if (const int i = global_index(); i < n)
    atomicAdd(&counts[static_cast<unsigned>(values[i]) % 16U], 1U);
}

__constant__ float constant_table[16];
__device__ unsigned device_total;
__global__ void use_variables(float* out, int n) {
  const int i = global_index();
  if (i >= n) return;
  out[i] = constant_table[i % 16];
  atomicAdd(&device_total, 2U);
}

__global__ void use_scratch(const float* in, float* out, int rounds) {
  float local[512];
  const int i = global_index();
  for (int k = 0; k < 512; ++k) local[k] = in[(i + k) % 64];
  for (int k = 0; k < rounds; ++k) local[(k * 7 + i) % 512] += local[(i * k) % 512];
  out[i] = local[(i * rounds) % 512];
}

__global__ void grid_3d(float* out, int nx, int ny, int nz) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int z = static_cast<int>(blockIdx.z * blockDim.z + threadIdx.z);
  if (x < nx && y < ny && z < nz)
    out[(z * ny + y) * nx + x] = static_cast<float>(100 * z + 10 * y + x);
}

__global__ void prints(float* out) {
  const int i = global_index();
  out[i] = static_cast<float>(i);
  if (i == 3) printf("self-test: work-item %d\n", i);
}

__global__ void writes_nothing(const float* in, float* out, float never) {
  if (const int i = global_index(); in[i] == never) out[i] = never;
}

/// The sums depend on the order of the additions, and nothing says which comes first.
__global__ void racy_sums(const float* in, float* sums, int n) {
  if (const int i = global_index(); i < n)
    atomicAdd(&sums[i % 4], in[i] * static_cast<float>(1 << (i % 23)));
}

struct Wide {
  const float* in;
  float* out;
  float weights[38];
  int n, step;
};
static_assert(sizeof(Wide) == 176, "as the case says");
__global__ void wide_struct(Wide wide) {
  if (const int i = global_index(); i < wide.n)
    wide.out[i] = wide.weights[(i * wide.step) % 38] + wide.in[i];
}

template <class T, int Factor>
__global__ void scaled(const T* in, T* out, int n) {
  if (const int i = global_index(); i < n) out[i] = in[i] * Factor;
}

/// Each work-group waits for the others, which a cooperative launch makes safe.
__global__ void together(float* partial, float* out, unsigned* arrived) {
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<float>(blockIdx.x + 1);
    __threadfence();
    atomicAdd(arrived, 1U);
    while (atomicAdd(arrived, 0U) < gridDim.x) {
    }
    __threadfence();
    float sum = 0.0F;
    for (unsigned i = 0; i < gridDim.x; ++i)
      sum += __hip_atomic_load(&partial[i], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    out[blockIdx.x] = sum;
  }
}

namespace {

void several() {
  const std::vector<float> in = numbers(kCount);
  float *x = on_device(in), *y = on_device(std::vector<float>(kCount, 0.0F));
  first_of_three<<<kBlocks, kBlock>>>(x, kCount);
  second_of_three<<<kBlocks, kBlock>>>(x, y, kCount);
  third_of_three<<<kBlocks, kBlock>>>(y, kCount);
  finish();
  const std::vector<float> out = on_host(y, kCount);
  for (int i = 0; i < kCount; ++i) EXPECT(out[i] == 2.0F * (in[i] + 1.0F) - 1.0F);
}

/// `launches` of one kernel, each on what the one before left.
void steps(int launches, bool wait) {
  std::vector<float> expected = numbers(kCount);
  float* x = on_device(expected);
  for (int step = 0; step < launches; ++step) {
    in_place<<<kBlocks, kBlock>>>(x, kCount);
    if (wait) finish();
    for (float& value : expected) value = 0.5F * value + 1.0F;
  }
  finish();
  const std::vector<float> out = on_host(x, kCount);
  for (int i = 0; i < kCount; ++i) EXPECT(std::fabs(out[i] - expected[i]) < 1e-5F);
}

void dynamic_lds() {
  const std::vector<float> in = numbers(4 * kBlock);
  float *x = on_device(in), *y = on_device(std::vector<float>(in.size(), 0.0F));
  reverse_blocks<<<4, kBlock, kBlock * sizeof(float)>>>(x, y);
  finish();
  const std::vector<float> out = on_host(y, in.size());
  for (std::size_t i = 0; i < in.size(); ++i)
    EXPECT(out[i] == in[i / kBlock * kBlock + (kBlock - 1 - i % kBlock)]);
}

void list() {
  constexpr int kNodes = 60;
  std::vector<Node*> nodes;
  for (int i = 0; i < kNodes; ++i) nodes.push_back(on_device(std::vector<Node>(1)));
  for (int i = 0; i < kNodes; ++i) {
    const Node node{static_cast<float>(i), i + 1 < kNodes ? nodes[i + 1] : nullptr};
    CALL(hipMemcpy(nodes[i], &node, sizeof node, hipMemcpyHostToDevice));
  }
  float* sum = on_device(std::vector<float>(1, 0.0F));
  walk_list<<<1, 1>>>(nodes.front(), sum);
  finish();
  EXPECT(on_host(sum, 1)[0] == kNodes * (kNodes + 1) / 2);
}

void table() {
  constexpr int kRows = 24, kLength = 40;
  std::vector<float*> rows;
  for (int i = 0; i < kRows; ++i) rows.push_back(on_device(numbers(kLength)));
  float** device_rows = on_device(rows);
  pointer_table<<<(kRows * kLength + kBlock - 1) / kBlock, kBlock>>>(device_rows, kRows, kLength);
  finish();
  for (int row = 0; row < kRows; ++row)
    EXPECT(on_host(rows[row], kLength)[7] == numbers(kLength)[7] + static_cast<float>(row));
}

void atomics() {
  const std::vector<float> in = numbers(kCount);
  float* values = on_device(in);
  unsigned* counts = on_device(std::vector<unsigned>(16, 5U));
  count_values<<<kBlocks, kBlock>>>(values, counts, kCount);
  finish();
  unsigned all = 0;
  for (const unsigned count : on_host(counts, 16)) all += count;
  EXPECT(all == kCount + 16 * 5);
}

void variables() {
  const std::vector<float> values = numbers(16);
  CALL(hipMemcpyToSymbol(HIP_SYMBOL(constant_table), values.data(), 16 * sizeof(float)));
  float* out = on_device(std::vector<float>(kCount, 0.0F));
  for (int i = 0; i < 2; ++i) use_variables<<<kBlocks, kBlock>>>(out, kCount);
  finish();
  unsigned total = 0;
  CALL(hipMemcpyFromSymbol(&total, HIP_SYMBOL(device_total), sizeof total));
  EXPECT(total == 2 * 2 * kCount);
  EXPECT(on_host(out, kCount)[20] == values[4]);
}

void scratch() {
  constexpr int kRounds = 20;
  const std::vector<float> in = numbers(64);
  float *x = on_device(in), *y = on_device(std::vector<float>(64, -1.0F));
  use_scratch<<<1, 64>>>(x, y, kRounds);
  finish();
  const std::vector<float> out = on_host(y, 64);
  for (int i = 0; i < 64; ++i) {
    std::vector<float> local(512);
    for (int k = 0; k < 512; ++k) local[k] = in[(i + k) % 64];
    for (int k = 0; k < kRounds; ++k) local[(k * 7 + i) % 512] += local[(i * k) % 512];
    EXPECT(out[i] == local[(i * kRounds) % 512]);
  }
}

void three_dimensions() {
  constexpr int kX = 10, kY = 7, kZ = 3;
  float* out = on_device(std::vector<float>(kX * kY * kZ, -1.0F));
  grid_3d<<<dim3(3, 2, 2), dim3(4, 4, 2)>>>(out, kX, kY, kZ);
  finish();
  const std::vector<float> got = on_host(out, kX * kY * kZ);
  EXPECT(got[(2 * kY + 6) * kX + 9] == 269.0F && got[0] == 0.0F);
}

void printing() {
  float* out = on_device(std::vector<float>(64, -1.0F));
  prints<<<1, 64>>>(out);
  finish();
  EXPECT(on_host(out, 64)[63] == 63.0F);
}

void nothing() {
  float *x = on_device(numbers(256)), *y = on_device(numbers(256));
  writes_nothing<<<2, kBlock>>>(x, y, -1.0F);
  finish();
  EXPECT(on_host(y, 256) == numbers(256));
}

void racy() {
  constexpr int kMany = 4096, kRuns = 8;
  std::vector<float> in(kMany);
  for (int i = 0; i < kMany; ++i) in[i] = 1.0F / static_cast<float>(i % 97 + 3);
  float* x = on_device(in);
  std::vector<std::vector<float>> seen;
  for (int run = 0; run < kRuns; ++run) {
    float* sums = on_device(std::vector<float>(4, 0.0F));
    racy_sums<<<kMany / 64, 64>>>(x, sums, kMany);
    finish();
    seen.push_back(on_host(sums, 4));
  }
  bool same = true;
  for (const std::vector<float>& sums : seen) same = same && sums == seen.front();
  if (same) skip("this GPU ran the racy kernel in the same order eight times");
}

void streams() {
  constexpr int kStreams = 4;
  hipStream_t stream[kStreams];
  float* x[kStreams];
  for (int i = 0; i < kStreams; ++i) {
    CALL(hipStreamCreate(&stream[i]));
    x[i] = on_device(numbers(kCount));
  }
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < kStreams; ++i) in_place<<<kBlocks, kBlock, 0, stream[i]>>>(x[i], kCount);
  finish();
  for (int i = 1; i < kStreams; ++i) EXPECT(on_host(x[i], kCount) == on_host(x[0], kCount));
}

void graph() {
  float* x = on_device(std::vector<float>(kCount, 4.0F));
  hipStream_t stream = nullptr;
  hipGraph_t graph = nullptr;
  hipGraphExec_t executable = nullptr;
  CALL(hipStreamCreate(&stream));
  CALL(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  for (int i = 0; i < 3; ++i) in_place<<<kBlocks, kBlock, 0, stream>>>(x, kCount);
  CALL(hipStreamEndCapture(stream, &graph));
  CALL(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 2; ++i) CALL(hipGraphLaunch(executable, stream));
  finish();
  EXPECT(on_host(x, kCount)[5] == 2.03125F);  // 2 + 2 / 2^6
}

void by_value() {
  Wide wide{on_device(numbers(kCount)), on_device(std::vector<float>(kCount, 0.0F)), {}, kCount, 3};
  for (int i = 0; i < 38; ++i) wide.weights[i] = static_cast<float>(1000 * i);
  wide_struct<<<kBlocks, kBlock>>>(wide);
  finish();
  EXPECT(on_host(wide.out, kCount)[100] == 1000.0F * (300 % 38) + numbers(kCount)[100]);
}

void templates() {
  float *x = on_device(numbers(kCount)), *y = on_device(std::vector<float>(kCount, 0.0F));
  int* a = on_device(std::vector<int>(kCount, 7));
  int* b = on_device(std::vector<int>(kCount, 0));
  scaled<int, 3><<<kBlocks, kBlock>>>(a, b, kCount);
  scaled<float, 4><<<kBlocks, kBlock>>>(x, y, kCount);
  finish();
  EXPECT(on_host(b, kCount)[9] == 21 && on_host(y, kCount)[9] == 4.0F * numbers(kCount)[9]);
}

void cooperative() {
  constexpr unsigned kGroups = 2;
  float* partial = on_device(std::vector<float>(kGroups, 0.0F));
  float* out = on_device(std::vector<float>(kGroups, 0.0F));
  unsigned* arrived = on_device(std::vector<unsigned>(1, 0U));
  void* arguments[] = {&partial, &out, &arrived};
  CALL(hipLaunchCooperativeKernel(reinterpret_cast<const void*>(together), dim3(kGroups), dim3(64),
                                  arguments, 0, nullptr));
  finish();
  EXPECT(on_host(out, kGroups)[1] == 3.0F);
}

void second_gpu() {
  int count = 0;
  CALL(hipGetDeviceCount(&count));
  if (count < 2) skip("there is one GPU");
  steps(2, true);
  CALL(hipSetDevice(1));
  float *x = on_device(numbers(kCount)), *y = on_device(std::vector<float>(kCount, 0.0F));
  second_of_three<<<kBlocks, kBlock>>>(x, y, kCount);
  finish();
  EXPECT(on_host(y, kCount)[3] == 2.0F * numbers(kCount)[3]);
}

/// Neither child has anything of the other; HIP is opened after fork only.
void processes() {
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      steps(3, true);
      std::exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    EXPECT(child > 0 && waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

struct Way {
  const char* name;
  void (*run)();
};
const Way kWays[] = {{"several", several},
                     {"in_place", [] { steps(4, true); }},
                     {"back_to_back", [] { steps(40, false); }},
                     {"dynamic_lds", dynamic_lds},
                     {"list", list},
                     {"pointer_table", table},
                     {"atomics", atomics},
                     {"variables", variables},
                     {"scratch", scratch},
                     {"grid_3d", three_dimensions},
                     {"printf", printing},
                     {"nothing", nothing},
                     {"racy", racy},
                     {"streams", streams},
                     {"graph", graph},
                     {"struct", by_value},
                     {"templates", templates},
                     {"cooperative", cooperative},
                     {"second_gpu", second_gpu},
                     {"processes", processes}};

}  // namespace

int main(int argc, char** argv) {
  for (const Way& way : kWays)
    if (argc == 2 && std::strcmp(argv[1], way.name) == 0) {
      way.run();
      std::printf("ok\n");
      return 0;
    }
  return 2;
}
