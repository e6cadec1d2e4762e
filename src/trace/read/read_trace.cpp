// Databases first, in the order given; then the tables, in an order of their own.
#include "trace/read/read_trace.h"

#include <algorithm>
#include <string>
#include <vector>

#include "trace/counter_csv/read_counter_csv.h"
#include "trace/kineto/read_kineto.h"
#include "trace/load_state.h"
#include "trace/read/file_kind.h"
#include "trace/rocpd/read_rocpd.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;

/// Size of a file, at least 1: for its share of the work, whatever it is.
double bytes_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 1 : static_cast<double>(std::max<std::uintmax_t>(bytes, 1));
}

}  // namespace

Result<Trace> read(std::span<const fs::path> files, const ReadOptions& options) {
  Trace trace;
  LoadState state(trace);
  std::vector<counter_csv::Recording> tables;
  // What begins or ends at the same time keeps the order in which it was read: not that of the
  // command line.
  std::vector<fs::path> sorted(files.begin(), files.end());
  std::ranges::sort(sorted);
  std::vector<double> until = {0};  // share of all bytes that ends with each file
  for (const fs::path& path : sorted) until.push_back(until.back() + bytes_of(path));
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const fs::path& path = sorted[i];
    const TellProgress progress =
        part_of(options.progress, until[i] / until.back(), until[i + 1] / until.back());
    const FileKind kind = kind_of_file(path);
    // What is no file, or an empty one, is left to the reader of databases to explain.
    if (kind == FileKind::nothing || kind == FileKind::database) {
      PERFLAB_TRY_VOID(
          rocpd::load(state, path, {.threads = options.threads, .progress = progress}));
      continue;
    }
    if (progress) progress("reading " + path.filename().string(), 0);
    if (kind == FileKind::kineto) {
      PERFLAB_TRY_VOID(kineto::load(state, path));
      continue;
    }
    PERFLAB_TRY(std::vector<counter_csv::Recording> found, counter_csv::read_file(path));
    for (counter_csv::Recording& recording : found) tables.push_back(std::move(recording));
  }
  PERFLAB_TRY_VOID(counter_csv::load(state, std::move(tables)));
  PERFLAB_TRY_VOID(finish(state));
  return trace;
}

}  // namespace perflab::trace
