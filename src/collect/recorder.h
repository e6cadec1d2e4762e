// What records a run: rocprofv3 around the program, or librocm_perf_record.so inside it. The loop
// over runs (collect.h) is one; how each is asked to record, and what it says when it did not, is
// here.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/system/subprocess.h"
#include "collect/collect_plan.h"
#include "collect/rocprofv3.h"
#include "collect/run_folder.h"

namespace perflab::collect {

/// One way of recording. Folders are absolute.
class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  virtual ~Recorder() = default;

  /// The argument array of a run that records into `folder`.
  [[nodiscard]] virtual std::vector<std::string> command(const std::filesystem::path& folder,
                                                         const CollectPlan& plan) const = 0;
  /// `counters`: what to count in this start of the program; rocprofv3 has them in a job file.
  virtual void set_environment(const std::filesystem::path& folder,
                               const std::vector<std::string>& counters,
                               ProcessOptions& options) const = 0;
  /// Whether another program starts the target: whose fault it is when nothing starts.
  [[nodiscard]] virtual bool wraps_target() const = 0;
  /// Error when a run that left nothing was not run at all, because an option was refused.
  [[nodiscard]] virtual Result<void> check_refused(const ProcessResult& process,
                                                   const CollectPlan& plan) const = 0;
  /// Makes databases of what runs that were killed left half-written. A sentence for each, and for
  /// each process that could not be recorded.
  [[nodiscard]] virtual std::vector<std::string> salvage(
      const std::filesystem::path& folder) const = 0;
  /// A run that ended well and left nothing usable. `heading` names it, `rejected` says what lay
  /// there.
  [[nodiscard]] virtual Error nothing_recorded(std::string_view heading,
                                               const std::filesystem::path& folder,
                                               std::vector<std::string> rejected) const = 0;
  /// rocprofv3, when it is that.
  [[nodiscard]] virtual std::optional<Rocprofv3> rocprofv3() const { return std::nullopt; }
};

/// The recorder of the plan's platform. Errors: missing_tool (no rocprofv3, no library), usage (a
/// path that the tool cannot take), interrupted.
Result<std::unique_ptr<Recorder>> make_recorder(const CollectPlan& plan);

/// librocm_perf_record.so: the file that $PERFLAB_RECORD_LIBRARY names, else where an installation
/// has it beside this program. Errors: missing_tool, usage (its path cannot be handed over).
Result<std::filesystem::path> find_record_library();

}  // namespace perflab::collect
