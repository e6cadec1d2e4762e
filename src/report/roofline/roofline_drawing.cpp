// Characters of a roofline chart.
#include "report/roofline/roofline_drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"

namespace perflab::report {
namespace {

constexpr std::size_t kRows = 20;
/// Columns in front of the plot: two of indent, "100 GF", a blank, the axis.
constexpr std::size_t kLabelColumns = 7;

/// What a cell shows, so that it can be coloured.
enum class Ink { none, grid, roof, mark };

/// Characters with colours, drawn upwards from row 0 and to the right from column 0.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows)
      : columns_(columns), rows_(rows), cells_(columns * rows, ' '), inks_(columns * rows) {}

  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] Ink ink(std::size_t column, std::size_t row) const {
    return inks_[at(column, row)];
  }
  void put(std::size_t column, std::size_t row, char c, Ink ink) {
    cells_[at(column, row)] = c;
    inks_[at(column, row)] = ink;
  }

  /// A row without trailing blanks.
  [[nodiscard]] std::string line(std::size_t row, const Paint& paint) const {
    std::string out;
    std::size_t used = columns_;
    while (used > 0 && cells_[at(used - 1, row)] == ' ') --used;
    Ink now = Ink::none;
    for (std::size_t column = 0; column < used; ++column) {
      const Ink next = inks_[at(column, row)];
      if (next != now && cells_[at(column, row)] != ' ') {
        if (now == Ink::mark || now == Ink::roof) out += paint.end;
        if (next == Ink::mark) out += paint.good;
        if (next == Ink::roof) out += paint.warning;
        now = next;
      }
      out += cells_[at(column, row)];
    }
    if (now == Ink::mark || now == Ink::roof) out += paint.end;
    return out;
  }

 private:
  [[nodiscard]] std::size_t at(std::size_t column, std::size_t row) const {
    return row * columns_ + column;
  }
  std::size_t columns_, rows_;
  std::string cells_;
  std::vector<Ink> inks_;
};

/// Places on one axis in characters.
struct Scale {
  ChartAxis axis;
  std::size_t per_decade = 1;

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(axis.high - axis.low) * per_decade + 1;
  }
  [[nodiscard]] double exact(double value) const {
    return (std::log10(value) - axis.low) * static_cast<double>(per_decade);
  }
  [[nodiscard]] std::size_t place(double value) const {
    const double last = static_cast<double>(size() - 1);
    return static_cast<std::size_t>(std::lround(std::clamp(exact(value), 0.0, last)));
  }
  [[nodiscard]] double value_at(std::size_t place) const {
    return std::pow(10, axis.low + static_cast<double>(place) / static_cast<double>(per_decade));
  }
};

Scale scale_of(const ChartAxis& axis, std::size_t most) {
  const auto decades = static_cast<std::size_t>(axis.high - axis.low);
  return {.axis = axis, .per_decade = std::max<std::size_t>(1, most / decades)};
}

/// The character of a level's roof.
char roof_character(const ChartRoof& roof) {
  if (roof.kind != RoofKind::memory) return '-';
  return roof.name == "hbm" ? '/' : roof.name == "l2" ? ':' : '.';
}

void draw_grid(Canvas& canvas, const Scale& x, const Scale& y) {
  for (std::size_t column = x.per_decade; column < canvas.columns(); column += x.per_decade)
    for (std::size_t row = 0; row < canvas.rows(); row += y.per_decade)
      canvas.put(column, row, '+', Ink::grid);
}

void draw_roof(Canvas& canvas, const Scale& x, const Scale& y, const ChartRoof& roof) {
  const std::size_t first = x.place(roof.start.x);
  const std::size_t last = x.place(roof.end.x);
  for (std::size_t column = first; column <= last; ++column) {
    const double here = std::clamp(x.value_at(column), roof.start.x, roof.end.x);
    const double value = roof.kind == RoofKind::memory ? roof.value * here : roof.value;
    const std::size_t row = y.place(value);
    if (canvas.ink(column, row) != Ink::roof || roof.kind != RoofKind::memory)
      canvas.put(column, row, roof_character(roof), Ink::roof);
  }
}

/// Writes what a compute roof is onto its right end, or above it where the line is too short; not
/// over marks or another text.
void label_roof(Canvas& canvas, const Scale& x, const Scale& y, const ChartRoof& roof,
                const std::vector<const ChartMark*>& marks, std::set<std::size_t>& labelled) {
  const std::string text = fmt::format(" {} ", roof.label);
  const std::size_t first = x.place(roof.start.x);
  std::size_t row = y.place(roof.value);
  if (text.size() + 1 > canvas.columns()) return;
  std::size_t start = canvas.columns() - text.size() - 1;
  // A mark on the line moves the text to its left.
  for (const ChartMark* mark : marks)
    if (y.place(mark->at.y) == row && x.place(mark->at.x) + 1 >= start)
      start = std::min(start, x.place(mark->at.x) - std::min(x.place(mark->at.x), text.size() + 1));
  if (start < first + 1) {
    start = canvas.columns() - text.size();
    const bool taken = ++row >= canvas.rows() || std::ranges::any_of(marks, [&](const auto* mark) {
      return y.place(mark->at.y) == row && x.place(mark->at.x) >= start;
    });
    if (taken || canvas.ink(canvas.columns() - 1, row) == Ink::roof) return;
  }
  if (!labelled.insert(row).second) return;
  for (std::size_t i = 0; i < text.size(); ++i) canvas.put(start + i, row, text[i], Ink::roof);
}

/// Draws the marks. What each '*' stands for comes back, from left to right: "* A, C in one place".
std::vector<std::string> draw_marks(Canvas& canvas, const Scale& x, const Scale& y,
                                    const std::vector<const ChartMark*>& marks) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::string_view>> places;
  for (const ChartMark* mark : marks)
    places[{x.place(mark->at.x), y.place(mark->at.y)}].push_back(mark->letter);
  std::vector<std::string> stars;
  for (const auto& [place, letters] : places) {
    const bool star = letters.size() > 1 || letters.front().size() > 1;
    canvas.put(place.first, place.second, star ? '*' : letters.front().front(), Ink::mark);
    if (star)
      stars.push_back(fmt::format("* {}{}", fmt::join(letters, ", "),
                                  letters.size() > 1 ? " in one place" : ""));
  }
  return stars;
}

/// "1 TF", for 10^exponent GFLOP/s.
std::string rate_label(int exponent) {
  const std::string text = rate_text(std::pow(10, exponent), "F");
  const std::size_t point = text.find('.');
  return point == std::string::npos ? text : text.substr(0, point) + text.substr(text.find(' '));
}

/// "0.01", "100", "1e-5".
std::string intensity_label(int exponent) {
  if (exponent < -3 || exponent > 4) return fmt::format("1e{}", exponent);
  return exponent < 0 ? fmt::format("{:.{}f}", std::pow(10, exponent), -exponent)
                      : fmt::format("{:.0f}", std::pow(10, exponent));
}

std::string x_labels(const Scale& x) {
  std::string line(kLabelColumns + 2 + x.size() + 8, ' ');
  std::size_t free_from = 0;
  for (int exponent = x.axis.low; exponent <= x.axis.high; ++exponent) {
    const std::string label = intensity_label(exponent);
    const std::size_t centre =
        kLabelColumns + 2 + static_cast<std::size_t>(exponent - x.axis.low) * x.per_decade;
    const std::size_t start = centre - std::min(centre, (label.size() - 1) / 2);
    if (start < free_from || start + label.size() > line.size()) continue;
    line.replace(start, label.size(), label);
    free_from = start + label.size() + 1;
  }
  return line.erase(line.find_last_not_of(' ') + 1) + "\n";
}

/// What the signs are: "/ memory 1.64 TB/s   - vector fp32 22.6 TFLOP/s (measured)".
std::string sign_lines(const Chart& chart, const std::vector<std::string>& stars,
                       std::size_t width) {
  std::vector<std::string> items;
  for (const ChartRoof& roof : chart.roofs)
    if (roof.kind != RoofKind::mix)
      items.push_back(fmt::format("{} {}{}", roof_character(roof), printable(roof.label),
                                  roof.measured ? " (measured)" : ""));
  items.insert(items.end(), stars.begin(), stars.end());
  std::string out;
  std::string line;
  for (const std::string& item : items) {
    if (!line.empty() && display_width(line) + 3 + display_width(item) + 2 > width) {
      out += "  " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : "   ") + item;
  }
  return line.empty() ? out : out + "  " + line + "\n";
}

}  // namespace

std::string drawn_chart(const Chart& chart, std::size_t shown, const TerminalStyle& style) {
  const Paint paint(style.colour);
  const std::size_t margin = kLabelColumns + 3;
  const std::size_t columns =
      std::clamp(style.width > margin ? style.width - margin : 0, kNarrowestPlot, kWidestPlot);
  const Scale x = scale_of(chart.x, columns - 1);
  const Scale y = scale_of(chart.y, kRows);
  Canvas canvas(x.size(), y.size());
  draw_grid(canvas, x, y);
  std::vector<const ChartMark*> marks = memory_marks(chart);
  marks.resize(std::min(marks.size(), shown));
  std::set<std::size_t> labelled;
  for (const ChartRoof& roof : chart.roofs)
    if (roof.kind != RoofKind::mix) draw_roof(canvas, x, y, roof);
  for (const ChartRoof& roof : chart.roofs)
    if (roof.kind == RoofKind::compute) label_roof(canvas, x, y, roof, marks, labelled);
  const std::vector<std::string> stars = draw_marks(canvas, x, y, marks);

  std::string out;
  for (std::size_t row = canvas.rows(); row-- > 0;) {
    const bool decade = row % y.per_decade == 0;
    const std::string label =
        decade ? rate_label(y.axis.low + static_cast<int>(row / y.per_decade)) : "";
    out += fmt::format("{:>{}} {}", label, kLabelColumns, decade ? "+" : "|");
    const std::string line = canvas.line(row, paint);
    out += line.empty() ? "\n" : line + "\n";
  }
  return out + x_labels(x) + sign_lines(chart, stars, style.width);
}

}  // namespace perflab::report
