// Two objectives only: a sweep by the first one does all of it.
#include "tune/run/front.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace perflab::tune {

std::optional<Losses> losses_of(double value, std::span<const std::optional<double>> metrics,
                                const Objective& objective) {
  const std::size_t second = second_objective(objective.metrics);
  if (second >= metrics.size() || !metrics[second]) return std::nullopt;
  return Losses{objective.maximize ? -value : value,
                objective.metrics[second].maximize ? -*metrics[second] : *metrics[second]};
}

std::vector<std::size_t> pareto_front(std::span<const Losses> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return points[i]; });
  std::vector<std::size_t> front;
  double least = std::numeric_limits<double>::infinity();
  for (const std::size_t i : order) {
    if (points[i][1] >= least) continue;
    least = points[i][1];
    front.push_back(i);
  }
  return front;
}

double hypervolume(std::span<const Losses> points, const Losses& reference) {
  double area = 0, above = reference[1];
  for (const std::size_t i : pareto_front(points)) {
    const Losses& point = points[i];
    if (point[0] >= reference[0] || point[1] >= above) continue;
    area += (reference[0] - point[0]) * (above - point[1]);
    above = point[1];
  }
  return area;
}

Losses reference_of(std::span<const Losses> front) {
  constexpr double kBeyond = 0.1;
  Losses reference{};
  for (std::size_t axis = 0; axis < reference.size(); ++axis) {
    double least = front.front()[axis], most = least;
    for (const Losses& point : front) {
      least = std::min(least, point[axis]);
      most = std::max(most, point[axis]);
    }
    // A front of one point has no range: a tenth of the value stands for it.
    const double range = most > least ? most - least : std::abs(most);
    reference[axis] = most + (range > 0 ? kBeyond * range : 1);
  }
  return reference;
}

namespace {

std::vector<Losses> points_of(std::span<const Losses> points) {
  std::vector<Losses> front;
  for (const std::size_t i : pareto_front(points)) front.push_back(points[i]);
  return front;
}

}  // namespace

std::optional<Front> front_of(std::span<const std::optional<Losses>> losses,
                              std::span<const Losses> recorded) {
  std::vector<Losses> points;
  std::vector<std::size_t> steps;
  for (std::size_t i = 0; i < losses.size(); ++i)
    if (losses[i]) {
      points.push_back(*losses[i]);
      steps.push_back(i);
    }
  if (points.empty()) return std::nullopt;
  Front front;
  for (const std::size_t i : pareto_front(points)) front.steps.push_back(steps[i]);
  const std::vector<Losses> known = points_of(recorded.empty() ? std::span(points) : recorded);
  front.reference = reference_of(known);
  front.ideal = {known.front()[0], known.back()[1]};
  const double whole =
      (front.reference[0] - front.ideal[0]) * (front.reference[1] - front.ideal[1]);
  std::vector<Losses> found;
  for (const std::optional<Losses>& one : losses) {
    if (one) {
      found.push_back(*one);
      found = points_of(found);
    }
    front.hypervolume.push_back(hypervolume(found, front.reference) / whole);
  }
  if (!recorded.empty())
    front.recorded = {.points = known.size(),
                      .hypervolume = hypervolume(known, front.reference) / whole};
  return front;
}

}  // namespace perflab::tune
