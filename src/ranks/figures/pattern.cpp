#include "ranks/figures/pattern.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "ranks/figures/rules.h"

namespace perflab::ranks {
namespace {

/// Work and lateness are compared from so many pairs on.
constexpr std::uint64_t kFewestPairs = 8;

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

/// Nothing has no parts.
std::optional<double> known_share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? std::optional(share(part, whole)) : std::nullopt;
}

/// The rank with the most delay.
RankIndex most_delay(const Figures& figures) {
  const auto top = std::ranges::max_element(
      figures.ranks, {}, [](const RankFigures& rank) { return rank.delay_caused.value; });
  return static_cast<RankIndex>(top - figures.ranks.begin());
}

}  // namespace

std::string_view name(Pattern pattern) {
  static constexpr std::array<std::string_view, 5> kNames = {"persistent", "by_node", "imbalance",
                                                             "rotating", "undecided"};
  return kNames[static_cast<std::size_t>(pattern)];
}

std::string_view name(PatternDoubt doubt) {
  static constexpr std::array<std::string_view, 5> kNames = {"none", "few_operations", "clocks",
                                                             "within_error", "no_rule"};
  return kNames[static_cast<std::size_t>(doubt)];
}

PatternFinder::PatternFinder(std::span<const RankSummary> ranks)
    : ranks_(ranks), expected_(ranks.size()), variance_(ranks.size()) {}

void PatternFinder::add(const OperationFigures& figures, std::span<const std::int64_t> busy) {
  std::vector<std::pair<double, double>> pairs;  // work, lateness
  const auto count = static_cast<double>(figures.members.size());
  double work_mean = 0, late_mean = 0;
  bool judged = false;
  for (std::size_t i = 0; i < figures.members.size(); ++i) {
    const MemberFigures& member = figures.members[i];
    if (figures.last) {
      expected_[member.rank] += 1 / count;
      variance_[member.rank] += 1 / count * (1 - 1 / count);
    }
    const auto wait = OperationFigures::wait(member);
    if (!wait) continue;
    judged = true;
    wait_ += wait->value;
    if (figures.last) decided_wait_ += wait->value;
    if (busy.empty()) continue;
    pairs.emplace_back(static_cast<double>(busy[i]), -static_cast<double>(wait->value));
    work_mean += pairs.back().first;
    late_mean += pairs.back().second;
  }
  judged_ += judged ? 1 : 0;
  if (pairs.size() < 2) return;
  work_mean /= static_cast<double>(pairs.size());
  late_mean /= static_cast<double>(pairs.size());
  for (const auto& [work, late] : pairs) {
    work_square_ += (work - work_mean) * (work - work_mean);
    late_square_ += (late - late_mean) * (late - late_mean);
    work_late_ += (work - work_mean) * (late - late_mean);
  }
  pairs_ += pairs.size();
}

void PatternFinder::find_correlation(PatternFigures& out) const {
  if (pairs_ < kFewestPairs || !(work_square_ > 0) || !(late_square_ > 0)) return;
  out.correlation = work_late_ / std::sqrt(work_square_ * late_square_);
  out.slope = work_late_ / work_square_;
}

bool PatternFinder::persistent(const Figures& figures, PatternFigures& out) const {
  const double least =
      figures.ranks.size() == 2 ? rules::kPersistentShareOfTwo : rules::kPersistentShare;
  if (out.delay_share.value_or(0) < least || out.last_share.value_or(0) < least) return false;
  out.rank = most_delay(figures);
  return true;
}

bool PatternFinder::by_node(const Figures& figures, PatternFigures& out) const {
  struct OfNode {
    std::int64_t delay = 0;
    std::uint64_t last = 0;
    double ranks = 0;
  };
  std::map<std::string, OfNode> nodes;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const RankIdentity& identity = ranks_[rank].identity;
    OfNode& node = nodes[identity.hostname.empty() ? identity.machine_id : identity.hostname];
    node.delay += figures.ranks[rank].delay_caused.value;
    node.last += figures.ranks[rank].last;
    node.ranks += 1;
  }
  if (nodes.size() < 2) return false;
  const auto top =
      std::ranges::max_element(nodes, {}, [](const auto& node) { return node.second.delay; });
  const double delay = share(top->second.delay, figures.delay.value);
  const double even = top->second.ranks / static_cast<double>(ranks_.size());
  if (top->second.ranks < 2 || top->first.empty() || delay < rules::kNodeShare ||
      delay < std::min(1.0, rules::kNodeTimesEven * even))
    return false;
  out.node = top->first;
  out.delay_share = delay;
  out.last_share = known_share(static_cast<std::int64_t>(top->second.last),
                               static_cast<std::int64_t>(figures.decided));
  return true;
}

bool PatternFinder::rotating(const Figures& figures) const {
  for (std::size_t rank = 0; rank < figures.ranks.size(); ++rank) {
    const double beyond = static_cast<double>(figures.ranks[rank].last) - expected_[rank];
    if (beyond > rules::kRotatingDeviations * std::sqrt(variance_[rank])) return false;
  }
  return true;
}

PatternFigures PatternFinder::pattern(const Figures& figures) const {
  PatternFigures out;
  find_correlation(out);
  const RankFigures& most = figures.ranks[most_delay(figures)];
  out.delay_share = known_share(most.delay_caused.value, figures.delay.value);
  out.last_share =
      known_share(static_cast<std::int64_t>(most.last), static_cast<std::int64_t>(figures.decided));
  const auto undecided = [&](PatternDoubt doubt) {
    out.doubt = doubt;
    return out;
  };
  const bool open = share(decided_wait_, wait_) < rules::kLeastDecidedShare;
  if (figures.decided < rules::kFewestDecided) {
    if (judged_ < rules::kFewestDecided) return undecided(PatternDoubt::few_operations);
    if (figures.wait.value <= figures.wait.error) return undecided(PatternDoubt::within_error);
    return undecided(open ? PatternDoubt::clocks : PatternDoubt::few_operations);
  }
  if (open) return undecided(PatternDoubt::clocks);
  if (figures.delay.value <= figures.delay.error) return undecided(PatternDoubt::within_error);
  if (persistent(figures, out)) {
    out.pattern = Pattern::persistent;
  } else if (by_node(figures, out)) {
    out.pattern = Pattern::by_node;
  } else if (out.correlation && *out.correlation >= rules::kImbalanceCorrelation &&
             *out.slope >= rules::kImbalanceSlopeLow && *out.slope <= rules::kImbalanceSlopeHigh) {
    out.pattern = Pattern::imbalance;
  } else if (rotating(figures)) {
    out.pattern = Pattern::rotating;
  } else {
    return undecided(PatternDoubt::no_rule);
  }
  return out;
}

}  // namespace perflab::ranks
