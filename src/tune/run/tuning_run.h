// What live tuning and simulation have in common: the loop over proposals, the journal that answers
// what an earlier process measured, and the bookkeeping of TuneResult.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/records/journal.h"
#include "tune/run/tuning.h"
#include "tune/search/racing.h"
#include "tune/search/search.h"
#include "tune/space/space.h"

namespace perflab::tune {

/// One proposal's result.
struct Answer {
  Evaluation evaluation;
  std::string worker;
  bool from_journal = false;
  /// What was expected once it was built, before it ran; empty: nothing.
  BuiltCandidate built{};
};

class TuningRun {
 public:
  /// Everything must outlive the session; `journal` may be null.
  TuningRun(const Space& space, Journal* journal, const TuneOptions& options,
            const OnProgress& progress);

  /// Evaluates proposals, at most `runs` of them; the answers stand in their order. A proposal
  /// without an answer was built and not run.
  using Evaluate = std::function<Result<std::vector<std::optional<Answer>>>(
      std::span<const Proposal>, std::size_t runs)>;
  /// Runs measured configurations once more; the answers stand in their order.
  using Again = std::function<Result<std::vector<Answer>>(std::span<const ConfigId>)>;
  /// Proposes, evaluates and learns until so many are evaluated, or the budget, the time or the
  /// search is over; for every run of a batch `candidates_per_run` are proposed. Can be called
  /// again with a larger number. `again` is used with TuneOptions::race. Errors: of both.
  Result<void> search(std::size_t evaluations, std::size_t batch, std::size_t candidates_per_run,
                      const Evaluate& evaluate, const Again& again);
  [[nodiscard]] TuningState state() const;
  /// The round of the next run of a configuration that was measured before.
  [[nodiscard]] std::string next_round(ConfigId id) const;

  /// Shows that a round of the last comparison begins (1 to `rounds`).
  void report_comparison(std::size_t round, std::size_t rounds) const;

  /// The search itself, to drop configurations before it begins and to choose built ones.
  [[nodiscard]] Search& model() { return search_; }

  /// What the journal has for that configuration and round; null: nothing.
  [[nodiscard]] const JournalEntry* journalled(ConfigId id, const std::string& round) const;
  /// Builds took so long whose configurations are not run.
  void add_unused_builds(double seconds) { unused_build_seconds_ += seconds; }
  /// Appends to the journal, if there is one.
  Result<void> write(ConfigId id, const std::string& round, const Answer& answer);

  /// The wall time that one run may take now (TuneOptions::timeout_factor).
  [[nodiscard]] double run_limit_seconds() const;
  /// True: `a` is better than `b` under the objective.
  [[nodiscard]] bool better(double a, double b) const {
    return is_better(a, b, options_.objective.maximize);
  }
  /// The step of a configuration; null: it was not evaluated.
  [[nodiscard]] const Step* step_of(ConfigId id) const;

  /// The result without the last comparison; call once, after search(); steps_ are gone then.
  /// `not_recorded`: configurations dropped because a recording lacks them; `recorded`: front_of().
  TuneResult finish(std::size_t not_recorded = 0, std::span<const Losses> recorded = {});

  [[nodiscard]] const TuneOptions& options() const { return options_; }
  [[nodiscard]] const Space& space() const { return space_; }

 private:
  [[nodiscard]] bool out_of_time() const;
  void learn(const Proposal& proposal, Answer&& answer);
  void learn_again(ConfigId id, const Evaluation& evaluation);
  Result<void> race(std::size_t batch, const Again& again);
  [[nodiscard]] std::optional<Race> raced() const;
  void best_so_far();
  void report(Phase phase) const;
  [[nodiscard]] BuiltAhead built_ahead() const;
  [[nodiscard]] std::vector<Binding> parameters(ConfigId id) const;
  [[nodiscard]] std::string configuration(ConfigId id) const;
  [[nodiscard]] PruneCounts pruned(std::size_t not_recorded, std::size_t not_launchable) const;
  void add_warnings(TuneResult& result) const;

  const Space& space_;
  Journal* journal_;
  const TuneOptions& options_;
  const OnProgress& progress_;
  Search search_;
  Racing racing_;
  std::size_t failed_again_ = 0;
  std::size_t without_race_ = 0;                        ///< Race::without_at_least
  std::map<std::string, const JournalEntry*> earlier_;  ///< by round and configuration
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<Step> steps_;
  std::optional<double> best_;
  std::optional<double> best_run_seconds_;  ///< longest run of the best configuration
  std::size_t built_not_run_ = 0;
  double unused_build_seconds_ = 0;
  std::string stopped_because_;
  bool over_ = false;  ///< nothing is left to propose
};

}  // namespace perflab::tune
