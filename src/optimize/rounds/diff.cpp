// Shortest edit script over lines, then hunks with context.
#include "optimize/rounds/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace perflab::optimize {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::int64_t kMostEdits = 4000, kContext = 3;

Lines lines_with_ends(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// ' ' kept, '-' removed, '+' added; the numbers of the lines that it is at.
struct Edit {
  char kind = ' ';
  std::int64_t before = 0, after = 0;
};

/// Walks the recorded frontiers back from the end.
std::vector<Edit> walk_back(const std::vector<std::vector<std::int64_t>>& frontiers, std::int64_t x,
                            std::int64_t y) {
  std::vector<Edit> edits;
  for (auto d = static_cast<std::int64_t>(frontiers.size()) - 1; d >= 0; --d) {
    const std::vector<std::int64_t>& frontier = frontiers[static_cast<std::size_t>(d)];
    const auto at = [&](std::int64_t k) {
      return frontier[static_cast<std::size_t>(k + static_cast<std::int64_t>(frontier.size()) / 2)];
    };
    const std::int64_t k = x - y;
    const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
    const std::int64_t from_k = down ? k + 1 : k - 1;
    const std::int64_t from_x = d == 0 ? 0 : at(from_k);
    const std::int64_t from_y = d == 0 ? 0 : from_x - from_k;
    while (x > from_x && y > from_y) edits.push_back({' ', --x, --y});
    if (d == 0) break;
    if (down)
      edits.push_back({'+', x, --y});
    else
      edits.push_back({'-', --x, y});
  }
  std::ranges::reverse(edits);
  return edits;
}

std::vector<Edit> all_replaced(std::int64_t before, std::int64_t after) {
  std::vector<Edit> edits;
  for (std::int64_t x = 0; x < before; ++x) edits.push_back({'-', x, 0});
  for (std::int64_t y = 0; y < after; ++y) edits.push_back({'+', before, y});
  return edits;
}

std::vector<Edit> edit_script(const Lines& before, const Lines& after) {
  const auto n = static_cast<std::int64_t>(before.size());
  const auto m = static_cast<std::int64_t>(after.size());
  std::vector<std::vector<std::int64_t>> frontiers;
  std::vector<std::int64_t> now(3, 0);  // for k of -1 to 1
  for (std::int64_t d = 0; d <= std::min(n + m, kMostEdits); ++d) {
    frontiers.push_back(now);
    std::vector<std::int64_t> next(static_cast<std::size_t>(2 * d + 5), 0);
    const auto old = [&](std::int64_t k) {
      return now[static_cast<std::size_t>(k + static_cast<std::int64_t>(now.size()) / 2)];
    };
    for (std::int64_t k = -d; k <= d; k += 2) {
      std::int64_t x = 0;
      if (d > 0) x = k == -d || (k != d && old(k - 1) < old(k + 1)) ? old(k + 1) : old(k - 1) + 1;
      std::int64_t y = x - k;
      while (x < n && y < m &&
             before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(y)]) {
        ++x;
        ++y;
      }
      next[static_cast<std::size_t>(k + static_cast<std::int64_t>(next.size()) / 2)] = x;
      if (x >= n && y >= m) return walk_back(frontiers, n, m);
    }
    now = std::move(next);
  }
  return all_replaced(n, m);
}

void append_line(std::string& out, char kind, std::string_view line) {
  out += kind;
  out += line;
  if (line.empty() || line.back() != '\n') out += "\n\\ No newline at end of file\n";
}

/// "12,3": first line from 1 (0 of none) and how many.
std::string range_text(std::int64_t first, std::int64_t count) {
  const std::int64_t shown = count == 0 ? first : first + 1;
  return count == 1 ? fmt::format("{}", shown) : fmt::format("{},{}", shown, count);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after,
                         std::string_view name_before, std::string_view name_after) {
  if (before == after) return {};
  const Lines lines_before = lines_with_ends(before), lines_after = lines_with_ends(after);
  const std::vector<Edit> edits = edit_script(lines_before, lines_after);
  std::string out = fmt::format("--- {}\n+++ {}\n", name_before, name_after);
  const auto count = static_cast<std::int64_t>(edits.size());
  const auto edit = [&](std::int64_t i) -> const Edit& {
    return edits[static_cast<std::size_t>(i)];
  };
  for (std::int64_t i = 0; i < count;) {
    if (edit(i).kind == ' ') {
      ++i;
      continue;
    }
    const std::int64_t begin = std::max<std::int64_t>(0, i - kContext);
    std::int64_t last = i;  // the last change of the hunk
    for (std::int64_t j = i; j < count && j - last <= 2 * kContext; ++j)
      if (edit(j).kind != ' ') last = j;
    const std::int64_t end = std::min(count, last + 1 + kContext);
    std::string body;
    std::int64_t removed = 0, added = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      const Edit& one = edit(j);
      removed += one.kind != '+' ? 1 : 0;
      added += one.kind != '-' ? 1 : 0;
      append_line(body, one.kind,
                  one.kind == '+' ? lines_after[static_cast<std::size_t>(one.after)]
                                  : lines_before[static_cast<std::size_t>(one.before)]);
    }
    out += fmt::format("@@ -{} +{} @@\n", range_text(edit(begin).before, removed),
                       range_text(edit(begin).after, added));
    out += body;
    i = end;
  }
  return out;
}

}  // namespace perflab::optimize
