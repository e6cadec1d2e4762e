// Layouts of docs/facts/thread_trace.md: compact JSON with sorted keys, null for an empty list.
#include "support/att_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace perflab::test {
namespace {

using Value = nlohmann::json;  // sorts its keys, as rocprofv3's writer does

/// Empty lists are null in these files.
Value list_or_null(Value::array_t rows) {
  return rows.empty() ? Value(nullptr) : Value(std::move(rows));
}

bool is_label(const UiCodeRow& row) {
  return row.text.starts_with(';');
}

std::int64_t line_of(const UiOutput& output, std::size_t row) {
  return output.code[row].line.value_or(static_cast<std::int64_t>(row));
}

std::vector<std::uint64_t> addresses_of(const UiOutput& output) {
  std::vector<std::uint64_t> addresses;
  std::uint64_t next = 4096;
  for (const UiCodeRow& row : output.code) {
    addresses.push_back(row.vaddr.value_or(next));
    if (!is_label(row)) next += 8;
  }
  return addresses;
}

bool is_newer(const UiOutput& output) {
  return output.version == "3.1.0";
}

void put_version(const UiOutput& output, Value& file) {
  if (!output.version.empty()) file["version"] = output.version;
}

Value code_file(const UiOutput& output) {
  const std::vector<UiSums> sums = code_sums(output);
  const std::vector<std::uint64_t> addresses = addresses_of(output);
  Value::array_t rows;
  for (std::size_t i = 0; i < output.code.size(); ++i) {
    const UiCodeRow& row = output.code[i];
    rows.push_back({row.text, 0, line_of(output, i), row.source, row.code_object, addresses[i],
                    sums[i].hits, sums[i].latency, sums[i].stall, sums[i].idle});
  }
  Value file = {
      {"code", list_or_null(std::move(rows))},
      {"header", "ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"}};
  if (is_newer(output)) file["sqtt_funcmap"] = nullptr;
  put_version(output, file);
  return file;
}

std::string csv_field(std::string_view text) {
  std::string field = "\"";
  for (const char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field + '"';
}

/// The stats file: rows by code object and address, quotes as each version puts them.
std::string stats_file(const UiOutput& output) {
  const std::vector<UiSums> sums = code_sums(output);
  const std::vector<std::uint64_t> addresses = addresses_of(output);
  std::vector<std::size_t> order(output.code.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(output.code[i].code_object, addresses[i]);
  });
  std::string text = is_newer(output)
                         ? "\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\","
                           "\"Stall\",\"Idle\",\"Source\"\n"
                         : "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n";
  // Without traced waves there is a header only.
  if (output.waves.empty() &&
      std::ranges::none_of(output.code, [](const UiCodeRow& row) { return row.sums.has_value(); }))
    return text;
  for (const std::size_t i : order)
    text += fmt::format("{},{},{},{},{},{},{},{}\n", output.code[i].code_object, addresses[i],
                        csv_field(output.code[i].text), sums[i].hits, sums[i].latency,
                        sums[i].stall, sums[i].idle, csv_field(output.code[i].source));
  return text;
}

Value wave_file(const UiWave& wave) {
  Value::array_t instructions, timeline, links;
  for (const UiInstruction& i : wave.instructions)
    instructions.push_back({i.time, i.category, i.stall, i.duration, i.line});
  for (const UiState& run : wave.timeline) timeline.push_back({run.state, run.duration});
  for (const UiLink& link : wave.links) {
    Value::array_t causes;
    for (const std::int64_t line : link.causes) causes.push_back({line, 0});
    links.push_back({link.line, list_or_null(std::move(causes))});
  }
  const std::size_t count = wave.instructions.size();
  return {{"name", fmt::format("SE{}", wave.engine)},
          {"duration", wave.end - wave.begin},
          {"num_insts", count},
          {"num_stitched", count},
          {"wave",
           {{"cu", wave.cu},
            {"id", wave.id},
            {"simd", wave.simd},
            {"slot", wave.slot},
            {"begin", wave.begin},
            {"end", wave.end},
            {"instructions", list_or_null(std::move(instructions))},
            {"timeline", list_or_null(std::move(timeline))},
            {"waitcnt", list_or_null(std::move(links))}}}};
}

std::string other_simd_name(const UiOutput& output, std::size_t index) {
  const int engine = output.other_simds[index].engine;
  const auto before = std::count_if(output.other_simds.begin(),
                                    output.other_simds.begin() + static_cast<std::ptrdiff_t>(index),
                                    [&](const UiOtherSimd& o) { return o.engine == engine; });
  return fmt::format("other_simd_se{}_{}.json", engine, before);
}

std::set<int> engines_of(const UiOutput& output) {
  std::set<int> engines;
  for (const UiWave& wave : output.waves) engines.insert(wave.engine);
  for (const UiOccupancy& row : output.occupancy) engines.insert(row.engine);
  for (const UiEvent& event : output.events) engines.insert(event.engine);
  return engines;
}

Value names_file(const UiOutput& output) {
  Value waves = nullptr;
  for (const UiWave& wave : output.waves)
    waves[std::to_string(wave.engine)][std::to_string(wave.simd)][std::to_string(wave.slot)]
         [std::to_string(wave.id)] = {name_of(wave), wave.begin, wave.end};
  Value file = {{"counter_names", output.counter_names},
                {"gfxip", output.gfxip},
                {"gfxv", output.gfxip == 9 ? "vega" : "navi"},
                {"global_begin_time", 0},
                {"wave_filenames", waves}};
  put_version(output, file);
  if (!is_newer(output)) return file;
  Value others = nullptr, shader_data = nullptr;
  for (std::size_t i = 0; i < output.other_simds.size(); ++i)
    others[std::to_string(output.other_simds[i].engine)].push_back(
        {other_simd_name(output, i), output.other_simds[i].begin, output.other_simds[i].end});
  for (const UiShaderData& record : output.shader_data)
    shader_data[std::to_string(record.engine)] = Value::array(
        {Value::array({fmt::format("shaderdata_{}_0.json", record.engine), 0, record.time})});
  file["other_simd_filenames"] = others;
  file["shaderdata_filenames"] = shader_data;
  return file;
}

std::vector<UiOccupancy> occupancy_rows(const UiOutput& output) {
  std::vector<UiOccupancy> rows = output.occupancy;
  if (output.occupancy_of_waves) {
    for (const UiWave& wave : output.waves) {
      UiOccupancy row{.engine = wave.engine,
                      .time = wave.begin,
                      .cu = wave.cu,
                      .simd = wave.simd,
                      .slot = wave.slot};
      rows.push_back(row);
      row.time = wave.end;
      row.start = false;
      rows.push_back(row);
    }
  }
  std::ranges::stable_sort(
      rows, {}, [](const UiOccupancy& row) { return std::tuple(row.engine, row.time, row.start); });
  return rows;
}

Value occupancy_file(const UiOutput& output) {
  Value file = {{"dispatches", {{"0", "0 / 0x0"}}}};
  for (const auto& [id, name] : output.kernels) file["dispatches"][std::to_string(id)] = name;
  put_version(output, file);
  for (const int engine : engines_of(output)) file[std::to_string(engine)] = nullptr;
  for (const UiOccupancy& row : occupancy_rows(output)) {
    Value fields = {row.time, row.cu, row.simd, row.slot, row.start ? 1 : 0, row.kernel};
    if (is_newer(output))
      for (const std::int64_t more : {std::int64_t{row.me}, std::int64_t{row.pipe},
                                      std::int64_t{row.extended}, row.workgroup, row.cluster})
        fields.push_back(more);
    file[std::to_string(row.engine)].push_back(std::move(fields));
  }
  if (!is_newer(output)) return file;
  file["occupancy_fields"] = {"time",   "cu",           "simd",      "wave_id",
                              "start",  "kernel_id",    "me_id",     "pipe_id",
                              "is_ext", "workgroup_id", "cluster_id"};
  file["events"] = Value::object();
  for (const int engine : engines_of(output)) file["events"][std::to_string(engine)] = nullptr;
  for (const UiEvent& event : output.events)
    file["events"][std::to_string(event.engine)].push_back({{"kind", "event"},
                                                            {"time", event.time},
                                                            {"type", event.type},
                                                            {"me_id", 0},
                                                            {"pipe_id", 0},
                                                            {"flags", 0},
                                                            {"payload", 0},
                                                            {"byte_offset", 0}});
  return file;
}

/// The step functions: how many waves are in each state, over all waves.
std::array<std::map<std::int64_t, std::int64_t>, 5> state_changes(const UiOutput& output) {
  std::array<std::map<std::int64_t, std::int64_t>, 5> changes;
  for (const UiWave& wave : output.waves) {
    std::int64_t time = wave.begin;
    for (const UiState& run : wave.timeline) {
      auto& of_state = changes.at(static_cast<std::size_t>(run.state));
      of_state[time] += 1;
      time += run.duration;
      of_state[time] -= 1;
    }
  }
  return changes;
}

using Files = std::map<std::string, std::string>;

void add_states(const UiOutput& output, Files& files) {
  const auto changes = state_changes(output);
  for (std::size_t state = 0; state < changes.size(); ++state) {
    if (changes.at(state).empty()) continue;
    const std::string name = fmt::format("wstates{}.json", state);
    Value::array_t times, counts;
    std::int64_t count = 0;
    for (const auto& [time, change] : changes.at(state)) {
      if (change == 0) continue;
      count += change;
      times.emplace_back(time);
      counts.emplace_back(count);
    }
    files[name] = Value{{"name", name}, {"time", times}, {"state", counts}}.dump();
  }
}

void add_samples(const UiOutput& output, Files& files) {
  Value clock;
  for (const UiClock& pair : output.clock)
    clock[fmt::format("SE{}", pair.engine)].push_back({pair.cycles, pair.realtime});
  if (!output.clock.empty()) {
    clock["metadata"] = {{"frequency", output.realtime_hz},
                         {"descriptor", "[gfx_clock, realtime_clock]"}};
    files["realtime.json"] = clock.dump();
  }
  std::map<int, Value::array_t> counters;
  for (const UiCounters& sample : output.counters)
    counters[sample.engine].push_back({sample.time, sample.values[0], sample.values[1],
                                       sample.values[2], sample.values[3], sample.cu, sample.bank});
  for (auto& [engine, rows] : counters)
    files[fmt::format("se{}_perfcounter.json", engine)] = Value{{"data", std::move(rows)}}.dump();
  if (!is_newer(output)) return;
  std::map<int, Value::array_t> records;
  for (const UiShaderData& r : output.shader_data)
    records[r.engine].push_back({r.time, r.value, r.cu, r.simd, r.slot, r.flags});
  for (auto& [engine, rows] : records)
    files[fmt::format("shaderdata_{}_0.json", engine)] = Value{
        {"type", "shaderdata"},
        {"records_count", rows.size()},
        {"records_schema", {"time", "value"}},
        {"records", std::move(rows)}}.dump();
  for (std::size_t i = 0; i < output.other_simds.size(); ++i) {
    const UiOtherSimd& other = output.other_simds[i];
    Value::array_t rows;
    for (const auto& row : other.instructions) rows.push_back(row);
    files[other_simd_name(output, i)] = Value{
        {"type", "OTHER_SIMD_INSTRUCTIONS"},
        {"wgp", 1},
        {"begin_time", other.begin},
        {"end_time", other.end},
        {"instructions_count", rows.size()},
        {"instructions_schema", {"time", "category"}},
        {"instructions",
         list_or_null(std::move(rows))}}.dump();
  }
}

/// snapshots.json: a tree of folders whose leaves name the copies.
void add_sources(const UiOutput& output, Files& files) {
  Value tree = Value::object();
  int number = 0;
  for (const auto& [path, text] : output.sources) {
    const std::string copy =
        fmt::format("source_{}_{}", number++, std::filesystem::path(path).filename().string());
    Value* node = &tree;
    for (const auto& part : std::filesystem::path(path)) node = &(*node)[part.string()];
    *node = copy;
    files[copy] = text;
  }
  if (!output.sources.empty()) files["snapshots.json"] = tree.dump();
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  PERFLAB_CHECK(!file.fail());
}

}  // namespace

std::string name_of(const UiOutput& output) {
  return fmt::format("ui_output_agent_{}_dispatch_{}", output.agent, output.dispatch);
}

std::string name_of(const UiWave& wave) {
  return fmt::format("se{}_sm{}_sl{}_wv{}.json", wave.engine, wave.simd, wave.slot, wave.id);
}

std::vector<UiSums> code_sums(const UiOutput& output) {
  std::vector<UiSums> sums(output.code.size());
  std::map<std::int64_t, std::size_t> row_of;
  for (std::size_t i = 0; i < output.code.size(); ++i) row_of.emplace(line_of(output, i), i);
  for (const UiWave& wave : output.waves) {
    // An instruction that is on no line stands in the next one's idle cycles; where instructions
    // overlap (gfx10 and later) there are none.
    std::int64_t last = wave.begin;
    for (const UiInstruction& instruction : wave.instructions) {
      const auto row = row_of.find(instruction.line);
      if (row == row_of.end() || is_label(output.code[row->second])) continue;
      UiSums& line = sums[row->second];
      line.hits += 1;
      line.latency += instruction.duration;
      line.stall += instruction.stall;
      line.idle += std::max<std::int64_t>(0, instruction.time - last);
      last = std::max(last, instruction.time + instruction.duration);
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (output.code[i].sums) sums[i] = *output.code[i].sums;
  return sums;
}

std::filesystem::path write_ui_output(const std::filesystem::path& parent, const UiOutput& output) {
  std::filesystem::path folder = parent / name_of(output);
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  Files files{{"code.json", code_file(output).dump()},
              {"filenames.json", names_file(output).dump()},
              {"occupancy.json", occupancy_file(output).dump()}};
  for (const UiWave& wave : output.waves) files[name_of(wave)] = wave_file(wave).dump();
  add_states(output, files);
  add_samples(output, files);
  add_sources(output, files);
  for (const std::string& name : output.leave_out) files.erase(name);
  for (const auto& [name, text] : output.replace) files[name] = text;
  for (const auto& [name, text] : files) write_text(folder / name, text);
  if (output.stats) write_text(parent / ("stats_" + name_of(output) + ".csv"), stats_file(output));
  return folder;
}

int ui_category(std::string_view text) {
  static constexpr std::pair<std::string_view, int> kPrefixes[] = {
      {"s_load", 1},     {"s_buffer_load", 1}, {"s_store", 1},
      {"s_dcache", 1},   {"s_waitcnt", 9},     {"s_wait_", 9},
      {"s_nop", 9},      {"s_sleep", 9},       {"s_barrier_signal", 11},
      {"s_barrier", 9},  {"s_cbranch", 7},     {"s_branch", 7},
      {"s_setpc", 7},    {"s_swappc", 7},      {"s_endpgm", 11},
      {"s_sendmsg", 11}, {"s_ttracedata", 11}, {"s_", 2},
      {"v_", 6},         {"ds_", 5},           {"flat_", 4},
      {"global_", 4},    {"scratch_", 4},      {"buffer_", 3},
      {"tbuffer_", 3},   {"image_bvh", 12},    {"image_", 3}};
  const auto* const found = std::ranges::find_if(
      kPrefixes, [&](const auto& entry) { return text.starts_with(entry.first); });
  return found == std::end(kPrefixes) ? 0 : found->second;
}

UiWave make_ui_wave(const UiOutput& output, UiWave place, std::span<const UiStep> steps) {
  std::int64_t time = place.begin;
  const auto spend = [&](int state, std::int64_t cycles) {
    if (cycles <= 0) return;
    if (!place.timeline.empty() && place.timeline.back().state == state)
      place.timeline.back().duration += cycles;
    else
      place.timeline.push_back({.state = state, .duration = cycles});
    time += cycles;
  };
  for (const UiStep& step : steps) {
    const UiCodeRow& row = output.code.at(static_cast<std::size_t>(step.line));
    const int category = step.category.value_or(ui_category(row.text));
    const std::int64_t line = line_of(output, static_cast<std::size_t>(step.line));
    const bool waits = category == 9;
    spend(place.instructions.empty() ? 1 : 2, step.idle);
    place.instructions.push_back({.time = time,
                                  .category = category,
                                  .stall = step.stall,
                                  .duration = step.stall + step.issue,
                                  .line = line});
    spend(waits ? 3 : 4, step.stall);
    spend(waits && output.gfxip >= 10 ? 3 : 2, step.issue);
    if (!step.causes.empty()) {
      UiLink link{.line = line, .causes = {}};
      for (const std::int64_t cause : step.causes)
        link.causes.push_back(line_of(output, static_cast<std::size_t>(cause)));
      place.links.push_back(std::move(link));
    }
  }
  place.end = time;
  return place;
}

void add_ui_wave(UiOutput& output, const UiWave& place, std::span<const UiStep> steps) {
  output.waves.push_back(make_ui_wave(output, place, steps));
}

}  // namespace perflab::test
