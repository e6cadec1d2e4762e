// What a file is, by its content: every kind of recording that can be read is a line of the table
// in file_kind.cpp, and a case of trace::read().
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace perflab::trace {

enum class FileKind : std::uint8_t {
  nothing,   ///< missing, empty, or no file
  database,  ///< SQLite: a rocpd database
  kineto,    ///< a Chrome trace as PyTorch's profiler writes it (docs/facts/kineto.md), also gzip
  rocprofv3_json,  ///< rocprofv3 -f json (docs/facts/rocprofv3_outputs.md), also gzip
  json,            ///< other JSON: no recording
  pc_samples,      ///< a table of rocprofv3's PC samples (docs/facts/pc_sampling.md): no recording
  text,            ///< anything else: a table, if anything
};

/// The kind of a file, from its beginning.
FileKind kind_of_file(const std::filesystem::path& path);

/// Whether trace::read() takes the file for a recording of a GPU program's run, with times: any
/// kind, a table of rocprofv3's among them, but tables of counters alone.
bool is_recording(const std::filesystem::path& path);

/// The recordings in a folder and below, by path. Of tables that are one recording there is one,
/// which stands for all of them; folders that may not be read are passed over.
std::vector<std::filesystem::path> recordings_below(const std::filesystem::path& folder);

}  // namespace perflab::trace
