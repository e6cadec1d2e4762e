// SQLite databases by how they begin (https://www.sqlite.org/fileformat.html section 1.3); JSON by
// the first keys of its outermost object (docs/facts/kineto.md "The file").
#include "trace/read/file_kind.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/system/packed.h"
#include "trace/rocprofv3_json/read_rocprofv3_json.h"
#include "trace/trace_csv/read_trace_csv.h"

namespace perflab::trace {
namespace {

constexpr std::string_view kMagic("SQLite format 3\0", 16);

/// Enough for what stands before the events: 16 GPUs and a few hundred process groups.
constexpr std::size_t kStart = std::size_t{1} << 20;

/// Enough for the first line of a table.
constexpr std::size_t kHeader = std::size_t{4} << 10;

/// Keys of an outermost object that tell what the file is, whatever else is in it.
constexpr auto kTellingKeys = std::to_array<std::pair<std::string_view, FileKind>>({
    {"traceEvents", FileKind::kineto},
    {"deviceProperties", FileKind::kineto},
    {"distributedInfo", FileKind::kineto},
    {"baseTimeNanoseconds", FileKind::kineto},
    {rocprofv3_json::kRootKey, FileKind::rocprofv3_json},
});

/// Columns that only a table of PC samples has, both of them.
constexpr std::array<std::string_view, 2> kPcSampleColumns = {"Sample_Timestamp", "Exec_Mask"};

constexpr std::string_view kSpaces = " \t\r\n";

/// Walks over the start of a JSON text, key by key of the outermost object.
class KeyScan {
 public:
  explicit KeyScan(std::string_view text) : text_(text) {}

  /// The next key, as it is written; nothing: there is none, or the text ends before it.
  std::optional<std::string_view> next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        const std::optional<std::string_view> string = read_string();
        if (!string) return std::nullopt;
        const std::size_t after = text_.find_first_not_of(kSpaces, at_);
        if (depth_ == 1 && after != text_.npos && text_[after] == ':') return string;
        continue;
      }
      if (c == '{' || c == '[') ++depth_;
      if (c == '}' || c == ']') --depth_;
      ++at_;
      if (depth_ <= 0 && (c == '}' || c == ']')) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string_view> read_string() {
    const std::size_t begin = ++at_;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '"') {
        return text_.substr(begin, at_++ - begin);
      }
    }
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

FileKind kind_of_json(std::string_view text) {
  if (text.starts_with('[')) return FileKind::json;
  KeyScan keys(text);
  while (const std::optional<std::string_view> key = keys.next()) {
    const auto* const found =
        std::ranges::find(kTellingKeys, *key, &std::pair<std::string_view, FileKind>::first);
    if (found != kTellingKeys.end()) return found->second;
  }
  return FileKind::json;
}

FileKind kind_of_table(std::string_view text) {
  const std::string_view header = text.substr(0, text.find('\n'));
  return std::ranges::all_of(kPcSampleColumns,
                             [&](std::string_view column) { return header.contains(column); })
             ? FileKind::pc_samples
             : FileKind::text;
}

}  // namespace

FileKind kind_of_file(const std::filesystem::path& path) {
  const std::string start = start_of_maybe_packed(path, kMagic.size());
  if (start.empty()) return FileKind::nothing;
  if (start == kMagic) return FileKind::database;
  const auto is_json = [](std::string_view text) {
    const std::size_t first = text.find_first_not_of(kSpaces);
    return first != text.npos && (text[first] == '{' || text[first] == '[');
  };
  // Spaces may fill the first bytes: then more of them are looked at.
  if (!is_json(start) && start.find_first_not_of(kSpaces) != start.npos)
    return kind_of_table(start_of_maybe_packed(path, kHeader));
  const std::string text = start_of_maybe_packed(path, kStart);
  if (!is_json(text)) return kind_of_table(text);
  return kind_of_json(std::string_view(text).substr(text.find_first_not_of(kSpaces)));
}

bool is_recording(const std::filesystem::path& path) {
  const FileKind kind = kind_of_file(path);
  return kind == FileKind::database || kind == FileKind::kineto ||
         kind == FileKind::rocprofv3_json ||
         (kind == FileKind::text && trace_csv::set_of(path).has_value());
}

std::vector<std::filesystem::path> recordings_below(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::vector<fs::path> found;
  const auto kernels_first = [](const fs::path& table) {
    return std::pair(!table.stem().string().ends_with("kernel_trace"), table);
  };
  std::map<trace_csv::TableSet, fs::path> tables;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code other;  // a link that leads nowhere is no file
    if (!at->is_regular_file(other) || !is_recording(at->path())) continue;
    const std::optional<trace_csv::TableSet> set = trace_csv::set_of(at->path());
    if (!set) {
      found.push_back(at->path());
      continue;
    }
    const auto [known, fresh] = tables.try_emplace(*set, at->path());
    if (!fresh && kernels_first(at->path()) < kernels_first(known->second))
      known->second = at->path();
  }
  for (auto& [set, path] : tables) found.push_back(std::move(path));
  std::ranges::sort(found);
  return found;
}

}  // namespace perflab::trace
