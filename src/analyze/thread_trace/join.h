// Which kernel of the analysis, and which dispatch of the recording, a traced kernel is.
#pragma once

#include <cstdint>
#include <optional>

#include "analyze/kernels/kernel.h"
#include "analyze/thread_trace/trace_kernels.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// What a traced kernel was joined to.
struct TraceJoin {
  std::optional<std::size_t> kernel;  ///< index into Analysis::kernels
  bool by_dispatch = false;           ///< the recording has the dispatch, with this kernel
  std::optional<std::uint64_t> waves_of_dispatch;  ///< nullopt: the launch or wave size is unknown
};

/// By dispatch id where the recording has a dispatch of that number and of a kernel of that name
/// (the recording does not say the agent's handle), else by mangled name, else by display name.
/// Waves of the dispatch: of that launch; joined by name alone, only if all launches of the kernel
/// have one shape.
TraceJoin join_kernel(const TraceKernel& kernel, std::optional<std::int64_t> dispatch_id,
                      const trace::Trace& trace, const std::vector<Kernel>& kernels);

}  // namespace perflab::analyze
