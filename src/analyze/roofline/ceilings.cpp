// Measured before tabulated; a measured vector rate that only packed instructions can reach is not
// taken for the plain one.
#include "analyze/roofline/ceilings.h"

#include <fmt/format.h>

#include "analyze/kernels/gpu.h"
#include "base/text/number_text.h"

namespace perflab::analyze {
namespace {

/// rocprof-compute's FP32 benchmark runs packed instructions in newer versions
/// (docs/facts/hardware.md "Measured rates"): what lies this far above the plain rate is the packed
/// one.
constexpr double kPackedFrom = 1.05;

/// Clocks above those of the tables leave measured figures less than this above their peaks.
constexpr double kMostMeasured = 1.1;

/// Lanes x MHz make 1e6 operations per second; rates are in 1e9.
constexpr double kGigaPerMega = 1e-3;

/// Memory transfers at both edges of its clock: docs/facts/cuda_cupti.md "Driver". 1e9
/// bytes per second; missing: an attribute is.
std::optional<double> memory_gbps(const std::optional<trace::CudaFacts>& facts) {
  if (!facts || !facts->memory_clock_khz || !facts->memory_bus_bits) return std::nullopt;
  return 2 * static_cast<double>(*facts->memory_clock_khz) * 1e3 *
         static_cast<double>(*facts->memory_bus_bits) / 8 / 1e9;
}

}  // namespace

Ceilings::Ceilings(const trace::Agent* agent, std::string_view architecture,
                   const hal::MeasuredRoofs* measured, bool own_attributes)
    : measured_(measured), from_(own_attributes ? "device" : "tables") {
  const hal::Arch* const arch = hal::find_arch(architecture);
  if (arch == nullptr) {
    reason_ = architecture.empty()
                  ? "the recording does not say which GPU it is of"
                  : fmt::format("{} is not in the tables of this version", architecture);
    return;
  }
  hal::AgentFigures figures;
  const hal::Product* product = nullptr;
  if (agent != nullptr) {
    product = product_of(*agent);
    figures = {.cus = agent->facts.compute_units,
               .clock_mhz = agent->facts.clock_mhz,
               .xcds = agent->facts.xcc_count,
               .memory_gbps = memory_gbps(agent->facts.cuda)};
  }
  infinity_cache_ = product != nullptr && product->mall_mib > 0;
  const hal::PeakInputs inputs = product != nullptr && !own_attributes
                                     ? hal::peak_inputs(*product, figures)
                                     : hal::peak_inputs(*arch, figures);
  peaks_ = hal::compute_peaks(inputs);
  if (inputs.cus.value && inputs.clock_mhz.value)
    lane_rate_ = *inputs.cus.value * arch->simds_per_cu * arch->simd_width *
                 *inputs.clock_mhz.value * kGigaPerMega;
}

std::vector<std::string> Ceilings::contradictions() const {
  std::vector<std::string> found;
  if (measured_ == nullptr || !peaks_) return found;
  const auto compare = [&](const hal::MeasuredRoof& roof, const hal::Peak& peak) {
    if (peak.value && roof.value > kMostMeasured * *peak.value)
      found.push_back(
          fmt::format("measured {} of {} is above the {} {} of the tables: the "
                      "ceilings are perhaps those of another GPU",
                      roof.column, number_text(roof.value), number_text(*peak.value), peak.unit));
  };
  if (measured_->memory) compare(*measured_->memory, peaks_->memory);
  if (measured_->l2) compare(*measured_->l2, peaks_->l2);
  if (measured_->lds) compare(*measured_->lds, peaks_->lds);
  for (const hal::MeasuredRate& rate : measured_->rates)
    if (rate.pipe == hal::Pipe::matrix) compare(rate.roof, peaks_->of(rate.pipe, rate.precision));
  return found;
}

Ceiling Ceilings::from_measured(const hal::MeasuredRoof& roof, std::string_view unit,
                                const Ceiling& nominal) {
  Ceiling ceiling;
  ceiling.value = roof.value;
  ceiling.unit = unit;
  ceiling.from = "measured";
  ceiling.formula = fmt::format("{} of the measured ceilings", roof.column);
  if (nominal.value)
    ceiling.formula += fmt::format("; nominal {} {}", number_text(*nominal.value), nominal.unit);
  return ceiling;
}

Ceiling Ceilings::from_peak(const hal::Peak& peak) const {
  Ceiling ceiling;
  ceiling.value = peak.value;
  ceiling.unit = peak.unit;
  ceiling.from = from_;
  ceiling.formula = peak.formula;
  ceiling.unconfirmed = peak.unconfirmed;
  ceiling.reason = peak.missing;
  return ceiling;
}

Ceiling Ceilings::bandwidth(std::string_view level) const {
  const auto pick = [&](const std::optional<hal::MeasuredRoof> hal::MeasuredRoofs::* measured,
                        const hal::Peak hal::Peaks::* peak) {
    Ceiling table;
    table.unit = "GB/s";
    table.from = from_;
    table.reason = reason_;
    if (peaks_) table = from_peak(*peaks_.*peak);
    if (measured_ == nullptr || !(measured_->*measured)) return table;
    return from_measured(*(measured_->*measured), "GB/s", table);
  };
  if (level == "hbm") return pick(&hal::MeasuredRoofs::memory, &hal::Peaks::memory);
  if (level == "l2") return pick(&hal::MeasuredRoofs::l2, &hal::Peaks::l2);
  return pick(&hal::MeasuredRoofs::lds, &hal::Peaks::lds);
}

Ceiling Ceilings::rate(hal::Pipe pipe, hal::Precision precision) const {
  Ceiling table;
  table.unit = "GFLOP/s";
  table.from = from_;
  table.reason = reason_;
  if (peaks_) table = from_peak(peaks_->of(pipe, precision));
  const hal::MeasuredRoof* const measured =
      measured_ != nullptr ? measured_->of(pipe, precision) : nullptr;
  if (measured == nullptr) return table;
  if (pipe == hal::Pipe::vector && table.value && measured->value > kPackedFrom * *table.value)
    return table;
  return from_measured(*measured, table.unit, table);
}

}  // namespace perflab::analyze
