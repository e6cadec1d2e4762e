#include "att/att_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

namespace perflab::att {

WholeTrace read_whole(const std::filesystem::path& place, unsigned threads) {
  WholeTrace whole;
  auto listed = find(place);
  if (!listed) {
    ADD_FAILURE() << describe(listed.error());
    return whole;
  }
  // Beside a folder there may be stats files of dispatches that have none.
  if (listed->size() > 1) std::erase_if(*listed, [](const Found& f) { return f.folder.empty(); });
  if (listed->size() != 1) {
    ADD_FAILURE() << listed->size() << " traces in " << place;
    return whole;
  }
  const Found& found = listed->front();
  auto trace = read(found);
  if (!trace) {
    ADD_FAILURE() << describe(trace.error());
    return whole;
  }
  whole.trace = std::move(*trace);
  whole.waves.resize(whole.trace.waves.size());
  whole.visited.resize(whole.trace.waves.size());
  std::mutex mutex;
  const auto read_all = read_waves(
      found, whole.trace,
      [&](std::size_t index, const Wave& wave) {
        const std::scoped_lock lock(mutex);
        EXPECT_FALSE(whole.visited.at(index)) << "visited twice";
        whole.visited.at(index) = true;
        whole.waves.at(index) = wave;
      },
      threads);
  if (!read_all) ADD_FAILURE() << describe(read_all.error());
  return whole;
}

Error error_of(const std::filesystem::path& place) {
  const auto check = [](Error error) {
    EXPECT_EQ(error.code, ErrorCode::bad_input);
    EXPECT_FALSE(error.message.empty());
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
    return error;
  };
  const auto found = find(place);
  if (!found) return check(found.error());
  for (const Found& one : *found) {
    auto trace = read(one);
    if (!trace) return check(trace.error());
    const auto waves = read_waves(one, *trace, [](std::size_t, const Wave&) {}, 1);
    if (!waves) return check(waves.error());
  }
  ADD_FAILURE() << place << " is read without an error";
  return {};
}

std::vector<LineSums> sums_over_waves(const WholeTrace& whole) {
  std::vector<LineSums> sums(whole.trace.code.size());
  for (const Wave& wave : whole.waves) {
    std::int64_t last = wave.begin;
    for (const WaveInstruction& instruction : wave.instructions) {
      if (instruction.row == kNoRow) continue;
      LineSums& line = sums.at(instruction.row);
      line.hits += 1;
      line.latency += instruction.duration;
      line.stall += instruction.stall;
      line.idle += std::max<std::int64_t>(0, instruction.time - last);
      last = std::max(last, instruction.time + instruction.duration);
    }
  }
  return sums;
}

namespace {

void dump_engine(const ShaderEngine& engine, std::string& text) {
  text += fmt::format("engine {} lost {} stalls {}\n", engine.number, engine.packets_lost,
                      engine.trace_stalls);
  for (const OccupancyRow& r : engine.occupancy)
    text += fmt::format("o {} {} {} {} {} {} {}\n", r.time, r.cu, r.simd, r.slot, r.start, r.kernel,
                        r.workgroup.value_or(-1));
  for (const ClockPair& p : engine.clock) text += fmt::format("c {} {}\n", p.cycles, p.realtime);
  for (const CounterSample& s : engine.counters)
    text += fmt::format("p {} {} {} {}\n", s.time, fmt::join(s.values, " "), s.cu, s.bank);
  for (const ShaderData& d : engine.shader_data)
    text += fmt::format("d {} {} {} {} {}\n", d.time, d.value, d.cu, d.simd, d.slot);
  for (const OtherSimd& o : engine.other_simds) {
    text += fmt::format("s {} {} {}\n", o.begin, o.end, o.instructions);
    for (const auto& [category, cycles] : o.cycles)
      text += fmt::format("  {} {}\n", static_cast<int>(category), cycles);
  }
}

void dump_wave(const Wave& wave, std::string& text) {
  text += fmt::format("wave cu {} {} {}\n", wave.place.cu, wave.begin, wave.end);
  for (const WaveInstruction& i : wave.instructions)
    text += fmt::format("{} {} {} {} {}\n", i.time, i.stall, i.duration, i.row,
                        static_cast<int>(i.category));
  for (const StateRun& run : wave.timeline)
    text += fmt::format("t {} {}\n", static_cast<int>(run.state), run.duration);
  for (const WaitLink& link : wave.links)
    text += fmt::format("w {} {} {}\n", link.row, link.first, link.count);
  text += fmt::format("{}\n", fmt::join(wave.link_targets, " "));
}

}  // namespace

std::string dump(const WholeTrace& whole) {
  const ThreadTrace& t = whole.trace;
  std::string text = fmt::format("{} {} {} {} {} {} {}\n", static_cast<int>(t.form), t.name,
                                 t.agent_handle.value_or(-1), t.dispatch_id.value_or(-1), t.version,
                                 t.gfxip.value_or(-1), t.realtime_hz.value_or(-1));
  text += fmt::format("{} bytes, counters {}\n", t.bytes, fmt::join(t.counter_names, ","));
  for (const CodeRow& r : t.code)
    text += fmt::format("{} {} {} {} {} {} {} {} {}\n", r.text, r.line, r.source, r.code_object,
                        r.vaddr, r.hits, r.latency, r.stall, r.idle);
  for (const auto& [id, name] : t.kernels) text += fmt::format("kernel {} {}\n", id, name);
  for (const ShaderEngine& engine : t.engines) dump_engine(engine, text);
  for (const StateSteps& steps : t.states)
    text += fmt::format("state {} {}\n", fmt::join(steps.time, " "), fmt::join(steps.count, " "));
  for (const auto& [path, copy] : t.sources) text += fmt::format("{} {}\n", path, copy);
  for (std::size_t i = 0; i < t.waves.size(); ++i)
    text += fmt::format("{} {} {} {} {} {} {}\n", t.waves[i].shader_engine, t.waves[i].cu,
                        t.waves[i].simd, t.waves[i].slot, t.waves[i].id, t.wave_files.at(i),
                        static_cast<bool>(whole.visited.at(i)));
  for (const auto& [reason, count] : t.dropped) text += fmt::format("{} {}\n", reason, count);
  for (const Wave& wave : whole.waves) dump_wave(wave, text);
  return text;
}

}  // namespace perflab::att
