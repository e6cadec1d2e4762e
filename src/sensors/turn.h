// Which turns of a measurement count: one in which the GPU's clock changed, or in which it was
// throttled, is repeated, a bounded number of times.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sensors/reading.h"
#include "sensors/sensors.h"

namespace perflab::sensors {

struct TurnLimits {
  /// Between the readings of a turn, as a share of the higher one: more is a change. NVIDIA's
  /// clocks go in steps of less than 1 %.
  double clock_change = 0.05;
  std::size_t most_repeats =
      10;  ///< of all turns together, so that throttling cannot go on for ever
};

/// A turn that counts.
struct Turn {
  Reading before, after;
  Throttles throttled;      ///< at a reading, or between two
  std::size_t repeats = 0;  ///< turns before it that did not count
  std::string
      disturbed;  ///< what was wrong with it all the same: no repeat was left; empty: nothing
};

/// What was read around the turns of a measurement.
struct Conditions {
  std::string source;                          ///< of the readings; empty: there are none
  std::string missing_because;                 ///< why not; empty: there are
  std::map<std::string, std::string> missing;  ///< reasons by field of a reading
  TurnLimits limits;
  std::vector<Turn> turns;    ///< one for each that counts
  std::size_t repeated = 0;   ///< turns that did not count
  std::size_t disturbed = 0;  ///< turns that count though they were disturbed

  /// For people: "3 turns were repeated: ..."; empty: nothing happened.
  [[nodiscard]] std::string words() const;
};

/// What is wrong with a turn: "the core clock went from 1980 to 1410 MHz", "throttled: power";
/// empty: nothing that can be seen. `throttled`: what it was slowed down by.
std::string disturbance_of(std::span<const Span> spans, double clock_change, Throttles& throttled);

/// Decides turn by turn.
class TurnWatch {
 public:
  explicit TurnWatch(const TurnLimits& limits) { conditions_.limits = limits; }

  /// A turn has ended; `spans` are its parts, in order. False: it is to be repeated.
  bool take(std::span<const Span> spans);
  [[nodiscard]] Conditions& conditions() { return conditions_; }

 private:
  Conditions conditions_;
  std::size_t repeats_ = 0;  ///< of the turn under way
};

/// What a measurement without sensors says.
Conditions no_conditions(std::string because);

}  // namespace perflab::sensors
