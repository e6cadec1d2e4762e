// The transport: one message per line on two descriptors, nothing else on the one that is written.
// Specification 2026-07-28, basic/transports/stdio; 2025-11-25 has the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/service.h"

namespace perflab::mcp {

/// Cuts what is read into lines. A line that is longer than allowed is given in part: its beginning
/// with one byte too many, so that whoever reads it sees that.
class LineSplitter {
 public:
  explicit LineSplitter(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The lines that these bytes end, without their newline.
  std::vector<std::string> feed(std::string_view bytes);

 private:
  std::size_t most_bytes_;
  std::string unfinished_;
};

/// What a server runs with.
struct ServeOptions {
  int input = 0, output = 1;   ///< descriptors
  std::size_t most_bytes = 0;  ///< of the result of a call, at least kLeastAnswerBytes
};

/// Serves one client until its input ends, it reads no longer, or Ctrl-C; ends what runs then.
/// Errors: interrupted, bad_input (the input cannot be read).
Result<void> serve(const ServeOptions& options, Offer offer, Runner runner);

}  // namespace perflab::mcp
