// The detail of a traced kernel, from the sums of its rows and the folder's own copies of sources.
#pragma once

#include <cstddef>
#include <vector>

#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/detail.h"
#include "analyze/thread_trace/fold.h"
#include "analyze/thread_trace/row_table.h"
#include "analyze/thread_trace/trace_kernels.h"
#include "att/read_thread_trace.h"

namespace perflab::analyze {

/// Rows, labels, waits, states and waves of one kernel (of TraceKernels::all()); `sums` are those
/// of its figures. Sources without text: add_source_texts().
TraceDetail make_detail(const att::ThreadTrace& trace, const RowTable& table,
                        const TraceKernels& kernels, std::size_t kernel, const KernelFold& fold,
                        const std::vector<RowSum>& sums);

/// Texts of all files of one kernel: beyond that the most expensive ones' alone.
inline constexpr std::uint64_t kMostSourceBytesOfAKernel = std::uint64_t{32} << 20;

/// Reads the trace's copies of the sources that rows name, those with the most cycles first.
void add_source_texts(const att::Found& found, const att::ThreadTrace& trace, TraceDetail& detail);

}  // namespace perflab::analyze
