// A tuning as data: what it is asked for, its steps, what is shown while it runs, and its result.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/evaluate/job.h"
#include "tune/priors/prior_task.h"
#include "tune/run/front.h"
#include "tune/search/search.h"
#include "tune/space/space.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

struct TuneOptions {
  std::size_t budget = 200;  ///< configurations evaluated in search, failing ones included
  std::optional<std::chrono::nanoseconds>
      time_limit;  ///< of the search, earlier processes excluded
  /// Configurations proposed together; 0: as many as the executor has workers, and at least four
  /// when there is something to build.
  std::size_t batch = 0;
  SearchOptions search;              ///< `first` is filled from the space and warm_start
  std::vector<ConfigId> warm_start;  ///< best first; at most four are taken
  /// Builds for each run, when the model knows something and compiled kernels are looked at: what
  /// the compiler says decides which is run. 1: only what is run is built.
  std::size_t build_ahead = 2;
  Objective objective;
  RepeatRule repeats;
  bool race = false;  ///< every configuration is run once, and the likely best ones again (Racing)
  double timeout_factor = 5;           ///< a run may take so many times the best one's
  double least_timeout_seconds = 1;    ///< and never less than this
  double first_timeout_seconds = 600;  ///< before there is a best
  double build_timeout_seconds = 600;
  std::string architecture;             ///< whose limits compiled kernels must keep; empty: none
  std::filesystem::path build_folders;  ///< one folder per configuration in it; empty: no builds
  std::size_t final_candidates = 5;     ///< that are compared again at the end
  std::size_t final_rounds = 20;        ///< most repeats of each in that comparison
};

/// Stands for the captured code object among configurations: what a capture's are compared with.
inline constexpr ConfigId kCapturedId = std::numeric_limits<ConfigId>::max();

enum class Phase { baseline, warm_start, seed, confirm };
std::string_view to_string(Phase phase);

/// One evaluated configuration, in the order of the search.
struct Step {
  ConfigId id = 0;
  Phase phase = Phase::seed;
  bool local = false;  ///< a neighbour of the best, not the pick of the expected improvement
  std::optional<double> predicted, expected_gain;  ///< before it was measured
  Evaluation evaluation;
  std::string worker;
  bool from_journal = false;          ///< an earlier process measured it
  std::optional<double> best_so_far;  ///< within the limits
  bool within_limits = true;
  BuiltCandidate built{};  ///< expected once it was built
};

/// What building ahead took, and how far the model was off without and with what compilers said.
struct BuiltAhead {
  std::size_t per_run = 1;          ///< TuneOptions::build_ahead
  double unused_build_seconds = 0;  ///< of builds that were not run
  /// Mean distance of measured and predicted value, as logarithms, over `compared` evaluations that
  /// were chosen among built ones.
  std::optional<double> error_without{}, error_with{};
  /// With registers, LDS, spills and occupancy alone; missing also where no instructions are known.
  std::optional<double> error_without_mix{};
  std::size_t compared = 0;
};

/// Where the runs of a race went; warm-up runs and the last comparison are not among them.
struct Race {
  std::size_t runs = 0;   ///< all, failed ones included
  std::size_t again = 0;  ///< those that were not the first of their configuration
  std::size_t raced = 0;  ///< configurations that ran more than once
  std::size_t best = 0;   ///< runs of the search's best
  /// What the same configurations would have taken at least without racing.
  std::size_t without_at_least = 0;
  std::optional<double> spread{};  ///< Racing::spread
  std::size_t failed = 0;          ///< configurations that failed when they ran again
};

/// A ratio with its interval: above 1 is better than what it is compared to.
struct Gain {
  double ratio = 1;
  std::optional<double> low,
      high;  ///< 95 %, bootstrap; missing with fewer than 3 samples of either
};

/// One line of the final table: search samples and those of the last comparison together or, when
/// there was one, the last comparison's alone.
struct Finalist {
  ConfigId id = 0;
  double value = 0;  ///< median
  std::size_t samples = 0;
  std::optional<double> cv;
  bool unstable = false;
  std::optional<Gain> over_default;
  /// Of Objective::metrics, in their order: medians of the last comparison, else of the search.
  std::vector<std::optional<double>> metrics{};
};

/// The captured code object, launched as it was captured.
struct Captured {
  Evaluation evaluation;        ///< before the search
  double value = 0;             ///< median; of the last comparison when it took part
  std::size_t samples = 0;      ///< likewise
  std::optional<double> cv;     ///< likewise
  std::optional<Gain> winners;  ///< what the winner gains over it; missing: there is none
};

/// How the winner stands against the runner-up.
enum class Decision { separated, tie, only_one, not_compared };
std::string_view to_string(Decision decision);

struct PruneCounts {
  double product = 0;            ///< combinations of all values
  std::vector<Removed> removed;  ///< by declared restrictions and device limits
  std::size_t listed = 0;        ///< configurations of the space
  bool sampled = false;
  std::size_t not_recorded = 0;  ///< --simulate: the space has them, the recording does not
  PrunedByModel model;
  std::size_t built_not_run = 0;   ///< the compiler's figures ruled them out
  std::size_t not_launchable = 0;  ///< built, needs more than the device has
  std::size_t never_reached = 0;   ///< left when the search ended
};

struct OutcomeCounts {
  std::size_t correct = 0, compile = 0, runtime = 0, timeout = 0, wrong = 0, device_limit = 0;
  std::size_t unstable = 0;  ///< among the correct ones
  std::size_t outside = 0;   ///< likewise: outside of a limit
};

/// A prior, and what the search made of it.
struct PriorResult {
  PriorDescription description;
  PriorFigures figures;
};

/// --simulate only.
struct Simulation {
  double optimum = 0;  ///< best recorded value of the space
  ConfigId optimum_id = 0;
  std::optional<double> best;  ///< recorded value of what the search found
};

struct TuneResult {
  Objective objective;
  std::uint64_t seed = 0;
  std::size_t budget = 0;
  ModelKind model = ModelKind::tgp;
  Effort effort = Effort::automatic;
  double prune_factor = 1.75;
  std::vector<Step> steps;
  OutcomeCounts outcomes;
  PruneCounts pruned;
  ModelQuality quality;
  std::vector<PriorResult> priors;   ///< in the order of the request
  std::optional<double> prior_odds;  ///< Search::prior_odds
  std::vector<Importance> importance;
  ConfigId default_id = 0;
  bool default_declared = false;
  std::optional<double> default_value;  ///< missing: it failed (its step says how)
  std::optional<Captured> captured;     ///< of a capture
  std::optional<ConfigId> winner;       ///< missing: nothing ran
  std::vector<Finalist> finalists;      ///< best first; the winner is the first
  Decision decision = Decision::not_compared;
  std::optional<Gain> over_runner_up;
  std::vector<ConfigId> tied;  ///< finalists that cannot be told from the winner
  std::optional<double> expected_gain_left;
  std::string stopped_because;  ///< "the budget of 200 evaluations was used"
  std::size_t resumed = 0;      ///< steps that the journal answered
  bool journal_torn = false;
  std::optional<Simulation> simulation;
  std::optional<Front> front;  ///< of two objectives; missing: one, or nothing ran
  BuiltAhead built_ahead;
  std::optional<Race> race;           ///< missing: it was not asked for
  std::vector<std::string> warnings;  ///< R2 below 0.75, unstable winner, default failed, ...
};

/// The best that worked outside of a limit: what the limits cost. Null: nothing did.
const Step* best_outside(const TuneResult& result);

/// How far a search is.
struct TuningState {
  std::size_t evaluated = 0;
  std::optional<double> best, default_value;  ///< missing: none worked yet, or none was measured
  /// Of the model's last proposal, a share of the best value then; missing: there is no model yet.
  std::optional<double> expected_gain;
  bool over = false;  ///< it has nothing more to try
};

/// What is shown while it runs.
struct TuneProgress {
  Phase phase = Phase::seed;
  std::size_t evaluated = 0, budget = 0;
  std::optional<double> best, default_value, expected_gain;
  std::size_t round = 0, rounds = 0;  ///< of the last comparison; 0: the search goes on
  std::optional<double> fraction;     ///< of budget or time, whichever is further
};
using OnProgress = std::function<void(const TuneProgress&)>;

}  // namespace perflab::tune
