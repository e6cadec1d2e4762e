// One walk backwards per counter of each wait. The counters are those of thread_trace/wait_rule.h.
#include "analyze/pc_sampling/sampled_waits.h"

#include <algorithm>
#include <array>

#include "analyze/thread_trace/wait_rule.h"

namespace perflab::analyze {
namespace {

/// Instructions that a counter counts, before a wait.
struct MayBeOutstanding {
  std::vector<std::size_t> found;  ///< latest first
  bool lds = false, scalar = false, flat = false;
};

bool is_counted(const CounterEffect& effect, std::size_t counter) {
  return (effect.raises >> counter & 1U) != 0;
}

class Backwards {
 public:
  Backwards(const std::vector<CounterEffect>& effects,
            const std::map<std::size_t, std::size_t>& branches, bool whole)
      : effects_(effects), branches_(branches), whole_(whole) {}

  /// What may be outstanding on the counter at a wait that lets `limit` be. Of the code of samples
  /// alone, what is before it is not all known: there all that is known can be.
  [[nodiscard]] MayBeOutstanding before(std::size_t wait, std::size_t counter, int limit) const {
    MayBeOutstanding out;
    if (!whole_) {
      for (std::size_t at = effects_.size(); at-- > 0;) step(at, counter, limit, out);
      return out;
    }
    const auto loop = loop_around(wait);
    std::size_t at = wait;
    while (at > 0 && (!loop || at > loop->first))
      if (!step(--at, counter, limit, out)) return out;
    // Out of its head a loop comes from before it and from its end: what is in it goes on.
    if (loop)
      for (at = loop->second; at > wait; --at)
        if (!step(at, counter, limit, out)) return out;
    if (loop && out.found.empty())
      for (at = loop->first; at > 0;)
        if (!step(--at, counter, limit, out)) return out;
    return out;
  }

 private:
  /// False: an earlier wait on the counter says that nothing before it is outstanding any more.
  bool step(std::size_t at, std::size_t counter, int limit, MayBeOutstanding& out) const {
    const CounterEffect& effect = effects_[at];
    const int held = effect.limits[counter];
    if (whole_ && held >= 0 && held <= limit) return false;
    if (!is_counted(effect, counter)) return true;
    out.found.push_back(at);
    out.lds |= effect.kind == MemoryKind::lds || effect.kind == MemoryKind::gds;
    out.scalar |= effect.kind == MemoryKind::scalar || effect.kind == MemoryKind::message;
    out.flat |= effect.kind == MemoryKind::flat;
    return true;
  }

  /// The smallest loop: (target, branch) of a backward branch around the wait.
  [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> loop_around(
      std::size_t wait) const {
    std::optional<std::pair<std::size_t, std::size_t>> out;
    for (const auto& [branch, target] : branches_)
      if (target <= wait && wait <= branch && (!out || branch - target < out->second - out->first))
        out = {target, branch};
    return out;
  }

  const std::vector<CounterEffect>& effects_;
  const std::map<std::size_t, std::size_t>& branches_;
  bool whole_;
};

/// What a counter's wait is for, by its name and what is outstanding.
PcWait wait_kind(MemoryCounter counter, int generation, const MayBeOutstanding& outstanding) {
  switch (counter) {
    case MemoryCounter::load:
    case MemoryCounter::store:
    case MemoryCounter::sample:
    case MemoryCounter::bvh:
      return PcWait::vector_memory;
    case MemoryCounter::scalar:
      return PcWait::scalar;
    case MemoryCounter::export_:
      return PcWait::unknown;
    case MemoryCounter::lds:
      break;
  }
  if (generation >= 12) return PcWait::lds;
  if (outstanding.flat || outstanding.lds == outstanding.scalar) return PcWait::unknown;
  return outstanding.lds ? PcWait::lds : PcWait::scalar;
}

/// Which of them the wait is for, oldest first: of a counter that falls in order the (limit + 1)-th
/// last, of scalar memory all.
std::vector<std::size_t> waited_for(const MayBeOutstanding& outstanding, int limit) {
  const std::vector<std::size_t>& found = outstanding.found;
  const auto left = static_cast<std::size_t>(limit);
  if (found.size() <= left) return {};
  if (!outstanding.scalar && !outstanding.flat) return {found[left]};
  if (limit > 0) return {};
  return {found.rbegin(), found.rend()};
}

void find_wait(const Backwards& backwards, const CounterEffect& effect, int generation,
               CodeOrder order, std::size_t index, PcInstruction& out) {
  const bool whole = order == CodeOrder::whole;
  std::vector<std::pair<PcWait, std::vector<std::size_t>>> can;
  for (std::size_t counter = 0; counter < kMemoryCounters; ++counter) {
    const int limit = effect.limits[counter];
    if (limit < 0) continue;
    MayBeOutstanding outstanding;
    if (order != CodeOrder::none) outstanding = backwards.before(index, counter, limit);
    std::vector<std::size_t> causes;
    if (whole) causes = waited_for(outstanding, limit);
    can.emplace_back(wait_kind(static_cast<MemoryCounter>(counter), generation, outstanding),
                     std::move(causes));
  }
  // Of several counters those with nothing outstanding are no reason, where that is known.
  if (whole && can.size() > 1 &&
      std::ranges::any_of(can, [](const auto& one) { return !one.second.empty(); }))
    std::erase_if(can, [](const auto& one) { return one.second.empty(); });
  out.wait = can.size() == 1 && !effect.unknown_counter ? can.front().first : PcWait::unknown;
  for (const auto& [kind, causes] : can)
    out.waits_for.insert(out.waits_for.end(), causes.begin(), causes.end());
  std::ranges::sort(out.waits_for);
}

}  // namespace

void find_sampled_waits(std::vector<PcInstruction>& code,
                        const std::map<std::size_t, std::size_t>& branches, int generation,
                        CodeOrder order) {
  std::vector<CounterEffect> effects;
  effects.reserve(code.size());
  for (const PcInstruction& one : code) effects.push_back(counter_effect(one.text, generation));
  const Backwards backwards(effects, branches, order == CodeOrder::whole);
  for (std::size_t i = 0; i < code.size(); ++i)
    if (effects[i].waits()) find_wait(backwards, effects[i], generation, order, i, code[i]);
}

}  // namespace perflab::analyze
