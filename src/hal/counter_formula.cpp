// muParser, wrapped: its exceptions end here. A parser is built once per formula and thread.
#include "hal/counter_formula.h"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

namespace perflab::hal {
namespace {

bool is_name_start(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

bool is_name_part(char c) {
  return is_name_start(c) || (c >= '0' && c <= '9') || c == '.';
}

/// What a name may go on with: CUPTI's have dots ("sm__warps_active.sum").
constexpr const char* kNameCharacters =
    "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.";

/// Names in order of appearance, each once. What is called like a function is none, nor is the
/// exponent of a number.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name_part(text[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_name_part(text[at])) ++at;
    const std::string name(text.substr(begin, at - begin));
    const bool called = at < text.size() && text[at] == '(';
    if (is_name_start(name.front()) && !called && std::ranges::find(names, name) == names.end())
      names.push_back(name);
  }
  return names;
}

/// A parser bound to one value per name.
class Compiled {
 public:
  /// Throws mu::Parser::exception_type.
  explicit Compiled(const std::string& text) : names_(names_in(text)), values_(names_.size(), 1) {
    parser_.DefineNameChars(kNameCharacters);
    parser_.SetExpr(text);
    for (std::size_t i = 0; i < names_.size(); ++i) parser_.DefineVar(names_[i], &values_[i]);
    parser_.Eval();
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  double value(const std::function<double(std::string_view)>& value_of) {
    for (std::size_t i = 0; i < names_.size(); ++i) values_[i] = value_of(names_[i]);
    return parser_.Eval();
  }

 private:
  std::vector<std::string> names_;
  std::vector<double> values_;  // the parser points into it
  mu::Parser parser_;
};

/// The parser of a formula of the tables, this thread's own.
Compiled& compiled(const std::string& text) {
  thread_local std::unordered_map<std::string, std::unique_ptr<Compiled>> known;
  std::unique_ptr<Compiled>& entry = known[text];
  if (entry == nullptr) entry = std::make_unique<Compiled>(text);
  return *entry;
}

}  // namespace

Result<FormulaText> read_formula(std::string_view text) {
  FormulaText formula{.text = std::string(text), .counters = {}, .constants = {}};
  try {
    const Compiled parsed(formula.text);
    for (const std::string& name : parsed.names()) {
      const bool constant = std::ranges::find(kConstants, name) != kConstants.end();
      (constant ? formula.constants : formula.counters).push_back(name);
    }
  } catch (const mu::Parser::exception_type& error) {
    return fail(ErrorCode::bad_input,
                fmt::format("\"{}\" is not a formula: {}", text, error.GetMsg()));
  }
  return formula;
}

std::optional<double> evaluate(const FormulaText& formula,
                               const std::function<double(std::string_view)>& value_of) {
  // A text of the tables was parsed when they were loaded, so that nothing is thrown here.
  const double value = compiled(formula.text).value(value_of);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace perflab::hal
