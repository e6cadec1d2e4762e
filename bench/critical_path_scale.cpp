// What bench/critical_path_scale.py runs: reads a database and stops, or goes on to the critical
// path with all that is reported of it. Prints seconds and peak memory as one JSON line.
#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "analyze/critical_path/critical_path.h"
#include "analyze/scope/passes.h"
#include "analyze/scope/timing_scope.h"
#include "trace/read/read_trace.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::int64_t peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

int run(std::string_view mode, const char* file) {
  const auto begin = Clock::now();
  const auto trace = perflab::trace::read(std::array{std::filesystem::path(file)}, {});
  if (!trace) {
    fmt::print(stderr, "{}\n", trace.error().message);
    return 1;
  }
  const double load = seconds_since(begin);
  double path = 0;
  std::int64_t length = 0;
  if (mode == "path") {
    const auto path_begin = Clock::now();
    const auto scope =
        perflab::analyze::find_timing_scope(*trace, perflab::analyze::find_passes(*trace));
    const auto found = perflab::analyze::find_critical_path(*trace, scope, {});
    if (!found) {
      fmt::print(stderr, "{}\n", found.error().message);
      return 1;
    }
    path = seconds_since(path_begin);
    length = found->length;
  }
  fmt::print(
      "{{\"dispatches\": {}, \"load_s\": {:.4f}, \"path_s\": {:.4f}, \"peak\": {}, \"length_ns\": "
      "{}}}\n",
      trace->dispatches.size(), load, path, peak_bytes(), length);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: bench_critical_path load|path DATABASE\n", stderr);
    return 2;
  }
  return run(argv[1], argv[2]);
}
