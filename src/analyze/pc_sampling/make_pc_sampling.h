// PC samples in, what they say about each kernel out.
#pragma once

#include <filesystem>
#include <vector>

#include "analyze/kernels/kernel.h"
#include "analyze/pc_sampling/kernel_codes.h"
#include "analyze/pc_sampling/pc_figures.h"
#include "base/error.h"
#include "base/text/progress.h"
#include "pc_sampling/model.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// Where samples are, and what they are read with.
struct PcSamplesRequest {
  std::vector<std::filesystem::path> places;  ///< files, or folders of them
  /// Distance of ticks: cycles of stochastic samples, microseconds of host traps; nullopt: that of
  /// profiling_config.yaml beside the samples, else estimated.
  std::optional<std::uint64_t> interval;
  std::vector<std::filesystem::path> code_files;  ///< binaries that hold the kernels
  bool search_code = true;                        ///< also look where the samples say
  /// Index into the recording's kernels: only this one is analysed. Without: all.
  std::optional<std::size_t> only_kernel = std::nullopt;
  TellProgress progress = {};
};

/// Figures of samples: pure. `trace` and `kernels`: a recording of the same command, may be empty.
/// `only_kernel` as PcSamplesRequest::only_kernel.
PcSampling analyze_pc_samples(const pc_sampling::PcSamples& samples, PcIntervalSource source,
                              const KernelCodes& codes, const trace::Trace& trace,
                              const std::vector<Kernel>& kernels,
                              std::optional<std::size_t> only_kernel = std::nullopt);

/// Reads samples and analyses them. Errors: those of pc_sampling::read, and a code file that cannot
/// be used.
Result<PcSampling> make_pc_sampling(const PcSamplesRequest& request, const trace::Trace& trace,
                                    const std::vector<Kernel>& kernels);

}  // namespace perflab::analyze
