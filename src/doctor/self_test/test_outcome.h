// What came of the self test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/examination.h"
#include "doctor/self_test/case.h"

namespace perflab::doctor {

enum class TestOutcome : std::uint8_t { held, failed, skipped };
/// "held", "failed", "skipped".
std::string_view to_string(TestOutcome outcome);

/// Why a case was skipped or failed.
enum class TestReason : std::uint8_t {
  // Skipped.
  no_device,         ///< the HSA runtime has no GPU, or is not there
  no_compiler,       ///< none that knows the GPU
  does_not_compile,  ///< a program of the case; with the compiler's first error
  part_missing,      ///< rocprofv3, libclang, ...
  not_here,          ///< the program says that the HIP runtime does not do that here
  fails_alone,       ///< the program, or the profiler, fails without rocm-perf too
  undecided,         ///< the times of this machine do not decide
  time_budget,       ///< it was used up
  // Failed.
  cannot_start,    ///< a command cannot be started
  timed_out,       ///< the case's time was used up
  wrong_end,       ///< another exit code, or a signal
  no_document,     ///< stdout is not the document
  wrong_document,  ///< a field is not what it has to be
};
/// "no_device", ...
std::string_view to_string(TestReason reason);
inline constexpr TestReason kFirstFailure = TestReason::cannot_start;

/// A field that is not what it has to be.
struct UnmetCheck {
  FieldCheck check;
  std::string found;
};

struct StepRun {
  std::string name;
  std::vector<std::string> command;
  std::optional<int> exit_code, signal;
  double seconds = 0;
  std::vector<UnmetCheck> unmet{};
};

/// One case in one address mode.
struct CaseRun {
  const TestCase* test = nullptr;
  AddressMode mode = AddressMode::usual;
  TestOutcome outcome = TestOutcome::held;
  std::optional<TestReason> reason{};  ///< unless it held
  std::string sentence{}, remedy{};    ///< of the reason
  double seconds = 0;
  std::vector<StepRun> steps{};
};

struct ProgramBuild {
  std::string id;
  std::filesystem::path file;
  std::vector<std::string> command;
  double seconds = 0;
  std::string complaint{};  ///< the compiler's first error; empty: it was built
};

/// Why nothing could run.
struct Obstacle {
  TestReason reason = TestReason::no_device;
  std::string sentence, remedy;
};

struct SelfTest {
  std::vector<TestCase> cases;  ///< those that were chosen; CaseRun::test points into it
  std::vector<CaseRun> runs{};  ///< in the order taken
  std::vector<ProgramBuild> programs{};
  std::vector<Part> parts{};
  std::vector<Gpu> gpus{};
  std::string architecture{};  ///< that the programs are compiled for; empty: no GPU
  std::optional<Obstacle> obstacle{};
  double seconds = 0, budget_seconds = 0;
  std::filesystem::path folder{};
  bool kept = false;

  [[nodiscard]] std::size_t count(TestOutcome outcome) const;
  /// 0: all that ran hold; 1: some failed; 4: nothing could run.
  [[nodiscard]] int exit_code() const;
};

}  // namespace perflab::doctor
