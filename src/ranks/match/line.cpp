#include "ranks/match/line.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "stats/median.h"

namespace perflab::ranks {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr int kSteps = 80;  // of a bisection: beyond the precision of the slopes

// Where a concave function is greatest within [low, high].
double greatest(double low, double high, const std::function<double(double)>& of) {
  for (int step = 0; step < kSteps; ++step) {
    const double left = low + (high - low) / 3, right = high - (high - low) / 3;
    if (of(left) < of(right)) {
      low = left;
    } else {
      high = right;
    }
  }
  return (low + high) / 2;
}

// Between a place where the function is not below 0 and one where it may be: the last that is not.
double last_allowed(double good, double other, const std::function<double(double)>& of) {
  if (of(other) >= 0) return other;
  for (int step = 0; step < kSteps; ++step) {
    const double middle = (good + other) / 2;
    (of(middle) >= 0 ? good : other) = middle;
  }
  return good;
}

}  // namespace

Strip::Strip(std::span<const Bound> bounds) {
  std::vector<Bound> sorted;
  if (!std::is_sorted(bounds.begin(), bounds.end(),
                      [](const Bound& l, const Bound& r) { return l.t < r.t; })) {
    sorted.assign(bounds.begin(), bounds.end());
    std::sort(sorted.begin(), sorted.end(),
              [](const Bound& l, const Bound& r) { return l.t < r.t; });
    bounds = sorted;
  }
  // Andrew's monotone chain, of the lower side of the points above (sign 1) and the upper side of
  // those below (sign -1).
  const auto add = [](std::vector<Point>& hull, Point point, double sign) {
    if (!hull.empty() && hull.back().t == point.t) {
      if (sign * point.y >= sign * hull.back().y) return;
      hull.pop_back();
    }
    while (hull.size() > 1) {
      const Point& one = hull[hull.size() - 2];
      const Point& two = hull.back();
      const double turn = (two.t - one.t) * (point.y - one.y) - (two.y - one.y) * (point.t - one.t);
      if (sign * turn > 0) break;
      hull.pop_back();
    }
    hull.push_back(point);
  };
  for (const Bound& bound : bounds) {
    if (bound.high < kInfinite) add(above_, {bound.t, bound.high}, 1);
    if (bound.low > -kInfinite) add(below_, {bound.t, bound.low}, -1);
  }
  solve();
}

double Strip::high_for(double slope) const {
  double least = kInfinite;
  for (const Point& point : above_) least = std::min(least, point.y - slope * point.t);
  return least;
}

double Strip::low_for(double slope) const {
  double most = -kInfinite;
  for (const Point& point : below_) most = std::max(most, point.y - slope * point.t);
  return most;
}

void Strip::widen(double by) {
  for (Point& point : above_) point.y += by;
  for (Point& point : below_) point.y -= by;
  solve();
}

void Strip::solve() {
  least_ = -kSteepest;
  most_ = kSteepest;
  slack_ = kInfinite;
  if (above_.empty() || below_.empty()) return;
  const auto of = [this](double slope) { return room(slope); };
  best_ = greatest(-kSteepest, kSteepest, of);
  slack_ = room(best_);
  if (slack_ < 0) return;
  least_ = last_allowed(best_, -kSteepest, of);
  most_ = last_allowed(best_, kSteepest, of);
}

double Strip::high(double t) const {
  if (above_.empty()) return kInfinite;
  const auto of = [&](double slope) { return high_for(slope) + slope * t; };
  const double slope = greatest(least_, most_, of);
  return std::max({of(slope), of(least_), of(most_)});
}

double Strip::low(double t) const {
  if (below_.empty()) return -kInfinite;
  const auto of = [&](double slope) { return -(low_for(slope) + slope * t); };
  const double slope = greatest(least_, most_, of);
  return -std::max({of(slope), of(least_), of(most_)});
}

std::optional<Line> line_through(std::span<const Seen> points) {
  if (points.empty()) return std::nullopt;
  Line line;
  const std::size_t half = points.size() / 2;
  std::vector<double> values;
  for (std::size_t i = 0; i + half < points.size() && points.size() > 3; ++i) {
    const double run = points[i + half].t - points[i].t;
    if (run > 0) values.push_back((points[i + half].difference - points[i].difference) / run);
  }
  if (!values.empty()) line.b = std::clamp(stats::upper_median(values), -kSteepest, kSteepest);
  values.clear();
  for (const Seen& point : points) values.push_back(point.difference - line.b * point.t);
  line.a = stats::upper_median(values);
  for (double& value : values) value = std::abs(value - line.a);
  line.spread = stats::upper_median(values);
  return line;
}

}  // namespace perflab::ranks
