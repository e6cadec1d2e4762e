// Lines through differences of two clocks: which lines all bounds allow, and the one that fits
// best. Method: a line between two sets of points (Moon, Skelly, Towsley, INFOCOM 1999; hulls:
// Zhang, Liu, Xia, INFOCOM 2002); the slope is that of Theil and Sen, of pairs half the points
// apart.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace perflab::ranks {

/// Clocks that differ by more than this in rate are no clocks, ns per ns.
inline constexpr double kSteepest = 200e-6;

/// At `t`, the difference of two clocks is within [low, high]; infinite where nothing is known.
struct Bound {
  double t = 0, low = 0, high = 0;
};

/// The lines a + b t that keep all bounds.
class Strip {
 public:
  /// Keeps only what matters of the bounds; O(n log n), O(n) when `t` ascends.
  explicit Strip(std::span<const Bound> bounds);
  /// How far apart the nearest bounds are on the best line, ns; below 0: no line keeps them all.
  [[nodiscard]] double slack() const { return slack_; }
  /// Moves every bound outwards, ns.
  void widen(double by);
  /// Slopes of the lines that keep the bounds: both ends. Needs slack() >= 0.
  [[nodiscard]] double least_slope() const { return least_; }
  [[nodiscard]] double most_slope() const { return most_; }
  /// The least and most a + b t of all such lines; infinite without bounds.
  [[nodiscard]] double low(double t) const;
  [[nodiscard]] double high(double t) const;
  /// What a may be for a slope.
  [[nodiscard]] double low_for(double slope) const;
  [[nodiscard]] double high_for(double slope) const;

 private:
  struct Point {
    double t = 0, y = 0;
  };
  void solve();
  [[nodiscard]] double room(double slope) const { return high_for(slope) - low_for(slope); }
  std::vector<Point> above_, below_;  // hulls: lines pass below `above_` and above `below_`
  double slack_ = 0, least_ = -kSteepest, most_ = kSteepest, best_ = 0;
};

/// A difference of two clocks as it was seen.
struct Seen {
  double t = 0, difference = 0;
};

struct Line {
  double a = 0, b = 0;
  double spread = 0;  ///< median distance of the points from it, ns
};

/// The line through points of ascending `t`. Nullopt: no point.
std::optional<Line> line_through(std::span<const Seen> points);

}  // namespace perflab::ranks
