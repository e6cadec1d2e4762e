// Tells the formats apart, and brings what their readers found into one shape.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/system/packed.h"
#include "tune/records/journal.h"
#include "tune/records/keys.h"
#include "tune/records/readers.h"

namespace perflab::tune {
namespace {

constexpr std::size_t kMostRecordedParameters = 1000;

/// Names that more than half of the rows have, in order of first appearance.
std::vector<std::string> common_names(const std::vector<RawRow>& rows) {
  std::unordered_map<std::string_view, std::size_t> counts;
  std::vector<std::string_view> order;
  for (const RawRow& row : rows)
    for (const auto& [name, value] : row.configuration)
      if (counts[name]++ == 0) order.push_back(name);
  std::vector<std::string> names;
  for (const std::string_view name : order)
    if (2 * counts[name] > rows.size()) names.emplace_back(name);
  return names;
}

/// Values in the order of the names.
class ParameterColumns {
 public:
  explicit ParameterColumns(const std::vector<std::string>& names) : names_(names) {
    for (std::size_t i = 0; i < names.size(); ++i) index_.emplace(names[i], i);
  }
  [[nodiscard]] bool distinct() const { return index_.size() == names_.size(); }

  /// Nothing: a name is missing, there twice, or no parameter.
  std::optional<std::vector<Value>> values(std::vector<Binding>& row) const {
    if (row.size() != names_.size()) return std::nullopt;
    std::vector<Value> values(names_.size());
    std::vector<bool> seen(names_.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t column = i;  // most files have all rows in one order
      if (row[i].first != names_[i]) {
        const auto found = index_.find(row[i].first);
        if (found == index_.end()) return std::nullopt;
        column = found->second;
      }
      if (seen[column]) return std::nullopt;
      seen[column] = true;
      values[column] = std::move(row[i].second);
    }
    return values;
  }

 private:
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

/// Of configurations with the same values the last stays, in its place.
void keep_last_of_each(std::vector<RecordedConfiguration>& configurations) {
  std::unordered_map<std::string, std::size_t> last;
  std::vector<bool> superseded(configurations.size());
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    std::string key;
    for (const Value& value : configurations[i].values) {
      append_key(key, value);
      key += ',';
    }
    const auto [found, is_new] = last.try_emplace(std::move(key), i);
    if (is_new) continue;
    superseded[found->second] = true;
    found->second = i;
  }
  std::size_t i = 0;
  std::erase_if(configurations, [&](const RecordedConfiguration&) { return superseded[i++]; });
}

/// Level of each value, and the values: numbers ascending, then texts in order of appearance.
struct RecordedLevels {
  std::vector<Value> values;
  std::unordered_map<std::string, Level> by_key;
};

Result<RecordedLevels> levels_of(const Recording& recording, std::size_t parameter) {
  RecordedLevels levels;
  std::vector<std::pair<Value, std::string>> found;
  std::unordered_map<std::string, bool> seen;
  for (const RecordedConfiguration& configuration : recording.configurations) {
    std::string key;
    append_key(key, configuration.values[parameter]);
    if (seen.emplace(key, true).second)
      found.emplace_back(configuration.values[parameter], std::move(key));
  }
  constexpr std::size_t kMostLevels = 65'535;
  if (found.size() > kMostLevels)
    return fail(ErrorCode::bad_input, fmt::format("the recording has more than 65,535 values of {}",
                                                  recording.parameters[parameter]));
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    const std::optional<double> left = number_of(a.first), right = number_of(b.first);
    return left && right ? *left < *right : left.has_value() && !right.has_value();
  });
  for (auto& [value, key] : found) {
    levels.by_key.emplace(std::move(key), static_cast<Level>(levels.values.size()));
    levels.values.push_back(std::move(value));
  }
  return levels;
}

}  // namespace

std::string short_unit(std::string_view unit) {
  // "miliseconds" is how the files of benchmark_hub spell it.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kUnits = {{
      {"nanoseconds", "ns"},
      {"Nanoseconds", "ns"},
      {"microseconds", "us"},
      {"Microseconds", "us"},
      {"milliseconds", "ms"},
      {"Milliseconds", "ms"},
      {"miliseconds", "ms"},
      {"seconds", "s"},
      {"Seconds", "s"},
  }};
  for (const auto& [name, abbreviation] : kUnits)
    if (name == unit) return std::string(abbreviation);
  return std::string(unit);
}

Result<Recording> finish_recording(RawRecording raw, std::string_view what) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", what, why),
                "give the recording as the tuner wrote it; docs/AUTOTUNE.md names the formats");
  };
  Recording recording = std::move(raw.head);
  recording.parameters = raw.names.empty() ? common_names(raw.rows) : std::move(raw.names);
  if (recording.parameters.size() > kMostRecordedParameters)
    return refuse("has more than 1,000 parameters");
  if (recording.parameters.empty())
    return refuse(raw.rows.empty() ? "has no configuration that can be used" : "has no parameters");
  const ParameterColumns columns(recording.parameters);
  if (!columns.distinct()) return refuse("has two parameters of the same name");
  for (RawRow& row : raw.rows) {
    if (std::optional<std::vector<Value>> values = columns.values(row.configuration)) {
      row.result.values = std::move(*values);
      recording.configurations.push_back(std::move(row.result));
    } else {
      ++recording.dropped;
    }
  }
  keep_last_of_each(recording.configurations);
  if (recording.configurations.empty())
    return refuse(
        recording.dropped == 0
            ? "has no configuration"
            : fmt::format("has no configuration that can be used ({} dropped)", recording.dropped));
  return recording;
}

Result<Recording> parse_recording(std::string_view text, std::string_view what) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string_view::npos)
    return fail(ErrorCode::bad_input, fmt::format("{}: is empty", what));
  if (is_journal(text)) {
    PERFLAB_TRY(RawRecording raw, read_journal_recording(text, what));
    return finish_recording(std::move(raw), what);
  }
  if (text[start] != '{' && text[start] != '[') {
    PERFLAB_TRY(RawRecording raw, read_csv_recording(text, what));
    return finish_recording(std::move(raw), what);
  }
  JsonText json;
  PERFLAB_TRY(const dom::element root, json.parse(text.substr(start), what));
  PERFLAB_TRY(RawRecording raw, read_json_recording(root, what));
  raw.head.cut_off = json.cut_off();
  return finish_recording(std::move(raw), what);
}

Result<Recording> read_recording(const std::filesystem::path& file) {
  PERFLAB_TRY(const std::string text, read_maybe_packed(file));
  return parse_recording(text, file.string());
}

Result<Space> space_of(const Recording& recording) {
  SpaceDescription description;
  std::vector<std::vector<Level>> rows(recording.configurations.size(),
                                       std::vector<Level>(recording.parameters.size()));
  for (std::size_t p = 0; p < recording.parameters.size(); ++p) {
    PERFLAB_TRY(RecordedLevels levels, levels_of(recording, p));
    std::string key;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      key.clear();
      append_key(key, recording.configurations[i].values[p]);
      rows[i][p] = levels.by_key.at(key);
    }
    description.parameters.push_back(
        {.name = recording.parameters[p], .values = std::move(levels.values), .default_level = {}});
  }
  description.listed = std::move(rows);
  return Space::list(std::move(description));
}

}  // namespace perflab::tune
