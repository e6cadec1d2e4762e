// Counter passes as rocprofv3 leaves them: a program is described once, kernel by kernel, by what
// the hardware counts while it runs; every run of it is then written as a database of its own, with
// the counters of one pass, in a folder pass_N. What the figures must come out as follows from the
// counts by hand. GPUs: src/hal/archs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "support/rocpd_rows.h"

namespace perflab::test {

/// One dispatch and what the hardware counts during it: totals over all instances. A counter that
/// is not there counts 0.
struct CountedDispatch {
  std::string kernel = "kernel";
  Extent grid = {.x = 65536};  ///< work-items
  Extent workgroup = {.x = 256};
  std::int64_t duration = 100'000;  ///< ns
  std::map<std::string, double> counts = {};
};

/// A GPU as its agent row tells it.
struct CountedGpu {
  std::string gfx = "gfx942", product = "AMD Instinct MI300X";
  std::int64_t target_version = 90402;
  std::int64_t cus = 304, xccs = 8, mhz = 2100;
  std::int64_t wave_size = 64, simds_per_cu = 4, max_waves_per_cu = 32;
  std::int64_t number = 1;  ///< among the agents of its node

  [[nodiscard]] AgentRow agent() const;
  /// GRBM_GUI_ACTIVE, summed over the dies, when the GPU runs that long at its highest clock.
  [[nodiscard]] double cycles(std::int64_t ns) const;
};

/// MI210, MI300X, MI350X; RX 6900 XT, RX 7900 XTX, RX 9070 XT.
CountedGpu mi210();
CountedGpu mi300x();
CountedGpu mi350x();
CountedGpu rx6900xt();
CountedGpu rx7900xtx();
CountedGpu rx9070xt();

/// A program: its dispatches in the order in which they run, one after the other.
struct CountedProgram {
  CountedGpu gpu;
  std::vector<CountedDispatch> dispatches;
};

/// How one run of the program was recorded.
struct RunOptions {
  std::optional<int> pass = {};            ///< N of the folder pass_N; none: no such folder
  std::vector<std::string> counters = {};  ///< of this pass; empty: a run without counters
  std::string stem = "1000";               ///< of the file name, and the process id
  std::int64_t start = 5'000'000'000'000;  ///< ns, of the first dispatch
  std::int64_t gap = 10'000;               ///< ns between dispatches
  Id first_dispatch_id = 1;
  Id dispatch_id_step = 1;
  std::uint64_t shuffle = 0;   ///< seed for the order of all rows; 0: as they happen
  std::int64_t instances = 1;  ///< rows per counter and dispatch, of whole numbers
  std::uint64_t split = 1;     ///< seed for how a total is spread over its rows
  /// Counters that take turns: whether the dispatch (its position in the program) has this one.
  std::function<bool(std::size_t, std::string_view)> has = {};
};

/// Writes `folder`[/pass_N]/<stem>_results.db.
Result<std::filesystem::path> write_run(const std::filesystem::path& folder,
                                        const CountedProgram& program, const RunOptions& options);

/// A run without counters, then one pass per set of counters, as `profile --roofline` leaves them.
Result<std::vector<std::filesystem::path>> write_runs(
    const std::filesystem::path& folder, const CountedProgram& program,
    const std::vector<std::vector<std::string>>& sets, const RunOptions& options = {});

}  // namespace perflab::test
