// How `rocm-perf profile` and librocm_perf_record.so find each other: environment variables, and
// the names of the files that the library leaves (docs/facts/rocpd_cuda.md "Files").
#pragma once

#include <string>
#include <string_view>

namespace perflab::record {

/// The folder for recordings; the library does nothing without it.
inline constexpr const char* kFolderVariable = "PERFLAB_RECORD_OUT";
/// What beside kernels and copies: a comma list of the words below. Not set: all of them.
inline constexpr const char* kWhatVariable = "PERFLAB_RECORD_WHAT";
inline constexpr std::string_view kKernelsWord = "kernels";  ///< always recorded
inline constexpr std::string_view kCallsWord = "api";
inline constexpr std::string_view kMemoryWord = "memory";  ///< allocations
inline constexpr std::string_view kRangesWord = "ranges";  ///< NVTX
inline constexpr std::string_view kSyncWord = "sync";      ///< ids of events and streams; with api
/// Metrics of one counter pass, a comma list.
inline constexpr const char* kCountersVariable = "PERFLAB_RECORD_COUNTERS";
/// PC sampling: "default", or n from 5 to 31 for samples 2^n cycles apart.
inline constexpr const char* kPcSamplingVariable = "PERFLAB_RECORD_PC_SAMPLING";
/// For tests: how long the exit waits for the GPU, in milliseconds; ten seconds unless given.
inline constexpr const char* kPatienceVariable = "PERFLAB_RECORD_PATIENCE_MS";

/// A process that could not be recorded says why in <folder>/<hostname>/<pid><this>, JSON:
/// {"pid", "reason", "remedy", "second_client"}.
inline constexpr std::string_view kStatusSuffix = "_record_status.json";
/// A recording is <folder>/<hostname>/<pid><this>.
inline constexpr std::string_view kDatabaseSuffix = "_results.db";
/// How a database is called while it is written, and after a kill: behind its name.
inline constexpr std::string_view kPartialSuffix = ".partial";
/// info_process.extdata "collector".
inline constexpr std::string_view kCollector = "rocm-perf-record";

}  // namespace perflab::record
