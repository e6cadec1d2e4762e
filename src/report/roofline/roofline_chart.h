// The roofline as lines and marks on logarithmic axes, for the terminal and for pages: nothing is
// left to compute for who draws it. Models: analyze/roofline/roofline.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analyze/roofline/roofline.h"
#include "base/text/json.h"

namespace perflab::report {

/// A place of a chart: x in FLOP/byte, y in GFLOP/s.
struct ChartPoint {
  double x = 0, y = 0;
};

/// From 10^low to 10^high.
struct ChartAxis {
  int low = 0, high = 0;
};

/// What a line of a chart stands for.
enum class RoofKind {
  memory,   ///< bandwidth of a level: GFLOP/s = GB/s x FLOP/byte
  compute,  ///< one pipe at one precision
  mix,      ///< one kernel's own mix of pipes and precisions
};

/// A straight line on logarithmic axes.
struct ChartRoof {
  RoofKind kind = RoofKind::memory;
  std::string name;   ///< "hbm"; "vector.fp32"; the kernel's letter
  std::string label;  ///< "memory 1.64 TB/s"
  double value = 0;   ///< in `unit`
  std::string unit;
  bool measured = false;              ///< not of the tables
  std::optional<std::size_t> kernel;  ///< of a mix: index into Roofline::kernels
  ChartPoint start, end;              ///< start.x < end.x
};

/// A kernel at one level.
struct ChartMark {
  std::size_t kernel = 0;  ///< index into Roofline::kernels
  std::string letter;      ///< the kernel's in this chart: A to Z, a to z, then numbers
  std::string level;       ///< "hbm", "l2", "lds"
  ChartPoint at;
  std::string label;
  std::string bound;  ///< at this level: "memory", "compute"; empty: not known
  std::optional<double> attainable_gflops;  ///< min(compute roof, bandwidth x intensity)
};

/// The chart of one GPU. Every line and mark lies within the axes.
struct Chart {
  std::string architecture, product;
  ChartAxis x, y;
  std::vector<ChartRoof> roofs;  ///< memory by level, compute from the top, mixes by kernel
  std::vector<ChartMark> marks;  ///< by kernel, then level
};

/// A kernel without a mark at memory, where charts in the terminal have theirs.
struct Unmarked {
  std::size_t kernel = 0;  ///< index into Roofline::kernels
  std::string reason;
};

struct RooflineCharts {
  std::vector<Chart> gpus;             ///< one per GPU with a mark, in the order of the kernels
  std::vector<Unmarked> without_mark;  ///< in the order of the kernels
};

/// Memory roofs of all levels with a ceiling, compute roofs of the pipes and precisions that a
/// marked kernel uses, and marks of all kernels with a rate and an intensity. Memory roofs end at
/// the highest compute roof, compute roofs begin at the highest memory roof. Kernels on different
/// GPUs (architecture and product) stand in charts of their own.
RooflineCharts roofline_charts(const analyze::Roofline& roofline);

/// The marks at memory ("hbm"), one per kernel: those that stand in a chart of FLOP per byte of
/// memory.
std::vector<const ChartMark*> memory_marks(const Chart& chart);

/// `chart` of roofline.json.
Json charts_json(const RooflineCharts& charts);

/// "12.3 TFLOP/s", "812 GB/s": a rate given in 1e9 of `unit` per second ("FLOP/s", "B/s"), with
/// three digits.
std::string rate_text(double giga, std::string_view unit);

}  // namespace perflab::report
