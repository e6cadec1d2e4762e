// The search: which configurations to evaluate next, from what was evaluated so far. Pure: the same
// options and the same results give the same proposals, whatever the clock or the threads do.
// Algorithm "TGP" of docs/MODELS.md "Autotuning"; the published polynomial model as the baseline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tune/outcome.h"
#include "tune/space/space.h"

namespace perflab::tune {

enum class ModelKind {
  tgp,         ///< Gaussian process on per-parameter correlation tables, expected improvement
  polynomial,  ///< degree 2 on ACC = BLOCK_M x BLOCK_N, ACC^2, BLOCK_K, num_warps, num_stages,
               ///< threads_per_block (those that exist): the published model
};
std::string_view to_string(ModelKind model);

enum class Effort {
  quick,      ///< stops when the expected gain is below 0.5 % five times running
  automatic,  ///< below 0.1 %, ten times running
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
  std::vector<ConfigId> first = {};  ///< evaluated first, in this order: default, warm start
};

enum class ProposalKind { first, seed, model, local };
std::string_view to_string(ProposalKind kind);

struct Proposal {
  ConfigId id = 0;
  ProposalKind kind = ProposalKind::seed;
  std::optional<double> predicted;      ///< by the model, in the objective's unit
  std::optional<double> expected_gain;  ///< expected improvement as a share of the best value
};

/// How well the model predicts what it has not seen. TGP: each correct result but the slowest 10 %
/// (which the model does not tell apart) against its prediction from all others, with the same
/// hyper-parameters, as log(value): 1 - sum of squared errors / sum of squared deviations from the
/// mean. Polynomial: the same for the values themselves, all correct ones.
struct ModelQuality {
  std::optional<double> r2;  ///< missing below 4 distinct values, and before the first fit
  std::size_t samples = 0;   ///< that it is over
  std::size_t fits = 0;      ///< times that the hyper-parameters were fitted
};

/// What a parameter mattered, from the model.
struct Importance {
  std::size_t parameter = 0;  ///< index into Space::parameters()
  double share = 0;           ///< of the model's variance over the space that goes with it alone or
                              ///< with others (total-effect Sobol index, scaled to a sum of 1)
  /// Predicted ratio of its worst value to its best, others as in the best configuration; 1: no
  /// other value is allowed there. Values that are not positive have no ratio: 1 + their distance
  /// as a share of the larger.
  double best_to_worst = 1;
};

/// Configurations that the model rules out, and why. They are not proposed while others are left;
/// when none is, the search ends, unless the effort is full. Of a space above 20,000 configurations
/// only the pool that the model looks at is counted.
struct PrunedByModel {
  std::size_t slow = 0;     ///< even the lower bound (mean - 2 sd) is above prune_factor x best
  std::size_t failing = 0;  ///< P(valid) < 0.1
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
  void tell(ConfigId id, Outcome outcome, std::optional<double> value);

  /// The configuration is never proposed from now on; nothing is learned of it.
  void drop(ConfigId id);

  [[nodiscard]] std::size_t evaluated() const;
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
  /// Every parameter with more than one value, most important first; empty before the first fit,
  /// and for the polynomial.
  [[nodiscard]] std::vector<Importance> importance() const;

  /// Of built candidates, the `keep` that are worth running, judged by the model corrected for what
  /// the compiler gave them (registers, LDS, spills, occupancy: a ridge regression of the model's
  /// leave-one-out residuals). Order of `candidates` is kept. Fewer than 8 evaluated configurations
  /// with compiled kernels: the first `keep`.
  std::vector<ConfigId> choose_built(std::span<const ConfigId> candidates,
                                     std::span<const CompiledKernel> compiled, std::size_t keep);
  /// What the compiler gave a configuration that was told.
  void tell_compiled(ConfigId id, const CompiledKernel& compiled);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perflab::tune
