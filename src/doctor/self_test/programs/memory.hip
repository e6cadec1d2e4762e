// One kernel on memory of every kind; the first argument chooses.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "self_test.h"

using namespace self_test;

namespace {
constexpr int kCount = 2000;
constexpr int kBlock = 256;
}  // namespace

__global__ void advance(const float* in, float* out, int n) {
  if (const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n)
    out[i] = 3.0F * in[i] + out[i];
}
__global__ void touch_sparse(float* memory, std::size_t stride, int places) {
  if (const int i = static_cast<int>(threadIdx.x); i < places)
    memory[static_cast<std::size_t>(i) * stride] += static_cast<float>(i + 1);
}
__global__ void read_shared(const float* other, float* out, int n) {
  if (const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n)
    out[i] = other[i] + 1.0F;
}

namespace {

void launch(const float* in, float* out, hipStream_t stream = nullptr) {
  advance<<<(kCount + kBlock - 1) / kBlock, kBlock, 0, stream>>>(in, out, kCount);
}

void expect_advanced(const float* out) {
  const std::vector<float> before = numbers(kCount);
  for (int i = 0; i < kCount; ++i) EXPECT(out[i] == 4.0F * before[i]);
}

void fill(float* memory) {
  const std::vector<float> values = numbers(kCount);
  std::memcpy(memory, values.data(), kCount * sizeof(float));
}

void managed() {
  float *in = nullptr, *out = nullptr;
  CALL(hipMallocManaged(reinterpret_cast<void**>(&in), kCount * sizeof(float)));
  CALL(hipMallocManaged(reinterpret_cast<void**>(&out), kCount * sizeof(float)));
  fill(in);
  fill(out);
  launch(in, out);
  finish();
  expect_advanced(out);
}

void pinned() {
  float *in = nullptr, *out = nullptr;
  CALL(hipHostMalloc(reinterpret_cast<void**>(&in), kCount * sizeof(float), hipHostMallocDefault));
  CALL(hipHostMalloc(reinterpret_cast<void**>(&out), kCount * sizeof(float), hipHostMallocDefault));
  fill(in);
  fill(out);
  launch(in, out);
  finish();
  expect_advanced(out);
}

void registered() {
  constexpr std::size_t kPage = 4096, kBytes = (kCount * sizeof(float) + kPage - 1) / kPage * kPage;
  auto* const memory = static_cast<float*>(std::aligned_alloc(kPage, kBytes));
  fill(memory);
  CALL(hipHostRegister(memory, kBytes, hipHostRegisterDefault));
  void* in = nullptr;
  CALL(hipHostGetDevicePointer(&in, memory, 0));
  float* out = on_device(numbers(kCount));
  launch(static_cast<const float*>(in), out);
  finish();
  expect_advanced(on_host(out, kCount).data());
}

void stream_ordered() {
  const std::vector<float> values = numbers(kCount);
  hipStream_t stream = nullptr;
  CALL(hipStreamCreate(&stream));
  float* memory[2];
  for (float*& one : memory) {
    CALL(hipMallocAsync(reinterpret_cast<void**>(&one), kCount * sizeof(float), stream));
    CALL(hipMemcpyAsync(one, values.data(), kCount * sizeof(float), hipMemcpyHostToDevice, stream));
  }
  launch(memory[0], memory[1], stream);
  CALL(hipStreamSynchronize(stream));
  expect_advanced(on_host(memory[1], kCount).data());
  for (float* one : memory) CALL(hipFreeAsync(one, stream));
  CALL(hipStreamSynchronize(stream));
}

/// 200 MB of which eight pages are used.
void sparse() {
  constexpr std::size_t kBytes = 200'000'000, kStride = kBytes / 8 / sizeof(float);
  float* memory = nullptr;
  CALL(hipMalloc(reinterpret_cast<void**>(&memory), kBytes));
  const float start = 10.0F;
  for (int i = 0; i < 8; ++i)
    CALL(hipMemcpy(memory + i * kStride, &start, sizeof start, hipMemcpyHostToDevice));
  touch_sparse<<<1, 64>>>(memory, kStride, 8);
  finish();
  for (int i = 0; i < 8; ++i)
    EXPECT(on_host(memory + i * kStride, 1)[0] == static_cast<float>(11 + i));
}

/// What lay beside the buffers is gone when the kernel runs.
void neighbours() {
  float* memory[6];
  for (float*& one : memory) one = on_device(numbers(kCount));
  for (const int gone : {0, 2, 5}) CALL(hipFree(memory[gone]));
  launch(memory[1], memory[3]);
  finish();
  expect_advanced(on_host(memory[3], kCount).data());
}

/// hipMemAllocationProp as it is since ROCm 6, where its members have another order.
struct PropertiesOf6 {
  hipMemAllocationType type;
  int handle_type;
  hipMemLocation location;
  void* unused[2];
};

void virtual_memory() {
  int runtime = 0;
  CALL(hipRuntimeGetVersion(&runtime));
  union {
    hipMemAllocationProp wanted;
    PropertiesOf6 of_6;
  };
  std::memset(static_cast<void*>(&wanted), 0, sizeof wanted);
  std::memset(static_cast<void*>(&of_6), 0, sizeof of_6);
  hipMemLocation here{};
  here.type = hipMemLocationTypeDevice;
  if (HIP_VERSION_MAJOR < 6 && runtime >= 60000000) {  // older headers over a newer runtime
    of_6.type = hipMemAllocationTypePinned;
    of_6.location = here;
  } else {
    wanted.type = hipMemAllocationTypePinned;
    wanted.location = here;
  }
  std::size_t granule = 0;
  CALL(hipMemGetAllocationGranularity(&granule, &wanted, hipMemAllocationGranularityMinimum));
  if (granule < kCount * sizeof(float)) granule *= kCount * sizeof(float) / granule + 1;
  void* base = nullptr;
  CALL(hipMemAddressReserve(&base, 2 * granule, 0, nullptr, 0));
  hipMemAccessDesc access{};
  access.location = here;
  access.flags = hipMemAccessFlagsProtReadWrite;
  for (std::size_t i = 0; i < 2; ++i) {
    hipMemGenericAllocationHandle_t handle{};
    CALL(hipMemCreate(&handle, granule, &wanted, 0));
    CALL(hipMemMap(static_cast<char*>(base) + i * granule, granule, 0, handle, 0));
  }
  CALL(hipMemSetAccess(base, 2 * granule, &access, 1));
  const std::vector<float> values = numbers(kCount);
  auto* const in = static_cast<float*>(base);
  auto* const out = reinterpret_cast<float*>(static_cast<char*>(base) + granule);
  for (float* one : {in, out})
    CALL(hipMemcpy(one, values.data(), kCount * sizeof(float), hipMemcpyHostToDevice));
  launch(in, out);
  finish();
  expect_advanced(on_host(out, kCount).data());
}

void read_of_other(const char* handle_text) {
  hipIpcMemHandle_t handle;
  auto* const bytes = reinterpret_cast<unsigned char*>(&handle);
  for (std::size_t i = 0; i < sizeof handle; ++i) {
    unsigned byte = 0;
    EXPECT(std::sscanf(handle_text + 2 * i, "%2x", &byte) == 1);
    bytes[i] = static_cast<unsigned char>(byte);
  }
  void* other = nullptr;
  CALL(hipIpcOpenMemHandle(&other, handle, hipIpcMemLazyEnablePeerAccess));
  float* out = on_device(std::vector<float>(kCount, 0.0F));
  read_shared<<<(kCount + kBlock - 1) / kBlock, kBlock>>>(static_cast<const float*>(other), out,
                                                          kCount);
  finish();
  EXPECT(on_host(out, kCount)[1] == numbers(kCount)[1] + 1.0F);
}

/// The kernel runs in another process than the one that the memory is of.
void ipc() {
  hipIpcMemHandle_t handle;
  CALL(hipIpcGetMemHandle(&handle, on_device(numbers(kCount))));
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&handle);
  std::string text;
  for (std::size_t i = 0; i < sizeof handle; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned>(bytes[i]));
    text += digits;
  }
  char self[] = "/proc/self/exe", way[] = "ipc";
  char* const words[] = {self, way, text.data(), nullptr};
  pid_t child = 0;
  EXPECT(posix_spawn(&child, self, nullptr, nullptr, words, environ) == 0);
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) std::exit(77);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

struct Kind {
  const char* name;
  void (*run)();
};
const Kind kKinds[] = {{"managed", managed},       {"pinned", pinned},
                       {"registered", registered}, {"stream_ordered", stream_ordered},
                       {"sparse", sparse},         {"neighbours", neighbours},
                       {"vmm", virtual_memory},    {"ipc", ipc}};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3) {
    read_of_other(argv[2]);
    return 0;
  }
  for (const Kind& kind : kKinds)
    if (argc == 2 && std::strcmp(argv[1], kind.name) == 0) {
      kind.run();
      std::printf("ok\n");
      return 0;
    }
  return 2;
}
