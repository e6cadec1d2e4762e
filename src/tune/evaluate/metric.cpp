// Whole lines are searched a block at a time: RE2 goes over text that does not match at the speed
// of memory, so that a program which prints without end is not slowed down by us.
#include "tune/evaluate/metric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/text/numbers.h"
#include "base/text/text.h"
#include "tune/evaluate/process_step.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kLongestMetricLine = std::size_t{64} << 10;

std::optional<double> metric_number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return finite_number(text);
}

}  // namespace

Result<Pattern> compile_metric_pattern(std::string_view text) {
  PERFLAB_TRY(Pattern pattern, Pattern::compile(text, PatternScope::lines));
  if (pattern.groups() == 0)
    return fail(ErrorCode::usage,
                fmt::format("the metric's pattern '{}' has no group that holds the number", text),
                "put the number in parentheses: 'time: ([0-9.]+) ms'");
  return pattern;
}

void LineBlocks::feed(int stream, std::string_view bytes, const Look& look) {
  std::string& unfinished = unfinished_[stream == 1 ? 0 : 1];
  const std::size_t newline = bytes.rfind('\n');
  if (newline != std::string_view::npos) {
    unfinished += bytes.substr(0, newline);
    look(stream, unfinished, true);
    unfinished = bytes.substr(newline + 1);
  } else {
    unfinished += bytes;
  }
  if (unfinished.size() > kLongestMetricLine) {
    look(stream, unfinished, false);
    unfinished.clear();
  }
}

void LineBlocks::finish(const Look& look) {
  for (int stream = 1; stream <= 2; ++stream) {
    look(stream, unfinished_[stream == 1 ? 0 : 1], false);
    unfinished_[stream == 1 ? 0 : 1].clear();
  }
}

void MetricScanner::feed(int stream, std::string_view bytes) {
  blocks_.feed(stream, bytes, [this](int, std::string_view block, bool) { scan(block); });
}

MetricScanner::Found MetricScanner::finish() {
  blocks_.finish([this](int, std::string_view block, bool) { scan(block); });
  if (found_.samples.empty() && found_.problem.empty())
    found_.problem =
        fmt::format("printed nothing that the metric's pattern '{}' finds", pattern_.text());
  if (!found_.problem.empty()) found_.samples.clear();
  return std::move(found_);
}

void MetricScanner::scan(std::string_view text) {
  if (found_.samples.size() >= kMostSamplesOfARun || !found_.problem.empty()) return;
  for (const std::string_view group :
       pattern_.first_groups(text, kMostSamplesOfARun - found_.samples.size())) {
    const std::optional<double> number = metric_number(group);
    if (!number) {
      found_.problem = fmt::format("printed '{}' where the metric's number was expected",
                                   one_line(group.substr(0, 80)));
      return;
    }
    found_.samples.push_back(*number);
  }
}

}  // namespace perflab::tune
