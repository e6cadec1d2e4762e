// Text from the outcomes; nothing is found out here.
#include "doctor/self_test/self_test_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/enum_names.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::doctor {
namespace {

using report::TextTable;

std::string_view word_of(TestOutcome outcome) {
  using enum TestOutcome;
  static constexpr auto kNames =
      enum_names<TestOutcome>({{held, "holds"}, {failed, "FAILS"}, {skipped, "skipped"}});
  return kNames[outcome];
}

std::string name_of(const CaseRun& run) {
  return run.mode == AddressMode::usual ? run.test->id : run.test->id + " (reserved)";
}

std::string cell_of(const SelfTest& test, const TestCase& one, AddressMode mode) {
  const auto run = std::ranges::find_if(
      test.runs, [&](const CaseRun& each) { return each.test == &one && each.mode == mode; });
  return run == test.runs.end() ? report::kDash : std::string(word_of(run->outcome));
}

std::string cases_text(const SelfTest& test, std::size_t width) {
  TextTable table({{.title = "case", .align = TextTable::Align::left},
                   {.title = "usual", .align = TextTable::Align::left},
                   {.title = "reserved", .align = TextTable::Align::left},
                   {.title = "what it shows", .align = TextTable::Align::left, .flexible = true}});
  for (const TestCase& one : test.cases)
    table.add({one.id, cell_of(test, one, AddressMode::usual),
               cell_of(test, one, AddressMode::reserved), one.shows});
  return table.text(width);
}

/// The reasons of one outcome: cases with the same one together.
std::string reasons_text(const SelfTest& test, TestOutcome outcome, std::size_t width) {
  constexpr std::size_t kLeastRoom = 30;
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const CaseRun& run : test.runs) {
    if (run.outcome != outcome) continue;
    std::string reason = run.sentence;
    if (!run.remedy.empty()) reason += " (" + run.remedy + ")";
    const auto known =
        std::ranges::find(by_reason, reason, &decltype(by_reason)::value_type::first);
    if (known == by_reason.end())
      by_reason.push_back({reason, {name_of(run)}});
    else
      known->second.push_back(name_of(run));
  }
  std::string text;
  for (const auto& [reason, names] : by_reason) {
    const std::size_t room = std::max(width, kLeastRoom);
    for (const std::string& line :
         report::wrapped(fmt::format("{}", fmt::join(names, ", ")), room - 2))
      text += "  " + line + "\n";
    for (const std::string& line : report::wrapped(reason, room - 4)) text += "    " + line + "\n";
  }
  return text;
}

std::string version_of(const SelfTest& test, Need need) {
  const auto part = std::ranges::find(test.parts, need, &Part::need);
  return part == test.parts.end() || part->version.empty() ? "" : ", " + part->version;
}

std::string machine_line(const SelfTest& test) {
  const auto gpu = std::ranges::find(test.gpus, test.architecture, &Gpu::processor);
  const std::string product = gpu == test.gpus.end() ? "" : gpu->product;
  return printable(fmt::format(
      "{}{}{}, HSA runtime {}{}", test.architecture, product.empty() ? "" : " ", product,
      version_of(test, Need::runtime).substr(2), version_of(test, Need::compiler)));
}

}  // namespace

std::string decided_line(const CaseRun& run) {
  return fmt::format("{:<28} {:<8} {:6.1f} s{}", name_of(run), word_of(run.outcome), run.seconds,
                     run.sentence.empty() ? "" : "  " + printable(run.sentence));
}

std::string self_test_text(const SelfTest& test, const report::TerminalStyle& style) {
  const report::Paint paint(style.colour);
  std::string text;
  if (test.obstacle) {
    text = fmt::format("{}Nothing could run.{}\n", paint.bad, paint.end);
    text += report::labelled("reason", printable(test.obstacle->sentence), style.width);
    if (!test.obstacle->remedy.empty())
      text += report::labelled("to do", printable(test.obstacle->remedy), style.width);
    return text;
  }
  for (const std::string& line : report::wrapped(machine_line(test), style.width))
    text += line + "\n";
  text += report::heading(paint, "Cases, by the addresses that the runtime gives (docs/REPLAY.md)");
  text += cases_text(test, style.width);
  for (const auto& [outcome, title] :
       {std::pair{TestOutcome::failed, "What failed"}, {TestOutcome::skipped, "What was skipped"}})
    if (const std::string reasons = reasons_text(test, outcome, style.width); !reasons.empty())
      text += report::heading(paint, title) + reasons;
  const std::size_t failed = test.count(TestOutcome::failed);
  text += fmt::format("\n{}{} held, {} failed, {} skipped{} in {:.0f} s\n",
                      failed > 0 ? paint.bad : paint.good, test.count(TestOutcome::held), failed,
                      test.count(TestOutcome::skipped), paint.end, test.seconds);
  if (test.kept) text += fmt::format("everything is in {}\n", test.folder.string());
  return text;
}

}  // namespace perflab::doctor
