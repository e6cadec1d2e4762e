// Time and memory of matching ranks and finding their clocks: RANKS made-up ranks of OPERATIONS
// collectives each, of the whole job and of nodes of eight, with starts that are a period apart.
// `read FOLDER`: reads the summaries of a folder and does nothing with them; `merge FOLDER`: all of
// `rocm-perf ranks` but its documents; `summarise FILE FOLDER`: all of `rocm-perf rank-summary`.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <string_view>

#include "base/random.h"
#include "ranks/analyze_ranks.h"
#include "ranks/clocks/align.h"
#include "ranks/open_ranks.h"
#include "ranks/rank/make_summaries.h"
#include "ranks/rank/summary_file.h"

namespace {

using perflab::SplitMix64;
namespace ranks = perflab::ranks;

constexpr std::uint32_t kNode = 8;

// Time of rank r's clock: offset of seconds and drift of microseconds a second.
std::int64_t own(std::uint32_t rank, std::int64_t common) {
  const std::int64_t node = rank / kNode;
  return common + node * 3'000'000'000 + common / 1'000'000 * (node % 40);
}

std::vector<ranks::RankSummary> made(std::uint32_t count, std::size_t operations) {
  std::vector<ranks::RankSummary> all(count);
  std::vector<std::int64_t> now(count, 1'000'000'000);
  std::vector<std::int64_t> entries(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    ranks::RankSummary& own_rank = all[rank];
    own_rank.identity.facts.rank = rank;
    own_rank.identity.facts.size = count;
    own_rank.identity.hostname = own_rank.identity.machine_id = fmt::format("{}", rank / kNode);
    own_rank.communicators.resize(2);
    own_rank.communicators[0].id = "world";
    own_rank.communicators[0].size = count;
    own_rank.communicators[1].id = fmt::format("node{}", rank / kNode);
    own_rank.communicators[1].size = std::min(count, kNode);
    own_rank.collectives.reserve(operations);
  }
  SplitMix64 random(1);
  for (std::size_t k = 0; k < operations; ++k) {
    const bool world = k % 3 != 0;
    const std::uint32_t step = world ? count : kNode;
    for (std::uint32_t first = 0; first < count; first += step) {
      std::int64_t last = 0;
      for (std::uint32_t rank = first; rank < std::min(first + step, count); ++rank) {
        entries[rank] = now[rank] + 100'000 + static_cast<std::int64_t>(random.next() % 50'000);
        last = std::max(last, entries[rank]);
      }
      for (std::uint32_t rank = first; rank < std::min(first + step, count); ++rank) {
        now[rank] = last + 20'000 + static_cast<std::int64_t>(random.next() % 5'000);
        if (rank % 5 == 4 && k < 96) continue;  // recorded from the second period on
        ranks::Collective& of = all[rank].collectives.emplace_back();
        of.entry = own(rank, entries[rank]);
        of.exit = own(rank, now[rank]);
        of.kind =
            k % 2 == 0 ? ranks::CollectiveKind::all_gather : ranks::CollectiveKind::reduce_scatter;
        of.communicator = world ? 0 : 1;
        of.send_bytes = of.receive_bytes = static_cast<std::int64_t>(k % 96) * 4096;
      }
    }
  }
  return all;
}

double memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// One file after another.
int read_all(const std::filesystem::path& folder) {
  std::size_t collectives = 0, edges = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto summary = ranks::read_summary(file.path());
    if (!summary) {
      fmt::print(stderr, "{}\n", summary.error().message);
      return 1;
    }
    collectives += summary->collectives.size();
    edges += summary->graph.edges.size();
  }
  fmt::print("{} collectives, {} edges, {:.2f} s of processors\n", collectives, edges,
             processor_seconds());
  return 0;
}

template <class T>
int said(const perflab::Result<T>& done) {
  fmt::print("{:.2f} s of processors, {:.0f} MB\n", processor_seconds(), memory_mb());
  if (done) return 0;
  fmt::print(stderr, "{}\n", done.error().message);
  return 1;
}

int merge_all(const std::filesystem::path& folder) {
  const auto source = ranks::open_ranks({&folder, 1}, {});
  if (!source) return said(source);
  const auto analysis = ranks::analyze_ranks(*source, {.standard_questions = true});
  if (analysis)
    fmt::print("{} operations, {} not matched, {} zones, {} hops, {} causes; no path: '{}'\n",
               analysis->matching.operations.size(), analysis->matching.unmatched.size(),
               analysis->clocks.zones, analysis->path ? analysis->path->hops.size() : 0,
               analysis->causes.size(), analysis->no_path);
  return said(analysis);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "merge") return merge_all(argv[2]);
  if (argc == 4 && std::string_view(argv[1]) == "summarise")
    return said(ranks::make_summaries({argv[2]}, argv[3], {}));
  if (argc == 3 && std::string_view(argv[1]) == "read") return read_all(argv[2]);
  const auto count = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 64);
  const auto operations = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 30'000);
  const auto all = made(count, operations);
  const double before = memory_mb(), processors = processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  const auto [matching, clocks] = ranks::match_and_align(all);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print(
      "{} ranks, {} collectives each: {:.2f} s, {:.2f} s of processors; summaries {:.0f} "
      "MB, more {:.0f} MB\n{} operations, {} not matched, {} zones, {} violations\n",
      count, operations, seconds.count(), processor_seconds() - processors, before,
      memory_mb() - before, matching.operations.size(), matching.unmatched.size(), clocks.zones,
      clocks.violation_count);
  return 0;
}
