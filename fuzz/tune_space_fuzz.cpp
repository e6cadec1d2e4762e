// Fuzzes what reads search spaces: the first byte says whether the rest is an expression ('e'), a
// list of values ('l') or a space file. What must hold: one error of the kind "bad input" in one
// line, or a space whose configurations are found again and whose counts add up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tune/records/read_space.h"

namespace {

using namespace perflab::tune;  // NOLINT(google-build-using-namespace): all of it is used

void check_error(const perflab::Error& error) {
  PERFLAB_CHECK(error.code == perflab::ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void check_expression(std::string_view text) {
  static const std::vector<std::string> kNames{"a", "b", "c", "s"};
  const auto expression = CompiledExpression::compile(text, kNames);
  if (!expression) return check_error(expression.error());
  PERFLAB_CHECK(std::ranges::is_sorted(expression->used()));
  const std::vector<Value> slots{Value(std::int64_t{6}), Value(-0.5), Value(true),
                                 Value(std::string("x"))};
  const auto value = expression->evaluate(slots);
  const auto holds = expression->holds(slots);
  if (!value) return check_error(value.error());
  // A value has a truth, and the same one.
  PERFLAB_CHECK(holds.has_value());
  const auto number = number_of(*value);
  PERFLAB_CHECK(*holds == (number ? *number != 0 : !std::get<std::string>(*value).empty()));
}

void check_list(std::string_view text) {
  const auto values = evaluate_list(text, 1000);
  if (!values) return check_error(values.error());
  PERFLAB_CHECK(values->size() <= 1000);
}

void check_space(std::string_view text) {
  auto file = parse_space(text, "fuzz");
  if (!file) return check_error(file.error());
  const ListingOptions options{.seed = 1, .most = 2000, .sample = 500, .steps = 20'000};
  const auto space = Space::list(std::move(file->description), options);
  if (!space) return check_error(space.error());
  PERFLAB_CHECK(space->size() > 0 && space->default_configuration() < space->size());
  double counted = static_cast<double>(space->size());
  for (const Removed& removed : space->counts().removed) counted += removed.combinations;
  PERFLAB_CHECK(space->counts().sampled || space->counts().product >= 0x1p53 ||
                counted == space->counts().product);
  const std::size_t checked = std::min<std::size_t>(space->size(), 50);
  for (std::size_t i = 0; i < checked; ++i) {
    const auto id = static_cast<ConfigId>(i);
    PERFLAB_CHECK(space->find(space->levels(id)) == id);
    PERFLAB_CHECK(space->find_values(space->bindings(id)) == id);
    PERFLAB_CHECK(!space->text(id).empty());
  }
  PERFLAB_CHECK(!perflab::to_canonical_text(to_json(space->description())).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('e'))
    check_expression(input.substr(1));
  else if (input.starts_with('l'))
    check_list(input.substr(1));
  else
    check_space(input);
  return 0;
}
