// PC samples of rocprofv3's CSV and the tables beside it. Internal to src/pc_sampling and its
// tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/byte_source.h"
#include "base/error.h"
#include "base/text/progress.h"
#include "pc_sampling/model.h"

namespace perflab::pc_sampling {

/// Tables that have what the samples' table lacks; absent: there is no such file.
struct TablesBeside {
  std::optional<std::string> kernel_trace, agent_info;  ///< texts
  std::string kernel_trace_file, agent_info_file;       ///< names, for messages
};

/// The method whose samples a table with that header line holds; nullopt: it holds none.
std::optional<Method> method_of_header(std::string_view line);

/// Adds the samples of a table. Rows that are none are counted as dropped. `bytes`: of the file,
/// for progress and to make room in time; 0: unknown. Errors (bad_input): no such table, a column
/// is missing, another method or form than `samples` has, a table beside it is broken.
Result<void> read_csv(Lines& lines, std::uint64_t bytes, const TablesBeside& beside,
                      PcSamples& samples, const TellProgress& progress = {});

}  // namespace perflab::pc_sampling
