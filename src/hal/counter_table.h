// What one architecture counts: its counters with their blocks and other names, and the formulas
// from counters to figures. Where it is from: counter_catalogue_parse.h; all of them:
// counter_catalogue.h.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/counter_formula.h"

namespace perflab::hal {

/// How the counters of a formula may be put together.
enum class CounterRule {
  work,  ///< counts of the work itself (instructions, lanes, requests): every pass repeats them, so
         ///< that counters of several passes may meet in one figure
  time,  ///< how this run went (cycles, waits, latencies, what a cache held): all of one pass
};

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

/// Which profiler reads the counters of an architecture, and with that who knows what fits a pass.
enum class CounterProfiler {
  rocprofv3,  ///< a run of the program per pass; the slots of the table say what fits
  cupti,      ///< replays each kernel for all passes inside one run; CUPTI's profiler host plans
};

/// What one architecture counts.
struct CounterTable {
  std::string gfx;
  CounterProfiler profiler = CounterProfiler::rocprofv3;
  /// Chips of the architecture under the names of CUPTI's profiler host, the one that the formulas
  /// were tried on first: {"GH100"}. None for rocprofv3.
  std::vector<std::string> chips;
  /// Formulas of work that the architecture does and that its counters do not tell, with why: the
  /// sum of its work is then not known either.
  std::map<std::string, std::string, std::less<>> uncounted;
  /// Whether vector work is counted by thread, so that lanes that are off are not in it.
  bool counts_threads = false;
  std::string waves = "SQ_WAVES";         ///< counts the waves (warps) that started
  std::string instructions = "SQ_INSTS";  ///< counts the instructions of waves
  /// Counts the ns of a dispatch, beside its recorded times; empty: nothing does.
  std::string duration;
  /// What the levels of memory are, where it differs from the words for AMD: by "hbm", "l2", "lds".
  std::map<std::string, std::string, std::less<>> level_labels;
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
  /// Whether it is a formula of the profiler's own over counters (VmemLatency) or a mean, share or
  /// extreme (CUPTI's ".avg", ".pct", ".ratio", ".max" but for those that the table has among its
  /// counters): its values are not to be added up.
  [[nodiscard]] bool is_derived(std::string_view counter) const;
  /// Whether the architecture counts it or the profiler derives it there. With CUPTI every name of
  /// its form counts as known ("sm__inst_executed.sum"): the table has those that formulas need,
  /// and the profiler host judges others.
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

/// A counter's name taken apart: "TCC_HIT_sum", "TCC_HIT[3]", "SQ_LEVEL_WAVES_ACCUM".
struct CounterName {
  std::string base;          ///< what the hardware counts: "TCC_HIT"
  std::string suffix;        ///< as it stands in the name: "_sum", "[3]"; may be empty
  bool accumulated = false;  ///< a level, added up over time
};

/// Takes a name apart. A name that the table has as it is has no suffix.
CounterName split_counter(const CounterTable& table, std::string_view name);

/// The block that would have to count more at the same time than it can if these counters were
/// asked for in one pass; empty: they fit. Channels and reductions of a counter share its slot,
/// an accumulated level takes two (the level and the accumulator), derived metrics take those of
/// their counters. A block whose slots are not known holds one. Facts: docs/facts/counters.md
/// "Slots of a pass".
std::string overfull_block(const CounterTable& table, std::span<const std::string> counters);

}  // namespace perflab::hal
