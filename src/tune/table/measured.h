// What was measured of each configuration for each problem, out of the recordings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "tune/records/recording.h"
#include "tune/table/problems.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// What a recording has of one configuration.
enum class Measured : std::uint8_t { not_measured, failed, worked };
/// Stable names: "not_measured", "failed", "worked".
std::string_view to_string(Measured state);

/// One problem with its recording, read.
struct RecordedProblem {
  NamedProblem named;
  Recording recording;
};

/// One problem of a table.
struct TunedProblem {
  std::vector<double> size;  ///< in the order of MeasuredProblems::sizes
  std::string file, format, unit;
  std::size_t evaluations = 0, worked = 0;  ///< configurations in the recording
  std::size_t dropped = 0;                  ///< rows of it that could not be used
  std::size_t best = 0;                     ///< configuration; of equal ones the first
  std::vector<Measured> states;             ///< per configuration
  std::vector<double> values;               ///< per configuration; only of those that worked
  /// Per configuration: the logarithm of what it loses against the best one, at least 0.
  std::vector<double> regrets;
};

/// All problems over the configurations that worked for one of them at least.
struct MeasuredProblems {
  std::vector<std::string> sizes;       ///< names
  std::vector<std::string> parameters;  ///< names, in the order of the first problem's recording
  bool maximize = false;                ///< more is better
  std::vector<TunedProblem> problems;   ///< ascending by size
  /// In an order that depends on nothing but their values.
  std::vector<std::vector<Value>> configurations;
  std::size_t for_all = 0;       ///< of these: worked for every problem
  std::size_t not_positive = 0;  ///< values that are not above 0: they count as failed
};

/// Puts recordings together; configurations are the same when their values are same_value().
/// `maximize`: as the user says; else as journals do, and minimise where none says anything. Errors
/// (bad_input), naming the files: other parameters, a journal of the other direction, a recording
/// without any value above 0.
Result<MeasuredProblems> join_recordings(std::vector<std::string> sizes,
                                         std::vector<RecordedProblem> problems, bool maximize);

}  // namespace perflab::tune
