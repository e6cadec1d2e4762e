// Bins double in length when the time they have to cover grows; runs are merged once, at the end of
// a wave.
#include "analyze/thread_trace/state_bins.h"

#include <algorithm>
#include <tuple>

#include "analyze/thread_trace/row_table.h"

namespace perflab::analyze {
namespace {

/// Runs that took time, neighbours of one state as one.
std::vector<att::StateRun> joined_runs(std::span<const att::StateRun> timeline) {
  std::vector<att::StateRun> runs;
  for (const att::StateRun& run : timeline) {
    if (run.duration <= 0) continue;
    if (!runs.empty() && runs.back().state == run.state)
      runs.back().duration += run.duration;
    else
      runs.push_back(run);
  }
  return runs;
}

/// The same cycles by state in at most kMostRuns runs.
std::vector<att::StateRun> condensed_runs(std::span<const att::StateRun> runs) {
  std::int64_t total = 0;
  for (const att::StateRun& run : runs) total += run.duration;
  const std::int64_t stretch = (total + kRunStretches - 1) / kRunStretches;
  std::vector<att::StateRun> out;
  std::size_t first = 0;  // of the stretch, in `out`
  std::int64_t length = 0;
  for (const att::StateRun& run : runs) {
    const auto same = std::ranges::find(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                        run.state, &att::StateRun::state);
    if (same == out.end())
      out.push_back(run);
    else
      same->duration += run.duration;
    length += run.duration;
    if (length < stretch) continue;
    first = out.size();
    length = 0;
  }
  return joined_runs(out);
}

auto keeping_order(const WaveStates& wave) {
  const att::WavePlace& place = wave.place;
  return std::tuple(place.slot, place.shader_engine, place.simd, place.id, place.cu, wave.begin,
                    wave.end);
}

}  // namespace

void StateBins::coarsen() {
  std::vector<Bin> half;
  const std::int64_t first = first_ >> 1;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const auto place =
        static_cast<std::size_t>(((first_ + static_cast<std::int64_t>(i)) >> 1) - first);
    if (place == half.size()) half.emplace_back();
    for (std::size_t state = 0; state < att::kWaveStates; ++state)
      add_cycles(half[place][state], bins_[i][state]);
  }
  bins_ = std::move(half);
  first_ = first;
  ++shift_;
}

void StateBins::cover(std::int64_t first_cycle, std::int64_t last_cycle) {
  if (bins_.empty()) {
    first_ = first_cycle >> shift_;
    bins_.emplace_back();
  }
  const auto from = [&] { return std::min(first_, first_cycle >> shift_); };
  const auto to = [&] {
    return std::max(first_ + static_cast<std::int64_t>(bins_.size()) - 1, last_cycle >> shift_);
  };
  while (to() - from() >= static_cast<std::int64_t>(kMostStateBins)) coarsen();
  const auto size = static_cast<std::size_t>(to() - from() + 1);
  bins_.insert(bins_.begin(), static_cast<std::size_t>(first_ - from()), Bin{});
  first_ = from();
  bins_.resize(size);
}

void StateBins::add(std::int64_t begin, std::span<const att::StateRun> timeline) {
  std::int64_t time = bounded(begin);
  for (const att::StateRun& run : timeline) {
    const auto state = static_cast<std::size_t>(run.state);
    if (run.duration <= 0 || state >= att::kWaveStates) continue;
    const std::int64_t end = time + std::min(run.duration, kMostCycles);
    cover(time, end - 1);
    while (time < end) {
      const std::int64_t number = time >> shift_;
      const std::int64_t until = std::min(end, (number + 1) << shift_);
      add_cycles(bins_[static_cast<std::size_t>(number - first_)][state], until - time);
      time = until;
    }
  }
}

void StateBins::merge(const StateBins& other) {
  if (other.bins_.empty()) return;
  StateBins added = other;
  while (added.shift_ < shift_) added.coarsen();
  const auto last = [&] {
    return (added.first_ + static_cast<std::int64_t>(added.bins_.size())) * added.bin_cycles() - 1;
  };
  if (bins_.empty()) shift_ = added.shift_;
  while (shift_ < added.shift_) coarsen();
  cover(added.begin(), last());
  while (added.shift_ < shift_) added.coarsen();
  const auto offset = static_cast<std::size_t>(added.first_ - first_);
  for (std::size_t i = 0; i < added.bins_.size(); ++i)
    for (std::size_t state = 0; state < att::kWaveStates; ++state)
      add_cycles(bins_[offset + i][state], added.bins_[i][state]);
}

WaveStates wave_states(const att::Wave& wave) {
  WaveStates out{.place = wave.place,
                 .begin = wave.begin,
                 .end = wave.end,
                 .instructions = wave.instructions.size(),
                 .runs = joined_runs(wave.timeline)};
  if (out.runs.size() > kMostRuns) {
    out.exact = false;
    out.runs = condensed_runs(out.runs);
  }
  return out;
}

void KeptWaves::add(WaveStates wave) {
  const auto place = std::ranges::upper_bound(waves_, keeping_order(wave), {}, keeping_order);
  if (place == waves_.end() && waves_.size() == kMostKeptWaves) return;
  waves_.insert(place, std::move(wave));
  if (waves_.size() > kMostKeptWaves) waves_.pop_back();
}

void KeptWaves::merge(const KeptWaves& other) {
  for (const WaveStates& wave : other.waves_) add(wave);
}

}  // namespace perflab::analyze
