// The answer of doctor: which commands work on this machine, what is missing and how to get it
// (what keeps most commands from working first), and how to see that it helped.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text/command_line.h"
#include "hal/terms.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

/// How much depends on a part: commands that do not work without it, and those that lack something.
struct Weight {
  std::size_t stops = 0, hampers = 0;
};

Weight weight_of(const DocumentPlace& commands, const std::string& need) {
  Weight weight;
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const DocumentPlace lacks = commands[i]["lacks"];
    for (std::size_t j = 0; j < lacks.size(); ++j)
      if (lacks[j]["need"].text() == need)
        ++(commands[i]["readiness"].text() == "not_ready" ? weight.stops : weight.hampers);
  }
  return weight;
}

/// Every command: those that do not work first, each with the first thing that it cannot do.
Part commands_part(const DocumentPlace& commands) {
  Part part{.part = "commands", .title = "Commands"};
  for (const char* readiness : {"not_ready", "partly", "ready"})
    for (std::size_t i = 0; i < commands.size(); ++i) {
      const DocumentPlace command = commands[i];
      if (command["readiness"].text() != readiness) continue;
      Json row = command.excerpt({"command", "readiness"});
      if (const DocumentPlace lack = command["lacks"][std::size_t{0}])
        row["without"] = lack.excerpt({"need", "means"});
      part.rows.push_back(std::move(row));
    }
  return part;
}

/// What the commands lack, with its remedy.
Part lacking_part(const DocumentPlace& doctor) {
  Part part{.part = "missing", .title = "What is missing", .details = "missing"};
  const DocumentPlace parts = doctor["parts"];
  std::vector<std::pair<Weight, std::size_t>> order;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i]["state"].text() == "works") continue;
    const Weight weight = weight_of(doctor["commands"], parts[i]["need"].text());
    if (weight.stops + weight.hampers > 0) order.emplace_back(weight, i);
  }
  std::ranges::sort(order, {}, [](const auto& one) {
    return std::tuple(-static_cast<double>(one.first.stops),
                      -static_cast<double>(one.first.hampers), one.second);
  });
  for (const auto& [weight, i] : order)
    part.rows.push_back(parts[i].excerpt({"need", "title", "state", "problem", "remedy"}));
  return part;
}

Part machine_part(const DocumentPlace& doctor) {
  Part part{.part = "machine", .title = "This machine", .details = "gpus"};
  part.rows.push_back(doctor["environment"].excerpt({"system", "kernel"}));
  const DocumentPlace gpus = doctor["gpus"];
  const std::size_t shown = std::min(gpus.size(), kMostSummaryRows);
  for (std::size_t i = 0; i < shown; ++i)
    part.rows.push_back(gpus[i].excerpt(
        {"processor", "product", "compute_units", "architecture_known", "compilable"}));
  part.left_out = gpus.size() - shown;
  return part;
}

/// Asking again for what does not work; else whether all of it holds on the GPU, or how to begin.
NextStep doctor_step(const DocumentPlace& doctor) {
  const DocumentPlace commands = doctor["commands"];
  std::vector<std::string> words = {"rocm-perf", "doctor"};
  for (std::size_t i = 0; i < commands.size(); ++i)
    if (commands[i]["readiness"].text() == "not_ready")
      words.push_back(commands[i]["command"].text());
  if (words.size() > 2)
    return {join_command_line(words), "asks again; the exit code is 0 once they work"};
  if (doctor["gpus"].size() > 0)
    return {"rocm-perf doctor --self-test",
            "whether the commands hold on this GPU, in under ten minutes"};
  return {join_command_line({"rocm-perf", commands[0]["command"].text(), "--help"}),
          "shows examples; it needs no GPU"};
}

/// Commands that lack the same in one line.
std::string commands_lines(const Json& rows, std::size_t width) {
  static constexpr std::pair<std::string_view, std::string_view> kStates[] = {
      {"ready", "work"}, {"partly", "in part"}, {"not_ready", "not here"}};
  constexpr std::size_t kMargin = 13;
  std::string out;
  for (const auto& [readiness, words] : kStates) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_lack;
    for (const Json& row : rows) {
      if (row_text(row, "readiness") != readiness) continue;
      const std::string lack =
          row.contains("without") ? row_text(row["without"], "means") : std::string();
      auto same = std::ranges::find(by_lack, lack, &decltype(by_lack)::value_type::first);
      if (same == by_lack.end()) same = by_lack.insert(by_lack.end(), {lack, {}});
      same->second.push_back(row_text(row, "command"));
    }
    std::string_view label = words;
    for (const auto& [lack, names] : by_lack) {
      std::string lines =
          margined(fmt::format("{}{}{}", fmt::join(names, ", "), lack.empty() ? "" : ": ", lack),
                   width, kMargin);
      lines.replace(0, kMargin, fmt::format("  {:<{}}", label, kMargin - 2));
      out += lines;
      label = "";
    }
  }
  return out;
}

std::string lacking_lines(const Json& rows, std::size_t width) {
  std::string out;
  for (const Json& row : rows) {
    const std::string problem = row_text(row, "problem"), remedy = row_text(row, "remedy");
    // What is not there needs no further word; what cannot be used does.
    const bool there = row_text(row, "state") == "unusable";
    std::string text = row_text(row, "title") + ": ";
    if (there || remedy.empty()) text += problem + (remedy.empty() ? "" : "; ");
    std::string lines = margined(text + remedy, width, 4);
    lines.replace(0, 4, "  - ");
    out += lines;
  }
  return out;
}

std::string machine_lines(const Json& part, std::size_t width) {
  std::string out;
  // A page that was too long has fewer rows than there are GPUs.
  const bool no_gpu = part["rows"].size() == 1 && part["left_out"] == 0;
  for (const Json& row : part["rows"]) {
    if (!row.contains("processor")) {
      const std::string system = row_text(row, "system"), kernel = row_text(row, "kernel");
      out += margined(fmt::format("{}, Linux {}{}", system.empty() ? "an unknown system" : system,
                                  kernel.empty() ? kDash : kernel, no_gpu ? "; no AMD GPU" : ""),
                      width, 2);
      continue;
    }
    std::string text = row_text(row, "processor");
    if (const std::string product = row_text(row, "product"); !product.empty())
      text += fmt::format(" ({})", product);
    if (has_row_number(row, "compute_units"))
      text += fmt::format(", {:.0f} {}", row_number(row, "compute_units"),
                          hal::terms(hal::platform_of(row_text(row, "processor"))).cus);
    if (!row.value("architecture_known", true)) text += "; not known: no occupancy, no roofs";
    if (!row.value("compilable", true) &&
        hal::platform_of(row_text(row, "processor")) == hal::Platform::amd)
      text += "; the compiler here does not know it";
    out += margined(text, width, 4);
  }
  return out;
}

}  // namespace

void summarise_doctor(std::span<const NamedDocument> documents, Json& summary) {
  const DocumentPlace doctor = document_of(documents, "doctor");
  add_part(summary, machine_part(doctor));
  add_part(summary, commands_part(doctor["commands"]));
  add_part(summary, lacking_part(doctor));
  add_next(summary, doctor_step(doctor));
}

std::optional<std::string> doctor_part_text(const Json& /*summary*/, const Json& part,
                                            std::size_t width, const Paint& /*paint*/) {
  const std::string name = part["part"];
  if (name == "machine") return machine_lines(part, width);
  if (name == "commands") return commands_lines(part["rows"], width);
  if (name == "missing") return lacking_lines(part["rows"], width);
  return std::nullopt;
}

}  // namespace perflab::report
