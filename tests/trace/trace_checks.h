// What the reader tests share: reading with a failure message, the smallest machine that a dispatch
// can stand on, and a Trace as text, so that two can be compared whole.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "support/rocpd_writer.h"
#include "trace/trace.h"

namespace perflab::trace {

using Paths = std::vector<std::filesystem::path>;

/// Start of the made-up recordings, ns.
inline constexpr std::int64_t kT0 = 5'000'000'000'000;

/// Where the recorded databases lie; they are not part of the project.
std::filesystem::path recorded_folder();

/// Skips a test without the recorded input at `path`.
#define PERFLAB_SKIP_WITHOUT(path)                                                    \
  if (!std::filesystem::exists(path))                                                 \
  GTEST_SKIP() << "skipped: " << (path) << " is not there (recorded inputs are kept " \
               << "outside the project)"

/// Reads the files, and when they are small once more through SQLite alone, which must give the
/// same. A failure is reported to GoogleTest, and the Trace is then empty.
Trace read_ok(const Paths& files, unsigned threads = 1);

/// The error of reading the files; reports a failure when they can be read, or when the error is
/// not of the kind "bad input", is no single sentence, or does not name the first file.
Error read_error(const Paths& files, unsigned threads = 1);

/// Whether the text is one line without an end mark, as messages have to be.
bool is_one_sentence(std::string_view text);

/// Host, GPU (agent 1), queues 0 and 1, stream 0, a code object, and kernel 1 "axpy(float*)".
void add_machine(test::RocpdWriter& writer);

/// A dispatch of kernel 1 that starts `start` ns after kT0.
test::DispatchRow dispatch_at(std::int64_t start, std::int64_t length = 1000);

/// Finishes the file; reports a failure.
void finish(test::RocpdWriter& writer);

/// Name of the kernel of a dispatch.
std::string_view kernel_name(const Trace& trace, std::size_t dispatch);

/// Name of the API call that launched a dispatch; "" when there is none.
std::string_view launch_name(const Trace& trace, std::size_t dispatch);

/// Names of the kernels of all dispatches, in the order of the Trace.
std::vector<std::string> kernel_names(const Trace& trace);

/// Count of a reason among the dropped or odd rows; 0 when it is not there.
std::uint64_t dropped(const Trace& trace, const std::string& table, const std::string& reason);
std::uint64_t odd(const Trace& trace, const std::string& table, const std::string& reason);

inline const std::string kUnfinished = "unfinished: no start time, or its end is before its start";
inline const std::string kNoEvent = "no event row: cannot be linked to its launch";
inline const std::string kNoSymbol = "kernel without a symbol row";

/// Every fact of a Trace, a line each.
std::string dump(const Trace& trace);

}  // namespace perflab::trace
