// Readers of both sides of a comparison. Documents that hold summaries only lead to the databases
// that they were made from.
#include "compare/read_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/enum_names.h"
#include "base/system/files.h"
#include "base/system/memory.h"
#include "base/text/json_fields.h"
#include "base/text/numbers.h"
#include "collect/run_folder.h"
#include "compare/dispatch_samples.h"
#include "stats/summary.h"
#include "trace/read/file_kind.h"
#include "trace/read/read_trace.h"
#include "tune/evaluate/evaluator.h"
#include "tune/records/journal.h"

namespace perflab::compare {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFewestRunSums = 3;  // fewer have no interval

std::unexpected<Error> bad_input(const fs::path& file, std::string_view what,
                                 std::string remedy = {}) {
  return fail(ErrorCode::bad_input, fmt::format("{}: {}", file.string(), what), std::move(remedy));
}

void add_note(SampleSide& side, std::string note) {
  if (std::ranges::find(side.notes, note) == side.notes.end())
    side.notes.push_back(std::move(note));
}

SampleSeries& series_of(SampleSide& side, const std::string& name) {
  const auto found = std::ranges::find(side.series, name, &SampleSeries::name);
  if (found != side.series.end()) return *found;
  side.series.emplace_back().name = name;
  return side.series.back();
}

/// Puts the samples and runs of `more` behind those of `side`.
void append_side(SampleSide& side, SampleSide&& more) {
  for (SampleSeries& from : more.series) {
    SampleSeries& to = series_of(side, from.name);
    if (to.mangled_name.empty()) to.mangled_name = from.mangled_name;
    if (to.samples.empty())
      to.samples = std::move(from.samples);
    else
      to.samples.insert(to.samples.end(), from.samples.begin(), from.samples.end());
    if (!from.run_sums.empty()) {
      to.run_sums.resize(side.runs);
      to.run_sums.insert(to.run_sums.end(), from.run_sums.begin(), from.run_sums.end());
    }
    std::vector<trace::LaunchConfig> launches;
    std::ranges::set_union(to.launches, from.launches, std::back_inserter(launches));
    to.launches = std::move(launches);
  }
  side.runs += more.runs;
  if (side.series.size() > 1 || side.other_kernels != more.other_kernels) side.other_kernels = {};
  if (side.other_share != more.other_share) side.other_share = {};
  side.run_totals.insert(side.run_totals.end(), more.run_totals.begin(), more.run_totals.end());
  for (SampleSeries& series : side.series)
    if (!series.run_sums.empty()) series.run_sums.resize(side.runs);
  side.part_of_kernels = side.part_of_kernels || more.part_of_kernels;
  if (side.synthetic.empty()) side.synthetic = more.synthetic;
  for (std::string& note : more.notes) add_note(side, std::move(note));
  side.read_files.insert(side.read_files.end(), more.read_files.begin(), more.read_files.end());
  side.recordings.insert(side.recordings.end(), more.recordings.begin(), more.recordings.end());
}

SampleSide side_of_run(compare::RunSamples&& run) {
  SampleSide side;
  side.runs = 1;
  side.synthetic = run.synthetic;
  for (compare::DispatchSamples& kernel : run.kernels) {
    SampleSeries& series = side.series.emplace_back();
    series.name = kernel.name;
    series.mangled_name = kernel.mangled_name;
    series.launches = std::move(kernel.launches);
    double sum = 0;
    for (const std::int64_t duration : kernel.durations) {
      series.samples.push_back(static_cast<double>(duration));
      sum += static_cast<double>(duration);
    }
    series.run_sums = {sum};
  }
  if (run.under_counters)
    add_note(side,
             "the times are those of a counter pass, in which dispatches run one after the other");
  if (run.only_runtime_helpers)
    add_note(side, "there are no kernels but the runtime's own: these are compared");
  return side;
}

using RecordingFiles = std::vector<fs::path>;

/// Recordings, a run per group.
Result<SampleSide> read_recordings(const std::vector<RecordingFiles>& groups, unsigned threads) {
  SampleSide side;
  side.unit = "ns";
  side.larger_is_better = false;
  side.samples_are = SampleKind::dispatch;
  for (const RecordingFiles& group : groups) {
    side.read_files.insert(side.read_files.end(), group.begin(), group.end());
    side.recordings.insert(side.recordings.end(), group.begin(), group.end());
    PERFLAB_TRY(const trace::Trace trace,
                trace::read(group, {.threads = threads,
                                    .memory = {.bytes = available_memory().value_or(0),
                                               .remedy = "compare where there is more memory"}}));
    PERFLAB_TRY(std::vector<compare::RunSamples> runs, compare::dispatch_samples(trace));
    for (compare::RunSamples& run : runs) append_side(side, side_of_run(std::move(run)));
  }
  return side;
}

/// N of "PREFIXN"; nothing: it is not of that form.
std::optional<std::size_t> number_behind(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return whole_number<std::size_t>(name.substr(prefix.size()));
}

/// Where a recording lies among the folders of a profile.
struct RecordingPlace {
  fs::path collection;             ///< what comes before the run's folder
  std::optional<std::size_t> run;  ///< N of run_N
  bool other_pass = false;         ///< of counters, or of a thread trace
};

RecordingPlace place_of(const fs::path& file) {
  RecordingPlace place;
  for (const fs::path& part : file.parent_path()) {
    const std::string name = part.string();
    if (const auto run = number_behind(name, "run_")) {
      place.run = run;
      return place;
    }
    if (number_behind(name, "pass_") || number_behind(name, "pmc_") || name == "att")
      place.other_pass = true;
    place.collection /= part;
  }
  return place;
}

/// Recordings by run: those in run_N folders; where there are none, all are of one run.
std::map<std::size_t, RecordingFiles> by_run(const RecordingFiles& files) {
  std::map<std::size_t, RecordingFiles> runs;
  for (const fs::path& file : files)
    if (const RecordingPlace place = place_of(file); place.run && !place.other_pass)
      runs[*place.run].push_back(file);
  if (runs.empty()) runs[1] = files;
  return runs;
}

std::vector<RecordingFiles> values_of(std::map<std::size_t, RecordingFiles>&& runs) {
  std::vector<RecordingFiles> groups;
  for (auto& [number, files] : runs) groups.push_back(std::move(files));
  return groups;
}

std::string text_at(const Json& json, std::initializer_list<std::string_view> keys) {
  const Json* found = member_at(json, keys);
  return found == nullptr ? std::string() : value_as<std::string>(*found).value_or("");
}

/// A path in a document: as it stands there, or beside the document.
fs::path resolved(const fs::path& path, const fs::path& document) {
  std::error_code ignored;
  if (path.is_absolute() || fs::exists(path, ignored)) return path;
  fs::path beside = document.parent_path() / path;
  return fs::exists(beside, ignored) ? beside : path;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// The databases that a profile.json or analysis.json names.
RecordingFiles databases_of(const Json& document, const fs::path& file) {
  RecordingFiles found;
  const auto add = [&](const Json& name) {
    if (!name.is_string()) return;
    fs::path path = resolved(name.get<std::string>(), file);
    if (std::ranges::find(found, path) == found.end()) found.push_back(std::move(path));
  };
  if (const Json* databases = member_at(document, {"environment", "databases"});
      databases != nullptr && databases->is_array())
    for (const Json& name : *databases) add(name);
  if (const Json* recordings = member_at(document, {"environment", "recordings"});
      recordings != nullptr && recordings->is_array())
    for (const Json& recording : *recordings)
      if (const Json* name = member(recording, "file")) add(*name);
  return found;
}

/// Which runs of a profile count: the one numbered N stands at N - 1. A run that did not end well
/// has no sum unless none did.
std::vector<std::optional<double>> run_sums_of(const Json& profile) {
  std::vector<std::optional<double>> sums;
  const Json* runs = member_at(profile, {"stability", "runs"});
  if (runs == nullptr || !runs->is_array()) return sums;
  for (const Json& run : *runs) {
    sums.push_back(member_as<double>(run, "kernel_total_ns"));
  }
  return sums;
}

/// What a profile says of the kernels beside the selected one: how many, and their share.
void add_others(SampleSide& side, const Json& profile) {
  const Json* const kernel = member(profile, "kernel");
  if (kernel == nullptr) return;
  side.other_kernels = member_as<std::size_t>(*kernel, "other_kernels");
  const std::optional<double> share = member_as<double>(*kernel, "share");
  if (share) side.other_share = 1 - *share;
  side.part_of_kernels = side.other_kernels.value_or(1) > 0 && side.other_share.value_or(1) > 0;
  if (!side.part_of_kernels) return;
  const Json* const runs = member_at(profile, {"stability", "runs"});
  for (const Json& run : *runs)
    if (const auto total = member_as<double>(run, "all_kernels_total_ns"))
      side.run_totals.push_back(*total);
}

/// A profile without its databases: the sums of its runs, of the selected kernel only.
Result<SampleSide> profile_alone(const Json& document, const fs::path& file,
                                 const std::string& gone) {
  const std::string kernel = text_at(document, {"kernel", "name"});
  if (kernel.empty()) return bad_input(file, "it has no kernel, so there is nothing to compare");
  SampleSeries series;
  series.name = kernel;
  series.mangled_name = text_at(document, {"kernel", "mangled_name"});
  for (const std::optional<double>& sum : run_sums_of(document))
    if (sum) series.run_sums.push_back(sum);
  const std::size_t runs = series.run_sums.size();
  if (runs < kFewestRunSums)
    return bad_input(
        file,
        fmt::format("{}, and alone it holds {} sum{} of a run, which is too few to compare", gone,
                    runs, runs == 1 ? "" : "s"),
        "keep the databases where the profile was made, or give them in its place");
  SampleSide side;
  side.unit = "ns";
  side.larger_is_better = false;
  side.samples_are = SampleKind::run;
  side.runs = runs;
  add_others(side, document);
  side.synthetic = text_at(document, {"synthetic"});
  side.series.push_back(std::move(series));
  add_note(side, fmt::format("the databases of the profile are not there: only the sums of the "
                             "selected kernel in its {} runs are compared",
                             runs));
  return side;
}

Result<SampleSide> read_profile(const Json& document, const fs::path& file, unsigned threads) {
  const RecordingFiles files = databases_of(document, file);
  if (files.empty()) return profile_alone(document, file, "it names no database");
  const auto gone = std::ranges::find_if_not(files, is_there);
  if (gone != files.end())
    return profile_alone(document, file,
                         fmt::format("its database {} is not there", gone->string()));
  const auto sums = run_sums_of(document);
  if (sums.size() < 2) return read_recordings({files}, threads);  // whatever their folders
  std::map<std::size_t, RecordingFiles> runs = by_run(files);
  if (std::ranges::any_of(sums, &std::optional<double>::has_value))
    std::erase_if(runs, [&](const auto& run) {
      return run.first == 0 || run.first > sums.size() || !sums[run.first - 1];
    });
  if (runs.empty()) return bad_input(file, "its databases are not in one folder per run");
  return read_recordings(values_of(std::move(runs)), threads);
}

Result<SampleSide> read_analysis(const Json& document, const fs::path& file, unsigned threads) {
  const RecordingFiles files = databases_of(document, file);
  constexpr std::string_view kSummaries = "it holds summaries and no samples, and";
  const char* const remedy = "compare the databases themselves, or keep them where they were";
  if (files.empty())
    return bad_input(file, fmt::format("{} it names no database", kSummaries), remedy);
  const auto gone = std::ranges::find_if_not(files, is_there);
  if (gone != files.end())
    return bad_input(
        file, fmt::format("{} its database {} is not there", kSummaries, gone->string()), remedy);
  return read_recordings({files}, threads);
}

Result<SampleSide> read_replay(const Json& document, const fs::path& file) {
  SampleSide side;
  side.unit = "ns";
  side.larger_is_better = false;
  side.samples_are = SampleKind::iteration;
  SampleSeries series;
  series.mangled_name = text_at(document, {"kernel", "name"});
  series.name = text_at(document, {"kernel", "demangled"});
  if (series.name.empty()) series.name = series.mangled_name;
  const Json* samples = member_at(document, {"timing", "samples"});
  if (text_at(document, {"timing", "unit"}) != "ns" || samples == nullptr || !samples->is_array() ||
      samples->empty() ||
      !std::ranges::all_of(*samples, [](const Json& one) { return one.is_number(); }))
    return bad_input(file,
                     "\"timing\" has no samples in ns: this is not a replay.json of rocm-perf");
  for (const Json& one : *samples) series.samples.push_back(one.get<double>());
  if (text_at(document, {"execution", "mode"}) == "no_recopy")
    add_note(side, "memory was not restored between the iterations (no_recopy)");
  side.series.push_back(std::move(series));
  return side;
}

/// One configuration of a journal.
struct Configuration {
  std::vector<double> search;  ///< samples of the search
  double value = 0;            ///< of the search
  std::vector<double> finals;  ///< a value per round of the last comparison
};

/// What was best at the end: by the last comparison, where it took three rounds or more.
const Configuration* best_configuration(const std::map<std::string, Configuration>& all,
                                        bool maximize) {
  const Configuration* best = nullptr;
  std::pair<bool, double> of_best;
  for (const auto& [key, one] : all) {
    const bool compared = one.finals.size() >= kFewestRunSums;
    if (!compared && one.search.empty()) continue;
    const double value =
        compared ? stats::summarize(one.finals).median.value_or(one.value) : one.value;
    const std::pair<bool, double> rank = {compared, maximize ? value : -value};
    if (best != nullptr && rank <= of_best) continue;
    best = &one;
    of_best = rank;
  }
  return best;
}

Result<SampleSide> read_journal(std::string_view text, const fs::path& file) {
  PERFLAB_TRY(const tune::JournalText journal, tune::parse_journal(text, file.string()));
  SampleSide side;
  const tune::JournalKey key = journal.key.value_or(tune::JournalKey{});
  side.larger_is_better = key.goal == tune::kMaximize;
  if (key.kind == tune::to_string(tune::ObjectiveKind::gpu_time)) side.unit = "ns";
  if (key.kind == tune::to_string(tune::ObjectiveKind::wall_time)) side.unit = "s";
  side.samples_are = SampleKind::repeat;
  std::map<std::string, Configuration> configurations;
  for (const tune::JournalEntry& entry : journal.entries) {
    if (!entry.evaluation.value) continue;
    Configuration& one = configurations[tune::configuration_key(entry.configuration)];
    if (entry.round == "search") {
      one.search = entry.evaluation.samples;
      one.value = *entry.evaluation.value;
    } else {
      one.finals.push_back(*entry.evaluation.value);
    }
  }
  const Configuration* best = best_configuration(configurations, *side.larger_is_better);
  if (best == nullptr)
    return bad_input(file, "no configuration worked in this tuning, so there are no samples");
  side.series.emplace_back().samples =
      best->finals.size() >= kFewestRunSums ? best->finals : best->search;
  add_note(side, fmt::format("the samples are those of the best of {} configurations{}",
                             configurations.size(),
                             best->finals.size() >= kFewestRunSums
                                 ? ", from its last comparison"
                                 : ", from the search: the best is also the luckiest"));
  return side;
}

Result<SampleSide> read_autotune(const Json& document, const fs::path& file) {
  const std::string name = text_at(document, {"environment", "journal"});
  const fs::path journal = resolved(name, file);
  if (name.empty() || !is_there(journal))
    return bad_input(file,
                     name.empty() ? "it holds no samples, and the tuning kept no journal"
                                  : fmt::format("it holds no samples, and its journal {} is not "
                                                "there",
                                                name),
                     "tune with --journal FILE, and compare the journals");
  PERFLAB_TRY(const std::string text, read_file(journal));
  PERFLAB_TRY(SampleSide side, read_journal(text, journal));
  side.read_files.push_back(journal);
  return side;
}

/// The accepted source of an optimisation, as its final proof timed it.
Result<SampleSide> read_optimization(const Json& document, const fs::path& file) {
  const Json* measurement = member_at(document, {"final", "measurement"});
  const Json* samples = member_at(document, {"final", "measurement", "samples", "after"});
  if (member_at(document, {"accepted", "number"}) == nullptr || samples == nullptr)
    return bad_input(file, "nothing was accepted, so there are no times of a new source",
                     "its original is timed in the ledger of the same run, beside each candidate");
  SampleSide side;
  side.unit = text_at(*measurement, {"unit"});
  const Json* larger = member_at(*measurement, {"larger_is_better"});
  side.larger_is_better = larger != nullptr && larger->is_boolean() && larger->get<bool>();
  side.samples_are = SampleKind::repeat;
  SampleSeries series;
  series.name = text_at(document, {"source", "kernel"});
  if (!samples->is_array() || samples->empty() ||
      !std::ranges::all_of(*samples, [](const Json& one) { return one.is_number(); }))
    return bad_input(file,
                     "\"final\" has no samples: this is not an optimization.json of rocm-perf");
  for (const Json& one : *samples) series.samples.push_back(one.get<double>());
  side.series.push_back(std::move(series));
  return side;
}

Result<SampleSide> read_document(std::string_view text, const fs::path& file, unsigned threads) {
  PERFLAB_TRY(const Json document, parse_json(text, file.string()));
  const std::string kind = text_at(document, {"document"});
  Result<SampleSide> side =
      fail(ErrorCode::bad_input,
           kind.empty()
               ? fmt::format("{}: this is not a document of rocm-perf", file.string())
               : fmt::format("{}: a document '{}' holds nothing to compare", file.string(), kind),
           "compare recordings that analyze reads, profile.json, analysis.json, replay.json, "
           "autotune.json, optimization.json, journals, or texts with one number per line");
  if (kind == "profile") side = read_profile(document, file, threads);
  if (kind == "analysis") side = read_analysis(document, file, threads);
  if (kind == "replay") side = read_replay(document, file);
  if (kind == "autotune") side = read_autotune(document, file);
  if (kind == "optimization") side = read_optimization(document, file);
  if (!side) return side;
  side->kind = kind;
  side->read_files.push_back(file);
  return side;
}

/// How a side is called that was read from recordings.
std::string recording_kind(const fs::path& path) {
  switch (trace::kind_of_file(path)) {
    case trace::FileKind::kineto:
      return "kineto";
    case trace::FileKind::rocprofv3_json:
    case trace::FileKind::text:
      return "rocprofv3";
    default:
      return "rocpd";
  }
}

/// What of a folder is compared: the databases that profilers leave; without any, all recordings.
/// The same run may lie there in several forms: those of one form are taken, and it is said.
RecordingFiles recordings_of_folder(const fs::path& folder, std::vector<std::string>& notes) {
  RecordingFiles files;
  for (const auto found = collect::find_databases(folder);
       const collect::DatabaseFile& database : found.databases)
    files.push_back(database.path);
  if (!files.empty()) return files;
  std::map<trace::FileKind, RecordingFiles> by_kind;
  for (fs::path& path : trace::recordings_below(folder))
    by_kind[trace::kind_of_file(path)].push_back(std::move(path));
  using enum trace::FileKind;
  for (const trace::FileKind kind : {database, rocprofv3_json, text, kineto}) {
    if (!by_kind.contains(kind)) continue;
    if (!files.empty())
      notes.push_back(
          fmt::format("{} and other recordings in the folder are of another form than "
                      "{}: only those like the latter are compared",
                      by_kind[kind].front().string(), files.front().string()));
    else
      files = by_kind[kind];
  }
  return files;
}

/// The profile.json of a folder, or its recordings by run.
Result<SampleSide> read_folder(const fs::path& folder, unsigned threads) {
  if (const fs::path profile = folder / "profile.json"; is_there(profile)) {
    PERFLAB_TRY(const std::string text, read_file(profile));
    return read_document(text, profile, threads);
  }
  std::vector<std::string> notes;
  const RecordingFiles files = recordings_of_folder(folder, notes);
  if (files.empty())
    return bad_input(folder, "there is no profile.json and no recording in this folder",
                     "a recording is what analyze reads: a rocpd database, rocprofv3's JSON or "
                     "CSV, a trace of PyTorch's profiler");
  std::optional<fs::path> collection;
  for (const fs::path& file : files) {
    const RecordingPlace place = place_of(file);
    if (!place.run) continue;
    if (collection && *collection != place.collection)
      return bad_input(folder,
                       fmt::format("it has several profiles, {} and {} among them",
                                   collection->string(), place.collection.string()),
                       "name the folder of one");
    collection = place.collection;
  }
  PERFLAB_TRY(SampleSide side, read_recordings(values_of(by_run(files)), threads));
  side.kind = recording_kind(files.front());
  for (std::string& note : notes) add_note(side, std::move(note));
  return side;
}

Result<SampleSide> read_path(const fs::path& path, unsigned threads) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return read_folder(path, threads);
  if (trace::is_recording(path)) {
    PERFLAB_TRY(SampleSide side, read_recordings({{path}}, threads));
    side.kind = recording_kind(path);
    return side;
  }
  PERFLAB_TRY(const std::string text, read_file(path));
  if (tune::is_journal(text)) {
    PERFLAB_TRY(SampleSide side, read_journal(text, path));
    side.kind = "journal";
    side.read_files.push_back(path);
    return side;
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '['))
    return read_document(text, path, threads);
  PERFLAB_TRY(SampleSide side, parse_numbers(text, path.string()));
  side.read_files.push_back(path);
  return side;
}

}  // namespace

std::string_view to_string(SampleKind kind) {
  using enum SampleKind;
  static constexpr auto kNames = enum_names<SampleKind>({{dispatch, "dispatch"},
                                                         {run, "run"},
                                                         {iteration, "iteration"},
                                                         {repeat, "repeat"},
                                                         {value, "value"}});
  return kNames[kind];
}

Result<SampleSide> read_samples(const std::vector<fs::path>& paths, unsigned threads,
                                const TellProgress& progress) {
  PERFLAB_CHECK(!paths.empty());
  const auto tell = [&](std::size_t i) {
    if (progress)
      progress("reading " + paths[i].filename().string(),
               static_cast<double>(i) / static_cast<double>(paths.size()));
  };
  tell(0);
  PERFLAB_TRY(SampleSide side, read_path(paths.front(), threads));
  for (std::size_t i = 1; i < paths.size(); ++i) {
    tell(i);
    PERFLAB_TRY(SampleSide more, read_path(paths[i], threads));
    if (more.kind != side.kind || more.unit != side.unit || more.samples_are != side.samples_are ||
        more.larger_is_better != side.larger_is_better)
      return fail(
          ErrorCode::usage,
          fmt::format("{} and {} are given as one side, but one is of kind {} and the other "
                      "of kind {}{}",
                      paths.front().string(), paths[i].string(), side.kind, more.kind,
                      more.kind == side.kind ? " with other samples" : ""),
          "give several files of one kind for a side");
    append_side(side, std::move(more));
  }
  side.files.clear();
  for (const fs::path& path : paths) side.files.push_back(path.string());
  return side;
}

}  // namespace perflab::compare
