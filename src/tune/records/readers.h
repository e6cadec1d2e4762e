// The readers behind parse_recording(), one per format, and what they share. Internal to
// src/tune/records.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/records/json_text.h"
#include "tune/records/recording.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// A row as its file has it; `result.values` is empty.
struct RawRow {
  std::vector<Binding> configuration;
  RecordedConfiguration result;
};

/// What a reader found: everything of a Recording but parameters and configurations.
struct RawRecording {
  Recording head;
  std::vector<std::string> names;  ///< of the parameters, where the file lists them
  std::vector<RawRow> rows;
};

/// Brings the rows into one order of parameters. Without listed names the parameters are the names
/// that more than half of the rows have. Rows that lack one, have another, or one twice are
/// dropped; of rows with the same values the last stays. Errors (bad_input): no row is left, no or
/// more than 1,000 parameters.
Result<Recording> finish_recording(RawRecording raw, std::string_view what);

/// Kernel Tuner cache, T4, KTT output or Triton autotune cache, told apart by their keys. Error
/// (bad_input): none of them.
Result<RawRecording> read_json_recording(const dom::element& root, std::string_view what);
Result<RawRecording> read_csv_recording(std::string_view text, std::string_view what);
Result<RawRecording> read_journal_recording(std::string_view text, std::string_view what);

/// Kernel Tuner's names of failures, and ours; nothing: no such name.
std::optional<Outcome> outcome_of_error(std::string_view name);

/// "ms" for "milliseconds" and the like; a text that is no unit of time stays as it is.
std::string short_unit(std::string_view unit);

/// A value as a text has it: a whole number, a real, true or false (Python's too), else a text; one
/// in single quotes is always a text.
Value value_from_text(std::string_view text);
/// What value_from_text() reads back: to_text(), in single quotes where it is a text that would be
/// taken for something else.
std::string text_from_value(const Value& value);

/// How the columns of to_csv() begin that have further metrics.
inline constexpr std::string_view kMetricColumn = "metric:";

/// The columns of to_csv() behind the parameters, in their order.
std::vector<std::string> csv_result_columns();

}  // namespace perflab::tune
