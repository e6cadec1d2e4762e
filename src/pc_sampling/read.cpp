// What a file is, by its first bytes; each goes to its reader.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/system/files.h"
#include "base/system/packed.h"
#include "pc_sampling/json_window.h"
#include "pc_sampling/read_csv.h"
#include "pc_sampling/read_database.h"
#include "pc_sampling/read_json.h"
#include "pc_sampling/read_pc_samples.h"

namespace perflab::pc_sampling {
namespace {

namespace fs = std::filesystem;

/// How an SQLite database begins.
constexpr std::string_view kDatabase = "SQLite format 3";

/// Tables beside a CSV are held as text.
constexpr std::uint64_t kMostTableBytes = std::uint64_t{1} << 30;

Result<std::string> start_of(const fs::path& file) {
  PERFLAB_TRY(const ReadBytes read, bytes_of_file(file));
  std::string start(4096, '\0');
  std::size_t have = 0;
  while (have < start.size()) {
    PERFLAB_TRY(const std::size_t many, read(start.data() + have, start.size() - have));
    if (many == 0) break;
    have += many;
  }
  start.resize(have);
  return start;
}

/// The table of that name beside a CSV of samples; nothing: it is not there.
Result<std::optional<std::string>> table_beside(const fs::path& csv, std::string_view name,
                                                std::string& file) {
  const std::string own = csv.filename().string();
  const std::size_t at = own.rfind("pc_sampling_");
  if (at == own.npos) return std::nullopt;
  const fs::path path = csv.parent_path() / (own.substr(0, at) + std::string(name));
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  file = path.string();
  PERFLAB_TRY(std::string text, read_file(path, kMostTableBytes));
  return text;
}

Result<void> read_table(const fs::path& file, std::uint64_t bytes, PcSamples& samples,
                        const TellProgress& progress) {
  TablesBeside beside;
  PERFLAB_TRY(beside.kernel_trace,
              table_beside(file, "kernel_trace.csv", beside.kernel_trace_file));
  PERFLAB_TRY(beside.agent_info, table_beside(file, "agent_info.csv", beside.agent_info_file));
  PERFLAB_TRY(ReadBytes read, bytes_of_file(file));
  Lines lines(std::move(read), file.string());
  return read_csv(lines, bytes, beside, samples, progress);
}

Result<void> read_one(const fs::path& file, PcSamples& samples, const TellProgress& progress) {
  PERFLAB_TRY(const std::string start, start_of(file));
  std::error_code ignored;
  const std::uintmax_t size = fs::file_size(file, ignored);
  const std::uint64_t bytes = size == static_cast<std::uintmax_t>(-1) ? 0 : size;
  const std::size_t first = start.find_first_not_of(" \t\r\n");
  if (first == start.npos)
    return fail(ErrorCode::bad_input, fmt::format("{}: is empty", file.string()));
  if (start_of_maybe_packed(file, kDatabase.size()) == kDatabase)
    return read_database(file, samples);
  if (start.starts_with("\x1f\x8b"))
    return fail(ErrorCode::bad_input, fmt::format("{}: is packed with gzip", file.string()),
                "unpack it first: gunzip");
  if (start[first] == '{' || start[first] == '[') {
    PERFLAB_TRY(ReadBytes read, bytes_of_file(file));
    JsonWindow window(std::move(read), file.string());
    return read_json(window, bytes, samples, progress);
  }
  return read_table(file, bytes, samples, progress);
}

}  // namespace

bool is_pc_sample_table(const fs::path& file) {
  const Result<std::string> start = start_of(file);
  return start && method_of_header(std::string_view(*start).substr(0, start->find_first_of("\r\n")))
                      .has_value();
}

Result<PcSamples> read(std::span<const fs::path> places, const ReadOptions& options) {
  std::set<fs::path> seen;
  std::vector<fs::path> files;
  for (const fs::path& place : places) {
    PERFLAB_TRY(const std::vector<fs::path> found, find(place));
    for (const fs::path& file : found) {
      std::error_code ignored;
      if (seen.insert(fs::weakly_canonical(file, ignored)).second) files.push_back(file);
    }
  }
  std::ranges::sort(files);
  PcSamples samples;
  samples.interval = options.interval;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto share = [&](std::size_t at) {
      return static_cast<double>(at) / static_cast<double>(files.size());
    };
    PERFLAB_TRY_VOID(
        read_one(files[i], samples, part_of(options.progress, share(i), share(i + 1))));
  }
  return samples;
}

}  // namespace perflab::pc_sampling
