// What expressions compute with: Python's values as far as spaces need them, and its operators on
// them (https://docs.python.org/3/reference/expressions.html). Private to src/tune/space.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tune/values/value.h"

namespace perflab::tune {

struct ItemList;
/// An evaluation that went wrong; the Machine knows how.
struct Failed {};
struct ListItem {
  const ItemList* items = nullptr;
};
struct TupleItem {
  const ItemList* items = nullptr;
};
/// range(): never spelled out, so that range(10**12) costs nothing.
struct RangeItem {
  std::int64_t start = 0, stop = 0, step = 1;
  [[nodiscard]] std::int64_t size() const;
  /// Precondition: 0 <= index < size().
  [[nodiscard]] std::int64_t at(std::int64_t index) const {
    // Unsigned: index * step alone may not fit, the sum does.
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) +
                                     static_cast<std::uint64_t>(index) *
                                         static_cast<std::uint64_t>(step));
  }
};
/// Trivially copyable: what is longer lives in an Arena.
using Item = std::variant<Failed, bool, std::int64_t, double, const std::string*, ListItem,
                          TupleItem, RangeItem>;
struct ItemList {
  std::vector<Item> items;
};

/// Owner of the texts and lists that items point to.
class Arena {
 public:
  const std::string* keep(std::string text);
  const ItemList* keep(std::vector<Item> items);

 private:
  std::vector<std::unique_ptr<const std::string>> texts_;
  std::vector<std::unique_ptr<const ItemList>> lists_;
};

/// One evaluation: what names stand for, what was made on the way, what went wrong.
class ExpressionRun {
 public:
  ExpressionRun(std::span<const Value> slots, std::size_t locals, Arena& arena)
      : slots_(slots), locals_(locals), arena_(arena) {}

  Item failed(std::string why);
  /// List elements and letters that the evaluation made or walked over, to keep it from hanging:
  /// false (and failed) when there are too many.
  bool work(std::size_t more);

  [[nodiscard]] const Value& slot(std::size_t index) const { return slots_[index]; }
  [[nodiscard]] Item& local(std::size_t index) { return locals_[index]; }
  [[nodiscard]] Arena& arena() { return arena_; }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] std::size_t work_done() const { return work_; }
  void forget_failure() { why_.clear(); }

  /// A list or tuple of at most 65,535 elements.
  Item make_list(std::vector<Item> items);

 private:
  std::span<const Value> slots_;
  std::vector<Item> locals_;
  Arena& arena_;
  std::string why_;
  std::size_t work_ = 0;
};

enum class BinaryOp {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  bit_xor,
};
enum class UnaryOp { plus, minus, invert, logical_not };
enum class CompareOp { less, less_equal, greater, greater_equal, equal, not_equal, in, not_in };
enum class Function {
  min,
  max,
  abs,
  to_int,
  to_float,
  to_bool,
  round,
  len,
  sum,
  any,
  all,
  range,
  list,
  tuple,
  log2,
  ceil,
  floor,
  sqrt,
};

/// The function of a name as it is written ("max", "math.log2").
std::optional<Function> function_of_name(std::string_view name);

bool is_failed(const Item& item);
/// bool and int as a whole number.
std::optional<std::int64_t> whole_of(const Item& item);
bool truth(const Item& item);
/// "a list", "a string", for messages.
std::string_view kind_of(const Item& item);

Item binary(ExpressionRun& machine, BinaryOp op, const Item& a, const Item& b);
Item unary(ExpressionRun& machine, UnaryOp op, const Item& a);
/// A bool, or Failed.
Item compare(ExpressionRun& machine, CompareOp op, const Item& a, const Item& b);
/// Order of two values; nothing (and failed) where Python raises TypeError.
std::optional<std::partial_ordering> order_of(ExpressionRun& machine, const Item& a, const Item& b);

using EachItem = std::function<bool(const Item&)>;
/// Hands over the elements of a list, tuple or range until the visitor says false. False: failed.
bool for_each_item(ExpressionRun& machine, const Item& iterable, const EachItem& visit);

/// A builtin function over evaluated arguments.
Item call(ExpressionRun& machine, Function function, std::span<const Item> arguments);

/// Takes elements one by one for the functions that take an iterable.
class Collector {
 public:
  Collector(ExpressionRun& machine, Function function) : machine_(machine), function_(function) {}
  /// False: no further element is wanted (the result is known, or it failed).
  bool add(const Item& item);
  Item result();

 private:
  ExpressionRun& machine_;
  Function function_;
  std::optional<Item> value_;
  std::vector<Item> items_;
};
/// Whether the function takes a single iterable, element by element: min, max, sum, any, all, list,
/// tuple.
bool is_collecting(Function function);

}  // namespace perflab::tune
