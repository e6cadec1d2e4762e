// The state of the tools library. Everything here lives until the process is gone: programs call
// the runtime from exit handlers, after destructors of libraries have run
// (docs/facts/hsa_runtime.md "Load and unload of tools").
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "hsa/loader_table.h"
#include "isolate/code/code_objects.h"
#include "isolate/machine/gate.h"
#include "isolate/machine/queues.h"
#include "isolate/machine/topology.h"
#include "isolate/protocol/process_state.h"
#include "isolate/tool/allocations.h"

namespace perflab::isolate {

/// One life of the runtime.
struct Tool {
  Tool(ProcessState& state, const hsa::Api& saved, Topology known)
      : process(state),
        api(saved),
        loader(hsa::loader_of(saved.core)),
        machine(std::move(known)),
        code(api, loader, state.kernels),
        queues(api) {}

  ProcessState& process;
  const hsa::Api api;             ///< as the tables were before we hooked them
  const hsa::LoaderTable loader;  ///< likewise
  const Topology machine;
  Allocations memory;
  CodeObjects code;
  Queues queues;
  Gate gate;

  /// Notes what the capture will not be able to see or do; once per sentence.
  void limit(std::string_view sentence) noexcept;
  std::vector<std::string> limits() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> limits_;
};

/// The running tool. Set before anything is hooked.
Tool& tool();

/// Starts on these tables when the environment says what to capture; else, and when something that
/// capturing needs is missing, they stay as they are and the status says why.
void load(const hsa::ApiTables& tables);

/// The packet handler of every intercepted queue; `data` is its InterceptedQueue.
void on_packets(const void* packets, std::uint64_t count, std::uint64_t index, void* data,
                hsa::PacketWriter writer) noexcept;

/// Dispatches a packet, and captures it. Called inside a packet handler. When it returns, the
/// packet was passed on exactly once, whatever went wrong; the status says how it ended.
void capture_dispatch(Tool& tool, InterceptedQueue& queue, const KernelName& name,
                      const hsa::KernelDispatchPacket& packet, hsa::PacketWriter writer) noexcept;

}  // namespace perflab::isolate
