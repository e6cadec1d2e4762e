// A described run of a program, and its writing in the three forms that rocprofv3 has: a rocpd
// database, its own JSON, and its set of CSV tables (docs/facts/rocprofv3_outputs.md). For tests
// that a recording means the same whatever its form.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "support/prng.h"

namespace perflab::test {

/// Values that CSV cannot hold (LDS that is no multiple of 512, for one) are left to the caller.
struct DescribedRun {
  struct Kernel {
    std::string mangled, name;
    std::int64_t sgprs = 16, vgprs = 8, accum = 0, lds = 0;
  };
  struct Call {
    std::string kind, name, message;  ///< "HIP_RUNTIME_API_EXT", "hipLaunchKernel"; of ranges: text
    std::int64_t start = 0, end = 0, thread = 0, id = 0, parent = 0;
    std::vector<std::pair<std::string, std::string>> arguments = {};
  };
  struct Dispatch {
    std::size_t kernel = 0;
    std::int64_t start = 0, end = 0, agent = 1, queue = 1, stream = 0, thread = 0, correlation = 0;
    std::array<std::int64_t, 3> workgroup{}, grid{};
  };
  struct Copy {
    std::string kind;
    std::int64_t start = 0, end = 0, bytes = 0, from = 0, to = 1, stream = 0, thread = 0,
                 correlation = 0;
  };
  struct Allocation {
    std::string operation;  ///< "MEMORY_ALLOCATION_ALLOCATE"
    std::int64_t start = 0, end = 0, bytes = 0, address = 0, agent = 1, thread = 0;
  };
  struct Value {
    std::size_t dispatch = 0, counter = 0;
    std::vector<double> instances;
  };

  std::int64_t pid = 4242;
  std::vector<std::int64_t> threads;
  std::vector<Kernel> kernels;
  std::vector<Call> calls;
  std::vector<Dispatch> dispatches;
  std::vector<Copy> copies;
  std::vector<Allocation> allocations;
  std::vector<std::string> counters;
  std::vector<Value> values;
};

/// A random one: two GPUs, a few threads, queues and streams; nested calls; names with commas,
/// texts with quotes and line breaks.
DescribedRun random_run(Prng& random);

Result<void> write_rocpd(const DescribedRun& run, const std::filesystem::path& path);
std::string json_of(const DescribedRun& run);
/// Tables by name ("kernel_trace"), as `<prefix><name>.csv` in a folder.
std::vector<std::pair<std::string, std::string>> csv_of(const DescribedRun& run);

}  // namespace perflab::test
