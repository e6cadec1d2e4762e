// What a reader cost, as the benchmarks of readers measure and print it.
#pragma once

#include <fmt/format.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <ctime>

namespace perflab::bench {

/// Processor seconds of this process so far.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Prints one line of JSON: processor seconds, MB/s of the file's `bytes`, how many `things` were
/// read ("rows") and peak memory. Returns main()'s 0.
inline int print_cost(const char* what, double seconds, std::uint64_t bytes, const char* things,
                      std::size_t count) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(R"({{"what":"{}","seconds":{:.3f},"mb_per_s":{:.0f},"{}":{},"peak_mb":{}}})"
             "\n",
             what, seconds, static_cast<double>(bytes) / seconds / 1e6, things, count,
             usage.ru_maxrss / 1024);
  return 0;
}

}  // namespace perflab::bench
