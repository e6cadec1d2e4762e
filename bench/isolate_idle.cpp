// What a dispatch that nobody asked for costs when the capture library is loaded: nanoseconds per
// submission (packet, doorbell, handler) on the stand-in runtime, with the library, with a library
// that only passes packets on, and with none. The runs alternate; the queue is held by a barrier
// meanwhile, so that only submitting is timed. Median of the rounds.
//   bench_isolate_idle [ROUNDS]
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/system/subprocess.h"
#include "hsa_sim/apps/gpu.h"
#include "hsa_sim/kernel_arguments.h"
#include "hsa_sim/sim_code_objects.h"

namespace {

using namespace perflab;

constexpr int kKernels = 64;
constexpr std::uint32_t kPackets = 8192;
constexpr int kBatches = 20;

// Submits packets of many kernels one by one, and prints the nanoseconds of the median batch.
int submit() {
  test::Gpu gpu;
  test::SimObject object;
  for (int i = 0; i < kKernels; ++i)
    object.kernels.push_back({.name = fmt::format("kernel_{}", i), .body = "empty"});
  gpu.load({.bytes = test::sim_code_object(object)});
  hsa::Queue* const queue = gpu.queue(2 * kPackets);
  auto* const array = gpu.device<float>(1);
  std::vector<hsa::KernelDispatchPacket> packets;
  for (int i = 0; i < kKernels; ++i) {
    test::Work work{.kernel = gpu.kernel(fmt::format("kernel_{}", i)), .n = 1, .workgroup = 1};
    work.arguments = test::bytes_of(hsa::sim::ArrayArguments{.x = array, .n = 1});
    packets.push_back(gpu.packet(work, {}));
  }
  std::vector<double> batches;
  for (int batch = 0; batch < kBatches; ++batch) {
    const hsa::Signal held = gpu.signal(1), done = gpu.signal(1);
    hsa::KernelDispatchPacket hold = test::Gpu::barrier({});
    std::memcpy(reinterpret_cast<std::byte*>(&hold) + 8, &held, sizeof(held));
    gpu.submit(queue, {hold});
    std::vector<std::vector<hsa::KernelDispatchPacket>> one_each;
    for (const auto& packet : packets) one_each.push_back({packet});
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t i = 0; i < kPackets; ++i) gpu.submit(queue, one_each[i % kKernels]);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    batches.push_back(took.count() / kPackets);
    gpu.submit(queue, {test::Gpu::barrier(done)});
    gpu.api().core.signal_store_screlease(held, 0);
    gpu.wait(done);
  }
  std::ranges::nth_element(batches, batches.begin() + kBatches / 2);
  fmt::print("{}\n", batches[kBatches / 2]);
  return 0;
}

// One run of this program with a tools library; nanoseconds per submission.
double run_with(const std::string& self, const std::string& library,
                const std::filesystem::path& status) {
  ProcessOptions options;
  options.standard_output = StreamMode::capture;
  options.set_environment = {{"HSA_TOOLS_LIB", library},
                             {"PERFLAB_ISOLATE_KERNEL", "no such kernel"},
                             {"PERFLAB_ISOLATE_OUT", (status / "capture").string()},
                             {"PERFLAB_ISOLATE_STATUS", status.string()}};
  if (library.empty()) options.unset_environment = {"HSA_TOOLS_LIB"};
  if (library.empty()) options.set_environment.erase(options.set_environment.begin());
  const auto result = run_program({self, "--submit"}, options);
  if (!result || !result->succeeded()) {
    fmt::print(stderr, "a run failed\n");
    std::exit(1);
  }
  return std::strtod(result->output.tail.c_str(), nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--submit") return submit();
  int rounds = 7;
  std::from_chars(first.data(), first.data() + first.size(), rounds);
  const std::filesystem::path status =
      std::filesystem::temp_directory_path() / fmt::format("bench-isolate-idle-{}", ::getpid());
  std::filesystem::create_directories(status);
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"no library", ""},
      {"passing on", PERFLAB_PASS_THROUGH_LIBRARY},
      {"capture library, idle", PERFLAB_ISOLATE_LIBRARY_FILE}};
  std::vector<std::vector<double>> times(kinds.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      times[kind].push_back(run_with(argv[0], kinds[kind].second, status));
  std::vector<double> medians;
  for (std::vector<double>& one : times) {
    std::ranges::sort(one);
    medians.push_back(one[one.size() / 2]);
  }
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    fmt::print("{:24} {:8.1f} ns per dispatch (from {:.1f} to {:.1f})\n", kinds[kind].first,
               medians[kind], times[kind].front(), times[kind].back());
  fmt::print(
      "interception itself: {:+.1f} ns, looking at the packet: {:+.1f} ns, together {:+.1f} ns\n",
      medians[1] - medians[0], medians[2] - medians[1], medians[2] - medians[0]);
  std::filesystem::remove_all(status);
}
