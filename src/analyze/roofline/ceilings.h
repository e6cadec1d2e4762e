// The ceilings of one GPU: measured ones where a benchmark gave them, else the tables'
// (hal/peaks.h), or, if so asked, those of the device's own attributes.
#pragma once

#include <string_view>

#include "analyze/roofline/roofline.h"
#include "hal/measured_roofs.h"
#include "hal/peaks.h"
#include "trace/trace.h"

namespace perflab::analyze {

class Ceilings {
 public:
  /// `agent`: the GPU of a trace; nullptr or one that no table knows gives ceilings without values.
  /// `measured` outlives the object; may be null. `own_attributes`: units, clocks and memory as the
  /// agent itself reports them; what it does not report is then missing, whatever its product has.
  Ceilings(const trace::Agent* agent, std::string_view architecture,
           const hal::MeasuredRoofs* measured, bool own_attributes = false);

  /// "hbm", "l2" or "lds".
  [[nodiscard]] Ceiling bandwidth(std::string_view level) const;
  [[nodiscard]] Ceiling rate(hal::Pipe pipe, hal::Precision precision) const;
  /// Measured figures that no GPU of the tables' description can reach, a sentence each: the file
  /// is of another GPU, or the tables are wrong.
  [[nodiscard]] std::vector<std::string> contradictions() const;
  /// One operation of every lane of every SIMD per clock, in GOP/s: what plain integer instructions
  /// reach at most; nullopt: the GPU is not known.
  [[nodiscard]] std::optional<double> lane_rate() const { return lane_rate_; }
  /// The product has an Infinity Cache behind L2: bytes that left L2 may have been served by it.
  [[nodiscard]] bool has_infinity_cache() const { return infinity_cache_; }

 private:
  [[nodiscard]] Ceiling from_peak(const hal::Peak& peak) const;
  /// `nominal`: that of the tables, which stands beside it.
  [[nodiscard]] static Ceiling from_measured(const hal::MeasuredRoof& roof, std::string_view unit,
                                             const Ceiling& nominal);

  std::optional<hal::Peaks> peaks_;
  std::string reason_;  ///< why there are no peaks
  const hal::MeasuredRoofs* measured_;
  const char* from_;  ///< Ceiling::from of what is not measured
  std::optional<double> lane_rate_;
  bool infinity_cache_ = false;
};

}  // namespace perflab::analyze
