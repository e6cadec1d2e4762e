// Inputs that were not captured: what to vary and how often to run, and what came of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "replay/elements/element_diff.h"
#include "replay/failures.h"
#include "replay/inputs/perturbed_memory.h"
#include "replay/verify/certificate.h"

namespace perflab::replay {

struct PerturbOptions {
  std::filesystem::path code_object;  ///< empty: the captured one, against itself
  int inputs = 3;                     ///< at least 1
  std::uint64_t seed = 1;
  int runs = 2;  ///< of the original on each input; bytes that differ between them are left out
  int most_runs = 2;  ///< when they differ, so that more of what varies is seen; at least `runs`
  DiffOptions compare;
  PerturbScope scope = PerturbScope::guessed;
  /// Told before each dispatch who runs: "original", "captured" (it too, on the captured input) or
  /// "other". When the process dies of it, this was to blame.
  std::function<Result<void>(std::string_view)> on_step{};
};

/// Inputs beyond those asked for that are tried in place of such as were set aside.
inline constexpr int kMoreInputTries = 2;

/// One region in which something was written on a perturbed input.
struct PerturbedRegion {
  std::size_t region = 0;
  std::uint64_t compared_bytes = 0, unexpected_bytes = 0;
  std::uint64_t excluded_bytes = 0;  ///< that the original does not repeat
  ElementDiff comparison;
};

/// One input.
struct PerturbedInput {
  int number = 0;              ///< from 1; numbers that were set aside are left out
  std::uint64_t elements = 0;  ///< of the inputs that are others than those captured
  /// Bytes that the original left otherwise than it did when it was captured: 0 means that this
  /// input shows nothing new.
  std::uint64_t changed_output_bytes = 0;
  std::vector<PerturbedRegion> regions;
  ProofVerdict verdict = ProofVerdict::proves_nothing;
  std::string run_failure;         ///< how the other code object ended where the original did not
  std::optional<Failure> failure;  ///< which one that is
  std::string sentence;
};

struct PerturbedResult {
  std::vector<PerturbedInput> inputs;  ///< ends with the first that differs
  std::vector<PerturbedSpan> spans;    ///< what was varied
  std::string none_because;            ///< no input could be made: why; empty: some could
  /// The original did not end well on an input (its named error): a milder scope may help.
  std::string original_failed;
  std::vector<std::string> notes;
  bool device_lost = false;  ///< a dispatch failed
};

}  // namespace perflab::replay
