#include "report/tuning/autotune_app_text.h"

#include <fmt/format.h>

#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/tuning/autotune_chart.h"

namespace perflab::report {
namespace {

using enum TextTable::Align;

/// The member; null where it, or what it is in, is not there: excerpts leave things out.
const Json& in(const Json& json, const char* key) {
  static const Json kNull;
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() ? *found : kNull;
}

std::string ns_or_dash(const Json& number) {
  return number.is_number() ? duration_text(number.get<double>()) : kDash;
}

std::string value_or_dash(const Json& kernel, const char* which) {
  const Json& value = in(in(kernel, which), "value");
  const Json& unit = in(in(kernel, "objective"), "unit");
  return value.is_number()
             ? objective_text(value.get<double>(), unit.is_string() ? unit.get<std::string>() : "")
             : kDash;
}

std::string app_shares_text(const Json& document, std::size_t width) {
  TextTable table({{.title = "evaluations"},
                   {.title = "expected gain"},
                   {.title = "worth of 1 %"},
                   {.title = "kernel", .align = left, .flexible = true}});
  for (const Json& share : document["shares"])
    table.add({fmt::format("{}", share["evaluations"].get<std::size_t>()),
               percent(share["promise"].get<double>()), ns_or_dash(share["worth_ns"]),
               document["kernels"][share["kernel"].get<std::size_t>()]["name"]});
  return table.text(width);
}

}  // namespace

std::string app_gain_text(const Json& kernel) {
  const Json& gain = in(kernel, "gain");
  if (in(kernel, "is_default") == true) return "the default";
  if (!gain.is_object()) return kDash;
  const double ratio = gain["ratio"].get<double>();
  if (!gain["low"].is_number()) return fmt::format("{:.2f}x (no interval)", ratio);
  return fmt::format("{:.2f}x ({:.2f} to {:.2f}{})", ratio, gain["low"].get<double>(),
                     gain["high"].get<double>(),
                     in(kernel, "proven") == true ? "" : ": not proven");
}

std::string app_kernels_text(const Json& kernels, std::size_t width) {
  TextTable table({{.title = "worth of 1 %"},
                   {.title = "at most", .expendable = 1},
                   {.title = "tried"},
                   {.title = "default", .expendable = 3},
                   {.title = "best", .expendable = 2},
                   {.title = "better", .align = left},
                   {.title = "run gains"},
                   {.title = "kernel", .align = left, .flexible = true}});
  for (const Json& kernel : kernels)
    table.add({ns_or_dash(in(in(kernel, "worth"), "per_percent_ns")),
               ns_or_dash(in(in(kernel, "worth"), "bound_ns")),
               fmt::format("{}", in(kernel, "evaluations").get<std::size_t>()),
               value_or_dash(kernel, "default"), value_or_dash(kernel, "best"),
               app_gain_text(kernel), ns_or_dash(in(in(kernel, "predicted"), "gain_ns")),
               in(kernel, "name")});
  return table.text(width);
}

std::string autotune_app_section(const Json& document, std::string_view name,
                                 const TerminalStyle& style) {
  const Paint paint(style.colour);
  if (name == "kernels") {
    std::string out =
        heading(paint, "Kernels").substr(1) + app_kernels_text(document["kernels"], style.width);
    for (const Json& kernel : document["kernels"]) {
      const Json& why =
          kernel["why_none"].is_string() ? kernel["why_none"] : kernel["stopped_because"];
      out +=
          indented(fmt::format("{}: {}", kernel["name"].get<std::string>(), why.get<std::string>()),
                   style.width);
    }
    return out + heading(paint, "How the budget was given") +
           app_shares_text(document, style.width);
  }
  std::string out = heading(paint, "Configurations").substr(1);
  for (const Json& kernel : document["kernels"]) {
    out += indented(fmt::format("{}: {}", kernel["name"].get<std::string>(),
                                configuration_words(kernel["best"]["configuration"])),
                    style.width);
    if (kernel["is_default"] != true)
      out += indented(fmt::format("{} by default: {}", kernel["name"].get<std::string>(),
                                  configuration_words(kernel["default"]["configuration"])),
                      style.width);
  }
  return out;
}

}  // namespace perflab::report
