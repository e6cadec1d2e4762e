// What the parsers of a thread trace's files share: why rows are dropped, and checks of what all
// rows have. Internal to src/att.
#pragma once

#include <cstdint>
#include <string_view>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/thread_trace.h"

namespace perflab::att {

/// Reasons in ThreadTrace::dropped.
inline constexpr std::string_view kCodeMissing = "code.json is missing",
                                  kNamesMissing = "filenames.json is missing",
                                  kOccupancyMissing = "occupancy.json is missing",
                                  kWaveMissing = "wave file is missing",
                                  kOtherMissing = "listed file is missing",
                                  kNameRefused = "file name leads out of the folder",
                                  kNamesDropped = "entry of filenames.json cannot be",
                                  kWaveRepeated = "wave file is listed twice",
                                  kWaveUnlisted = "wave file is not in filenames.json",
                                  kWaveDropped = "wave has no times that can be",
                                  kCodeRowDropped = "row of code.json cannot be",
                                  kStatsRowDropped = "row of the stats file cannot be",
                                  kInstructionDropped = "instruction of a wave cannot be",
                                  kTimelineDropped = "timeline entry of a wave cannot be",
                                  kLinkDropped = "waitcnt entry of a wave cannot be",
                                  kOccupancyDropped = "row of occupancy.json cannot be",
                                  kEventDropped = "event of occupancy.json cannot be",
                                  kKernelDropped = "dispatch name of occupancy.json cannot be",
                                  kClockDropped = "pair of realtime.json cannot be",
                                  kStateDropped = "step of a wstates file cannot be",
                                  kCounterDropped = "row of a perfcounter file cannot be",
                                  kShaderDataDropped = "row of a shaderdata file cannot be",
                                  kOtherSimdDropped = "row of an other_simd file cannot be",
                                  kSourceDropped = "entry of snapshots.json cannot be";

inline void count_drop(Dropped& dropped, std::string_view reason) {
  ++dropped[std::string(reason)];
}

constexpr bool is_time(std::int64_t value) {
  return value >= 0 && value <= kLatestTime;
}

/// Numbers of a CU, SIMD, slot or wave: far more than any GPU has.
constexpr bool is_small(std::int64_t value) {
  return value >= 0 && value <= 0xffff;
}

/// Shader engines are counted in dozens.
inline constexpr int kMostEngines = 1024;

/// The number of a shader engine that a text is; nullopt: it is none.
inline std::optional<int> engine_number(std::string_view text) {
  const auto number = whole_number(text);
  if (!number || *number >= kMostEngines) return std::nullopt;
  return static_cast<int>(*number);
}

constexpr Category category_of(std::int64_t number) {
  return number >= 0 && number <= static_cast<std::int64_t>(Category::bvh)
             ? static_cast<Category>(number)
             : Category::unknown;
}

/// Adds up what rows of code have, so that sums over them stay below kMostCodeCycles.
class CodeSums {
 public:
  /// False: a figure is negative, the stall is more than the latency, or it is all too much.
  bool take(const CodeRow& row);

 private:
  std::int64_t hits_ = 0, cycles_ = 0;
};

/// Sets the trace's version when it has none yet and the file tells it.
void take_version(const dom::object& root, ThreadTrace& trace);

// One of each FileKind; parse_file() chooses.
Result<void> take_names(const dom::object& root, std::string_view file, ThreadTrace& trace);
Result<void> take_code(const dom::object& root, std::string_view file, ThreadTrace& trace);
Result<void> take_occupancy(const dom::object& root, std::string_view file, ThreadTrace& trace);
Result<void> take_realtime(const dom::object& root, std::string_view file, ThreadTrace& trace);
Result<void> take_states(const dom::object& root, std::string_view file, StateSteps& steps,
                         Dropped& dropped);
Result<void> take_counters(const dom::object& root, std::string_view file, ShaderEngine& engine,
                           Dropped& dropped);
Result<void> take_shader_data(const dom::object& root, std::string_view file, ShaderEngine& engine,
                              Dropped& dropped);
Result<void> take_other_simd(const dom::object& root, std::string_view file, ShaderEngine& engine,
                             Dropped& dropped);
void take_sources(const dom::object& root, ThreadTrace& trace);

}  // namespace perflab::att
