// An example of an executor (docs/DEVELOPER_GUIDE.md): every job is evaluated by `rocm-perf
// autotune-worker` behind a command like {"ssh", "node7"}, which sees the same folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tune/evaluate/executor.h"

namespace perflab::tune {

class RemoteExecutor final : public Executor {
 public:
  /// `start`: what comes before "autotune-worker", the program included. `folder`: exists, and has
  /// the same name here and there.
  RemoteExecutor(std::vector<std::string> start, std::filesystem::path folder)
      : start_(std::move(start)), folder_(std::move(folder)) {}

  [[nodiscard]] std::size_t width() const override { return 1; }
  [[nodiscard]] std::string gpu() const override { return {}; }
  Result<void> evaluate(std::span<const Job> jobs, bool serial,
                        const OnFinished& on_finished) override;

 private:
  Result<Evaluation> evaluate_one(const Job& job);

  std::vector<std::string> start_;
  std::filesystem::path folder_;
};

}  // namespace perflab::tune
