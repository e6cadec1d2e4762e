// The file of one rank's summary. Header in clear: magic, version, tool version, options, recording
// and its origin, with its XXH3; then two zstd frames of variable-length numbers, each with its
// XXH3: who the rank is and its collectives, and its work, kernels and graph, which a merge of many
// ranks reads one rank at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Which part of a file is wanted.
enum class SummaryPart : std::uint8_t {
  collectives,  ///< without work, kernels and graph
  everything,
};

/// What stands in clear.
struct SummaryHeader {
  std::int64_t version = kRankSummaryVersion;
  std::string tool_version, options;
  std::string file = {};  ///< this and the next: of this version alone
  Origin origin = {};
};

/// Ending of the files' names.
inline constexpr std::string_view kSummaryEnding = ".rpsum";

/// Name of a summary's file: "rank-00003-GUID-gpu0.rpsum", "rank-x-..." without a number.
std::string summary_file_name(const RankSummary& summary);

/// The bytes of a file; the same value, the same bytes.
std::string encode_summary(const RankSummary& summary);

/// A file's bytes as a value. `name`: for errors (bad_input): no summary, damaged, of another
/// version. A part unpacks to at most 128 MiB.
Result<RankSummary> decode_summary(std::string_view bytes, std::string_view name,
                                   SummaryPart part = SummaryPart::everything);

/// Writes it to a temporary name and renames. Error (usage): the place cannot be written.
Result<void> write_summary(const std::filesystem::path& path, const RankSummary& summary);

/// Errors (bad_input): as decode_summary(), or the file cannot be read.
Result<RankSummary> read_summary(const std::filesystem::path& path,
                                 SummaryPart part = SummaryPart::everything);

/// Only what stands in clear; of any version.
Result<SummaryHeader> read_summary_header(const std::filesystem::path& path);

/// Whether two summaries may be merged. Error (bad_input): made with other options, or by another
/// version of the program; names both files.
Result<void> check_same_making(const RankSummary& one, std::string_view one_name,
                               const RankSummary& other, std::string_view other_name);

}  // namespace perflab::ranks
