// Parsing of waits and memory instructions into counter effects, and the queues of one wave.
#include "analyze/thread_trace/wait_rule.h"

#include <algorithm>

#include "analyze/thread_trace/row_table.h"
#include "base/text/numbers.h"
#include "code/instructions/instruction_mix.h"

namespace perflab::analyze {
namespace {

using code::InstructionClass;

constexpr std::size_t index_of(MemoryCounter counter) {
  return static_cast<std::size_t>(counter);
}

/// The counter that a generation really has for this one.
MemoryCounter counter_on(MemoryCounter counter, int gfxip) {
  if (gfxip >= 12) return counter;
  if (counter == MemoryCounter::scalar) return MemoryCounter::lds;
  if (counter == MemoryCounter::sample || counter == MemoryCounter::bvh) return MemoryCounter::load;
  return counter == MemoryCounter::store && gfxip <= 9 ? MemoryCounter::load : counter;
}

/// "12", "0xc"; nullopt: no number.
std::optional<int> number(std::string_view text) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  return take_number<int>(text, hex ? 16 : 10);
}

class EffectOf {
 public:
  EffectOf(std::string_view text, int gfxip) : gfxip_(gfxip) {
    const SplitInstruction parts = split_instruction(text);
    name_ = parts.mnemonic;
    operands_ = parts.operands;
  }

  CounterEffect run() {
    if (name_.starts_with("s_wait"))
      wait();
    else
      memory();
    return effect_;
  }

 private:
  void limit(MemoryCounter counter, std::optional<int> most) {
    if (!most) {
      effect_.unknown_counter = true;
      return;
    }
    auto& held = effect_.limits[index_of(counter_on(counter, gfxip_))];
    const auto value = static_cast<std::int16_t>(std::clamp(*most, 0, INT16_MAX));
    held = held < 0 ? value : std::min(held, value);
  }

  void wait() {
    if (name_ == "s_waitcnt") return waitcnt();
    // "null, 0x0": a register and the limit.
    const std::size_t comma = operands_.rfind(", ");
    const auto last = number(comma == operands_.npos ? operands_ : operands_.substr(comma + 2));
    if (name_ == "s_waitcnt_vmcnt") return limit(MemoryCounter::load, last);
    if (name_ == "s_waitcnt_vscnt") return limit(MemoryCounter::store, last);
    if (name_ == "s_waitcnt_lgkmcnt") return limit(MemoryCounter::lds, last);
    if (name_ == "s_waitcnt_expcnt") return limit(MemoryCounter::export_, last);
    if (name_ == "s_wait_idle") {
      for (std::size_t i = 0; i < kMemoryCounters; ++i) limit(static_cast<MemoryCounter>(i), 0);
      return;
    }
    if (name_.starts_with("s_wait_")) gfx12_wait(name_.substr(7), last);
  }

  /// "loadcnt", "loadcnt_dscnt": of two, the second's limit is in bits 5:0, the first's in 13:8.
  void gfx12_wait(std::string_view counters, std::optional<int> value) {
    const std::size_t cut = counters.find('_');
    if (cut == counters.npos) return gfx12_limit(counters, value);
    gfx12_limit(counters.substr(0, cut), value ? std::optional(*value >> 8 & 0x3f) : value);
    gfx12_limit(counters.substr(cut + 1), value ? std::optional(*value & 0x3f) : value);
  }

  void gfx12_limit(std::string_view counter, std::optional<int> value) {
    struct Name {
      std::string_view name;
      MemoryCounter counter;
    };
    static constexpr Name kNames[] = {
        {"loadcnt", MemoryCounter::load},   {"storecnt", MemoryCounter::store},
        {"dscnt", MemoryCounter::lds},      {"kmcnt", MemoryCounter::scalar},
        {"expcnt", MemoryCounter::export_}, {"samplecnt", MemoryCounter::sample},
        {"bvhcnt", MemoryCounter::bvh},
    };
    for (const Name& one : kNames)
      if (one.name == counter) return limit(one.counter, value);
    // s_wait_alu, s_wait_event: no memory; s_wait_asynccnt and the like: memory, but not known.
    if (counter.ends_with("cnt")) effect_.unknown_counter = true;
  }

  void waitcnt() {
    bool named = false;
    const auto of_name = [&](std::string_view key, MemoryCounter counter) {
      const std::size_t at = operands_.find(key);
      if (at == operands_.npos) return;
      named = true;
      limit(counter, number(operands_.substr(at + key.size())));
    };
    of_name("vmcnt(", MemoryCounter::load);
    of_name("lgkmcnt(", MemoryCounter::lds);
    of_name("expcnt(", MemoryCounter::export_);
    if (named) return;
    const auto bits = number(operands_);
    if (!bits) {
      effect_.unknown_counter = true;
      return;
    }
    // A field of all ones waits for nothing.
    const auto field = [&](MemoryCounter counter, int value, int all) {
      if (value != all) limit(counter, value);
    };
    if (gfxip_ >= 11) {
      field(MemoryCounter::export_, *bits & 7, 7);
      field(MemoryCounter::lds, *bits >> 4 & 0x3f, 0x3f);
      field(MemoryCounter::load, *bits >> 10 & 0x3f, 0x3f);
      return;
    }
    const int lds_mask = gfxip_ == 10 ? 0x3f : 0xf;
    field(MemoryCounter::export_, *bits >> 4 & 7, 7);
    field(MemoryCounter::lds, *bits >> 8 & lds_mask, lds_mask);
    field(MemoryCounter::load, (*bits & 0xf) | (*bits >> 14 & 3) << 4, 0x3f);
  }

  void raise(MemoryCounter counter, MemoryKind kind) {
    effect_.raises |= static_cast<std::uint8_t>(1U << index_of(counter_on(counter, gfxip_)));
    effect_.kind = kind;
  }

  void memory() {
    if (name_.starts_with("s_")) return scalar();
    if (name_.starts_with("ds_") || name_.starts_with("lds_")) return lds();
    if (name_ == "exp" || name_ == "export")
      return raise(MemoryCounter::export_, MemoryKind::export_);
    for (const std::string_view unit :
         {"global_", "flat_", "scratch_", "buffer_", "tbuffer_", "image_"})
      if (name_.starts_with(unit)) return vector();
  }

  void scalar() {
    if (name_.starts_with("s_sendmsg")) return raise(MemoryCounter::scalar, MemoryKind::message);
    const auto info = code::classify(name_, operands_);
    if ((info.instruction_class == InstructionClass::smem && !name_.starts_with("s_prefetch") &&
         name_ != "s_buffer_prefetch_data") ||
        name_ == "s_get_barrier_state")
      raise(MemoryCounter::scalar, MemoryKind::scalar);
  }

  void lds() {
    if (name_.ends_with("param_load") || name_.ends_with("direct_load"))
      return raise(MemoryCounter::export_, MemoryKind::lds);
    const bool gds = name_.starts_with("ds_gws") || name_.find("_gs_") != name_.npos ||
                     operands_.ends_with(" gds");
    raise(MemoryCounter::lds, gds ? MemoryKind::gds : MemoryKind::lds);
  }

  void vector() {
    const auto info = code::classify(name_, operands_);
    const InstructionClass kind = info.instruction_class;
    if (kind == InstructionClass::other) return cache_control();
    const bool store = kind == InstructionClass::vmem_store ||
                       kind == InstructionClass::scratch_store ||
                       (kind == InstructionClass::vmem_atomic && !atomic_returns());
    const MemoryCounter counter = store ? MemoryCounter::store : MemoryCounter::load;
    if (name_.starts_with("flat_")) {
      raise(MemoryCounter::lds, MemoryKind::flat);
      return raise(counter, MemoryKind::flat);
    }
    if (name_.find("_bvh") != name_.npos) return raise(MemoryCounter::bvh, MemoryKind::bvh);
    if (name_.starts_with("image_sample") || name_.starts_with("image_gather4") ||
        name_ == "image_get_lod")
      return raise(MemoryCounter::sample, MemoryKind::sample);
    raise(counter, kind == InstructionClass::scratch_store && gfxip_ >= 10
                       ? MemoryKind::scratch_store
                       : MemoryKind::vector);
  }

  /// gfx9: glc (sc0 from gfx940 on); gfx12: a temporal hint with RETURN.
  bool atomic_returns() const {
    return operands_.find(" glc") != operands_.npos || operands_.find(" sc0") != operands_.npos ||
           operands_.find("_RETURN") != operands_.npos;
  }

  /// Invalidates are counted from gfx12 on, write-backs always.
  void cache_control() {
    if (name_ == "buffer_wbl2" || name_ == "global_wb" || name_ == "global_wbinv")
      raise(MemoryCounter::store, MemoryKind::vector);
    else if (name_ == "global_inv")
      raise(MemoryCounter::load, MemoryKind::vector);
  }

  std::string_view name_, operands_;
  int gfxip_;
  CounterEffect effect_;
};

/// Instructions that one counter counts, oldest first.
struct Outstanding {
  std::vector<std::uint32_t> items;
  std::vector<MemoryKind> kinds;  ///< beside `items`
  std::size_t head = 0;
  std::array<std::uint32_t, kMemoryKinds> of_kind{};

  [[nodiscard]] std::size_t size() const { return items.size() - head; }
  [[nodiscard]] bool in_order() const {
    const auto several =
        std::ranges::count_if(of_kind, [](std::uint32_t many) { return many > 0; });
    return several <= 1 && of_kind[static_cast<std::size_t>(MemoryKind::scalar)] == 0 &&
           of_kind[static_cast<std::size_t>(MemoryKind::flat)] == 0;
  }
  void push(std::uint32_t instruction, MemoryKind kind) {
    items.push_back(instruction);
    kinds.push_back(kind);
    ++of_kind[static_cast<std::size_t>(kind)];
  }
  std::pair<std::uint32_t, MemoryKind> pop() {
    const std::pair oldest(items[head], kinds[head]);
    --of_kind[static_cast<std::size_t>(oldest.second)];
    if (++head == items.size()) {
      items.clear();
      kinds.clear();
      head = 0;
    }
    return oldest;
  }
  void remove(std::uint32_t instruction) {
    const auto found =
        std::find(items.begin() + static_cast<std::ptrdiff_t>(head), items.end(), instruction);
    if (found == items.end()) return;
    const auto place = found - items.begin();
    --of_kind[static_cast<std::size_t>(kinds[static_cast<std::size_t>(place)])];
    items.erase(found);
    kinds.erase(kinds.begin() + place);
  }
};

class Counters {
 public:
  void raise(const CounterEffect& effect, std::uint32_t instruction) {
    for (std::size_t i = 0; i < kMemoryCounters; ++i)
      if ((effect.raises >> i & 1) != 0) queues_[i].push(instruction, effect.kind);
  }

  void wait(const CounterEffect& effect, std::uint32_t instruction, WaveWaits& out) {
    ExecutedWait wait{.instruction = instruction,
                      .first = static_cast<std::uint32_t>(out.causes.size()),
                      .exact = !effect.unknown_counter};
    const auto above = [&](std::size_t i) {
      return effect.limits[i] >= 0 &&
             queues_[i].size() > static_cast<std::size_t>(effect.limits[i]);
    };
    // Before any is lowered: a FLAT access leaves two at once.
    for (std::size_t i = 0; i < kMemoryCounters; ++i)
      if (above(i)) ++wait.counters;
    for (std::size_t i = 0; i < kMemoryCounters; ++i)
      if (above(i)) lower(i, static_cast<std::size_t>(effect.limits[i]), wait, out);
    wait.count = static_cast<std::uint32_t>(out.causes.size()) - wait.first;
    std::sort(out.causes.begin() + wait.first, out.causes.end());
    out.waits.push_back(wait);
  }

 private:
  void lower(std::size_t counter, std::size_t limit, ExecutedWait& wait, WaveWaits& out) {
    Outstanding& queue = queues_[counter];
    if (limit > 0 && !queue.in_order()) {
      wait.exact = false;
      return;
    }
    while (queue.size() > limit) {
      const auto [instruction, kind] = queue.pop();
      out.causes.push_back(instruction);
      if (kind != MemoryKind::flat) continue;
      for (std::size_t other = 0; other < kMemoryCounters; ++other)
        if (other != counter) queues_[other].remove(instruction);
    }
  }

  std::array<Outstanding, kMemoryCounters> queues_;
};

/// The generation whose waits the code has.
int generation_of(std::span<const att::CodeRow> code) {
  int found = 9;
  for (const att::CodeRow& row : code) {
    if (row.text.starts_with("s_wait_") && row.text.find("cnt") != std::string::npos) return 12;
    if (row.text.starts_with("s_waitcnt_vscnt")) found = 10;
  }
  return found;
}

}  // namespace

bool CounterEffect::waits() const {
  return unknown_counter || std::ranges::any_of(limits, [](int limit) { return limit >= 0; });
}

CounterEffect counter_effect(std::string_view text, int gfxip) {
  return EffectOf(text, gfxip).run();
}

WaitRule::WaitRule(std::span<const att::CodeRow> code, std::optional<int> gfxip) {
  const int generation = gfxip ? *gfxip : generation_of(code);
  effects_.reserve(code.size());
  for (const att::CodeRow& row : code)
    effects_.push_back(row.is_label() ? CounterEffect{} : counter_effect(row.text, generation));
}

bool WaitRule::waits(att::RowIndex row) const {
  return row < effects_.size() && effects_[row].waits();
}

void WaitRule::follow(const att::Wave& wave, WaveWaits& out) const {
  out.waits.clear();
  out.causes.clear();
  Counters counters;
  for (std::uint32_t i = 0; i < wave.instructions.size(); ++i) {
    const att::RowIndex row = wave.instructions[i].row;
    if (row >= effects_.size()) continue;
    const CounterEffect& effect = effects_[row];
    if (effect.raises != 0)
      counters.raise(effect, i);
    else if (effect.waits())
      counters.wait(effect, i, out);
  }
}

}  // namespace perflab::analyze
