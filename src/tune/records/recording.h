// Results of earlier tuning, of this program or others: Kernel Tuner caches (also cut-off ones),
// T4, KTT output, Triton's autotune caches, CSV; plain or gzip. Facts: docs/facts/tuning.md
// "Formats".
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tune/space/space.h"
#include "tune/values/outcome.h"
#include "tune/values/value.h"

namespace perflab::tune {

struct RecordedConfiguration {
  std::vector<Value> values;  ///< one per Recording::parameters
  Outcome outcome = Outcome::correct;
  std::optional<double> value;  ///< as recorded (Kernel Tuner: mean time in ms)
  std::vector<double> repeats;  ///< single measurements, when recorded
  std::optional<double> compile_ms, benchmark_ms;
  std::vector<std::pair<std::string, double>> metrics{};  ///< further numbers, by name
};

struct Recording {
  std::string format;                   ///< "kernel_tuner", "t4", "ktt", "triton", "csv", "journal"
  std::vector<std::string> parameters;  ///< names
  std::vector<RecordedConfiguration> configurations;  ///< in file order; of duplicates the last
  std::string unit;                                   ///< "ms", "us"; empty: not said
  std::string device, kernel;                         ///< empty: not said
  std::map<std::string, std::string> metric_units{};  ///< by name; those that the file says
  std::size_t dropped = 0;                            ///< rows that could not be used
  bool cut_off = false;            ///< the file ended early (interrupted Kernel Tuner cache)
  std::optional<bool> maximize{};  ///< more is better; nothing: the file does not say
};

/// Errors (bad_input): unreadable, no known format, no configuration in it. A damaged row is
/// dropped and counted.
Result<Recording> read_recording(const std::filesystem::path& file);
Result<Recording> parse_recording(std::string_view text, std::string_view what);

/// The space of exactly the recorded configurations, values in ascending order per parameter
/// (strings in order of appearance).
Result<Space> space_of(const Recording& recording);

/// One evaluated configuration of ours, for the writers.
struct ResultRow {
  std::vector<Binding> configuration;
  Evaluation evaluation;
};
/// T4 (schema_version 1.0.0): results[] with configuration, times, invalidity, measurements,
/// objectives. `unit` and `objective` name what was measured, `metrics` say the units of what else
/// was. Times in ms.
std::string to_t4(const std::vector<ResultRow>& rows, std::string_view objective,
                  std::string_view unit, std::span<const Metric> metrics = {});
/// One row per configuration: parameters, a column "metric:NAME" for each further metric, value,
/// outcome, cv, samples joined by ';', seconds.
std::string to_csv(const std::vector<ResultRow>& rows, std::string_view objective,
                   std::string_view unit);

}  // namespace perflab::tune
