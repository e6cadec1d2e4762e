// Features of PC samples: shares of the kernel's samples, issued and stalled ones, with the bounds
// of their intervals (docs/models/pc_sampling.md). Samples that quality or method refuse give none.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "analyze/bottleneck/feature_parts.h"
#include "pc_sampling/support.h"

namespace perflab::analyze {
namespace {

using enum FeatureId;

struct PcFeatureField {
  FeatureId id;
  PcEstimate PcFeatures::* field;
  std::string_view missing;  ///< its entry in KernelPcSamples::missing
};

constexpr std::array kPcFields = {
    PcFeatureField{pc_issued, &PcFeatures::issued, "features.issued"},
    PcFeatureField{pc_memory_wait, &PcFeatures::memory_wait, "features.memory_wait"},
    PcFeatureField{pc_lds_wait, &PcFeatures::lds_wait, "features.lds_wait"},
    PcFeatureField{pc_scalar_wait, &PcFeatures::scalar_wait, "features.scalar_wait"},
    PcFeatureField{pc_wait_unknown, &PcFeatures::wait_unknown, "features.wait_unknown"},
    PcFeatureField{pc_barrier, &PcFeatures::barrier, "features.barrier"},
    PcFeatureField{pc_vmem_backpressure, &PcFeatures::vmem_backpressure,
                   "features.vmem_backpressure"},
    PcFeatureField{pc_lds_backpressure, &PcFeatures::lds_backpressure, "features.lds_backpressure"},
    PcFeatureField{pc_matrix_busy, &PcFeatures::matrix_busy, "features.matrix_busy"},
    PcFeatureField{pc_valu_busy, &PcFeatures::valu_busy, "features.valu_busy"},
    PcFeatureField{pc_contention, &PcFeatures::contention, "features.contention"},
    PcFeatureField{pc_dependency, &PcFeatures::dependency, "features.dependency"},
    PcFeatureField{pc_instruction_fetch, &PcFeatures::instruction_fetch,
                   "features.instruction_fetch"},
    PcFeatureField{pc_lanes_active, &PcFeatures::lanes_active, "features.lanes_active"},
    PcFeatureField{pc_waves_per_cu, &PcFeatures::waves_per_busy_cu, "features.waves_per_busy_cu"},
    PcFeatureField{pc_simd_latency, &PcFeatures::simd_latency, "features.simd_latency"},
};

/// A figure of samples without an interval decides nothing.
void add_estimate(const KernelPcSamples& samples, const PcFeatureField& field, FeatureSet& set) {
  const PcEstimate& estimate = samples.features.*field.field;
  if (estimate.value && estimate.interval) {
    const double scale = info(field.id).unit == "share" ? 100 : 1;
    give(set, field.id, *estimate.value,
         fmt::format("{} samples{}; 95 % interval {:.3g} to {:.3g}{}", samples.samples,
                     samples.ticks > 0 ? fmt::format(" in {} ticks", samples.ticks) : "",
                     scale * estimate.interval->low, scale * estimate.interval->high,
                     scale == 1 ? "" : " %"));
    set[field.id].low = estimate.interval->low;
    set[field.id].high = estimate.interval->high;
    return;
  }
  for (const Missing& missing : samples.missing)
    if (missing.field == field.missing) return lack(set, field.id, missing.reason, "");
  lack(set, field.id,
       estimate.value ? "it has no interval: " + samples.intervals_reason
                      : "the samples do not tell it",
       "");
}

}  // namespace

void add_pc_sampling_features(const KernelPcSamples& samples, FeatureSet& set) {
  if (!samples.refusals.empty())
    return lack_all(set, FeatureSource::pc_sampling,
                    fmt::format("{}", fmt::join(samples.refusals, "; ")), "");
  if (samples.method == pc_sampling::Method::host_trap)
    return lack_all(set, FeatureSource::pc_sampling,
                    "host traps say where waves were, not what they did there", "");
  for (const PcFeatureField& field : kPcFields) add_estimate(samples, field, set);
}

void lack_pc_sampling(std::string_view architecture, const Missing& missing, FeatureSet& set) {
  const bool possible = pc_sampling::support_of(architecture).stochastic;
  lack_all(set, FeatureSource::pc_sampling, missing.reason,
           possible ? kPcSamplingRemedy : std::string_view());
}

}  // namespace perflab::analyze
