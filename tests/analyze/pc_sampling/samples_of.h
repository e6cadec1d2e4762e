// PC samples of a description, written as rocprofv3 does and read back, and their analysis.
#pragma once

#include <string>
#include <vector>

#include "analyze/pc_sampling/make_pc_sampling.h"
#include "pc_sampling/model.h"
#include "support/pc_samples_writer.h"

namespace perflab::analyze {

/// The samples of a run. `interval` 0: not stated.
pc_sampling::PcSamples samples_of(const test::PcRun& run, std::uint64_t interval = 65536,
                                  test::PcForms forms = {.json = true, .csv = false});

/// Their analysis, without recording and code.
PcSampling analysis_of(const pc_sampling::PcSamples& samples);
PcSampling analysis_of(const test::PcRun& run, std::uint64_t interval = 65536);

/// The kernel of that name, which must be there.
const KernelPcSamples& kernel_of(const PcSampling& sampling, const std::string& name);

/// Its instruction of that text.
const PcInstruction& instruction_of(const KernelPcSamples& kernel, const std::string& text);

/// Whether `field` is in the list of what is missing.
bool is_missing(const std::vector<Missing>& missing, const std::string& field);

}  // namespace perflab::analyze
