// Databases first, in the order given; then the tables, in an order of their own.
#include "trace/read/read_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "trace/counter_csv/read_counter_csv.h"
#include "trace/kineto/read_kineto.h"
#include "trace/load_state.h"
#include "trace/read/file_kind.h"
#include "trace/rocpd/read_rocpd.h"
#include "trace/rocprofv3_json/read_rocprofv3_json.h"
#include "trace/trace_csv/read_trace_csv.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;

/// Size of a file, at least 1: for its share of the work, whatever it is.
double bytes_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  return error ? 1 : static_cast<double>(std::max<std::uintmax_t>(bytes, 1));
}

/// The sets of tables that a path names: a table's own, or all of a folder.
std::vector<trace_csv::TableSet> csv_sets(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return trace_csv::sets_in(path);
  if (!fs::is_regular_file(path, ignored)) return {};
  const std::optional<trace_csv::TableSet> set = trace_csv::set_of(path);
  return set ? std::vector{*set} : std::vector<trace_csv::TableSet>{};
}

/// A part of a run whose recordings are all databases: its rows alone are read.
Result<Trace> read_part(std::span<const fs::path> databases, const ReadOptions& options) {
  Trace trace;
  LoadState state(trace);
  std::vector<rocpd::Opened> opened;
  for (const fs::path& path : databases) {
    PERFLAB_TRY(rocpd::Opened one, rocpd::open(path, options));
    opened.push_back(std::move(one));
  }
  if (options.part.has_window()) PERFLAB_TRY_VOID(rocpd::choose_window(opened, options.part));
  for (rocpd::Opened& one : opened) PERFLAB_TRY_VOID(rocpd::load(state, one, options));
  finish(state, options.threads);
  return trace;
}

/// Reads tables of counters, side by side where there are several.
Result<void> load_tables(LoadState& state, std::span<const fs::path> tables, unsigned threads) {
  std::vector<std::vector<counter_csv::Recording>> found(tables.size());
  PERFLAB_TRY_VOID(parallel_for(
      tables.size(), thread_count(threads), [&](unsigned, std::size_t i) -> Result<void> {
        PERFLAB_TRY(found[i], counter_csv::read_file(tables[i], tables.size() == 1 ? threads : 1));
        return {};
      }));
  std::vector<counter_csv::Recording> recordings;
  for (auto& of_table : found) std::ranges::move(of_table, std::back_inserter(recordings));
  return counter_csv::load(state, std::move(recordings));
}

}  // namespace

Result<Trace> read(std::span<const fs::path> files, const ReadOptions& options) {
  if (!options.part.is_all()) {
    std::vector<fs::path> sorted(files.begin(), files.end());
    std::ranges::sort(sorted);
    const auto is_database = [](const fs::path& path) {
      return kind_of_file(path) == FileKind::database;
    };
    if (std::ranges::all_of(sorted, is_database)) return read_part(sorted, options);
    ReadOptions whole = options;
    whole.part = {};
    PERFLAB_TRY(const Trace trace, read(files, whole));
    return keep_part(trace, options.part);
  }
  Trace trace;
  LoadState state(trace);
  std::vector<fs::path> tables;
  // What begins or ends at the same time keeps the order in which it was read: not that of the
  // command line.
  std::vector<fs::path> sorted;
  std::set<trace_csv::TableSet> sets;  // each is read once, however many of its tables are named
  for (const fs::path& path : files) {
    const std::vector<trace_csv::TableSet> found = csv_sets(path);
    sets.insert(found.begin(), found.end());
    if (found.empty()) sorted.push_back(path);
  }
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
      PERFLAB_TRY_VOID(rocpd::load(
          state, path,
          {.threads = options.threads, .progress = progress, .memory = options.memory}));
      continue;
    }
    if (kind == FileKind::rocprofv3_json) {
      PERFLAB_TRY_VOID(rocprofv3_json::load(state, path, {.progress = progress}));
      continue;
    }
    if (progress) progress("reading " + path.filename().string(), 0);
    if (kind == FileKind::json)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is JSON, but no recording of a program's run", path.string()),
                  "give rocpd databases (…_results.db), or traces of PyTorch's profiler");
    if (kind == FileKind::pc_samples)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is a table of PC samples, and no recording of a program's run",
                              path.string()),
                  "give it with --pc-samples, beside a recording of the same run");
    if (kind == FileKind::kineto) {
      PERFLAB_TRY_VOID(kineto::load(state, path));
      continue;
    }
    tables.push_back(path);
  }
  for (const trace_csv::TableSet& set : sets) PERFLAB_TRY_VOID(trace_csv::load(state, set));
  PERFLAB_TRY_VOID(load_tables(state, tables, options.threads));
  finish(state, options.threads);
  return trace;
}

std::vector<fs::path> files_of_recording(const fs::path& path) {
  std::vector<fs::path> files;
  for (const trace_csv::TableSet& set : csv_sets(path)) {
    const std::vector<fs::path> tables = trace_csv::files_of(set);
    files.insert(files.end(), tables.begin(), tables.end());
  }
  if (files.empty()) files.push_back(path);
  return files;
}

}  // namespace perflab::trace
