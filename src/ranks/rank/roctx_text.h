// Texts of ranges that say what a collective is: those that RCCL gives its roctx ranges
// (RCCL_LOG_ROCTX=1), with sizes and communicators, and PyTorch's annotations, which have the
// function alone. Facts: docs/facts/ranks.md "What is recorded", "Annotations".
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

/// "all_to_all" of PyTorch's `nccl:all_to_all`, "send" of `nccl:send 0->1`. Missing: another text.
std::optional<std::string_view> annotated_function(std::string_view text);

}  // namespace perflab::ranks
