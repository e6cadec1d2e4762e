// What a tool's run becomes for a client: the answer of its documents, or the part that was asked
// for, as structured content and as text; where the rest is; the exit code, what was said on
// stderr, and what to call instead of a call that failed. Never more than a client wants to read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "mcp/kept_runs.h"
#include "mcp/offer.h"

namespace perflab::mcp {

/// Least number of bytes of an answer that a server can be told.
inline constexpr std::size_t kLeastAnswerBytes = std::size_t{12} << 10;

/// How a run of a tool ended.
struct Outcome {
  std::string failure;           ///< it could not be run: why; all else is empty then
  std::optional<int> exit_code;  ///< none: it was stopped or killed
  std::string end;               ///< "was killed by SIGSEGV", for people
  std::string output;            ///< of stdout, all of it or (output_bytes says) its end
  std::uint64_t output_bytes = 0;
  std::string said;  ///< the end of stderr
};

/// What answers are made with.
struct Answering {
  const Offer& offer;
  KeptRuns& kept;
  std::size_t most_bytes;  ///< of a result of tools/call as a line, at least kLeastAnswerBytes
};

/// The result of a call that was run. Its documents are kept.
Json tool_result(const Call& call, const Outcome& outcome, const Answering& with);

/// The result of a call that reads what an earlier one left. Precondition: call.kept.
Json kept_result(const Call& call, const Answering& with);

/// The result of a call that was refused, or whose answer has no such part.
Json refusal_result(const Error& error, const std::vector<Advice>& instead,
                    std::string_view revision);

/// One line of text without a newline in it; bytes that are not UTF-8 become U+FFFD.
std::string to_line(const Json& value);

}  // namespace perflab::mcp
