// Loading rocpd databases alone, from their pages and through SQLite: prints the seconds that
// reading took and how many ranges of rows came from where, as JSON. One reading per process, so
// that none finds memory that another left. Usage: bench_rocpd_read pages|sqlite THREADS FILE...
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string_view>

#include "base/text/numbers.h"
#include "trace/rocpd/read_rocpd.h"

int main(int count, char** arguments) {
  using namespace perflab;
  const std::string_view how = count > 1 ? arguments[1] : "";
  const auto threads = count > 3 ? whole_number<unsigned>(arguments[2]) : std::nullopt;
  if (!threads || (how != "pages" && how != "sqlite")) {
    std::fputs("usage: bench_rocpd_read pages|sqlite THREADS FILE...\n", stderr);
    return 2;
  }
  const std::vector<std::filesystem::path> files(arguments + 3, arguments + count);
  const auto begin = std::chrono::steady_clock::now();
  const auto trace =
      trace::rocpd::read(files, {.threads = *threads, .sqlite_only = how == "sqlite"});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  if (!trace) {
    fmt::print(stderr, "{}\n", trace.error().message);
    return 1;
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  std::uint64_t from_pages = 0, by_sqlite = 0;
  for (const auto& [range, many] : trace->report.ranges)
    (range.second ? by_sqlite : from_pages) += many;
  fmt::print(R"({{"seconds": {:.4f}, "processor_seconds": {:.4f}, "peak_mb": {:.1f}, )"
             R"("dispatches": {}, "ranges_from_pages": {}, "ranges_by_sqlite": {}}})"
             "\n",
             took.count(), seconds(used.ru_utime) + seconds(used.ru_stime),
             static_cast<double>(used.ru_maxrss) / 1e3, trace->dispatches.size(), from_pages,
             by_sqlite);
}
