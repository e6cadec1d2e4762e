// Text from the examination; nothing is found out here.
#include "doctor/doctor_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/enum_names.h"
#include "hal/terms.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::doctor {
namespace {

using report::kDash;
using report::TextTable;

const Part* part_of(const Examination& examination, Need need) {
  const auto found = std::ranges::find(examination.parts, need, &Part::need);
  return found == examination.parts.end() ? nullptr : &*found;
}

std::string_view colour_of(const report::Paint& paint, Readiness readiness) {
  switch (readiness) {
    case Readiness::ready:
      return paint.good;
    case Readiness::partly:
      return paint.warning;
    case Readiness::not_ready:
      return paint.bad;
  }
  return "";
}

std::string_view words_of(Readiness readiness) {
  using enum Readiness;
  static constexpr auto kNames =
      enum_names<Readiness>({{ready, "works"}, {partly, "works, but"}, {not_ready, "not here"}});
  return kNames[readiness];
}

/// The parts that a command lacks, those with the same effect together.
std::vector<std::string> lack_lines(const Examination& examination,
                                    const CommandReadiness& command) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_effect;
  for (const Lack& lack : command.lacks) {
    const Part* const part = part_of(examination, lack.need);
    const std::string title = part != nullptr ? part->title : std::string(to_string(lack.need));
    const auto known =
        std::ranges::find(by_effect, lack.means, &decltype(by_effect)::value_type::first);
    if (known == by_effect.end())
      by_effect.push_back({lack.means, {title}});
    else
      known->second.push_back(title);
  }
  std::vector<std::string> lines;
  for (const auto& [means, titles] : by_effect)
    lines.push_back(fmt::format("without {}: {}", fmt::join(titles, " and "), means));
  return lines;
}

/// A line per command; what it lacks begins beside it and goes on below.
std::string commands_text(const Examination& examination, const report::Paint& paint,
                          std::size_t width) {
  constexpr std::size_t kStateColumns = 10, kLeastRoom = 24;
  std::size_t name_columns = 0;
  for (const CommandReadiness& command : examination.commands)
    name_columns = std::max(name_columns, command.command.size());
  const std::size_t margin = name_columns + kStateColumns + 6;
  std::string text;
  for (const CommandReadiness& command : examination.commands) {
    const std::string_view state = words_of(command.readiness);
    std::string line = fmt::format("  {:<{}}  {}{}{}", command.command, name_columns,
                                   colour_of(paint, command.readiness), state, paint.end);
    std::size_t blanks = kStateColumns - state.size() + 2;
    for (const std::string& lack : lack_lines(examination, command))
      for (const std::string& piece :
           report::wrapped(lack, std::max(width, margin + kLeastRoom) - margin)) {
        text += line + std::string(blanks, ' ') + piece + "\n";
        line.clear();
        blanks = margin;
      }
    if (!line.empty()) text += line + "\n";
  }
  return text;
}

/// "19.1.7" of "Debian clang version 19.1.7 (3~deb12u1)": the document has all of it.
std::string short_version(const std::string& version) {
  constexpr std::string_view kKey = "version ";
  const std::size_t at = version.find(kKey);
  if (at == std::string::npos) return version.empty() ? kDash : printable(version);
  const std::size_t begin = at + kKey.size();
  return printable(version.substr(begin, version.find(' ', begin) - begin));
}

std::string parts_text(const Examination& examination, std::size_t width) {
  TextTable table({{.title = "part", .align = TextTable::Align::left},
                   {.title = "state", .align = TextTable::Align::left},
                   {.title = "version", .align = TextTable::Align::left},
                   {.title = "where", .align = TextTable::Align::left, .flexible = true}});
  for (const Part& part : examination.parts)
    table.add({part.title, std::string(to_string(part.state)), short_version(part.version),
               part.path.empty() ? kDash : printable(part.path)});
  return table.text(width);
}

std::string gpus_text(const Examination& examination, std::size_t width) {
  if (examination.gpus.empty()) return "  none\n";
  TextTable table({{.title = "node"},
                   {.title = "processor", .align = TextTable::Align::left},
                   {.title = "product", .align = TextTable::Align::left, .flexible = true},
                   {.title = "CUs"},
                   {.title = "architecture", .align = TextTable::Align::left},
                   {.title = "compiler", .align = TextTable::Align::left}});
  for (const Gpu& gpu : examination.gpus)
    table.add({gpu.node ? fmt::format("{}", *gpu.node) : kDash, gpu.processor,
               gpu.product.empty() ? kDash : printable(gpu.product),
               gpu.compute_units ? fmt::format("{}", *gpu.compute_units) : kDash,
               gpu.known ? "known" : "not known: no occupancy, no roofs",
               gpu.compilable                                             ? "knows it"
               : hal::platform_of(gpu.processor) == hal::Platform::nvidia ? "CUDA's own"
                                                                          : "does not know it"});
  std::string text = table.text(width);
  std::vector<std::string> said;  // GPUs of one architecture have one calibration
  for (const Gpu& gpu : examination.gpus) {
    if (!gpu.calibration) continue;
    std::string line = fmt::format("{}: {}", gpu.processor, calibration_text(*gpu.calibration));
    if (std::ranges::find(said, line) != said.end()) continue;
    text += report::indented(line, width);
    said.push_back(std::move(line));
  }
  return text;
}

/// A part's lines below its title.
std::string note_of(const Part& part, std::size_t width) {
  constexpr std::string_view kMargin = "    ";
  constexpr std::size_t kLeastRoom = 30;
  std::vector<std::string> sentences;
  if (part.state != State::works) sentences.push_back(part.problem);
  if (!part.remedy.empty()) sentences.push_back("to get it: " + part.remedy);
  sentences.insert(sentences.end(), part.details.begin(), part.details.end());
  if (sentences.empty()) return {};
  std::string text = fmt::format("  {}\n", part.title);
  for (const std::string& sentence : sentences)
    for (const std::string& line :
         report::wrapped(sentence, std::max(width, kMargin.size() + kLeastRoom) - kMargin.size()))
      text += fmt::format("{}{}\n", kMargin, line);
  return text;
}

/// Of what works, what is worth knowing; of what does not, what to do.
std::string notes_text(const Examination& examination, bool working, std::size_t width) {
  std::string text;
  for (const Part& part : examination.parts)
    if ((part.state == State::works) == working) text += note_of(part, width);
  return text;
}

}  // namespace

std::string doctor_commands_text(const Examination& examination,
                                 const report::TerminalStyle& style) {
  const report::Paint paint(style.colour);
  return fmt::format("{}, Linux {}\n",
                     examination.system.empty() ? "an unknown system" : examination.system,
                     examination.kernel.empty() ? kDash : examination.kernel) +
         report::heading(paint, "Commands") + commands_text(examination, paint, style.width);
}

std::string doctor_gpus_text(const Examination& examination, const report::TerminalStyle& style) {
  return report::heading(report::Paint(style.colour), "GPUs") + gpus_text(examination, style.width);
}

std::string doctor_parts_text(const Examination& examination, const report::TerminalStyle& style) {
  const report::Paint paint(style.colour);
  std::string text = report::heading(paint, "Parts") + parts_text(examination, style.width);
  if (const std::string notes = notes_text(examination, true, style.width); !notes.empty())
    text += report::heading(paint, "What is there") + notes;
  return text;
}

std::string doctor_missing_text(const Examination& examination,
                                const report::TerminalStyle& style) {
  const std::string to_do = notes_text(examination, false, style.width);
  if (to_do.empty()) return to_do;
  return report::heading(report::Paint(style.colour), "What is missing") + to_do;
}

std::string doctor_text(const Examination& examination, const report::TerminalStyle& style) {
  return doctor_commands_text(examination, style) + doctor_gpus_text(examination, style) +
         doctor_parts_text(examination, style) + doctor_missing_text(examination, style);
}

}  // namespace perflab::doctor
