// A job of four ranks whose databases have the arguments of RCCL's calls, written by hand: sizes
// and bandwidths are known without any text of RCCL.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ranks/analyze_ranks.h"
#include "ranks/figures/all_figures.h"
#include "ranks/open_ranks.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"

namespace perflab::ranks {
namespace {

constexpr std::int64_t kFirstCall = 6'000'000'000'000;
constexpr int kJobRanks = 4;

/// One kernel in a call of its own: the last rank comes 300 us after the first.
void write_call(test::RocpdWriter& writer, int rank, int number, const std::string& name,
                const std::string& count_name, int count, std::int64_t transfer) {
  const test::Id stack = writer.next_stack_id(), launch = writer.next_stack_id();
  const std::int64_t at = kFirstCall + number * 2'000'000;
  writer.region(
      {.name = name,
       .start = at,
       .end = at + 50'000,
       .event = {.category = "RCCL_API_EXT", .stack_id = stack, .parent_stack_id = stack},
       .arguments = {test::argument("size_t", count_name, fmt::to_string(count)),
                     test::argument("ncclDataType_t", "datatype", "ncclBfloat16"),
                     // Another address on each rank.
                     test::argument("ncclComm_t", "comm", fmt::format("0x{}000", rank + 1)),
                     test::argument("hipStream_t", "stream", "0x10")}});
  writer.region({.name = "hipExtLaunchKernel",
                 .start = at + 10'000,
                 .end = at + 20'000,
                 .event = {.stack_id = launch, .parent_stack_id = stack}});
  writer.dispatch({.kernel = 1,
                   .start = at + 100'000 + rank * 100'000,
                   .end = at + 400'000 + transfer + rank,
                   .agent = 1,
                   .stream = 1,
                   .event = {.stack_id = launch}});
}

TEST(RcclArguments, SayBandwidthsOfAJob) {
  const std::filesystem::path folder = test::test_folder();
  std::vector<std::filesystem::path> paths;
  for (int rank = 0; rank < kJobRanks; ++rank) {
    paths.push_back(folder / fmt::format("rank{}.db", rank));
    test::RocpdWriter writer(
        paths.back(),
        {.guid = fmt::format("0000000{}-7f00-7000-8000-000000000001", rank + 1),
         .process = {.pid = 100 + rank,
                     .environment = fmt::format(R"({{"RANK": "{}", "WORLD_SIZE": "4"}})", rank)}});
    writer.agent({.type = "CPU", .name = "EPYC", .product_name = "AMD EPYC"});
    ASSERT_EQ(writer.agent({.absolute_index = 1}), 1);
    writer.queue();
    for (int i = 0; i < 2; ++i) writer.stream();
    writer.code_object({});
    ASSERT_EQ(writer.kernel({.name = "ncclDevKernel_Generic_1"}), 1);
    write_call(writer, rank, 0, "ncclAllReduce", "count", 1'000'000, 200'000);
    write_call(writer, rank, 1, "ncclAlltoAll", "count", 250'000, 100'000);
    write_call(writer, rank, 2, "ncclAllGather", "sendcount", 250'000, 100'000);
    write_call(writer, rank, 3, "ncclReduceScatter", "recvcount", 250'000, 100'000);
    write_call(writer, rank, 4, "ncclAllToAll", "count", 250'000, 100'000);
    const auto closed = writer.close();
    ASSERT_TRUE(closed) << describe(closed.error());
  }
  const auto source = open_ranks(paths, {.threads = 1});
  ASSERT_TRUE(source) << describe(source.error());
  const auto found = analyze_ranks(*source, {.threads = 1});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_TRUE(found->matching.unmatched.empty());
  ASSERT_EQ(found->matching.operations.size(), 5U);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const OperationFigures one = operation_figures(found->ranks, found->matching, found->clocks, i);
    SCOPED_TRACE(i);
    ASSERT_EQ(one.members.size(), 4U);
    EXPECT_TRUE(found->matching.operations[i].complete);
    // All of them move 2 MB: a million of 2 bytes, or a quarter of it with each of four ranks.
    ASSERT_TRUE(one.bytes);
    EXPECT_EQ(*one.bytes, 2'000'000);
    ASSERT_TRUE(one.transfer);
    EXPECT_EQ(*one.transfer, i == 0 ? 200'003 : 100'003);
    EXPECT_EQ(one.last, 3U);
    EXPECT_EQ(one.members[0].wait_by_durations->value, 300'000 - 3);
  }
}

}  // namespace
}  // namespace perflab::ranks
