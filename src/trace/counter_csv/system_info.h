// The machine of a table of counters, which stands in a file beside it: rocprof-compute's
// sysinfo.csv (one row) or rocprofv3's <pid>_agent_info.csv (one row per agent;
// rocprofiler-sdk source/lib/output/generateCSV.cpp).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "trace/trace.h"

namespace perflab::trace::counter_csv {

/// One GPU or CPU of the file.
struct MachineAgent {
  std::optional<std::int64_t> node_id, logical_node_id;  ///< of agent_info only
  Agent agent;  ///< name, product, model and facts; empty where the file does not say
};

/// Most agents of a node, and GPUs that a table names: eight GPUs in eight partitions each are 64.
inline constexpr std::size_t kMostAgents = 256;

/// A file about the machine; without agents when there is none.
struct SystemInfo {
  std::vector<MachineAgent> agents;
  bool describes_the_gpu = false;  ///< one agent without a number: the GPU that was profiled
  std::optional<std::int64_t> l2_channels;  ///< of one GPU
};

/// Reads sysinfo.csv. Errors (bad_input) name the file: no table, no gpu_arch, a figure that is no
/// number. Empty figures, "N/A" and a clock of 0 are unknown.
Result<SystemInfo> read_sysinfo(std::string_view text, std::string_view file);

/// Reads <pid>_agent_info.csv. Errors as above, and more than kMostAgents rows.
Result<SystemInfo> read_agent_info(std::string_view text, std::string_view file);

/// How a table names an agent.
struct AgentLabel {
  bool among_gpus = false;  ///< "GPU 1": the second GPU (rocprofv3 --agent-index type-relative)
  std::int64_t number = 0;  ///< "Agent 4" (rocprofv3), "2" (rocprof-compute: the node id)
  friend auto operator<=>(const AgentLabel&, const AgentLabel&) = default;
};

/// Reads a label; nullopt: it has no such form.
std::optional<AgentLabel> parse_agent_label(std::string_view text);

/// The GPU of that label, with what is known of it. rocprofv3 numbers the agents that it sees
/// (Logical_Node_Id), or those of the node when asked to (Node_Id); sysinfo describes the one that
/// was profiled.
Agent agent_of(const SystemInfo& machine, const AgentLabel& label);

}  // namespace perflab::trace::counter_csv
