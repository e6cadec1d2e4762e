// How good the samples of a kernel are, and what must not be concluded from them. Internal to
// src/analyze/pc_sampling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/kernels/kernel.h"
#include "analyze/pc_sampling/kernel_tally.h"
#include "analyze/pc_sampling/pc_figures.h"
#include "analyze/pc_sampling/ticks.h"
#include "pc_sampling/model.h"
#include "trace/trace.h"

namespace perflab::analyze {

/// The samples of one kernel on one GPU.
struct KernelRows {
  pc_sampling::Index kernel = pc_sampling::kNone;  ///< the first that was seen; kNone: not known
  pc_sampling::Index agent = pc_sampling::kNone;
  std::vector<std::uint32_t> rows;             ///< decoded ones
  std::uint64_t undecoded = 0;                 ///< samples of its dispatches that are not
  std::vector<pc_sampling::Index> dispatches;  ///< recorded ones of it, by start
  std::uint64_t samples_in_dispatches = 0;     ///< of `rows`, in recorded dispatches
};

/// Fills `out.quality`, but for plain times. `out.samples` is set.
void add_quality(const pc_sampling::PcSamples& samples, const KernelRows& rows,
                 const KernelTally& tally, const TickLength& tick, KernelPcSamples& out);

/// The mean time of the kernel in the recording, where that is of a run that was not sampled.
void add_plain_time(const pc_sampling::PcSamples& samples, const trace::Trace& trace,
                    const std::vector<Kernel>& kernels, KernelPcSamples& out);

/// Fills refusals and confidence. Everything but the features is set.
void judge_samples(const PcSampleSet& set, KernelPcSamples& out);

}  // namespace perflab::analyze
