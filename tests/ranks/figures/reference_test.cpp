// Bandwidths and waits of eight MI300 ranks as another tool printed them (TraceLens' tables of a
// Llama-70B FSDP run, shared/data/ranks/tracelens_mi300_8ranks_csv): what their columns allow. They
// have sums, means, least and greatest of each rank's durations, and of the latencies. They have no
// start and no end of any rank, so no skew can be computed anew, no clock and nothing by clocks;
// and no single durations of what happened more than twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

using Row = std::map<std::string, std::string>;

double number(const Row& row, const std::string& column) {
  return std::stod(row.at(column));
}

std::int64_t ns(double us) {
  return std::llround(us * 1000);
}

/// Rows of the ranks that a row of the summary puts together.
std::vector<Row> ranks_of(const fs::path& folder, const Row& summary) {
  std::vector<Row> rows;
  for (const Row& row : table_of(folder / "nccl_summary_long.csv"))
    if (row.at("Collective name") == summary.at("Collective name") &&
        row.at("In msg nelems") == summary.at("In msg nelems"))
      rows.push_back(row);
  std::ranges::sort(rows, {}, [](const Row& row) { return row.at("rank"); });
  return rows;
}

/// Operations of given durations (ns, by operation and rank) as the figures see them. The tables
/// have no times of starts or ends: every rank has a clock of its own, and the first tier is asked.
class Durations {
 public:
  Durations(CollectiveKind kind, const std::vector<std::vector<std::int64_t>>& durations,
            std::optional<std::int64_t> send_bytes) {
    const std::size_t ranks = durations.front().size();
    summaries_.resize(ranks);
    clocks_.ranks.resize(ranks);
    matching_.groups.push_back({.key = KeySource::arguments,
                                .id = "0",
                                .ranks = {},
                                .size = static_cast<std::int64_t>(ranks),
                                .offsets = {}});
    for (std::uint32_t k = 0; k < durations.size(); ++k) {
      matching_.operations.push_back(
          {.group = 0, .kind = kind, .members = {}, .complete = true, .root = std::nullopt});
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        clocks_.ranks[rank].zone = rank;
        Collective own;
        own.exit = 1'000'000'000 * std::int64_t{k + 1};
        own.entry = own.exit - durations[k][rank];
        own.kind = kind;
        own.send_bytes = send_bytes;
        summaries_[rank].collectives.push_back(own);
        matching_.operations.back().members.push_back({rank, k});
      }
    }
  }
  [[nodiscard]] OperationFigures figures(std::uint32_t operation) const {
    return operation_figures(summaries_, matching_, clocks_, operation);
  }

 private:
  std::vector<RankSummary> summaries_;
  Matching matching_;
  Clocks clocks_;
};

const std::map<std::string, Reference>& kinds() {
  static const std::map<std::string, Reference> known = {
      {"_allgather_base", {CollectiveKind::all_gather, 2}},
      {"_reduce_scatter_base", {CollectiveKind::reduce_scatter, 4}},
      {"allreduce", {CollectiveKind::all_reduce, 4}}};
  return known;
}

TEST(RankReference, BandwidthsOfEightMi300RanksAreReproduced) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/ranks/tracelens_mi300_8ranks_csv";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no reference figures in " << folder;
  std::size_t compared = 0;
  for (const auto& row : table_of(folder / "nccl_summary_implicit_sync.csv")) {
    const auto [kind, element] = kinds().at(row.at("Collective name"));
    const std::int64_t sent = std::stoll(row.at("In msg nelems")) * element;
    const std::int64_t ranks = std::stoll(row.at("Group size"));
    const auto bytes = algorithm_bytes(kind, sent, std::nullopt, ranks);
    ASSERT_TRUE(bytes);
    EXPECT_NEAR(static_cast<double>(*bytes) / (1024 * 1024), number(row, "Full msg size (MB)"),
                1e-9);
    // The fastest has the least latency, which is the shortest duration over ranks: the transfer.
    const double fastest = std::stod(row.at("comm_latency_min")) * 1e-6;
    const double algorithm = static_cast<double>(*bytes) / fastest / kGiB;
    EXPECT_NEAR(algorithm, number(row, "algo bw (GB/s)_max"), 1e-6 * algorithm);
    EXPECT_NEAR(algorithm * bus_factor(kind, ranks), number(row, "bus bw (GB/s)_max"),
                1e-6 * algorithm);
    ++compared;
  }
  EXPECT_EQ(compared, 5U);
}

/// Of what happened twice, both durations of each rank are known (the least and the greatest), and
/// which operation was the faster one follows from the latencies: all columns but the skews, which
/// need times of starts and ends, are there to compare.
TEST(RankReference, OperationsThatAreKnownOneByOneAreReproduced) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/ranks/tracelens_mi300_8ranks_csv";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no reference figures in " << folder;
  std::size_t compared = 0;
  for (const Row& row : table_of(folder / "nccl_summary_implicit_sync.csv")) {
    if (row.at("count") != "2") continue;
    SCOPED_TRACE(row.at("Collective name") + " of " + row.at("In msg nelems"));
    ++compared;
    const auto [kind, element] = kinds().at(row.at("Collective name"));
    const std::vector<Row> ranks = ranks_of(folder, row);
    ASSERT_EQ(ranks.size(), 8U);
    const double least = number(row, "comm_latency_min"), most = number(row, "comm_latency_max");
    // A rank's shorter one is in the faster operation, unless it is the latency of the slower one.
    std::vector<std::vector<std::int64_t>> durations(2);
    for (const Row& rank : ranks) {
      const bool turned = number(rank, "dur_min") == most;
      durations[turned ? 1 : 0].push_back(ns(number(rank, "dur_min")));
      durations[turned ? 0 : 1].push_back(ns(number(rank, "dur_max")));
    }
    const Durations operations(kind, durations, std::stoll(row.at("In msg nelems")) * element);
    const OperationFigures fast = operations.figures(0), slow = operations.figures(1);
    EXPECT_EQ(fast.shortest, ns(least));
    EXPECT_EQ(slow.shortest, ns(most));
    EXPECT_NEAR(static_cast<double>(fast.shortest + slow.shortest) / 2000,
                number(row, "comm_latency_mean"), 1e-3);
    const auto bandwidth = [&](const OperationFigures& one) {
      return static_cast<double>(*one.bytes) / (static_cast<double>(*one.transfer) * 1e-9) / kGiB;
    };
    EXPECT_NEAR(bandwidth(fast), number(row, "algo bw (GB/s)_max"), 1e-3);
    EXPECT_NEAR(bandwidth(slow), number(row, "algo bw (GB/s)_min"), 1e-3);
    EXPECT_NEAR((bandwidth(fast) + bandwidth(slow)) / 2, number(row, "algo bw (GB/s)_mean"), 1e-3);
    EXPECT_NEAR(bandwidth(fast) * bus_factor(kind, 8), number(row, "bus bw (GB/s)_max"), 1e-3);
    EXPECT_NEAR(bandwidth(slow) * bus_factor(kind, 8), number(row, "bus bw (GB/s)_min"), 1e-3);
    for (std::size_t rank = 0; rank < 8; ++rank) {
      const double waits = static_cast<double>(fast.members[rank].wait_by_durations->value +
                                               slow.members[rank].wait_by_durations->value);
      EXPECT_NEAR(waits / 1000,
                  number(ranks[rank], "dur_sum") - number(row, "Total comm latency (ms)") * 1000,
                  1e-2);
    }
  }
  EXPECT_EQ(compared, 2U);
}

/// A rank whose durations add up to the latencies was the shortest each time: then the means are
/// those of one operation, and it is the one that the others waited for.
TEST(RankReference, TheRankThatIsAlwaysLastIsNamedWithTheWaitsOfTheOthers) {
  const fs::path folder = fs::path(PERFLAB_SHARED_DIR) / "data/ranks/tracelens_mi300_8ranks_csv";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "no reference figures in " << folder;
  std::vector<std::string> compared;
  for (const Row& row : table_of(folder / "nccl_summary_implicit_sync.csv")) {
    SCOPED_TRACE(row.at("Collective name") + " of " + row.at("In msg nelems"));
    const std::vector<Row> ranks = ranks_of(folder, row);
    ASSERT_EQ(ranks.size(), 8U);
    double shortest = number(ranks[0], "dur_min");
    std::vector<std::int64_t> means;
    std::optional<RankIndex> always;
    const double latencies = number(row, "Total comm latency (ms)") * 1000;
    for (std::size_t rank = 0; rank < 8; ++rank) {
      shortest = std::min(shortest, number(ranks[rank], "dur_min"));
      means.push_back(ns(number(ranks[rank], "dur_mean")));
      const double waits = number(ranks[rank], "dur_sum") - latencies;
      EXPECT_GE(waits, -1e-2);
      if (waits < 1e-2) always = static_cast<RankIndex>(rank);
    }
    EXPECT_EQ(shortest, number(row, "comm_latency_min"));
    // Else the least mean is not the mean of the least: the columns do not have single operations.
    if (!always) continue;
    compared.push_back(row.at("count") + " by " + ranks[*always].at("rank"));
    const CollectiveKind kind = kinds().at(row.at("Collective name")).kind;
    const OperationFigures figures = Durations(kind, {means}, std::nullopt).figures(0);
    const double count = number(row, "count");
    EXPECT_EQ(figures.shortest, ns(number(row, "comm_latency_mean")));
    for (std::size_t rank = 0; rank < 8; ++rank)
      EXPECT_NEAR(static_cast<double>(figures.members[rank].wait_by_durations->value) / 1000,
                  (number(ranks[rank], "dur_sum") - latencies) / count, 1e-2);
    if (count > 2) {
      EXPECT_EQ(figures.last, always);
      EXPECT_EQ(figures.last_by, Tier::durations);
    } else {
      // 0.06 of 23 ms: exits may lie further apart than that.
      EXPECT_EQ(figures.last, std::nullopt);
    }
  }
  EXPECT_EQ(compared, (std::vector<std::string>{"160 by 4", "2 by 4"}));
}

}  // namespace
}  // namespace perflab::ranks
