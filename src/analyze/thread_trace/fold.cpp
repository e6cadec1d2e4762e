// One wave at a time into sums of its own, then added to its kernel's under a lock. The gap before
// an instruction is counted as the profiler does it (found on the captures of shared/data/att,
// where it gives code.json exactly): from the latest end so far, never below zero, and executions
// without a code row leave that end where it was, so that their time is part of the next gap.
#include "analyze/thread_trace/fold.h"

#include <algorithm>

namespace perflab::analyze {
namespace {

void merge(const WaveTime& from, WaveTime& into) {
  add_cycles(into.issue, from.issue);
  add_cycles(into.wait, from.wait);
  add_cycles(into.barrier, from.barrier);
  add_cycles(into.issue_stall, from.issue_stall);
  add_cycles(into.idle, from.idle);
}

/// All but the rows.
void merge(const KernelFold& from, KernelFold& into) {
  for (const auto& [key, pair] : from.pairs) {
    PairCycles& sum = into.pairs[key];
    add_cycles(sum.cycles, pair.cycles);
    sum.times += pair.times;
  }
  merge(from.time, into.time);
  for (std::size_t i = 0; i < from.states.size(); ++i) add_cycles(into.states[i], from.states[i]);
  add_cycles(into.wave_cycles, from.wave_cycles);
  into.waves += from.waves;
  into.instructions += from.instructions;
  into.unattributed += from.unattributed;
  add_cycles(into.wait_unattributed, from.wait_unattributed);
  add_cycles(into.wait_other, from.wait_other);
  into.waits += from.waits;
  into.waits_by_rule += from.waits_by_rule;
  into.links += from.links;
  into.links_unused += from.links_unused;
  for (const auto& [place, use] : from.simds) {
    SimdUse& sum = into.simds[place];
    sum.begin = std::min(sum.begin, use.begin);
    sum.end = std::max(sum.end, use.end);
  }
  into.cus.insert(from.cus.begin(), from.cus.end());
  for (const auto& [engine, bins] : from.state_bins) into.state_bins[engine].merge(bins);
  into.kept.merge(from.kept);
}

}  // namespace

void add_sums(const CycleSums& from, CycleSums& into) {
  add_cycles(into.hits, from.hits);
  add_cycles(into.latency, from.latency);
  add_cycles(into.stall, from.stall);
  add_cycles(into.idle, from.idle);
}

RowCycles& WaveFold::Scratch::row(att::RowIndex index) {
  if (!has[index]) {
    has[index] = true;
    touched.push_back(index);
  }
  return rows[index];
}

/// Keeps the memory of the tables.
void WaveFold::Scratch::clear() {
  for (const att::RowIndex index : touched) {
    rows[index] = {};
    has[index] = false;
  }
  touched.clear();
  auto pairs = std::move(fold.pairs);
  pairs.clear();
  fold = {};
  fold.pairs = std::move(pairs);
}

std::unique_ptr<WaveFold::Scratch> WaveFold::take_scratch() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<Scratch>(rows_.size());
  auto taken = std::move(free_.back());
  free_.pop_back();
  return taken;
}

void WaveFold::add_instructions(const att::Wave& wave, Scratch& scratch) const {
  KernelFold& fold = scratch.fold;
  std::int64_t end = bounded(wave.begin);
  for (const att::WaveInstruction& instruction : wave.instructions) {
    if (!rows_.is_instruction(instruction.row)) {
      ++fold.unattributed;
      continue;
    }
    const std::int64_t time = bounded(instruction.time);
    const std::int64_t latency = bounded(instruction.duration);
    const std::int64_t stall = bounded(instruction.stall);
    const std::int64_t idle = std::max<std::int64_t>(time - end, 0);
    end = std::max(end, time + latency);
    CycleSums& sums = scratch.row(instruction.row).sums;
    add_cycles(sums.hits, 1);
    add_cycles(sums.latency, latency);
    add_cycles(sums.stall, stall);
    add_cycles(sums.idle, idle);
    add_cycles(fold.time.idle, idle);
    switch (rows_.part_of(instruction.row, instruction.category)) {
      case TimePart::wait:
        add_cycles(fold.time.wait, latency);
        if (!rule_.waits(instruction.row)) add_cycles(fold.wait_other, latency);
        break;
      case TimePart::barrier:
        add_cycles(fold.time.barrier, latency);
        break;
      case TimePart::issue:
        add_cycles(fold.time.issue, latency - stall);
        add_cycles(fold.time.issue_stall, stall);
        break;
    }
  }
}

void WaveFold::add_waits(const att::Wave& wave, Scratch& scratch) const {
  KernelFold& fold = scratch.fold;
  const WaitCauses& causes = scratch.causes;
  for (const CausedWait& wait : causes.waits) {
    const att::WaveInstruction& instruction = wave.instructions[wait.instruction];
    const std::int64_t cycles = std::clamp<std::int64_t>(instruction.duration, 0, kMostCycles);
    ++fold.waits;
    if (wait.count == 0) {
      add_cycles(fold.wait_unattributed, cycles);
      continue;
    }
    if (!wait.from_trace) ++fold.waits_by_rule;
    const std::int64_t share = cycles / wait.count;
    const std::int64_t left = cycles % wait.count;
    for (std::uint32_t i = 0; i < wait.count; ++i) {
      const att::RowIndex cause = causes.rows[wait.first + i];
      const std::int64_t part = share + (i < left ? 1 : 0);
      if (!rows_.is_instruction(cause)) {
        add_cycles(fold.wait_unattributed, part);
        continue;
      }
      add_cycles(scratch.row(cause).wait_caused, part);
      PairCycles& pair = fold.pairs[KernelFold::pair_key(instruction.row, cause)];
      add_cycles(pair.cycles, part);
      ++pair.times;
    }
  }
}

void WaveFold::add(const att::Wave& wave) {
  std::unique_ptr<Scratch> scratch = take_scratch();
  KernelFold& fold = scratch->fold;
  scratch->clear();
  fold.waves = 1;
  fold.instructions = wave.instructions.size();
  const std::int64_t begin = bounded(wave.begin);
  const std::int64_t end = bounded(wave.end);
  add_cycles(fold.wave_cycles, end - begin);
  for (const att::StateRun& run : wave.timeline)
    if (const auto state = static_cast<std::size_t>(run.state); state < fold.states.size())
      add_cycles(fold.states[state], run.duration);
  add_instructions(wave, *scratch);
  find_wait_causes(wave, rule_, scratch->causes);
  add_waits(wave, *scratch);
  fold.links = wave.links.size();
  fold.links_unused = scratch->causes.links_unused;
  const att::WavePlace& place = wave.place;
  fold.simds[{place.shader_engine, place.cu, place.simd}] = {.begin = begin, .end = end};
  fold.cus.emplace(place.shader_engine, place.cu);
  if (keep_states_) {
    fold.state_bins[place.shader_engine].add(begin, wave.timeline);
    fold.kept.add(wave_states(wave));
  }
  const std::size_t kernel = kernels_.of_wave(wave);
  const std::lock_guard lock(mutex_);
  merge(fold, folds_[kernel]);
  for (const att::RowIndex row : scratch->touched) {
    RowCycles& sum = folds_[kernel].rows[row];
    add_sums(scratch->rows[row].sums, sum.sums);
    add_cycles(sum.wait_caused, scratch->rows[row].wait_caused);
  }
  free_.push_back(std::move(scratch));
}

}  // namespace perflab::analyze
