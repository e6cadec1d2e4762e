// Turns between two variants. Alternating which of them goes first (A B, B A) lets whatever drifts
// in the machine - clocks, temperature, other users - fall on both alike.
#include <algorithm>
#include <array>
#include <utility>

#include "base/system/interrupt.h"
#include "measure/backend.h"
#include "stats/summary.h"

namespace perflab::measure {
namespace {

/// One side of a comparison while it is measured.
struct Side {
  const Variant& variant;
  char letter;
  std::vector<double>& samples;
  std::string& failure;
};

/// One measurement; nothing: the variant failed, which is noted.
Result<std::optional<double>> measure_side(Backend& backend, const Side& side, Sensed& sensed) {
  if (interrupted()) return fail(ErrorCode::interrupted, "interrupted while measuring");
  PERFLAB_TRY(Measured measured, backend.measure(side.variant));
  if (!measured.failure.empty()) {
    side.failure = std::move(measured.failure);
    return std::optional<double>{};
  }
  sensed = std::move(measured.sensed);
  const std::optional<double> median = stats::summarize(measured.samples).median;
  if (!median) side.failure = "gave no finite number";
  return median;
}

/// Both sides once, the first one first, again while what happened to the GPU spoils it. A turn
/// counts as a whole or not at all; false: a failure. `watch`: null: it does not count.
Result<bool> take_turn(Backend& backend, const Side& first, const Side& second,
                       sensors::TurnWatch* watch, std::string& order) {
  while (true) {
    Sensed of_one, of_other;
    PERFLAB_TRY(const std::optional<double> one, measure_side(backend, first, of_one));
    if (!one) return false;
    PERFLAB_TRY(const std::optional<double> other, measure_side(backend, second, of_other));
    if (!other) return false;
    if (watch == nullptr) return true;
    if (!judge_turn(*watch, std::array{of_one, of_other})) continue;
    first.samples.push_back(*one);
    second.samples.push_back(*other);
    (order += first.letter) += second.letter;
    return true;
  }
}

}  // namespace

bool judge_turn(sensors::TurnWatch& watch, std::span<const Sensed> parts) {
  sensors::Conditions& conditions = watch.conditions();
  std::vector<sensors::Span> spans;
  for (const Sensed& part : parts) {
    if (part.source.empty()) {
      conditions.missing_because = part.missing_because;
      return true;
    }
    spans.push_back(part.span);
  }
  conditions.source = parts.front().source;
  conditions.missing.insert(parts.front().missing.begin(), parts.front().missing.end());
  return watch.take(spans);
}

stats::Comparison compare_interleaved(std::span<const double> a, std::span<const double> b,
                                      const InterleaveOptions& options) {
  stats::ComparisonOptions comparison = options.comparison;
  comparison.confidence = stats::confidence_of_look(options.stopping, comparison.confidence);
  stats::Comparison result = stats::compare(a, b, comparison);
  const std::size_t fewest = options.stopping.fewest;
  if (std::min(a.size(), b.size()) < fewest) {
    result.verdict = stats::SpeedVerdict::undecided;
    result.samples_to_decide = std::max(result.samples_to_decide.value_or(0), fewest);
  }
  return result;
}

Result<Interleaved> interleave(Backend& backend, const Variant& a, const Variant& b,
                               const InterleaveOptions& options,
                               const std::function<void(const Interleaved&)>& on_turn) {
  InterleaveOptions used = options;
  used.comparison.larger_is_better = backend.larger_is_better();
  Interleaved out;
  out.unit = backend.unit();
  const Side side_a{.variant = a, .letter = 'A', .samples = out.a, .failure = out.failure_a};
  const Side side_b{.variant = b, .letter = 'B', .samples = out.b, .failure = out.failure_b};
  const auto decided = [&] {
    return options.decided ? options.decided(out.comparison)
                           : out.comparison.verdict != stats::SpeedVerdict::undecided;
  };
  sensors::TurnWatch watch(options.limits);
  const std::size_t turns = options.warmup + options.stopping.most;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    if (options.out_of_time && options.out_of_time()) {
      out.out_of_time = true;
      break;
    }
    const bool counts = turn >= options.warmup;
    // Counted from the first turn that counts, so that the order never depends on the warm-up.
    const bool a_first = (counts ? turn - options.warmup : turn) % 2 == 0;
    PERFLAB_TRY(const bool went_well,
                take_turn(backend, a_first ? side_a : side_b, a_first ? side_b : side_a,
                          counts ? &watch : nullptr, out.order));
    out.conditions = watch.conditions();
    if (!went_well) break;
    if (!counts) continue;
    const std::size_t samples = out.a.size();
    const bool look = samples == options.stopping.most || stats::is_look(options.stopping, samples);
    if (look) out.comparison = compare_interleaved(out.a, out.b, used);
    if (on_turn) on_turn(out);
    if (look && decided()) return out;
  }
  // Ended between two looks: this look stands for one of those that are not made any more.
  out.comparison = compare_interleaved(out.a, out.b, used);
  if (out.out_of_time && decided()) out.out_of_time = false;
  return out;
}

}  // namespace perflab::measure
