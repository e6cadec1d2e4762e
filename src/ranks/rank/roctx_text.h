// The text that RCCL gives its roctx ranges (RCCL_LOG_ROCTX=1), the only place where a recording of
// rocprofv3 says sizes and communicators. Facts: docs/facts/ranks.md "What is recorded".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perflab::ranks {

/// Views into the text.
struct RoctxText {
  std::string_view function;   ///< "AllReduce"
  std::string_view group;      ///< communicator, a number with sign; empty: not said (older RCCL)
  std::string_view data_type;  ///< "f32"; empty: not said
  std::optional<std::int64_t> bytes, root, peer;
};

/// Reads `{RCCL_AllReduce: NCCL communicator ID: N, Message size [bytes]: N, Reduction operation:
/// ..., Data type: f32}`. Missing: another text. Fields that cannot be read are as if not there.
std::optional<RoctxText> parse_roctx_text(std::string_view text);

}  // namespace perflab::ranks
