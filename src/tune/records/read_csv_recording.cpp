// Tables of results: ours (to_csv), and any with a column of times. RFC 4180 as base/csv reads it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/text/csv.h"
#include "base/text/numbers.h"
#include "tune/records/readers.h"

namespace perflab::tune {
namespace {

/// Where the columns of a table are.
struct CsvColumns {
  std::vector<std::size_t> parameters;
  std::vector<std::pair<std::size_t, std::string>> metrics;  ///< with their names
  std::size_t value = 0;
  std::optional<std::size_t> outcome, samples, compile, run, unit;
  double compile_to_ms = 1, run_to_ms = 1;
};

/// The column of a foreign table that is minimised: the first called value, time or runtime, also
/// with a unit behind it.
std::optional<std::pair<std::size_t, std::string>> value_column(
    const std::vector<std::string>& header) {
  constexpr std::array<std::string_view, 3> kNames = {"value", "time", "runtime"};
  constexpr std::array<std::string_view, 5> kUnits = {"", "ns", "us", "ms", "s"};
  for (std::size_t i = 0; i < header.size(); ++i) {
    std::string name = header[i];
    std::ranges::transform(name, name.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    for (const std::string_view known : kNames)
      for (const std::string_view unit : kUnits)
        if (name == known ? unit.empty()
                          : !unit.empty() && (name == fmt::format("{}_{}", known, unit) ||
                                              name == fmt::format("{} ({})", known, unit)))
          return std::pair{i, std::string(unit)};
  }
  return std::nullopt;
}

/// Our own table: the last columns are those of to_csv(), whatever the parameters are called.
std::optional<CsvColumns> own_columns(const std::vector<std::string>& header) {
  const std::vector<std::string> known = csv_result_columns();
  if (header.size() < known.size() || !std::equal(known.rbegin(), known.rend(), header.rbegin()))
    return std::nullopt;
  const std::size_t first = header.size() - known.size();
  const auto at = [&](std::string_view name) {
    return first + static_cast<std::size_t>(std::ranges::find(known, name) - known.begin());
  };
  CsvColumns columns;
  for (std::size_t i = 0; i < first; ++i) {
    if (header[i].starts_with(kMetricColumn))
      columns.metrics.emplace_back(i, header[i].substr(kMetricColumn.size()));
    else
      columns.parameters.push_back(i);
  }
  columns.value = at("value");
  columns.unit = at("unit");
  columns.outcome = at("outcome");
  columns.samples = at("samples");
  columns.compile = at("build_seconds");
  columns.run = at("run_seconds");
  columns.compile_to_ms = columns.run_to_ms = 1e3;
  return columns;
}

/// A foreign table: parameters stand before the value and its other figures behind it; when the
/// value is first, all others are parameters.
CsvColumns foreign_columns(const CsvTable& table, std::size_t value) {
  CsvColumns columns;
  columns.value = value;
  const std::size_t begin = value == 0 ? 1 : 0;
  const std::size_t end = value == 0 ? table.header.size() : value;
  for (std::size_t i = begin; i < end; ++i) columns.parameters.push_back(i);
  if (value == 0) return columns;
  for (const std::string_view name : {"outcome", "invalidity", "status"})
    if (const auto found = table.column(name); found && *found > value && !columns.outcome)
      columns.outcome = found;
  if (const auto found = table.column("compile_time"); found && *found > value)
    columns.compile = found;
  if (const auto found = table.column("benchmark_time"); found && *found > value)
    columns.run = found;
  for (std::size_t i = value + 1; i < table.header.size(); ++i)
    if (i != columns.outcome && i != columns.compile && i != columns.run)
      columns.metrics.emplace_back(i, table.header[i]);
  return columns;
}

/// "1.5;2;2.5"; nothing when one of them is no number.
std::vector<double> samples_of(std::string_view text) {
  std::vector<double> samples;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::optional<double> sample = finite_number(text.substr(0, end));
    if (!sample) return {};
    samples.push_back(*sample);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return samples;
}

/// Outcome and value of a row; false: neither can be told. No value, NaN and infinity are failed
/// runs where nothing says more.
bool read_result(const std::string& value, const std::string& outcome, RecordedConfiguration& out) {
  out.value = finite_number(value);
  std::optional<Outcome> said = outcome_of_error(outcome);
  if (!out.value && !value.empty() && !real_number(value)) {
    const std::optional<Outcome> in_value = outcome_of_error(value);
    if (!in_value) return false;
    said = in_value;
  }
  out.outcome = said.value_or(out.value ? Outcome::correct : Outcome::run_failed);
  if (out.outcome != Outcome::correct) out.value.reset();
  return out.outcome != Outcome::correct || out.value.has_value();
}

std::optional<RawRow> csv_row(const CsvTable& table, const CsvColumns& columns,
                              const std::vector<std::string>& fields) {
  RawRow row;
  for (const std::size_t column : columns.parameters) {
    if (fields[column].empty()) return std::nullopt;
    row.configuration.emplace_back(table.header[column], value_from_text(fields[column]));
  }
  const std::string outcome = columns.outcome ? fields[*columns.outcome] : "";
  if (!read_result(fields[columns.value], outcome, row.result)) return std::nullopt;
  if (columns.samples && row.result.value)
    row.result.repeats = samples_of(fields[*columns.samples]);
  for (const auto& [column, name] : columns.metrics)
    if (const auto number = finite_number(fields[column]))
      row.result.metrics.emplace_back(name, *number);
  if (columns.compile)
    if (const auto number = finite_number(fields[*columns.compile]))
      row.result.compile_ms = *number * columns.compile_to_ms;
  if (columns.run)
    if (const auto number = finite_number(fields[*columns.run]))
      row.result.benchmark_ms = *number * columns.run_to_ms;
  return row;
}

}  // namespace

Value value_from_text(std::string_view text) {
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return std::string(text.substr(1, text.size() - 2));
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  if (const auto whole = whole_number<std::int64_t>(text)) return *whole;
  if (const auto real = finite_number(text)) return *real;
  return std::string(text);
}

std::string text_from_value(const Value& value) {
  std::string text = to_text(value);
  if (!std::holds_alternative<std::string>(value)) return text;
  const bool taken_for_it = !text.empty() && value_from_text(text) == value;
  return taken_for_it ? text : "'" + text + "'";
}

Result<RawRecording> read_csv_recording(std::string_view text, std::string_view what) {
  PERFLAB_TRY(const CsvTable table, parse_csv(text, what));
  RawRecording raw;
  raw.head.format = "csv";
  std::optional<CsvColumns> columns = own_columns(table.header);
  if (!columns) {
    const auto value = value_column(table.header);
    if (!value)
      return fail(
          ErrorCode::bad_input,
          fmt::format("{}: is not a recording: neither JSON nor a table with a column called "
                      "value, time or runtime",
                      what));
    raw.head.unit = value->second;
    columns = foreign_columns(table, value->first);
  }
  for (const std::size_t column : columns->parameters) raw.names.push_back(table.header[column]);
  for (const std::vector<std::string>& fields : table.rows) {
    if (columns->unit && raw.head.unit.empty()) raw.head.unit = short_unit(fields[*columns->unit]);
    if (std::optional<RawRow> row = csv_row(table, *columns, fields))
      raw.rows.push_back(std::move(*row));
    else
      ++raw.head.dropped;
  }
  return raw;
}

}  // namespace perflab::tune
