// Reads rocpd databases (rocprofv3, rocprofiler-systems; schema 3) into one Trace. Facts:
// docs/facts/rocpd.md.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "trace/load_state.h"
#include "trace/read_options.h"
#include "trace/trace.h"

namespace perflab::trace::rocpd {

class File;

/// A database that is to be read: opened, and which of its rows are wanted.
struct Opened {
  Opened();
  Opened(Opened&&) noexcept;
  ~Opened();

  std::unique_ptr<File> file;
  Window window;
  std::map<std::string, std::uint64_t> passed_over;  ///< rows, by table
  TellProgress progress;                             ///< of reading it
};

/// Opens a database; one that is packed is unpacked. Errors (bad_input) name the file: not SQLite,
/// no rocpd tables, truncated, being written, ….
Result<Opened> open(const std::filesystem::path& file, const ReadOptions& options);

/// Makes databases that are read together ready for a part of their run. Their times are looked at
/// for the earliest start, from which the part's window counts. Precondition: it has one.
Result<void> choose_window(std::span<Opened> databases, const Part& part);

/// Appends all recordings of a database to the state's Trace, or what options.part wants of them.
/// Errors (bad_input) name the file: damaged, changed meanwhile, a recording given twice, more
/// memory needed than options.memory allows, ….
Result<void> load(LoadState& state, Opened& database, const ReadOptions& options);

/// open(), and load() of all of it: no window.
Result<void> load(LoadState& state, const std::filesystem::path& file, const ReadOptions& options);

/// Reads all recordings of all databases and merges them on the trace clock: trace::read() for
/// databases only. A trace without dispatches is no error here.
Result<Trace> read(std::span<const std::filesystem::path> files, const ReadOptions& options = {});

}  // namespace perflab::trace::rocpd
