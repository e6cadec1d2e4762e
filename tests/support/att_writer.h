// Writes ui_output folders and stats files of rocprofv3's thread trace, layouts 3.0.0 and 3.1.0, so
// that tests have every form of them without recordings. Facts: docs/facts/thread_trace.md; the
// writer shares nothing with the reader of src/att but those facts.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perflab::test {

/// Hit, Latency, Stall and Idle of a code row.
struct UiSums {
  std::int64_t hits = 0, latency = 0, stall = 0, idle = 0;
};

/// A row of code.json. A label's text is "; <mangled name>" and its source the demangled name.
struct UiCodeRow {
  std::string text;
  std::string source{};  ///< "file:line -> file:line", innermost first
  std::int64_t code_object = 1;
  std::optional<std::uint64_t> vaddr{};  ///< unset: 4096 + 8 x number of instructions before it
  std::optional<std::int64_t> line{};    ///< unset: its place in the list
  std::optional<UiSums> sums{};          ///< unset: those over the waves; zeros of a label
};

/// An executed instruction, as the file has it.
struct UiInstruction {
  std::int64_t time = 0;
  int category = 0;
  std::int64_t stall = 0;     ///< part of `duration`
  std::int64_t duration = 0;  ///< stall + issue
  std::int64_t line = 0;
};

/// A run of the timeline. 0 empty, 1 idle, 2 exec, 3 wait, 4 stall.
struct UiState {
  int state = 0;
  std::int64_t duration = 0;
};

/// An entry of `waitcnt`: the wait at `line` was for the instructions at `causes`.
struct UiLink {
  std::int64_t line = 0;
  std::vector<std::int64_t> causes;
};

struct UiWave {
  int engine = 0, simd = 0, slot = 0, id = 0, cu = 1;
  std::int64_t begin = 0, end = 0;
  std::vector<UiInstruction> instructions{};
  std::vector<UiState> timeline{};
  std::vector<UiLink> links{};
};

/// A start or an end of a wave on any CU. The fields behind `kernel` are those of 3.1.0.
struct UiOccupancy {
  int engine = 0;
  std::int64_t time = 0;
  int cu = 1, simd = 0, slot = 0;
  bool start = true;
  std::int64_t kernel = 1;
  int me = 0, pipe = 0, extended = 0;
  std::int64_t workgroup = 0, cluster = 0;
};

/// An event (3.1.0): 6 PACKET_LOSS, 9 TT_STALL_BEGIN, 10 TT_STALL_END, ….
struct UiEvent {
  int engine = 0;
  std::int64_t time = 0;
  int type = 0;
};

/// A (shader clock, real time) pair.
struct UiClock {
  int engine = 0;
  std::int64_t cycles = 0, realtime = 0;
};

/// A sample of streaming SQ counters.
struct UiCounters {
  int engine = 0;
  std::int64_t time = 0;
  std::array<std::int64_t, 4> values{};
  int cu = 1, bank = 0;
};

/// A record of s_ttracedata (3.1.0).
struct UiShaderData {
  int engine = 0;
  std::int64_t time = 0, value = 0;
  int cu = 1, simd = 0, slot = 0, flags = 0;
};

/// An other_simd file (3.1.0, gfx11 and later): rows of time, cycles, category.
struct UiOtherSimd {
  int engine = 0;
  std::int64_t begin = 0, end = 0;
  std::vector<std::array<std::int64_t, 3>> instructions{};
};

/// A traced dispatch. The defaults make a small whole folder of layout 3.1.0 as gfx942 has it.
struct UiOutput {
  std::int64_t agent = 1, dispatch = 1;  ///< of the folder's name
  std::string version = "3.1.0";         ///< or "3.0.0"; empty: no version anywhere
  int gfxip = 9;
  std::vector<std::string> counter_names{};
  std::vector<UiCodeRow> code{};
  std::vector<UiWave> waves{};
  std::map<std::int64_t, std::string> kernels{};  ///< id -> mangled name; "0 / 0x0" is added as 0
  std::vector<UiOccupancy> occupancy{};
  bool occupancy_of_waves = true;  ///< a start and an end (kernel 1) per wave beside `occupancy`
  std::vector<UiEvent> events{};
  std::vector<UiClock> clock{};  ///< empty: no realtime.json
  std::int64_t realtime_hz = 100'000'000;
  std::vector<UiCounters> counters{};
  std::vector<UiShaderData> shader_data{};
  std::vector<UiOtherSimd> other_simds{};
  std::map<std::string, std::string> sources{};  ///< path on the build machine -> text; a copy each

  bool stats = true;                             ///< the stats file beside the folder
  std::set<std::string> leave_out{};             ///< files that are not written ("code.json")
  std::map<std::string, std::string> replace{};  ///< name -> text, instead of or beside the others
};

/// Name of the folder: "ui_output_agent_<agent>_dispatch_<dispatch>".
std::string name_of(const UiOutput& output);
/// Name of a wave's file: "se0_sm1_sl2_wv3.json".
std::string name_of(const UiWave& wave);

/// Writes the folder into `parent` (made when it is not there), the stats file beside it, and
/// returns the folder. What it held before is gone. Aborts when it cannot be written.
std::filesystem::path write_ui_output(const std::filesystem::path& parent, const UiOutput& output);

/// Sums of each code row as write_ui_output() writes them.
std::vector<UiSums> code_sums(const UiOutput& output);

/// Category number that the decoder gives an instruction by its text; a branch counts as taken.
int ui_category(std::string_view text);

/// An execution, for make_ui_wave().
struct UiStep {
  std::int64_t line = 0;  ///< index of the code row
  std::int64_t issue = 4;
  std::int64_t stall = 0;
  std::int64_t idle = 0;               ///< cycles before the attempt
  std::vector<std::int64_t> causes{};  ///< a wait's: lines that it waited for
  std::optional<int> category{};       ///< unset: ui_category() of the row's text
};

/// The wave that executes `steps` one after the other: from `place` (engine, simd, slot, id, cu,
/// begin) on. Its end is that of the last step, its timeline what docs/facts/thread_trace.md
/// "States and buckets" says: idle until the first attempt, then exec, stalls as stall, or as wait
/// where the category is 9 (gfx10 and later: their issue cycles too).
UiWave make_ui_wave(const UiOutput& output, UiWave place, std::span<const UiStep> steps);

/// make_ui_wave(), appended to the output's waves.
void add_ui_wave(UiOutput& output, const UiWave& place, std::span<const UiStep> steps);

}  // namespace perflab::test
