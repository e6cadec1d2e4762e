// Times commands through another backend, and looks at what each timed run leaves: a candidate has
// to compute the same while it is timed as while it was proven.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/pattern.h"
#include "measure/backend.h"
#include "optimize/workshop/command_outputs.h"

namespace perflab::optimize {

/// What the original computes for one seed.
struct Golden {
  RunOutputs outputs;
  bool text_repeats = true;  ///< false: its stdout says something else each time
};

/// What a variant's timed runs with one seed leave, and what they should leave.
struct TimedRun {
  std::vector<std::string> command;
  std::vector<OutputFile> outputs;
  const Golden* golden = nullptr;  ///< missing: it was not proven in this process
};

/// A variant's timed runs go through the seeds in turn: a candidate that is fast on an input that
/// it recognises gains nothing by it.
struct TimedVariant {
  std::vector<TimedRun> runs;
  std::size_t next = 0;
};

/// Outputs are removed before and after each run, and compared with those of the proof: a candidate
/// that computes something else while it is timed has failed.
class CheckedBackend final : public measure::Backend {
 public:
  /// `printed` gets the stdout of the last run from `inner`; `metric`: lines that are left out of
  /// it.
  CheckedBackend(std::unique_ptr<measure::Backend> inner, std::shared_ptr<std::string> printed,
                 const Pattern* metric, OutputRule rule)
      : inner_(std::move(inner)), printed_(std::move(printed)), metric_(metric), rule_(rule) {}

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] std::string unit() const override { return inner_->unit(); }
  [[nodiscard]] bool larger_is_better() const override { return inner_->larger_is_better(); }

  /// `first`: what was expected of the variant before is forgotten, and the turns begin anew. The
  /// golden output has to stay where it is.
  void expect(const measure::Variant& variant, TimedRun run, bool first);
  Result<measure::Measured> measure(const measure::Variant& variant) override;

 private:
  [[nodiscard]] std::string difference(const TimedRun& expected) const;

  std::unique_ptr<measure::Backend> inner_;
  std::shared_ptr<std::string> printed_;  ///< stdout of the last run
  const Pattern* metric_;
  OutputRule rule_;
  std::map<std::vector<std::string>, TimedVariant> variants_;  ///< by the command of the first seed
};

}  // namespace perflab::optimize
