// Recordings of a job's ranks in a folder of the test's own, and rocm-perf run there.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program.h"
#include "support/rank_recordings.h"

namespace perflab::cli {

class RankJobFiles : public testing::Test {
 protected:
  Outcome run(std::vector<std::string> arguments) {
    return rocm_perf(folder_.path(), std::move(arguments), options_);
  }
  /// `command --json` as a document that satisfies its schema.
  Json json(const std::string& name, const std::string& command, std::vector<std::string> arguments,
            int exit_code = 0);
  /// rank-summary traces -o sums, after which there are so many.
  void summarize(std::size_t many = 4);
  /// The documents of an HTML page.
  Json pages_documents(const std::string& file);

  void write_rank(const std::string& file, const test::RankRecording& rank);
  /// Four ranks, as traces/rank_N.db.
  void write_job(test::RankRecording each);
  /// A recording as JSON, as tables, and one of PyTorch's profiler.
  void write_other_forms(const std::string& place);

  test::TempFolder folder_;
  /// No launcher's variables but those that a test sets.
  ProcessOptions options_ = [] {
    ProcessOptions options;
    options.unset_environment = {"SLURM_JOB_ID", "RANK", "WORLD_SIZE"};
    options.set_environment = {{"COLUMNS", "100"}};
    return options;
  }();
};

}  // namespace perflab::cli
