// What a program prints while it runs, as far as it counts: stdout as it is compared, and the lines
// that the metric's pattern takes. Those are left out of what is compared and decide who is faster,
// so that no candidate may add to them, take from them or move them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/pattern.h"
#include "tune/evaluate/metric.h"

namespace perflab::optimize {

/// Most bytes of stdout that are compared; what prints more has to be compared by its files.
inline constexpr std::size_t kMostComparedText = std::size_t{64} << 20U;
/// Most bytes of lines with the metric that are kept of a run; later ones are counted only.
inline constexpr std::size_t kMostMetricText = std::size_t{16} << 20U;

/// A line in which the metric's pattern is found.
struct MetricLine {
  std::uint64_t number = 0;  ///< of the line in its stream, from 1
  std::string text;          ///< "<number>" stands for each number that is taken
};

/// What the metric's pattern takes of one run.
struct MetricLines {
  struct Stream {
    std::uint64_t lines = 0;         ///< that were printed, with and without the metric
    std::vector<MetricLine> metric;  ///< in order
  };
  std::uint64_t matches = 0;        ///< in both streams
  std::array<Stream, 2> streams{};  ///< stdout, stderr
};

/// What of these lines two runs of the original have in common, and every other run has to have.
struct MetricDemand {
  bool count = true;   ///< how often the pattern is found
  bool words = true;   ///< the text around, without its numbers: other figures may depend on time
  bool places = true;  ///< which lines of the stream they are, of how many
};

/// A demand that two runs of the original meet.
MetricDemand repeated_by(const MetricLines& first, const MetricLines& second);
/// The part that the two runs do not repeat, as a sentence for a check; empty: they repeat it all.
std::string not_repeated(const MetricLines& first, const MetricLines& second);
/// The first demand that a run does not meet, as a sentence; empty: it meets all.
std::string metric_difference(const MetricLines& expected, const MetricLines& found,
                              const MetricDemand& demand);

/// Text as it is compared: without the lines in which the pattern is found.
std::string without_lines(std::string_view text, const Pattern* pattern);

/// What one run printed.
struct Printed {
  std::string text;       ///< stdout without the lines with the metric
  bool too_much = false;  ///< more than kMostComparedText: `text` is a part of it
  MetricLines metric;
};

/// Collects what runs print, one after the other.
class RunPrints {
 public:
  /// `metric`: its lines do not count as text; nullptr: none. It has to outlive this.
  /// `keeps_text`: stdout is compared.
  RunPrints(const Pattern* metric, bool keeps_text) : metric_(metric), keeps_text_(keeps_text) {}

  /// Bytes of stdout (1) or stderr (2).
  void feed(int stream, std::string_view bytes);
  /// What was printed since the last call.
  Printed take();

 private:
  void look(int stream, std::string_view block, bool ended);
  void add_lines(MetricLines::Stream& stream, std::string_view block,
                 const std::vector<std::string_view>& groups);

  const Pattern* metric_;
  bool keeps_text_;
  Printed now_;
  tune::LineBlocks blocks_;
  std::array<bool, 2> open_{};  ///< a line of the stream has begun, and not ended
  std::size_t recorded_ = 0;    ///< bytes of lines with the metric
};

}  // namespace perflab::optimize
