// Enumeration parameter by parameter: a rule is tested as soon as its last parameter has a value,
// and takes the whole subtree with it (docs/facts/tuning.md "Recorded spaces"). Parameters are
// bound in an order that completes the smallest rules first; rows are sorted afterwards.
#include "tune/space/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>

#include "base/system/interrupt.h"

namespace perflab::tune {
namespace {

// Operations in expressions that cost as much as giving a parameter its next value.
constexpr std::size_t kOperationsOfStep = 8;
// After so many in one random descent another one starts from the top.
constexpr std::size_t kStepsOfOneDescent = 400;
// Ctrl-C is looked for after so many: milliseconds.
constexpr std::size_t kStepsBetweenLooks = 4'000;

std::size_t count_of(const SpaceDescription& description, std::size_t parameter) {
  return description.parameters[parameter].values.size();
}

/// Parameters in the order in which they are bound: those of the rule that has the fewest
/// combinations left to bind first; then those that no rule hangs on, as declared.
std::vector<std::size_t> binding_order(const SpaceDescription& description,
                                       const SpaceRules& rules) {
  const std::size_t width = description.parameters.size();
  std::vector<bool> bound(width, false);
  std::vector<bool> done(rules.rules.size(), false);
  std::vector<std::size_t> order;
  const auto bind = [&](std::size_t parameter) {
    if (!bound[parameter]) order.push_back(parameter);
    bound[parameter] = true;
  };
  for (std::size_t round = 0; round < rules.rules.size(); ++round) {
    std::optional<std::size_t> next;
    double fewest = 0;
    for (std::size_t i = 0; i < rules.rules.size(); ++i) {
      if (done[i]) continue;
      double combinations = 1;
      for (const std::size_t parameter : rules.rules[i].parameters)
        if (!bound[parameter])
          combinations *= static_cast<double>(count_of(description, parameter));
      if (next && combinations >= fewest) continue;
      next = i;
      fewest = combinations;
    }
    done[*next] = true;
    for (const std::size_t parameter : rules.rules[*next].parameters) bind(parameter);
  }
  for (std::size_t parameter = 0; parameter < width; ++parameter) bind(parameter);
  return order;
}

/// Sorts rows lexicographically and drops those that are there already.
void sort_rows(std::vector<Level>& rows, const SpaceDescription& description) {
  const std::size_t width = description.parameters.size();
  std::vector<int> bits(width);
  for (std::size_t i = 0; i < width; ++i)
    bits[i] = static_cast<int>(std::bit_width(count_of(description, i) - 1));
  const std::size_t size = rows.size() / width;
  if (std::accumulate(bits.begin(), bits.end(), 0) < 64) {
    // A row is one number: several times faster than comparing rows.
    std::vector<std::uint64_t> keys(size, 0);
    for (std::size_t row = 0; row < size; ++row)
      for (std::size_t i = 0; i < width; ++i)
        keys[row] = keys[row] << bits[i] | rows[row * width + i];
    std::ranges::sort(keys);
    keys.erase(std::ranges::unique(keys).begin(), keys.end());
    rows.resize(keys.size() * width);
    for (std::size_t row = 0; row < keys.size(); ++row)
      for (std::size_t i = width; i-- > 0;) {
        rows[row * width + i] = static_cast<Level>(keys[row] & ((std::uint64_t{1} << bits[i]) - 1));
        keys[row] >>= bits[i];
      }
    return;
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto row_of = [&](std::size_t row) { return std::span(rows).subspan(row * width, width); };
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(row_of(a), row_of(b));
  });
  std::vector<Level> sorted;
  sorted.reserve(rows.size());
  for (std::size_t i = 0; i < size; ++i)
    if (i == 0 || !std::ranges::equal(row_of(order[i]), row_of(order[i - 1])))
      sorted.insert(sorted.end(), row_of(order[i]).begin(), row_of(order[i]).end());
  rows = std::move(sorted);
}

/// What enumeration and sampling share: the parameters' values in slots, and the tests.
class Walk {
 public:
  Walk(const SpaceDescription& description, const SpaceRules& rules)
      : description_(description),
        order_(binding_order(description, rules)),
        plan_(description, rules, order_),
        slots_(description.parameters.size() + description.derived.size()),
        row_(description.parameters.size(), 0),
        below_(order_.size() + 1, 1) {
    for (std::size_t depth = order_.size(); depth-- > 0;)
      below_[depth] = below_[depth + 1] * static_cast<double>(count(depth));
    free_from_ = order_.size();
    while (free_from_ > 0 && !plan_.has_tests(free_from_)) --free_from_;
  }

  [[nodiscard]] std::size_t depths() const { return order_.size(); }
  [[nodiscard]] std::size_t count(std::size_t depth) const {
    return count_of(description_, order_[depth]);
  }
  /// Combinations of the parameters from this depth on.
  [[nodiscard]] double below(std::size_t depth) const { return below_[depth]; }
  /// No rule hangs on the parameters from this depth on.
  [[nodiscard]] std::size_t free_from() const { return free_from_; }
  [[nodiscard]] const std::vector<Level>& row() const { return row_; }

  /// What it cost so far, in bindings.
  [[nodiscard]] std::size_t cost() const { return bindings_ + work_ / kOperationsOfStep; }

  Result<std::optional<std::size_t>> start() { return plan_.test(0, slots_, work_); }

  /// Gives the parameter at this depth a value and tests what can be tested then. Also fails after
  /// Ctrl-C.
  Result<std::optional<std::size_t>> bind(std::size_t depth, std::size_t level) {
    ++bindings_;
    if (cost() >= next_look_) {
      if (interrupted()) return std::unexpected(interrupted_listing(description_));
      next_look_ = cost() + kStepsBetweenLooks;
    }
    const std::size_t parameter = order_[depth];
    slots_[parameter] = description_.parameters[parameter].values[level];
    row_[parameter] = static_cast<Level>(level);
    if (!plan_.has_tests(depth + 1)) return std::nullopt;
    return plan_.test(depth + 1, slots_, work_);
  }

 private:
  const SpaceDescription& description_;
  std::vector<std::size_t> order_;
  RulePlan plan_;
  std::vector<Value> slots_;
  std::vector<Level> row_;
  std::vector<double> below_;
  std::size_t free_from_ = 0;
  std::size_t bindings_ = 0;
  std::size_t work_ = 0;
  std::size_t next_look_ = kStepsBetweenLooks;
};

/// Fills rows and removed; false: too many configurations or steps. Then rows holds those that were
/// found, at least one where nothing but their number was in the way.
Result<bool> enumerate(Walk& walk, const ListingOptions& options, Listing& listing) {
  const std::size_t most = std::max<std::size_t>(1, options.most);
  const std::size_t depths = walk.depths();
  PERFLAB_TRY(const std::optional<std::size_t> at_start, walk.start());
  if (at_start) {
    listing.removed[*at_start] = walk.below(0);
    return true;
  }
  std::vector<std::size_t> next(depths, 0);
  std::size_t depth = 0;
  while (true) {
    if (depth == walk.free_from() &&
        static_cast<double>(listing.rows.size() / depths) + walk.below(depth) >
            static_cast<double>(most)) {
      if (!listing.rows.empty()) return false;
      for (; depth < depths; ++depth) PERFLAB_TRY_VOID(walk.bind(depth, 0));
      listing.rows = walk.row();
      return false;
    }
    if (next[depth] == walk.count(depth)) {
      next[depth] = 0;
      if (depth == 0) return true;
      --depth;
      continue;
    }
    if (walk.cost() >= options.steps) return false;
    PERFLAB_TRY(const std::optional<std::size_t> rule, walk.bind(depth, next[depth]));
    ++next[depth];
    if (rule) {
      listing.removed[*rule] += walk.below(depth + 1);
    } else if (depth + 1 < depths) {
      ++depth;
    } else {
      if (listing.rows.size() / depths >= most) return false;
      listing.rows.insert(listing.rows.end(), walk.row().begin(), walk.row().end());
    }
  }
}

/// Random descents: every level is drawn, those that a rule forbids are drawn anew, and where all
/// are forbidden the level above is.
class Sampler {
 public:
  Sampler(Walk& walk, const ListingOptions& options)
      : walk_(walk), random_(options.seed), most_cost_(walk.cost() + options.steps / 2) {
    for (std::size_t depth = 0; depth < walk.depths(); ++depth) {
      levels_.emplace_back(walk.count(depth));
      std::iota(levels_.back().begin(), levels_.back().end(), Level{0});
    }
    tried_.resize(walk.depths());
  }

  enum class Found { yes, gave_up, there_is_none };

  /// One descent; the walk's row is what it found.
  Result<Found> descend() {
    std::size_t depth = 0;
    tried_[0] = 0;
    for (std::size_t steps = 0; steps < kStepsOfOneDescent && !exhausted(); ++steps) {
      if (tried_[depth] == levels_[depth].size()) {
        if (depth == 0) return Found::there_is_none;
        --depth;
        continue;
      }
      PERFLAB_TRY(const std::optional<std::size_t> rule, walk_.bind(depth, draw(depth)));
      if (rule) continue;
      if (++depth == walk_.depths()) return Found::yes;
      tried_[depth] = 0;
    }
    return Found::gave_up;
  }

  [[nodiscard]] bool exhausted() const { return walk_.cost() >= most_cost_; }

 private:
  /// A level of this depth that was not tried since the levels above were chosen.
  Level draw(std::size_t depth) {
    std::vector<Level>& levels = levels_[depth];
    const std::size_t first = tried_[depth]++;
    const std::size_t left = levels.size() - first;
    std::swap(levels[first], levels[first + static_cast<std::size_t>(random_() % left)]);
    return levels[first];
  }

  Walk& walk_;
  std::mt19937_64 random_;
  std::vector<std::vector<Level>> levels_;
  std::vector<std::size_t> tried_;
  std::size_t most_cost_;
};

std::string no_configuration(const SpaceDescription& description, const SpaceRules& rules,
                             const Listing& listing) {
  std::string text =
      fmt::format("{}no configuration is left of {}", message_start(description), listing.product);
  for (std::size_t i = 0; i < listing.removed.size(); ++i)
    if (listing.removed[i] > 0)
      text += fmt::format("{} \"{}\" removes {}", text.find('"') == std::string::npos ? ":" : ",",
                          rules.rules[i].name, listing.removed[i]);
  return text;
}

/// The lexicographically least row of some, or none.
std::vector<Level> least_row(const std::vector<Level>& rows, std::size_t width) {
  std::span<const Level> least(rows.data(), std::min(width, rows.size()));
  for (std::size_t first = 0; first < rows.size(); first += width) {
    const auto row = std::span(rows).subspan(first, width);
    if (std::ranges::lexicographical_compare(row, least)) least = row;
  }
  return {least.begin(), least.end()};
}

/// Adds rows that are not there yet, in their order, until there are `wanted`.
void fill_up(std::vector<Level>& rows, std::vector<Level>&& found, std::size_t wanted,
             const SpaceDescription& description) {
  const std::size_t width = description.parameters.size();
  for (std::size_t first = 0; first < found.size() && rows.size() < wanted * width;) {
    // What is there already is dropped by the sorting: then there is room for more.
    const std::size_t count = std::min(found.size() - first, wanted * width - rows.size());
    const auto next = std::span(found).subspan(first, count);
    rows.insert(rows.end(), next.begin(), next.end());
    first += count;
    sort_rows(rows, description);
  }
}

/// Adds to the rows of the listing. `found_before`: rows that are used where chance finds too few.
Result<void> sample(const SpaceDescription& description, const SpaceRules& rules,
                    const ListingOptions& options, Walk& walk, std::vector<Level>&& found_before,
                    Listing& listing) {
  const std::size_t width = description.parameters.size();
  const std::size_t wanted = std::max<std::size_t>(1, std::min(options.sample, options.most));
  listing.sampled = true;
  listing.removed.clear();
  Sampler sampler(walk, options);
  std::size_t before = 0;
  // Drawing with replacement: rounds until there are enough different rows, or nothing new comes.
  while (listing.rows.size() / width < wanted && !sampler.exhausted()) {
    for (std::size_t left = wanted - listing.rows.size() / width; left > 0 && !sampler.exhausted();
         --left) {
      PERFLAB_TRY(const Sampler::Found found, sampler.descend());
      if (found == Sampler::Found::yes)
        listing.rows.insert(listing.rows.end(), walk.row().begin(), walk.row().end());
      if (found == Sampler::Found::there_is_none)
        return fail(ErrorCode::bad_input, no_configuration(description, rules, listing) +
                                              ": the restrictions forbid every combination");
    }
    sort_rows(listing.rows, description);
    const std::size_t now = listing.rows.size() / width;
    if (now <= before + wanted / 1000) break;
    before = now;
  }
  fill_up(listing.rows, std::move(found_before), wanted, description);
  if (listing.rows.empty())
    return fail(ErrorCode::bad_input,
                fmt::format("{}no configuration was found: the restrictions leave few or none of "
                            "{} combinations, and random tries met none of them",
                            message_start(description), listing.product),
                "restrictions over few parameters, or fewer values, make it possible to list the "
                "space");
  return {};
}

/// The slots of a row: its values; derived ones are filled by the plan.
std::vector<Value> values_of(const SpaceDescription& description, std::span<const Level> row) {
  std::vector<Value> slots(row.size() + description.derived.size());
  for (std::size_t i = 0; i < row.size(); ++i) slots[i] = description.parameters[i].values[row[i]];
  return slots;
}

}  // namespace

Error takes_too_long(const SpaceDescription& description) {
  return fail(ErrorCode::bad_input, message_start(description) + "its expressions take too long")
      .error();
}

Error interrupted_listing(const SpaceDescription& description) {
  return fail(ErrorCode::interrupted,
              message_start(description) + "interrupted while its configurations were listed")
      .error();
}

Result<std::optional<std::size_t>> rule_against(const SpaceDescription& description,
                                                const SpaceRules& rules,
                                                const std::vector<Level>& row) {
  std::vector<std::size_t> order(row.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const RulePlan plan(description, rules, order);
  std::vector<Value> slots = values_of(description, row);
  std::size_t work = 0;
  for (std::size_t bound = 0; bound <= row.size(); ++bound) {
    PERFLAB_TRY(const std::optional<std::size_t> rule, plan.test(bound, slots, work));
    if (rule) return rule;
  }
  return std::nullopt;
}

Result<Listing> list_product(const SpaceDescription& description, const SpaceRules& rules,
                             const ListingOptions& options,
                             const std::optional<std::vector<Level>>& must_have) {
  Walk walk(description, rules);
  Listing listing;
  listing.product = walk.below(0);
  listing.removed.assign(rules.rules.size(), 0);
  PERFLAB_TRY(const bool all, enumerate(walk, options, listing));
  if (!all) {
    std::vector<Level> found = std::exchange(listing.rows, {});
    if (must_have) {
      PERFLAB_TRY(const std::optional<std::size_t> against,
                  rule_against(description, rules, *must_have));
      if (!against) listing.rows = *must_have;
    }
    if (listing.rows.empty()) listing.rows = least_row(found, walk.depths());
    PERFLAB_TRY_VOID(sample(description, rules, options, walk, std::move(found), listing));
  }
  if (listing.rows.empty())
    return fail(ErrorCode::bad_input, no_configuration(description, rules, listing));
  sort_rows(listing.rows, description);
  return listing;
}

Result<Listing> list_given(const SpaceDescription& description, const SpaceRules& rules) {
  const std::size_t width = description.parameters.size();
  // The sorted rows say which are there more than once.
  std::vector<const std::vector<Level>*> different;
  for (const std::vector<Level>& row : *description.listed) {
    PERFLAB_CHECK(row.size() == width);
    different.push_back(&row);
  }
  std::ranges::stable_sort(different, [](const auto* a, const auto* b) { return *a < *b; });
  // Of equal rows the first of the list stays: the sort is stable and pointers ascend.
  const auto end =
      std::ranges::unique(different, [](const auto* a, const auto* b) { return *a == *b; }).begin();
  different.erase(end, different.end());
  std::ranges::sort(different);

  Listing listing;
  listing.product = static_cast<double>(different.size());
  listing.removed.assign(rules.rules.size(), 0);
  std::vector<std::size_t> order(width);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const RulePlan plan(description, rules, order);
  std::size_t work = 0;
  std::size_t rows = 0;
  for (const std::vector<Level>* row : different) {
    std::vector<Value> slots = values_of(description, *row);
    if (++rows % kRowsBetweenLooks == 0 && interrupted())
      return std::unexpected(interrupted_listing(description));
    std::optional<std::size_t> rule;
    for (std::size_t bound = 0; bound <= width && !rule; ++bound) {
      PERFLAB_TRY(rule, plan.test(bound, slots, work));
    }
    if (work > kMostWorkOfSpace) return std::unexpected(takes_too_long(description));
    if (rule)
      listing.removed[*rule] += 1;
    else
      listing.rows.insert(listing.rows.end(), row->begin(), row->end());
  }
  if (listing.rows.empty())
    return fail(ErrorCode::bad_input, no_configuration(description, rules, listing));
  return listing;
}

}  // namespace perflab::tune
