// Every symbol is tried as the first of a step ("anchor"): the sequence is cut at its occurrences,
// and the pieces are compared by their lengths and by the sums of random numbers that stand for
// their kernels (equal sums: the same kernels, whatever their order). Prefix sums make that linear.
//
// How sure a cut is: in a shuffled sequence, the length L of a piece between occurrences of a
// symbol with frequency p is geometric, P(L) = p (1 - p)^(L-1). When a share q of n pieces is
// alike, the evidence against chance is about (n - 1) * KL(q || P) nats (Chernoff's bound). Pieces
// that are of one length only must also be more alike than random ones (is_no_mixture).
#include "analyze/segments/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "base/error.h"
#include "base/random.h"
#include "stats/median.h"

namespace perflab::analyze {
namespace {

constexpr std::size_t kFewest = 3;          ///< occurrences that make a repetition
constexpr double kRegularShare = 0.75;      ///< of pieces about as long as the usual one
constexpr double kWorse = 0.25;             ///< less of that than another cut: a worse cut
constexpr double kSimilar = 0.8;            ///< shared kernels of two pieces that count as alike
constexpr double kMixture = 0.5;            ///< of a random mixture's variance: still a step
constexpr double kMost = 0.8, kSome = 0.5;  ///< of the work that the repetition covers
constexpr double kEvidence = 4;             ///< nats, before the number of anchors tried
constexpr double kFewKernels = 4;           ///< evenly used ones: then twice that evidence
constexpr std::size_t kVerifications = 32;  ///< cuts whose pieces are compared kernel by kernel

/// How far a piece's length may be from the usual one.
std::size_t tolerance(std::size_t length) {
  if (length < 2) return 0;
  if (length < 4) return 1;
  return std::max<std::size_t>(2, length / 10);
}

/// Relative entropy of two coins, nats; 0 when q is not more than p.
double divergence(double q, double p) {
  if (q <= p) return 0;
  const double rest = q < 1 ? (1 - q) * std::log((1 - q) / (1 - p)) : 0;
  return q * std::log(q / p) + rest;
}

/// A cut of the sequence at the occurrences of a symbol. Occurrences [first, last) begin pieces;
/// the one of `last` belongs when `open_length` is not 0 (nothing after it says where it ends).
struct Cut {
  std::uint32_t symbol = 0;
  std::size_t first = 0, last = 0;
  std::size_t open_length = 0;
  std::size_t length = 0;   ///< of the usual piece
  std::size_t usual = 0;    ///< index of an occurrence with the usual piece
  std::size_t count = 0;    ///< pieces
  std::size_t regular = 0;  ///< pieces about as long as the usual one
  bool exact = false;       ///< most pieces have the same kernels
  double even = 0;          ///< share of its dispatches that are in regular pieces
  double coverage = 0;      ///< share of the dispatches or of their time, whichever is more
  double gap = 0;           ///< median idle time before a piece, ns
};

class Finder {
 public:
  Finder(const WorkSequence& work, const PackedColumn<std::uint32_t>& symbols)
      : work_(work), symbol_(symbols), size_(work.size()) {
    index();
  }

  std::optional<Repetition> run() {
    for (std::uint32_t symbol = 0; symbol + 1 < offsets_.size(); ++symbol)
      if (occurrences(symbol).size() >= kFewest) ++anchors_;
    std::vector<Cut> cuts;
    for (std::uint32_t symbol = 0; symbol + 1 < offsets_.size(); ++symbol)
      if (std::optional<Cut> cut = judge(symbol)) cuts.push_back(*cut);
    return choose(std::move(cuts));
  }

 private:
  /// Occurrences of each symbol, and the prefix sums.
  void index() {
    std::uint32_t symbols = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      symbols = std::max(symbols, symbol_[i] + 1);
      names_ = std::max(names_, work_.name[i] + 1);
    }
    frequency_.assign(names_, 0);
    for (const std::uint32_t name : work_.name) ++frequency_[name];
    double same = 0;  // chance of two dispatches to be of one kernel
    for (const double count : frequency_)
      same += count * count / static_cast<double>(size_) / static_cast<double>(size_);
    has_few_kernels_ = same * kFewKernels > 1;
    budget_ = 8 * size_;
    offsets_.assign(symbols + 1, 0);
    for (const std::uint32_t symbol : symbol_) ++offsets_[symbol + 1];
    for (std::size_t i = 1; i < offsets_.size(); ++i) offsets_[i] += offsets_[i - 1];
    std::vector<std::size_t> next = offsets_;
    positions_.resize(size_);
    content_.assign(size_ + 1, 0);
    time_.assign(size_ + 1, 0);
    for (std::size_t i = 0; i < size_; ++i) {
      positions_[next[symbol_[i]]++] = static_cast<std::uint32_t>(i);
      content_[i + 1] = content_[i] + SplitMix64(work_.name[i]).next();
      time_[i + 1] = time_[i] + static_cast<double>(work_.duration[i]);
    }
  }

  [[nodiscard]] std::span<const std::uint32_t> occurrences(std::uint32_t symbol) const {
    return std::span(positions_).subspan(offsets_[symbol], offsets_[symbol + 1] - offsets_[symbol]);
  }
  [[nodiscard]] std::uint64_t content(std::size_t from, std::size_t to) const {
    return content_[to] - content_[from];
  }

  /// The piece that more than half of the pieces are like, if there is one: its occurrence.
  [[nodiscard]] std::optional<std::size_t> majority(std::span<const std::uint32_t> at) const {
    std::size_t votes = 0;
    std::size_t winner = 0;
    for (std::size_t i = 0; i + 1 < at.size(); ++i) {
      if (votes == 0) winner = i;
      const bool same = content(at[i], at[i + 1]) == content(at[winner], at[winner + 1]);
      votes = same ? votes + 1 : votes - 1;
    }
    std::size_t count = 0;
    for (std::size_t i = 0; i + 1 < at.size(); ++i)
      count += content(at[i], at[i + 1]) == content(at[winner], at[winner + 1]) ? 1U : 0U;
    if (2 * count > at.size() - 1) return winner;
    return std::nullopt;
  }

  /// An occurrence whose piece has the median length.
  [[nodiscard]] std::size_t median_piece(std::span<const std::uint32_t> at) {
    scratch_.clear();
    for (std::size_t i = 0; i + 1 < at.size(); ++i) scratch_.push_back(i);
    const auto middle = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_.size() / 2);
    std::ranges::nth_element(scratch_, middle, {},
                             [&](std::size_t i) { return std::pair(at[i + 1] - at[i], i); });
    return *middle;
  }

  [[nodiscard]] static bool is_regular(const Cut& cut, std::size_t length) {
    const std::size_t off = length > cut.length ? length - cut.length : cut.length - length;
    return off <= tolerance(cut.length);
  }

  /// Judges the cut at a symbol; nothing when it is no repetition.
  std::optional<Cut> judge(std::uint32_t symbol) {
    const std::span<const std::uint32_t> at = occurrences(symbol);
    if (at.size() < kFewest) return std::nullopt;
    Cut cut{.symbol = symbol};
    const std::optional<std::size_t> same = majority(at);
    cut.exact = same.has_value();
    cut.usual = same ? *same : median_piece(at);
    cut.length = at[cut.usual + 1] - at[cut.usual];
    // What comes before the first regular piece and after the last is no part of it.
    cut.last = at.size() - 1;
    while (cut.first < cut.last && !is_regular(cut, at[cut.first + 1] - at[cut.first])) ++cut.first;
    while (cut.first < cut.last && !is_regular(cut, at[cut.last] - at[cut.last - 1])) --cut.last;
    const std::uint64_t usual = content(at[cut.usual], at[cut.usual + 1]);
    std::size_t alike = 0;
    std::size_t even = 0;
    for (std::size_t i = cut.first; i < cut.last; ++i) {
      const std::size_t length = at[i + 1] - at[i];
      if (is_regular(cut, length)) {
        ++cut.regular;
        even += length;
      }
      alike += content(at[i], at[i + 1]) == usual ? 1U : 0U;
    }
    if (cut.regular > 0)
      cut.even = static_cast<double>(even) / static_cast<double>(at[cut.last] - at[cut.first]);
    if (cut.even <= kSome) return std::nullopt;  // a few short pieces, far apart
    const std::size_t open = at[cut.last];
    const std::size_t limit = cut.last + 1 < at.size() ? at[cut.last + 1] : size_;
    cut.count = cut.last - cut.first;
    std::size_t end = open;
    if (open + cut.length <= limit && (!cut.exact || content(open, open + cut.length) == usual)) {
      cut.open_length = cut.length;
      ++cut.count;
      ++cut.regular;
      ++alike;
      end += cut.length;
    }
    if (cut.count < kFewest) return std::nullopt;
    const auto count = static_cast<double>(cut.count);
    if (static_cast<double>(cut.regular) < kRegularShare * count) return std::nullopt;
    if (cut.exact && 2 * alike <= cut.count) return std::nullopt;
    cut.coverage = coverage(cut, at, end, limit);
    if (cut.coverage <= kSome) return std::nullopt;
    const double share = static_cast<double>(cut.exact ? alike : cut.regular) / count;
    // A last piece that is not quite the usual one may still be one: that must not decide between
    // rotations.
    if (cut.open_length == 0 && limit - open + tolerance(cut.length) >= cut.length) ++cut.regular;
    const bool flawless = cut.exact && alike == cut.count && cut.coverage >= kMost;
    if (!flawless && !is_evident(cut, at.size(), share)) return std::nullopt;
    return cut;
  }

  /// Share of the work from the first to the last piece. Pieces at either end that are unusual (a
  /// first step that tunes) may turn out to be part of it: they count with the usual length.
  [[nodiscard]] double coverage(const Cut& cut, std::span<const std::uint32_t> at, std::size_t end,
                                std::size_t limit) const {
    std::size_t begin = at[cut.first];
    if (cut.first > 0)
      begin = std::max<std::size_t>(at[cut.first - 1],
                                    begin - std::min<std::size_t>(begin, cut.length));
    if (cut.open_length == 0) end = std::min(limit, end + cut.length);
    return std::max(static_cast<double>(end - begin) / static_cast<double>(size_),
                    (time_[end] - time_[begin]) / std::max(time_[size_], 1.0));
  }

  /// Whether so many alike pieces are too many for chance.
  bool is_evident(const Cut& cut, std::size_t occurrences, double share) {
    const double wanted = kEvidence + std::log(static_cast<double>(anchors_)) +
                          (cut.exact ? 0 : kEvidence) + (has_few_kernels_ ? kEvidence : 0);
    const auto pairs = static_cast<double>(cut.count - 1);
    const double rate = static_cast<double>(occurrences) / static_cast<double>(size_);
    const auto length = static_cast<double>(cut.length);
    if (!cut.exact) {
      const auto off = static_cast<double>(tolerance(cut.length));
      const double chance = std::pow(1 - rate, length - off - 1) - std::pow(1 - rate, length + off);
      return pairs * divergence(share, chance) >= wanted;
    }
    const double chance = rate * std::pow(1 - rate, length - 1);
    if (pairs * divergence(share, chance) >= wanted) return true;
    if (budget_ < cut.length) return false;
    budget_ -= cut.length;
    return pairs * divergence(share, chance * chance_of_content(cut)) >= wanted;
  }

  /// Chance of a shuffled piece of the usual length to have the usual kernels.
  [[nodiscard]] double chance_of_content(const Cut& cut) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    std::map<std::uint32_t, double> counts;
    for (std::size_t i = at[cut.usual] + 1; i < at[cut.usual + 1]; ++i) ++counts[work_.name[i]];
    double logarithm = std::lgamma(static_cast<double>(cut.length));
    double others = 0;  // how often these kernels occur at all
    for (const auto& [name, count] : counts) others += frequency_[name];
    for (const auto& [name, count] : counts)
      logarithm += count * std::log(frequency_[name] / others) - std::lgamma(count + 1);
    return std::exp(logarithm);
  }

  /// Whether the regular pieces have kernels that are more alike than those of random work would
  /// be: something that runs at regular times (a helper of the runtime) cuts that, too, into pieces
  /// of one length, and long ones have about the same mixture. With lengths L and overall shares p,
  /// the squares of (count - p L) sum up to L (1 - sum p^2) per random piece. The sum is about a
  /// chi-square with `freedom` degrees (Welch-Satterthwaite, of the multinomial's covariance),
  /// whose chance to be `ratio` times the expected is below exp(-freedom / 2 (ratio - 1 - ln
  /// ratio)).
  [[nodiscard]] bool is_no_mixture(const Cut& cut) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    struct Kernel {
      double count = 0, squares = 0, by_length = 0;  ///< sums of n, n^2, n L over the pieces
      double here = 0;                               ///< in the piece looked at
    };
    std::vector<Kernel> kernels(names_);
    double pieces = 0;
    double lengths = 0;
    double length_squares = 0;
    for (std::size_t i = cut.first; i < cut.last; ++i) {
      if (!is_regular(cut, at[i + 1] - at[i])) continue;
      const auto length = static_cast<double>(at[i + 1] - at[i] - 1);  // without the anchor
      ++pieces;
      lengths += length;
      length_squares += length * length;
      for (std::size_t k = at[i] + 1; k < at[i + 1]; ++k) {
        Kernel& kernel = kernels[work_.name[k]];
        kernel.count += 1;
        kernel.by_length += length;
        kernel.squares += 2 * kernel.here + 1;
        kernel.here += 1;
      }
      for (std::size_t k = at[i] + 1; k < at[i + 1]; ++k) kernels[work_.name[k]].here = 0;
    }
    if (lengths == 0) return true;
    double squares = 0;
    double p2 = 0;
    double p3 = 0;
    for (const Kernel& kernel : kernels) {
      const double p = kernel.count / lengths;
      squares += kernel.squares - 2 * p * kernel.by_length + p * p * length_squares;
      p2 += p * p;
      p3 += p * p * p;
    }
    const double spread = 1 - p2;
    if (spread <= 1e-9) return true;  // one kernel: the lengths alone tell
    const double expected = lengths * spread * (pieces - 1) / pieces;
    const double ratio = std::max(squares, 1e-9 * expected) / expected;
    if (!(ratio < kMixture)) return false;
    const double freedom = (pieces - 1) * spread * spread / (p2 - 2 * p3 + p2 * p2);
    return freedom / 2 * (ratio - 1 - std::log(ratio)) >=
           kEvidence + std::log(static_cast<double>(anchors_));
  }

  /// Whether most pieces share most kernels with the usual one, kernel by kernel.
  bool is_alike(const Cut& cut) {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    std::vector<std::int64_t> balance(names_, 0);
    const auto add = [&](std::size_t i, std::int64_t sign) {
      for (std::size_t k = at[i]; k < at[i + 1]; ++k) balance[work_.name[k]] += sign;
    };
    std::size_t alike = 0;
    add(cut.usual, -1);
    for (std::size_t i = cut.first; i < cut.last; ++i) {
      // The kernels that the piece has too many of; what it lacks follows from the lengths.
      std::int64_t extra = 0;
      for (std::size_t k = at[i]; k < at[i + 1]; ++k)
        if (++balance[work_.name[k]] > 0) ++extra;
      add(i, -1);
      const auto length = static_cast<std::int64_t>(at[i + 1] - at[i]);
      const auto both = static_cast<double>(2 * (length - extra));
      if (both >= kSimilar * static_cast<double>(length + static_cast<std::int64_t>(cut.length)))
        ++alike;
    }
    return static_cast<double>(alike) >= kRegularShare * static_cast<double>(cut.last - cut.first);
  }

  std::optional<Repetition> choose(std::vector<Cut> cuts) {
    std::ranges::stable_sort(cuts, {}, &Cut::count);
    std::size_t verified = 0;
    std::erase_if(cuts, [&](const Cut& cut) {
      return !cut.exact && (++verified > kVerifications || !is_alike(cut) || !is_no_mixture(cut));
    });
    if (std::ranges::any_of(cuts, [](const Cut& cut) { return cut.coverage >= kMost; }))
      std::erase_if(cuts, [](const Cut& cut) { return cut.coverage < kMost; });
    if (cuts.empty()) return std::nullopt;
    const double best = std::ranges::max_element(cuts, {}, &Cut::even)->even;
    std::erase_if(cuts, [&](const Cut& cut) { return cut.even < best - kWorse; });
    // Outermost: the fewest pieces. A loop within it has at least twice as many; what has a few
    // more or less is the same loop, cut at a kernel that is not in each of its rounds.
    const std::size_t most = cuts.front().count * 3 / 2;
    std::erase_if(cuts, [&](const Cut& cut) { return cut.count > most; });
    const std::size_t regular = std::ranges::max_element(cuts, {}, &Cut::regular)->regular;
    std::erase_if(cuts, [&](const Cut& cut) { return cut.regular + 1 < regular; });
    // What is left are rotations: a step begins after the time in which the GPU waited for the
    // host, or, without such, where the first one is whole.
    measure_gaps(cuts);
    const double gap = std::ranges::max_element(cuts, {}, &Cut::gap)->gap;
    std::erase_if(cuts, [&](const Cut& cut) { return cut.gap < gap / 2; });
    std::ranges::sort(cuts, {}, [&](const Cut& cut) {
      return std::pair(-covered(cut), occurrences(cut.symbol)[cut.first]);
    });
    if (cuts.size() > kVerifications) cuts.resize(kVerifications);
    std::vector<Repetition> all;
    for (const Cut& cut : cuts) all.push_back(finish(cut));
    return *std::ranges::min_element(all, {}, [size = size_](const Repetition& one) {
      return std::pair(one.begins.front() + size - one.end, one.begins.front());
    });
  }

  /// Dispatches in the pieces of a cut.
  [[nodiscard]] std::int64_t covered(const Cut& cut) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    return static_cast<std::int64_t>(at[cut.last] + cut.open_length - at[cut.first]);
  }

  void measure_gaps(std::vector<Cut>& cuts) const {
    std::map<std::uint32_t, std::vector<std::int64_t>> gaps;
    for (const Cut& cut : cuts) gaps[cut.symbol];
    std::vector<bool> wanted(offsets_.size(), false);
    for (const Cut& cut : cuts) wanted[cut.symbol] = true;
    for (std::size_t i = 0; i < size_; ++i)
      if (wanted[symbol_[i]]) gaps[symbol_[i]].push_back(work_.idle[i]);
    for (Cut& cut : cuts) {
      std::vector<std::int64_t>& all = gaps[cut.symbol];
      cut.gap = static_cast<double>(stats::upper_median(all));
    }
  }

  /// Walks from `from` until `wanted` kernels of the usual piece were met: how far; 0 when that is
  /// not before `to`.
  [[nodiscard]] std::size_t reach(const Cut& cut, std::size_t from, std::size_t to,
                                  std::size_t wanted) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    std::vector<std::size_t> left(names_, 0);
    for (std::size_t i = at[cut.usual]; i < at[cut.usual + 1]; ++i) ++left[work_.name[i]];
    std::size_t found = 0;
    for (std::size_t i = from; i < to; ++i) {
      if (left[work_.name[i]] == 0) continue;
      --left[work_.name[i]];
      if (++found == wanted) return i + 1 - from;
    }
    return 0;
  }

  /// Length of what follows `from` up to the first kernel that the loop does not have, at most the
  /// usual length; 0 when that is too short for a piece.
  [[nodiscard]] std::size_t familiar(const Cut& cut, std::size_t from, std::size_t to) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    std::vector<bool> known(names_, false);
    for (std::size_t i = at[cut.first]; i < at[cut.last]; ++i) known[work_.name[i]] = true;
    std::size_t length = 0;
    while (length < cut.length && from + length < to && known[work_.name[from + length]]) ++length;
    return length + tolerance(cut.length) >= cut.length ? length : 0;
  }

  Repetition finish(Cut cut) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    // Kernels of a step also run before the loop, in other company.
    const std::size_t nearly =
        cut.length - std::max<std::size_t>(cut.length / 10, cut.length > 4 ? 1 : 0);
    const auto holds_the_usual = [&](std::size_t i) {
      return reach(cut, at[i], at[i + 1], nearly) > 0;
    };
    while (cut.first < cut.last && cut.exact && !holds_the_usual(cut.first)) ++cut.first;
    // First rounds often hold more (tuning, allocation): still rounds when they hold all the rest.
    while (cut.first > 0 && holds_the_usual(cut.first - 1)) --cut.first;
    Repetition found;
    for (std::size_t i = cut.first; i < cut.last; ++i) found.begins.push_back(at[i]);
    const std::size_t limit = cut.last + 1 < at.size() ? at[cut.last + 1] : size_;
    if (const std::size_t length = open_piece(cut, at[cut.last], limit); length > 0) {
      found.begins.push_back(at[cut.last]);
      found.end = at[cut.last] + length;
    } else {
      // Without a round after it, the last piece may have run on into what follows the loop.
      const std::size_t length_of_last = open_piece(cut, found.begins.back(), at[cut.last]);
      found.end = length_of_last > 0 ? found.begins.back() + length_of_last : at[cut.last];
    }
    return found;
  }

  /// Length of the round that begins at `from`: that of the longest round known with the same
  /// kernels, else the shortest that holds those of the usual one; 0 when there is none.
  [[nodiscard]] std::size_t open_piece(const Cut& cut, std::size_t from, std::size_t limit) const {
    const std::span<const std::uint32_t> at = occurrences(cut.symbol);
    std::size_t best = 0;
    for (std::size_t i = cut.first; i < cut.last; ++i) {
      const std::size_t length = at[i + 1] - at[i];
      if (at[i] != from && length > best && from + length <= limit &&
          content(from, from + length) == content(at[i], at[i + 1]))
        best = length;
    }
    if (best > 0) return best;
    const std::size_t most = std::min(limit - from, cut.length + tolerance(cut.length));
    if (!cut.exact) return familiar(cut, from, from + most);
    return reach(cut, from, from + most, cut.length);
  }

  const WorkSequence& work_;
  const PackedColumn<std::uint32_t>& symbol_;
  std::size_t size_;
  std::uint32_t names_ = 0;
  std::size_t anchors_ = 0;               ///< symbols that can be tried
  std::size_t budget_ = 0;                ///< dispatches that may still be looked at one by one
  bool has_few_kernels_ = false;          ///< so that short pieces are easily alike
  std::vector<double> frequency_;         ///< by name: dispatches
  std::vector<std::size_t> offsets_;      ///< by symbol, into positions_
  std::vector<std::uint32_t> positions_;  ///< of the occurrences
  std::vector<std::uint64_t> content_;    ///< prefix sums of the kernels' random numbers
  std::vector<double> time_;              ///< prefix sums of durations, ns
  std::vector<std::size_t> scratch_;
};

}  // namespace

FoundRepetition find_repetition(const WorkSequence& work) {
  PERFLAB_CHECK(work.name.size() == work.size() && work.duration.size() == work.size() &&
                work.idle.size() == work.size());
  if (work.size() < kFewest)
    return {.repetition = {},
            .reason = fmt::format("the sequence of {} dispatch{} is too short for a repetition",
                                  work.size(), work.size() == 1 ? "" : "es")};
  // Geometry tells apart what one kernel does in several places of a step, but it may also differ
  // from step to step.
  std::optional<Repetition> found = Finder(work, work.symbol).run();
  if (!found && !(work.symbol == work.name)) found = Finder(work, work.name).run();
  if (found) return {.repetition = std::move(found), .reason = {}};
  return {
      .repetition = {},
      .reason = fmt::format("the sequence of {} dispatches shows no repetition: no kernel begins "
                            "at least {} similar stretches that are most of it",
                            work.size(), kFewest)};
}

}  // namespace perflab::analyze
