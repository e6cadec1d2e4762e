// The search: which configurations to evaluate next, from what was evaluated so far. Pure: the same
// options and the same results give the same proposals, whatever the clock or the threads do.
// Algorithm "TGP": docs/models/autotuning.md. The published polynomial model is the baseline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/model/encoding.h"
#include "tune/model/model_figures.h"
#include "tune/priors/prior_task.h"
#include "tune/space/space.h"
#include "tune/values/metrics.h"
#include "tune/values/outcome.h"

namespace perflab::tune {

enum class ModelKind {
  tgp,         ///< Gaussian process on per-parameter correlation tables, expected improvement
  polynomial,  ///< degree 2 on ACC = BLOCK_M x BLOCK_N, ACC^2, BLOCK_K, num_warps, num_stages,
               ///< threads_per_block (those that exist): the published model
};
std::string_view to_string(ModelKind model);

enum class Effort {
  quick,      ///< stops when the expected gain is below 0.5 % eight times running
  automatic,  ///< below 0.1 %, twenty times running
  full,       ///< uses the whole budget
};
std::string_view to_string(Effort effort);

struct SearchOptions {
  std::uint64_t seed = 0;
  bool maximize = false;
  ModelKind model = ModelKind::tgp;
  Effort effort = Effort::full;
  std::size_t seed_evaluations = 6;  ///< space-filling ones, `first` included; polynomial: random
                                     ///< ones, and the published share is 20 % of the budget
  double prune_factor = 1.75;        ///< slower than this times the best, surely: pruned
  Priors priors = {};                ///< what earlier tunings know of this space; TGP only
  /// Their limits are constraints, and one can be a second objective; TGP only.
  std::vector<Metric> metrics = {};
  std::vector<ConfigId> first = {};  ///< evaluated first, in this order: default, warm start
};

/// Why a search ended that has used its whole budget.
std::string budget_was_used(std::size_t budget);

enum class ProposalKind { first, seed, model, local };
std::string_view to_string(ProposalKind kind);

struct Proposal {
  ConfigId id = 0;
  ProposalKind kind = ProposalKind::seed;
  std::optional<double> predicted;      ///< by the model, in the objective's unit
  std::optional<double> expected_gain;  ///< expected improvement as a share of the best value
};

/// A candidate that was built, and the values that the model expects of it.
struct BuiltCandidate {
  ConfigId id = 0;
  /// Without and with what the compiler said; missing: that has no say yet, or there are two
  /// objectives.
  std::optional<double> predicted{}, corrected{};
  /// With it, but for the instructions; missing also where these are not known.
  std::optional<double> without_mix{};
};

class Search {
 public:
  /// The space must outlive the search.
  Search(const Space& space, SearchOptions options);
  ~Search();
  Search(Search&&) noexcept;
  Search& operator=(Search&&) = delete;

  /// The next `count` configurations to evaluate, different from all before and each other; fewer,
  /// or none, when the space is used up or the effort's rule says stop. Several at once believe the
  /// model about each other (kriging believer). tell() must be called for each before the next; one
  /// that is not told by then is dropped and never proposed again.
  std::vector<Proposal> propose(std::size_t count);

  /// The result of a configuration, proposed or known from elsewhere (value: correct outcomes
  /// only). A configuration that was cut at a time limit is a failed one to the search, but known
  /// slow: its value is then the best value that it can have, outcome timed_out, or nothing.
  /// `metrics`: of SearchOptions::metrics, in their order. Outside of a limit it is no candidate
  /// for the best; the model learns from it all the same.
  void tell(ConfigId id, Outcome outcome, std::optional<double> value,
            std::vector<std::optional<double>> metrics = {});

  /// A value of a told, correct configuration from more samples: it takes the place of the first.
  /// Others are left alone.
  void tell_again(ConfigId id, double value);

  /// The configuration is never proposed from now on; nothing is learned of it.
  void drop(ConfigId id);

  [[nodiscard]] std::size_t evaluated() const;
  /// The best within the limits; of two objectives, by the first.
  [[nodiscard]] std::optional<ConfigId> best() const;
  [[nodiscard]] std::optional<double> best_value() const;
  /// Largest expected improvement of the last model step, share of the best value.
  [[nodiscard]] std::optional<double> expected_gain() const;
  /// True: the effort's rule ended the search, or every configuration was told.
  [[nodiscard]] bool finished() const;
  /// "every configuration was evaluated", "the expected gain stayed below 0.5 %"; empty: not over.
  [[nodiscard]] std::string why_finished() const;

  [[nodiscard]] ModelQuality quality() const;
  [[nodiscard]] PrunedByModel pruned() const;
  /// One per prior.
  [[nodiscard]] std::vector<PriorFigures> priors() const;
  /// Log of the odds for the priors, all together (Tgp::prior_odds).
  [[nodiscard]] std::optional<double> prior_odds() const;
  /// Every parameter with more than one value, most important first; empty before the first fit,
  /// and for the polynomial.
  [[nodiscard]] std::vector<Importance> importance() const;

  /// Of built candidates, the `keep` that are worth running, judged by the model corrected for what
  /// the compiler gave them (registers, LDS, spills, occupancy, instructions: a ridge regression of
  /// the model's leave-one-out residuals). Order of `candidates` is kept. Fewer than 8 evaluated
  /// configurations with compiled kernels: the first `keep`.
  std::vector<BuiltCandidate> choose_built(std::span<const ConfigId> candidates,
                                           std::span<const CompiledKernel> compiled,
                                           std::size_t keep);
  /// What the compiler gave a configuration that was told.
  void tell_compiled(ConfigId id, const CompiledKernel& compiled);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perflab::tune
