// Thresholds: repetitions of the same dispatch count the same instructions, and the same bytes but
// for a few per mille (docs/facts/cuda_counters.md, "Known work"); 5 % is far outside of both.
#include "calibrate/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stats/median.h"

namespace perflab::calibrate {
namespace {

using hal::CalibratedFigure;
using hal::CalibrationProof;
using hal::CalibrationVerdict;

constexpr double kMostSpread = 0.05;
constexpr double kSameFactor = 0.01;

double median_of(std::vector<double> values) {
  return stats::middle_of(values);
}

/// (max - min) / median; 0 where all are 0.
double spread_of(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax_element(values);
  if (*low == *high) return 0;
  return (*high - *low) / std::max(median_of(values), 1e-300);
}

/// The one factor by which all ratios are off; nullopt: there is none.
std::optional<double> common_factor(const std::vector<CalibrationProof>& proofs,
                                    const std::vector<double>& ratios) {
  if (ratios.size() < 2) return std::nullopt;
  const double factor = median_of(ratios);
  for (std::size_t i = 0; i < ratios.size(); ++i)
    if (std::fabs(ratios[i] / factor - 1) > std::max(kSameFactor, proofs[i].tolerance))
      return std::nullopt;
  return factor;
}

std::string worst_text(const std::vector<CalibrationProof>& proofs,
                       const std::vector<double>& ratios) {
  std::size_t worst = 0;
  const auto off = [&](std::size_t i) {
    return ratios[i] > 0 ? std::fabs(std::log(ratios[i])) : INFINITY;
  };
  for (std::size_t i = 1; i < ratios.size(); ++i)
    if (off(i) > off(worst)) worst = i;
  return fmt::format("{:.4g} times what {} ({}) must give, and by no common factor", ratios[worst],
                     proofs[worst].kernel, proofs[worst].launch);
}

}  // namespace

CalibratedFigure judged(std::string name, std::vector<CalibrationProof> proofs,
                        std::string why_not) {
  using enum CalibrationVerdict;
  CalibratedFigure figure;
  figure.name = std::move(name);
  std::erase_if(proofs, [](const CalibrationProof& proof) { return proof.measured.empty(); });
  figure.proofs = std::move(proofs);
  if (figure.proofs.empty()) {
    figure.reason = std::move(why_not);
    return figure;
  }
  std::vector<double> ratios;
  bool within = true, all_zero = true, quiet = true;
  figure.spread = 0;
  for (const CalibrationProof& proof : figure.proofs) {
    const double median = median_of(proof.measured);
    const double spread = spread_of(proof.measured);
    ratios.push_back(median / proof.expected);
    figure.runs = std::max(figure.runs, static_cast<int>(proof.measured.size()));
    figure.spread = std::max(*figure.spread, spread);
    all_zero = all_zero && std::ranges::all_of(proof.measured, [](double x) { return x == 0; });
    quiet = quiet && spread <= std::max(kMostSpread, proof.tolerance);
    within = within && std::fabs(ratios.back() - 1) <= proof.tolerance;
  }
  if (all_zero) {
    figure.verdict = zero;
  } else if (!quiet) {
    figure.verdict = noisy;
    figure.reason =
        fmt::format("repetitions of one launch differ by {:.3g} %", 100 * *figure.spread);
  } else if (within) {
    figure.verdict = confirmed;
  } else if (const auto factor = common_factor(figure.proofs, ratios)) {
    figure.verdict = wrong_by_factor;
    figure.factor = factor;
  } else {
    figure.verdict = wrong;
    figure.reason = worst_text(figure.proofs, ratios);
  }
  return figure;
}

namespace {

/// Values of counters and formulas of one launch.
class Values {
 public:
  Values(const Passes& passes, const FormulaConstants& constants)
      : passes_(passes), constants_(constants) {}

  /// Of each repetition, of the first pass that has it in all of them.
  [[nodiscard]] std::vector<double> counter(std::size_t launch, const std::string& name) const {
    for (std::size_t pass = 0; pass < passes_.size(); ++pass)
      if (std::vector<double> values = in_pass(pass, launch, name); !values.empty()) return values;
    return {};
  }

  /// Of the first alternative whose counters are there: all of one pass where they tell how a run
  /// went.
  [[nodiscard]] std::vector<double> formula(std::size_t launch,
                                            const hal::CounterFormula& formula) const {
    for (const hal::FormulaText& text : formula.alternatives) {
      if (formula.rule == hal::CounterRule::work) {
        auto values =
            evaluated(text, [&](const std::string& name) { return counter(launch, name); });
        if (!values.empty()) return values;
        continue;
      }
      for (std::size_t pass = 0; pass < passes_.size(); ++pass) {
        auto values =
            evaluated(text, [&](const std::string& name) { return in_pass(pass, launch, name); });
        if (!values.empty()) return values;
      }
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<double> in_pass(std::size_t pass, std::size_t launch,
                                            const std::string& name) const {
    std::vector<double> values;
    for (const Counted& counted : passes_[pass][launch].counted) {
      const auto found = counted.find(name);
      if (found == counted.end()) return {};
      values.push_back(found->second);
    }
    return values;
  }

  template <class ValuesOf>
  [[nodiscard]] std::vector<double> evaluated(const hal::FormulaText& text,
                                              const ValuesOf& values_of) const {
    std::map<std::string, std::vector<double>, std::less<>> columns;
    std::size_t repetitions = 0;
    for (const std::string& name : text.counters) {
      std::vector<double> column = values_of(name);
      if (column.empty() || (repetitions != 0 && column.size() != repetitions)) return {};
      repetitions = column.size();
      columns.emplace(name, std::move(column));
    }
    for (const std::string& name : text.constants)
      if (const auto found = constants_.find(name); found == constants_.end() || found->second <= 0)
        return {};
    std::vector<double> values;
    for (std::size_t i = 0; i < repetitions; ++i) {
      const auto value = hal::evaluate(text, [&](std::string_view name) {
        const auto found = columns.find(name);
        return found != columns.end() ? found->second[i] : constants_.find(name)->second;
      });
      if (!value) return {};
      values.push_back(std::max(*value, 0.0));
    }
    return values;
  }

  const Passes& passes_;
  const FormulaConstants& constants_;
};

/// Whether a launch can prove anything: its code agrees, and it computed what it had to.
bool proves(std::span<const CheckedWork> checked, const Launch& launch) {
  const auto row = std::ranges::find(checked, launch.work, &CheckedWork::work);
  return row != checked.end() && row->check == hal::KernelCheck::agrees;
}

/// Why nothing was measured about a figure.
std::string why_not_measured(std::string_view name, bool is_formula,
                             std::span<const CheckedWork> checked) {
  bool any = false;
  std::string reason;
  for (const Expectation& one : all_expectations()) {
    if (one.is_formula != is_formula || one.figure != name) continue;
    for (const CheckedWork& work : checked) {
      if (!is_for(one, work.work->name)) continue;
      any = true;
      if (reason.empty() && work.check != hal::KernelCheck::agrees)
        reason = fmt::format("{}: {}", work.work->name, work.reason);
    }
  }
  if (!any) return "no kernel of known work proves it";
  return reason.empty() ? "it was not in the recordings" : reason;
}

}  // namespace

Judgement judge(const hal::CounterTable& table, std::span<const CheckedWork> checked,
                std::span<const Launch> launches, const Passes& passes,
                const FormulaConstants& constants) {
  const Values values(passes, constants);
  const hal::Platform platform = hal::platform_of(table.gfx);
  const auto verdict_on = [&](const std::string& name, const hal::CounterFormula* formula) {
    std::vector<CalibrationProof> proofs;
    for (const Expectation& one : all_expectations()) {
      if (one.figure != name || one.is_formula != (formula != nullptr)) continue;
      if (one.only && *one.only != platform) continue;
      for (std::size_t i = 0; i < launches.size(); ++i) {
        const Launch& launch = launches[i];
        if (!is_for(one, launch.work->name) || !proves(checked, launch)) continue;
        const auto expected = expected_value(one, launch.numbers);
        if (!expected) continue;
        proofs.push_back(
            {.kernel = std::string(launch.work->name),
             .launch = launch.text(),
             .formula = std::string(one.formula),
             .expected = *expected,
             .measured = formula != nullptr ? values.formula(i, *formula) : values.counter(i, name),
             .tolerance = one.tolerance});
      }
    }
    return judged(name, std::move(proofs), why_not_measured(name, formula != nullptr, checked));
  };
  Judgement judgement;
  for (const std::string& name : counters_of(table))
    judgement.counters.push_back(verdict_on(name, nullptr));
  for (const hal::CounterFormula& formula : table.formulas)
    judgement.formulas.push_back(verdict_on(formula.name, &formula));
  return judgement;
}

std::set<std::string> counters_of(const hal::CounterTable& table) {
  std::set<std::string> names;
  for (const std::vector<std::string>& set : table.sets) names.insert(set.begin(), set.end());
  for (const hal::CounterFormula& formula : table.formulas)
    for (const hal::FormulaText& text : formula.alternatives)
      names.insert(text.counters.begin(), text.counters.end());
  return names;
}

namespace {

hal::Peak peak_of(const Work& work, const hal::Peaks& peaks) {
  if (work.rate) return peaks.of(work.rate->pipe, work.rate->precision);
  switch (*work.level) {
    case hal::CalibratedLevel::memory:
      return peaks.memory;
    case hal::CalibratedLevel::infinity_cache:
      return peaks.infinity_cache;
    case hal::CalibratedLevel::l2:
      return peaks.l2;
    case hal::CalibratedLevel::l1:
      return peaks.l1;
    case hal::CalibratedLevel::lds:
      return peaks.lds;
  }
  return {};
}

/// Bytes or operations of a launch.
double amount_of(const Launch& launch) {
  const LaunchNumbers& numbers = launch.numbers;
  const auto number = [&](std::string_view name) {
    const auto found = numbers.find(name);
    return found == numbers.end() ? 0.0 : found->second;
  };
  const Work& work = *launch.work;
  if (work.level == hal::CalibratedLevel::lds) return number("threads") * number("lds") * 4;
  if (work.level) return number("read") + number("written");
  if (work.rate->pipe == hal::Pipe::matrix) return number("waves") * number("matrix_flops");
  double flops = 0;
  for (const std::string_view name : {"flops_f16", "flops_f32", "flops_f64"}) flops += number(name);
  return number("threads") * flops;
}

}  // namespace

std::vector<hal::CalibratedCeiling> ceilings_of(std::span<const CheckedWork> checked,
                                                std::span<const Launch> launches,
                                                std::span<const LaunchSamples> times,
                                                const hal::Peaks& peaks) {
  std::vector<hal::CalibratedCeiling> ceilings;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const Work& work = *launches[i].work;
    if ((!work.level && !work.rate) || !proves(checked, launches[i])) continue;
    std::vector<double> rates;
    for (const double ns : times[i].nanoseconds)
      if (ns > 0) rates.push_back(amount_of(launches[i]) / ns);
    if (rates.empty()) continue;
    const hal::Peak peak = peak_of(work, peaks);
    const auto shape = std::ranges::find(checked, &work, &CheckedWork::work);
    const bool integer = work.rate && (work.rate->precision == hal::Precision::int8);
    hal::CalibratedCeiling ceiling{.level = work.level,
                                   .rate = work.rate,
                                   .value = std::ranges::max(rates),
                                   .unit = work.level ? "GB/s" : (integer ? "GOP/s" : "GFLOP/s"),
                                   .spread = spread_of(rates),
                                   .runs = static_cast<int>(rates.size()),
                                   .nominal = peak.value,
                                   .nominal_formula = peak.value ? peak.formula : "",
                                   .kernel = std::string(work.name),
                                   .stream = shape->shape.stream};
    const auto same = std::ranges::find_if(ceilings, [&](const hal::CalibratedCeiling& other) {
      if (ceiling.level) return other.level == ceiling.level;
      return other.rate && other.rate->pipe == ceiling.rate->pipe &&
             other.rate->precision == ceiling.rate->precision;
    });
    if (same == ceilings.end())
      ceilings.push_back(std::move(ceiling));
    else if (ceiling.value > same->value)
      *same = std::move(ceiling);
  }
  return ceilings;
}

}  // namespace perflab::calibrate
