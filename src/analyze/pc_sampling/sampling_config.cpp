// Two lines of a flat YAML file.
#include "analyze/pc_sampling/sampling_config.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

#include "base/system/files.h"
#include "base/text/numbers.h"

namespace perflab::analyze {
namespace {

namespace fs = std::filesystem;

/// The value of a "key: value" line; empty: there is none.
std::string_view value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != ':') continue;
    std::string_view value = line.substr(key.size() + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\''))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\'' || value.back() == '\r'))
      value.remove_suffix(1);
    return value;
  }
  return {};
}

std::optional<std::uint64_t> interval_in(const fs::path& file, pc_sampling::Method method) {
  constexpr std::uint64_t kMostBytes = 1 << 20;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  const auto text = read_file(file, kMostBytes);
  if (!text || value_of(*text, "pc_sampling_method") != to_string(method)) return std::nullopt;
  return whole_number<std::uint64_t>(value_of(*text, "pc_sampling_interval"));
}

}  // namespace

pc_sampling::Interval interval_of(pc_sampling::Method method, std::uint64_t value) {
  return {.value = value,
          .unit = method == pc_sampling::Method::host_trap ? pc_sampling::IntervalUnit::microseconds
                                                           : pc_sampling::IntervalUnit::cycles};
}

std::optional<pc_sampling::Interval> configured_interval(const pc_sampling::PcSamples& samples) {
  std::set<std::uint64_t> found;
  for (const pc_sampling::Source& source : samples.sources) {
    const fs::path folder = fs::path(source.file).parent_path();
    for (const fs::path& place : {folder, folder / ".."}) {
      const auto value = interval_in(place / "profiling_config.yaml", samples.method);
      if (!value) continue;
      found.insert(*value);
      break;
    }
  }
  if (found.size() != 1 || *found.begin() == 0) return std::nullopt;
  return interval_of(samples.method, *found.begin());
}

}  // namespace perflab::analyze
