// Reads a folder: the index, the code, what all CUs did, and, on all cores, the waves' files. A
// worker holds one wave's file at a time.
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <set>

#include "att/json_file.h"
#include "att/parse.h"
#include "att/read_thread_trace.h"
#include "att/rows.h"
#include "base/parallel.h"
#include "base/system/files.h"

namespace perflab::att {
namespace {

namespace fs = std::filesystem;

/// The largest stats file that is read: it is held as text.
constexpr std::uint64_t kMostStatsBytes = std::uint64_t{4} << 30;

/// The number between two parts of a file's name: ("se", "_perfcounter.json").
std::optional<int> number_in(std::string_view name, std::string_view before,
                             std::string_view after) {
  if (!name.starts_with(before) || !name.ends_with(after) ||
      name.size() < before.size() + after.size())
    return std::nullopt;
  const auto number =
      whole_number(name.substr(before.size(), name.size() - before.size() - after.size()));
  if (!number || !is_small(*number)) return std::nullopt;
  return static_cast<int>(*number);
}

/// A file beside those with fixed names.
struct Extra {
  FileKind kind = FileKind::states;
  int number = 0;  ///< engine or state
  int index = 0;   ///< of several of an engine
  std::string name;
  friend auto operator<=>(const Extra&, const Extra&) = default;
};

/// "shaderdata_0_3.json" by ("shaderdata_") and "other_simd_se0_3.json" by ("other_simd_se").
std::optional<Extra> numbered(FileKind kind, std::string_view name, std::string_view prefix) {
  const std::size_t bar = name.rfind('_');
  if (bar == std::string_view::npos || bar < prefix.size()) return std::nullopt;
  const auto number = number_in(name.substr(0, bar), prefix, "");
  const auto index = number_in(name.substr(bar), "_", ".json");
  if (!number || *number >= kMostEngines || !index) return std::nullopt;
  return Extra{.kind = kind, .number = *number, .index = *index, .name = std::string(name)};
}

std::optional<Extra> extra_of(std::string_view name) {
  if (const auto state = number_in(name, "wstates", ".json");
      state && *state < static_cast<int>(kWaveStates))
    return Extra{.kind = FileKind::states, .number = *state, .name = std::string(name)};
  if (const auto engine = number_in(name, "se", "_perfcounter.json");
      engine && *engine < kMostEngines)
    return Extra{.kind = FileKind::counters, .number = *engine, .name = std::string(name)};
  if (auto data = numbered(FileKind::shader_data, name, "shaderdata_")) return data;
  return numbered(FileKind::other_simd, name, "other_simd_se");
}

/// Reads one folder into a ThreadTrace.
class FolderReader {
 public:
  FolderReader(const Found& found, ThreadTrace& trace) : found_(found), trace_(trace) {}

  Result<void> run() {
    PERFLAB_TRY_VOID(list());
    PERFLAB_TRY(const bool names, take(FileKind::filenames, 0, "filenames.json"));
    if (names) {
      PERFLAB_TRY_VOID(count_missing());
    } else {
      count_drop(trace_.dropped, kNamesMissing);
      take_listed_waves();
    }
    sort_waves();
    PERFLAB_TRY(const bool code, take(FileKind::code, 0, "code.json"));
    if (!code) {
      count_drop(trace_.dropped, kCodeMissing);
      if (!found_.stats.empty()) PERFLAB_TRY_VOID(take_stats());
    }
    PERFLAB_TRY(const bool occupancy, take(FileKind::occupancy, 0, "occupancy.json"));
    if (!occupancy) count_drop(trace_.dropped, kOccupancyMissing);
    if (!names && !occupancy && trace_.code.empty() && trace_.waves.empty())
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: holds no thread trace: neither filenames.json, code.json, "
                              "occupancy.json nor files of waves",
                              found_.folder.string()),
                  "give the folder as rocprofv3 --att wrote it, or record it again");
    PERFLAB_TRY_VOID(take(FileKind::realtime, 0, "realtime.json"));
    PERFLAB_TRY_VOID(take(FileKind::sources, 0, "snapshots.json"));
    for (const Extra& extra : extras_) PERFLAB_TRY_VOID(take(extra.kind, extra.number, extra.name));
    return {};
  }

  Result<void> take_stats() {
    PERFLAB_TRY(const std::string text, read_file(found_.stats, kMostStatsBytes));
    trace_.bytes += text.size();
    return parse_stats(text, found_.stats.string(), trace_);
  }

 private:
  Result<void> list() {
    std::error_code error;
    for (fs::directory_iterator entry(found_.folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (const auto place = wave_place_of(name)) listed_waves_.emplace_back(*place, name);
      if (auto extra = extra_of(name)) extras_.insert(std::move(*extra));
    }
    if (error)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: cannot be listed: {}", found_.folder.string(), error.message()));
    return {};
  }

  /// False: the file is not there.
  Result<bool> take(FileKind kind, int number, const std::string& name) {
    PERFLAB_TRY(const bool there, json_.load(found_.folder / name));
    if (!there) return false;
    trace_.bytes += json_.bytes();
    PERFLAB_TRY_VOID(parse_file(kind, number, json_, trace_));
    return true;
  }

  /// Counts the files that filenames.json, which was read last, has beside the waves' and that are
  /// not there: {engine: [[file, begin, end], …]}.
  Result<void> count_missing() {
    PERFLAB_TRY(const dom::object root, json_.parse());
    for (const std::string_view key : {"other_simd_filenames", "shaderdata_filenames"}) {
      PERFLAB_TRY(const auto engines, object_at(root, key, json_.name()));
      if (!engines) continue;
      for (const dom::key_value_pair field : *engines)
        PERFLAB_TRY_VOID(
            for_each_of(field.value, field.key, json_.name(), [&](const dom::element& entry) {
              std::string_view name;
              std::error_code ignored;
              if (entry.at(0).get(name) != simdjson::SUCCESS)
                count_drop(trace_.dropped, kNamesDropped);
              else if (!is_plain_name(name))
                count_drop(trace_.dropped, kNameRefused);
              else if (!fs::exists(found_.folder / name, ignored))
                count_drop(trace_.dropped, kOtherMissing);
            }));
    }
    return {};
  }

  void take_listed_waves() {
    for (const auto& [place, name] : listed_waves_) {
      trace_.waves.push_back(place);
      trace_.wave_files.push_back(name);
    }
  }

  /// By place, so that the order is the same with and without the index. A file that is listed
  /// twice would count twice.
  void sort_waves() {
    std::vector<std::pair<WavePlace, std::string>> waves;
    for (std::size_t i = 0; i < trace_.waves.size(); ++i)
      waves.emplace_back(trace_.waves[i], std::move(trace_.wave_files[i]));
    std::ranges::sort(waves);
    trace_.waves.clear();
    trace_.wave_files.clear();
    std::set<std::string_view> seen;
    for (auto& [place, name] : waves) {
      if (!seen.insert(name).second) {
        count_drop(trace_.dropped, kWaveRepeated);
        continue;
      }
      trace_.waves.push_back(place);
      trace_.wave_files.push_back(name);
      engine_of(trace_, place.shader_engine);
    }
    for (const auto& [place, name] : listed_waves_)
      if (!seen.contains(name)) count_drop(trace_.dropped, kWaveUnlisted);
  }

  const Found& found_;
  ThreadTrace& trace_;
  JsonFile json_;
  std::vector<std::pair<WavePlace, std::string>> listed_waves_;
  std::set<Extra> extras_;
};

/// "ui_output_agent_<handle>_dispatch_<id>"
void take_name(ThreadTrace& trace) {
  constexpr std::string_view kAgent = "ui_output_agent_", kDispatch = "_dispatch_";
  const std::string_view name = trace.name;
  const std::size_t at = name.rfind(kDispatch);
  if (!name.starts_with(kAgent) || at == std::string_view::npos || at < kAgent.size()) return;
  trace.agent_handle = whole_number(name.substr(kAgent.size(), at - kAgent.size()));
  trace.dispatch_id = whole_number(name.substr(at + kDispatch.size()));
}

}  // namespace

ShaderEngine& engine_of(ThreadTrace& trace, int number) {
  const auto place =
      std::ranges::lower_bound(trace.engines, number, std::less<>{}, &ShaderEngine::number);
  if (place != trace.engines.end() && place->number == number) return *place;
  ShaderEngine engine;
  engine.number = number;
  return *trace.engines.insert(place, std::move(engine));
}

Result<void> parse_file(FileKind kind, int number, JsonFile& json, ThreadTrace& trace) {
  PERFLAB_TRY(const dom::object root, json.parse());
  const std::string& file = json.name();
  switch (kind) {
    case FileKind::filenames:
      return take_names(root, file, trace);
    case FileKind::code:
      return take_code(root, file, trace);
    case FileKind::occupancy:
      return take_occupancy(root, file, trace);
    case FileKind::realtime:
      return take_realtime(root, file, trace);
    case FileKind::states:
      return take_states(root, file, trace.states.at(static_cast<std::size_t>(number)),
                         trace.dropped);
    case FileKind::counters:
      return take_counters(root, file, engine_of(trace, number), trace.dropped);
    case FileKind::shader_data:
      return take_shader_data(root, file, engine_of(trace, number), trace.dropped);
    case FileKind::other_simd:
      return take_other_simd(root, file, engine_of(trace, number), trace.dropped);
    case FileKind::sources:
      take_sources(root, trace);
      break;
  }
  return {};
}

Result<void> parse_text(FileKind kind, int number, std::string_view text, std::string_view name,
                        ThreadTrace& trace) {
  JsonFile json;
  PERFLAB_TRY_VOID(json.assign(text, name));
  return parse_file(kind, number, json, trace);
}

Result<ThreadTrace> read(const Found& found) {
  ThreadTrace trace;
  trace.name = found.name;
  take_name(trace);
  FolderReader reader(found, trace);
  if (found.folder.empty()) {
    trace.form = Form::stats;
    PERFLAB_TRY_VOID(reader.take_stats());
  } else {
    PERFLAB_TRY_VOID(reader.run());
  }
  return trace;
}

Result<void> read_waves(const Found& found, ThreadTrace& trace, const WaveVisitor& visit,
                        unsigned threads) {
  const LineTable lines(trace.code);
  const unsigned workers = thread_count(threads);
  struct Worker {
    JsonFile json;
    Wave wave;
    Dropped dropped;
    std::uint64_t bytes = 0;
  };
  std::vector<Worker> all(workers);
  PERFLAB_TRY_VOID(parallel_for(
      trace.waves.size(), workers, [&](unsigned number, std::size_t index) -> Result<void> {
        Worker& worker = all[number];
        PERFLAB_TRY(const bool there, worker.json.load(found.folder / trace.wave_files[index]));
        if (!there) {
          count_drop(worker.dropped, kWaveMissing);
          return {};
        }
        worker.bytes += worker.json.bytes();
        worker.wave.place = trace.waves[index];
        PERFLAB_TRY(const bool usable, parse_wave(worker.json, lines, worker.wave, worker.dropped));
        if (usable) visit(index, worker.wave);
        return {};
      }));
  for (const Worker& worker : all) {
    for (const auto& [reason, count] : worker.dropped) trace.dropped[reason] += count;
    trace.bytes += worker.bytes;
  }
  return {};
}

}  // namespace perflab::att
