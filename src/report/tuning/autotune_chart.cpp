// Characters of a convergence chart.
#include "report/tuning/autotune_chart.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

constexpr std::size_t kRows = 13;
/// Columns in front of the plot: a label, a blank, the axis.
constexpr std::size_t kLabelColumns = 11;
constexpr std::size_t kWidest = 72, kNarrowest = 20;
/// Values that span more are drawn on a logarithmic axis.
constexpr double kLogarithmicFrom = 10;

/// Values as rows, 0 at the bottom.
class ValueAxis {
 public:
  ValueAxis(double low, double high)
      : logarithmic_(low > 0 && high / low > kLogarithmicFrom),
        low_(logarithmic_ ? std::log10(low) : low),
        high_(logarithmic_ ? std::log10(high) : high) {
    if (high_ > low_) return;
    // All values are one: it stands in the middle.
    const double room = low_ == 0 ? 1 : std::fabs(low_) / 10;
    low_ -= room;
    high_ += room;
  }

  [[nodiscard]] bool logarithmic() const { return logarithmic_; }
  [[nodiscard]] std::size_t row(double value) const {
    const double at = (logarithmic_ ? std::log10(value) : value);
    // Halves first: the difference of two huge values does not fit.
    const double share = (at / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
    return static_cast<std::size_t>(
        std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(kRows - 1)));
  }
  [[nodiscard]] double value_at(std::size_t row) const {
    const double share = static_cast<double>(row) / static_cast<double>(kRows - 1);
    const double at = low_ * (1 - share) + high_ * share;
    return logarithmic_ ? std::pow(10, at) : at;
  }

 private:
  bool logarithmic_;
  double low_, high_;
};

struct Plot {
  std::size_t columns = 0;
  std::vector<std::string> rows;  ///< from the bottom
  std::string failed;             ///< the row of the axis
};

bool improves(const std::vector<ConvergencePoint>& points, std::size_t at) {
  return points[at].best_so_far &&
         (at == 0 || points[at - 1].best_so_far != points[at].best_so_far);
}

Plot drawn(const std::vector<ConvergencePoint>& points, const ValueAxis& axis,
           std::size_t columns) {
  Plot plot{.columns = columns,
            .rows = std::vector<std::string>(kRows, std::string(columns, ' ')),
            .failed = std::string(columns, '-')};
  const auto column_of = [&](std::size_t at) { return at * columns / points.size(); };
  const auto put = [&](std::size_t at, double value, char sign) {
    plot.rows[axis.row(value)][column_of(at)] = sign;
  };
  // Later signs cover earlier ones: single values, the line, improvements.
  for (std::size_t at = 0; at < points.size(); ++at)
    if (points[at].value)
      put(at, *points[at].value, '.');
    else
      plot.failed[column_of(at)] = 'x';
  for (std::size_t at = 0; at < points.size(); ++at)
    if (points[at].best_so_far)
      for (std::size_t column = column_of(at); column < column_of(at + 1); ++column)
        plot.rows[axis.row(*points[at].best_so_far)][column] = '-';
  for (std::size_t at = 0; at < points.size(); ++at)
    if (improves(points, at)) put(at, *points[at].best_so_far, '*');
  return plot;
}

/// The line below the axis: numbers of evaluations, those at the ends first.
std::string evaluation_labels(std::size_t evaluations, std::size_t columns) {
  std::string line(columns, ' ');
  const std::string last = fmt::format("{}", evaluations);
  const auto put = [&](std::size_t start, const std::string& text) {
    if (start + text.size() > columns) return;
    const std::size_t from = start == 0 ? 0 : start - 1;
    const std::size_t to = std::min(columns, start + text.size() + 1);
    if (line.substr(from, to - from).find_first_not_of(' ') == std::string::npos)
      line.replace(start, text.size(), text);
  };
  put(0, "1");
  put(columns - std::min(columns, last.size()), last);
  for (const std::size_t quarter : {2UL, 1UL, 3UL}) {
    const std::size_t at = evaluations * quarter / 4;
    if (at > 1 && at < evaluations) put((at - 1) * columns / evaluations, fmt::format("{}", at));
  }
  return line.erase(line.find_last_not_of(' ') + 1);
}

/// What the signs are, in lines of at most `width` columns.
std::string labelled_signs(bool failed, std::size_t width) {
  std::vector<std::string_view> items = {"* a new best", "- the best so far",
                                         ". another evaluation"};
  if (failed) items.emplace_back("x failed");
  std::string out, line;
  for (const std::string_view item : items) {
    if (!line.empty() && line.size() + item.size() + 5 > width)
      out += "  " + std::exchange(line, {}) + "\n";
    line += fmt::format("{}{}", line.empty() ? "" : "   ", item);
  }
  return out + "  " + line + "\n";
}

/// The signs of a row, coloured.
std::string painted(std::string_view row, const Paint& paint) {
  std::string out;
  for (const char sign : row.substr(0, row.find_last_not_of(' ') + 1)) {
    const std::string_view colour = sign == '*'   ? paint.good
                                    : sign == 'x' ? paint.bad
                                                  : std::string_view();
    out += colour;
    out += sign;
    if (!colour.empty()) out += paint.end;
  }
  return out;
}

/// Times are shown in the unit that suits; these are what recordings and commands call theirs.
constexpr std::array kTimeUnits = {
    std::pair<std::string_view, double>{"ns", 1}, std::pair<std::string_view, double>{"us", 1e3},
    std::pair<std::string_view, double>{"ms", 1e6}, std::pair<std::string_view, double>{"s", 1e9}};

bool is_time(const std::string& unit) {
  return std::ranges::any_of(kTimeUnits, [&](const auto& one) { return one.first == unit; });
}

/// Times have their unit at the axis, other values in the heading.
std::string axis_label(double value, const std::string& unit) {
  return is_time(unit) ? objective_text(value, unit) : fmt::format("{:.4g}", value);
}

}  // namespace

std::string objective_text(double value, const std::string& unit) {
  const auto given = std::ranges::find(kTimeUnits, unit, [](const auto& one) { return one.first; });
  if (given == kTimeUnits.end() || value <= 0)
    return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", printable(unit));
  const double nanoseconds = value * given->second;
  auto shown = kTimeUnits.begin();
  for (auto one = kTimeUnits.begin(); one != kTimeUnits.end(); ++one)
    // What would be rounded to a thousand belongs to the next unit.
    if (nanoseconds >= 0.99995 * one->second) shown = one;
  return fmt::format("{:.4g} {}", nanoseconds / shown->second, shown->first);
}

std::string configuration_words(const Json& configuration) {
  constexpr std::size_t kMostParameterColumns = 48;
  std::vector<std::string> out;
  for (const auto& [name, value] : configuration.items()) {
    if (name == "from") continue;
    const std::string text = value.is_string()         ? value.get<std::string>()
                             : value.is_number_float() ? fmt::format("{:.6g}", value.get<double>())
                                                       : value.dump();
    out.push_back(fit(name + "=" + text, kMostParameterColumns));
  }
  return fmt::format("{}", fmt::join(out, " "));
}

std::string convergence_chart(const std::vector<ConvergencePoint>& points, const std::string& unit,
                              const TerminalStyle& style) {
  std::optional<double> low, high;
  for (const ConvergencePoint& point : points) {
    if (!point.value) continue;
    low = std::min(low.value_or(*point.value), *point.value);
    high = std::max(high.value_or(*point.value), *point.value);
  }
  if (points.size() < 2 || !low) return {};
  const Paint paint(style.colour);
  const ValueAxis axis(*low, *high);
  const std::size_t margin = kLabelColumns + 2;
  const std::size_t room =
      std::clamp(style.width > margin ? style.width - margin : 0, kNarrowest, kWidest);
  const Plot plot = drawn(points, axis, std::min(room, std::max(points.size(), kNarrowest)));

  std::string out = heading(
      paint, fmt::format("Values by evaluation{}{}",
                         unit.empty() || is_time(unit) ? "" : fmt::format(" ({})", printable(unit)),
                         axis.logarithmic() ? ", logarithmic" : ""));
  for (std::size_t row = kRows; row-- > 0;) {
    const bool labelled = row == 0 || row == kRows - 1 || row == kRows / 2;
    const std::string label = labelled ? fit(axis_label(axis.value_at(row), unit), 10) : "";
    out += fmt::format("{:>{}} {}{}\n", label, kLabelColumns - 1, labelled ? "+" : "|",
                       painted(plot.rows[row], paint));
  }
  out += fmt::format("{:{}} +{}\n", "", kLabelColumns - 1, painted(plot.failed, paint));
  out += fmt::format("{:{}}{}\n", "", kLabelColumns + 1,
                     evaluation_labels(points.size(), plot.columns));
  const bool failed = plot.failed.find('x') != std::string::npos;
  return out + labelled_signs(failed, style.width);
}

}  // namespace perflab::report
