// Sums of a kernel's samples to its figures. Internal to src/analyze/pc_sampling.
#pragma once

#include "analyze/pc_sampling/kernel_tally.h"
#include "analyze/pc_sampling/pc_figures.h"
#include "analyze/pc_sampling/sampled_code.h"
#include "analyze/pc_sampling/share_maker.h"
#include "pc_sampling/model.h"

namespace perflab::analyze {

/// Fills everything of `out` that sums tell, but for features, quality and confidence.
/// `out.architecture` is set.
void add_figures(const pc_sampling::PcSamples& samples, const SampledCode& code,
                 const KernelTally& tally, const ShareMaker& shares, KernelPcSamples& out);

/// Fills the features, or their reasons in `out.missing`. After quality was judged: with refusals
/// there are none.
void add_features(const pc_sampling::PcSamples& samples, const KernelTally& tally,
                  const ShareMaker& shares, KernelPcSamples& out);

/// Whether an architecture's samples state a pipe: its zeros mean idle. Of unknown architectures
/// those are taken as stated that any sample has (`seen`).
bool pipe_available(std::string_view architecture, pc_sampling::Pipe pipe, std::uint16_t seen);

}  // namespace perflab::analyze
