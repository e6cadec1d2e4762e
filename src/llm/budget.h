// What a run may spend on a language model. There is no list of prices in here: prices change, and
// a wrong one would be a guess. They come from the user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "llm/chat.h"
#include "llm/proposer.h"

namespace perflab::llm {

struct Limits {
  std::optional<std::uint64_t> tokens{};  ///< prompt and completion tokens, in all
  std::optional<double> cost_usd{};       ///< in all; takes both prices
  std::optional<double> prompt_price{}, completion_price{};  ///< USD per million tokens
  std::uint64_t exchanges = 40;
};

/// Counts what exchanges used up, as the server says.
class Budget {
 public:
  /// Error (usage): a limit of cost without prices; a limit or price below zero or not finite.
  static Result<Budget> make(const Limits& limits);

  /// Counts an exchange.
  void add(const ChatReply& reply);
  /// Whether another exchange may begin; a sentence why not, "" while it may. A server that does
  /// not say how many tokens it took ends a budget of tokens or cost: what is left is not known.
  [[nodiscard]] std::string why_spent() const;
  /// `wanted`, or less when less is left for the answer.
  [[nodiscard]] std::uint64_t answer_tokens(std::uint64_t wanted) const;
  [[nodiscard]] Usage usage() const;

 private:
  explicit Budget(const Limits& limits) : limits_(limits) {}
  /// Tokens that an answer may still have; missing: no limit.
  [[nodiscard]] std::optional<std::uint64_t> answer_tokens_left() const;
  [[nodiscard]] std::optional<double> cost() const;

  Limits limits_;
  std::uint64_t exchanges_ = 0, prompt_tokens_ = 0, completion_tokens_ = 0;
  bool all_counted_ = true;  ///< every reply said how many tokens it took
};

}  // namespace perflab::llm
