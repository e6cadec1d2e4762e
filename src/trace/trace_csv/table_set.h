// One recording out of its tables. Internal to this folder.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/counter_csv/csv_recording.h"
#include "trace/counter_csv/system_info.h"
#include "trace/recording_rows.h"
#include "trace/trace_csv/columns.h"

namespace perflab::trace::trace_csv {

/// The tables that make up a set, as rocprofv3 names them (rocprofiler-sdk
/// source/lib/output/domain_type.cpp).
inline constexpr std::string_view kAgentInfo = "agent_info", kKernelTrace = "kernel_trace",
                                  kCopyTrace = "memory_copy_trace",
                                  kAllocationTrace = "memory_allocation_trace",
                                  kScratchTrace = "scratch_memory_trace",
                                  kCounters = "counter_collection";
inline constexpr std::array<std::string_view, 6> kCallTraces = {
    "hip_api_trace",  "hsa_api_trace",       "marker_api_trace",
    "rccl_api_trace", "rocdecode_api_trace", "rocjpeg_api_trace"};

/// What a kernel is, as rows of the tables say it.
struct KernelFacts {
  std::optional<std::int64_t> id;
  Index name = 0;  ///< strings, without ".kd"
  std::optional<std::int64_t> sgprs, arch_vgprs, accum_vgprs;
  friend auto operator<=>(const KernelFacts&, const KernelFacts&) = default;
};

/// Reads the tables of one recording. Use once.
class SetLoader {
 public:
  SetLoader(LoadState& state, std::string file, std::size_t expected_calls);

  /// The table agent_info; to be given first, where there is one.
  Result<void> agents(std::string_view text, std::string_view file);
  Result<void> kernels(std::string_view text, std::string_view file);
  Result<void> calls(std::string_view text, std::string_view file);
  Result<void> copies(std::string_view text, std::string_view file);
  Result<void> allocations(std::string_view text, std::string_view file);
  /// After all others.
  void counters(const counter_csv::Recording& recording);
  Result<void> finish_set();

 private:
  struct Pending {
    DispatchRow row;
    KernelFacts kernel;
  };

  Result<void> one_process(std::optional<std::int64_t> pid, std::string_view guid,
                           std::string_view file);
  void add_kernels(const std::vector<KernelFacts>& found);
  /// The agent of a label ("Agent 4", "GPU 0", "CPU 0", "4"); kNone: an empty one, or no label.
  Index agent_of(std::string_view label, std::string_view type_if_new);
  Index add_agent(Agent agent);
  void note_time(std::int64_t start) { first_start_ = std::min(first_start_, start); }

  LoadState& state_;
  Trace& trace_;
  RecordingRows rows_;
  counter_csv::SystemInfo machine_;
  std::map<std::string, Index, std::less<>> agents_;
  std::map<KernelFacts, std::int64_t> kernel_ids_;
  std::optional<std::int64_t> pid_;
  std::string guid_;
  std::int64_t first_start_ = INT64_MAX;
  std::size_t first_dispatch_ = 0, first_region_ = 0;
};

}  // namespace perflab::trace::trace_csv
