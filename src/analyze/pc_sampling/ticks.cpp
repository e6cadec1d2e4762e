// One sort of the rows by place and time, one walk over them; then ticks are numbered by time.
#include "analyze/pc_sampling/ticks.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>

#include "stats/median.h"

namespace perflab::analyze {
namespace {

using pc_sampling::HardwareId;
using pc_sampling::PcSamples;

/// What ticks are found within: an XCC of a GPU; without place a dispatch.
using Stream = std::tuple<pc_sampling::Index, pc_sampling::Index, std::uint32_t>;

Stream stream_of(const PcSamples& samples, std::size_t row) {
  if (samples.hardware.empty())
    return {samples.source[row],
            samples.dispatch.empty() ? pc_sampling::kNone : samples.dispatch[row], 0};
  return {samples.source[row], samples.agent_of(row), samples.hardware[row].xcc};
}

/// A number below kPlaces of the CU (and SIMD: a WGP has two CUs) within its XCC.
constexpr std::size_t kPlaces = 1U << 13U;
std::size_t cu_place(const HardwareId& id) {
  return (id.shader_engine & 31U) << 8U | (id.shader_array & 1U) << 7U | (id.cu & 31U) << 2U |
         (id.simd & 3U);
}

/// The same without the SIMD, where a CU gives one sample per tick.
constexpr std::size_t kWholeCu = ~std::size_t{3};

bool has_work_group_processors(const PcSamples& samples, std::size_t row) {
  const pc_sampling::Index agent = samples.agent_of(row);
  if (agent == pc_sampling::kNone) return false;
  const std::string& arch = samples.agents[agent].arch;
  return arch.starts_with("gfx1");
}

std::vector<std::uint32_t> in_order(const PcSamples& samples) {
  std::vector<std::uint32_t> rows(samples.size());
  std::iota(rows.begin(), rows.end(), 0U);
  std::ranges::sort(rows, {}, [&](std::uint32_t row) {
    return std::tuple(stream_of(samples, row), samples.timestamp[row], row);
  });
  return rows;
}

/// Walks one stream after the other and says where ticks begin.
class TickWalk {
 public:
  TickWalk(const PcSamples& samples, std::optional<double> tick_ns)
      : samples_(samples), tick_ns_(tick_ns), seen_(kPlaces, 0) {}

  bool begins(std::uint32_t row, bool first) {
    const std::uint64_t now = samples_.timestamp[row];
    const bool begin = first || (samples_.hardware.empty() ? window_over(now) : apart(row, now));
    if (begin) {
      ++tick_;
      since_ = now;
    }
    if (!samples_.hardware.empty()) seen_[key(row)] = tick_;
    last_ = now;
    return begin;
  }

 private:
  [[nodiscard]] std::size_t key(std::uint32_t row) const {
    const std::size_t place = cu_place(samples_.hardware[row]);
    return has_work_group_processors(samples_, row) ? place : place & kWholeCu;
  }
  [[nodiscard]] bool window_over(std::uint64_t now) const {
    return tick_ns_ && static_cast<double>(now - since_) >= *tick_ns_;
  }
  [[nodiscard]] bool apart(std::uint32_t row, std::uint64_t now) const {
    constexpr double kGap = 0.5, kSoonest = 0.25;
    if (tick_ns_ && static_cast<double>(now - last_) > kGap * *tick_ns_) return true;
    const bool again = seen_[key(row)] == tick_;
    return again && (!tick_ns_ || static_cast<double>(now - since_) > kSoonest * *tick_ns_);
  }

  const PcSamples& samples_;
  std::optional<double> tick_ns_;
  std::vector<std::uint32_t> seen_;  ///< last tick by place
  std::uint32_t tick_ = 0;           ///< from 1 on
  std::uint64_t since_ = 0, last_ = 0;
};

/// Numbers ticks by their first time, then by their stream, in which order they are given.
std::vector<std::uint32_t> numbers_by_time(const std::vector<std::uint64_t>& begins) {
  std::vector<std::uint32_t> order(begins.size()), number(begins.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t tick) { return std::tuple(begins[tick], tick); });
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  return number;
}

/// Median distance of two samples of one CU in one dispatch, ns.
std::optional<double> estimated_length(const PcSamples& samples) {
  if (samples.hardware.empty() || samples.timestamp.empty()) return std::nullopt;
  constexpr std::size_t kFewest = 10, kMostRows = 2'000'000;
  std::vector<std::uint32_t> rows(std::min(samples.size(), kMostRows));
  std::iota(rows.begin(), rows.end(), 0U);
  const auto cu = [&](std::uint32_t row) {
    const std::size_t place = cu_place(samples.hardware[row]);
    return std::tuple(stream_of(samples, row), samples.dispatch[row],
                      has_work_group_processors(samples, row) ? place : place & kWholeCu);
  };
  std::ranges::sort(rows, {}, [&](std::uint32_t row) {
    return std::tuple(cu(row), samples.timestamp[row], row);
  });
  std::vector<double> distances;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const std::uint64_t before = samples.timestamp[rows[i - 1]], now = samples.timestamp[rows[i]];
    if (now > before && cu(rows[i]) == cu(rows[i - 1]))
      distances.push_back(static_cast<double>(now - before));
  }
  if (distances.size() < kFewest) return std::nullopt;
  return stats::upper_median(distances);
}

/// The highest clock of the GPUs that gave samples, MHz; 0: not stated.
std::uint32_t clock_of(const PcSamples& samples) {
  std::uint32_t most = 0;
  for (const pc_sampling::Agent& agent : samples.agents) most = std::max(most, agent.max_clock_mhz);
  return most;
}

}  // namespace

TickLength tick_length(const PcSamples& samples, PcIntervalSource source) {
  if (samples.interval && samples.interval->value > 0) {
    const auto value = static_cast<double>(samples.interval->value);
    if (samples.interval->unit == pc_sampling::IntervalUnit::microseconds)
      return {.ns = value * 1e3, .source = source};
    if (const std::uint32_t mhz = clock_of(samples); mhz > 0)
      return {.ns = value / mhz * 1e3, .source = source};
  }
  const std::optional<double> estimated = estimated_length(samples);
  return {.ns = estimated,
          .source = estimated ? PcIntervalSource::estimated : PcIntervalSource::none};
}

Ticks find_ticks(const PcSamples& samples, std::optional<double> tick_ns) {
  Ticks out;
  if (samples.timestamp.empty()) return out;
  const std::vector<std::uint32_t> rows = in_order(samples);
  out.of_row.resize(rows.size());
  std::vector<std::uint64_t> begins;
  TickWalk walk(samples, tick_ns);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first = i == 0 || stream_of(samples, rows[i]) != stream_of(samples, rows[i - 1]);
    if (walk.begins(rows[i], first)) begins.push_back(samples.timestamp[rows[i]]);
    out.of_row[rows[i]] = static_cast<std::uint32_t>(begins.size() - 1);
  }
  const std::vector<std::uint32_t> number = numbers_by_time(begins);
  for (std::uint32_t& tick : out.of_row) tick = number[tick];
  out.count = static_cast<std::uint32_t>(begins.size());
  return out;
}

}  // namespace perflab::analyze
