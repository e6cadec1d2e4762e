// A thread trace (ATT, SQTT) of one dispatch as rocprofv3 decoded it: the code with its per-line
// sums, the waves of the traced CU, and what all CUs of the traced shader engines did. Facts:
// docs/facts/thread_trace.md. All times are shader-clock cycles from the begin of a shader engine's
// trace; each engine has its own zero. They are fractions of what ran there: never a kernel's
// total, never a runtime.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace perflab::att {

/// Index of a row of ThreadTrace::code.
using RowIndex = std::uint32_t;
inline constexpr RowIndex kNoRow = UINT32_MAX;

/// What the issue logic did with an instruction; numbers are those of the files.
enum class Category : std::uint8_t {
  none = 0,
  smem,
  salu,
  vmem,
  flat,
  lds,
  valu,
  jump,            ///< branch taken
  next,            ///< branch not taken
  other_salu = 9,  ///< waitcnt, nop, sleep, end of a barrier ("IMMED")
  context,
  message,
  bvh,
  unknown = 255,
};

/// What a wave was doing; numbers are those of the files.
enum class WaveState : std::uint8_t { empty = 0, idle, exec, wait, stall };
inline constexpr std::size_t kWaveStates = 5;

/// One line of code.json or of the stats file: an instruction and its sums over all traced waves.
struct CodeRow {
  std::string text;       ///< "v_add_f32 v0, v1, v2"; of a label row "; <mangled name>"
  std::int64_t line = 0;  ///< the number waves refer to; -1 from a stats file
  std::string source;     ///< "file:line -> file:line", innermost first; a label's: demangled
  std::int64_t code_object = 0;
  std::uint64_t vaddr = 0;   ///< inside that code object
  std::int64_t hits = 0;     ///< executions
  std::int64_t latency = 0;  ///< cycles from issue attempt to end; `stall` is part of it
  std::int64_t stall = 0;
  std::int64_t idle = 0;  ///< cycles between the previous instruction's end and the attempt

  [[nodiscard]] bool is_label() const { return !text.empty() && text.front() == ';'; }
  friend bool operator==(const CodeRow&, const CodeRow&) = default;
};

/// Where a wave ran. cu: on gfx10 and later the WGP in the low seven bits, the shader array in bit
/// 7 (as recorded).
struct WavePlace {
  int shader_engine = 0, cu = 0, simd = 0, slot = 0;
  int id = 0;  ///< n-th wave in this slot
  friend auto operator<=>(const WavePlace&, const WavePlace&) = default;
};

/// One executed instruction. The idle cycles before it are max(0, time - the latest end so far),
/// where the wave's begin and the instructions with a row count as ends, those without do not: so
/// all recorded captures give CodeRow::idle exactly. Instructions overlap on gfx10 and later.
struct WaveInstruction {
  std::int64_t time = 0;      ///< of the issue attempt
  std::int64_t stall = 0;     ///< cycles, part of `duration`
  std::int64_t duration = 0;  ///< cycles from the attempt to the end
  RowIndex row = kNoRow;      ///< kNoRow: its address is not known to the disassembly
  Category category = Category::none;
  friend bool operator==(const WaveInstruction&, const WaveInstruction&) = default;
};

struct StateRun {
  WaveState state = WaveState::empty;
  std::int64_t duration = 0;
  friend bool operator==(const StateRun&, const StateRun&) = default;
};

/// An execution of a wait, and the instructions it waited for, by the decoder. In order of
/// execution; one execution can have one entry per hardware counter that it waits on, and an
/// execution with nothing outstanding has none.
struct WaitLink {
  RowIndex row = kNoRow;
  std::uint32_t first = 0, count = 0;  ///< what it waited for: a stretch of Wave::link_targets
  friend bool operator==(const WaitLink&, const WaitLink&) = default;
};

/// One wave of the traced CU, as its file has it.
struct Wave {
  WavePlace place;
  std::int64_t begin = 0, end = 0;
  std::vector<WaveInstruction> instructions;  ///< in order
  std::vector<StateRun> timeline;             ///< from `begin` on
  std::vector<WaitLink> links;                ///< empty also where the decoder knows no rule
  std::vector<RowIndex> link_targets;
  friend bool operator==(const Wave&, const Wave&) = default;
};

/// A wave that began or ended, on any CU of a traced shader engine.
struct OccupancyRow {
  std::int64_t time = 0;
  int cu = 0, simd = 0, slot = 0;
  bool start = false;
  std::int64_t kernel = 0;                ///< key of ThreadTrace::kernels; 0: not known
  std::optional<std::int64_t> workgroup;  ///< id; 3.1.0 and later, where recorded
};

/// One (shader clock, real time) pair.
struct ClockPair {
  std::int64_t cycles = 0, realtime = 0;
};

/// A step function: from time[i] on, count[i] waves are in the state.
struct StateSteps {
  std::vector<std::int64_t> time, count;
};

/// Sampled SQ counters of one CU: increments since the sample before.
struct CounterSample {
  std::int64_t time = 0;
  std::array<std::int64_t, 4> values{};
  int cu = 0, bank = 0;  ///< bank 0: counters 0 to 3 of ThreadTrace::counter_names; 1: 4 to 7
};

/// One s_ttracedata record.
struct ShaderData {
  std::int64_t time = 0, value = 0;
  int cu = 0, simd = 0, slot = 0;
};

/// Issue slots that a WGP's other SIMDs took (gfx11 and later): no addresses, sums only.
struct OtherSimd {
  std::int64_t begin = 0, end = 0, instructions = 0;
  std::map<Category, std::int64_t> cycles;
};

struct ShaderEngine {
  int number = 0;
  std::vector<OccupancyRow> occupancy;  ///< by time
  std::uint64_t packets_lost = 0;       ///< PACKET_LOSS events
  std::uint64_t trace_stalls = 0;       ///< TT_STALL_BEGIN events: the trace itself was held up
  std::vector<ClockPair> clock;
  std::vector<CounterSample> counters;
  std::vector<ShaderData> shader_data;
  std::vector<OtherSimd> other_simds;
};

/// What was left out of a trace while reading, by reason: "wave file is missing" -> 3.
using Dropped = std::map<std::string, std::uint64_t>;

/// Where the figures of a ThreadTrace come from.
enum class Form : std::uint8_t {
  ui_output,  ///< a folder with code, waves, occupancy
  stats,      ///< only the stats file: per-line sums, no waves
};

/// One traced dispatch without the waves' instructions (read_waves() visits those).
struct ThreadTrace {
  Form form = Form::ui_output;
  std::string name;  ///< of the folder or file, without its parents: "ui_output_agent_1_dispatch_2"
  std::optional<std::int64_t> agent_handle;  ///< HSA agent handle, from the name
  std::optional<std::int64_t> dispatch_id;   ///< likewise; rocpd's dispatch_id
  std::string version;                       ///< "3.1.0"; empty: not recorded
  std::optional<int> gfxip;                  ///< 9 to 12
  std::vector<std::string> counter_names;
  std::vector<CodeRow> code;                    ///< in file order
  std::map<std::int64_t, std::string> kernels;  ///< ATT-local id -> mangled name (or address)
  std::vector<ShaderEngine> engines;            ///< by number
  std::array<StateSteps, kWaveStates> states;   ///< all traced waves together; wstates files
  std::optional<std::int64_t> realtime_hz;      ///< clock of ClockPair::realtime
  std::map<std::string, std::string>
      sources;                          ///< path on the build machine -> file name of the copy
  std::vector<WavePlace> waves;         ///< that filenames.json lists, by place (cu: -1)
  std::vector<std::string> wave_files;  ///< of those, in the folder
  Dropped dropped;
  std::uint64_t bytes = 0;  ///< of the files read
};

}  // namespace perflab::att
