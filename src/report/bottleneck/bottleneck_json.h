// Bottleneck verdicts as the documents have them (definition `bottlenecks` of their schemas): the
// verdict of each kernel with everything that it was concluded from.
#pragma once

#include "analyze/bottleneck/bottleneck.h"
#include "base/text/json.h"

namespace perflab::report {

/// `bottlenecks` of analysis.json and roofline.json. Every null has an entry in the `missing` of
/// its object; a feature carries its own reason.
Json bottlenecks_json(const analyze::Bottlenecks& bottlenecks);

/// `bottleneck` of profile.json: the verdict alone.
Json verdict_json(const analyze::KernelBottleneck& bottleneck);

/// The candidate of the verdict; nullptr: insufficient data.
const analyze::ScoredBottleneck* winner(const analyze::KernelBottleneck& bottleneck);

/// Features without a value that keep the rule from being decided.
std::vector<analyze::FeatureId> missing_features(const analyze::Rule& rule,
                                                 const analyze::FeatureSet& features);

}  // namespace perflab::report
