// Hardware counters by architecture: which ones there are, how many of a block one pass holds, the
// sets that rocm-perf asks for, and the formulas from counters to figures. The tables are
// counters/*.json, embedded in the binary, with their sources; there is no counter name in the code
// but those of the tables. Facts: docs/facts/counters.md.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab::hal {

/// How the counters of a formula may be put together.
enum class CounterRule {
  work,  ///< counts of the work itself (instructions, lanes, requests): every pass repeats them, so
         ///< that counters of several passes may meet in one figure
  time,  ///< how this run went (cycles, waits, latencies, what a cache held): all of one pass
};

/// One way to compute a figure.
struct FormulaText {
  std::string text;                    ///< "100*TCC_HIT_sum/(TCC_HIT_sum+TCC_MISS_sum)"
  std::vector<std::string> counters;   ///< those in it, in order of appearance, each once
  std::vector<std::string> constants;  ///< names in it that are no counters: see kConstants
};

/// Names that a formula may use besides counters; whoever evaluates gives their values.
/// CU: compute units that can work for the dispatch; XCC: dies (sums run over all of them);
/// SIMD_PER_CU; MAX_WAVES_PER_CU; LANES: of a wave.
inline constexpr std::array<std::string_view, 5> kConstants = {"CU", "XCC", "SIMD_PER_CU",
                                                               "MAX_WAVES_PER_CU", "LANES"};

/// One figure that counters give, with what it means. The first alternative whose counters are all
/// there is the one to use.
struct CounterFormula {
  std::string name;   ///< "fabric.read_bytes", "vector.fp32", "latency.vmem"; see docs/COUNTERS.md
  std::string label;  ///< for people: "L2 hit rate"
  std::string unit;   ///< "bytes", "FLOP", "%", "cycles", "waves", ...
  CounterRule rule = CounterRule::time;
  std::vector<FormulaText> alternatives;
  std::string note;  ///< what to know when reading it; may be empty
  /// Why it must not be held against a ceiling; empty: it may. A figure with a doubt is shown only.
  std::string doubt;
  std::vector<std::string> sources;  ///< keys for counter_source()
};

/// Another name of a counter: what some tool records, or used to record, the same event as.
struct CounterAlias {
  std::string counter;  ///< its name in the table, which is the one that rocprofv3 takes
  std::string tool;     ///< whose recordings have the other name: "rocprofiler-compute"
  std::string since;  ///< day from which on they have it ("2025-08-08"); empty: from the beginning
  std::string until;  ///< day from which on they have it no longer; empty: they still do
  std::vector<std::string> sources;  ///< keys for counter_source()
};

/// What one architecture counts.
struct CounterTable {
  std::string gfx;
  std::vector<CounterFormula> formulas;  ///< in the order of the file: by level, then features
  std::vector<std::vector<std::string>> sets;  ///< each fits one pass and holds the counter below
  std::string in_every_pass;  ///< GRBM_GUI_ACTIVE: the cycles that ratios divide by
  bool confirmed = true;      ///< false: taken from a sibling without proof (gfx940 from gfx942)

  /// The formula of that name; nullptr: this architecture cannot say it.
  [[nodiscard]] const CounterFormula* find(std::string_view formula) const;
  /// Whether the architecture counts this; "X_sum", "X_avr", "X_min", "X_max" and "X_ACCUM" exist
  /// where X does, as do channels "X[3]".
  [[nodiscard]] bool has_counter(std::string_view counter) const;
  /// The block that it occupies ("SQ", "TCC"): of its name, whether the table has it or not; empty
  /// for derived metrics.
  [[nodiscard]] std::string block_of(std::string_view counter) const;
  /// Whether it is a formula of the profiler's own over counters (VmemLatency): its values are not
  /// to be added up.
  [[nodiscard]] bool is_derived(std::string_view counter) const;
  /// Whether the architecture counts it or the profiler derives it there.
  [[nodiscard]] bool knows(std::string_view counter) const;
  /// What the name is another name of, whatever its reduction or channel ("TCC_EA0_RDREQ_sum" on
  /// gfx908); nullptr: it is none.
  [[nodiscard]] const CounterAlias* alias(std::string_view counter) const;
  /// The table's name of a counter that has another one there; a name that is none stays as it is.
  [[nodiscard]] std::string own_name(std::string_view counter) const;
  /// The names under which recordings can have a counter of the table: its own, then the others.
  [[nodiscard]] std::vector<std::string> spellings(std::string_view counter) const;
  /// Counters of that block that one pass holds; nullopt: not known.
  [[nodiscard]] std::optional<int> slots(std::string_view block) const;
  /// Known names that look like a misspelt one, best first, three at most.
  [[nodiscard]] std::vector<std::string> similar(std::string_view counter) const;

  // What the functions above look into.
  std::set<std::string, std::less<>> counters, derived;
  std::map<std::string, CounterAlias, std::less<>> aliases;  ///< by the other name
  std::vector<std::pair<std::string, int>> block_slots;
  /// How a block's counters begin, where known: {"SQC", "SQ"}.
  std::vector<std::pair<std::string, std::string>> block_prefixes;
  /// Counters that the profiler collects for a derived metric; none for constants (CU_NUM).
  std::map<std::string, std::vector<std::string>, std::less<>> derived_inputs;
};

/// All tables, ordered by gfx name. Parsed at the first call; thread-safe.
std::span<const CounterTable> all_counter_tables();

/// The table of a gfx name or target id; nullptr where counters of that architecture are not known.
const CounterTable* find_counter_table(std::string_view target_id);

/// The value of a formula. `value_of` gives counters and constants by name. nullopt: not a finite
/// number (a division by 0). Precondition: the text is of a table.
std::optional<double> evaluate(const FormulaText& formula,
                               const std::function<double(std::string_view)>& value_of);

/// What a source key of the counter tables stands for; missing for an unknown key.
std::optional<std::string_view> counter_source(std::string_view key);

/// The block that would have to count more at the same time than it can if these counters were
/// asked for in one pass; empty: they fit. Channels and reductions of a counter share its slot,
/// an accumulated level takes two (the level and the accumulator), derived metrics take those of
/// their counters. A block whose slots are not known holds one.
std::string overfull_block(const CounterTable& table, std::span<const std::string> counters);

/// Counters for one run of the application each.
struct PassPlan {
  std::vector<std::vector<std::string>> passes;  ///< each begins with the table's in_every_pass
  /// "MyCounter is not among the known counters of gfx942; it is asked for all the same"
  std::vector<std::string> warnings;
};

/// The table's own sets (when `own_sets`), then `extra` counters that are in none of them, packed
/// into as few passes as their blocks' slots allow. A counter of no known block (with a warning:
/// the profiler may have been given definitions of the user's own), one of a block whose slots are
/// not known, and each derived metric gets a pass of its own; accumulated levels are never two in a
/// pass. Error (usage): an extra name that is of a known block or looks like a known name, but that
/// the architecture does not have; similar names are in the remedy.
Result<PassPlan> plan_passes(const CounterTable& table, bool own_sets,
                             std::span<const std::string> extra);

}  // namespace perflab::hal
