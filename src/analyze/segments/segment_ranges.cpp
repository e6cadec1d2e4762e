// Segments from user ranges (roctx): which of the texts names the phase that repeats.
#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyze/segments/segment_parts.h"

namespace perflab::analyze {
namespace {

using trace::Index;
using trace::kNone;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Length of the number that begins at `at` (a digit): "0x1f", "12", "0.5", "1e-05", "12:30".
std::size_t number_length(std::string_view text, std::size_t at) {
  std::size_t i = at;
  if (text[at] == '0' && at + 2 < text.size() && (text[at + 1] == 'x' || text[at + 1] == 'X') &&
      std::isxdigit(static_cast<unsigned char>(text[at + 2])) != 0) {
    i += 2;
    while (i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])) != 0) ++i;
    return i - at;
  }
  const auto skip = [&](std::string_view between) {
    while (true) {
      while (i < text.size() && is_digit(text[i])) ++i;
      const bool goes_on = i + 1 < text.size() && is_digit(text[i + 1]) &&
                           between.find(text[i]) != std::string_view::npos;
      if (!goes_on) return;
      ++i;
    }
  };
  skip(".,:");
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t sign =
        i + 1 < text.size() && (text[i + 1] == '-' || text[i + 1] == '+') ? 1 : 0;
    if (i + 1 + sign < text.size() && is_digit(text[i + 1 + sign])) {
      i += 1 + sign;
      skip("");
    }
  }
  return i - at;
}

/// Ranges of one thread with the same text but for numbers, none within another.
struct RangeGroup {
  std::string text;
  std::vector<Index> ranges;  ///< rows of trace.ranges, in order of time
  std::int64_t time = 0;      ///< of the dispatches in them
  std::int64_t length = 0;    ///< sum of their own lengths
  std::size_t filled = 0;     ///< how many hold a dispatch
};

struct Window {
  std::int64_t start = 0, end = 0;
};

/// A range's window on the host; an empty one still holds what begins with it.
Window window_of(const trace::Trace& trace, Index range) {
  const Index region = trace.ranges.region[range];
  const std::int64_t start = trace.regions.start[region];
  return {.start = start, .end = std::max(trace.regions.end[region], add_times(start, 1))};
}

class RangeGroups {
 public:
  RangeGroups(const trace::Trace& trace, Index process) : trace_(trace) {
    std::unordered_map<Index, std::string> texts;  // by message
    for (Index i = 0; i < trace.ranges.size(); ++i) {
      const Index thread = trace.regions.thread[trace.ranges.region[i]];
      if (thread == kNone || trace.threads[thread].process != process) continue;
      const auto [text, is_new] = texts.try_emplace(trace.ranges.message[i]);
      if (is_new) text->second = without_numbers(trace.strings.view(trace.ranges.message[i]));
      RangeGroup& group = groups_[{text->second, thread}];
      const Window window = window_of(trace, i);
      if (!group.ranges.empty() && window.start < window_of(trace, group.ranges.back()).end)
        continue;
      group.text = text->second;
      group.length += window.end - window.start;
      group.ranges.push_back(i);
    }
  }

  /// The group that holds the most dispatch time; of equal ones the outermost.
  const RangeGroup* best(const OrderedWork& work, bool most) {
    std::vector<std::int64_t> time(work.key.size() + 1, 0);
    for (std::size_t i = 0; i < work.key.size(); ++i)
      time[i + 1] = add_times(time[i], duration(work.dispatch[i]));
    const auto rank = [](const RangeGroup& group) {
      return std::tuple(group.time, -static_cast<std::int64_t>(group.ranges.size()), group.length);
    };
    const RangeGroup* best = nullptr;
    for (auto& [key, group] : groups_) {
      for (const Index range : group.ranges) {
        const Window window = window_of(trace_, range);
        const auto from = std::ranges::lower_bound(work.key, window.start) - work.key.begin();
        const auto to = std::ranges::lower_bound(work.key, window.end) - work.key.begin();
        group.time += time[static_cast<std::size_t>(to)] - time[static_cast<std::size_t>(from)];
        group.filled += to > from ? 1 : 0;
      }
      if (group.filled < 2 || group.ranges.size() > kMostSegments) continue;
      if (most && group.time <= time.back() / 2) continue;
      if (best == nullptr || rank(group) > rank(*best)) best = &group;
    }
    return best;
  }

 private:
  [[nodiscard]] std::int64_t duration(Index dispatch) const {
    return trace_.dispatches.end[dispatch] - trace_.dispatches.start[dispatch];
  }

  const trace::Trace& trace_;
  std::map<std::pair<std::string, Index>, RangeGroup> groups_;  ///< by text and thread
};

}  // namespace

std::string without_numbers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_digit(text[i])) {
      out += text[i++];
      continue;
    }
    // A sign belongs to the number unless it joins words, as in "step-3".
    if (!out.empty() && (out.back() == '-' || out.back() == '+') &&
        (out.size() == 1 || std::isalnum(static_cast<unsigned char>(out[out.size() - 2])) == 0))
      out.pop_back();
    i += number_length(text, i);
    out += '#';
  }
  return out;
}

std::optional<Segments> segments_of_ranges(const trace::Trace& trace, Index process,
                                           const OrderedWork& work, bool most) {
  if (trace.ranges.size() == 0) return std::nullopt;
  RangeGroups groups(trace, process);
  const RangeGroup* const group = groups.best(work, most);
  if (group == nullptr) return std::nullopt;
  Segments segments;
  segments.source = Segments::Source::ranges;
  segments.process = process;
  segments.pattern = group->text;
  segments.of_dispatch.assign(trace.dispatches.size(), kNone);
  segments.of_copy.assign(trace.copies.size(), kNone);
  std::vector<std::pair<std::int64_t, Index>> copies;  // by time on the host
  for (const Index i : copies_of(trace, process))
    copies.emplace_back(host_time(trace, trace.copies.launch[i], trace.copies.start[i]), i);
  std::ranges::sort(copies);
  for (const Index range : group->ranges) {
    const auto [start, end] = window_of(trace, range);
    const auto index = static_cast<Index>(segments.segments.size());
    for (auto k =
             static_cast<std::size_t>(std::ranges::lower_bound(work.key, start) - work.key.begin());
         k < work.key.size() && work.key[k] < end; ++k)
      segments.of_dispatch[work.dispatch[k]] = index;
    for (auto it = std::ranges::lower_bound(copies, std::pair(start, Index{0}));
         it != copies.end() && it->first < end; ++it)
      segments.of_copy[it->second] = index;
    Segment segment;
    segment.label = trace.strings.view(trace.ranges.message[range]);
    segment.host_start = start;
    segment.host_end = end;
    segments.segments.push_back(std::move(segment));
  }
  return segments;
}

}  // namespace perflab::analyze
