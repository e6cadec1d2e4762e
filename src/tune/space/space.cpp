// The space: what is listed, and how a configuration is found, named and shown.
#include "tune/space/space.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "base/system/interrupt.h"
#include "tune/space/listing.h"
#include "tune/space/space_rules.h"

namespace perflab::tune {
namespace {

// A row is a stack of nested loops: what nobody declares on purpose.
constexpr std::size_t kWidestSpace = 1000;
constexpr std::size_t kMostLevels = 65'535;

std::unexpected<Error> bad_space(const SpaceDescription& description, const std::string& text) {
  return fail(ErrorCode::bad_input, message_start(description) + text);
}

/// The row of the declared default; nothing when there is none, or a parameter has none.
std::optional<std::vector<Level>> default_row(const SpaceDescription& description) {
  if (!description.default_declared) return std::nullopt;
  std::vector<Level> row;
  for (const Parameter& parameter : description.parameters) {
    if (!parameter.default_level && parameter.values.size() > 1) return std::nullopt;
    row.push_back(parameter.default_level.value_or(0));
  }
  return row;
}

Result<void> check_names(const SpaceDescription& description) {
  std::unordered_set<std::string> names;
  const auto check = [&](const std::string& name) -> Result<void> {
    if (name.empty()) return bad_space(description, "a parameter without a name");
    if (!names.insert(name).second)
      return bad_space(description, fmt::format("two parameters are called {}", name));
    return {};
  };
  for (const Parameter& parameter : description.parameters) PERFLAB_TRY_VOID(check(parameter.name));
  for (const auto& [name, text] : description.derived) PERFLAB_TRY_VOID(check(name));
  return {};
}

}  // namespace

Result<void> Space::index_parameters() {
  PERFLAB_TRY_VOID(check_names(description_));
  if (description_.parameters.empty()) return bad_space(description_, "it has no parameters");
  if (width() > kWidestSpace)
    return bad_space(description_,
                     fmt::format("{} parameters are more than {}", width(), kWidestSpace));
  for (std::size_t i = 0; i < width(); ++i) {
    const Parameter& parameter = description_.parameters[i];
    if (parameter.values.empty())
      return bad_space(description_, fmt::format("{} has no values", parameter.name));
    if (parameter.values.size() > kMostLevels)
      return bad_space(description_, fmt::format("{} has {} values, more than {}", parameter.name,
                                                 parameter.values.size(), kMostLevels));
    PERFLAB_CHECK(!parameter.default_level || *parameter.default_level < parameter.values.size());
    parameter_of_name_.emplace(parameter.name, i);
    LevelOfValue& levels = level_of_value_.emplace_back();
    for (std::size_t level = 0; level < parameter.values.size(); ++level)
      if (!levels.emplace(parameter.values[level], static_cast<Level>(level)).second)
        return bad_space(description_, fmt::format("{} has the value {} twice", parameter.name,
                                                   to_text(parameter.values[level])));
  }
  return {};
}

void Space::index_rows() {
  const auto before = [&](ConfigId a, ConfigId b) {
    return std::ranges::lexicographical_compare(levels(a), levels(b));
  };
  std::vector<ConfigId> order(size());
  std::iota(order.begin(), order.end(), ConfigId{0});
  if (std::ranges::is_sorted(order, before)) return;
  std::ranges::sort(order, before);
  ascending_ = std::move(order);
}

Result<void> Space::choose_default() {
  if (!description_.default_declared) return {};
  const std::optional<std::vector<Level>> row = default_row(description_);
  std::string why = "does not give every parameter a value that it can have";
  if (row) {
    if (const std::optional<ConfigId> id = find(*row)) {
      default_ = *id;
      return {};
    }
    PERFLAB_TRY(const SpaceRules rules, SpaceRules::compile(description_));
    PERFLAB_TRY(const std::optional<std::size_t> rule, rule_against(description_, rules, *row));
    why = rule ? fmt::format("is forbidden by \"{}\"", rules.rules[*rule].name)
               : std::string("is not in the list");
  }
  if (!description_.default_may_fail)
    return bad_space(description_, "the default configuration " + why);
  description_.notes.push_back("the default configuration of the file " + why +
                               ": the first configuration takes its place");
  description_.default_declared = false;
  return {};
}

Result<std::vector<Value>> Space::slots(ConfigId id, std::size_t& work) const {
  std::vector<Value> slots(width() + derived_.size());
  for (std::size_t i = 0; i < width(); ++i) slots[i] = value(id, i);
  for (const std::size_t i : derived_order_) {
    Result<Value> computed = derived_[i].evaluate(slots, &work);
    if (!computed)
      return std::unexpected(
          failed_for(description_, derived_[i], std::move(computed).error(), slots));
    slots[width() + i] = std::move(*computed);
  }
  return slots;
}

Result<void> Space::check_derived() const {
  if (derived_.empty()) return {};
  std::size_t work = 0;
  for (std::size_t id = 0; id < size(); ++id) {
    if ((id + 1) % kRowsBetweenLooks == 0 && interrupted())
      return std::unexpected(interrupted_listing(description_));
    if (const auto computed = slots(static_cast<ConfigId>(id), work); !computed)
      return std::unexpected(computed.error());
    if (work > kMostWorkOfSpace) return std::unexpected(takes_too_long(description_));
  }
  return {};
}

Result<Space> Space::list(SpaceDescription description, const ListingOptions& options) {
  Result<Space> space = list_any(std::move(description), options);
  if (!space) return std::unexpected(on_one_line(std::move(space).error()));
  return space;
}

Result<Space> Space::list_any(SpaceDescription description, const ListingOptions& options) {
  Space space;
  space.description_ = std::move(description);
  const SpaceDescription& declared = space.description_;
  PERFLAB_TRY_VOID(space.index_parameters());
  PERFLAB_TRY(SpaceRules rules, SpaceRules::compile(declared));
  PERFLAB_TRY(Listing listing, declared.listed
                                   ? list_given(declared, rules)
                                   : list_product(declared, rules, options, default_row(declared)));
  space.rows_ = std::move(listing.rows);
  space.counts_.product = listing.product;
  space.counts_.sampled = listing.sampled;
  for (std::size_t i = 0; i < listing.removed.size(); ++i)
    space.counts_.removed.push_back(
        {rules.rules[i].name, rules.rules[i].device_limit, listing.removed[i]});
  space.derived_ = std::move(rules.derived);
  space.derived_order_ = std::move(rules.derived_order);
  space.index_rows();
  PERFLAB_TRY_VOID(space.choose_default());
  PERFLAB_TRY_VOID(space.check_derived());
  return space;
}

std::optional<ConfigId> Space::find(std::span<const Level> row) const {
  if (row.size() != width()) return std::nullopt;
  std::size_t first = 0;
  std::size_t left = size();
  const auto id_at = [&](std::size_t place) {
    return ascending_.empty() ? static_cast<ConfigId>(place) : ascending_[place];
  };
  while (left > 0) {
    const std::size_t half = left / 2;
    if (std::ranges::lexicographical_compare(levels(id_at(first + half)), row)) {
      first += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  if (first == size() || !std::ranges::equal(levels(id_at(first)), row)) return std::nullopt;
  return id_at(first);
}

std::optional<ConfigId> Space::find_values(std::span<const Binding> values) const {
  std::vector<Level> row(width(), 0);
  std::vector<bool> named;
  for (const Parameter& parameter : parameters()) named.push_back(parameter.values.size() == 1);
  for (const auto& [name, value] : values) {
    const auto parameter = parameter_of_name_.find(name);
    if (parameter == parameter_of_name_.end()) continue;
    const LevelOfValue& levels = level_of_value_[parameter->second];
    const auto level = levels.find(value);
    if (level == levels.end()) return std::nullopt;
    row[parameter->second] = level->second;
    named[parameter->second] = true;
  }
  if (std::ranges::find(named, false) != named.end()) return std::nullopt;
  return find(row);
}

std::vector<Binding> Space::bindings(ConfigId id) const {
  std::size_t work = 0;
  Result<std::vector<Value>> values = slots(id, work);
  PERFLAB_CHECK(values.has_value());  // list() computed them all
  std::vector<Binding> bindings;
  for (std::size_t i = 0; i < width(); ++i)
    bindings.emplace_back(description_.parameters[i].name, std::move((*values)[i]));
  for (std::size_t i = 0; i < derived_.size(); ++i)
    bindings.emplace_back(description_.derived[i].first, std::move((*values)[width() + i]));
  return bindings;
}

std::string Space::text(ConfigId id) const {
  const bool any = std::ranges::any_of(
      parameters(), [](const Parameter& parameter) { return parameter.values.size() > 1; });
  std::string text;
  for (std::size_t i = 0; i < width(); ++i) {
    if (any && parameters()[i].values.size() == 1) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", parameters()[i].name,
                        to_text(value(id, i)));
  }
  return text;
}

}  // namespace perflab::tune
