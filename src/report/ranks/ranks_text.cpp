#include "report/ranks/ranks_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/text/number_text.h"
#include "report/kit/kernel_name.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"
#include "report/kit/text_table.h"
#include "report/ranks/ranks_words.h"
#include "trace/rank_variables.h"

namespace perflab::report {
namespace {

using ranks::RanksAnalysis;
using enum TextTable::Align;

std::string time_cell(std::int64_t time) {
  return duration_text(static_cast<double>(time));
}

std::string time_cell(const std::optional<std::int64_t>& time) {
  return time ? time_cell(*time) : kDash;
}

std::string time_cell(const std::optional<double>& time) {
  return time ? duration_text(*time) : kDash;
}

std::string cell(const ranks::Uncertain& value) {
  return fmt::format("{} ± {}", time_cell(value.value), time_cell(value.error));
}

/// The first `most` rows of a table, and how many there are beside them.
template <class Rows, class Add>
std::string table_of(const Rows& rows, TextTable table, const TerminalStyle& style,
                     const Add& add) {
  std::size_t shown = 0;
  for (const auto& row : rows) {
    if (shown == style.most_rows) break;
    add(table, row, shown);
    ++shown;
  }
  return table.text(style.width) + cut_note(rows.size(), shown);
}

/// What their numbers are.
std::string numbered_words(const RanksAnalysis& analysis) {
  if (!analysis.ranked)
    return "Numbered by host, process and GPU: the recordings do not give each rank a number.";
  std::set<std::string> from;
  for (const ranks::RankSummary& rank : analysis.ranks) from.insert(rank.identity.facts.from);
  const bool hints = from.erase(std::string(trace::kFileName)) > 0;
  if (from.empty())
    return "Numbered by the names of files, which are hints: the recordings do not say their "
           "ranks.";
  return fmt::format("Numbered by {} in the recordings{}.", fmt::join(from, ", "),
                     hints ? ", and by the names of files, which are hints" : "");
}

}  // namespace

std::string ranks_ranks_text(const RanksAnalysis& analysis, const TerminalStyle& style) {
  std::vector<ranks::RankIndex> order(analysis.ranks.size());
  for (ranks::RankIndex rank = 0; rank < order.size(); ++rank) order[rank] = rank;
  std::ranges::stable_sort(order, std::ranges::greater(), [&](ranks::RankIndex rank) {
    return analysis.figures.ranks[rank].delay_caused.value;
  });
  const Paint paint(style.colour);
  return heading(paint, "Ranks, the most delay caused first") +
         indented(numbered_words(analysis), style.width) +
         table_of(order,
                  TextTable({{.title = "rank"},
                             {.title = "delay caused"},
                             {.title = "last"},
                             {.title = "undecided", .expendable = 2},
                             {.title = "lateness", .expendable = 1},
                             {.title = "waits"},
                             {.title = "in kernels", .expendable = 3},
                             {.title = "host", .align = left, .flexible = true}}),
                  style, [&](TextTable& table, ranks::RankIndex rank, std::size_t) {
                    const ranks::RankFigures& own = analysis.figures.ranks[rank];
                    table.add({rank_label(analysis, rank),
                               own.operations > 0 ? cell(own.delay_caused) : kDash,
                               fmt::format("{} of {}", own.last, own.operations),
                               fmt::format("{}", own.undecided),
                               own.operations > 0 ? cell(own.lateness) : kDash,
                               own.judged_time > 0 ? cell(own.wait) : kDash,
                               own.kernel_time > 0 ? time_cell(own.kernel_time) : kDash,
                               analysis.ranks[rank].identity.hostname});
                  });
}

std::string ranks_stragglers_text(const RanksAnalysis& analysis, const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out = heading(paint, "Stragglers") + indented(pattern_words(analysis), style.width);
  for (const ranks::Cause& cause : analysis.causes) {
    out += indented(cause_words(analysis, cause), style.width);
    TextTable table({{.title = "before them", .align = left},
                     {.title = "own"},
                     {.title = "median rank"},
                     {.title = "more"}});
    const auto row = [&](std::string_view what, const ranks::AgainstMedian& figure) {
      table.add({std::string(what), time_cell(figure.own), time_cell(figure.median),
                 time_cell(figure.excess())});
    };
    row("time since the operation before", cause.length);
    row("GPU busy", cause.busy);
    row("kernels", cause.kernels);
    row("copies", cause.copies);
    row("GPU idle", cause.idle);
    for (std::size_t kind = 0; kind < cause.spent.size(); ++kind)
      if (cause.spent[kind].own != 0 || cause.spent[kind].median != 0)
        row(fmt::format("way there: {}", spent_name(static_cast<analyze::Spent>(kind))),
            cause.spent[kind]);
    out += table.text(style.width);
  }
  return out;
}

std::string ranks_collectives_text(const RanksAnalysis& analysis, const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out =
      heading(paint, "Collectives, the most time first") +
      table_of(analysis.figures.statistics,
               TextTable({{.title = "time"},
                          {.title = "count"},
                          {.title = "waiting"},
                          {.title = "transfer"},
                          {.title = "bus bandwidth"},
                          {.title = "entries apart", .expendable = 2},
                          {.title = "exits apart", .expendable = 3},
                          {.title = "verdict", .align = left},
                          {.title = "collective", .align = left, .flexible = true}}),
               style, [&](TextTable& table, const ranks::Statistics& row, std::size_t) {
                 table.add({time_cell(row.kernel_time), fmt::format("{}", row.operations),
                            row.wait_share ? percent(*row.wait_share) : kDash,
                            time_cell(row.transfer_median),
                            row.bus_gb_per_s ? bytes_text(*row.bus_gb_per_s * 1e9) + "/s" : kDash,
                            time_cell(row.entry_skew_mean), time_cell(row.exit_skew_mean),
                            std::string(name(row.verdict)), collective_name(row)});
               });
  for (const ranks::Statistics& row : analysis.figures.statistics) {
    out += indented(collective_words(row), style.width);
    if (&row - analysis.figures.statistics.data() == 2) break;
  }
  return out;
}

std::string ranks_clocks_text(const RanksAnalysis& analysis, const TerminalStyle& style) {
  const Paint paint(style.colour);
  return heading(paint, "Clocks, against the reference of their zone") +
         table_of(analysis.clocks.ranks,
                  TextTable({{.title = "rank"},
                             {.title = "zone"},
                             {.title = "offset"},
                             {.title = "drift ppm"},
                             {.title = "certified low"},
                             {.title = "certified high"},
                             {.title = "likely error"}}),
                  style, [&](TextTable& table, const ranks::RankClock& clock, std::size_t rank) {
                    table.add({rank_label(analysis, static_cast<ranks::RankIndex>(rank)),
                               fmt::format("{}", clock.zone), duration_text(clock.offset),
                               fmt::format("{:.3f}", clock.drift * 1e6), time_cell(clock.low),
                               time_cell(clock.high), time_cell(clock.likely)});
                  });
}

std::string ranks_path_text(const RanksAnalysis& analysis, const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::string out = heading(paint, "Critical path across ranks");
  if (!analysis.path) return out + indented("not known: " + analysis.no_path, style.width);
  const ranks::JobPath& path = *analysis.path;
  out += indented(fmt::format("{}{}, {} over {}", time_cell(path.makespan()),
                              path.error ? fmt::format(" ± {}", time_cell(*path.error)) : "",
                              counted(path.hops.size(), "hop"), counted(path.ranks.size(), "rank")),
                  style.width);
  out +=
      table_of(path.ranks,
               TextTable({{.title = "rank"},
                          {.title = "work on it"},
                          {.title = "share"},
                          {.title = "transfer"},
                          {.title = "hops"}}),
               style, [&](TextTable& table, const ranks::RankOnPath& rank, std::size_t) {
                 table.add({rank_label(analysis, rank.rank), time_cell(rank.work),
                            percent(path.makespan() > 0 ? static_cast<double>(rank.work) /
                                                              static_cast<double>(path.makespan())
                                                        : 0),
                            time_cell(rank.transfer), fmt::format("{}", rank.hops)});
               });
  if (!path.what_if.empty()) out += heading(paint, "What if");
  for (const std::size_t i : what_if_order(path, analysis.asked))
    out += indented(what_if_words(path, path.what_if[i]), style.width);
  return out;
}

std::string ranks_matching_text(const RanksAnalysis& analysis, const TerminalStyle& style) {
  const Paint paint(style.colour);
  std::map<std::uint32_t, std::size_t> operations;
  for (const ranks::Matched& one : analysis.matching.operations) ++operations[one.group];
  std::string out =
      heading(paint, "Groups of ranks") +
      table_of(analysis.matching.groups,
               TextTable({{.title = "ranks"},
                          {.title = "size"},
                          {.title = "operations"},
                          {.title = "matched by", .align = left},
                          {.title = "group", .align = left, .flexible = true}}),
               style, [&](TextTable& table, const ranks::Group& group, std::size_t index) {
                 table.add({fmt::format("{}", group.ranks.size()), number_or_dash(group.size),
                            fmt::format("{}", operations[static_cast<std::uint32_t>(index)]),
                            std::string(name(group.key)), group.id});
               });
  std::map<ranks::Unmatched, std::size_t> unmatched;
  for (const ranks::NotMatched& one : analysis.matching.unmatched) ++unmatched[one.why];
  for (const auto& [why, count] : unmatched)
    out += indented(
        fmt::format("{} not matched: {}", counted(count, "operation"), unmatched_words(why)),
        style.width);
  return out;
}

}  // namespace perflab::report
