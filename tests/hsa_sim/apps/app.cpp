// A program for tests of capture and replay: launches one kernel in the way that its options say,
// checks the result itself and prints it. Exit code 0: as expected, 1: wrong, 3: a call failed.
// `hsa_sim_app --help` lists the options.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <thread>

#include "hsa_sim/apps/gpu.h"
#include "hsa_sim/apps/options.h"
#include "hsa_sim/kernel_arguments.h"
#include "hsa_sim/sim_code_objects.h"

namespace perflab::test {
namespace {

using namespace hsa;
using namespace hsa::sim;

constexpr std::size_t kPage = 4096, kVmemGranule = std::size_t{2} << 20;
constexpr float kSlowValue = 6;

template <class T>
std::string argument_bytes(const T& value) {
  return bytes_of(value);
}

// Memory of the kind that the options ask for.
void* place(const Gpu& gpu, const std::string& kind, std::size_t bytes) {
  const Api& api = gpu.api();
  void* pointer = nullptr;
  if (kind == "vmem") {
    // Three granules are reserved, the one in the middle is mapped.
    const std::size_t granule = (bytes + kVmemGranule - 1) / kVmemGranule * kVmemGranule;
    check(api.amd.vmem_address_reserve(&pointer, 3 * granule, 0, 0),
          "hsa_amd_vmem_address_reserve");
    VmemHandle handle{};
    check(api.amd.vmem_handle_create(gpu.device_pool(), granule, MemoryType::none, 0, &handle),
          "hsa_amd_vmem_handle_create");
    pointer = static_cast<std::byte*>(pointer) + granule;
    check(api.amd.vmem_map(pointer, granule, 0, handle, 0), "hsa_amd_vmem_map");
    const AccessDescription both[2] = {{Access::read_write, gpu.gpu()},
                                       {Access::read_write, gpu.cpu()}};
    check(api.amd.vmem_set_access(pointer, granule, both, 2), "hsa_amd_vmem_set_access");
    check(api.amd.vmem_handle_release(handle), "hsa_amd_vmem_handle_release");
    return pointer;
  }
  if (kind == "managed") {
    const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
    check(api.amd.vmem_address_reserve_align(&pointer, pages, 0, kPage, vmem_no_register),
          "hsa_amd_vmem_address_reserve_align");
    SvmAttribute attribute{.attribute = 1, .value = 0};
    check(api.amd.svm_attributes_set(pointer, pages, &attribute, 1), "hsa_amd_svm_attributes_set");
    return pointer;
  }
  if (kind == "lock") {
    static void* host = nullptr;  // reachable: it lives as long as the program
    host = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
    Agent agent = gpu.gpu();
    check(api.amd.memory_lock(host, bytes, &agent, 1, &pointer), "hsa_amd_memory_lock");
    return pointer;
  }
  if (kind == "host") return gpu.allocate(gpu.host_pool(), bytes);
  if (kind == "region") {
    check(api.core.memory_allocate(Region{gpu.device_pool().handle}, bytes, &pointer),
          "hsa_memory_allocate");
    return pointer;
  }
  return gpu.allocate(gpu.device_pool(), bytes);
}

/// A kernel with its buffers, and what is expected of them.
class Task {
 public:
  Task(Gpu& gpu, const Options& options, const std::string& body) : gpu_(gpu), options_(options) {
    body_ = body;
    n_ = options.n;
    work_.kernel = gpu.kernel(body);
    work_.n = n_;
    work_.workgroup = options.workgroup;
    if (body == "reverse") work_.dynamic_lds = options.workgroup * 4;
    x_ = static_cast<float*>(place(gpu, options.place, n_ * sizeof(float)));
    for (std::uint32_t i = 0; i < n_; ++i) x_[i] = static_cast<float>(i % 4096);
    if (body == "chase")
      make_list();
    else if (body.starts_with("vadd") || body.starts_with("sum_f32"))
      make_more_arrays();
    else
      work_.arguments = argument_bytes(ArrayArguments{.x = x_, .n = n_});
    if (body == "slow")
      work_.arguments = argument_bytes(
          SlowArguments{.x = x_, .n = n_, .value = kSlowValue, .milliseconds = options.slow_ms});
    expected_.assign(x_, x_ + n_);
  }

  [[nodiscard]] const Work& work() const { return work_; }

  /// One more launch was made: what does it change?
  void launched() {
    ++launches_;
    const std::uint32_t group = options_.workgroup;
    for (std::uint32_t i = 0; i < n_; ++i) {
      if (body_ == "inplace") expected_[i] += 1;
      if (body_ == "scale") expected_[i] *= 2.5F;
      if (body_ == "slow") expected_[i] = kSlowValue;
    }
    if (body_ == "reverse")
      for (std::uint32_t i = 0; i < n_; i += group)
        std::reverse(expected_.begin() + i, expected_.begin() + std::min(i + group, n_));
  }
  /// Another kernel has filled the array.
  void was_filled() { std::ranges::fill(expected_, kSlowValue); }
  [[nodiscard]] float* array() const { return x_; }

  /// Prints the result; whether it is the expected one.
  bool report(const char* title) const {
    if (body_ == "chase") return say(title, static_cast<double>(*sum_), *sum_ == expected_sum_);
    if (body_.starts_with("vadd"))
      return compare(title, more_,
                     [&](std::uint32_t i) { return x_[i] + 2 * static_cast<float>(i % 4096); });
    if (body_.starts_with("sum_f32")) return say(title, double{*more_}, launches_ > 0);
    if (body_ == "accumulate") {
      const float total = *static_cast<float*>(gpu_.variable("total"));
      return say(title, double{total}, total > 0);
    }
    if (body_ == "atomic_order") return say(title, double{x_[0]}, true);
    return compare(title, x_, [&](std::uint32_t i) { return expected_[i]; });
  }

 private:
  void make_more_arrays() {
    auto* const b = static_cast<float*>(place(gpu_, "pool", n_ * sizeof(float)));
    more_ = static_cast<float*>(place(gpu_, "pool", n_ * sizeof(float)));
    for (std::uint32_t i = 0; i < n_; ++i) b[i] = 2 * static_cast<float>(i % 4096);
    work_.arguments = body_.starts_with("vadd")
                          ? argument_bytes(VaddArguments{.a = x_, .b = b, .c = more_, .n = n_})
                          : argument_bytes(SumArguments{.x = x_, .out = more_, .n = n_});
  }
  // Nodes in two allocations, linked in a mixed order.
  void make_list() {
    ChaseNode* const halves[2] = {gpu_.device<ChaseNode>(n_), gpu_.device<ChaseNode>(n_)};
    sum_ = gpu_.device<std::uint64_t>(1);
    const auto node = [&](std::uint32_t i) {
      return &halves[i % 2][(std::uint64_t{i} * 7919) % n_];
    };
    for (std::uint32_t i = 0; i < n_; ++i) {
      *node(i) = {.next = i + 1 < n_ ? node(i + 1) : nullptr, .value = i};
    }
    for (const ChaseNode* at = node(0); at != nullptr && steps_ < n_; at = at->next, ++steps_)
      expected_sum_ += at->value;
    work_.arguments = argument_bytes(ChaseArguments{.head = node(0), .sum = sum_, .steps = steps_});
  }

  static bool say(const char* title, double value, bool right) {
    std::printf("%s: %.9g %s\n", title, value, right ? "ok" : "WRONG");
    return right;
  }
  template <class Expected>
  bool compare(const char* title, const float* got, Expected expected) const {
    std::uint32_t wrong = 0;
    for (std::uint32_t i = 0; i < n_; ++i) wrong += got[i] == expected(i) ? 0U : 1U;
    std::printf("%s: %g %g %g %g ... %g %s\n", title, double{got[0]}, double{got[1 % n_]},
                double{got[2 % n_]}, double{got[3 % n_]}, double{got[n_ - 1]},
                wrong == 0 ? "ok" : "WRONG");
    return wrong == 0;
  }

  Gpu& gpu_;
  const Options& options_;
  std::string body_;
  std::uint32_t n_ = 0, steps_ = 0;
  Work work_;
  float* x_ = nullptr;
  float* more_ = nullptr;
  std::uint64_t* sum_ = nullptr;
  std::uint64_t expected_sum_ = 0;
  std::vector<float> expected_;
  int launches_ = 0;
};

// Launches the task in the middle of a batch of barriers and other kernels.
void launch_batch(Gpu& gpu, const Options& options, Queue* queue, Task& task, Task& other) {
  const Signal done = gpu.signal(1);
  std::vector<KernelDispatchPacket> packets;
  for (int i = 1; i <= options.batch; ++i) {
    const bool target = i == options.target_at;
    packets.push_back(gpu.packet(target ? task.work() : other.work(), Signal{}));
    (target ? task : other).launched();
  }
  packets.back().completion_signal = done;
  gpu.submit(queue, packets);
  gpu.wait(done);
}

// Fills the ring with barriers until the next batch of this size would cross its end.
void go_to_ring_end(Gpu& gpu, const Options& options, Queue* queue) {
  const auto used = gpu.api().core.queue_load_write_index_relaxed(queue);
  const std::uint64_t first = queue->size - static_cast<std::uint64_t>(options.batch) / 2 - 1;
  for (std::uint64_t i = used; i < first; ++i) {
    const Signal done = gpu.signal(1);
    gpu.submit(queue, {Gpu::barrier(done)});
    gpu.wait(done);
    check(gpu.api().core.signal_destroy(done), "hsa_signal_destroy");
  }
}

// One launch and its end; as HIP does it, the kernel itself has no signal.
void launch(Gpu& gpu, const Options& options, Queue* queue, Task& task) {
  const Signal done = gpu.signal(options.signal_value);
  if (options.no_signal) {
    gpu.submit(queue, {gpu.packet(task.work(), Signal{})});
    const Signal after = gpu.signal(1);
    gpu.submit(queue, {Gpu::barrier(after)});
    gpu.wait(after);
    check(gpu.api().core.signal_destroy(after), "hsa_signal_destroy");
  } else {
    gpu.submit(queue, {gpu.packet(task.work(), done)});
    const SignalValue end = options.signal_value;
    gpu.api().core.signal_wait_scacquire(done, Condition::lt, end, UINT64_MAX, WaitState::blocked);
  }
  task.launched();
  check(gpu.api().core.signal_destroy(done), "hsa_signal_destroy");
}

// A slow kernel that fills the array, then at once the task on the same array.
void launch_back_to_back(Gpu& gpu, const Options& options, Queue* queue, Queue* other_queue,
                         Task& task) {
  Work fill{.kernel = gpu.kernel("slow"), .n = options.n, .workgroup = options.workgroup};
  fill.arguments = argument_bytes(SlowArguments{
      .x = task.array(), .n = options.n, .value = kSlowValue, .milliseconds = options.slow_ms});
  const Signal filled = gpu.signal(1), done = gpu.signal(1);
  gpu.submit(other_queue, {gpu.packet(fill, filled)});
  if (other_queue != queue) {
    KernelDispatchPacket barrier = Gpu::barrier(Signal{});
    std::memcpy(reinterpret_cast<std::byte*>(&barrier) + 8, &filled, sizeof filled);
    gpu.submit(queue, {barrier});
  }
  gpu.submit(queue, {gpu.packet(task.work(), done)});
  gpu.wait(done);
  task.was_filled();
  task.launched();
}

// Memory that no kernel touches: it must be as it was at the end.
class Bystanders {
 public:
  Bystanders(const Gpu& gpu, const Options& options) {
    for (int i = 0; i < options.regions; ++i)
      add(gpu, kPage * (1 + static_cast<std::size_t>(i) % 5) - static_cast<std::size_t>(i) % 3);
    if (options.sparse_bytes > 0) {
      add(gpu, options.sparse_bytes);
      blocks_.back().second = 0;
      auto* const bytes = static_cast<std::byte*>(blocks_.back().first);
      for (std::size_t at = 0; at < options.sparse_bytes; at += options.sparse_bytes / 5)
        bytes[at] = std::byte{7};
    }
    if (options.free_some) {
      void* const gone = gpu.allocate(gpu.device_pool(), 3 * kVmemGranule);
      check(gpu.api().amd.memory_pool_free(gone), "hsa_amd_memory_pool_free");
    }
    if (options.ipc) attach(gpu);
    if (options.interop) import_file(gpu);
  }

  [[nodiscard]] bool unchanged() const {
    return std::ranges::all_of(blocks_, [](const auto& block) {
      const auto* const bytes = static_cast<const unsigned char*>(block.first);
      return std::all_of(bytes, bytes + block.second,
                         [](unsigned char byte) { return byte == 42; });
    });
  }

 private:
  void add(const Gpu& gpu, std::size_t bytes) {
    void* const block = gpu.allocate(gpu.device_pool(), bytes);
    if (bytes < kVmemGranule) std::memset(block, 42, bytes);
    blocks_.emplace_back(block, bytes);
  }
  static void attach(const Gpu& gpu) {
    void* const mine = gpu.allocate(gpu.device_pool(), kPage);
    void* got = nullptr;
    IpcMemory handle{};
    const Agent agent = gpu.gpu();
    check(gpu.api().amd.ipc_memory_create(mine, kPage, &handle), "hsa_amd_ipc_memory_create");
    check(gpu.api().amd.ipc_memory_attach(&handle, kPage, 1, &agent, &got),
          "hsa_amd_ipc_memory_attach");
  }
  static void import_file(const Gpu& gpu) {
    const int file = ::memfd_create("app", MFD_CLOEXEC);
    if (::ftruncate(file, kPage) != 0) fail("ftruncate");
    Agent agent = gpu.gpu();
    std::size_t bytes = 0;
    void* got = nullptr;
    check(gpu.api().amd.interop_map_buffer(1, &agent, file, 0, &bytes, &got, nullptr, nullptr),
          "hsa_amd_interop_map_buffer");
  }

  std::vector<std::pair<void*, std::size_t>> blocks_;
};

// Launches in bursts: within one without a wait, then the end of its last.
void launch_in_bursts(Gpu& gpu, Queue* queue, Task& task, int launches) {
  constexpr int kBurst = 10;
  while (launches > 0) {
    const Signal done = gpu.signal(1);
    for (int left = std::min(kBurst, launches); left > 0; --left, --launches) {
      gpu.submit(queue, {gpu.packet(task.work(), left == 1 ? done : Signal{})});
      task.launched();
    }
    gpu.wait(done);
    check(gpu.api().core.signal_destroy(done), "hsa_signal_destroy");
  }
}

// Every thread with a queue and an array of its own.
bool run_threads(Gpu& gpu, const Options& options) {
  std::vector<std::unique_ptr<Task>> tasks;
  std::vector<std::thread> threads;
  for (int i = 0; i < options.threads; ++i)
    tasks.push_back(std::make_unique<Task>(gpu, options, options.kernel));
  for (const auto& task : tasks)
    threads.emplace_back([&gpu, &options, &task, idle = threads.size() % 2 == 1] {
      Queue* const queue = gpu.queue(options.queue_size);
      if (options.uneven) return launch_in_bursts(gpu, queue, *task, idle ? 1 : options.launches);
      for (int i = 0; i < options.launches; ++i) launch(gpu, options, queue, *task);
    });
  for (std::thread& thread : threads) thread.join();
  return std::ranges::all_of(tasks, [](const auto& task) { return task->report("result"); });
}

bool run_one(Gpu& gpu, const Options& options) {
  Task task(gpu, options, options.kernel);
  std::vector<Queue*> queues;
  for (int i = 0; i < std::max(options.streams, 1); ++i)
    queues.push_back(gpu.queue(options.queue_size, options.cooperative
                                                       ? hsa::queue_cooperative
                                                       : hsa::queue_multi_producer));
  if (options.batch > 1) {
    Task other(gpu, options, "inplace");
    if (options.wrap) go_to_ring_end(gpu, options, queues[0]);
    launch_batch(gpu, options, queues[0], task, other);
    const bool right = other.report("other");
    return task.report("result") && right;
  }
  if (options.back_to_back)
    launch_back_to_back(gpu, options, queues[0], queues.back(), task);
  else
    for (int i = 0; i < options.launches; ++i)
      launch(gpu, options, queues[static_cast<std::size_t>(i) % queues.size()], task);
  const bool right = task.report("result");
  for (Queue* const queue : queues) check(gpu.api().core.queue_destroy(queue), "hsa_queue_destroy");
  return right;
}

std::string code_object_of(const Options& options) {
  SimObject object{.kernels = {{.name = options.kernel}}};
  const auto add = [&](const char* name) {
    if (options.kernel != name) object.kernels.push_back({.name = name});
  };
  if (options.batch > 1) add("inplace");
  if (options.back_to_back) add("slow");
  if (options.several_kernels)
    for (const char* name : {"vadd", "inplace", "slow", "reverse"})
      if (std::ranges::find(object.kernels, name, &SimKernel::name) == object.kernels.end())
        object.kernels.push_back({.name = name});
  return sim_code_object(object);
}

std::string read_whole(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) fail("cannot read " + path);
  std::string bytes;
  char piece[4096];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, file)) bytes.append(piece, got);
  std::fclose(file);
  return bytes;
}

void write_whole(const std::string& path, const std::string& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
    fail("cannot write " + path);
  std::fclose(file);
}

// The object with other instructions: s_nop instead of the end.
std::string with_other_code(std::string object) {
  const std::string end = bytes_of<std::uint32_t>(0xbf810000),
                    nop = bytes_of<std::uint32_t>(0xbf800000);
  const std::size_t at = object.find(end);
  if (at == std::string::npos) fail("the code object has no instructions");
  return object.replace(at, end.size(), nop);
}

void load_code(Gpu& gpu, const Options& options) {
  Gpu::Loading from{.door = options.door};
  const bool own = options.code_object.empty();
  from.bytes = own ? code_object_of(options) : read_whole(options.code_object);
  from.size = from.bytes.size();
  from.file = options.code_object;
  if (from.door.empty()) from.door = own && options.from_file.empty() ? "memory" : "file";
  if (!options.from_file.empty()) {
    from.file = options.from_file;
    // Neither at the start of a page nor of the file.
    const std::string around = from.door == "bundle" ? std::string(5000, '#') : std::string();
    from.offset = around.size();
    write_whole(from.file, around + from.bytes + around);
    if (options.replace_file)
      from.before_load = [&from, around] {
        write_whole(from.file + ".new", around + with_other_code(from.bytes) + around);
        if (std::rename((from.file + ".new").c_str(), from.file.c_str()) != 0) fail("rename");
      };
  }
  gpu.load(from);
}

// For the exit handler: never destroyed.
Gpu* gpu_to_shut_down = nullptr;

int run(const Options& options) {
  if (options.shutdown_at_exit) std::atexit([] { gpu_to_shut_down->shut_down(); });
  gpu_to_shut_down = new Gpu;
  Gpu& gpu = *gpu_to_shut_down;
  load_code(gpu, options);
  const Bystanders bystanders(gpu, options);
  bool right = options.threads > 0 ? run_threads(gpu, options) : run_one(gpu, options);
  if (!bystanders.unchanged()) {
    std::printf("other memory was changed\n");
    right = false;
  }
  std::fflush(stdout);
  if (options.exit_without_shutdown) ::_exit(right ? 0 : 1);
  if (!options.shutdown_at_exit) gpu.shut_down();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace perflab::test

int main(int argc, char** argv) {
  return perflab::test::run(perflab::test::parse_options(argc, argv));
}
