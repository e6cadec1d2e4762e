// Rooflines made by hand, with everything that a roofline can hold: figures in every state, two
// GPUs, a kernel without floating-point operations, an estimate, a share above 1.
#pragma once

#include "analyze/analysis.h"

namespace perflab::report {

/// An analysis with such a roofline: kernels gemm, axpy and copy on one GPU, axpy on another, and a
/// kernel of which nothing is known. gemm: 2e12 FLOP of matrix fp16 and 1e9 of vector fp32 in 10
/// ms, with 2e9 bytes of HBM; axpy: 2e8 FLOP fp64 in 1 ms with 2.4e9 bytes.
analyze::Analysis sample_roofline();

/// The trace of that analysis: its files.
trace::Trace sample_roofline_trace();

/// A kernel that reached `gflops` at `intensity` FLOP per byte of HBM, under roofs of 1000 GFLOP/s
/// (vector fp32) and 100 GB/s.
analyze::KernelRoofline simple_kernel(const std::string& name, double gflops, double intensity);

}  // namespace perflab::report
