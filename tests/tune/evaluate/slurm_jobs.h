// Jobs and bookkeeping for tests of the Slurm executor.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tune/evaluate/executor.h"

namespace perflab::tune::test {

/// A shell script as a job: its "time: N" is the result.
inline Job script_job(const std::string& script) {
  Job job;
  job.run = {"sh", "-c", script};
  job.objective.kind = ObjectiveKind::metric;
  job.objective.metric_pattern = "time: ([0-9.]+)";
  job.exact_runs = 1;
  job.run_limit_seconds = 300;
  return job;
}

/// `count` jobs that take `seconds` each; job i gives i + 1.
inline std::vector<Job> numbered_jobs(std::size_t count, double seconds) {
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < count; ++i) {
    jobs.push_back(script_job(fmt::format("sleep {}; echo time: {}", seconds, i + 1)));
    jobs.back().id = i;
  }
  return jobs;
}

/// What came back of a batch.
struct Answers {
  std::map<std::size_t, Evaluation> evaluations;  ///< by index
  std::vector<std::size_t> order;
  std::vector<std::string> workers;        ///< in that order
  std::function<void(std::size_t)> after;  ///< told how many there are, after each

  OnFinished taker() {
    return [this](Finished&& finished) -> Result<void> {
      EXPECT_TRUE(evaluations.emplace(finished.index, finished.evaluation).second)
          << "job " << finished.index << " was answered twice";
      order.push_back(finished.index);
      workers.push_back(finished.worker);
      if (after) after(order.size());
      return {};
    };
  }
  [[nodiscard]] std::set<std::string> used() const { return {workers.begin(), workers.end()}; }
  /// Every job of numbered_jobs(count) was answered with its number.
  void expect_numbers(std::size_t count) const {
    EXPECT_EQ(evaluations.size(), count);
    for (const auto& [index, evaluation] : evaluations) {
      EXPECT_EQ(evaluation.outcome, Outcome::correct) << index << ": " << evaluation.detail;
      EXPECT_EQ(evaluation.value, static_cast<double>(index + 1)) << index;
    }
  }
};

}  // namespace perflab::tune::test
