// Inputs for timing, and what has to come out of them: a code object that recognises the captured
// numbers must not be timed on them. The oracle is the captured code object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "replay/elements/element_diff.h"
#include "replay/inputs/perturbed_memory.h"
#include "replay/session/session.h"

namespace perflab::replay {

/// How many inputs are made: as many as the dispatches of one measurement, so that no two of them
/// are alike; more would only cost runs of the oracle and memory of the GPU.
inline constexpr int kTimedInputs = 5;

struct TimedInputOptions {
  std::uint64_t seed = 1;
  DiffOptions compare{};
  /// Missing: the captured input alone.
  std::optional<PerturbScope> scope = PerturbScope::guessed;
  std::string no_scope_because{};  ///< why it is missing
};

/// The session's memory as timed dispatches are to find it. Inputs are made with PerturbedMemory
/// and run by the captured code object once or more, as verify_perturbed() does; pages that it
/// leaves otherwise are kept on disk. Copies of the inputs stay on the device as long as it has
/// room; otherwise they are made anew on the host for each dispatch, which takes its time.
class TimedInputs {
 public:
  /// Told before each dispatch of the captured code object: "original", or "captured" when it runs
  /// on the captured input.
  using OnStep = std::function<Result<void>(std::string_view)>;

  /// `session` has to outlive it.
  TimedInputs(Session& session, OnStep on_step);
  TimedInputs(TimedInputs&&) = delete;
  TimedInputs(const TimedInputs&) = delete;
  TimedInputs& operator=(const TimedInputs&) = delete;
  TimedInputs& operator=(TimedInputs&&) = delete;
  ~TimedInputs();

  /// Makes the inputs and learns what the captured code object leaves on them; with the options of
  /// the last time there is nothing to do. Where none can be made, there is the captured one alone.
  /// Afterwards memory is as captured. Errors: those of verify_perturbed(); target_failed, when the
  /// captured code object fails on its own input.
  Result<void> prepare(const TimedInputOptions& options);
  /// How the captured code object failed on an input that was made; empty: it did not. The device
  /// is lost then, and a milder scope may help.
  [[nodiscard]] const std::string& original_failed() const;
  /// Inputs that were made from the captured one; 0: that one alone, and captured_only_because().
  [[nodiscard]] int count() const;
  [[nodiscard]] const std::string& captured_only_because() const;

  /// Puts memory as dispatch `number` of a measurement (from 0) is to find it. Inputs take turns.
  Result<void> bring(std::uint64_t number);
  /// The same where, since it was brought, only dispatches have written that check() found right:
  /// the input itself stays where it is, in the caches too.
  Result<void> bring_written(std::uint64_t number);
  /// Whether check() is going to look at all memory.
  [[nodiscard]] bool is_new(const std::string& who, std::uint64_t number) const;
  /// What is wrong with what that dispatch left, in words; empty: nothing. All memory is looked at
  /// when `who` (any name of a code object) has run on this input for the first time, afterwards
  /// only where the captured code object writes (still all of it where that changed nothing).
  Result<std::string> check(const std::string& who, std::uint64_t number);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perflab::replay
