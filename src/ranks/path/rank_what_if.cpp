// The grammar of --what-if across ranks. What is inside a rank is read by analyze's own grammar.
#include "ranks/path/rank_what_if.h"

#include <fmt/format.h>

#include <charconv>

#include "analyze/critical_path/what_if.h"

namespace perflab::ranks {
namespace {

constexpr std::string_view kRankForms =
    "write 'balance', 'transfer=2x' (twice as fast), 'transfer:all_reduce=2x', 'wait=0', "
    "'wait:all_reduce=0', 'rank:3=median', 'regex=2x' (kernels of all ranks) or 'rank:3/regex=2x'";

std::unexpected<Error> no_rank_what_if(std::string_view text, std::string_view why) {
  return fail(ErrorCode::usage, fmt::format("what-if '{}': {}", text, why),
              std::string(kRankForms));
}

std::optional<CollectiveKind> kind_named(std::string_view name) {
  for (std::size_t i = 0; i < kCollectiveKinds; ++i)
    if (info(static_cast<CollectiveKind>(i)).name == name) return static_cast<CollectiveKind>(i);
  return std::nullopt;
}

/// "transfer" or "transfer:KIND"; false: neither. `kind` empty: all.
bool is_of(std::string_view what, std::string_view word, std::string_view& kind) {
  kind = {};
  if (what == word) return true;
  if (!what.starts_with(word) || what[word.size()] != ':') return false;
  kind = what.substr(word.size() + 1);
  return true;
}

Result<RankWhatIf> parse_communication(std::string_view text, std::string_view kind,
                                       std::string_view change, RankWhatIf::Target target) {
  RankWhatIf result{.text = std::string(text), .target = target};
  if (text.find(':') < text.rfind('=')) {
    result.kind = kind_named(kind);
    if (!result.kind)
      return no_rank_what_if(text, fmt::format("'{}' is no kind of collective", kind));
  }
  if (target == RankWhatIf::Target::no_wait) {
    if (change != "0") return no_rank_what_if(text, "waits can only be 0");
    return result;
  }
  // The same numbers as of a kernel.
  const Result<analyze::WhatIf> as_copy = analyze::parse_what_if(fmt::format("copy={}", change));
  if (!as_copy || as_copy->change.plus != 0)
    return no_rank_what_if(text, fmt::format("'{}' is not a factor", change));
  result.factor = as_copy->change.factor;
  return result;
}

/// What follows "rank:N"; null: it does not begin so.
std::optional<std::string_view> after_rank(std::string_view text, std::int64_t& rank) {
  constexpr std::string_view kRank = "rank:";
  if (!text.starts_with(kRank)) return std::nullopt;
  text.remove_prefix(kRank.size());
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (parsed.ec != std::errc{} || rank < 0) return std::nullopt;
  return text.substr(static_cast<std::size_t>(parsed.ptr - text.data()));
}

}  // namespace

Result<RankWhatIf> parse_rank_what_if(std::string_view text) {
  if (text == "balance")
    return RankWhatIf{.text = std::string(text), .target = RankWhatIf::Target::balance};
  std::string_view inside = text;
  std::optional<std::int64_t> rank;
  std::int64_t number = 0;
  if (const auto rest = after_rank(text, number)) {
    rank = number;
    if (*rest == "=median")
      return RankWhatIf{
          .text = std::string(text), .target = RankWhatIf::Target::median, .rank = rank};
    if (!rest->starts_with('/'))
      return no_rank_what_if(text, "after the rank comes '=median' or '/WHAT=CHANGE'");
    inside = rest->substr(1);
  } else if (text.starts_with("rank:")) {
    return no_rank_what_if(text, "after 'rank:' comes a rank's number");
  }
  const std::size_t equals = inside.rfind('=');
  if (equals == std::string_view::npos) return no_rank_what_if(text, "there is no '='");
  const std::string_view what = inside.substr(0, equals), change = inside.substr(equals + 1);
  std::string_view kind;
  const bool transfer = is_of(what, "transfer", kind);
  if (transfer || is_of(what, "wait", kind)) {
    if (rank) return no_rank_what_if(text, "transfers and waits are of all ranks of a collective");
    return parse_communication(
        text, kind, change, transfer ? RankWhatIf::Target::transfer : RankWhatIf::Target::no_wait);
  }
  PERFLAB_TRY(const analyze::WhatIf change_inside, analyze::parse_what_if(inside));
  return RankWhatIf{.text = std::string(text),
                    .target = RankWhatIf::Target::scenario,
                    .scenario = change_inside.text,
                    .rank = rank};
}

}  // namespace perflab::ranks
