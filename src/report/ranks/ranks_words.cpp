#include "report/ranks/ranks_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

#include "ranks/figures/rules.h"
#include "report/kit/kernel_name.h"
#include "report/kit/quantities.h"
#include "report/kit/text_parts.h"

namespace perflab::report {
namespace {

using ranks::CauseDoubt;
using ranks::CauseKind;
using ranks::Pattern;
using ranks::PatternDoubt;
using ranks::RanksAnalysis;
using ranks::Uncertain;

constexpr std::size_t kKernelColumns = 60;

std::string time_words(std::int64_t time) {
  return duration_text(static_cast<double>(time));
}

/// "12.3 ms +- 0.2 ms".
std::string with_error(const Uncertain& value) {
  return fmt::format("{} (± {})", time_words(value.value), time_words(value.error));
}

double part(std::int64_t of, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(of) / static_cast<double>(whole) : 0;
}

std::string each_words(std::int64_t time, std::uint64_t dispatches) {
  return dispatches == 0
             ? kDash
             : duration_text(static_cast<double>(time) / static_cast<double>(dispatches));
}

std::string against_words(const ranks::AgainstMedian& figure) {
  return fmt::format("{} against {} of the median rank", time_words(figure.own),
                     time_words(figure.median));
}

std::string kernel_words(const ranks::Cause& cause) {
  const ranks::KernelExcess& kernel = *cause.kernel;
  const std::string name = short_kernel_name(kernel.kernel, kKernelColumns);
  switch (cause.kind) {
    case CauseKind::slow_kernel:
      return fmt::format("its kernel {} is slower: {} per dispatch, {} on the median rank", name,
                         each_words(kernel.time, kernel.dispatches),
                         each_words(kernel.median_time, kernel.median_dispatches));
    case CauseKind::more_dispatches:
      return fmt::format("its kernel {} runs more often: {} dispatches, {} on the median rank",
                         name, kernel.dispatches, kernel.median_dispatches);
    default:
      return fmt::format("several kernels take longer, {}; the most {}: {} against {}{}",
                         against_words(cause.kernels), name, time_words(kernel.time),
                         kernel.median_whole() ? "" : "at most ",
                         time_words(kernel.median_at_most));
  }
}

std::string launch_words(const ranks::Cause& cause) {
  ranks::AgainstMedian host;
  for (const analyze::Spent kind : {analyze::Spent::launch_latency, analyze::Spent::host_call,
                                    analyze::Spent::host_code, analyze::Spent::sync_return}) {
    host.own += cause.spent[static_cast<std::size_t>(kind)].own;
    host.median += cause.spent[static_cast<std::size_t>(kind)].median;
  }
  return fmt::format("its GPU idles, {}: on the way there launches and host code take {} longer",
                     against_words(cause.idle), time_words(host.excess()));
}

std::string_view doubt_words(CauseDoubt doubt) {
  switch (doubt) {
    case CauseDoubt::no_others:
      return "no other rank recorded what it did before the same operations";
    case CauseDoubt::not_longer:
      return "what it recorded before them takes not enough longer than on the median rank: the "
             "time was lost where nothing is recorded, or before another operation";
    default:
      return "no single part is half of the difference to the median rank";
  }
}

}  // namespace

std::string rank_words(const RanksAnalysis& analysis, ranks::RankIndex rank) {
  const std::string& host = analysis.ranks[rank].identity.hostname;
  const bool several = std::ranges::any_of(
      analysis.ranks, [&](const ranks::RankSummary& one) { return one.identity.hostname != host; });
  return fmt::format("rank {}{}", rank_label(analysis, rank),
                     several && !host.empty() ? fmt::format(" (on {})", host) : "");
}

std::string who_words(const RanksAnalysis& analysis) {
  const ranks::Figures& figures = analysis.figures;
  if (analysis.ranks.size() == 1)
    return "One rank alone does not tell who waits for whom: that takes the recordings of at least "
           "two.";
  if (!has_collectives(analysis))
    return "No communication kernel was recorded on any rank: nothing says who waits for whom.";
  if (figures.operations == 0) return "No operation of two ranks could be matched.";
  if (std::ranges::all_of(figures.ranks,
                          [](const ranks::RankFigures& rank) { return rank.judged_time == 0; }))
    return "Of no operation it is known who waits for whom in it.";
  if (figures.wait.value <= figures.wait.error)
    return fmt::format("Nobody makes others wait beyond the error: {} of waiting in all.",
                       with_error(figures.wait));
  if (figures.stragglers.empty())
    return fmt::format("The ranks wait {} in all; no rank causes {} of it or more.",
                       with_error(figures.wait), percent(ranks::rules::kStragglerShare));
  const ranks::RankIndex top = figures.stragglers.front();
  const ranks::RankFigures& rank = figures.ranks[top];
  std::string who = rank_words(analysis, top);
  who.front() = 'R';
  std::string words = fmt::format(
      "{} makes the others wait {}, {} of all waiting: it came last in {} of {} operations, {} "
      "after "
      "the next to last in all.",
      who, with_error(rank.delay_caused),
      percent(part(rank.delay_caused.value, figures.wait.value)), rank.last, rank.operations,
      with_error(rank.lateness));
  const double open = part(figures.wait.value - figures.delay.value, figures.wait.value);
  if (open >= ranks::rules::kStragglerShare)
    words += fmt::format(" Who causes {} of the waiting is undecided.", percent(open));
  return words;
}

std::optional<std::string> victim_words(const RanksAnalysis& analysis) {
  const auto& all = analysis.figures.ranks;
  const auto most = std::ranges::max_element(
      all, {}, [](const ranks::RankFigures& rank) { return rank.wait.value; });
  if (most == all.end() || most->wait.value <= most->wait.error) return std::nullopt;
  std::string who = rank_words(analysis, static_cast<ranks::RankIndex>(most - all.begin()));
  who.front() = 'R';
  return fmt::format(
      "{} waits the most, {} of {}: long communication kernels mark who waits, not who is late.",
      who, with_error(most->wait), time_words(most->judged_time));
}

std::string cause_words(const RanksAnalysis& analysis, const ranks::Cause& cause) {
  std::string why;
  switch (cause.kind) {
    case CauseKind::slow_kernel:
    case CauseKind::more_dispatches:
    case CauseKind::several_kernels:
      why = kernel_words(cause);
      break;
    case CauseKind::clock:
      why = fmt::format(
          "all its kernels are slower by about one factor, {:.2f}, as with a lower "
          "clock: {}",
          cause.clock_factor.value_or(1), against_words(cause.kernels));
      break;
    case CauseKind::copies:
      why = fmt::format("it copies more, {}", against_words(cause.copies));
      break;
    case CauseKind::launches:
      why = launch_words(cause);
      break;
    case CauseKind::idle:
      why = fmt::format(
          "its GPU is idle, and nothing recorded says for what it waits (data, other "
          "processes, MPI): {}",
          against_words(cause.idle));
      break;
    case CauseKind::undecided:
      why = fmt::format("undecided: {}", doubt_words(cause.doubt));
      break;
  }
  return fmt::format("Before the {} that {} was the last of, {}.",
                     cause.operations == 1 ? "operation" : counted(cause.operations, "operation"),
                     rank_words(analysis, cause.rank), why);
}

bool has_collectives(const RanksAnalysis& analysis) {
  return std::ranges::any_of(
      analysis.ranks, [](const ranks::RankSummary& rank) { return !rank.collectives.empty(); });
}

std::string pattern_words(const RanksAnalysis& analysis) {
  if (!has_collectives(analysis))
    return "Undecided whether it is always the same rank: no communication kernel was recorded.";
  const ranks::PatternFigures& found = analysis.figures.pattern;
  const std::string shares =
      fmt::format("{} of the delay, {} of the last arrivals",
                  percent(found.delay_share.value_or(0)), percent(found.last_share.value_or(0)));
  switch (found.pattern) {
    case Pattern::persistent:
      return fmt::format("Persistent: it is {} again and again ({}).",
                         rank_words(analysis, *found.rank), shares);
    case Pattern::by_node:
      return fmt::format("By node: the ranks of {} are late ({}).", *found.node, shares);
    case Pattern::imbalance:
      return fmt::format(
          "Imbalance: who has more work before an operation comes later "
          "(correlation {:.2f}, {:.2f} ns per ns of work).",
          *found.correlation, *found.slope);
    case Pattern::rotating:
      return fmt::format("Rotating: no rank is late more often than chance has it (at most {}).",
                         shares);
    case Pattern::undecided:
      break;
  }
  switch (found.doubt) {
    case PatternDoubt::few_operations:
      return fmt::format(
          "Undecided whether it is always the same rank: who came last is known of {}, and that "
          "takes {}.",
          counted(analysis.figures.decided, "operation"), ranks::rules::kFewestDecided);
    case PatternDoubt::clocks:
      return "Undecided whether it is always the same rank: most of the waiting is in operations "
             "to which two ranks or more came last within the error.";
    case PatternDoubt::within_error:
      return "Undecided whether it is always the same rank: the waits are within their error.";
    default:
      return fmt::format("No clear pattern of who is late (the most: {}).", shares);
  }
}

std::string collective_name(const ranks::Statistics& row) {
  std::string name = row.function.empty() ? std::string(ranks::info(row.kind).name) : row.function;
  if (row.bytes) name += fmt::format(", {}", bytes_text(static_cast<double>(*row.bytes)));
  return name;
}

namespace {

/// Why nobody can say who waits in operations.
std::string_view no_wait_words(ranks::CollectiveKind kind) {
  using enum ranks::CollectiveKind;
  switch (kind) {
    case group:
      return "several operations in one kernel, and not recorded who waits for whom in it";
    case unknown:
      return "the recordings do not say what it is";
    case all_to_all_v:
      return "a rank may send nothing to some of the others";
    default:
      return "that takes a root or a peer and common clocks, and not all are known";
  }
}

/// "If ...": what a question supposes. Empty: its text says it.
std::string if_words(const std::string& text) {
  const auto question = ranks::parse_rank_what_if(text);
  if (!question) return {};
  using Target = ranks::RankWhatIf::Target;
  const std::string of_kind =
      question->kind ? fmt::format(" of {}", ranks::info(*question->kind).name) : "";
  switch (question->target) {
    case Target::median:
      return fmt::format("rank {} like the median rank", *question->rank);
    case Target::balance:
      return "all ranks with the same work";
    case Target::transfer:
      return fmt::format("transfers{} in {} of their time", of_kind, percent(question->factor));
    case Target::no_wait:
      return fmt::format("no waiting at operations{}", of_kind);
    case Target::scenario:
      break;
  }
  return {};
}

}  // namespace

std::string collective_words(const ranks::Statistics& row) {
  const std::string name = collective_name(row);
  const std::string begin =
      fmt::format("{} ({}, {} over all ranks)", name, counted(row.operations, "operation"),
                  time_words(row.kernel_time));
  if (!row.wait_share)
    return fmt::format("{}: undecided whether it is slow or waits, {}.", begin,
                       no_wait_words(row.kind));
  const std::string share =
      fmt::format("{} of its time is waiting ({} to {})", percent(*row.wait_share),
                  percent(*row.wait_share_low), percent(*row.wait_share_high));
  std::string rate;
  if (row.bus_gb_per_s)
    rate = fmt::format("; its transfer has {}/s of bus bandwidth",
                       bytes_text(*row.bus_gb_per_s * 1e9));
  switch (row.verdict) {
    case ranks::SlowOrWaiting::wait_dominated:
      return fmt::format("{} is not slow, it waits: {}{}.", begin, share, rate);
    case ranks::SlowOrWaiting::transfer_dominated:
      return fmt::format("{} is busy transferring: only {}{}.", begin, share, rate);
    case ranks::SlowOrWaiting::mixed:
      return fmt::format("{} both waits and transfers: {}{}.", begin, share, rate);
    case ranks::SlowOrWaiting::undecided:
      break;
  }
  return fmt::format("{}: undecided whether it is slow or waits, {}{}.", begin, share, rate);
}

std::string what_if_words(const ranks::JobPath& path, const ranks::RankWhatIfAnswer& answer) {
  if (!answer.makespan || !answer.gain)
    return fmt::format("{}: not known: {}", answer.text, answer.missing);
  const std::string meant = if_words(answer.text);
  const std::string text = meant.empty() ? answer.text : fmt::format("{} ({})", answer.text, meant);
  if (*answer.gain == 0) return fmt::format("{}: the job gets no shorter", text);
  const std::int64_t change = std::abs(*answer.gain);
  return fmt::format("{}: the job takes {}, {} ({}) {}", text, time_words(*answer.makespan),
                     time_words(change), percent(part(change, path.makespan())),
                     *answer.gain > 0 ? "less" : "more");
}

std::vector<std::size_t> what_if_order(const ranks::JobPath& path, std::size_t asked) {
  std::vector<std::size_t> order(path.what_if.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto gain = [&](std::size_t i) {
    return path.what_if[i].gain.value_or(std::numeric_limits<std::int64_t>::min());
  };
  std::ranges::stable_sort(order, [&](std::size_t l, std::size_t r) {
    if ((l < asked) != (r < asked)) return l < asked;
    return l >= asked && gain(l) > gain(r);
  });
  return order;
}

std::string path_words(const RanksAnalysis& analysis) {
  constexpr std::size_t kMostNamed = 3;
  constexpr double kNamed = 0.001;  // less is 0.0 %
  const ranks::JobPath& path = *analysis.path;
  std::vector<std::string> parts;
  std::int64_t transfer = 0, work = 0;
  for (const ranks::RankOnPath& rank : path.ranks) {
    transfer += rank.transfer;
    if (parts.size() == kMostNamed || part(rank.work, path.makespan()) < kNamed) continue;
    work += rank.work;
    parts.push_back(fmt::format("work of {} ({})", rank_words(analysis, rank.rank),
                                percent(part(rank.work, path.makespan()))));
  }
  const std::int64_t others = path.makespan() - transfer - work;
  if (part(others, path.makespan()) >= kNamed)
    parts.push_back(fmt::format("work of others ({})", percent(part(others, path.makespan()))));
  if (part(transfer, path.makespan()) >= kNamed)
    parts.push_back(fmt::format("transfers ({})", percent(part(transfer, path.makespan()))));
  if (parts.empty()) parts.emplace_back("no work");
  return fmt::format(
      "The critical path across ranks, {}{}, is {}.", time_words(path.makespan()),
      path.error.value_or(0) > 0 ? fmt::format(" (± {})", time_words(*path.error)) : "",
      fmt::join(parts, ", "));
}

std::string_view spent_name(analyze::Spent spent) {
  static constexpr std::array<std::string_view, analyze::kSpentKinds> kNames = {
      "kernel", "copy", "launch_latency", "host_call", "sync_return", "host_code", "idle"};
  return kNames[static_cast<std::size_t>(spent)];
}

std::string_view unmatched_name(ranks::Unmatched why) {
  static constexpr std::array<std::string_view, 6> kNames = {
      "no_key", "no_partner", "start_ambiguous", "disagrees", "denied_by_times", "group_unknown"};
  return kNames[static_cast<std::size_t>(why)];
}

std::string_view unmatched_words(ranks::Unmatched why) {
  static constexpr std::array<std::string_view, 6> kWords = {
      "nothing recorded ties it to operations of other ranks",
      "the other ranks recorded none such at that place",
      "the recordings start at different places of a sequence that repeats, and nothing says which",
      "kind, size or type differ from the other ranks' at that place",
      "no offset of the clocks makes every exit follow every entry",
      "which ranks belong to its communicator could not be found"};
  return kWords[static_cast<std::size_t>(why)];
}

}  // namespace perflab::report
