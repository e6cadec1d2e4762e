// The JSON formats. Kernel Tuner cache: kernel_tuner/schema/cache/1.1.0. T4:
// kernel_tuner/schema/T4/1.0.0/results-schema.json, and how Kernel Tuner (file_utils.py) and KTT
// (JsonT4Converters) fill it. KTT: Source/Output/JsonConverters. Triton: runtime/autotuner.py.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/enum_names.h"
#include "stats/summary.h"
#include "tune/records/readers.h"

namespace perflab::tune {
namespace {

/// Calls visit(element) for the items of a list; nothing else is none.
template <class Visit>
void for_each_item(const std::optional<dom::element>& list, const Visit& visit) {
  dom::array items;
  if (!list || list->get(items) != simdjson::SUCCESS) return;
  for (const dom::element item : items) visit(item);
}

/// Appends the members that are values; false: one is none.
bool add_members(const dom::element& object, std::vector<Binding>& configuration) {
  dom::object members;
  if (object.get(members) != simdjson::SUCCESS) return false;
  for (const auto& [name, element] : members) {
    std::optional<Value> value = json_value(element);
    if (!value) return false;
    configuration.emplace_back(std::string(name), std::move(*value));
  }
  return true;
}

/// Single measurements. An old HIP backend of Kernel Tuner left pairs [0, t] (the *_PARTIAL files):
/// t is kept. The recorded mean of such a file is over the zeros too, half of the real one; it
/// stays as recorded, because only ratios within a file are looked at.
std::vector<double> repeats_of(const std::optional<dom::element>& list) {
  if (!list) return {};
  if (std::optional<std::vector<double>> plain = numbers_in(*list)) return std::move(*plain);
  std::vector<double> repeats;
  bool all_pairs = true;
  for_each_item(list, [&](const dom::element& item) {
    const std::optional<std::vector<double>> pair = numbers_in(item);
    if (pair && pair->size() == 2 && (*pair)[0] == 0)
      repeats.push_back((*pair)[1]);
    else
      all_pairs = false;
  });
  return all_pairs ? repeats : std::vector<double>{};
}

/// What observers and metrics of the user added: every other number of the entry.
void add_kernel_tuner_metrics(const dom::element& entry, const std::vector<std::string>& names,
                              RecordedConfiguration& result) {
  constexpr std::array<std::string_view, 7> kOwn = {
      "time",          "compile_time",   "verification_time", "benchmark_time",
      "strategy_time", "framework_time", "timestamp"};
  dom::object members;
  if (entry.get(members) != simdjson::SUCCESS) return;
  for (const auto& [name, element] : members)
    if (const std::optional<double> number = number_in(element);
        number && std::ranges::find(kOwn, name) == kOwn.end() &&
        std::ranges::find(names, name) == names.end())
      result.metrics.emplace_back(std::string(name), *number);
}

std::optional<RawRow> kernel_tuner_row(const dom::element& entry,
                                       const std::vector<std::string>& names) {
  RawRow row;
  row.configuration.reserve(names.size());
  for (const std::string& name : names) {
    const std::optional<dom::element> element = member(entry, name);
    std::optional<Value> value = element ? json_value(*element) : std::nullopt;
    if (!value) return std::nullopt;
    row.configuration.emplace_back(name, std::move(*value));
  }
  std::optional<std::string> error = text_at(entry, "__error__");
  if (!error) error = text_at(entry, "time");
  if (error) {
    row.result.outcome = outcome_of_error(*error).value_or(Outcome::run_failed);
  } else {
    row.result.value = number_at(entry, "time");
    if (!row.result.value) return std::nullopt;
    row.result.repeats = repeats_of(member(entry, "times"));
    add_kernel_tuner_metrics(entry, names, row.result);
  }
  row.result.compile_ms = number_at(entry, "compile_time");
  row.result.benchmark_ms = number_at(entry, "benchmark_time");
  return row;
}

Result<RawRecording> read_kernel_tuner(const dom::element& root, std::string_view what) {
  RawRecording raw;
  raw.head.format = "kernel_tuner";
  raw.head.unit = "ms";
  raw.head.device = text_at(root, "device_name").value_or("");
  raw.head.kernel = text_at(root, "kernel_name").value_or("");
  for_each_item(member(root, "tune_params_keys"), [&](const dom::element& item) {
    std::string_view name;
    if (item.get(name) == simdjson::SUCCESS) raw.names.emplace_back(name);
  });
  if (raw.names.empty())
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: looks like a Kernel Tuner cache, but \"tune_params_keys\" names no "
                    "parameters",
                    what));
  constexpr std::size_t kMostNames = 1000;  // finish_recording() refuses more; here they cost time
  if (raw.names.size() > kMostNames) return raw;
  dom::object cache;
  if (root.at_key("cache").get(cache) != simdjson::SUCCESS)
    return fail(ErrorCode::bad_input, fmt::format("{}: \"cache\" is not an object", what));
  raw.rows.reserve(cache.size());
  for (const auto& [key, entry] : cache) {
    if (std::optional<RawRow> row = kernel_tuner_row(entry, raw.names))
      raw.rows.push_back(std::move(*row));
    else
      ++raw.head.dropped;
  }
  return raw;
}

/// KTT writes every value of a T4 configuration as text.
void numbers_from_texts(std::vector<Binding>& configuration) {
  for (auto& [name, value] : configuration)
    if (const auto* const text = std::get_if<std::string>(&value)) value = value_from_text(*text);
}

/// The measurement of that name; the first of any name when it is empty.
std::optional<dom::element> measurement(const dom::element& result, std::string_view name) {
  std::optional<dom::element> found;
  for_each_item(member(result, "measurements"), [&](const dom::element& item) {
    if (!found && (name.empty() || text_at(item, "name") == name)) found = item;
  });
  return found;
}

std::string first_objective(const dom::element& result) {
  std::string name;
  for_each_item(member(result, "objectives"), [&](const dom::element& item) {
    std::string_view text;
    if (name.empty() && item.get(text) == simdjson::SUCCESS) name = text;
  });
  return name;
}

/// Value and repeats of a correct result; false: it has none. Repeats are the measurement
/// "samples" (ours), else the run times, whose median stands in for a value that is not given.
bool read_t4_figures(const dom::element& result, Recording& head, RecordedConfiguration& out) {
  const std::optional<dom::element> times = member(result, "times");
  const std::optional<dom::element> samples = measurement(result, "samples");
  if (samples) out.repeats = repeats_of(member(*samples, "value"));
  if (out.repeats.empty() && times) out.repeats = repeats_of(member(*times, "runtimes"));
  if (const auto measured = measurement(result, first_objective(result))) {
    out.value = number_at(*measured, "value");
    if (head.unit.empty()) head.unit = short_unit(text_at(*measured, "unit").value_or(""));
  }
  const std::string objective = first_objective(result);
  for_each_item(member(result, "measurements"), [&](const dom::element& item) {
    const std::optional<std::string> name = text_at(item, "name");
    const std::optional<double> number = number_at(item, "value");
    if (!name || !number || *name == objective || *name == "cv") return;
    out.metrics.emplace_back(*name, *number);
    if (const auto said = text_at(item, "unit"); said && !said->empty())
      head.metric_units.try_emplace(*name, short_unit(*said));
  });
  if (!out.value && !out.repeats.empty()) out.value = stats::summarize(out.repeats).median;
  return out.value.has_value();
}

std::optional<RawRow> t4_row(const dom::element& result, bool texts, Recording& head) {
  RawRow row;
  const std::optional<dom::element> configuration = member(result, "configuration");
  if (!configuration || !add_members(*configuration, row.configuration)) return std::nullopt;
  if (texts) numbers_from_texts(row.configuration);
  const std::optional<Outcome> outcome =
      outcome_of_error(text_at(result, "invalidity").value_or(""));
  if (!outcome) return std::nullopt;
  row.result.outcome = *outcome;
  if (*outcome == Outcome::correct && !read_t4_figures(result, head, row.result))
    return std::nullopt;
  if (const std::optional<dom::element> times = member(result, "times")) {
    row.result.compile_ms = number_at(*times, "compilation");
    if (!row.result.compile_ms) row.result.compile_ms = number_at(*times, "compilation_time");
    row.result.benchmark_ms = number_at(*times, "benchmark");
  }
  return row;
}

Result<RawRecording> read_t4(const dom::element& root, std::string_view) {
  RawRecording raw;
  raw.head.format = "t4";
  const std::optional<dom::element> metadata = member(root, "metadata");
  const bool texts = metadata && text_at(*metadata, "autotuner") == "KTT";
  if (metadata) raw.head.device = text_at(*metadata, "device").value_or("");
  bool is_time = false;
  for_each_item(member(root, "results"), [&](const dom::element& result) {
    if (std::optional<RawRow> row = t4_row(result, texts, raw.head)) {
      raw.rows.push_back(std::move(*row));
      is_time = is_time || first_objective(result) == "time";
    } else {
      ++raw.head.dropped;
    }
  });
  if (raw.head.unit.empty() && is_time && metadata)
    raw.head.unit = short_unit(text_at(*metadata, "timeunit").value_or(""));
  return raw;
}

std::optional<RawRow> ktt_row(const dom::element& result) {
  RawRow row;
  bool whole = true;
  for_each_item(member(result, "Configuration"), [&](const dom::element& pair) {
    std::optional<std::string> name = text_at(pair, "Name");
    const std::optional<dom::element> element = member(pair, "Value");
    std::optional<Value> value = element ? json_value(*element) : std::nullopt;
    if (!name || !value) return void(whole = false);
    row.configuration.emplace_back(std::move(*name), std::move(*value));
  });
  constexpr std::array<std::pair<std::string_view, Outcome>, 5> kStatus = {{
      {"Ok", Outcome::correct},
      {"ComputationFailed", Outcome::run_failed},
      {"ValidationFailed", Outcome::wrong},
      {"CompilationFailed", Outcome::compile_failed},
      {"DeviceLimitsExceeded", Outcome::not_launchable},
  }};
  const std::string status = text_at(result, "Status").value_or("");
  const auto* const known =
      std::ranges::find(kStatus, status, [](const auto& s) { return s.first; });
  if (!whole || known == kStatus.end()) return std::nullopt;
  row.result.outcome = known->second;
  if (known->second != Outcome::correct) return row;
  row.result.value = number_at(result, "TotalDuration");
  if (!row.result.value) return std::nullopt;
  return row;
}

Result<RawRecording> read_ktt(const dom::element& root, std::string_view) {
  RawRecording raw;
  raw.head.format = "ktt";
  if (const std::optional<dom::element> metadata = member(root, "Metadata")) {
    raw.head.unit = short_unit(text_at(*metadata, "TimeUnit").value_or(""));
    raw.head.device = text_at(*metadata, "Device").value_or("");
  }
  for_each_item(member(root, "Results"), [&](const dom::element& result) {
    if (raw.head.kernel.empty()) raw.head.kernel = text_at(result, "KernelName").value_or("");
    if (std::optional<RawRow> row = ktt_row(result))
      raw.rows.push_back(std::move(*row));
    else
      ++raw.head.dropped;
  });
  return raw;
}

/// [configuration, [median, 20 %, 80 %]] or [configuration, time]. A configuration that did not
/// compile or launch has Infinity there, which is null by now.
std::optional<RawRow> triton_row(const dom::element& pair) {
  dom::array parts;
  dom::element configuration, timing;
  if (pair.get(parts) != simdjson::SUCCESS || parts.at(0).get(configuration) != simdjson::SUCCESS ||
      parts.at(1).get(timing) != simdjson::SUCCESS)
    return std::nullopt;
  RawRow row;
  const std::optional<dom::element> kwargs = member(configuration, "kwargs");
  if (!kwargs || !add_members(*kwargs, row.configuration)) return std::nullopt;
  for (const std::string_view name : {"num_warps", "num_stages", "num_ctas", "maxnreg"}) {
    const std::optional<dom::element> element = member(configuration, name);
    if (!element || element->is_null()) continue;
    std::optional<Value> value = json_value(*element);
    if (!value) return std::nullopt;
    row.configuration.emplace_back(std::string(name), std::move(*value));
  }
  dom::element median = timing;
  if (timing.is_array() && timing.at(0).get(median) != simdjson::SUCCESS) return std::nullopt;
  row.result.value = number_in(median);
  if (!row.result.value) {
    if (!median.is_null()) return std::nullopt;
    row.result.outcome = Outcome::run_failed;
  }
  return row;
}

Result<RawRecording> read_triton(const dom::element& root, std::string_view) {
  RawRecording raw;
  raw.head.format = "triton";
  raw.head.unit = "ms";  // triton.testing.do_bench
  for_each_item(member(root, "configs_timings"), [&](const dom::element& pair) {
    if (std::optional<RawRow> row = triton_row(pair))
      raw.rows.push_back(std::move(*row));
    else
      ++raw.head.dropped;
  });
  return raw;
}

}  // namespace

std::optional<Outcome> outcome_of_error(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Outcome>, 4> kNames = {{
      {"CompilationFailedConfig", Outcome::compile_failed},
      {"RuntimeFailedConfig", Outcome::run_failed},
      {"InvalidConfig", Outcome::not_launchable},  // needs more than the device has
      {"constraints", Outcome::not_launchable},    // T4's word for it
  }};
  for (const auto& [known, outcome] : kNames)
    if (known == name) return outcome;
  return from_name<Outcome>(name);
}

Result<RawRecording> read_json_recording(const dom::element& root, std::string_view what) {
  using Reader = Result<RawRecording> (*)(const dom::element&, std::string_view);
  constexpr std::array<std::pair<std::string_view, Reader>, 4> kReaders = {{
      {"cache", read_kernel_tuner},
      {"results", read_t4},
      {"Results", read_ktt},
      {"configs_timings", read_triton},
  }};
  for (const auto& [key, reader] : kReaders)
    if (member(root, key)) return reader(root, what);
  return fail(
      ErrorCode::bad_input, fmt::format("{}: is JSON, but not a recording of a known tuner", what),
      "Kernel Tuner caches, T4, KTT output, Triton's autotune.json, CSV tables and journals "
      "can be read");
}

}  // namespace perflab::tune
