// Walks executed waits and links side by side.
#include "analyze/thread_trace/wait_causes.h"

#include <algorithm>
#include <span>

namespace perflab::analyze {
namespace {

/// After so many executions of its row that it did not fit, a link is given up, so that one that
/// fits nowhere does not hold back the others.
constexpr int kPatience = 16;

class LinkWalk {
 public:
  LinkWalk(const att::Wave& wave, const WaitRule& rule, WaitCauses& out)
      : wave_(wave), rule_(rule), out_(out) {}

  void run() {
    for (const ExecutedWait& wait : out_.by_rule.waits) {
      CausedWait made{.instruction = wait.instruction,
                      .first = static_cast<std::uint32_t>(out_.rows.size())};
      take_links(wait, made);
      if (!made.from_trace)
        for (std::uint32_t i = 0; i < wait.count; ++i)
          out_.rows.push_back(row_at(out_.by_rule.causes[wait.first + i]));
      made.count = static_cast<std::uint32_t>(out_.rows.size()) - made.first;
      out_.waits.push_back(made);
    }
    out_.links_unused += wave_.links.size() - next_;
  }

 private:
  [[nodiscard]] att::RowIndex row_at(std::uint32_t instruction) const {
    return wave_.instructions[instruction].row;
  }

  [[nodiscard]] std::span<const att::RowIndex> targets(const att::WaitLink& link) const {
    return std::span(wave_.link_targets).subspan(link.first, link.count);
  }

  /// Whether a link can be of this execution: it names something that the rule has outstanding, or
  /// the rule cannot tell.
  [[nodiscard]] bool fits(const ExecutedWait& wait, const att::WaitLink& link) const {
    if (wait.count == 0) return !wait.exact;
    return std::ranges::any_of(targets(link), [&](att::RowIndex target) {
      for (std::uint32_t i = 0; i < wait.count; ++i)
        if (row_at(out_.by_rule.causes[wait.first + i]) == target) return true;
      return false;
    });
  }

  /// A second link with the same instruction is one of the loop's next turn.
  [[nodiscard]] bool repeats(const att::WaitLink& link, const CausedWait& made) const {
    const auto taken = std::span(out_.rows).subspan(made.first);
    return std::ranges::any_of(targets(link), [&](att::RowIndex target) {
      return std::ranges::find(taken, target) != taken.end();
    });
  }

  void skip() {
    ++next_;
    refused_ = 0;
    ++out_.links_unused;
  }

  void take_links(const ExecutedWait& wait, CausedWait& made) {
    while (next_ < wave_.links.size() && !rule_.waits(wave_.links[next_].row)) skip();
    const att::RowIndex row = row_at(wait.instruction);
    int taken = 0;
    while (next_ < wave_.links.size() && taken < std::max<int>(wait.counters, 1)) {
      const att::WaitLink& link = wave_.links[next_];
      if (link.row != row || !fits(wait, link) || repeats(link, made)) break;
      const auto rows = targets(link);
      out_.rows.insert(out_.rows.end(), rows.begin(), rows.end());
      made.from_trace = true;
      ++next_;
      ++taken;
      refused_ = 0;
    }
    if (taken == 0 && next_ < wave_.links.size() && wave_.links[next_].row == row &&
        ++refused_ >= kPatience)
      skip();
  }

  const att::Wave& wave_;
  const WaitRule& rule_;
  WaitCauses& out_;
  std::size_t next_ = 0;
  int refused_ = 0;
};

}  // namespace

void find_wait_causes(const att::Wave& wave, const WaitRule& rule, WaitCauses& out) {
  out.waits.clear();
  out.rows.clear();
  out.links_unused = 0;
  rule.follow(wave, out.by_rule);
  LinkWalk(wave, rule, out).run();
}

}  // namespace perflab::analyze
