// The numbers that a command prints about itself, taken from its output while it comes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/pattern.h"

namespace perflab::tune {

/// Most samples that are taken of one run: the first ones.
inline constexpr std::size_t kMostSamplesOfARun = 10'000;

/// Compiles Objective::metric_pattern. Errors (usage): no regular expression, no group in it.
Result<Pattern> compile_metric_pattern(std::string_view text);

/// Finds the first group of every match in the lines of both streams, in the order in which lines
/// end. A line that is longer than 64 KiB is taken as several.
class MetricScanner {
 public:
  explicit MetricScanner(const Pattern& pattern) : pattern_(pattern) {}

  /// Bytes of stdout (1) or stderr (2).
  void feed(int stream, std::string_view bytes);

  /// The samples; `problem` is empty, or says why there are none: nothing was found, or something
  /// that is no finite number.
  struct Found {
    std::vector<double> samples;
    std::string problem;
  };
  Found finish();

 private:
  void scan(std::string_view text);

  const Pattern& pattern_;
  std::array<std::string, 2> unfinished_;  ///< last line of each stream so far
  Found found_;
};

}  // namespace perflab::tune
