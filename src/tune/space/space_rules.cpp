// Compiles the expressions of a space and puts them in order: derived values after those that they
// read, rules after their last parameter.
#include "tune/space/space_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace perflab::tune {
namespace {

/// Slots that an expression reads, those behind derived values too.
struct Reach {
  std::set<std::size_t> parameters;
  std::set<std::size_t> derived;  ///< numbers of derived values
};

/// Orders derived values so that each comes after those that it reads.
class DerivedOrder {
 public:
  DerivedOrder(const SpaceDescription& description, const std::vector<CompiledExpression>& derived)
      : description_(description), derived_(derived), done_(derived.size(), false) {}

  Result<std::vector<std::size_t>> find() {
    std::vector<std::size_t> order;
    while (order.size() < derived_.size()) {
      const std::size_t before = order.size();
      for (std::size_t i = 0; i < derived_.size(); ++i)
        if (!done_[i] && !missing(i)) {
          done_[i] = true;
          order.push_back(i);
        }
      if (order.size() == before) return std::unexpected(circle());
    }
    return order;
  }

 private:
  /// The first derived value that `i` reads and that is not computed yet.
  [[nodiscard]] std::optional<std::size_t> missing(std::size_t i) const {
    const std::size_t width = description_.parameters.size();
    for (const std::size_t slot : derived_[i].used())
      if (slot >= width && !done_[slot - width]) return slot - width;
    return std::nullopt;
  }

  /// Every value that is left reads one that is left: following them must come back.
  [[nodiscard]] Error circle() const {
    std::vector<std::size_t> path;
    std::size_t at = static_cast<std::size_t>(std::ranges::find(done_, false) - done_.begin());
    auto seen = path.end();
    while ((seen = std::ranges::find(path, at)) == path.end()) {
      path.push_back(at);
      at = *missing(at);
    }
    std::vector<std::string> names;
    for (; seen != path.end(); ++seen) names.push_back(description_.derived[*seen].first);
    names.push_back(names.front());
    return Error{ErrorCode::bad_input,
                 fmt::format("{}derived values are computed from each other in a circle: {}",
                             message_start(description_), fmt::join(names, " <- ")),
                 {},
                 {}};
  }

  const SpaceDescription& description_;
  const std::vector<CompiledExpression>& derived_;
  std::vector<bool> done_;
};

Result<CompiledExpression> compile_one(const SpaceDescription& description, const std::string& text,
                                       const std::string& what,
                                       std::span<const std::string> names) {
  Result<CompiledExpression> compiled = CompiledExpression::compile(text, names);
  if (!compiled)
    compiled.error().message =
        fmt::format("{}{}: {}", message_start(description), what, compiled.error().message);
  return compiled;
}

/// Reach of every derived value, in computing order.
std::vector<Reach> reaches(std::size_t width, const SpaceRules& rules) {
  std::vector<Reach> reach(rules.derived.size());
  for (const std::size_t i : rules.derived_order)
    for (const std::size_t slot : rules.derived[i].used()) {
      if (slot < width) {
        reach[i].parameters.insert(slot);
        continue;
      }
      const Reach& other = reach[slot - width];
      reach[i].derived.insert(slot - width);
      reach[i].parameters.insert(other.parameters.begin(), other.parameters.end());
      reach[i].derived.insert(other.derived.begin(), other.derived.end());
    }
  return reach;
}

Rule rule_of(CompiledExpression test, std::size_t width, const SpaceRules& rules,
             const std::vector<Reach>& reach) {
  Reach all;
  for (const std::size_t slot : test.used()) {
    if (slot < width) {
      all.parameters.insert(slot);
      continue;
    }
    const Reach& other = reach[slot - width];
    all.derived.insert(slot - width);
    all.parameters.insert(other.parameters.begin(), other.parameters.end());
    all.derived.insert(other.derived.begin(), other.derived.end());
  }
  std::string text = test.text();
  Rule rule{std::move(test),
            std::move(text),
            false,
            std::vector(all.parameters.begin(), all.parameters.end()),
            {}};
  std::ranges::copy_if(rules.derived_order, std::back_inserter(rule.needs),
                       [&](std::size_t i) { return all.derived.contains(i); });
  return rule;
}

}  // namespace

std::string message_start(const SpaceDescription& description) {
  return description.source.empty() ? std::string() : description.source + ": ";
}

Error on_one_line(Error error) {
  for (char& c : error.message)
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  return error;
}

Result<SpaceRules> SpaceRules::compile(const SpaceDescription& description) {
  std::vector<std::string> names;
  for (const Parameter& parameter : description.parameters) names.push_back(parameter.name);
  for (const auto& [name, text] : description.derived) names.push_back(name);
  const std::size_t width = description.parameters.size();

  SpaceRules rules;
  for (const auto& [name, text] : description.derived) {
    PERFLAB_TRY(CompiledExpression compiled,
                compile_one(description, text, "derived value " + name, names));
    rules.derived.push_back(std::move(compiled));
  }
  PERFLAB_TRY(rules.derived_order, DerivedOrder(description, rules.derived).find());
  const std::vector<Reach> reach = reaches(width, rules);
  for (const std::string& text : description.restrictions) {
    PERFLAB_TRY(CompiledExpression compiled, compile_one(description, text, "restriction", names));
    rules.rules.push_back(rule_of(std::move(compiled), width, rules, reach));
  }
  PERFLAB_CHECK(description.device_limits.size() == description.device_limit_texts.size());
  for (std::size_t i = 0; i < description.device_limits.size(); ++i) {
    PERFLAB_TRY(CompiledExpression compiled,
                compile_one(description, description.device_limits[i], "device limit", names));
    rules.rules.push_back(rule_of(std::move(compiled), width, rules, reach));
    rules.rules.back().name = description.device_limit_texts[i];
    rules.rules.back().device_limit = true;
  }
  return rules;
}

RulePlan::RulePlan(const SpaceDescription& description, const SpaceRules& rules,
                   std::span<const std::size_t> order)
    : description_(&description), rules_(&rules), steps_(order.size() + 1) {
  std::vector<std::size_t> position(description.parameters.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i + 1;
  // Rules over few parameters first: "b > 0" has its say before "a % b == 0".
  std::vector<std::size_t> turn(rules.rules.size());
  for (std::size_t i = 0; i < turn.size(); ++i) turn[i] = i;
  std::ranges::stable_sort(turn, {},
                           [&](std::size_t rule) { return rules.rules[rule].parameters.size(); });

  std::vector<bool> computed(rules.derived.size(), false);
  for (std::size_t bound = 0; bound < steps_.size(); ++bound)
    for (const std::size_t index : turn) {
      const Rule& rule = rules.rules[index];
      std::size_t last = 0;
      for (const std::size_t parameter : rule.parameters)
        last = std::max(last, position[parameter]);
      if (last != bound) continue;
      for (const std::size_t needed : rule.needs)
        if (!computed[needed]) {
          computed[needed] = true;
          steps_[bound].push_back({true, needed});
        }
      steps_[bound].push_back({false, index});
    }
}

Error failed_for(const SpaceDescription& description, const CompiledExpression& expression,
                 Error error, std::span<const Value> slots) {
  const std::size_t width = description.parameters.size();
  std::string values;
  for (const std::size_t slot : expression.used()) {
    const std::string& name =
        slot < width ? description.parameters[slot].name : description.derived[slot - width].first;
    values += fmt::format("{}{}={}", values.empty() ? ", at " : " ", name, to_text(slots[slot]));
  }
  error.message = message_start(description) + error.message + values;
  return error;
}

Result<std::optional<std::size_t>> RulePlan::test(std::size_t bound, std::vector<Value>& slots,
                                                  std::size_t& work) const {
  const std::size_t width = description_->parameters.size();
  for (const Step& step : steps_[bound]) {
    const CompiledExpression& expression =
        step.derive ? rules_->derived[step.index] : rules_->rules[step.index].test;
    std::optional<Error> error;
    if (step.derive) {
      Result<Value> value = expression.evaluate(slots, &work);
      if (value)
        slots[width + step.index] = std::move(*value);
      else
        error = std::move(value).error();
    } else {
      Result<bool> holds = expression.holds(slots, &work);
      if (holds && !*holds) return step.index;
      if (!holds) error = std::move(holds).error();
    }
    if (error)
      return std::unexpected(failed_for(*description_, expression, std::move(*error), slots));
  }
  return std::nullopt;
}

}  // namespace perflab::tune
