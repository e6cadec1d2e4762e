// cuda_sim_gpu [--OPTION [VALUE]]...: a program of the stand-in CUDA whose kernels compute, for
// tests of capture: README.md. It checks its own result. Exit code 1: that is wrong, 2: usage, 3: a
// call failed.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "cuda_sim/runtime.h"
#include "cuda_sim/sim_cubins.h"
#include "hsa_sim/kernel_arguments.h"

namespace perflab::cuda_sim {
namespace {

using cuda::DevicePointer;
using cuda::DriverResult;
using hsa::sim::ChaseNode;

using Options = std::map<std::string, std::string>;

void must(DriverResult answer, const char* what) {
  if (answer == DriverResult::success) return;
  std::fprintf(stderr, "%s: %u\n", what, static_cast<unsigned>(answer));
  std::exit(3);
}

Options options_of(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    std::string name = arguments[i];
    if (!name.starts_with("--")) std::exit(2);
    name.erase(0, 2);
    const bool valued = i + 1 < count && arguments[i + 1][0] != '-';
    options[name] = valued ? arguments[++i] : "";
  }
  return options;
}

std::string text(const Options& options, const std::string& name, const std::string& otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : found->second;
}
std::uint32_t number(const Options& options, const std::string& name, std::uint32_t otherwise) {
  const auto found = options.find(name);
  return found == options.end() ? otherwise : static_cast<std::uint32_t>(std::stoul(found->second));
}

template <class T>
T* pointer(std::uint64_t address) {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Memory of a kind; in the stand-in the host can touch all of it.
std::uint64_t memory(const std::string& kind, std::size_t bytes) {
  DevicePointer made = 0;
  void* host = nullptr;
  if (kind == "async") {
    must(runtime::allocate_async(&made, bytes, nullptr), "cudaMallocAsync");
  } else if (kind == "managed") {
    must(runtime::allocate_managed(&made, bytes), "cudaMallocManaged");
  } else if (kind == "pinned") {
    must(runtime::allocate_host(&host, bytes), "cudaMallocHost");
  } else if (kind == "registered") {
    host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(cuMemHostRegister_v2(host, bytes, 0), "cuMemHostRegister");
  } else if (kind == "vmem" || kind == "vmem-no-access") {
    constexpr std::size_t kGranule = std::size_t{2} << 20U;
    const std::size_t whole = (bytes + kGranule - 1) / kGranule * kGranule;
    const cuda::AllocationProperties properties{
        .type = cuda::allocation_pinned,
        .handle_types = 0,
        .location = {.type = cuda::LocationType::device, .id = 0},
        .windows_metadata = nullptr,
        .compression = 0,
        .gpu_direct_rdma = 0,
        .usage = 0,
        .reserved = {}};
    cuda::MemoryHandle handle = 0;
    must(cuMemCreate(&handle, whole, &properties, 0), "cuMemCreate");
    must(cuMemAddressReserve(&made, 4 * whole, 0, 0, 0), "cuMemAddressReserve");
    must(cuMemMap(made + whole, whole, 0, handle, 0), "cuMemMap");
    made += whole;
    const cuda::AccessDescription access{.location = properties.location,
                                         .flags = cuda::access_read_write};
    if (kind == "vmem") must(cuMemSetAccess(made, whole, &access, 1), "cuMemSetAccess");
    must(cuMemRelease(handle), "cuMemRelease");
  } else {
    must(runtime::allocate(&made, bytes), "cudaMalloc");
  }
  return host != nullptr ? reinterpret_cast<std::uint64_t>(host) : made;
}

std::string image_of(const std::string& kernel, float factor) {
  test::SimCubin cubin{.kernels = {{.name = "_Z" + std::to_string(kernel.size()) + kernel + "Pfj",
                                    .body = kernel,
                                    .registers = 24,
                                    .shared_bytes = 128,
                                    .local_bytes = 8}}};
  if (kernel == "scale")
    cubin.variables.push_back(
        {.name = "factor",
         .bytes = std::string(reinterpret_cast<const char*>(&factor), sizeof factor)});
  return test::sim_cubin(std::move(cubin));
}

/// A kernel, launched in one of the ways that a program has.
class Kernel {
 public:
  Kernel(const std::string& body, std::string form, float factor = 2.5F)
      : form_(std::move(form)), image_(image_of(body, factor)) {
    const std::string name = "_Z" + std::to_string(body.size()) + body + "Pfj";
    if (form_ == "driver" || form_ == "extra" || form_ == "ex") {
      cuda::Module module = nullptr;
      must(cuModuleLoadData(&module, image_.data()), "cuModuleLoadData");
      must(cuModuleGetFunction(&function_, module, name.c_str()), "cuModuleGetFunction");
      return;
    }
    cuda::Library library = nullptr;
    must(cuLibraryLoadData(&library, image_.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
         "cuLibraryLoadData");
    cuda::Kernel kernel = nullptr;
    must(cuLibraryGetKernel(&kernel, library, name.c_str()), "cuLibraryGetKernel");
    function_ = reinterpret_cast<cuda::Function>(kernel);
  }

  void launch(std::uint32_t n, void** parameters, cuda::Stream stream = nullptr) const {
    constexpr std::uint32_t kBlock = 256;
    const std::uint32_t blocks = n == 0 ? 1 : (n + kBlock - 1) / kBlock;
    Launch shape{.grid = {.x = static_cast<int>(blocks)}, .block = {.x = kBlock}};
    if (form_ == "driver") {
      must(cuLaunchKernel(function_, blocks, 1, 1, kBlock, 1, 1, 64, stream, parameters, nullptr),
           "cuLaunchKernel");
    } else if (form_ == "extra") {
      hsa::sim::ArrayArguments arguments{*static_cast<float**>(parameters[0]),
                                         *static_cast<std::uint32_t*>(parameters[1])};
      std::size_t bytes = sizeof arguments;
      void* extra[] = {pointer<void>(cuda::launch_parameter::buffer_pointer), &arguments,
                       pointer<void>(cuda::launch_parameter::buffer_size), &bytes, nullptr};
      must(cuLaunchKernel(function_, blocks, 1, 1, kBlock, 1, 1, 0, stream, nullptr, extra),
           "cuLaunchKernel");
    } else if (form_ == "ex") {
      cuda::LaunchAttribute cluster{};
      cluster.id = cuda::LaunchAttributeId::cluster_dimension;
      cluster.value.cluster[0] = 2;
      cluster.value.cluster[1] = cluster.value.cluster[2] = 1;
      const cuda::LaunchConfiguration configuration{.grid = {blocks, 1, 1},
                                                    .block = {kBlock, 1, 1},
                                                    .shared_bytes = 0,
                                                    .stream = stream,
                                                    .attributes = &cluster,
                                                    .attribute_count = 1};
      must(cuLaunchKernelEx(&configuration, function_, parameters, nullptr), "cuLaunchKernelEx");
    } else {
      if (form_ == "cooperative") shape.type = cuda::launch_type::cooperative;
      if (form_ == "cluster") shape.cluster = {.x = 4, .y = 1, .z = 1};
      if (form_ == "per-thread") stream = per_thread_stream;
      must(runtime::launch(function_, shape, stream, parameters), "cudaLaunchKernel");
    }
  }

 private:
  std::string form_;
  std::string image_;
  cuda::Function function_ = nullptr;
};

/// Launches of the stand-in's other kernels, copies and allocations, all the time.
class Others {
 public:
  explicit Others(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      threads_.emplace_back([this] {
        const Kernel kernel("vadd_skips", "runtime");
        while (!stop_) work(kernel);
      });
  }
  ~Others() {
    stop_ = true;
    for (std::thread& one : threads_) one.join();
  }
  Others(const Others&) = delete;
  Others& operator=(const Others&) = delete;

 private:
  static void work(const Kernel& kernel) {
    constexpr std::uint32_t kCount = 64;
    const auto bytes = kCount * sizeof(float);
    std::uint64_t x = memory("pool", bytes);
    std::uint32_t n = kCount;
    void* parameters[] = {&x, &x, &x, &n};
    kernel.launch(n, parameters);
    std::vector<float> host(kCount);
    must(cuMemcpyDtoH_v2(host.data(), x, bytes), "cuMemcpyDtoH");
    must(runtime::synchronize_device(), "cudaDeviceSynchronize");
    must(runtime::release(x), "cudaFree");
  }
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

/// A list of nodes over many allocations, each with its number; the kernel adds them up.
int chase(const Options& options) {
  const std::uint32_t nodes = number(options, "nodes", 20);
  std::vector<ChaseNode*> all;
  for (std::uint32_t i = 0; i < nodes; ++i)
    all.push_back(pointer<ChaseNode>(memory("pool", sizeof(ChaseNode) + i * 100)));
  for (std::uint32_t i = 0; i < nodes; ++i)
    *all[i] = {.next = i + 1 < nodes ? all[i + 1] : nullptr, .value = i + 1};
  auto* sum = pointer<std::uint64_t>(memory("managed", 8));
  *sum = 0;
  const Kernel kernel("chase", text(options, "form", "runtime"));
  ChaseNode* head = all.front();
  std::uint32_t steps = nodes;
  void* parameters[] = {&head, &sum, &steps};
  kernel.launch(1, parameters);
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
  return *sum == std::uint64_t{nodes} * (nodes + 1) / 2 ? 0 : 1;
}

/// A kernel that waits for the host: which speaks after the launch.
int wait_for_host(const Options& options) {
  float* x = pointer<float>(memory("pinned", 4096));
  x[0] = x[1] = 0;
  std::uint32_t n = 2;
  void* parameters[] = {&x, &n};
  if (options.contains("before")) Kernel("wait_flag", "runtime").launch(1, parameters);
  const Kernel kernel(options.contains("before") ? "inplace" : "wait_flag", "runtime");
  std::uint64_t other = memory("pool", 4096);
  void* others[] = {&other, &n};
  kernel.launch(1, options.contains("before") ? others : parameters);
  x[0] = 7;
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
  return x[1] == 7 ? 0 : 1;
}

/// Everything once more in a forked child, which has no GPU.
void fork_child(const Kernel& kernel, std::uint32_t n, void** parameters) {
  const pid_t child = fork();
  if (child == 0) {
    Launch shape;
    const bool refused = runtime::launch(nullptr, shape, nullptr) != DriverResult::success;
    (void)kernel, (void)n, (void)parameters;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) std::exit(4);
}

/// A graph of so many launches of this kernel.
cuda::GraphExec make_graph(const Kernel& kernel, std::uint32_t n, void** parameters,
                           std::uint32_t nodes) {
  cuda::Stream stream = nullptr;
  must(runtime::create_stream(&stream), "cudaStreamCreate");
  must(runtime::begin_capture(stream), "cudaStreamBeginCapture");
  for (std::uint32_t i = 0; i < nodes; ++i) kernel.launch(n, parameters, stream);
  Graph graph = nullptr;
  must(runtime::end_capture(stream, &graph), "cudaStreamEndCapture");
  must(runtime::destroy_stream(stream), "cudaStreamDestroy");
  cuda::GraphExec executable = nullptr;
  must(runtime::instantiate(&executable, graph), "cudaGraphInstantiate");
  return executable;
}

int work(const Options& options) {
  const std::string body = text(options, "kernel", "inplace");
  if (body == "chase") return chase(options);
  if (body == "wait_flag") return wait_for_host(options);
  std::uint32_t n = number(options, "n", 1000);
  const std::uint32_t launches = number(options, "launches", 1);
  const std::string form = text(options, "form", "runtime");
  float* x = pointer<float>(memory(text(options, "memory", "pool"), n * sizeof(float)));
  for (std::uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i);
  if (options.contains("no-access")) memory("vmem-no-access", 1);
  if (options.contains("freed")) must(runtime::release(memory("pool", 100)), "cudaFree");
  void* parameters[] = {&x, &n};
  const Kernel twin(body, form, 3.0F);  // of the same name, in another module
  const Kernel kernel(body, form);
  const Others others(number(options, "threads", 0));
  std::uint32_t nothing = 0;
  void* no_parameters[] = {&x, &nothing};
  if (options.contains("twin")) twin.launch(0, no_parameters);
  const std::uint32_t nodes = number(options, "graph", 0);
  cuda::GraphExec graph = nullptr;
  if (options.contains("into-graph")) make_graph(kernel, n, parameters, 1);
  if (nodes != 0) graph = make_graph(kernel, n, parameters, nodes);
  if (nodes != 0) must(runtime::launch_graph(graph, nullptr), "cudaGraphLaunch");
  for (std::uint32_t i = 0; i < launches; ++i) kernel.launch(n, parameters);
  if (options.contains("fork")) fork_child(kernel, n, parameters);
  must(runtime::synchronize_device(), "cudaDeviceSynchronize");
  if (options.contains("wait")) sleep(60);
  for (std::uint32_t i = 0; i < n; ++i) {
    float expected = static_cast<float>(i);
    for (std::uint32_t round = 0; round < launches + nodes; ++round)
      expected = body == "scale" ? expected * 2.5F : expected + 1;
    if (x[i] != expected) return 1;
  }
  return 0;
}

}  // namespace
}  // namespace perflab::cuda_sim

int main(int count, char** arguments) {
  // The context that calls of the driver need.
  perflab::cuda_sim::must(perflab::cuda_sim::runtime::synchronize_device(),
                          "cudaDeviceSynchronize");
  return perflab::cuda_sim::work(perflab::cuda_sim::options_of(count, arguments));
}
