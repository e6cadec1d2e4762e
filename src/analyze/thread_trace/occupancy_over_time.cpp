// Starts and ends to lifetimes, lifetimes to bins, steps and shares.
#include "analyze/thread_trace/occupancy_over_time.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyze/thread_trace/row_table.h"

namespace perflab::analyze {
namespace {

/// A wave whose end has not come yet.
struct OpenWave {
  std::int64_t begin = 0;
  std::size_t kernel = 0;
};

class LifetimePairs {
 public:
  LifetimePairs(std::size_t kernels, const std::function<std::size_t(std::int64_t)>& kernel_of)
      : kernel_of_(kernel_of), kernels_(kernels) {}

  void add(const att::ShaderEngine& engine) {
    std::map<std::tuple<int, int, int>, OpenWave> open;
    std::int64_t last = -kMostCycles;
    for (const att::OccupancyRow& row : engine.occupancy) {
      const std::tuple place(row.cu, row.simd, row.slot);
      const std::int64_t time = bounded(row.time);
      last = std::max(last, time);
      const auto before = open.find(place);
      // A slot that starts again had an end that was not recorded.
      if (before != open.end() && (row.start || time >= before->second.begin)) {
        put(before->second, {engine.number, row.cu}, time, !row.start);
        open.erase(before);
      }
      if (!row.start) continue;
      const OpenWave wave{.begin = time, .kernel = kernel_of_(row.kernel)};
      if (row.kernel != 0) kernels_[wave.kernel].ids.insert(row.kernel);
      open[place] = wave;
    }
    for (const auto& [place, wave] : open)
      put(wave, {engine.number, std::get<0>(place)}, last, false);
  }

  std::vector<KernelLifetimes> take() {
    for (KernelLifetimes& kernel : kernels_)
      std::ranges::sort(kernel.waves, {}, [](const Lifetime& life) {
        return std::tuple(life.engine, life.begin, life.end, life.cu, life.ended);
      });
    return std::move(kernels_);
  }

 private:
  void put(const OpenWave& wave, std::pair<int, int> place, std::int64_t end, bool ended) {
    KernelLifetimes& kernel = kernels_[wave.kernel];
    kernel.waves.push_back({.engine = place.first,
                            .cu = place.second,
                            .begin = wave.begin,
                            .end = std::max(end, wave.begin),
                            .ended = ended});
    if (!ended) ++kernel.unended;
  }

  const std::function<std::size_t(std::int64_t)>& kernel_of_;
  std::vector<KernelLifetimes> kernels_;
};

/// The waves that ended, from the first start on their engine on.
std::vector<Lifetime> whole_lifetimes(const KernelLifetimes& kernel) {
  std::vector<Lifetime> whole;
  std::int64_t first = 0;
  const Lifetime* before = nullptr;
  for (const Lifetime& life : kernel.waves) {
    if (before == nullptr || before->engine != life.engine) first = life.begin;
    before = &life;
    if (!life.ended) continue;
    whole.push_back(life);
    whole.back().begin -= first;
    whole.back().end -= first;
  }
  return whole;
}

/// Steps of a number of waves: at each time at which it changes, how many there are from then on.
std::vector<std::pair<std::int64_t, std::int64_t>> steps(
    std::vector<std::pair<std::int64_t, int>> changes) {
  std::ranges::sort(changes);
  std::vector<std::pair<std::int64_t, std::int64_t>> out;
  std::int64_t now = 0;
  for (const auto& [time, change] : changes) {
    now += change;
    if (out.empty() || out.back().first != time) out.emplace_back(time, 0);
    out.back().second = now;
  }
  return out;
}

std::int64_t highest(const std::vector<std::pair<std::int64_t, std::int64_t>>& steps) {
  std::int64_t most = 0;
  for (const auto& [time, many] : steps) most = std::max(most, many);
  return most;
}

void add_bins(const std::vector<Lifetime>& all, OccupancyOverTime& out) {
  std::vector<double> cycles(kOccupancyBins, 0);
  const double width = static_cast<double>(out.span) / kOccupancyBins;
  double sum = 0;
  for (const Lifetime& life : all) {
    const auto begin = static_cast<double>(life.begin);
    const auto end = static_cast<double>(life.end);
    sum += end - begin;
    auto bin = std::min(static_cast<std::size_t>(begin / width), kOccupancyBins - 1);
    for (; bin < kOccupancyBins && static_cast<double>(bin) * width < end; ++bin)
      cycles[bin] += std::max(0.0, std::min(end, static_cast<double>(bin + 1) * width) -
                                       std::max(begin, static_cast<double>(bin) * width));
  }
  const auto cus = static_cast<double>(out.cus);
  out.average = sum / (static_cast<double>(out.span) * cus);
  for (const double waves : cycles) out.bins.push_back(waves / (width * cus));
}

/// Shares of the span before half the peak was there, and after it was there for the last time.
void add_edges(const std::vector<Lifetime>& all, OccupancyOverTime& out) {
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const Lifetime& life : all) {
    changes.emplace_back(life.begin, 1);
    changes.emplace_back(life.end, -1);
  }
  const auto total = steps(std::move(changes));
  const std::int64_t peak = highest(total);
  std::optional<std::int64_t> first;
  std::int64_t last = 0;
  for (std::size_t i = 0; i < total.size(); ++i) {
    if (2 * total[i].second < peak) continue;
    if (!first) first = total[i].first;
    last = i + 1 < total.size() ? total[i + 1].first : total[i].first;
  }
  const auto span = static_cast<double>(out.span);
  out.ramp_share = static_cast<double>(first.value_or(0)) / span;
  out.tail_share = static_cast<double>(out.span - last) / span;
}

}  // namespace

std::vector<KernelLifetimes> pair_lifetimes(
    const std::vector<att::ShaderEngine>& engines, std::size_t kernels,
    const std::function<std::size_t(std::int64_t id)>& kernel_of) {
  LifetimePairs pairs(kernels, kernel_of);
  for (const att::ShaderEngine& engine : engines) pairs.add(engine);
  return pairs.take();
}

bool several_dispatches(const KernelLifetimes& kernel) {
  if (kernel.ids.size() > 1) return true;
  // The dispatcher goes around the engines: one can wait for a wave of another.
  std::int64_t longest = 0;
  for (const Lifetime& life : kernel.waves)
    if (life.ended) longest = std::max(longest, life.end - life.begin);
  if (longest == 0) return false;
  const std::int64_t pause = std::max(longest, kShortestPause);
  int engine = 0;
  std::optional<std::int64_t> busy_until;
  for (const Lifetime& life : kernel.waves) {
    if (life.engine != engine) busy_until.reset();
    engine = life.engine;
    if (busy_until && life.begin - *busy_until > pause) return true;
    const std::int64_t end = life.ended ? life.end : std::min(life.end, life.begin + longest);
    busy_until = std::max(busy_until.value_or(end), end);
  }
  return false;
}

bool too_many_unended(std::uint64_t unended, std::uint64_t started) {
  return static_cast<double>(unended) > kMostUnended * static_cast<double>(started);
}

std::optional<OccupancyOverTime> occupancy_over_time(const KernelLifetimes& kernel) {
  if (too_many_unended(kernel.unended, kernel.waves.size())) return std::nullopt;
  const std::vector<Lifetime> all = whole_lifetimes(kernel);
  OccupancyOverTime out;
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, int>>> by_cu;
  double lifetimes = 0;
  for (const Lifetime& life : all) {
    out.span = std::max(out.span, life.end);
    auto& changes = by_cu[{life.engine, life.cu}];
    changes.emplace_back(life.begin, 1);
    changes.emplace_back(life.end, -1);
    const auto lasted = static_cast<double>(life.end - life.begin);
    lifetimes += lasted;
    out.longest_lifetime = std::max(out.longest_lifetime, lasted);
  }
  if (out.span <= 0 || all.empty()) return std::nullopt;
  out.mean_lifetime = lifetimes / static_cast<double>(all.size());
  out.cus = by_cu.size();
  for (auto& [cu, changes] : by_cu)
    out.peak = std::max(out.peak, highest(steps(std::move(changes))));
  add_bins(all, out);
  add_edges(all, out);
  return out;
}

}  // namespace perflab::analyze
