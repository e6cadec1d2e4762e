#include "ranks/rank/made_before.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/version.h"
#include "ranks/rank/summary_file.h"
#include "trace/read/read_trace.h"

namespace perflab::ranks {
namespace {

namespace fs = std::filesystem;

void add_number(std::string& out, std::uint64_t value) {
  for (unsigned shift = 0; shift < 64; shift += 8) out += static_cast<char>(value >> shift & 0xFFU);
}

/// Adds name, size and the hashes of a file's pieces; its size, or null where it cannot be read.
std::optional<std::uint64_t> add_file(const fs::path& path, std::string& piece, std::string& told) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::uint64_t bytes = 0;
  told += path.filename().string();
  told += '\0';
  while (file) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    if (got == 0) break;
    bytes += got;
    add_number(told, content_hash(std::string_view(piece).substr(0, got)));
  }
  if (file.bad()) return std::nullopt;
  add_number(told, bytes);
  return bytes;
}

}  // namespace

std::optional<Origin> origin_of(const fs::path& recording) {
  constexpr std::size_t kPiece = std::size_t{1} << 22U;
  std::string piece(kPiece, '\0'), told;
  Origin origin;
  for (const fs::path& path : trace::files_of_recording(recording)) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return std::nullopt;
    for (const char* end : {"-journal", "-wal"}) {
      const std::uintmax_t left = fs::file_size(path.string() + end, error);
      if (!error && left > 0) return std::nullopt;  // the reader says what that means
    }
    const auto bytes = add_file(path, piece, told);
    if (!bytes) return std::nullopt;
    origin.bytes += *bytes;
  }
  origin.hash = content_hash(told);
  return origin;
}

MadeBefore::MadeBefore(fs::path folder, const std::string& options) : folder_(std::move(folder)) {
  std::error_code error;
  fs::directory_iterator at(folder_, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code other;
    if (at->path().extension() != kSummaryEnding || !at->is_regular_file(other)) continue;
    const Result<SummaryHeader> header = read_summary_header(at->path());
    if (header && header->version == kRankSummaryVersion && header->origin.ranks > 0 &&
        header->tool_version == kProgramVersion && header->options == options)
      by_recording_[header->file].push_back(at->path());
  }
}

std::vector<MadeBefore::Kept> MadeBefore::of(const fs::path& recording,
                                             const Origin& origin) const {
  const auto found = by_recording_.find(recording.string());
  if (found == by_recording_.end()) return {};
  std::vector<Kept> kept;
  for (const fs::path& path : found->second) {
    Result<RankSummary> summary = read_summary(path);
    if (!summary) return {};
    Origin same = origin;
    same.ranks = static_cast<std::uint32_t>(found->second.size());
    if (summary->origin != same || summary_file_name(*summary) != path.filename()) return {};
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (error) return {};
    kept.push_back({std::move(*summary), static_cast<std::size_t>(bytes)});
  }
  std::ranges::sort(kept, {}, [](const Kept& one) {
    return std::tuple(one.summary.guid, one.summary.identity.pid, one.summary.identity.gpu);
  });
  return kept;
}

}  // namespace perflab::ranks
