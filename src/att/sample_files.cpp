// The smaller files of a folder: clocks, wave states, counters, shader data, other SIMDs and the
// copies of sources (docs/facts/thread_trace.md "Other files").
#include <algorithm>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/rows.h"

namespace perflab::att {
namespace {

/// Increments of a counter: 16 bits in the trace, so that anything else is none.
constexpr std::int64_t kMostIncrement = std::int64_t{1} << 32;

/// Numbers of a list, in order; what is none is -1 there, which no number of these lists can be.
Result<std::vector<std::int64_t>> numbers_at(const dom::object& root, std::string_view key,
                                             std::string_view file) {
  std::vector<std::int64_t> numbers;
  PERFLAB_TRY_VOID(for_each_in(root, key, file, [&](const dom::element& element) {
    std::int64_t number = 0;
    numbers.push_back(element.get(number) == simdjson::SUCCESS ? number : -1);
  }));
  return numbers;
}

/// The leaves of a tree of folders: path on the build machine -> name of the copy.
void take_tree(const dom::object& tree, const std::filesystem::path& above, ThreadTrace& trace) {
  for (const dom::key_value_pair field : tree) {
    const std::filesystem::path path = above / std::string(field.key);
    dom::object below;
    std::string_view copy;
    if (field.value.get(below) == simdjson::SUCCESS)
      take_tree(below, path, trace);
    else if (field.value.get(copy) != simdjson::SUCCESS)
      count_drop(trace.dropped, kSourceDropped);
    else if (!is_plain_name(copy))
      count_drop(trace.dropped, kNameRefused);
    else
      trace.sources.emplace(path.string(), copy);
  }
}

}  // namespace

Result<void> take_realtime(const dom::object& root, std::string_view file, ThreadTrace& trace) {
  for (const dom::key_value_pair field : root) {
    const std::string_view key = field.key;
    if (!key.starts_with("SE")) continue;
    const auto number = engine_number(key.substr(2));
    if (!number) continue;
    auto& clock = engine_of(trace, *number).clock;
    PERFLAB_TRY_VOID(for_each_of(field.value, key, file, [&](const dom::element& element) {
      const auto pair = integers<2>(element);
      if (pair && is_time((*pair)[0]) && (*pair)[1] >= 0)
        clock.push_back({.cycles = (*pair)[0], .realtime = (*pair)[1]});
      else
        count_drop(trace.dropped, kClockDropped);
    }));
  }
  PERFLAB_TRY(const auto metadata, object_at(root, "metadata", file));
  std::int64_t hz = 0;
  // The decoder writes 0 where it does not know the frequency.
  if (metadata && (*metadata)["frequency"].get(hz) == simdjson::SUCCESS && hz > 0)
    trace.realtime_hz = hz;
  return {};
}

Result<void> take_states(const dom::object& root, std::string_view file, StateSteps& steps,
                         Dropped& dropped) {
  PERFLAB_TRY(const auto times, numbers_at(root, "time", file));
  PERFLAB_TRY(const auto counts, numbers_at(root, "state", file));
  for (std::size_t i = 0; i < std::max(times.size(), counts.size()); ++i) {
    const bool good = i < times.size() && i < counts.size() && is_time(times[i]) &&
                      counts[i] >= 0 && counts[i] <= UINT32_MAX &&
                      (steps.time.empty() || steps.time.back() <= times[i]);
    if (!good) {
      count_drop(dropped, kStateDropped);
      continue;
    }
    steps.time.push_back(times[i]);
    steps.count.push_back(counts[i]);
  }
  return {};
}

Result<void> take_counters(const dom::object& root, std::string_view file, ShaderEngine& engine,
                           Dropped& dropped) {
  return for_each_in(root, "data", file, [&](const dom::element& element) {
    const auto row = integers<7>(element);
    if (!row || !is_time((*row)[0]) || !is_small((*row)[5]) || !is_small((*row)[6]))
      return count_drop(dropped, kCounterDropped);
    CounterSample sample{.time = (*row)[0],
                         .values = {(*row)[1], (*row)[2], (*row)[3], (*row)[4]},
                         .cu = static_cast<int>((*row)[5]),
                         .bank = static_cast<int>((*row)[6])};
    if (std::ranges::any_of(sample.values,
                            [](std::int64_t v) { return v < 0 || v > kMostIncrement; }))
      return count_drop(dropped, kCounterDropped);
    engine.counters.push_back(sample);
  });
}

Result<void> take_shader_data(const dom::object& root, std::string_view file, ShaderEngine& engine,
                              Dropped& dropped) {
  return for_each_in(root, "records", file, [&](const dom::element& element) {
    const auto row = integers<5>(element);
    if (!row || !is_time((*row)[0]) || !is_small((*row)[2]) || !is_small((*row)[3]) ||
        !is_small((*row)[4]))
      return count_drop(dropped, kShaderDataDropped);
    engine.shader_data.push_back({.time = (*row)[0],
                                  .value = (*row)[1],
                                  .cu = static_cast<int>((*row)[2]),
                                  .simd = static_cast<int>((*row)[3]),
                                  .slot = static_cast<int>((*row)[4])});
  });
}

Result<void> take_other_simd(const dom::object& root, std::string_view file, ShaderEngine& engine,
                             Dropped& dropped) {
  OtherSimd other;
  std::int64_t room = kLongestLife;
  if (root["begin_time"].get(other.begin) != simdjson::SUCCESS ||
      root["end_time"].get(other.end) != simdjson::SUCCESS || !is_time(other.begin) ||
      !is_time(other.end) || other.end < other.begin) {
    count_drop(dropped, kOtherSimdDropped);
    return {};
  }
  PERFLAB_TRY_VOID(for_each_in(root, "instructions", file, [&](const dom::element& element) {
    const auto row = integers<3>(element);
    if (!row || (*row)[1] < 0 || (*row)[1] > room) return count_drop(dropped, kOtherSimdDropped);
    room -= (*row)[1];
    ++other.instructions;
    other.cycles[category_of((*row)[2])] += (*row)[1];
  }));
  engine.other_simds.push_back(std::move(other));
  return {};
}

void take_sources(const dom::object& root, ThreadTrace& trace) {
  take_tree(root, {}, trace);
}

}  // namespace perflab::att
