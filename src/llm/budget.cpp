#include "llm/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace perflab::llm {
namespace {

constexpr double kTokensPerPrice = 1e6;
/// With fewer no kernel can be written: such an exchange would be paid for in vain.
constexpr std::uint64_t kLeastAnswerTokens = 64;

}  // namespace

Result<Budget> Budget::make(const Limits& limits) {
  for (const auto& value : {limits.cost_usd, limits.prompt_price, limits.completion_price})
    if (value && (!std::isfinite(*value) || *value < 0))
      return fail(ErrorCode::usage, "a cost or a price below zero makes no sense");
  if (limits.cost_usd && (!limits.prompt_price || !limits.completion_price))
    return fail(ErrorCode::usage, "a limit of cost needs the prices of prompt and answer tokens",
                "give both, in USD per million tokens, as the provider's price list has them");
  return Budget(limits);
}

void Budget::add(const ChatReply& reply) {
  ++exchanges_;
  prompt_tokens_ += reply.prompt_tokens.value_or(0);
  completion_tokens_ += reply.completion_tokens.value_or(0);
  if (!reply.prompt_tokens || !reply.completion_tokens) all_counted_ = false;
}

std::optional<double> Budget::cost() const {
  if (!limits_.prompt_price || !limits_.completion_price || !all_counted_) return std::nullopt;
  return (static_cast<double>(prompt_tokens_) * *limits_.prompt_price +
          static_cast<double>(completion_tokens_) * *limits_.completion_price) /
         kTokensPerPrice;
}

std::optional<std::uint64_t> Budget::answer_tokens_left() const {
  std::optional<std::uint64_t> left;
  const std::uint64_t spent = prompt_tokens_ + completion_tokens_;
  if (limits_.tokens) left = *limits_.tokens - std::min(spent, *limits_.tokens);
  if (const auto paid = cost(); limits_.cost_usd && paid && *limits_.completion_price > 0) {
    constexpr double kEnough = 1e15;  // beyond it the number would not fit
    const double affordable = std::clamp(
        (*limits_.cost_usd - *paid) / *limits_.completion_price * kTokensPerPrice, 0.0, kEnough);
    left = std::min(left.value_or(UINT64_MAX), static_cast<std::uint64_t>(affordable));
  }
  return left;
}

std::string Budget::why_spent() const {
  if (exchanges_ >= limits_.exchanges)
    return fmt::format("the budget of {} exchange{} is spent", limits_.exchanges,
                       limits_.exchanges == 1 ? "" : "s");
  if (!limits_.tokens && !limits_.cost_usd) return {};
  if (!all_counted_)
    return "the chat server does not say how many tokens it took, and the budget counts them";
  if (const auto paid = cost(); limits_.cost_usd && paid && *paid >= *limits_.cost_usd)
    return fmt::format("the budget of {} USD is spent", *limits_.cost_usd);
  if (const auto left = answer_tokens_left(); left && *left < kLeastAnswerTokens)
    return limits_.tokens &&
                   prompt_tokens_ + completion_tokens_ + kLeastAnswerTokens > *limits_.tokens
               ? fmt::format("the budget of {} tokens is spent", *limits_.tokens)
               : fmt::format("the budget of {} USD is spent", *limits_.cost_usd);
  return {};
}

std::uint64_t Budget::answer_tokens(std::uint64_t wanted) const {
  return std::min(wanted, answer_tokens_left().value_or(wanted));
}

Usage Budget::usage() const {
  return {.exchanges = exchanges_,
          .prompt_tokens = prompt_tokens_,
          .completion_tokens = completion_tokens_,
          .cost_usd = cost()};
}

}  // namespace perflab::llm
