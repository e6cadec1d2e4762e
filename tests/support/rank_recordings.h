// Recordings of a job's ranks as rocprofv3 writes them: each a rocpd database of one process with
// its calls of RCCL and its kernels, whose environment says which rank it is. For tests of what
// begins with files; jobs without files: rank_jobs.h.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.h"

namespace perflab::test {

/// One rank of a job that repeats: a kernel, then an all-reduce of all ranks.
struct RankRecording {
  int rank = 0, size = 4;
  int operations = 20;
  std::optional<int> late = {};      ///< this rank's kernel takes `late_by` longer
  std::int64_t late_by = 2'000'000;  ///< ns
  int run = 0;                       ///< of the program: another one has other ids and times
  std::string hostname = "node0";
  /// JSON of the environment; default: what torchrun sets, and `secret`.
  std::string environment = {};
  std::string secret = {};  ///< value of AWS_SECRET_ACCESS_KEY
  std::string command = "/app/train";
};

/// Writes it. Errors: those of RocpdWriter.
Result<void> write_rank_recording(const std::filesystem::path& path, const RankRecording& rank);

}  // namespace perflab::test
