// What the files that fill a FeatureSet share: giving a feature its value with where it is from, or
// the reason why it has none. Private to src/analyze/bottleneck.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analyze/bottleneck/feature_table.h"
#include "analyze/kernels/cu_room.h"
#include "analyze/pc_sampling/pc_figures.h"
#include "analyze/thread_trace/cycle_figures.h"

namespace perflab::analyze {

inline constexpr std::string_view kCountersRemedy =
    "collect counters: rocm-perf profile --roofline -- ./app";
inline constexpr std::string_view kTimesRemedy =
    "add the database of a run without counters: rocm-perf profile -- ./app";
inline constexpr std::string_view kPcSamplingRemedy =
    "take PC samples: rocm-perf profile --pc-sampling -- ./app";
inline constexpr std::string_view kThreadTraceRemedy =
    "take a thread trace: rocm-perf profile --att -- ./app";

inline constexpr std::string_view kCodeRemedy = "give the program or its code object with --code";

/// A value that is not finite is none.
inline void give(FeatureSet& set, FeatureId id, double value, std::string from) {
  Feature& feature = set[id];
  feature.reason.clear();
  feature.remedy.clear();
  if (std::isfinite(value)) {
    feature.value = value;
    feature.from = std::move(from);
  } else {
    feature.reason = "what it divides by is 0";
  }
}

/// An empty remedy: it cannot be had.
inline void lack(FeatureSet& set, FeatureId id, std::string reason, std::string_view remedy) {
  set[id] = {.id = id,
             .value = {},
             .low = {},
             .high = {},
             .from = {},
             .reason = std::move(reason),
             .remedy = std::string(remedy)};
}

/// Every feature of that source.
inline void lack_all(FeatureSet& set, FeatureSource source, std::string_view reason,
                     std::string_view remedy) {
  for (std::size_t i = 0; i < kFeatures; ++i)
    if (const auto id = static_cast<FeatureId>(i); info(id).source == source)
      lack(set, id, std::string(reason), remedy);
}

struct KernelRoofline;

/// Fills everything whose source is counters. `resident_waves`: see CuRoom.
void add_counter_features(const KernelRoofline& roofline, const CuRoom& room, FeatureSet& set);

/// Fills everything whose source is pc_sampling: the samples of one kernel.
void add_pc_sampling_features(const KernelPcSamples& samples, FeatureSet& set);

/// The same where there are none; `missing`: why. A remedy only where the architecture can be
/// sampled so that reasons are known.
void lack_pc_sampling(std::string_view architecture, const Missing& missing, FeatureSet& set);

/// Fills everything whose source is thread_trace.
void add_thread_trace_features(const KernelThreadTrace& thread_trace, FeatureSet& set);

}  // namespace perflab::analyze
