// Fuzzes the parsers of thread traces: the first byte says which file it is ('a': filenames.json,
// …), the rest is its text; for a wave's file a code.json can stand before it, with a NUL byte
// between. What must hold: one error of the kind "bad input", or rows that keep what the header
// promises, the same ones every time; and a wave makes a thread_trace.json in which its rows and
// states add up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analyze/thread_trace/cycles.h"
#include "analyze/thread_trace/make_detail.h"
#include "att/parse.h"
#include "base/error.h"
#include "report/kit/document.h"
#include "report/thread_trace/thread_trace_document.h"

namespace {

using namespace perflab::att;  // NOLINT(google-build-using-namespace): all of it is used

void check_error(const perflab::Error& error) {
  PERFLAB_CHECK(error.code == perflab::ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty() && error.message.find('\n') == std::string::npos);
}

void check_code(const std::vector<CodeRow>& code) {
  std::int64_t hits = 0, cycles = 0;
  for (const CodeRow& row : code) {
    PERFLAB_CHECK(row.line >= -1 && row.hits >= 0 && row.idle >= 0);
    PERFLAB_CHECK(0 <= row.stall && row.stall <= row.latency);
    hits += row.hits;
    cycles += row.latency + row.idle;
    PERFLAB_CHECK(hits <= kMostCodeCycles && cycles <= kMostCodeCycles);
  }
}

void check_trace(const ThreadTrace& trace) {
  check_code(trace.code);
  PERFLAB_CHECK(trace.waves.size() == trace.wave_files.size());
  PERFLAB_CHECK(std::ranges::all_of(trace.wave_files, is_plain_name));
  for (const auto& [path, copy] : trace.sources) PERFLAB_CHECK(is_plain_name(copy));
  for (std::size_t i = 0; i < trace.engines.size(); ++i) {
    const ShaderEngine& engine = trace.engines[i];
    PERFLAB_CHECK(i == 0 || trace.engines[i - 1].number < engine.number);
    PERFLAB_CHECK(std::ranges::is_sorted(engine.occupancy, {}, &OccupancyRow::time));
    for (const OccupancyRow& row : engine.occupancy)
      PERFLAB_CHECK(row.time >= 0 && row.cu >= 0 && row.simd >= 0 && row.slot >= 0);
    for (const CounterSample& sample : engine.counters)
      PERFLAB_CHECK(std::ranges::min(sample.values) >= 0);
    for (const OtherSimd& other : engine.other_simds) {
      PERFLAB_CHECK(other.begin <= other.end);
      for (const auto& [category, cycles] : other.cycles)
        PERFLAB_CHECK(cycles >= 0 && cycles <= kLongestLife);
    }
  }
  for (const StateSteps& steps : trace.states) {
    PERFLAB_CHECK(steps.time.size() == steps.count.size());
    PERFLAB_CHECK(std::ranges::is_sorted(steps.time));
  }
  PERFLAB_CHECK(!trace.realtime_hz || *trace.realtime_hz > 0);
}

void check_wave(const Wave& wave, std::size_t rows) {
  PERFLAB_CHECK(0 <= wave.begin && wave.begin <= wave.end && wave.end <= kLatestTime);
  PERFLAB_CHECK(wave.end - wave.begin <= kLongestLife);
  std::int64_t cycles = 0, in_states = 0;
  for (const WaveInstruction& i : wave.instructions) {
    PERFLAB_CHECK(wave.begin <= i.time && i.time <= wave.end);
    PERFLAB_CHECK(0 <= i.stall && i.stall <= i.duration);
    PERFLAB_CHECK(i.row == kNoRow || i.row < rows);
    PERFLAB_CHECK(i.category <= Category::bvh || i.category == Category::unknown);
    cycles += i.duration;
  }
  for (const StateRun& run : wave.timeline) {
    PERFLAB_CHECK(static_cast<std::size_t>(run.state) < kWaveStates && run.duration >= 0);
    in_states += run.duration;
  }
  PERFLAB_CHECK(cycles <= kLongestLife && in_states <= kLongestLife);
  std::size_t targets = 0;
  for (const WaitLink& link : wave.links) {
    PERFLAB_CHECK(link.row == kNoRow || link.row < rows);
    PERFLAB_CHECK(link.first == targets);
    targets += link.count;
  }
  PERFLAB_CHECK(targets == wave.link_targets.size());
  for (const RowIndex row : wave.link_targets) PERFLAB_CHECK(row == kNoRow || row < rows);
}

/// The document's rows have the wave's cycles, and its bins the timeline's.
void check_document(const ThreadTrace& trace, const Wave& wave, bool validate) {
  namespace analyze = perflab::analyze;
  const analyze::RowTable table(trace.code);
  const analyze::TraceKernels kernels(trace);
  const analyze::WaitRule rule(trace.code, trace.gfxip);
  analyze::WaveFold fold(table, kernels, rule, true);
  fold.add(wave);
  const std::size_t kernel = kernels.of_wave(wave);
  const analyze::KernelFold& sums = fold.folds()[kernel];
  analyze::KernelThreadTrace traced;
  analyze::add_fold(trace, table, sums, traced);
  auto detail = std::make_shared<analyze::TraceDetail>(
      analyze::make_detail(trace, table, kernels, kernel, sums, analyze::row_sums(sums)));
  analyze::add_source_texts({}, trace, *detail);
  traced.detail = std::move(detail);
  perflab::analyze::Analysis analysis;
  analysis.thread_traces.emplace().traces = {"fuzzed"};
  analysis.thread_traces->kernels = {traced};
  const perflab::Json document = perflab::report::thread_trace_document(analysis);
  const perflab::Json& made = document.at("kernels")[0];
  std::int64_t cost = 0, in_bins = 0, in_runs = 0, in_timeline = 0;
  for (const perflab::Json& row : made.at("rows").at("cost")) cost += row.get<std::int64_t>();
  PERFLAB_CHECK(cost == traced.sums.cost() && made.at("cycles").at("cost") == cost);
  for (const StateRun& run : wave.timeline) in_timeline += run.duration;
  if (!made.at("states").is_null())
    for (const char* state : {"empty", "idle", "exec", "wait", "stall"})
      for (const perflab::Json& bin : made.at("states")[0].at(state))
        in_bins += bin.get<std::int64_t>();
  const perflab::Json& runs = made.at("waves")[0].at("runs");
  for (std::size_t i = 1; i < runs.size(); i += 2) in_runs += runs[i].get<std::int64_t>();
  PERFLAB_CHECK(in_bins == in_timeline && in_runs == in_timeline);
  if (validate) PERFLAB_CHECK(perflab::report::render("thread_trace", document).has_value());
}

/// With a blank where rocprofv3 has none, all of a wave is read through simdjson's DOM.
void check_with_dom(std::string_view text, const LineTable& lines, const Wave& wave,
                    const perflab::att::Dropped& dropped) {
  constexpr std::string_view kKey = "\"instructions\":";
  std::string blank(text);
  if (const std::size_t at = blank.find(kKey); at != std::string::npos)
    blank.insert(at + kKey.size(), 1, ' ');
  Wave by_dom;
  perflab::att::Dropped dropped_by_dom;
  const auto parsed = parse_wave_text(blank, "wave.json", lines, by_dom, dropped_by_dom);
  PERFLAB_CHECK(parsed.has_value() && *parsed);
  PERFLAB_CHECK(by_dom == wave && dropped_by_dom == dropped);
}

/// A wave's file with the code before it, or with a few rows of code.
void run_wave(std::string_view text) {
  ThreadTrace trace;
  if (const std::size_t end = text.find('\0'); end != std::string_view::npos) {
    if (const auto code = parse_text(FileKind::code, 0, text.substr(0, end), "code.json", trace);
        !code)
      return check_error(code.error());
    text.remove_prefix(end + 1);
  } else {
    trace.code.resize(3);
    trace.code[0].text = "; _Z1kv";
    trace.code[1].line = 1;
    trace.code[2].line = 9;
  }
  check_trace(trace);
  const LineTable lines(trace.code);
  Wave wave, again;
  perflab::att::Dropped dropped, dropped_again;
  const auto parsed = parse_wave_text(text, "wave.json", lines, wave, dropped);
  if (!parsed) return check_error(parsed.error());
  if (!*parsed) return PERFLAB_CHECK(dropped.size() == 1);
  check_wave(wave, trace.code.size());
  check_with_dom(text, lines, wave, dropped);
  PERFLAB_CHECK(parse_wave_text(text, "wave.json", lines, again, dropped_again).has_value());
  PERFLAB_CHECK(dropped == dropped_again);
  PERFLAB_CHECK(wave.instructions.size() == again.instructions.size());
  // Parsing the schema takes a hundred times as long as all the rest.
  check_document(trace, wave, text.size() % 128 == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr int kFiles = static_cast<int>(FileKind::sources) + 1;
  const int choice = (data[0] + 256 - 'a') % (kFiles + 2);
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (choice == kFiles + 1) {
    run_wave(text);
    return 0;
  }
  ThreadTrace trace;
  const auto parsed = choice == kFiles
                          ? parse_stats(text, "stats.csv", trace)
                          : parse_text(static_cast<FileKind>(choice), 2, text, "file.json", trace);
  if (!parsed) {
    check_error(parsed.error());
    return 0;
  }
  check_trace(trace);
  static_cast<void>(wave_place_of(text));
  return 0;
}
