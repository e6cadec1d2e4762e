// Features, conditions and lists in words, for the sentences of a verdict. Private to
// src/analyze/bottleneck.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyze/bottleneck/bottleneck.h"

namespace perflab::analyze {

struct Kernel;

/// "83 %", "4.2 us", "12 waves".
std::string value_in_words(FeatureId id, double value);
/// "memory bandwidth used 83 % (at least 60 %)".
std::string in_words(const Evidence& evidence);
/// "a, b and c".
std::string list_in_words(const std::vector<std::string>& items);

/// Whether the condition holds; nullopt: the feature is missing.
std::optional<bool> holds(const Condition& condition, const FeatureSet& features);

/// The first of them when its score is enough for a verdict, else nullptr.
const Candidate* winner_of(const std::vector<Candidate>& candidates);

/// The bound on what could be gained under the verdict.
Bound find_bound(const FeatureSet& features, Verdict verdict, const Measurements& analysis,
                 const KernelCriticality* criticality);

/// The cheapest measurement that could change the verdict; nullopt: none can.
std::optional<NextMeasurement> find_next_measurement(const FeatureSet& features,
                                                     const std::vector<Candidate>& candidates);

/// What to try, by the rules that hold for the verdict. `kernel`: nullptr without one.
std::vector<Advice> find_advice(const Candidate& winner, const Kernel* kernel,
                                const KernelThreadTrace* thread_trace);

}  // namespace perflab::analyze
