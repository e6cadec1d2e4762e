// The rules in code. A run that prints many samples warms up within itself; with few samples a run,
// whole runs are the warm-up, and a ramp over the runs is cut at the end.
#include "tune/evaluate/repeats.h"

#include <algorithm>
#include <span>

#include "stats/summary.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kManySamples = 5;
/// A sample of a ramp is slower than this times the level that is reached, and farther above all of
/// the second half than that is wide. Samples that stay within 9 % of anything never are: 1.09 is
/// less than 1.2 x 0.91. (The ramp of conv_W6600's optimum: 4.0, 2.7, 2.1, then 1 +- 0.1.)
constexpr double kRampFactor = 1.2;

std::optional<double> cv_of(std::span<const double> samples) {
  return samples.size() < 2 ? std::nullopt : stats::summarize(samples).cv;
}

/// All of them equal is steady too when their mean is 0.
bool is_steady(std::span<const double> samples, double limit) {
  if (const auto cv = cv_of(samples)) return *cv <= limit;
  return std::ranges::adjacent_find(samples, std::ranges::not_equal_to{}) == samples.end();
}

}  // namespace

std::size_t clock_ramp(const std::vector<double>& samples, bool maximize) {
  const std::size_t half = samples.size() / 2;
  if (samples.size() < kManySamples ||
      !std::ranges::all_of(samples, [](double sample) { return sample > 0; }))
    return 0;
  // A rate that is too low at first is a time that is too long.
  std::vector<double> times = samples;
  if (maximize) std::ranges::transform(times, times.begin(), [](double rate) { return 1 / rate; });
  const auto reached = std::span(times).subspan(half);
  const stats::Summary level = stats::summarize(reached);
  if (!level.median || !level.max || !level.min) return 0;
  const double threshold =
      std::max(kRampFactor * *level.median, *level.max + (*level.max - *level.min));
  std::size_t cut = 0;
  while (cut < half && times[cut] > threshold && (cut == 0 || times[cut] <= times[cut - 1])) ++cut;
  return cut;
}

void Repeats::add(std::vector<double> samples) {
  ++runs_;
  const bool many = samples.size() >= kManySamples;
  if (!many && exact_runs_ == 0 && runs_ <= rule_.warm_up_runs) {
    warm_up_.insert(warm_up_.end(), samples.begin(), samples.end());
    return;
  }
  ++measured_;
  many_ = many_ || many;
  const auto kept =
      samples.begin() + static_cast<std::ptrdiff_t>(many ? clock_ramp(samples, maximize_) : 0);
  warm_up_.insert(warm_up_.end(), samples.begin(), kept);
  samples_.insert(samples_.end(), kept, samples.end());
}

std::size_t Repeats::ramp_over_runs() const {
  return many_ || exact_runs_ > 0 ? 0 : clock_ramp(samples_, maximize_);
}

bool Repeats::enough() const {
  if (exact_runs_ > 0) return runs_ >= exact_runs_;
  if (measured_ >= std::max<std::size_t>(rule_.most_runs, 1)) return true;
  const auto kept = std::span(samples_).subspan(ramp_over_runs());
  return measured_ > 0 && kept.size() >= rule_.fewest_samples && is_steady(kept, rule_.steady_cv);
}

void Repeats::finish(Evaluation& evaluation) const {
  const auto cut = static_cast<std::ptrdiff_t>(ramp_over_runs());
  evaluation.warm_up = warm_up_;
  evaluation.warm_up.insert(evaluation.warm_up.end(), samples_.begin(), samples_.begin() + cut);
  evaluation.samples.assign(samples_.begin() + cut, samples_.end());
  evaluation.value = stats::summarize(evaluation.samples).median;
  evaluation.cv = cv_of(evaluation.samples);
  evaluation.unstable = evaluation.cv && *evaluation.cv > rule_.unstable_cv;
}

}  // namespace perflab::tune
