// "Time this": one interface over replays of a capture, dispatch times from rocprofv3, and
// commands. A backend measures one variant once; interleave() takes turns between variants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/sandbox.h"
#include "replay/launch_change.h"
#include "sensors/turn.h"
#include "stats/comparison.h"

namespace perflab::measure {

/// Something that can be timed. Which field counts is up to the backend.
struct Variant {
  std::string name;                   ///< "original", "candidate 3": for messages
  std::filesystem::path code_object;  ///< replay; empty: the captured one
  replay::LaunchChange launch{};      ///< replay: of that code object
  std::vector<std::string> command;   ///< command, rocprofv3
  std::vector<std::pair<std::string, std::string>> environment;
  Confinement confinement{};  ///< command, rocprofv3
};

/// What the GPU's sensors said around the samples of one measurement.
struct Sensed {
  std::string source;  ///< empty: nothing was read
  std::string missing_because = "the readings around a whole program say nothing of its kernels";
  std::map<std::string, std::string> missing;  ///< reasons by field of a reading
  sensors::Span span;
};

/// What was read around the parts of a turn goes to `watch`, or why nothing was. False: what
/// happened to the GPU meanwhile spoils the turn, which is to be repeated.
bool judge_turn(sensors::TurnWatch& watch, std::span<const Sensed> parts);

/// One measurement of a variant.
struct Measured {
  std::vector<double> samples;  ///< at least one, in the backend's unit
  std::string failure;          ///< the variant's fault: "exited with code 3: ..."; empty: none
  Sensed sensed{};
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  Backend(Backend&&) = delete;
  Backend& operator=(Backend&&) = delete;
  virtual ~Backend() = default;

  /// "replay", "rocprofv3", "command (metric)", "command (wall time)".
  [[nodiscard]] virtual std::string name() const = 0;
  [[nodiscard]] virtual std::string unit() const = 0;  ///< "ns", "s", or the metric's own
  [[nodiscard]] virtual bool larger_is_better() const { return false; }
  /// Measures once. Errors: what is not the variant's fault (no device, interrupted).
  virtual Result<Measured> measure(const Variant& variant) = 0;
};

struct InterleaveOptions {
  stats::StoppingRule stopping;
  stats::ComparisonOptions comparison;
  std::size_t warmup = 1;        ///< measurements of each that do not count
  sensors::TurnLimits limits{};  ///< of turns that are repeated
  /// No new turn is begun after it; unset: none.
  std::function<bool()> out_of_time;
  /// Asked at every look: whether the verdict is clear. Unset: it is not UNDECIDED.
  std::function<bool(const stats::Comparison&)> decided;
};

/// Samples of two variants, taken in turns: A B, B A, A B, ...
struct Interleaved {
  std::vector<double> a, b;  ///< one per whole turn: the median of what the measurement gave
  std::string unit;
  std::string order;  ///< "ABBAAB...": as measured, without the warm-up
  std::string failure_a, failure_b;
  sensors::Conditions conditions;  ///< a turn each
  stats::Comparison comparison;    ///< at the confidence of the last look
  bool out_of_time = false;        ///< ended before the verdict was clear
};

/// What interleave() makes of samples: the comparison at the confidence of one look, UNDECIDED
/// while there are fewer than the rule's fewest. The same samples and options give the same
/// comparison, so that a recorded one can be made again (`options.comparison.larger_is_better` as
/// the backend has it).
stats::Comparison compare_interleaved(std::span<const double> a, std::span<const double> b,
                                      const InterleaveOptions& options);

/// Takes turns until the verdict is clear or the rule's most samples are there. A turn in which the
/// GPU's clock changed or that was throttled is taken again, as far as `options.limits` allow. A
/// failure of a variant ends it. Which direction is better is the backend's word, whatever
/// `options.comparison` says. `on_turn`: called after each turn that counts, for progress; its
/// comparison is that of the last look. Errors: those of Backend::measure(), interrupted.
Result<Interleaved> interleave(Backend& backend, const Variant& a, const Variant& b,
                               const InterleaveOptions& options,
                               const std::function<void(const Interleaved&)>& on_turn = {});

}  // namespace perflab::measure
