#include "report/ranks/ranks_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
      return fmt::format("several kernels take longer, {}; the most {}: {} against {}",
                         against_words(cause.kernels), name, time_words(kernel.time),
                         time_words(kernel.median_time));
  }
}

std::string host_words(const ranks::Cause& cause) {
  ranks::AgainstMedian host;
  for (const analyze::Spent kind : {analyze::Spent::launch_latency, analyze::Spent::host_call,
                                    analyze::Spent::host_code, analyze::Spent::sync_return}) {
    host.own += cause.spent[static_cast<std::size_t>(kind)].own;
    host.median += cause.spent[static_cast<std::size_t>(kind)].median;
  }
  return fmt::format("its GPU waits for launches and host code, {}", against_words(host));
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
  if (figures.operations == 0) return "No operation of two ranks could be matched.";
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
  return fmt::format(
      "{} makes the others wait {} in all, {} of all waiting that has a cause; it "
      "was the last of {} of {} operations, {} behind the second in all.",
      who, with_error(rank.delay_caused),
      percent(part(rank.delay_caused.value, figures.delay.value)), rank.last, rank.operations,
      with_error(rank.lateness));
}

std::optional<std::string> victim_words(const RanksAnalysis& analysis) {
  const auto& all = analysis.figures.ranks;
  const auto most = std::ranges::max_element(
      all, {}, [](const ranks::RankFigures& rank) { return rank.wait.value; });
  if (most == all.end() || most->wait.value <= most->wait.error) return std::nullopt;
  const auto rank = static_cast<ranks::RankIndex>(most - all.begin());
  return fmt::format(
      "The longest time in communication kernels is no sign of the cause: {} spends "
      "{} there, and {} of it is waiting.",
      rank_words(analysis, rank), time_words(most->kernel_time), with_error(most->wait));
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
      why = host_words(cause);
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
  return fmt::format("Before the {} operations that {} was the last of, {}.", cause.operations,
                     rank_words(analysis, cause.rank), why);
}

std::string pattern_words(const RanksAnalysis& analysis) {
  const ranks::PatternFigures& found = analysis.figures.pattern;
  const std::string shares = fmt::format("{} of the delay, {} of the last arrivals",
                                         percent(found.delay_share), percent(found.last_share));
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
          "Undecided whether it is always the same rank: that takes {} operations "
          "whose last arriver is decided.",
          ranks::rules::kFewestDecided);
    case PatternDoubt::clocks:
      return "Undecided whether it is always the same rank: most of the waiting is in operations "
             "whose last arriver the clocks do not tell.";
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

std::string collective_words(const ranks::Statistics& row) {
  const std::string name = collective_name(row);
  const std::string begin =
      fmt::format("{} ({}, {} over all ranks)", name, counted(row.operations, "operation"),
                  time_words(row.kernel_time));
  if (!row.wait_share) return fmt::format("{}: who waits in it is not known.", begin);
  const std::string share =
      fmt::format("{} of its time is waiting ({} to {})", percent(*row.wait_share),
                  percent(*row.wait_share_low), percent(*row.wait_share_high));
  std::string rate;
  if (row.bus_gb_per_s)
    rate = fmt::format("; its transfer has {:.1f} GB/s of bus bandwidth", *row.bus_gb_per_s);
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
  return fmt::format("{}: the job takes {} instead of {}, {} ({}) less", answer.text,
                     time_words(*answer.makespan), time_words(path.makespan()),
                     time_words(*answer.gain), percent(part(*answer.gain, path.makespan())));
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
