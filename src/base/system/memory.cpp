// /proc/meminfo, /proc/self/cgroup and the files of the groups that it names, with those above.
#include "base/system/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <string>
#include <utility>

#include "base/text/numbers.h"

namespace perflab {
namespace {

namespace fs = std::filesystem;

void take_least(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> value) {
  if (value) least = std::min(least.value_or(*value), *value);
}

/// The number that a file holds; nullopt: it is not there, or holds a word ("max").
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return whole_number(word);
}

/// Limits of a group and of all above it, down to the folder where they are mounted. In a container
/// that folder is often the group itself.
void take_limits(const fs::path& mounted, std::string_view group, const char* name,
                 std::optional<std::uint64_t>& least) {
  fs::path at = fs::path(group).relative_path();
  while (!at.empty()) {
    take_least(least, number_in(mounted / at / name));
    at = at.parent_path();
  }
  take_least(least, number_in(mounted / name));
}

}  // namespace

std::optional<std::uint64_t> available_memory(const fs::path& root) {
  std::optional<std::uint64_t> least;
  std::ifstream machine(root / "proc/meminfo");
  for (std::string name, rest; machine >> name && std::getline(machine, rest);) {
    if (name != "MemAvailable:") continue;
    const std::size_t begin = rest.find_first_not_of(' ');
    if (begin == std::string::npos) break;
    if (const auto kib = whole_number(rest.substr(begin, rest.find(' ', begin) - begin)))
      least = *kib * 1024;
  }
  // Lines are "number:controllers:group"; version 2 has neither number nor controllers.
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = std::string_view(line).substr(second + 1);
    if (controllers.empty()) take_limits(root / "sys/fs/cgroup", group, "memory.max", least);
    if (controllers == "memory")
      take_limits(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes", least);
  }
  return least;
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"", 1}, {"K", 0x1p10}, {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40}}};
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (parsed.ec == std::errc{}) {
    const std::string_view unit(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
    for (const auto& [name, bytes] : kUnits)
      if (unit == name && number * bytes >= 1 && number * bytes < 0x1p63)
        return static_cast<std::uint64_t>(number * bytes);
  }
  return fail(ErrorCode::usage, fmt::format("'{}' is not a size of memory", text),
              "write it as 16G, 512M or 1.5T");
}

}  // namespace perflab
