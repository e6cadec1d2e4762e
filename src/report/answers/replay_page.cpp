// How the answers about captures and replays are drawn.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/text/number_text.h"
#include "hal/terms.h"
#include "report/answers/answers.h"
#include "report/excerpt/parts.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "stats/summary.h"

namespace perflab::report {
namespace {

/// As people know the kernel.
std::string kernel_title(const Json& row) {
  const std::string demangled = row_text(row, "demangled");
  return demangled.empty() ? row_text(row, "name") : demangled;
}

std::string one_line(const std::string& text, std::size_t width) {
  constexpr std::size_t kMargin = 2;
  return fmt::format("  {}\n", fit(text, std::max(width, 2 * kMargin) - kMargin));
}

std::string tolerance_of(const Json& method) {
  std::vector<std::string> parts;
  if (has_row_number(method, "max_ulp"))
    parts.push_back(fmt::format("{} ULP", number_text(row_number(method, "max_ulp"))));
  if (has_row_number(method, "max_relative"))
    parts.push_back(
        fmt::format("{} of the value", number_text(row_number(method, "max_relative"))));
  if (has_row_number(method, "max_absolute"))
    parts.push_back(number_text(row_number(method, "max_absolute")));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

/// What was overwritten before a further run.
std::string_view poison_of(const Json& method) {
  const std::string poison = row_text(method, "poison");
  if (poison == "written") return "outputs poisoned";
  return poison == "arguments" ? "buffers of the arguments poisoned" : "nothing poisoned";
}

std::string proof_text(const Json& row, std::size_t width, const Paint& paint) {
  const std::string verdict = row_text(row, "verdict");
  const bool good = verdict == "bitwise" || verdict == "within_tolerance";
  const std::string_view colour = good                             ? paint.good
                                  : verdict == "not_deterministic" ? paint.warning
                                                                   : paint.bad;
  const Json& method = row["method"];
  return one_line(kernel_title(row["kernel"]), width) +
         fmt::format("{}{}{}", colour, indented(row_text(row, "what"), width), paint.end) +
         indented(fmt::format("{} of the original; {}; tolerance: {}",
                              counted(static_cast<std::size_t>(row_number(method, "runs")), "run"),
                              poison_of(method), tolerance_of(method)),
                  width);
}

std::string distances_text(const Json& part, std::size_t width) {
  using enum TextTable::Align;
  TextTable table({{.title = "type", .align = left},
                   {.title = "elements", .expendable = 1},
                   {.title = "differ"},
                   {.title = "beyond"},
                   {.title = "max ULP"},
                   {.title = "max abs.", .expendable = 2},
                   {.title = "verdict", .align = left},
                   {.title = "region", .align = left, .flexible = true}});
  const auto figure = [](const Json& row, const char* field) {
    return has_row_number(row, field) ? number_text(row_number(row, field), 5) : kDash;
  };
  for (const Json& row : part["rows"]) {
    const std::string type = row_text(row, "type");
    table.add({type.empty() ? "bytes" : type, figure(row, "elements"), figure(row, "different"),
               figure(row, "beyond_tolerance"), figure(row["largest"], "ulp"),
               figure(row["largest"], "absolute"), row_text(row, "verdict"),
               row_text(row, "what")});
  }
  return table.text(width);
}

std::string cheats_text(const Json& part, std::size_t width, const Paint& paint) {
  std::string out;
  for (const Json& row : part["rows"]) {
    if (row.contains("poison")) {
      out += indented(
          "none: nothing is written beside the outputs, and no output is left as it was", width);
      continue;
    }
    std::vector<std::string> found;
    for (const auto& [field, what] :
         {std::pair{"unexpected_bytes", "written beside the outputs"},
          {"not_rewritten_bytes", "of outputs not written"},
          {"wrong_on_poison_bytes", "of outputs that depend on what stood there"}})
      if (row_number(row, field) > 0)
        found.push_back(fmt::format("{} {}", bytes_text(row_number(row, field)), what));
    out += fmt::format(
        "{}{}{}", paint.bad,
        indented(fmt::format("{}: {}", row_text(row, "what"), fmt::join(found, ", ")), width),
        paint.end);
  }
  return out;
}

std::string replayed_text(const Json& row, std::size_t width) {
  const Json& execution = row["execution"];
  const Json& machine = row["environment"];
  const std::string product = row_text(machine, "product_name");
  const double iterations = row_number(execution, "iterations");
  const hal::Terms& t = hal::terms(hal::platform_of(row_text(machine, "gpu_agent")));
  std::string text = fmt::format(
      "{} {} on {}{}, {}; ", number_text(iterations), iterations == 1 ? t.dispatch : t.dispatches,
      row_text(machine, "gpu_agent"), product.empty() ? "" : fmt::format(" ({})", product),
      row.value("captured_code_object", false) ? "the captured code" : "another code object");
  if (row_text(execution, "mode") == "no_recopy")
    text += "memory was not restored between them (--no-recopy)";
  else
    text +=
        fmt::format("{} restored before each, {}",
                    bytes_text(row_number(execution, "restored_bytes_per_iteration")),
                    execution.value("restored_on_device", false) ? "on the GPU" : "from the host");
  return one_line(kernel_title(row), width) + indented(text, width);
}

std::string times_text(const Json& row, std::size_t width) {
  const auto time = [&](const char* field) {
    return has_row_number(row, field) ? duration_text(row_number(row, field)) : kDash;
  };
  std::string text = fmt::format("median {}, {} to {}", time("median"), time("min"), time("max"));
  if (has_row_number(row, "cv"))
    text += fmt::format(", CV {} ({})", percent(row_number(row, "cv")),
                        stats::to_string(stats::classify(row_number(row, "cv"))));
  std::string out = indented(text, width);
  if (!has_row_number(row, "captured")) return out;
  text = fmt::format("{} when it was captured", duration_text(row_number(row, "captured")));
  if (has_row_number(row, "ratio_to_captured"))
    text += fmt::format("; the replay's median is {:.3f} times that",
                        row_number(row, "ratio_to_captured"));
  return out + indented(text, width);
}

std::string faithful_text(const Json& part, std::size_t width) {
  if (part["rows"].empty()) return {};
  return indented(
      fmt::format(
          "{} were written here and not by the captured dispatch",
          counted(static_cast<std::size_t>(row_number(part["rows"][0], "learned_pages")), "page")),
      width);
}

std::string_view asked(std::string_view through) {
  if (through == "hsa") return "the HSA runtime";
  return through == "cuda" ? "the CUDA driver" : "the kernel alone";
}

std::string reserved_text(const Json& row, std::size_t width, const Paint& paint) {
  const Json& sums = row["summary"];
  const std::string verdict = row_text(row, "verdict");
  const bool probe = row_text(row, "source") != "capture";
  const auto count = [&](const char* field) { return number_text(row_number(sums, field)); };
  const std::string text =
      fmt::format("{}: {}, {}, asked of {}: {} exact, {} relocated, {} failed", verdict,
                  counted(static_cast<std::size_t>(row_number(sums, "ranges")),
                          probe ? "typical range" : "range"),
                  bytes_text(row_number(sums, "bytes")), asked(row_text(row, "through")),
                  count("exact"), count("relocated"), count("failed"));
  return fmt::format("{}{}{}", verdict == "exact" ? paint.good : paint.bad, indented(text, width),
                     paint.end);
}

std::string taken_text(const Json& part, std::size_t width) {
  using enum TextTable::Align;
  TextTable table({{.title = "address"},
                   {.title = "bytes"},
                   {.title = "memory", .align = left},
                   {.title = "outcome", .align = left},
                   {.title = "in the way", .align = left, .flexible = true}});
  for (const Json& row : part["rows"]) {
    const Json& why = row["why"];
    std::string reason = row_text(why, "status");
    if (reason.empty()) reason = row_text(why, "in_the_way");
    if (reason.empty() && !row_text(why, "returned").empty())
      reason = "nobody known; it went to " + row_text(why, "returned");
    table.add({row_text(row, "base"), bytes_text(row_number(row, "bytes")), row_text(row, "memory"),
               row_text(row, "outcome"), reason});
  }
  return table.text(width);
}

std::string captured_text_of(const Json& row, std::size_t width) {
  if (!row.contains("kernel")) return indented(row_text(row, "what"), width);
  const auto count = [&](const char* field, const char* thing) {
    return counted(static_cast<std::size_t>(row_number(row, field)), thing);
  };
  std::string out = one_line(row_text(row, "kernel"), width);
  const hal::Terms& t = hal::terms(hal::platform_of(row_text(row, "isa")));
  std::string text = fmt::format("{} {} on {}", t.dispatch, number_text(row_number(row, "ordinal")),
                                 row_text(row, "isa"));
  if (has_row_number(row, "captured_ns"))
    text += fmt::format(", {} on the GPU", duration_text(row_number(row, "captured_ns")));
  text += fmt::format("; {} and {}, {} ({} on disk); the {} changed {}", count("regions", "range"),
                      count("variables", "variable"), bytes_text(row_number(row, "memory_bytes")),
                      bytes_text(row_number(row, "stored_bytes")), t.dispatch,
                      count("written_pages", "page"));
  if (row_number(row, "regions_not_captured") > 0)
    text += fmt::format("; {} without contents", count("regions_not_captured", "range"));
  return out + indented(text, width);
}

std::string launched_text(const Json& part, std::size_t width) {
  TextTable table({{.title = "dispatches"},
                   {.title = "kernel", .align = TextTable::Align::left, .flexible = true}});
  for (const Json& row : part["rows"])
    table.add({number_text(row_number(row, "dispatches")), row_text(row, "kernel")});
  return table.text(width);
}

}  // namespace

std::optional<std::string> replay_part_text(const Json& /*summary*/, const Json& part,
                                            std::size_t width, const Paint& paint) {
  const std::string name = part["part"];
  const auto row = [&]() -> const Json& { return part["rows"][0]; };
  if (name == "proof") return proof_text(row(), width, paint);
  if (name == "regions") return distances_text(part, width);
  if (name == "cheats") return cheats_text(part, width, paint);
  if (name == "replayed") return replayed_text(row(), width);
  if (name == "times") return times_text(row(), width);
  if (name == "faithful") return faithful_text(part, width);
  if (name == "reserved") return reserved_text(row(), width, paint);
  if (name == "taken") return taken_text(part, width);
  if (name == "captured") return captured_text_of(row(), width);
  if (name == "launched") return launched_text(part, width);
  return std::nullopt;
}

}  // namespace perflab::report
