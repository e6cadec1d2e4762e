// What the tests of known kernels share: analysing files that were written, and checks of verdicts.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/analysis.h"
#include "analyze/bottleneck/known_kernels.h"

namespace perflab::analyze {

/// The sets that rocm-perf collects on an MI300X.
std::vector<std::vector<std::string>> sets_of_mi300x();

std::vector<std::filesystem::path> joined(const std::vector<std::filesystem::path>& a,
                                          const std::vector<std::filesystem::path>& b);

/// Without files: of the thread traces alone.
Analysis analysis_of(const std::vector<std::filesystem::path>& files,
                     const std::vector<std::filesystem::path>& traces = {}, unsigned threads = 2);

/// An empty one and a failure when there is none.
const KernelBottleneck& verdict_of(const Analysis& analysis, std::string_view kernel);

/// nullptr: the rule does not hold.
const HeldRule* held(const KernelBottleneck& kernel, std::string_view rule);

/// The verdict with everything up to that source.
Bottleneck verdict_at(const KernelBottleneck& kernel, FeatureSource last);

/// Equal but for 1e-6 (and what rounding leaves of 0).
bool equal(double a, double b);

/// Of dispatches, counters and thread trace.
Figures all_figures(const KernelPhysics& kernel);

/// Every figure that is expected is there, and has a source.
void expect_figures(const KernelBottleneck& kernel, const Figures& expected);

/// Every figure that rules quote is one that was worked out by hand, and the rule is right on it.
void expect_evidence(const KernelBottleneck& kernel, const Figures& expected);

/// Nothing of that source is there, and each says why.
void expect_missing(const KernelBottleneck& kernel, FeatureSource source);

/// What must be true of every verdict.
void expect_sound(const KernelBottleneck& kernel);

/// Everything that documents are made of.
std::string dump(const Analysis& analysis);

}  // namespace perflab::analyze
