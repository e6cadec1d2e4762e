// Builtin functions of expressions, with the meaning that Python's have
// (https://docs.python.org/3/library/functions.html, .../math.html).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/text/text.h"
#include "tune/space/expression_node.h"

namespace perflab::tune {
namespace {

struct NamedFunction {
  std::string_view name;
  Function function;
  std::size_t least = 1, most = 1;  ///< arguments
};
constexpr std::size_t kAny = 65'535;
constexpr std::array kFunctions{
    NamedFunction{"min", Function::min, 1, kAny},  NamedFunction{"max", Function::max, 1, kAny},
    NamedFunction{"abs", Function::abs},           NamedFunction{"int", Function::to_int},
    NamedFunction{"float", Function::to_float},    NamedFunction{"bool", Function::to_bool},
    NamedFunction{"round", Function::round, 1, 2}, NamedFunction{"len", Function::len},
    NamedFunction{"sum", Function::sum, 1, 2},     NamedFunction{"any", Function::any},
    NamedFunction{"all", Function::all},           NamedFunction{"range", Function::range, 1, 3},
    NamedFunction{"list", Function::list},         NamedFunction{"tuple", Function::tuple},
    NamedFunction{"math.log2", Function::log2},    NamedFunction{"math.ceil", Function::ceil},
    NamedFunction{"math.floor", Function::floor},  NamedFunction{"math.sqrt", Function::sqrt},
};

const NamedFunction& described(Function function) {
  return *std::ranges::find(kFunctions, function, &NamedFunction::function);
}

Item wrong_argument(ExpressionRun& machine, Function function, const Item& argument) {
  return machine.failed(fmt::format("{}() of {}", described(function).name, kind_of(argument)));
}

/// A real without its fraction as a whole number.
Item whole_from(ExpressionRun& machine, double real) {
  if (!std::isfinite(real)) return machine.failed("a whole number from one that is not finite");
  if (real < -0x1p63 || real >= 0x1p63)
    return machine.failed("a whole number does not fit 64 bits");
  return Item(static_cast<std::int64_t>(real));
}

std::optional<double> number_from(const Item& item) {
  if (const auto* real = std::get_if<double>(&item)) return *real;
  if (const auto whole = whole_of(item)) return static_cast<double>(*whole);
  return std::nullopt;
}

/// int("12"), float("1.5"): the whole text but for blanks is the number.
template <class Number>
Item number_from_text(ExpressionRun& machine, const std::string& text) {
  std::string_view digits = trimmed(text);
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  Number number{};
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc{} || stopped != end || digits.empty())
    return machine.failed(shown_text(text) + " is not a number that fits");
  return Item(number);
}

Item to_whole(ExpressionRun& machine, const Item& item) {
  if (const auto whole = whole_of(item)) return Item(*whole);
  if (const auto* real = std::get_if<double>(&item)) return whole_from(machine, std::trunc(*real));
  if (const auto* const* text = std::get_if<const std::string*>(&item))
    return number_from_text<std::int64_t>(machine, **text);
  return wrong_argument(machine, Function::to_int, item);
}

Item to_real(ExpressionRun& machine, const Item& item) {
  if (const auto number = number_from(item)) return Item(*number);
  if (const auto* const* text = std::get_if<const std::string*>(&item))
    return number_from_text<double>(machine, **text);
  return wrong_argument(machine, Function::to_float, item);
}

Item absolute(ExpressionRun& machine, const Item& item) {
  if (const auto whole = whole_of(item))
    return *whole < 0 ? unary(machine, UnaryOp::minus, item) : Item(*whole);
  if (const auto* real = std::get_if<double>(&item)) return Item(std::abs(*real));
  return wrong_argument(machine, Function::abs, item);
}

/// Half goes to the even neighbour. With digits a real is rounded as its exact decimal value is.
Item rounded(ExpressionRun& machine, std::span<const Item> arguments) {
  const Item& item = arguments[0];
  const auto whole = whole_of(item);
  if (!whole && !std::holds_alternative<double>(item))
    return wrong_argument(machine, Function::round, item);
  if (arguments.size() == 1)
    return whole ? Item(*whole) : whole_from(machine, std::nearbyint(std::get<double>(item)));
  const auto digits = whole_of(arguments[1]);
  if (!digits || *digits < 0 || *digits > 30)
    return machine.failed("round() takes 0 to 30 digits here");
  if (whole) return Item(*whole);
  const double real = std::get<double>(item);
  if (!std::isfinite(real)) return Item(real);
  const std::string text = fmt::format("{:.{}f}", real, *digits);
  double result = 0;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return Item(result);
}

Item length(ExpressionRun& machine, const Item& item) {
  if (const auto* const* text = std::get_if<const std::string*>(&item)) {
    // Characters, not bytes: those that continue a UTF-8 sequence do not count.
    return Item(static_cast<std::int64_t>(std::ranges::count_if(
        **text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; })));
  }
  if (const auto* range = std::get_if<RangeItem>(&item)) return Item(range->size());
  if (const auto* list = std::get_if<ListItem>(&item))
    return Item(static_cast<std::int64_t>(list->items->items.size()));
  if (const auto* tuple = std::get_if<TupleItem>(&item))
    return Item(static_cast<std::int64_t>(tuple->items->items.size()));
  return wrong_argument(machine, Function::len, item);
}

Item range_of(ExpressionRun& machine, std::span<const Item> arguments) {
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto whole = whole_of(arguments[i]);
    if (!whole) return wrong_argument(machine, Function::range, arguments[i]);
    numbers[i] = *whole;
  }
  if (arguments.size() == 1) return Item(RangeItem{0, numbers[0], 1});
  if (arguments.size() == 2) return Item(RangeItem{numbers[0], numbers[1], 1});
  if (numbers[2] == 0) return machine.failed("range() with a step of 0");
  return Item(RangeItem{numbers[0], numbers[1], numbers[2]});
}

Item from_math(ExpressionRun& machine, Function function, const Item& item) {
  const auto number = number_from(item);
  if (!number) return wrong_argument(machine, function, item);
  if (const auto whole = whole_of(item);
      whole && (function == Function::ceil || function == Function::floor))
    return Item(*whole);
  switch (function) {
    case Function::ceil:
      return whole_from(machine, std::ceil(*number));
    case Function::floor:
      return whole_from(machine, std::floor(*number));
    case Function::log2:
      if (*number <= 0) return machine.failed("math.log2() of a number that is not positive");
      return Item(std::log2(*number));
    default:
      if (*number < 0) return machine.failed("math.sqrt() of a negative number");
      return Item(std::sqrt(*number));
  }
}

/// min(a, b, ...), max(...), and the functions over one iterable.
Item collected(ExpressionRun& machine, Function function, std::span<const Item> arguments) {
  Collector collector(machine, function);
  const bool extremes = function == Function::min || function == Function::max;
  if (extremes && arguments.size() > 1) {
    for (const Item& item : arguments)
      if (!collector.add(item)) break;
    return collector.result();
  }
  if (!for_each_item(machine, arguments[0], [&](const Item& item) { return collector.add(item); }))
    return Failed{};
  const Item result = collector.result();
  if (function != Function::sum || arguments.size() == 1 || is_failed(result)) return result;
  return binary(machine, BinaryOp::add, arguments[1], result);
}

}  // namespace

std::optional<Function> function_of_name(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctions, name, &NamedFunction::name);
  if (found == kFunctions.end()) return std::nullopt;
  return found->function;
}

bool is_collecting(Function function) {
  return function == Function::min || function == Function::max || function == Function::sum ||
         function == Function::any || function == Function::all || function == Function::list ||
         function == Function::tuple;
}

bool Collector::add(const Item& item) {
  switch (function_) {
    case Function::min:
    case Function::max: {
      if (!value_) {
        value_ = item;
        return true;
      }
      const bool smaller = function_ == Function::min;
      // Of equal ones the first stays.
      const Item better = smaller ? compare(machine_, CompareOp::less, item, *value_)
                                  : compare(machine_, CompareOp::greater, item, *value_);
      if (is_failed(better)) return false;
      if (std::get<bool>(better)) value_ = item;
      return true;
    }
    case Function::sum:
      value_ = binary(machine_, BinaryOp::add, value_.value_or(Item(std::int64_t{0})), item);
      return !is_failed(*value_);
    case Function::any:
      value_ = Item(truth(item));
      return !truth(item);
    case Function::all:
      value_ = Item(truth(item));
      return truth(item);
    default:
      if (items_.size() < kAny) {
        items_.push_back(item);
        return true;
      }
      machine_.failed(fmt::format("a list of more than {} elements", kAny));
      return false;
  }
}

Item Collector::result() {
  if (!machine_.why().empty()) return Failed{};
  switch (function_) {
    case Function::min:
    case Function::max:
      if (!value_)
        return machine_.failed(fmt::format("{}() of nothing", described(function_).name));
      return *value_;
    case Function::sum:
      return value_.value_or(Item(std::int64_t{0}));
    case Function::any:
      return value_.value_or(Item(false));
    case Function::all:
      return value_.value_or(Item(true));
    default: {
      const Item list = machine_.make_list(std::move(items_));
      if (is_failed(list) || function_ != Function::tuple) return list;
      return Item(TupleItem{std::get<ListItem>(list).items});
    }
  }
}

Item call(ExpressionRun& machine, Function function, std::span<const Item> arguments) {
  const NamedFunction& named = described(function);
  if (arguments.size() < named.least || arguments.size() > named.most)
    return machine.failed(fmt::format("{}() with {} arguments", named.name, arguments.size()));
  if (is_collecting(function)) return collected(machine, function, arguments);
  switch (function) {
    case Function::abs:
      return absolute(machine, arguments[0]);
    case Function::to_int:
      return to_whole(machine, arguments[0]);
    case Function::to_float:
      return to_real(machine, arguments[0]);
    case Function::to_bool:
      return Item(truth(arguments[0]));
    case Function::round:
      return rounded(machine, arguments);
    case Function::len:
      return length(machine, arguments[0]);
    case Function::range:
      return range_of(machine, arguments);
    default:
      return from_math(machine, function, arguments[0]);
  }
}

}  // namespace perflab::tune
