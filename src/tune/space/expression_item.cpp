// Operators of Python on the values of expressions. Whole numbers are 64 bits: what Python would
// go on with in longer ones is an error here.
#include "tune/space/expression_item.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace perflab::tune {
namespace {

constexpr std::size_t kMostElements = 65'535;
constexpr std::size_t kMostWork = 1'000'000;
constexpr std::int64_t kExactReals = std::int64_t{1} << 53;

constexpr std::array<std::string_view, 12> kOperatorNames{"+",  "-",  "*",  "/", "//", "%",
                                                          "**", "<<", ">>", "&", "|",  "^"};

std::string_view name_of(BinaryOp op) {
  return kOperatorNames[static_cast<std::size_t>(op)];
}

std::optional<double> real_of(const Item& item) {
  if (const auto* real = std::get_if<double>(&item)) return *real;
  if (const std::optional<std::int64_t> whole = whole_of(item)) return static_cast<double>(*whole);
  return std::nullopt;
}

const std::vector<Item>* elements_of(const Item& item) {
  if (const auto* list = std::get_if<ListItem>(&item)) return &list->items->items;
  if (const auto* tuple = std::get_if<TupleItem>(&item)) return &tuple->items->items;
  return nullptr;
}

Item overflow(ExpressionRun& machine) {
  return machine.failed("a whole number does not fit 64 bits");
}

Item by_zero(ExpressionRun& machine) {
  return machine.failed("division by zero");
}

/// a / b of whole numbers, correctly rounded as Python's is, also where they are no exact reals.
double true_quotient(std::int64_t a, std::int64_t b) {
  if (std::abs(a / 2) < kExactReals / 2 && std::abs(b / 2) < kExactReals / 2)
    return static_cast<double>(a) / static_cast<double>(b);
  __extension__ using Wide = unsigned __int128;
  const auto magnitude = [](std::int64_t x) {
    return x < 0 ? ~static_cast<std::uint64_t>(x) + 1 : static_cast<std::uint64_t>(x);
  };
  const std::uint64_t above = magnitude(a);
  const std::uint64_t below = magnitude(b);
  if (above == 0) return 0;
  // 64 bits of quotient or more, and a last bit that says whether something is left: rounding the
  // whole to a real once is then rounding the exact quotient.
  const int shift = 64 + std::countl_zero(above);
  const Wide wide = static_cast<Wide>(above) << shift;
  const Wide quotient = wide / below | (wide % below != 0 ? 1 : 0);
  const double rounded = std::ldexp(static_cast<double>(quotient), -shift);
  return (a < 0) != (b < 0) ? -rounded : rounded;
}

std::optional<std::int64_t> whole_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return std::nullopt;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return result;
}

Item shifted(ExpressionRun& machine, BinaryOp op, std::int64_t a, std::int64_t b) {
  if (b < 0) return machine.failed("a shift by a negative number");
  if (op == BinaryOp::shift_right) return Item(a >> std::min<std::int64_t>(b, 63));
  std::int64_t result = 0;
  if (a != 0 && (b > 62 || __builtin_mul_overflow(a, std::int64_t{1} << b, &result)))
    return overflow(machine);
  return Item(result);
}

Item whole_division(ExpressionRun& machine, BinaryOp op, std::int64_t a, std::int64_t b) {
  if (b == 0) return by_zero(machine);
  if (op == BinaryOp::divide) return Item(true_quotient(a, b));
  if (b == -1) {
    std::int64_t negated = 0;
    if (op == BinaryOp::modulo) return Item(std::int64_t{0});
    return __builtin_sub_overflow(std::int64_t{0}, a, &negated) ? overflow(machine) : Item(negated);
  }
  std::int64_t quotient = a / b;
  std::int64_t rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    --quotient;
    rest += b;
  }
  return Item(op == BinaryOp::modulo ? rest : quotient);
}

Item real_binary(ExpressionRun& machine, BinaryOp op, double a, double b);

Item whole_binary(ExpressionRun& machine, BinaryOp op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case BinaryOp::add:
      return __builtin_add_overflow(a, b, &result) ? overflow(machine) : Item(result);
    case BinaryOp::subtract:
      return __builtin_sub_overflow(a, b, &result) ? overflow(machine) : Item(result);
    case BinaryOp::multiply:
      return __builtin_mul_overflow(a, b, &result) ? overflow(machine) : Item(result);
    case BinaryOp::divide:
    case BinaryOp::floor_divide:
    case BinaryOp::modulo:
      return whole_division(machine, op, a, b);
    case BinaryOp::power: {
      if (b < 0) return real_binary(machine, op, static_cast<double>(a), static_cast<double>(b));
      const std::optional<std::int64_t> power = whole_power(a, b);
      return power ? Item(*power) : overflow(machine);
    }
    case BinaryOp::shift_left:
    case BinaryOp::shift_right:
      return shifted(machine, op, a, b);
    case BinaryOp::bit_and:
      return Item(a & b);
    case BinaryOp::bit_or:
      return Item(a | b);
    case BinaryOp::bit_xor:
      return Item(a ^ b);
  }
  return machine.failed("no such operator");
}

/// Remainder with the sign of the divisor, and the quotient that belongs to it: so that
/// a == b * quotient + remainder as nearly as reals can have it (Python's floor division).
std::pair<double, double> floored(double a, double b) {
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((b < 0) != (rest < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (quotient == 0) return {std::copysign(0.0, a / b), rest};
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1;
  return {whole, rest};
}

Item real_power(ExpressionRun& machine, double a, double b) {
  if (a == 0 && b < 0) return by_zero(machine);
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && std::floor(b) != b)
    return machine.failed("a broken power of a negative number");
  const double power = std::pow(a, b);
  if (std::isinf(power) && std::isfinite(a) && std::isfinite(b))
    return machine.failed("a power that is too large for a real number");
  return Item(power);
}

Item real_binary(ExpressionRun& machine, BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::add:
      return Item(a + b);
    case BinaryOp::subtract:
      return Item(a - b);
    case BinaryOp::multiply:
      return Item(a * b);
    case BinaryOp::divide:
      return b == 0 ? by_zero(machine) : Item(a / b);
    case BinaryOp::floor_divide:
      return b == 0 ? by_zero(machine) : Item(floored(a, b).first);
    case BinaryOp::modulo:
      return b == 0 ? by_zero(machine) : Item(floored(a, b).second);
    case BinaryOp::power:
      return real_power(machine, a, b);
    default:
      return machine.failed(fmt::format("{} of a real number", name_of(op)));
  }
}

Item repeated(ExpressionRun& machine, const Item& what, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  const auto* const* text = std::get_if<const std::string*>(&what);
  const std::size_t size = text != nullptr ? (*text)->size() : elements_of(what)->size();
  if (size != 0 && count > kMostElements / size)
    return machine.failed(fmt::format("more than {} elements", kMostElements));
  if (!machine.work(size * count)) return Failed{};
  if (text != nullptr) {
    std::string joined;
    for (std::size_t i = 0; i < count && size != 0; ++i) joined += **text;
    return Item(machine.arena().keep(std::move(joined)));
  }
  std::vector<Item> items;
  for (std::size_t i = 0; i < count && size != 0; ++i)
    items.insert(items.end(), elements_of(what)->begin(), elements_of(what)->end());
  const Item list = machine.make_list(std::move(items));
  return std::holds_alternative<TupleItem>(what) ? Item(TupleItem{std::get<ListItem>(list).items})
                                                 : list;
}

Item joined(ExpressionRun& machine, const Item& a, const Item& b) {
  if (const auto* const* text = std::get_if<const std::string*>(&a)) {
    std::string both = **text + *std::get<const std::string*>(b);
    if (both.size() > kMostElements) return machine.failed("a string that is too long");
    if (!machine.work(both.size())) return Failed{};
    return Item(machine.arena().keep(std::move(both)));
  }
  std::vector<Item> items = *elements_of(a);
  items.insert(items.end(), elements_of(b)->begin(), elements_of(b)->end());
  if (!machine.work(items.size())) return Failed{};
  const Item list = machine.make_list(std::move(items));
  if (is_failed(list) || std::holds_alternative<ListItem>(a)) return list;
  return Item(TupleItem{std::get<ListItem>(list).items});
}

/// + and * of strings, lists and tuples.
Item sequence_binary(ExpressionRun& machine, BinaryOp op, const Item& a, const Item& b) {
  const auto is_sequence = [](const Item& item) {
    return std::holds_alternative<const std::string*>(item) || elements_of(item) != nullptr;
  };
  if (op == BinaryOp::add && is_sequence(a) && a.index() == b.index()) return joined(machine, a, b);
  if (op == BinaryOp::multiply && is_sequence(a) && whole_of(b))
    return repeated(machine, a, *whole_of(b));
  if (op == BinaryOp::multiply && is_sequence(b) && whole_of(a))
    return repeated(machine, b, *whole_of(a));
  return machine.failed(fmt::format("{} {} {}", kind_of(a), name_of(op), kind_of(b)));
}

/// Order of two numbers; nothing when one is none.
std::optional<std::partial_ordering> number_order(const Item& a, const Item& b) {
  const std::optional<std::int64_t> whole_a = whole_of(a);
  const std::optional<std::int64_t> whole_b = whole_of(b);
  if (whole_a && whole_b) return *whole_a <=> *whole_b;
  const std::optional<double> real_a = real_of(a);
  const std::optional<double> real_b = real_of(b);
  if (!real_a || !real_b) return std::nullopt;
  if (whole_a) return compare_exactly(*whole_a, *real_b);
  if (whole_b) return 0 <=> compare_exactly(*whole_b, *real_a);
  return *real_a <=> *real_b;
}

bool equal_items(ExpressionRun& machine, const Item& a, const Item& b) {
  if (const auto order = number_order(a, b)) return *order == 0;
  if (a.index() != b.index()) return false;
  if (const auto* const* text = std::get_if<const std::string*>(&a))
    return **text == *std::get<const std::string*>(b);
  if (const std::vector<Item>* items = elements_of(a)) {
    const std::vector<Item>& others = *elements_of(b);
    if (items->size() != others.size()) return false;
    for (std::size_t i = 0; i < items->size(); ++i)
      if (!machine.work(1) || !equal_items(machine, (*items)[i], others[i])) return false;
    return true;
  }
  const auto& range = std::get<RangeItem>(a);
  const auto& other = std::get<RangeItem>(b);
  if (range.size() != other.size()) return false;
  if (range.size() == 0) return true;
  return range.start == other.start && (range.size() == 1 || range.step == other.step);
}

Item contains(ExpressionRun& machine, const Item& item, const Item& container) {
  if (const auto* range = std::get_if<RangeItem>(&container)) {
    std::optional<std::int64_t> whole = whole_of(item);
    if (const auto* real = std::get_if<double>(&item);
        real != nullptr && std::abs(*real) < 0x1p62 && std::floor(*real) == *real)
      whole = static_cast<std::int64_t>(*real);
    if (!whole || range->size() == 0) return Item(false);
    if (range->step > 0 ? *whole < range->start || *whole >= range->stop
                        : *whole > range->start || *whole <= range->stop)
      return Item(false);
    // On the way from start to stop: the distance fits an unsigned number.
    const auto distance =
        range->step > 0
            ? static_cast<std::uint64_t>(*whole) - static_cast<std::uint64_t>(range->start)
            : static_cast<std::uint64_t>(range->start) - static_cast<std::uint64_t>(*whole);
    const auto step = range->step > 0 ? static_cast<std::uint64_t>(range->step)
                                      : ~static_cast<std::uint64_t>(range->step) + 1;
    return Item(distance % step == 0);
  }
  if (const auto* const* text = std::get_if<const std::string*>(&container)) {
    const auto* const* part = std::get_if<const std::string*>(&item);
    if (part == nullptr) return machine.failed(fmt::format("{} in a string", kind_of(item)));
    return Item((*text)->find(**part) != std::string::npos);
  }
  const std::vector<Item>* items = elements_of(container);
  if (items == nullptr) return machine.failed(fmt::format("\"in\" {}", kind_of(container)));
  for (const Item& element : *items)
    if (equal_items(machine, item, element)) return Item(true);
  if (!machine.work(items->size()) || !machine.why().empty()) return Failed{};
  return Item(false);
}

}  // namespace

std::int64_t RangeItem::size() const {
  if (step > 0 ? start >= stop : start <= stop) return 0;
  const std::uint64_t distance =
      step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
               : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t by =
      step > 0 ? static_cast<std::uint64_t>(step) : ~static_cast<std::uint64_t>(step) + 1;
  const std::uint64_t count = (distance - 1) / by + 1;
  return static_cast<std::int64_t>(
      std::min(count, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

const std::string* Arena::keep(std::string text) {
  return texts_.emplace_back(std::make_unique<const std::string>(std::move(text))).get();
}

const ItemList* Arena::keep(std::vector<Item> items) {
  return lists_.emplace_back(std::make_unique<const ItemList>(ItemList{std::move(items)})).get();
}

Item ExpressionRun::failed(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  return Failed{};
}

bool ExpressionRun::work(std::size_t more) {
  work_ += more;
  if (work_ <= kMostWork) return true;
  failed("it goes through too many list elements");
  return false;
}

Item ExpressionRun::make_list(std::vector<Item> items) {
  if (items.size() > kMostElements)
    return failed(fmt::format("a list of more than {} elements", kMostElements));
  return Item(ListItem{arena_.keep(std::move(items))});
}

bool is_failed(const Item& item) {
  return std::holds_alternative<Failed>(item);
}

std::optional<std::int64_t> whole_of(const Item& item) {
  if (const auto* whole = std::get_if<std::int64_t>(&item)) return *whole;
  if (const auto* flag = std::get_if<bool>(&item)) return *flag ? 1 : 0;
  return std::nullopt;
}

bool truth(const Item& item) {
  if (const std::optional<std::int64_t> whole = whole_of(item)) return *whole != 0;
  if (const auto* real = std::get_if<double>(&item)) return *real != 0;
  if (const auto* const* text = std::get_if<const std::string*>(&item)) return !(*text)->empty();
  if (const std::vector<Item>* items = elements_of(item)) return !items->empty();
  if (const auto* range = std::get_if<RangeItem>(&item)) return range->size() != 0;
  return false;
}

std::string_view kind_of(const Item& item) {
  constexpr std::array<std::string_view, std::variant_size_v<Item>> kNames{
      "nothing",  "a truth value", "a whole number", "a real number",
      "a string", "a list",        "a tuple",        "a range"};
  return kNames[item.index()];
}

Item binary(ExpressionRun& machine, BinaryOp op, const Item& a, const Item& b) {
  const auto* flag_a = std::get_if<bool>(&a);
  const auto* flag_b = std::get_if<bool>(&b);
  if (flag_a != nullptr && flag_b != nullptr) {
    if (op == BinaryOp::bit_and) return Item(*flag_a && *flag_b);
    if (op == BinaryOp::bit_or) return Item(*flag_a || *flag_b);
    if (op == BinaryOp::bit_xor) return Item(*flag_a != *flag_b);
  }
  const std::optional<std::int64_t> whole_a = whole_of(a);
  const std::optional<std::int64_t> whole_b = whole_of(b);
  if (whole_a && whole_b) return whole_binary(machine, op, *whole_a, *whole_b);
  const std::optional<double> real_a = real_of(a);
  const std::optional<double> real_b = real_of(b);
  if (real_a && real_b) return real_binary(machine, op, *real_a, *real_b);
  return sequence_binary(machine, op, a, b);
}

Item unary(ExpressionRun& machine, UnaryOp op, const Item& a) {
  if (op == UnaryOp::logical_not) return Item(!truth(a));
  if (const std::optional<std::int64_t> whole = whole_of(a)) {
    if (op == UnaryOp::plus) return Item(*whole);
    if (op == UnaryOp::invert) return Item(~*whole);
    return whole_binary(machine, BinaryOp::subtract, 0, *whole);
  }
  if (const auto* real = std::get_if<double>(&a); real != nullptr && op != UnaryOp::invert)
    return Item(op == UnaryOp::plus ? *real : -*real);
  return machine.failed(fmt::format("a sign before {}", kind_of(a)));
}

std::optional<std::partial_ordering> order_of(ExpressionRun& machine, const Item& a,
                                              const Item& b) {
  if (const auto order = number_order(a, b)) return order;
  if (a.index() == b.index()) {
    if (const auto* const* text = std::get_if<const std::string*>(&a))
      return **text <=> *std::get<const std::string*>(b);
    if (const std::vector<Item>* items = elements_of(a)) {
      const std::vector<Item>& others = *elements_of(b);
      for (std::size_t i = 0; i < std::min(items->size(), others.size()); ++i) {
        if (!machine.work(1)) return std::nullopt;
        if (!equal_items(machine, (*items)[i], others[i]))
          return order_of(machine, (*items)[i], others[i]);
      }
      return items->size() <=> others.size();
    }
  }
  machine.failed(fmt::format("{} compared with {}", kind_of(a), kind_of(b)));
  return std::nullopt;
}

Item compare(ExpressionRun& machine, CompareOp op, const Item& a, const Item& b) {
  if (op == CompareOp::in || op == CompareOp::not_in) {
    const Item found = contains(machine, a, b);
    return is_failed(found) || op == CompareOp::in ? found : Item(!std::get<bool>(found));
  }
  if (op == CompareOp::equal || op == CompareOp::not_equal) {
    const bool equal = equal_items(machine, a, b);
    if (!machine.why().empty()) return Failed{};
    return Item(equal == (op == CompareOp::equal));
  }
  const std::optional<std::partial_ordering> order = order_of(machine, a, b);
  if (!order) return Failed{};
  switch (op) {
    case CompareOp::less:
      return Item(*order < 0);
    case CompareOp::less_equal:
      return Item(*order <= 0);
    case CompareOp::greater:
      return Item(*order > 0);
    default:
      return Item(*order >= 0);
  }
}

bool for_each_item(ExpressionRun& machine, const Item& iterable, const EachItem& visit) {
  if (const auto* range = std::get_if<RangeItem>(&iterable)) {
    const std::int64_t size = range->size();
    for (std::int64_t i = 0; i < size; ++i) {
      if (!machine.work(1)) return false;
      if (!visit(Item(range->at(i)))) break;
    }
    return true;
  }
  const std::vector<Item>* items = elements_of(iterable);
  if (items == nullptr) {
    machine.failed(fmt::format("{} where a list belongs", kind_of(iterable)));
    return false;
  }
  for (const Item& item : *items) {
    if (!machine.work(1)) return false;
    if (!visit(item)) break;
  }
  return true;
}

}  // namespace perflab::tune
