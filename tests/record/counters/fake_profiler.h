// A profiler of CUPTI that counts launches of a made-up program: the calls that the collector makes
// are checked for their order, and the value of each metric says which launch it is of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/api.h"
#include "cuda/profiler_host.h"
#include "record/counters/counter_collector.h"

namespace perflab::record {

/// The state behind the tables' functions, which have no room for it: one per test.
struct FakeProfiler {
  // What answers.
  cuda::CuptiResult availability = cuda::CuptiResult::success;
  cuda::CuptiResult enable = cuda::CuptiResult::success;
  cuda::SupportLevel vgpu = cuda::SupportLevel::supported;
  std::vector<std::string> known = {"a__b.sum", "c__d.sum"};
  std::size_t ranges_per_launch = 1;
  std::size_t used_memory = 0;  ///< bytes of the device
  bool capturing = false;       ///< every stream is

  // What happened.
  bool enabled = false, started = false;
  std::uint64_t launches = 0;             ///< that ran on the GPU
  std::vector<std::uint64_t> session;     ///< launches of the session that runs or was decoded
  std::vector<std::string> calls;         ///< of the range profiler, in order
  std::vector<std::string> added, wrong;  ///< metrics of the last host; calls out of order
  std::size_t most_ranges = 0;

  FakeProfiler();
  ~FakeProfiler();
  FakeProfiler(const FakeProfiler&) = delete;
  FakeProfiler& operator=(const FakeProfiler&) = delete;
  [[nodiscard]] static cuda::Profiler profiler();
  [[nodiscard]] static cuda::Driver driver();
  /// The GPU runs a launch.
  void run();
};

/// A program whose launches call back.
class FakeProgram {
 public:
  FakeProgram(FakeProfiler& gpu, CounterCollector& collector) : gpu_(gpu), collector_(collector) {}

  struct Options {
    std::uint32_t blocks = 10;
    bool runtime = true;  ///< by the runtime: a call around the driver's
    bool fails = false;
    cuda::CallbackId id = cuda::driver_call::launch_kernel;
    std::uintptr_t context = 0x1000;
  };
  /// Launches; the correlation id of the outermost call.
  std::uint32_t launch(const std::string& kernel, const Options& options);
  std::uint32_t launch(const std::string& kernel) { return launch(kernel, Options{}); }

 private:
  FakeProfiler& gpu_;
  CounterCollector& collector_;
  std::uint32_t next_ = 100;
};

}  // namespace perflab::record
