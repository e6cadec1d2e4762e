// The numbers that a command prints about itself, taken from its output while it comes.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text/pattern.h"

namespace perflab::tune {

/// Most samples that are taken of one run: the first ones.
inline constexpr std::size_t kMostSamplesOfARun = 10'000;

/// Compiles Objective::metric_pattern. Errors (usage): no regular expression, no group in it.
Result<Pattern> compile_metric_pattern(std::string_view text);

/// Cuts what a program prints into the blocks of lines that MetricScanner searches, per stream.
/// What is cut the same way finds the same matches.
class LineBlocks {
 public:
  /// Gets a block of 1 (stdout) or 2 (stderr), without the newline at its end; `ended`: there was
  /// one. Else it is the last line, or a piece of a line that is longer than 64 KiB.
  using Look = std::function<void(int stream, std::string_view block, bool ended)>;

  /// Bytes of stdout (1) or stderr (2).
  void feed(int stream, std::string_view bytes, const Look& look);
  /// What is left of both streams.
  void finish(const Look& look);

 private:
  std::array<std::string, 2> unfinished_;  ///< last line of each stream so far
};

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
  LineBlocks blocks_;
  Found found_;
};

}  // namespace perflab::tune
