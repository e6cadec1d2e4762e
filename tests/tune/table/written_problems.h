// Problems of a dispatch table with made-up values: a configuration per column.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/prng.h"
#include "tune/table/measured.h"
#include "tune/table/rule.h"

namespace perflab::tune::test {

/// In place of a value.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kFails = -1;

/// Sizes of a problem, and the value of each configuration: c = 0, 1, 2, ...
struct WrittenProblem {
  std::vector<double> size;
  std::vector<double> values;
};

inline Recording recording_of(const std::vector<double>& values) {
  Recording recording;
  recording.format = "csv";
  recording.parameters = {"c"};
  for (std::size_t c = 0; c < values.size(); ++c) {
    if (std::isnan(values[c])) continue;
    RecordedConfiguration one;
    one.values = {static_cast<std::int64_t>(c)};
    one.outcome = values[c] == kFails ? Outcome::run_failed : Outcome::correct;
    if (values[c] != kFails) one.value = values[c];
    recording.configurations.push_back(std::move(one));
  }
  return recording;
}

/// As a command reads them: sizes are called M, N, K.
inline Result<MeasuredProblems> joined(const std::vector<WrittenProblem>& problems,
                                       bool maximize = false) {
  const std::vector<std::string> names = {"M", "N", "K"};
  std::vector<NamedProblem> named;
  for (std::size_t p = 0; p < problems.size(); ++p) {
    NamedProblem& one = named.emplace_back();
    for (std::size_t i = 0; i < problems[p].size.size(); ++i)
      one.size.emplace_back(names[i], problems[p].size[i]);
    one.recording = std::to_string(p);
  }
  PERFLAB_TRY(SortedProblems sorted, sort_problems(std::move(named)));
  std::vector<RecordedProblem> recorded;
  for (NamedProblem& one : sorted.problems) {
    const std::size_t from = std::stoul(one.recording.string());
    recorded.push_back({.named = std::move(one), .recording = recording_of(problems[from].values)});
  }
  return join_recordings(sorted.sizes, std::move(recorded), maximize);
}

inline MeasuredProblems measured(const std::vector<WrittenProblem>& problems,
                                 bool maximize = false) {
  Result<MeasuredProblems> out = joined(problems, maximize);
  EXPECT_TRUE(out) << describe(out.error());
  return std::move(*out);
}

inline ProblemSet all_of(const MeasuredProblems& measured) {
  ProblemSet set;
  for (std::size_t p = 0; p < measured.problems.size(); ++p)
    set.push_back(static_cast<std::uint16_t>(p));
  return set;
}

/// Problems of different sizes, some values missing or failed, at least one good one each.
inline std::vector<WrittenProblem> any_problems(perflab::test::Prng& prng, std::size_t sizes,
                                                std::size_t count, std::size_t configurations) {
  std::vector<WrittenProblem> problems;
  while (problems.size() < count) {
    WrittenProblem one;
    for (std::size_t i = 0; i < sizes; ++i)
      one.size.push_back(std::pow(2.0, static_cast<double>(prng.below(6))));
    bool known = false;
    for (const WrittenProblem& other : problems) known = known || other.size == one.size;
    if (known) continue;
    for (std::size_t c = 0; c < configurations; ++c) {
      const std::int64_t kind = prng.below(10);
      one.values.push_back(kind == 0   ? kNone
                           : kind == 1 ? kFails
                                       : 1 + 0.25 * static_cast<double>(prng.below(8)));
    }
    one.values[static_cast<std::size_t>(prng.below(static_cast<std::int64_t>(configurations)))] = 1;
    problems.push_back(std::move(one));
  }
  return problems;
}

}  // namespace perflab::tune::test
