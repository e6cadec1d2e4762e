// Choice of the pass, evaluation, and the sentences for everything that stands in the way.
#include "analyze/roofline/roofline_figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace perflab::analyze {
namespace {

using hal::CounterFormula;
using hal::CounterRule;
using hal::FormulaText;
using trace::Index;
using trace::kNone;

constexpr const char* kCollectThem = "collect them: rocm-perf profile --roofline";
constexpr const char* kSamePassRemedy =
    "collect them in one pass: rocm-perf profile --roofline does";

/// Rounding of the counters of lanes and cycles; beyond it they contradict each other.
constexpr double kMostLanes = 1.01;
/// Counters of different blocks start and stop a few cycles apart.
constexpr double kMostPercent = 110;

/// Counters of a formula by name, each with its total over the kernel's dispatches.
using Values = std::map<std::string_view, double>;

bool is_total(const CounterFormula& formula) {
  static constexpr std::array<std::string_view, 10> kTotals = {
      "vector.",   "matrix.", "matrix_instructions", "integer_instructions",
      "fabric.",   "l2.",     "lds.bytes",           "l1.bytes",
      "estimate.", "cycles"};
  return std::ranges::any_of(
      kTotals, [&](std::string_view prefix) { return formula.name.starts_with(prefix); });
}

/// A counter of a formula, and the pass that it is taken from.
struct Taken {
  Index counter = kNone;
  Index pass = kNone;
};

/// What stands in the way of a figure; of several obstacles the last of these is told.
enum class Obstacle { absent, apart, uncovered, different, unknown_machine, suspicious, disproved };

class Evaluator {
 public:
  Evaluator(const KernelCounters& counters, const CounterFormula& formula)
      : k_(counters), formula_(formula), total_(is_total(formula)) {}

  Figure run() {
    figure_.name = formula_.name;
    figure_.label = formula_.label;
    figure_.unit = formula_.unit;
    figure_.note = formula_.note;
    figure_.formula = formula_.alternatives.front().text;
    if (const hal::CalibratedFigure* const found = k_.disproved(formula_)) {
      object_to(*found);
      return figure_;
    }
    for (const FormulaText& text : formula_.alternatives)
      if (in_one_pass(text)) return figure_;
    for (const FormulaText& text : formula_.alternatives)
      if (in_several_passes(text)) return figure_;
    if (!obstacle_) explain_absence();
    return figure_;
  }

 private:
  [[nodiscard]] std::size_t pass_count() const { return k_.passes->passes.size(); }
  [[nodiscard]] int number(Index pass) const { return k_.passes->passes[pass].info.number; }

  struct Objection {
    std::string reason;
    std::string remedy = {};
    Lack lack = Lack::other;
    std::string doubt = {};
  };

  /// Remembers why there is no figure, unless something weightier is known.
  void object(Obstacle obstacle, Objection why) {
    if (obstacle_ && *obstacle_ >= obstacle) return;
    obstacle_ = obstacle;
    figure_.state =
        obstacle == Obstacle::suspicious ? CounterState::suspicious : CounterState::missing;
    figure_.reason = std::move(why.reason);
    figure_.remedy = std::move(why.remedy);
    figure_.lack = why.lack;
    figure_.doubt = std::move(why.doubt);
  }

  static bool holds(const CounterSet& set, std::span<const Index> wanted) {
    return std::ranges::all_of(wanted,
                               [&](Index counter) { return set.find(counter).has_value(); });
  }

  /// Whether dispatches of one launch geometry have all these counters together in the pass.
  [[nodiscard]] bool covers(std::size_t shape, Index pass, std::span<const Index> wanted) const {
    return std::ranges::any_of(k_.sums.sets[shape][pass],
                               [&](const CounterSet& set) { return holds(set, wanted); });
  }

  /// Likewise for any launch geometry that counts.
  [[nodiscard]] bool has(Index pass, std::span<const Index> wanted) const {
    for (std::size_t shape = 0; shape < k_.sums.sets.size(); ++shape)
      if (k_.sums.weights[shape] > 0 && covers(shape, pass, wanted)) return true;
    return false;
  }

  /// Launch geometries that have every counter. None when a total would have to leave one out.
  std::vector<std::size_t> shapes_with(const FormulaText& text, std::span<const Taken> taken,
                                       bool together) {
    std::vector<Index> all;
    for (const Taken& one : taken) all.push_back(one.counter);
    std::vector<std::size_t> shapes;
    for (std::size_t shape = 0; shape < k_.sums.sets.size(); ++shape) {
      if (k_.sums.weights[shape] == 0) continue;
      bool covered = together ? covers(shape, taken.front().pass, all) : true;
      for (const Taken& one : taken)
        covered = covered && covers(shape, one.pass, std::array{one.counter});
      if (covered) {
        shapes.push_back(shape);
        continue;
      }
      if (!total_) continue;
      object(Obstacle::uncovered,
             {.reason = fmt::format(
                  "{} not on each of the kernel's dispatches: of the {} with a grid of {} "
                  "work-items none has them",
                  fmt::join(text.counters, ", "), k_.sums.weights[shape],
                  fmt::join(k_.kernel->shapes[shape].shape.grid, "x")),
              .remedy = kCollectThem});
      return {};
    }
    return shapes;
  }

  /// A counter's total over the kernel's dispatches with these geometries: its mean over the
  /// dispatches of the pass that have all of `together`, times how many there are.
  double add_up(const std::string& name, const Taken& taken, std::span<const Index> together,
                std::span<const std::size_t> shapes, std::uint64_t& measured) const {
    double total = 0, weights = 0;
    measured = 0;
    for (const std::size_t shape : shapes) {
      double sum = 0;
      std::uint64_t dispatches = 0;
      for (const CounterSet& set : k_.sums.sets[shape][taken.pass]) {
        if (!holds(set, together)) continue;
        dispatches += set.dispatches;
        sum += set.sums[*set.find(taken.counter)];
      }
      const auto weight = static_cast<double>(k_.sums.weights[shape]);
      total += sum / static_cast<double>(dispatches) * weight;
      weights += weight;
      measured += dispatches;
    }
    return k_.table->is_derived(name) ? total / weights : total;  // a ratio: the mean
  }

  /// The formula's counters, all of one pass; empty: the pass lacks one.
  [[nodiscard]] std::vector<Taken> take_from(const FormulaText& text, Index pass) const {
    std::vector<Taken> taken;
    for (const std::string& name : text.counters) {
      const std::vector<Index> recorded = k_.candidates(name);
      const auto found = std::ranges::find_if(
          recorded, [&](Index counter) { return has(pass, std::array{counter}); });
      if (found == recorded.end()) return {};
      taken.push_back({.counter = *found, .pass = pass});
    }
    return taken;
  }

  bool in_one_pass(const FormulaText& text) {
    std::vector<Taken> best;
    std::uint64_t best_dispatches = 0;
    for (Index pass = 0; pass < pass_count(); ++pass) {
      const std::vector<Taken> taken = take_from(text, pass);
      if (taken.empty() || doubtful(text, taken) || (total_ && differs(std::array{pass}))) continue;
      std::uint64_t measured = 0;
      for (const std::size_t shape : shapes_with(text, taken, true))
        for (const CounterSet& set : k_.sums.sets[shape][pass])
          if (std::ranges::all_of(
                  taken, [&](const Taken& one) { return set.find(one.counter).has_value(); }))
            measured += set.dispatches;
      if (measured <= best_dispatches) continue;
      best = taken;
      best_dispatches = measured;
    }
    if (best.empty()) return false;
    return evaluate(text, best, true);
  }

  bool in_several_passes(const FormulaText& text) {
    std::vector<Taken> taken;
    for (const std::string& name : text.counters) {
      taken.push_back(somewhere(name));
      if (taken.back().counter == kNone) return false;
    }
    if (doubtful(text, taken) || differs(passes_of(taken))) return false;
    return evaluate(text, taken, false);
  }

  static std::vector<Index> passes_of(std::span<const Taken> taken) {
    std::set<Index> distinct;
    for (const Taken& one : taken) distinct.insert(one.pass);
    return {distinct.begin(), distinct.end()};
  }

  /// The pass to take a counter from: the first that is in no doubt and did the same work as the
  /// run that gives the times, else the first that has it.
  [[nodiscard]] Taken somewhere(std::string_view name) const {
    Taken first;
    for (const Index candidate : k_.candidates(name))
      for (Index pass = 0; pass < pass_count(); ++pass) {
        if (!has(pass, std::array{candidate})) continue;
        if (first.counter == kNone) first = {.counter = candidate, .pass = pass};
        if (k_.doubts.of(pass, candidate).empty() &&
            difference_of_passes(k_, std::array{pass}, true).empty())
          return {.counter = candidate, .pass = pass};
      }
    return first;
  }

  bool differs(std::span<const Index> passes) {
    std::string why = difference_of_passes(k_, passes, total_);
    if (why.empty()) return false;
    object(Obstacle::different, {.reason = std::move(why)});
    return true;
  }

  /// A counter or formula that kernels of known work disproved on this GPU.
  void object_to(const hal::CalibratedFigure& found) {
    std::string what = "it counted something else than kernels of known work did";
    if (found.verdict == hal::CalibrationVerdict::zero)
      what = "it stayed 0 where kernels of known work counted";
    else if (found.factor)
      what = fmt::format("it counted {:.4g} times what kernels of known work did", *found.factor);
    object(Obstacle::disproved,
           {.reason =
                fmt::format("{} is not used: the calibration of {} disproved it on this GPU ({})",
                            found.name, k_.calibration->date, what),
            .remedy = fmt::format("rocm-perf calibrate --explain {}", found.name),
            .lack = Lack::confidence,
            .doubt = "the calibration of this GPU disproved it"});
  }

  bool doubtful(const FormulaText& text, std::span<const Taken> taken) {
    if (const hal::CalibratedFigure* const found = k_.disproved(text)) {
      object_to(*found);
      return true;
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const std::string& why = k_.doubts.of(taken[i].pass, taken[i].counter);
      if (why.empty()) continue;
      object(Obstacle::suspicious,
             {.reason = fmt::format("{} of pass {} is suspicious: {}", text.counters[i],
                                    number(taken[i].pass), why),
              .lack = Lack::confidence,
              .doubt = why});
      return true;
    }
    return false;
  }

  /// Puts the formula's value into the figure. False: it cannot be; the reason is noted.
  bool evaluate(const FormulaText& text, std::span<const Taken> taken, bool together) {
    for (const std::string& name : text.constants)
      if (!k_.constants.of(name)) {
        object(Obstacle::unknown_machine,
               {.reason = name == "LANES"
                              ? "the wave size of this kernel is not known: the waves that were "
                                "counted, if any, fit several"
                              : fmt::format("{} of this GPU is not known", name)});
        return false;
      }
    const std::vector<std::size_t> shapes = shapes_with(text, taken, together);
    if (shapes.empty()) {
      object(Obstacle::apart,
             {.reason = fmt::format("no launch geometry of the kernel has all of {}",
                                    fmt::join(text.counters, ", "))});
      return false;
    }
    std::vector<Index> all;
    for (const Taken& one : taken) all.push_back(one.counter);
    Values values;
    std::uint64_t fewest = UINT64_MAX;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      std::uint64_t measured = 0;
      const std::array alone{taken[i].counter};
      values[text.counters[i]] = add_up(
          text.counters[i], taken[i],
          together ? std::span<const Index>(all) : std::span<const Index>(alone), shapes, measured);
      fewest = std::min(fewest, measured);
    }
    figure_.formula = text.text;
    figure_.dispatches = fewest;
    figure_.passes.clear();
    for (const Index pass : passes_of(taken)) figure_.passes.push_back(number(pass));
    std::ranges::sort(figure_.passes);
    const auto value = hal::evaluate(text, [&](std::string_view name) {
      const auto found = values.find(name);
      return found != values.end() ? found->second : *k_.constants.of(name);
    });
    if (together || formula_.rule == CounterRule::work)
      settle(value);
    else
      keep_apart(text, value);
    return true;
  }

  void settle(const std::optional<double>& value) {
    const auto conclude = [&](CounterState state, std::string reason) {
      figure_.state = state;
      figure_.reason = std::move(reason);
      figure_.remedy.clear();
    };
    if (!value)
      return conclude(CounterState::missing,
                      "what it divides by is 0: nothing of the kind happened");
    if (*value < 0)
      return conclude(
          CounterState::suspicious,
          fmt::format("it comes out as {:.6g}: its counters contradict each other", *value));
    if (formula_.name == kLanesFormula && k_.constants.lanes &&
        *value > kMostLanes * *k_.constants.lanes)
      return conclude(CounterState::suspicious,
                      fmt::format("it comes out as {:.6g}, and a wave has {} lanes: its counters "
                                  "contradict each other",
                                  *value, *k_.constants.lanes));
    if (formula_.unit == "%" && *value > kMostPercent)
      return conclude(
          CounterState::suspicious,
          fmt::format("it comes out as {:.6g} %: its counters contradict each other", *value));
    figure_.value = *value;
    conclude(*value == 0 ? CounterState::zero : CounterState::measured, {});
  }

  /// A figure that depends on time, from dispatches that are not the same: for people only.
  void keep_apart(const FormulaText& text, const std::optional<double>& value) {
    figure_.across_passes = value && *value >= 0 ? value : std::nullopt;
    figure_.state = CounterState::missing;
    figure_.reason =
        figure_.passes.size() == 1
            ? fmt::format(
                  "no dispatch of pass {} has all of {}: the counters took turns over the "
                  "dispatches",
                  figure_.passes.front(), fmt::join(text.counters, ", "))
            : fmt::format(
                  "its counters are in passes {}: a figure that depends on time is built "
                  "from counters of one pass",
                  fmt::join(figure_.passes, " and "));
    figure_.remedy = kSamePassRemedy;
  }

  /// Whether the pass has dispatches of the kernel.
  [[nodiscard]] bool ran_in(const Pass& pass) const {
    const auto at = static_cast<std::size_t>(&pass - k_.passes->passes.data());
    return std::ranges::any_of(k_.kernel->shapes,
                               [&](const ShapeGroup& shape) { return !shape.in_pass[at].empty(); });
  }

  /// Whether some dispatch of the pass has the counter, under any of its names.
  [[nodiscard]] bool has_name(const Pass& pass, std::string_view name) const {
    return std::ranges::any_of(k_.table->spellings(name), [&](const std::string& spelling) {
      return std::ranges::binary_search(pass.info.counters, spelling);
    });
  }

  void explain_absence() {
    std::set<std::string> absent;
    for (const FormulaText& text : formula_.alternatives)
      for (const std::string& name : text.counters)
        if (somewhere(name).counter == kNone) absent.insert(name);
    for (const std::string& name : absent)
      for (const Pass& pass : k_.passes->passes)
        if (has_name(pass, name) && !ran_in(pass))
          return object(
              Obstacle::absent,
              {.reason = fmt::format("pass {} has {}, but not for this kernel: none of its "
                                     "dispatches is in that pass",
                                     pass.info.number, name)});
    if (absent.empty())
      object(Obstacle::absent,
             {.reason = "its counters were not recorded for this kernel's dispatches",
              .remedy = kCollectThem});
    else
      object(Obstacle::absent, {.reason = fmt::format("not recorded: {}", fmt::join(absent, ", ")),
                                .remedy = kCollectThem,
                                .lack = Lack::recording});
  }

  const KernelCounters& k_;
  const CounterFormula& formula_;
  const bool total_;
  Figure figure_;
  std::optional<Obstacle> obstacle_;
};

}  // namespace

std::optional<double> FormulaConstants::of(std::string_view name) const {
  if (name == "CU") return cus;
  if (name == "XCC") return xccs;
  if (name == "SE") return shader_engines;
  if (name == "SIMD_PER_CU") return simds_per_cu;
  if (name == "MAX_WAVES_PER_CU") return max_waves_per_cu;
  if (name == "LANES") return lanes;
  return std::nullopt;
}

const hal::CalibratedFigure* KernelCounters::disproved(const CounterFormula& formula) const {
  const hal::CalibratedFigure* const found =
      calibration == nullptr ? nullptr : calibration->formula(formula.name);
  return found != nullptr && found->disproved() ? found : nullptr;
}

const hal::CalibratedFigure* KernelCounters::disproved(const FormulaText& text) const {
  if (calibration == nullptr) return nullptr;
  for (const std::string& name : text.counters)
    if (const hal::CalibratedFigure* const found = calibration->counter(name);
        found != nullptr && found->disproved())
      return found;
  return nullptr;
}

std::vector<Index> KernelCounters::candidates(std::string_view name) const {
  std::vector<Index> found;
  for (const std::string& spelling : table->spellings(name))
    std::ranges::copy(names->candidates(spelling), std::back_inserter(found));
  return found;
}

std::string difference_of_passes(const KernelCounters& counters, std::span<const Index> passes,
                                 bool with_timed) {
  bool timed_anywhere = false;
  for (const ShapeGroup& shape : counters.kernel->shapes)
    timed_anywhere = timed_anywhere || !shape.timed.empty();
  for (const ShapeGroup& shape : counters.kernel->shapes) {
    const auto differ = [&](std::string_view a, std::size_t in_a, std::string_view b,
                            std::size_t in_b) {
      return fmt::format(
          "the program did not do the same work each time: {} of its dispatches with a grid of {} "
          "work-items in {}, {} in {}",
          in_a, fmt::join(shape.shape.grid, "x"), a, in_b, b);
    };
    const auto name = [&](Index pass) {
      return fmt::format("pass {}", counters.passes->passes[pass].info.number);
    };
    const std::size_t first = shape.in_pass[passes.front()].size();
    for (const Index pass : passes.subspan(1))
      if (shape.in_pass[pass].size() != first)
        return differ(name(passes.front()), first, name(pass), shape.in_pass[pass].size());
    if (with_timed && timed_anywhere && shape.timed.size() != first)
      return differ(name(passes.front()), first, "the run that gives the times",
                    shape.timed.size());
  }
  return {};
}

Figure compute_figure(const KernelCounters& counters, const CounterFormula& formula) {
  return Evaluator(counters, formula).run();
}

Figure compute_figure(const KernelCounters& counters, std::string_view formula) {
  if (const CounterFormula* found = counters.table->find(formula))
    return compute_figure(counters, *found);
  Figure figure;
  figure.name = formula;
  figure.label = formula;
  figure.state = CounterState::unsupported;
  figure.reason = fmt::format("no counters of {} give it", counters.table->gfx);
  return figure;
}

namespace {

/// One joined dispatch, and the passes to look into.
struct JoinedDispatch {
  const KernelCounters& counters;
  const CounterIndex& index;
  const ShapeGroup& shape;
  std::size_t ordinal;
  Index first_pass, last_pass;

  /// A counter's value in the first of the passes that has it and is in no doubt.
  [[nodiscard]] std::optional<double> value_of(std::string_view name) const {
    for (const Index counter : counters.candidates(name))
      for (Index pass = first_pass; pass < last_pass; ++pass) {
        if (ordinal >= shape.in_pass[pass].size() || !counters.doubts.of(pass, counter).empty())
          continue;
        const std::size_t row = index.row(shape.in_pass[pass][ordinal], counter);
        if (row != kNone) return counters.trace->counters.sum[row];
      }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<double> evaluate(const FormulaText& text) const {
    if (counters.disproved(text) != nullptr) return std::nullopt;
    std::map<std::string_view, double> values;
    for (const std::string& name : text.counters) {
      const auto value = value_of(name);
      if (!value) return std::nullopt;
      values[name] = *value;
    }
    for (const std::string& name : text.constants) {
      const auto value = counters.constants.of(name);
      if (!value) return std::nullopt;
      values[name] = *value;
    }
    const auto result = hal::evaluate(text, [&](std::string_view name) { return values.at(name); });
    return result && *result >= 0 ? result : std::nullopt;
  }
};

}  // namespace

std::optional<double> dispatch_figure(const KernelCounters& counters, const CounterIndex& index,
                                      const hal::CounterFormula& formula, const ShapeGroup& shape,
                                      std::size_t ordinal, PassChoice choice) {
  if (counters.disproved(formula) != nullptr) return std::nullopt;
  const auto passes = static_cast<Index>(shape.in_pass.size());
  for (const FormulaText& text : formula.alternatives)
    for (Index pass = 0; pass < (choice == PassChoice::one ? passes : 1); ++pass) {
      const JoinedDispatch dispatch{.counters = counters,
                                    .index = index,
                                    .shape = shape,
                                    .ordinal = ordinal,
                                    .first_pass = pass,
                                    .last_pass = choice == PassChoice::one ? pass + 1 : passes};
      if (const auto value = dispatch.evaluate(text)) return value;
    }
  return std::nullopt;
}

}  // namespace perflab::analyze
