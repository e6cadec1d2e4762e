// Lines are cut as tune's MetricScanner cuts them: what is counted here is what is taken there.
#include "optimize/workshop/command_prints.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tune/evaluate/process_step.h"

namespace perflab::optimize {
namespace {

constexpr std::string_view kTakenNumber = "<number>";
constexpr std::array<std::string_view, 2> kStreamNames{"stdout", "stderr"};

bool is_digit_of_text(char c) {
  return c >= '0' && c <= '9';
}

/// Every number, and the blanks and the sign before it, become one '#': widths change with values.
std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_digit_of_text(text[at])) {
      out += text[at++];
      continue;
    }
    while (at < text.size() && (is_digit_of_text(text[at]) || text[at] == '.')) ++at;
    // An exponent: e-07.
    std::size_t exponent = at;
    if (exponent < text.size() && (text[exponent] == 'e' || text[exponent] == 'E')) ++exponent;
    if (exponent > at && exponent < text.size() && (text[exponent] == '-' || text[exponent] == '+'))
      ++exponent;
    if (exponent > at && exponent < text.size() && is_digit_of_text(text[exponent]))
      while (exponent < text.size() && is_digit_of_text(text[exponent])) at = ++exponent;
    while (!out.empty() && std::string_view(" \t-+.").find(out.back()) != std::string_view::npos)
      out.pop_back();
    out += '#';
  }
  return out;
}

std::string counted_times(std::uint64_t count) {
  return fmt::format("{} time{}", count, count == 1 ? "" : "s");
}

/// The first line with the metric that is another one; empty: none is.
std::string text_difference(const MetricLines& expected, const MetricLines& found) {
  const auto same = [](const MetricLine& a, const MetricLine& b) {
    return without_numbers(a.text) == without_numbers(b.text);
  };
  for (std::size_t stream = 0; stream < kStreamNames.size(); ++stream) {
    const auto& wanted = expected.streams[stream].metric;
    const auto& got = found.streams[stream].metric;
    const auto differ = std::ranges::mismatch(wanted, got, same);
    if (differ.in1 != wanted.end() && differ.in2 != got.end())
      return fmt::format("the metric is in '{}' on {}, and the original prints '{}'",
                         tune::one_line(differ.in2->text), kStreamNames[stream],
                         tune::one_line(differ.in1->text));
    if (wanted.size() != got.size())
      return fmt::format("the metric is in {} lines of {}, and in {} of the original's", got.size(),
                         kStreamNames[stream], wanted.size());
  }
  return {};
}

/// The first line with the metric that stands elsewhere, or lines more or less than there should
/// be in a stream with the metric; empty: none.
std::string place_difference(const MetricLines& expected, const MetricLines& found) {
  for (std::size_t stream = 0; stream < kStreamNames.size(); ++stream) {
    const MetricLines::Stream& wanted = expected.streams[stream];
    const MetricLines::Stream& got = found.streams[stream];
    if (wanted.metric.empty() && got.metric.empty()) continue;
    const auto differ = std::ranges::mismatch(wanted.metric, got.metric, {}, &MetricLine::number,
                                              &MetricLine::number);
    if (differ.in1 != wanted.metric.end() && differ.in2 != got.metric.end())
      return fmt::format("the metric is in line {} of {}, and in line {} of the original's",
                         differ.in2->number, kStreamNames[stream], differ.in1->number);
    if (wanted.lines != got.lines || wanted.metric.size() != got.metric.size())
      return fmt::format(
          "it prints {} lines to {}, where the metric is, and the original prints {}", got.lines,
          kStreamNames[stream], wanted.lines);
  }
  return {};
}

}  // namespace

MetricDemand repeated_by(const MetricLines& first, const MetricLines& second) {
  MetricDemand demand;
  demand.count = first.matches == second.matches;
  demand.words = demand.count && text_difference(first, second).empty();
  demand.places = demand.count && place_difference(first, second).empty();
  return demand;
}

std::string not_repeated(const MetricLines& first, const MetricLines& second) {
  const MetricDemand demand = repeated_by(first, second);
  if (!demand.count)
    return fmt::format(
        "how often the metric pattern is found is not compared: {} in one run of the original, "
        "{} in another",
        counted_times(first.matches), counted_times(second.matches));
  if (!demand.words)
    return "the text around the metric is not compared: it is another one in each run of the "
           "original";
  if (!demand.places)
    return "where the metric is found is not compared: it is another line in each run of the "
           "original";
  return {};
}

std::string metric_difference(const MetricLines& expected, const MetricLines& found,
                              const MetricDemand& demand) {
  if (demand.count && found.matches != expected.matches)
    return fmt::format(
        "the metric pattern is found {} in what it prints, and {} in what the original prints",
        counted_times(found.matches), counted_times(expected.matches));
  std::string difference;
  if (demand.words) difference = text_difference(expected, found);
  if (difference.empty() && demand.places) difference = place_difference(expected, found);
  return difference;
}

std::string without_lines(std::string_view text, const Pattern* pattern) {
  if (pattern == nullptr) return std::string(text);
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const std::size_t whole = end == std::string_view::npos ? text.size() : end + 1;
    if (!pattern->found_in(line)) kept += text.substr(0, whole);
    text.remove_prefix(whole);
  }
  return kept;
}

void RunPrints::feed(int stream, std::string_view bytes) {
  if (keeps_text_ && stream == 1) {
    now_.too_much = now_.too_much || bytes.size() > kMostComparedText - now_.text.size();
    if (!now_.too_much) now_.text += bytes;
  }
  if (metric_ != nullptr)
    blocks_.feed(stream, bytes,
                 [this](int one, std::string_view block, bool ended) { look(one, block, ended); });
}

void RunPrints::look(int stream, std::string_view block, bool ended) {
  const std::size_t index = stream == 1 ? 0 : 1;
  MetricLines::Stream& lines = now_.metric.streams[index];
  const std::vector<std::string_view> groups = metric_->first_groups(block);
  now_.metric.matches += groups.size();
  if (!groups.empty()) add_lines(lines, block, groups);
  lines.lines += static_cast<std::uint64_t>(std::ranges::count(block, '\n')) + (ended ? 1 : 0);
  if (ended || !block.empty()) open_[index] = !ended;
}

void RunPrints::add_lines(MetricLines::Stream& stream, std::string_view block,
                          const std::vector<std::string_view>& groups) {
  std::uint64_t number = stream.lines + 1;
  std::size_t begin = 0;
  const auto end_of = [&] { return std::min(block.find('\n', begin), block.size()); };
  for (auto group = groups.begin(); group != groups.end() && recorded_ < kMostMetricText;) {
    // A group that took no part has no place; the scanner fails with it.
    const auto place = [&] { return static_cast<std::size_t>(group->data() - block.data()); };
    if (group->data() == nullptr) {
      ++group;
      continue;
    }
    for (; end_of() < place(); ++number) begin = end_of() + 1;
    const std::size_t end = end_of();
    MetricLine line{.number = number, .text = {}};
    for (; group != groups.end() && (group->data() == nullptr || place() <= end); ++group) {
      if (group->data() == nullptr) continue;
      (line.text += block.substr(begin, place() - begin)) += kTakenNumber;
      begin = place() + group->size();
    }
    line.text += block.substr(begin, end - begin);
    recorded_ += line.text.size() + sizeof(MetricLine);
    stream.metric.push_back(std::move(line));
  }
}

Printed RunPrints::take() {
  if (metric_ != nullptr)
    blocks_.finish(
        [this](int one, std::string_view block, bool ended) { look(one, block, ended); });
  for (std::size_t index = 0; index < open_.size(); ++index)
    now_.metric.streams[index].lines += std::exchange(open_[index], false) ? 1U : 0U;
  now_.text = without_lines(now_.text, metric_);
  recorded_ = 0;
  return std::exchange(now_, {});
}

}  // namespace perflab::optimize
