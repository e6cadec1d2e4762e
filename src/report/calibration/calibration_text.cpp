// Layout of a calibration on the terminal.
#include "report/calibration/calibration_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "calibrate/expectation.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

using hal::CalibratedFigure;
using hal::CalibrationVerdict;

/// The verdict for people: "wrong by a factor of 2".
std::string verdict_words(const CalibratedFigure& figure) {
  switch (figure.verdict) {
    case CalibrationVerdict::confirmed:
      return "confirmed";
    case CalibrationVerdict::wrong_by_factor:
      return fmt::format("wrong by a factor of {:.4g}", figure.factor.value_or(0));
    case CalibrationVerdict::wrong:
      return "wrong";
    case CalibrationVerdict::zero:
      return "zero";
    case CalibrationVerdict::noisy:
      return "noisy";
    case CalibrationVerdict::not_measured:
      return "not measured";
  }
  return {};
}

std::string tolerance_words(double tolerance) {
  return tolerance == 0 ? "exact" : fmt::format("{:.3g} %", 100 * tolerance);
}

std::string counts_line(std::string_view what, std::span<const CalibratedFigure> figures) {
  std::map<CalibrationVerdict, int> counts;
  for (const CalibratedFigure& figure : figures) ++counts[figure.verdict];
  std::vector<std::string> parts;
  for (const auto& [verdict, many] : counts) {
    std::string name(to_string(verdict));
    std::ranges::replace(name, '_', ' ');
    parts.push_back(fmt::format("{} {}", many, name));
  }
  return fmt::format("{} {}: {}\n", figures.size(), what, fmt::join(parts, ", "));
}

/// Those that were measured and are not confirmed.
void add_troubled(std::span<const CalibratedFigure> figures, TextTable& table) {
  for (const CalibratedFigure& figure : figures) {
    if (figure.verdict == CalibrationVerdict::confirmed ||
        figure.verdict == CalibrationVerdict::not_measured)
      continue;
    const hal::CalibrationProof& first = figure.proofs.front();
    table.add({figure.name, verdict_words(figure), fmt::format("{:.6g}", first.expected),
               fmt::format("{:.6g}", first.measured.front()), first.kernel, figure.reason});
  }
}

std::string ceiling_name(const hal::CalibratedCeiling& one) {
  return one.level
             ? std::string(to_string(*one.level))
             : fmt::format("{} {}", to_string(one.rate->pipe), to_string(one.rate->precision));
}

std::string ceilings_text(const hal::Calibration& calibration, const TerminalStyle& style) {
  using enum TextTable::Align;
  TextTable table({{.title = "ceiling", .align = left},
                   {.title = "reached"},
                   {.title = "spread"},
                   {.title = "nominal"},
                   {.title = "share"},
                   {.title = "by", .align = left},
                   {.title = "its loop", .align = left, .flexible = true, .expendable = 1}});
  for (const hal::CalibratedCeiling& one : calibration.ceilings) {
    const bool known = one.nominal && *one.nominal > 0;
    table.add({ceiling_name(one), fmt::format("{:.5g} {}", one.value, one.unit),
               fmt::format("{:.1f} %", 100 * one.spread),
               known ? fmt::format("{:.5g} {}", *one.nominal, one.unit) : "-",
               known ? fmt::format("{:.0f} %", 100 * one.value / *one.nominal) : "-", one.kernel,
               one.stream});
  }
  return table.empty() ? "" : "\nMeasured ceilings\n" + table.text(style.width);
}

std::string kernels_text(const hal::Calibration& calibration, const TerminalStyle& style) {
  using enum TextTable::Align;
  TextTable table({{.title = "kernel", .align = left},
                   {.title = "check", .align = left},
                   {.title = "why", .align = left, .flexible = true}});
  for (const hal::CalibrationKernel& one : calibration.kernels)
    if (one.check != hal::KernelCheck::agrees && one.check != hal::KernelCheck::not_here)
      table.add({one.name, std::string(to_string(one.check)), one.reason});
  return table.empty() ? "" : "\nKernels that prove nothing\n" + table.text(style.width);
}

/// What the table says of a name.
std::string table_text(const hal::CounterTable& table, std::string_view name) {
  std::string text;
  if (const hal::CounterFormula* formula = table.find(name)) {
    text += fmt::format("  {}, {}\n", formula->label, formula->unit);
    for (const hal::FormulaText& one : formula->alternatives)
      text += fmt::format("  = {}\n", one.text);
    if (!formula->note.empty()) text += fmt::format("  {}\n", formula->note);
  } else if (const std::string block = table.block_of(name); !block.empty()) {
    text += fmt::format("  a counter of block {}\n", block);
  }
  return text;
}

/// Which kernels must give what of a counter or formula.
std::string proving_text(const hal::CounterTable& table, std::string_view name,
                         const TerminalStyle& style) {
  using enum TextTable::Align;
  const hal::Platform platform = hal::platform_of(table.gfx);
  const bool is_formula = table.find(name) != nullptr;
  TextTable proofs({{.title = "kernel", .align = left},
                    {.title = "must give", .align = left},
                    {.title = "to", .align = left},
                    {.title = "because of", .align = left},
                    {.title = "it", .align = left, .flexible = true, .expendable = 1}});
  for (const calibrate::Expectation& one : calibrate::all_expectations()) {
    if (one.figure != name || one.is_formula != is_formula) continue;
    if (one.only && *one.only != platform) continue;
    for (const calibrate::Work& work : calibrate::all_work())
      if (calibrate::is_for(one, work.name) && (!work.only || *work.only == platform))
        proofs.add({std::string(work.name), std::string(one.formula),
                    tolerance_words(one.tolerance), std::string(one.why), std::string(work.shows)});
  }
  return proofs.empty() ? "\nNo kernel of known work proves it.\n"
                        : "\nWhat proves it\n" + proofs.text(style.width);
}

std::string measured_text(const CalibratedFigure& figure, const TerminalStyle& style) {
  using enum TextTable::Align;
  std::string text = fmt::format("\nHere: {}\n", verdict_words(figure));
  if (!figure.reason.empty()) text += fmt::format("  {}\n", figure.reason);
  TextTable proofs({{.title = "kernel", .align = left},
                    {.title = "launch", .align = left},
                    {.title = "expected"},
                    {.title = "measured"},
                    {.title = "ratio"},
                    {.title = "tolerance"}});
  for (const hal::CalibrationProof& proof : figure.proofs) {
    const double first = proof.measured.front();
    proofs.add({proof.kernel, proof.launch, fmt::format("{:.10g}", proof.expected),
                fmt::format("{:.10g}", first), fmt::format("{:.4g}", first / proof.expected),
                tolerance_words(proof.tolerance)});
  }
  return proofs.empty() ? text : text + proofs.text(style.width);
}

}  // namespace

std::string calibration_text(const hal::Calibration& calibration, const TerminalStyle& style) {
  using enum TextTable::Align;
  const hal::CalibratedGpu& gpu = calibration.gpu;
  std::string text = fmt::format("{} ({})", gpu.name.empty() ? "GPU" : gpu.name, gpu.architecture);
  for (const std::string& part : {gpu.runtime, gpu.profiler})
    if (!part.empty()) text += ", " + part;
  if (!gpu.driver.empty()) text += ", driver " + gpu.driver;
  text += fmt::format(", {}\n", calibration.date);
  text += counts_line("counters", calibration.counters);
  text += counts_line("formulas", calibration.formulas);
  TextTable troubled({{.title = "figure", .align = left},
                      {.title = "verdict", .align = left},
                      {.title = "expected"},
                      {.title = "measured"},
                      {.title = "by", .align = left},
                      {.title = "why", .align = left, .flexible = true}});
  add_troubled(calibration.counters, troubled);
  add_troubled(calibration.formulas, troubled);
  if (!troubled.empty()) text += "\nNot to be believed here\n" + troubled.text(style.width);
  return text + ceilings_text(calibration, style) + kernels_text(calibration, style);
}

std::string explained_text(const hal::CounterTable& table, std::string_view name,
                           const CalibratedFigure* figure, const TerminalStyle& style) {
  std::string text = fmt::format("{} ({})\n", name, table.gfx);
  text += table_text(table, name) + proving_text(table, name, style);
  if (figure != nullptr) text += measured_text(*figure, style);
  std::string users;
  for (const hal::CounterFormula& formula : table.formulas)
    for (const hal::FormulaText& one : formula.alternatives)
      if (std::ranges::find(one.counters, name) != one.counters.end())
        users += fmt::format("  {} = {}\n", formula.name, one.text);
  return users.empty() ? text : text + "\nFormulas that use it\n" + users;
}

std::string calibration_plan_text(const calibrate::CalibrationPlan& plan,
                                  const TerminalStyle& style) {
  using enum TextTable::Align;
  std::string text = fmt::format("{}, {} {}; compiled by {}\n\n", plan.gpu.arch->gfx, plan.gpu.cus,
                                 hal::terms(plan.gpu.arch->platform).cus, plan.kernels.compiler);
  TextTable kernels({{.title = "kernel", .align = left},
                     {.title = "check", .align = left},
                     {.title = "larger launch", .align = left},
                     {.title = "its loop, or why not", .align = left, .flexible = true}});
  for (const calibrate::CheckedWork& one : plan.checked) {
    const auto launch = std::ranges::find(plan.launches, one.work, &calibrate::Launch::work);
    kernels.add({std::string(one.work->name), std::string(to_string(one.check)),
                 launch == plan.launches.end() ? "-" : launch->text(),
                 one.reason.empty() ? one.shape.stream : one.reason});
  }
  text += kernels.text(style.width);
  std::size_t dispatches = 0;
  for (const calibrate::Launch& one : plan.launches)
    dispatches += static_cast<std::size_t>(one.repetitions);
  return text + fmt::format("\nOne run for the times and {} for counters, {} dispatches each.\n",
                            plan.passes.size(), dispatches);
}

}  // namespace perflab::report
