// Does a kernel's code have packed floating-point instructions (v_pk_fma_f32)? Counters take one of
// them as one operation per lane although it does two, so that whoever reads FLOPs must know.
#pragma once

#include "analyze/kernels/code_join.h"
#include "analyze/roofline/roofline.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Kernels, most time first, whose code is disassembled for this at most.
inline constexpr std::size_t kMostKernelsForPacked = 16;

/// Sets packed_code of each kernel that does FP32 or FP16 vector work on an architecture with
/// packed instructions, from its joined code object; of the others, and where that cannot be,
/// `missing` says why. Code that has some gets an explanation with the most that the FLOPs can be.
void find_packed_code(const trace::Trace& trace, const CodeJoin& join, Roofline& roofline);

}  // namespace perflab::analyze
