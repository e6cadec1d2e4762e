// A size is log2 of the value where all values are positive and more than two, else the rank;
// coordinates are scaled to [0, 1].
#include "tune/model/encoding.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

namespace perflab::tune {
namespace {

void scale_to_unit(std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  const double width = high - low;
  for (double& value : values) value = width > 0 ? (value - low) / width : 0;
}

/// log2 of the values, or their rank when one is not positive or there are only two.
std::vector<double> sizes_of(const std::vector<double>& values) {
  const bool logarithmic =
      values.size() > 2 && std::ranges::all_of(values, [](double value) { return value > 0; });
  std::vector<double> sorted = values;
  std::ranges::sort(sorted);
  std::vector<double> sizes(values.size());
  std::ranges::transform(values, sizes.begin(), [&](double value) {
    return logarithmic
               ? std::log2(value)
               : static_cast<double>(std::ranges::lower_bound(sorted, value) - sorted.begin());
  });
  scale_to_unit(sizes);
  return sizes;
}

/// The values, where all are whole and none is negative; else nothing.
std::vector<std::uint64_t> whole_numbers_of(const std::vector<double>& values) {
  const auto is_whole = [](double value) {
    return value >= 0 && value <= 9e15 && std::trunc(value) == value;
  };
  if (!std::ranges::all_of(values, is_whole)) return {};
  return {values.begin(), values.end()};
}

/// How often two divides each value; empty unless at least four positive whole numbers are not all
/// powers of two.
std::vector<double> valuations_of(const std::vector<std::uint64_t>& numbers) {
  if (numbers.size() < 4 || std::ranges::find(numbers, 0U) != numbers.end()) return {};
  if (std::ranges::all_of(numbers, [](auto n) { return std::has_single_bit(n); })) return {};
  std::vector<double> valuations;
  for (const std::uint64_t number : numbers) valuations.push_back(std::countr_zero(number));
  scale_to_unit(valuations);
  return valuations;
}

/// Whether each value is neither a power of two nor 0; empty for flags.
std::vector<bool> odd_factors_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<bool> odd;
  if (numbers.size() < 3) return odd;
  for (const std::uint64_t number : numbers)
    odd.push_back(number != 0 && !std::has_single_bit(number));
  return odd;
}

bool has_any(const std::vector<bool>& flags) {
  return std::ranges::find(flags, true) != flags.end();
}

/// Puts neighbours in rank together until there are kMostCodes codes.
void merge_levels(Dimension& dimension) {
  const std::size_t levels = dimension.code.size();
  if (levels <= kMostCodes) return;
  std::vector<std::size_t> order(levels);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!dimension.categorical)
    std::ranges::stable_sort(order, {}, [&](std::size_t level) { return dimension.size[level]; });
  std::vector<double> sizes(dimension.categorical ? 0 : kMostCodes);
  for (std::size_t rank = 0; rank < levels; ++rank) {
    const std::size_t code = rank * kMostCodes / levels;
    dimension.code[order[rank]] = static_cast<Level>(code);
    if (!dimension.categorical) sizes[code] = dimension.size[order[rank]];
  }
  dimension.size = std::move(sizes);
  dimension.valuation.clear();
  dimension.odd_factor.clear();
  dimension.codes = kMostCodes;
}

Dimension dimension_of(const Parameter& parameter, std::size_t index) {
  const std::size_t levels = parameter.values.size();
  Dimension dimension{.parameter = index,
                      .categorical = false,
                      .code = std::vector<Level>(levels),
                      .codes = levels,
                      .size = {},
                      .valuation = {},
                      .odd_factor = {}};
  std::iota(dimension.code.begin(), dimension.code.end(), Level{0});
  std::vector<double> numbers;
  for (const Value& value : parameter.values)
    if (const auto number = number_of(value); number && std::isfinite(*number))
      numbers.push_back(*number);
  dimension.categorical = numbers.size() < levels;
  if (!dimension.categorical) {
    dimension.size = sizes_of(numbers);
    const std::vector<std::uint64_t> whole = whole_numbers_of(numbers);
    dimension.valuation = valuations_of(whole);
    dimension.odd_factor = odd_factors_of(whole);
  }
  merge_levels(dimension);
  return dimension;
}

}  // namespace

Encoding::Encoding(const Space& space, EarlierTunings priors)
    : space_(&space),
      odd_factors_{.code = {}, .codes = 2, .size = {0, 1}, .valuation = {}, .odd_factor = {}},
      priors_(std::move(priors)) {
  const std::size_t width = space.width();
  std::vector<bool> varies(width, false);
  std::size_t found = 0;
  for (std::size_t row = 1; row < space.size() && found < width; ++row) {
    const auto first = space.levels(0);
    const auto levels = space.levels(static_cast<ConfigId>(row));
    for (std::size_t p = 0; p < width; ++p)
      if (!varies[p] && levels[p] != first[p]) {
        varies[p] = true;
        ++found;
      }
  }
  for (std::size_t p = 0; p < width; ++p)
    if (varies[p]) dimensions_.push_back(dimension_of(space.parameters()[p], p));
  if (std::ranges::none_of(dimensions_, [](const Dimension& of) { return has_any(of.odd_factor); }))
    return;
  const bool first = has_odd_factor(codes(ConfigId{0}));
  for (std::size_t row = 1; row < space.size() && !tells_odd_factors_; ++row)
    tells_odd_factors_ = has_odd_factor(codes(static_cast<ConfigId>(row))) != first;
}

std::vector<Level> Encoding::codes(std::span<const Level> levels) const {
  std::vector<Level> row(coordinates());
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    row[d] = dimensions_[d].code[levels[dimensions_[d].parameter]];
  settle(row);
  return row;
}

void Encoding::settle(std::span<Level> codes) const {
  if (tells_odd_factors_) codes.back() = has_odd_factor(codes) ? 1 : 0;
}

bool Encoding::has_odd_factor(std::span<const Level> codes) const {
  for (std::size_t d = 0; d < dimensions_.size(); ++d)
    if (const auto& odd = dimensions_[d].odd_factor; !odd.empty() && odd[codes[d]]) return true;
  return false;
}

std::vector<float> Encoding::priors(ConfigId id) const {
  std::vector<float> said;
  for (const auto& prior : priors_) said.push_back(prior->at(id));
  return said;
}

double Encoding::distance(ConfigId a, ConfigId b) const {
  double sum = 0;
  const auto square = [](double x) { return x * x; };
  for (const Dimension& dimension : dimensions_) {
    const Level x = dimension.code[space_->levels(a)[dimension.parameter]];
    const Level y = dimension.code[space_->levels(b)[dimension.parameter]];
    if (x == y) continue;
    if (dimension.categorical) {
      sum += 1;
      continue;
    }
    sum += square(dimension.size[x] - dimension.size[y]);
    if (!dimension.valuation.empty())
      sum += square(dimension.valuation[x] - dimension.valuation[y]);
  }
  return sum;
}

std::vector<ConfigId> Encoding::neighbours(ConfigId id) const {
  std::vector<ConfigId> found;
  const auto here = space_->levels(id);
  std::vector<Level> row(here.begin(), here.end());
  for (const Dimension& dimension : dimensions_) {
    const Level own = row[dimension.parameter];
    for (std::size_t level = 0; level < dimension.code.size(); ++level) {
      if (level == own) continue;
      row[dimension.parameter] = static_cast<Level>(level);
      if (const auto neighbour = space_->find(row)) found.push_back(*neighbour);
    }
    row[dimension.parameter] = own;
  }
  return found;
}

}  // namespace perflab::tune
