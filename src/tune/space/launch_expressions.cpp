// Lists of expressions are split at commas outside of brackets and quotes; the rest is
// expression.h's.
#include "tune/space/launch_expressions.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace perflab::tune {
namespace {

constexpr double kMostValue = 1e15;  // a whole number as a real

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[') {
      ++depth;
    } else if (c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.emplace_back();
      continue;
    }
    parts.back() += c;
  }
  return parts;
}

}  // namespace

Result<LaunchExpressions::Part> LaunchExpressions::compile_part(
    std::string option, std::int64_t least, std::size_t most, const std::string& text,
    std::span<const std::string> names) {
  Part part{.option = std::move(option), .least = least, .axes = {}};
  if (text.empty()) return part;
  const std::vector<std::string> texts = split_at_commas(text);
  if (texts.size() > most)
    return fail(ErrorCode::usage,
                fmt::format("{} {}: it takes {}, and these are {} expressions", part.option, text,
                            most == 1 ? "one" : "one for each of at most three axes", texts.size()),
                "--workgroup \"TX,TY\"");
  for (const std::string& one : texts) {
    Result<CompiledExpression> compiled = CompiledExpression::compile(one, names);
    if (!compiled)
      return fail(ErrorCode::usage, fmt::format("{}: {}", part.option, compiled.error().message),
                  compiled.error().remedy);
    part.axes.push_back(std::move(*compiled));
  }
  return part;
}

Result<LaunchExpressions> LaunchExpressions::compile(const LaunchTexts& texts,
                                                     std::span<const std::string> names) {
  if (!texts.grid.empty() && !texts.blocks.empty())
    return fail(ErrorCode::usage, "--grid and --blocks say the same in work-items and work-groups",
                "leave one of the two out");
  LaunchExpressions made;
  PERFLAB_TRY(made.workgroup_, compile_part("--workgroup", 1, 3, texts.workgroup, names));
  PERFLAB_TRY(made.grid_, compile_part("--grid", 1, 3, texts.grid, names));
  PERFLAB_TRY(made.blocks_, compile_part("--blocks", 1, 3, texts.blocks, names));
  PERFLAB_TRY(made.dynamic_lds_, compile_part("--dynamic-lds", 0, 1, texts.dynamic_lds, names));
  return made;
}

Result<std::optional<LaunchValues::Axes>> LaunchExpressions::evaluate_part(
    const Part& part, std::span<const Value> slots) {
  if (part.axes.empty()) return std::optional<LaunchValues::Axes>();
  LaunchValues::Axes axes{1, 1, 1};
  for (std::size_t i = 0; i < part.axes.size(); ++i) {
    PERFLAB_TRY(const Value value, part.axes[i].evaluate(slots));
    // 4096 / TILE is a real in Python, and a whole one does.
    const std::optional<double> number = number_of(value);
    if (!number || *number < static_cast<double>(part.least) || *number > kMostValue ||
        std::floor(*number) != *number)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: {} is {}, which is no whole number from {}", part.option,
                              part.axes[i].text(), to_text(value), part.least));
    axes.at(i) = static_cast<std::int64_t>(*number);
  }
  return std::optional(axes);
}

Result<LaunchValues> LaunchExpressions::evaluate(std::span<const Binding> values) const {
  std::vector<Value> slots;
  slots.reserve(values.size());
  for (const auto& [name, value] : values) slots.push_back(value);
  LaunchValues out;
  PERFLAB_TRY(out.workgroup, evaluate_part(workgroup_, slots));
  PERFLAB_TRY(out.grid, evaluate_part(grid_, slots));
  PERFLAB_TRY(out.blocks, evaluate_part(blocks_, slots));
  PERFLAB_TRY(const auto lds, evaluate_part(dynamic_lds_, slots));
  if (lds) out.dynamic_lds = lds->front();
  return out;
}

}  // namespace perflab::tune
