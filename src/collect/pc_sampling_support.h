// What this machine's profiler says about PC sampling before anything is run with it, what is asked
// of it then, and the known faults of its versions. Facts: docs/facts/pc_sampling.md "Collecting".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "collect/rocprofv3.h"
#include "pc_sampling/model.h"

namespace perflab::collect {

/// A way to sample that the profiler offers on one GPU.
struct PcSamplingOffer {
  std::string gpu;  ///< "gfx942"; empty: it names none
  pc_sampling::Method method = pc_sampling::Method::stochastic;
  std::uint64_t least = 1, most = UINT64_MAX;  ///< cycles, or microseconds of host traps
  bool power_of_two = false;                   ///< of the interval
  friend bool operator==(const PcSamplingOffer&, const PcSamplingOffer&) = default;
};

/// The offers in the answer of `rocprofv3 -L`, whose form changed between ROCm 6.4 and 7.1. Empty:
/// it names none.
std::vector<PcSamplingOffer> pc_sampling_offers(std::string_view answer);

/// Asks `rocprofv3 -L`. Errors: missing_tool (it cannot be started, or gives no answer in time),
/// interrupted.
Result<std::vector<PcSamplingOffer>> ask_for_pc_sampling(const Rocprofv3& tool);

/// What the user wants; the rest is chosen.
struct PcSamplingWish {
  std::optional<pc_sampling::Method> method;
  std::optional<std::uint64_t> interval;  ///< cycles, or microseconds of host traps
};

/// How to sample.
struct PcSamplingChoice {
  pc_sampling::Method method = pc_sampling::Method::stochastic;
  std::uint64_t interval = 0;      ///< as the wish has it; 0: CUPTI's own choice
  std::vector<std::string> notes;  ///< sentences for people: what was changed, and why
};

/// Stochastic sampling every 65,536 cycles where the GPU has it, else host traps every 512 us.
/// Error (missing_tool): the GPU offers none of it, or not the method of the wish; (usage): an
/// interval that it does not take. `architecture`: of the GPU; empty: any.
Result<PcSamplingChoice> choose_pc_sampling(const std::vector<PcSamplingOffer>& offers,
                                            std::string_view architecture,
                                            const PcSamplingWish& wish);

/// CUPTI's own choice of interval (0), or the cycles of the wish. Errors (usage): a method, for
/// CUPTI has one; cycles that are no power of two from 32 to 2^31.
Result<PcSamplingChoice> choose_cuda_pc_sampling(const PcSamplingWish& wish);

/// "cycles" or "us": of intervals, for people.
std::string_view interval_unit(pc_sampling::Method method);

/// When a known fault is worth mentioning.
enum class PcSamplingSymptom : std::uint8_t {
  always,      ///< before a run
  no_samples,  ///< it ended well and left none
  hang,        ///< it did not end in time
};

/// Known faults of PC sampling that can be behind it, each with its link. `version`: of
/// rocprofiler-sdk, "1.3.2"; empty: any.
std::vector<std::string> known_pc_sampling_faults(PcSamplingSymptom symptom,
                                                  std::string_view architecture,
                                                  pc_sampling::Method method,
                                                  std::string_view version);

}  // namespace perflab::collect
