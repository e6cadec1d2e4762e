// Lags and own work of a recorded graph; formulas in graph.h.
#include "analyze/critical_path/bindings.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace perflab::analyze {
namespace {

/// A median in bounded memory: of few values that of all, of many that of a fair draw. The draw
/// hashes positions, since taking every n-th would fall in step with streams taken in turn.
class MedianSample {
 public:
  void add(std::int64_t value) {
    const std::uint64_t place = seen_++;
    if (mask_ != 0 && (SplitMix64(place).next() & mask_) != 0) return;
    values_.push_back(value);
    if (values_.size() == kMost) thin();
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }
  /// The lower median. Reorders the sample.
  std::int64_t median() {
    const auto middle = values_.begin() + static_cast<std::ptrdiff_t>((values_.size() - 1) / 2);
    std::ranges::nth_element(values_, middle);
    return *middle;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 19;

  void thin() {
    mask_ = mask_ * 2 + 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values_.size(); ++i)
      if ((SplitMix64(i ^ (mask_ << 32)).next() & 1) == 0) values_[kept++] = values_[i];
    values_.resize(kept);
  }

  std::vector<std::int64_t> values_;
  std::uint64_t seen_ = 0, mask_ = 0;
};

/// What is gathered about one rule.
struct RuleDistances {
  MedianSample binding;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
};

/// Rules that take about the same time, because the same mechanism is behind them: a rule that
/// never binds borrows from its kin.
enum class Kin : std::uint8_t { host, launch, behind_work, beside_work, wait, count };

Kin kin_of(EdgeRule rule) {
  if (rule == EdgeRule::program_order) return Kin::host;
  if (is_launch(rule)) return Kin::launch;
  if (info(rule).to == NodeEvent::end) return Kin::wait;
  return info(rule).from == NodeEvent::end ? Kin::behind_work : Kin::beside_work;
}

}  // namespace

void measure_usual_lags(Graph& graph) {
  const EdgeView edges(graph);
  std::array<RuleDistances, kEdgeRules> rules;
  std::array<MedianSample, static_cast<std::size_t>(Kin::count)> kin;
  MedianSample sync_calls;
  const auto nodes = static_cast<NodeId>(graph.size());
  for (NodeId node = 0; node < nodes; ++node) {
    const BoundEdges binding = edges.binding(node);
    bool can_wait = false;
    for (std::uint32_t edge = edges.first(node); edge < edges.last(node); ++edge) {
      RuleDistances& rule = rules[static_cast<std::size_t>(graph.rule[edge])];
      const std::int64_t distance = edges.distance(node, edge);
      rule.least = std::min(rule.least, distance);
      if (edge == binding.start || edge == binding.end) {
        rule.binding.add(distance);
        kin[static_cast<std::size_t>(kin_of(graph.rule[edge]))].add(distance);
      }
      can_wait = can_wait || edges.into_end(edge);
    }
    if (can_wait && binding.end == kNoEdge) sync_calls.add(graph.end[node] - graph.start[node]);
  }
  for (std::size_t rule = 0; rule < kEdgeRules; ++rule) {
    RuleDistances& found = rules[rule];
    MedianSample& like_it = kin[static_cast<std::size_t>(kin_of(static_cast<EdgeRule>(rule)))];
    if (!found.binding.empty())
      graph.usual_lag[rule] = found.binding.median();
    else if (!like_it.empty())
      graph.usual_lag[rule] = std::min(found.least, like_it.median());  // unused rules: kin's
    else
      graph.usual_lag[rule] = 0;
  }
  graph.usual_sync_call = sync_calls.empty() ? 0 : sync_calls.median();
}

}  // namespace perflab::analyze
