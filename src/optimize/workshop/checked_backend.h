// Times commands through another backend, and looks at what each timed run leaves: a candidate has
// to compute the same while it is timed as while it was proven.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measure/backend.h"
#include "optimize/workshop/command_golden.h"

namespace perflab::optimize {

/// What a variant's timed runs with one seed leave, and what they should leave.
struct TimedRun {
  std::vector<std::string> command;
  std::vector<OutputFile> outputs;
  const Golden* golden = nullptr;  ///< always there; it has to outlive the backend's last run
};

/// A variant's timed runs go through the seeds in turn: a candidate that is fast on an input that
/// it recognises gains nothing by it.
struct TimedVariant {
  std::vector<TimedRun> runs;
  std::size_t next = 0;
};

/// Outputs are removed before and after each run, and compared with those of the original, as are
/// the lines with the metric: a candidate that computes or prints something else while it is timed
/// has failed.
class CheckedBackend final : public measure::Backend {
 public:
  /// `prints` gets what a run prints from `inner`; nullptr: it cannot be told from what the
  /// measuring program prints, so that files alone are compared.
  CheckedBackend(std::unique_ptr<measure::Backend> inner, std::shared_ptr<RunPrints> prints,
                 OutputRule rule)
      : inner_(std::move(inner)), prints_(std::move(prints)), rule_(rule) {}

  [[nodiscard]] std::string name() const override { return inner_->name(); }
  [[nodiscard]] std::string unit() const override { return inner_->unit(); }
  [[nodiscard]] bool larger_is_better() const override { return inner_->larger_is_better(); }
  /// Whether what timed runs print is compared.
  [[nodiscard]] bool sees_prints() const { return prints_ != nullptr; }

  /// What the variant's runs have to leave, at least one, instead of what was said before; the
  /// turns begin anew.
  void expect(const measure::Variant& variant, std::vector<TimedRun> runs);
  /// Error (internal): nothing was said of what this variant has to leave.
  Result<measure::Measured> measure(const measure::Variant& variant) override;

 private:
  [[nodiscard]] std::string difference(const TimedRun& expected);

  std::unique_ptr<measure::Backend> inner_;
  std::shared_ptr<RunPrints> prints_;
  OutputRule rule_;
  std::map<std::vector<std::string>, TimedVariant> variants_;  ///< by the command of the first seed
};

}  // namespace perflab::optimize
