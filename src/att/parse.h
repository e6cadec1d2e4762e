// What each kind of file of a thread trace says, from its text: what read() and read_waves() are
// made of. Facts: docs/facts/thread_trace.md. Internal to src/att, its fuzz target and its
// benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "att/thread_trace.h"
#include "base/error.h"

namespace perflab::att {

class JsonFile;

/// Later than any time of a trace (2^56 cycles are a year at 2 GHz), and longer than any wave lives
/// (2^40 cycles are nine minutes). Rows beyond are dropped, so that no sum over them can overflow.
inline constexpr std::int64_t kLatestTime = std::int64_t{1} << 56;
inline constexpr std::int64_t kLongestLife = std::int64_t{1} << 40;
/// Of all rows of the code together: hits, latency and idle.
inline constexpr std::int64_t kMostCodeCycles = std::int64_t{1} << 60;

/// Files of a folder beside those of the waves.
enum class FileKind : std::uint8_t {
  filenames,
  code,
  occupancy,
  realtime,
  states,       ///< wstates<number>.json
  counters,     ///< se<number>_perfcounter.json
  shader_data,  ///< shaderdata_<number>_<i>.json
  other_simd,   ///< other_simd_se<number>_<i>.json
  sources,      ///< snapshots.json
};

/// Adds to `trace` what a file says that `json` holds. `number`: the shader engine or the state
/// that its name tells. Errors (bad_input): it is no JSON, or a part of it is not the kind of value
/// it must be. Rows that cannot be are dropped and counted in `trace.dropped`.
Result<void> parse_file(FileKind kind, int number, JsonFile& json, ThreadTrace& trace);

/// The same of a text; for tests and fuzzing.
Result<void> parse_text(FileKind kind, int number, std::string_view text, std::string_view name,
                        ThreadTrace& trace);

/// The code of a stats file. Errors (bad_input): no table, or a column is missing.
Result<void> parse_stats(std::string_view text, std::string_view name, ThreadTrace& trace);

/// The shader engine of that number, which is made when it is not there.
ShaderEngine& engine_of(ThreadTrace& trace, int number);

/// From the number that waves have for an instruction to its row.
class LineTable {
 public:
  explicit LineTable(const std::vector<CodeRow>& code);

  /// kNoRow: no row has it, or it is 0 and stands for an address that was not known.
  [[nodiscard]] RowIndex row(std::int64_t line) const {
    if (line >= 0 && static_cast<std::uint64_t>(line) < dense_.size())
      return dense_[static_cast<std::size_t>(line)];
    const auto found = sparse_.find(line);
    return found == sparse_.end() ? kNoRow : found->second;
  }

 private:
  std::vector<RowIndex> dense_;  ///< of small numbers, which normally are all
  std::unordered_map<std::int64_t, RowIndex> sparse_;
};

/// Reads a wave's file into `wave`, whose place is set but for the CU. False: the wave has no times
/// that can be, and is dropped. Errors as those of parse_file().
Result<bool> parse_wave(JsonFile& json, const LineTable& lines, Wave& wave, Dropped& dropped);

/// The same of a text; for tests and fuzzing.
Result<bool> parse_wave_text(std::string_view text, std::string_view name, const LineTable& lines,
                             Wave& wave, Dropped& dropped);

/// Whether a name from a file leads nowhere but into the folder.
bool is_plain_name(std::string_view name);

/// "se0_sm1_sl2_wv3.json"; nullopt: no wave's file is called so.
std::optional<WavePlace> wave_place_of(std::string_view file_name);

}  // namespace perflab::att
