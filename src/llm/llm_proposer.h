// Proposals from a language model: prompt, exchange, budget, transcript.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "llm/budget.h"
#include "llm/chat.h"
#include "llm/prompt.h"
#include "llm/proposer.h"

namespace perflab::llm {

struct LlmOptions {
  ChatOptions chat{};
  std::uint64_t max_answer_tokens = 16'384;  ///< of one exchange
  std::optional<double> temperature = 0.0;   ///< missing: not sent
  std::optional<std::uint64_t> seed{};
  Proposal::Form form = Proposal::Form::kernel;  ///< that is asked for
  Limits budget{};
  PromptLimits prompt{};
  /// Played back when it has exchanges, else recorded; empty: neither. Played back, neither a key
  /// nor a server nor the model's name is needed.
  std::filesystem::path transcript{};
  bool resume = false;  ///< go on recording behind what is there
};

/// Errors: usage (options, a transcript that does not fit), missing_tool (no key, no libcurl),
/// bad_input (a damaged transcript).
Result<std::unique_ptr<Proposer>> make_llm_proposer(const LlmOptions& options);

}  // namespace perflab::llm
