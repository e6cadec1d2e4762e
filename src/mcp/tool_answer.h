// What a tool's run becomes for a client: the document as structured content and as text, the exit
// code and what was said on stderr as text. A document that is too large is shortened, and the
// answer says where.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/json.h"

namespace perflab::mcp {

/// How a run of a tool ended.
struct Outcome {
  std::string failure;           ///< it could not be run: why; all else is empty then
  std::optional<int> exit_code;  ///< none: it was stopped or killed
  std::string end;               ///< "was killed by SIGSEGV", for people
  std::string output;            ///< of stdout, all of it or (output_bytes says) its end
  std::uint64_t output_bytes = 0;
  std::string said;  ///< the end of stderr
};

/// The result of tools/call. `revision` is the protocol's, `most_bytes` what the document may have
/// as text.
Json tool_result(const Outcome& outcome, std::string_view revision, std::size_t most_bytes);

/// The result of a call that was refused before anything was run.
Json refusal_result(const std::string& text);

/// {"cut": [{"path", "kept", "of"}], "document"}: the document with arrays shortened, all to the
/// same length, until this is at most `most_bytes` long; none when it cannot be.
std::optional<Json> shortened(Json document, std::size_t most_bytes);

/// One line of text without a newline in it; bytes that are not UTF-8 become U+FFFD.
std::string to_line(const Json& value);

}  // namespace perflab::mcp
