// Rows are matched by configuration_key(): the order of a file's parameters does not matter, and 16
// and 16.0 are the same value.
#include "tune/table/measured.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "base/enum_names.h"
#include "tune/records/journal.h"

namespace perflab::tune {
namespace {

/// For the order of configurations: numbers by their size, then texts.
bool comes_before(const Value& a, const Value& b) {
  const std::optional<double> left = number_of(a), right = number_of(b);
  if (left && right) return *left < *right;
  if (left || right) return left.has_value();
  return std::get<std::string>(a) < std::get<std::string>(b);
}

using Rows = std::map<std::string, std::vector<const RecordedConfiguration*>>;

/// A row of a recording, its values in the order of `parameters`.
std::vector<Value> values_of(const Recording& recording, const RecordedConfiguration& row,
                             const std::vector<std::string>& parameters) {
  std::vector<Value> values;
  for (const std::string& name : parameters)
    values.push_back(row.values[static_cast<std::size_t>(
        std::ranges::find(recording.parameters, name) - recording.parameters.begin())]);
  return values;
}

std::string key_of(const Recording& recording, const RecordedConfiguration& row) {
  std::vector<Binding> bindings;
  for (std::size_t i = 0; i < recording.parameters.size(); ++i)
    bindings.emplace_back(recording.parameters[i], row.values[i]);
  return configuration_key(std::move(bindings));
}

bool worked(const RecordedConfiguration& row) {
  return row.outcome == Outcome::correct && row.value && std::isfinite(*row.value) &&
         *row.value > 0;
}

/// Error (bad_input): a recording has other parameters than the first.
Result<void> check_parameters(const std::vector<RecordedProblem>& problems) {
  const auto sorted = [](std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
  };
  const std::vector<std::string> first = sorted(problems.front().recording.parameters);
  for (const RecordedProblem& one : problems)
    if (const std::vector<std::string> names = sorted(one.recording.parameters); names != first) {
      std::vector<std::string> differ;
      std::ranges::set_symmetric_difference(first, names, std::back_inserter(differ));
      return fail(ErrorCode::bad_input,
                  fmt::format("{} and {} do not have the same parameters: only one of them has {}",
                              problems.front().named.recording.string(),
                              one.named.recording.string(), fmt::join(differ, ", ")),
                  "a table is of one kernel: tune every problem over the same parameters");
    }
  return {};
}

/// Whether more is better. Error (bad_input): a journal says otherwise.
Result<bool> direction_of(const std::vector<RecordedProblem>& problems, bool asked) {
  const RecordedProblem* said = nullptr;
  for (const RecordedProblem& one : problems) {
    if (!one.recording.maximize) continue;
    const bool most = *one.recording.maximize;
    if (asked && !most)
      return fail(ErrorCode::bad_input,
                  fmt::format("{} was tuned for the smallest value, and --maximize says otherwise",
                              one.named.recording.string()),
                  "leave --maximize out");
    if (said != nullptr && *said->recording.maximize != most)
      return fail(ErrorCode::bad_input,
                  fmt::format("one of {} and {} was tuned for the largest value, the other for the "
                              "smallest",
                              said->named.recording.string(), one.named.recording.string()),
                  "a table is of one objective");
    said = &one;
  }
  return asked || (said != nullptr && *said->recording.maximize);
}

/// Fills states, values and regrets from the rows of the problem's recording.
void fill(TunedProblem& problem, const std::vector<const RecordedConfiguration*>& rows,
          bool maximize) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> best;
  for (const RecordedConfiguration* const row : rows) {
    const std::size_t at = problem.states.size();
    problem.states.push_back(row == nullptr  ? Measured::not_measured
                             : !worked(*row) ? Measured::failed
                                             : Measured::worked);
    problem.values.push_back(problem.states.back() == Measured::worked ? *row->value : none);
    if (problem.states.back() != Measured::worked) continue;
    if (!best || is_better(*row->value, *best, maximize)) {
      best = *row->value;
      problem.best = at;
    }
  }
  for (std::size_t c = 0; c < rows.size(); ++c) {
    const double value = problem.values[c];
    problem.regrets.push_back(problem.states[c] != Measured::worked ? none
                              : maximize ? std::log(*best) - std::log(value)
                                         : std::log(value) - std::log(*best));
  }
}

}  // namespace

std::string_view to_string(Measured state) {
  using enum Measured;
  static constexpr auto kNames = enum_names<Measured>(
      {{not_measured, "not_measured"}, {failed, "failed"}, {worked, "worked"}});
  return kNames[state];
}

Result<MeasuredProblems> join_recordings(std::vector<std::string> sizes,
                                         std::vector<RecordedProblem> problems, bool maximize) {
  PERFLAB_TRY_VOID(check_parameters(problems));
  MeasuredProblems out{.sizes = std::move(sizes),
                       .parameters = problems.front().recording.parameters,
                       .maximize = false,
                       .problems = {},
                       .configurations = {}};
  PERFLAB_TRY(out.maximize, direction_of(problems, maximize));
  Rows rows;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    const auto& [named, recording] = problems[p];
    TunedProblem& one =
        out.problems.emplace_back(TunedProblem{.size = {},
                                               .file = named.recording.string(),
                                               .format = recording.format,
                                               .unit = recording.unit,
                                               .evaluations = recording.configurations.size(),
                                               .dropped = recording.dropped,
                                               .states = {},
                                               .values = {},
                                               .regrets = {}});
    for (const auto& [name, value] : named.size) one.size.push_back(value);
    for (const RecordedConfiguration& row : recording.configurations) {
      auto& of_key = rows[key_of(recording, row)];
      of_key.resize(problems.size(), nullptr);
      of_key[p] = &row;
      one.worked += worked(row) ? 1U : 0U;
      out.not_positive += row.outcome == Outcome::correct && !worked(row) ? 1U : 0U;
    }
    if (one.worked == 0)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: no configuration worked, with a value above 0", one.file),
                  "tune this problem first, or leave it out");
  }
  // A configuration that worked nowhere is nothing to choose.
  std::erase_if(rows, [](const auto& row) {
    return std::ranges::none_of(row.second,
                                [](const auto* one) { return one != nullptr && worked(*one); });
  });
  std::vector<std::pair<std::vector<Value>, const Rows::value_type*>> order;
  for (const Rows::value_type& row : rows) {
    const auto first = std::ranges::find_if(row.second, [](const auto* one) { return one; });
    const Recording& recording =
        problems[static_cast<std::size_t>(first - row.second.begin())].recording;
    order.emplace_back(values_of(recording, **first, out.parameters), &row);
  }
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::ranges::lexicographical_compare(a.first, b.first, comes_before);
  });
  std::vector<const RecordedConfiguration*> column(order.size());
  for (std::size_t p = 0; p < problems.size(); ++p) {
    std::ranges::transform(order, column.begin(),
                           [p](const auto& one) { return one.second->second[p]; });
    fill(out.problems[p], column, out.maximize);
  }
  for (auto& [values, row] : order) {
    out.for_all += std::ranges::all_of(
        row->second, [](const auto* one) { return one != nullptr && worked(*one); });
    out.configurations.push_back(std::move(values));
  }
  return out;
}

}  // namespace perflab::tune
