// Where ROCm and distributions put their LLVM tools: ROCm has llvm/bin below its root (a link to
// lib/llvm/bin in newer releases), Debian and Ubuntu NAME-<major> in /usr/bin
// (docs/facts/hip_toolchain.md "Where compilers are").
#include "code/tools/tool_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "base/system/environment.h"
#include "base/text/numbers.h"
#include "base/text/text.h"

namespace perflab::code::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kAskTimeout{20'000};
constexpr std::size_t kAnswerBytes = std::size_t{1} << 20;

void add_once(std::vector<fs::path>& list, fs::path path) {
  if (std::ranges::find(list, path) == list.end()) list.push_back(std::move(path));
}

/// The number after "NAME-" of a file name.
std::optional<int> version_suffix(std::string_view file, std::string_view name) {
  if (!file.starts_with(name) || file.size() < name.size() + 2 || file[name.size()] != '-')
    return std::nullopt;
  return whole_number<int>(file.substr(name.size() + 1));
}

}  // namespace

std::string_view first_line(std::string_view text) {
  text = trimmed(text);
  return trimmed(text.substr(0, text.find('\n')));
}

std::vector<fs::path> versions_on_path(std::string_view name) {
  std::map<int, std::vector<fs::path>, std::greater<>> versions;
  const std::string path = environment("PATH");
  std::string_view rest = path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path folder(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (folder.empty()) continue;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), last; !error && entry != last;
         entry.increment(error))
      if (const auto version = version_suffix(entry->path().filename().string(), name))
        versions[*version].push_back(entry->path());
  }
  std::vector<fs::path> found;
  for (const auto& [version, paths] : versions)
    for (const fs::path& candidate : paths)
      if (auto program = find_program(candidate.string())) add_once(found, *std::move(program));
  if (auto program = find_program(name)) add_once(found, *std::move(program));
  return found;
}

std::vector<fs::path> compiler_candidates() {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& path) {
    if (auto program = find_program(path.string())) add_once(found, *std::move(program));
  };
  if (const std::string folder = environment("HIP_CLANG_PATH"); !folder.empty())
    add(fs::path(folder) / "clang++");
  for (const std::string& root : {environment("ROCM_PATH"), std::string("/opt/rocm")}) {
    if (root.empty()) continue;
    add(fs::path(root) / "llvm/bin/clang++");
    add(fs::path(root) / "lib/llvm/bin/clang++");
  }
  if (auto program = find_program("amdclang++")) add_once(found, *std::move(program));
  for (fs::path& program : versions_on_path("clang++")) add_once(found, std::move(program));
  return found;
}

std::optional<fs::path> stock_device_libraries(const fs::path& rocm_path) {
  // Debian and Ubuntu; Fedora; a plain prefix.
  std::vector<fs::path> folders;
  for (const std::string_view lib :
       {"lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib64", "lib", "."})
    folders.push_back((rocm_path / lib / "amdgcn/bitcode").lexically_normal());
  const auto found = std::ranges::find_if(folders, [](const fs::path& folder) {
    std::error_code error;
    return fs::exists(folder / "ockl.bc", error);
  });
  return found == folders.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> processors_in(std::string_view listing) {
  std::vector<std::string> processors;
  while (!listing.empty()) {
    const std::size_t end = std::min(listing.find('\n'), listing.size());
    const std::string_view line = listing.substr(0, end);
    listing.remove_prefix(std::min(end + 1, listing.size()));
    // Features come after the processors, and some of them begin with "gfx" too.
    if (line.starts_with("Available features")) break;
    const std::string_view word = trimmed(line).substr(0, trimmed(line).find_first_of(" \t"));
    if (line.empty() || (line[0] != ' ' && line[0] != '\t') || !word.starts_with("gfx")) continue;
    processors.emplace_back(word);
  }
  // LLVM 14 prints its list twice.
  std::ranges::sort(processors);
  const auto repeated = std::ranges::unique(processors);
  processors.erase(repeated.begin(), repeated.end());
  return processors;
}

std::string abbreviated(const std::vector<std::string>& names) {
  constexpr std::size_t kEnds = 3;
  if (names.size() <= 2 * kEnds) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ..., {} ({} in all)",
                     fmt::join(names.begin(), names.begin() + kEnds, ", "),
                     fmt::join(names.end() - kEnds, names.end(), ", "), names.size());
}

Result<ProcessResult> ask(const std::vector<std::string>& command) {
  ProcessOptions options;
  options.empty_input = true;
  options.standard_output = StreamMode::capture;
  options.standard_error = StreamMode::capture;
  options.capture_limit = kAnswerBytes;
  options.timeout = kAskTimeout;
  options.grace = std::chrono::milliseconds{1'000};
  PERFLAB_TRY(ProcessResult result, run_program(command, options));
  if (result.interrupted)
    return fail(ErrorCode::interrupted, fmt::format("{}: interrupted", command.front()));
  return result;
}

}  // namespace perflab::code::detail
