// What is known of a candidate: every step that was made with it, as the ledger and the document
// have it, and the decision that follows from these records alone. The loop decides by it and
// --recheck decides again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "llm/proposer.h"
#include "measure/backend.h"
#include "optimize/guards/guards.h"
#include "optimize/reasons.h"
#include "optimize/workshop/workshop.h"
#include "stats/comparison.h"

namespace perflab::optimize {

/// How times are judged. All of it is in the ledger's key.
struct JudgeOptions {
  double min_gain = 0.02;  ///< the whole interval of the speed-up must be above 1 + min_gain
  double confidence = 0.95;
  std::uint64_t seed = 1;
  int resamples = 2000;
  stats::StoppingRule stopping;
  std::size_t warmup = 1;

  /// For measure::interleave(), which allows for the looks by itself.
  [[nodiscard]] stats::ComparisonOptions comparison(bool larger_is_better) const;
};

/// A build as it is recorded.
struct BuildRecord {
  bool compiled = false, reproducible = false;
  std::string hash;                  ///< of what it left; empty: it left nothing
  std::string compiler_text;         ///< without the folder's name
  std::vector<std::string> command;  ///< paths as used
};

/// Two variants timed in turns: `after` against `before`.
struct Measurement {
  std::string backend, unit;
  bool larger_is_better = false;
  std::vector<double> before, after;  ///< one per turn, in the order measured
  std::string order;                  ///< "ABBA...": A is before
  double confidence = 0;              ///< of the look that ended it
  bool out_of_time = false;
  std::string failure_before, failure_after;
  /// In the folder: a file of a build, or a source, that was another one afterwards. Empty: none.
  std::string changed_file;
  /// Readings of the GPU's sensors around the turns, as documents have them
  /// (sensors::conditions_json); null: recorded by a version that read none.
  Json conditions = nullptr;
  stats::Comparison comparison;
};

/// Fills confidence and comparison from the samples, as measure::interleave() does at a look.
void recompute(const JudgeOptions& options, Measurement& measurement);

/// How many times as fast `after` is, with its interval; missing: no interval.
struct SpeedUp {
  double value = 0, low = 0, high = 0;
};
std::optional<SpeedUp> speed_up(const Measurement& measurement);

enum class Outcome : std::uint8_t { open, accepted, refused };
std::string_view to_string(Outcome outcome);

struct Decision {
  Outcome outcome = Outcome::open;  ///< open: the time budget ended before it was clear
  std::optional<Reason> reason;     ///< of a refusal
  std::string sentence;
};

struct Candidate {
  unsigned number = 0;              ///< from 1; 0: the original
  unsigned round = 0;               ///< of proposals
  std::optional<unsigned> repairs;  ///< the candidate whose compile errors this one mends
  unsigned against = 0;             ///< the best one when it was judged
  std::string summary;              ///< the proposer's words
  std::string problem, problem_detail;
  std::string hash;  ///< of the file's bytes; empty: there is no text
  std::string file;  ///< in the folder; empty likewise
  /// The candidate (0: the original) with the same tokens.
  std::optional<unsigned> same_as;
  std::optional<GuardResults> guards;
  std::optional<BuildRecord> build;
  std::optional<ObjectGuards> object;
  std::optional<Correctness> proof;
  std::optional<Measurement> measurement;
  Decision decision;
};

/// What the samples say under these options: accepted, or refused with slower, no_gain, undecided,
/// faulted, files_changed or proves_nothing; open when time ran out before.
Decision judge_times(const Measurement& measurement, const JudgeOptions& options);
/// Whether a look at the samples ends the measurement: the gain is proven, or it is proven that it
/// is not there.
bool times_are_clear(const stats::Comparison& comparison, const JudgeOptions& options,
                     bool larger_is_better);

/// Why a proof lets nothing pass, also one that contradicts itself (a failed check without a
/// reason) or is empty; nothing: it passed.
std::optional<Decision> refused_proof(const Correctness& proof);

/// What follows from the steps made; nothing while another one has to be made.
/// `must_reproduce`: the original's build is reproducible, so the candidate's has to be.
std::optional<Decision> decision_of(const Candidate& candidate, const JudgeOptions& options,
                                    bool must_reproduce);

/// The final source against the original, once more.
struct FinalProof {
  std::string hash;  ///< of the final source
  Correctness proof;
  std::optional<Measurement> measurement;  ///< missing: the proof failed
  /// The same two on the captured input, which is the application's: it decides nothing, unless a
  /// dispatch is wrong. Missing: nothing is accepted, or there is no such input.
  std::optional<Measurement> as_captured;
};
/// That the gain depends on the numbers, with both gains; empty: the two intervals have something
/// in common, or there is one of them only.
std::string data_words(const FinalProof& proof);
/// Accepted, or why not.
Decision decision_of_final(const FinalProof& proof, const JudgeOptions& options);

/// A source without comments and needless blanks: equal for texts that differ in layout only. It
/// is compared, never compiled.
std::string layout_free(std::string_view source);

}  // namespace perflab::optimize
