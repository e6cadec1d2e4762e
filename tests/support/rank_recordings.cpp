// See rank_recordings.h. Facts: docs/facts/ranks.md "What is recorded".
#include "support/rank_recordings.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/rocpd_writer.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kRunBegin = 6'000'000'000'000, kRunLength = 60'000'000'000;
constexpr std::int64_t kWork = 500'000, kTransfer = 100'000, kReturn = 2'000;  // ns

std::string environment_of(const RankRecording& rank) {
  if (!rank.environment.empty()) return rank.environment;
  return fmt::format(R"({{"RANK": "{}", "WORLD_SIZE": "{}", "LOCAL_RANK": "{}")"
                     R"(, "AWS_SECRET_ACCESS_KEY": "{}"}})",
                     rank.rank, rank.size, rank.rank, rank.secret);
}

/// Ns that a rank works before each operation.
std::int64_t work_of(const RankRecording& job, int rank) {
  return kWork + 1'000 * rank + (job.late == rank ? job.late_by : 0);
}

}  // namespace

Result<void> write_rank_recording(const std::filesystem::path& path, const RankRecording& rank) {
  RocpdWriter writer(
      path, {.guid = fmt::format("000000{:02}-7f00-7000-8000-{:012}", rank.rank, rank.run + 1),
             .node = {.hostname = rank.hostname},
             .process = {.pid = 4000 + 100 * rank.run + rank.rank,
                         .command = rank.command,
                         .environment = environment_of(rank)}});
  writer.agent(host_agent());
  const Id gpu = writer.agent(mi300x_agent());
  writer.queue();
  writer.stream();
  writer.code_object({});
  const Id gemm = writer.kernel({.name = "_Z4gemmPf", .display_name = "gemm(float*)"});
  const Id rccl = writer.kernel({.name = "ncclDevKernel_Generic_1"});
  const auto launch = [&](Id kernel, std::int64_t at, std::int64_t start, std::int64_t end,
                          std::optional<Id> parent) {
    RegionRow region{.name = "hipExtLaunchKernel", .start = at, .end = at + 4'000};
    region.event.parent_stack_id = parent;
    writer.launch(region, {.kernel = kernel, .start = start, .end = end, .agent = gpu});
  };
  std::int64_t begin = kRunBegin + rank.run * kRunLength, slowest = 0;
  for (int one = 0; one < rank.size; ++one) slowest = std::max(slowest, work_of(rank, one));
  for (int i = 0; i < rank.operations; ++i) {
    const std::int64_t entry = begin + work_of(rank, rank.rank);
    const std::int64_t exit = begin + slowest + kTransfer;
    launch(gemm, begin + 4'000, begin + 10'000, entry - 5'000, {});
    const Id call = writer.next_stack_id();
    writer.region({.name = "ncclAllReduce",
                   .start = begin + 20'000,
                   .end = begin + 40'000,
                   .event = {.category = "RCCL_API", .stack_id = call, .parent_stack_id = call}});
    launch(rccl, begin + 30'000, entry, exit, call);
    writer.region({.name = "hipStreamSynchronize", .start = begin + 45'000, .end = exit + kReturn});
    begin = exit;
  }
  return writer.close();
}

}  // namespace perflab::test
