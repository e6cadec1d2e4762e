// Bandwidths and waits of eight MI300 ranks as another tool printed them (TraceLens' tables of a
// Llama-70B FSDP run, shared/data/ranks/tracelens_mi300_8ranks_csv): what their columns allow.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "ranks/figures/all_figures.h"

namespace perflab::ranks {
namespace {

namespace fs = std::filesystem;

/// Rows of a table by column; quoted fields may hold commas.
std::vector<std::map<std::string, std::string>> table_of(const fs::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> titles;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(stream, line);) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == ',' && !quoted) {
        cells.emplace_back();
      } else if (c != '\r') {
        cells.back() += c;
      }
    }
    if (titles.empty()) {
      titles = cells;
      continue;
    }
    rows.emplace_back();
    for (std::size_t i = 0; i < cells.size() && i < titles.size(); ++i)
      rows.back()[titles[i]] = cells[i];
  }
  return rows;
}

/// Their GB/s count 2^30 bytes, and their MB 2^20.
constexpr double kGiB = 1024.0 * 1024 * 1024;

struct Reference {
  CollectiveKind kind;
  std::int64_t element;  ///< bytes
};

TEST(RankReference, BandwidthsOfEightMi300RanksAreReproduced) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/ranks/tracelens_mi300_8ranks_csv";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no reference figures in " << folder;
  const std::map<std::string, Reference> known = {
      {"_allgather_base", {CollectiveKind::all_gather, 2}},
      {"_reduce_scatter_base", {CollectiveKind::reduce_scatter, 4}}};
  std::size_t compared = 0;
  for (const auto& row : table_of(folder / "nccl_summary_implicit_sync.csv")) {
    const auto found = known.find(row.at("Collective name"));
    if (found == known.end() || row.at("count").empty()) continue;
    const auto [kind, element] = found->second;
    const std::int64_t sent = std::stoll(row.at("In msg nelems")) * element;
    const std::int64_t ranks = std::stoll(row.at("Group size"));
    const auto bytes = algorithm_bytes(kind, sent, std::nullopt, ranks);
    ASSERT_TRUE(bytes);
    EXPECT_NEAR(static_cast<double>(*bytes) / (1024 * 1024),
                std::stod(row.at("Full msg size (MB)")), 1e-6);
    // The fastest has the least latency, which is the shortest duration over ranks: the transfer.
    const double fastest = std::stod(row.at("comm_latency_min")) * 1e-6;
    const double algorithm = static_cast<double>(*bytes) / fastest / kGiB;
    EXPECT_NEAR(algorithm, std::stod(row.at("algo bw (GB/s)_max")), 1e-3);
    EXPECT_NEAR(algorithm * bus_factor(kind, ranks), std::stod(row.at("bus bw (GB/s)_max")), 1e-3);
    ++compared;
  }
  EXPECT_EQ(compared, 4U);
}

/// A rank's waits are the sum of its durations less the sum of the latencies: by durations, the
/// mean operation of each rank waits as their columns say.
TEST(RankReference, WaitsOfEightMi300RanksFollowFromTheirDurations) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/ranks/tracelens_mi300_8ranks_csv";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no reference figures in " << folder;
  std::map<std::string, double> latency;  // of all operations, us
  for (const auto& row : table_of(folder / "nccl_summary_implicit_sync.csv"))
    if (row.at("Collective name") == "_reduce_scatter_base")
      latency[row.at("Collective name")] += std::stod(row.at("Total comm latency (ms)")) * 1000;
  std::map<std::string, double> sums;  // by rank, us
  double count = 0;
  for (const auto& row : table_of(folder / "nccl_summary_long.csv")) {
    if (row.at("Collective name") != "_reduce_scatter_base") continue;
    sums[row.at("rank")] += std::stod(row.at("dur_sum"));
    count = std::max(count, std::stod(row.at("operation_count")));
  }
  ASSERT_EQ(sums.size(), 8U);
  // One operation that has each rank's mean duration, and a rank that came at the mean latency.
  std::vector<RankSummary> summaries(9);
  Matching matching;
  matching.groups.push_back(
      {.key = KeySource::arguments, .id = "0", .ranks = {}, .size = 8, .offsets = {}});
  matching.operations.push_back({.group = 0,
                                 .kind = CollectiveKind::reduce_scatter,
                                 .members = {},
                                 .complete = true,
                                 .root = std::nullopt});
  const double mean_latency = latency.at("_reduce_scatter_base") / count;
  std::vector<double> expected;
  for (const auto& [rank, sum] : sums) expected.push_back(sum / count - mean_latency);
  expected.push_back(0);
  Clocks clocks;
  clocks.ranks.resize(9);
  for (std::uint32_t rank = 0; rank < 9; ++rank) {
    clocks.ranks[rank].zone = rank;
    Collective own;
    own.exit = 1'000'000'000;
    own.entry = own.exit - static_cast<std::int64_t>((expected[rank] + mean_latency) * 1000);
    own.kind = CollectiveKind::reduce_scatter;
    summaries[rank].collectives.push_back(own);
    matching.operations[0].members.push_back({rank, 0});
  }
  const OperationFigures figures = operation_figures(summaries, matching, clocks, 0);
  for (std::size_t rank = 0; rank < 9; ++rank) {
    EXPECT_NEAR(static_cast<double>(figures.members[rank].wait_by_durations->value) / 1000,
                expected[rank], 0.01);
    EXPECT_GE(expected[rank], 0);
  }
}

}  // namespace
}  // namespace perflab::ranks
