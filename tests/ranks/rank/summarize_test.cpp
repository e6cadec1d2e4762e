// Recordings to summaries: databases as rocprofv3 writes them of programs that use RCCL, with the
// peculiarities of its regions, and what must never be seen of a process's environment.
#include "ranks/rank/summarize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "ranks/rank/summary_file.h"
#include "support/rocpd_writer.h"
#include "support/test_database.h"
#include "trace/read/read_trace.h"

namespace perflab::ranks {
namespace {

using test::Id;
using test::RocpdWriter;

constexpr std::int64_t kBegin = 6'000'000'000'000;
constexpr std::string_view kGeneric = "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)";

class Summarize : public testing::Test {
 protected:
  explicit Summarize(std::string environment = R"({"RANK": "3", "WORLD_SIZE": "8",
      "LOCAL_RANK": "1", "AWS_SECRET_ACCESS_KEY": "hunter2-secret"})")
      : writer_(test::test_folder() / "rank.db",
                {.node = {.hostname = "gpu-node-7"}, .process = {.environment = environment}}) {
    writer_.agent({.type = "CPU", .name = "EPYC", .product_name = "AMD EPYC"});
    gpu_ = writer_.agent({.absolute_index = 1});
    writer_.queue();
    for (int i = 0; i < 3; ++i) writer_.stream();
    writer_.code_object({});
    rccl_ =
        writer_.kernel({.name = "ncclDevKernel_Generic_1", .display_name = std::string(kGeneric)});
    gemm_ = writer_.kernel({.name = "gemm", .display_name = "void gemm<float, 4>(float*, int)"});
    helper_ = writer_.kernel({.name = "__amd_rocclr_copyBuffer"});
    writer_.thread({.tid = 4243});
  }

  /// A call of RCCL: its own parent, as rocprofv3 has it. Returns its stack id.
  Id call(const std::string& name, std::int64_t start, std::int64_t end, std::optional<Id> tid = {},
          std::vector<test::ArgumentRow> arguments = {}) {
    const Id stack = writer_.next_stack_id();
    writer_.region({.name = name,
                    .start = kBegin + start,
                    .end = kBegin + end,
                    .tid = tid,
                    .event = {.category = arguments.empty() ? "RCCL_API" : "RCCL_API_EXT",
                              .stack_id = stack,
                              .parent_stack_id = stack},
                    .arguments = std::move(arguments)});
    return stack;
  }
  /// A collective in a call that says its arguments: launched at `at`.
  void told(const std::string& name, std::int64_t at, std::vector<test::ArgumentRow> arguments) {
    const Id stack = call(name, at, at + 20, {}, std::move(arguments));
    launch(rccl_, at + 5, at + 30, at + 80, 1, stack);
  }
  static std::vector<test::ArgumentRow> arguments(const std::string& count_name,
                                                  const std::string& count,
                                                  const std::string& comm = "0x55aa") {
    return {test::argument("size_t", count_name, count),
            test::argument("ncclDataType_t", "datatype", "ncclFloat32"),
            test::argument("ncclComm_t", "comm", comm)};
  }
  /// A launch at `at` of a kernel that runs later.
  void launch(Id kernel, std::int64_t at, std::int64_t start, std::int64_t end, Id stream = 1,
              Id parent = 0, std::optional<Id> tid = {}, std::optional<Id> agent = {}) {
    const Id stack = writer_.next_stack_id();
    writer_.region({.name = "hipExtLaunchKernel",
                    .start = kBegin + at,
                    .end = kBegin + at + 5,
                    .tid = tid,
                    .event = {.stack_id = stack, .parent_stack_id = parent}});
    writer_.dispatch({.kernel = kernel,
                      .start = kBegin + start,
                      .end = kBegin + end,
                      .agent = agent.value_or(gpu_),
                      .stream = stream,
                      .grid = {.x = 256 * 12},
                      .event = {.stack_id = stack}});
  }
  void text(const std::string& message, std::int64_t start, std::int64_t end) {
    writer_.region({.name = "roctxThreadRangeA",
                    .start = kBegin + start,
                    .end = kBegin + end,
                    .event = {.category = "MARKER_CORE_RANGE_API",
                              .stack_id = writer_.next_stack_id(),
                              .extdata = R"({"message": ")" + message + R"("})"}});
  }
  /// A collective in a call of its own: launched at `at`.
  void collective(const std::string& name, std::int64_t at, std::int64_t start, std::int64_t end) {
    const Id stack = call(name, at, at + 20);
    launch(rccl_, at + 5, start, end, 1, stack);
  }

  RankSummary only(const SummarizeOptions& options = {}) {
    const auto closed = writer_.close();
    EXPECT_TRUE(closed.has_value()) << closed.error().message;
    const std::vector<std::filesystem::path> files = {writer_.file().path()};
    const auto trace = trace::read(files);
    EXPECT_TRUE(trace.has_value()) << trace.error().message;
    const auto summaries = summarize_ranks(*trace, options);
    EXPECT_TRUE(summaries.has_value()) << summaries.error().message;
    EXPECT_EQ(summaries->size(), 1U);
    return summaries->empty() ? RankSummary{} : summaries->front();
  }
  static std::string name_of(const RankSummary& summary, Name name) {
    return name == kNoName ? "none" : summary.names[name];
  }
  static bool is_missing(const RankSummary& summary, const std::string& field) {
    return std::ranges::any_of(summary.missing,
                               [&](const auto& one) { return one.first == field; });
  }

  RocpdWriter writer_;
  Id gpu_ = 1, rccl_ = 1, gemm_ = 2, helper_ = 3;
};

TEST_F(Summarize, KindsComeFromTheCalls) {
  collective("ncclAllReduce", 0, 100, 200);
  collective("ncclAlltoAll", 300, 400, 450);
  collective("ncclAllToAll", 500, 600, 700);
  collective("ncclAllReduceWithBias", 800, 900, 950);
  call("ncclCommCount", 990, 991);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 4U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::all_to_all);
  EXPECT_EQ(summary.collectives[2].kind, CollectiveKind::all_to_all);
  EXPECT_EQ(summary.collectives[3].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(name_of(summary, summary.collectives[1].function), "ncclAlltoAll");
  EXPECT_EQ(name_of(summary, summary.collectives[0].kernel), "ncclDevKernel_Generic_1");
  EXPECT_EQ(summary.collectives[0].entry, kBegin + 100);
  EXPECT_EQ(summary.collectives[0].exit, kBegin + 200);
  EXPECT_EQ(summary.collectives[0].channels, 12U);
  ASSERT_EQ(summary.communicators.size(), 1U);
  EXPECT_EQ(summary.communicators[0].key, KeySource::calls);
  EXPECT_EQ(summary.communicators[0].lane, 1);
  EXPECT_TRUE(is_missing(summary, "collectives.bytes"));
}

/// librocm_perf_record.so records NVTX ranges, and NCCL has one around each of its calls.
TEST_F(Summarize, NcclsRangesAreItsCalls) {
  text("ncclCommInitRank", 0, 50);
  text("ncclAllGather", 100, 120);
  launch(rccl_, 105, 200, 300);
  text("ncclGroupStart", 400, 402);
  text("ncclReduceScatter", 403, 405);
  text("ncclGroupEnd", 406, 430);
  launch(rccl_, 410, 500, 600);
  text("nccl step", 700, 790);  // the program's own: no call
  launch(rccl_, 710, 800, 900);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 3U);
  EXPECT_EQ(name_of(summary, summary.collectives[0].function), "ncclAllGather");
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(summary.collectives[2].kind, CollectiveKind::unknown);
  EXPECT_EQ(summary.communicators[0].key, KeySource::calls);
}

TEST_F(Summarize, OnlyTheOutermostCallCounts) {
  call("ncclAllToAllv", 0, 100);
  call("ncclGroupStart", 5, 10);
  call("ncclSend", 10, 15);
  call("ncclRecv", 15, 20);
  const Id inner = call("ncclGroupEnd", 20, 90);
  launch(rccl_, 30, 200, 300, 1, inner);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 1U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_to_all_v);
  EXPECT_EQ(name_of(summary, summary.collectives[0].function), "ncclAllToAllv");
}

TEST_F(Summarize, GroupsAreWhatTheirPartsAre) {
  call("ncclGroupStart", 0, 2);
  call("ncclAllGather", 3, 5);
  call("ncclAllGather", 6, 8);
  const Id end = call("ncclGroupEnd", 10, 50);
  launch(rccl_, 15, 100, 150, 1, end);
  launch(rccl_, 25, 160, 200, 1, end);
  call("ncclGroupStart", 300, 302);
  call("ncclSend", 303, 305);
  call("ncclRecv", 306, 308);
  const Id other = call("ncclGroupEnd", 310, 350);
  launch(rccl_, 315, 400, 500, 1, other);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_gather);
  EXPECT_EQ(summary.collectives[0].kernels, 2U);
  EXPECT_EQ(summary.collectives[0].exit, kBegin + 200);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::group);
}

/// Broadcasts of several roots in one kernel have no one root; what all say alike is kept.
TEST_F(Summarize, AGroupOfSeveralRootsHasNone) {
  const auto of_root = [&](int root, std::int64_t at) {
    call("ncclBroadcast", at, at + 4);
    text(
        "{RCCL_Broadcast: NCCL communicator ID: 7, Message size [bytes]: 64, Data type: i8, "
        "Root: " +
            std::to_string(root) + "}",
        at + 1, at + 3);
  };
  for (const int second : {0, 1}) {
    const std::int64_t at = 1000 * second;
    call("ncclGroupStart", at, at + 2);
    of_root(0, at + 3);
    of_root(second, at + 10);
    const Id end = call("ncclGroupEnd", at + 20, at + 50);
    launch(rccl_, at + 25, at + 100, at + 150, 1, end);
  }
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::broadcast);
  EXPECT_EQ(summary.collectives[0].root, 0);
  EXPECT_EQ(summary.collectives[0].send_bytes, 128);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::group);
  EXPECT_FALSE(summary.collectives[1].root);
}

/// One process with two GPUs calls for each of them in one group: the bytes of a rank are those of
/// one call, and not known where the calls differ or are not one for each.
TEST_F(Summarize, GroupsOverTheGpusOfAProcessAreNotSummedUp) {
  const Id second = writer_.agent({.type = "GPU", .absolute_index = 1});
  const auto group = [&](std::int64_t at, const std::vector<int>& sizes) {
    call("ncclGroupStart", at, at + 2);
    std::int64_t next = at + 3;
    for (const int size : sizes) {
      call("ncclAllReduce", next, next + 4);
      text("{RCCL_AllReduce: NCCL communicator ID: 7, Message size [bytes]: " +
               std::to_string(size) + ", Reduction operation: Sum, Data type: f32}",
           next + 1, next + 3);
      next += 5;
    }
    const Id end = call("ncclGroupEnd", at + 20, at + 50);
    launch(rccl_, at + 25, at + 100, at + 150, 1, end);
    launch(rccl_, at + 35, at + 100, at + 160, 2, end, {}, second);
  };
  group(0, {4096, 4096});
  group(1000, {4096, 8192});
  group(2000, {4096, 4096, 4096});
  const auto closed = writer_.close();
  ASSERT_TRUE(closed.has_value()) << closed.error().message;
  const std::vector<std::filesystem::path> files = {writer_.file().path()};
  const auto trace = trace::read(files);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const auto summaries = summarize_ranks(*trace, {});
  ASSERT_TRUE(summaries.has_value()) << summaries.error().message;
  ASSERT_EQ(summaries->size(), 2U);
  for (const RankSummary& rank : *summaries) {
    EXPECT_FALSE(rank.identity.facts.rank);
    ASSERT_EQ(rank.collectives.size(), 3U);
    EXPECT_EQ(rank.collectives[0].send_bytes, 4096);
    EXPECT_FALSE(rank.collectives[1].send_bytes);
    EXPECT_FALSE(rank.collectives[2].send_bytes);
    for (const Collective& one : rank.collectives) EXPECT_EQ(one.kind, CollectiveKind::all_reduce);
  }
}

/// A region that begins as it ends is stored as a sample: the start of a group is not there.
TEST_F(Summarize, AGroupWithoutItsStartTakesTheCallsBeforeIt) {
  collective("ncclAllReduce", 0, 100, 150);
  call("ncclReduceScatter", 203, 205);
  call("ncclReduceScatter", 206, 208);
  const Id end = call("ncclGroupEnd", 210, 250);
  launch(rccl_, 215, 300, 350, 1, end);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::reduce_scatter);
}

TEST_F(Summarize, KernelsThatAnotherThreadLaunchedAreTiedByOrder) {
  call("ncclAllReduce", 0, 20);
  call("ncclBroadcast", 30, 50);
  launch(rccl_, 25, 100, 200, 1, 0, 4243);
  launch(rccl_, 55, 300, 400, 1, 0, 4243);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::broadcast);
  EXPECT_TRUE(is_missing(summary, "collectives.launch"));
}

TEST_F(Summarize, KernelsWithoutACallAreUnknown) {
  launch(rccl_, 25, 100, 200);
  launch(rccl_, 55, 300, 400, 2);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::unknown);
  ASSERT_EQ(summary.communicators.size(), 2U);
  EXPECT_EQ(summary.communicators[0].key, KeySource::kernels);
  EXPECT_TRUE(is_missing(summary, "collectives.function"));
}

TEST_F(Summarize, TextsOfRcclSaySizesAndCommunicators) {
  const Id reduce = call("ncclAllReduce", 0, 20);
  text(
      "{RCCL_AllReduce: NCCL communicator ID: -77, Message size [bytes]: 4096, "
      "Reduction operation: Sum, Data type: f32}",
      1, 19);
  launch(rccl_, 5, 100, 200, 1, reduce);
  const Id send = call("ncclSend", 300, 320);
  text(
      "{RCCL_Send: NCCL communicator ID: -77, Message size [bytes]: 64, Data type: i8, "
      "Peer rank: 5}",
      301, 319);
  launch(rccl_, 305, 400, 500, 1, send);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  ASSERT_EQ(summary.communicators.size(), 1U);
  EXPECT_EQ(summary.communicators[0].key, KeySource::text);
  EXPECT_EQ(summary.communicators[0].id, "-77");
  EXPECT_EQ(summary.collectives[0].send_bytes, 4096);
  EXPECT_EQ(summary.collectives[0].receive_bytes, 4096);
  EXPECT_EQ(name_of(summary, summary.collectives[0].data_type), "f32");
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::send);
  EXPECT_EQ(summary.collectives[1].peer, 5);
  EXPECT_EQ(summary.collectives[1].send_bytes, 64);
}

TEST_F(Summarize, ArgumentsOfCallsSaySizes) {
  told("ncclAllReduce", 0, arguments("count", "1000"));
  told("ncclAllGather", 100, arguments("sendcount", "10"));
  told("ncclReduceScatter", 200, arguments("recvcount", "10"));
  told("ncclAlltoAll", 300, arguments("count", "25"));
  told("ncclAllToAll", 400, arguments("count", "25"));
  auto send = arguments("count", "7");
  send.push_back(test::argument("int", "peer", "5"));
  told("ncclSend", 500, send);
  auto broadcast = arguments("count", "8");
  broadcast.push_back(test::argument("int", "root", "2"));
  told("ncclBroadcast", 600, broadcast);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 7U);
  using Bytes = std::array<std::optional<std::int64_t>, 3>;
  const auto bytes = [&](std::size_t i) {
    const Collective& one = summary.collectives[i];
    return Bytes{one.send_bytes, one.receive_bytes, one.part_bytes};
  };
  const std::optional<std::int64_t> none;
  EXPECT_EQ(bytes(0), (Bytes{4000, 4000, none}));
  // Among how many ranks is for the others to say.
  EXPECT_EQ(bytes(1), (Bytes{40, none, none}));
  EXPECT_EQ(bytes(2), (Bytes{none, 40, none}));
  EXPECT_EQ(bytes(3), (Bytes{none, none, 100}));
  EXPECT_EQ(bytes(4), (Bytes{none, none, 100}));
  EXPECT_EQ(bytes(5), (Bytes{28, 0, none}));
  EXPECT_EQ(bytes(6), (Bytes{32, 32, none}));
  EXPECT_EQ(summary.collectives[5].peer, 5);
  EXPECT_EQ(summary.collectives[6].root, 2);
  EXPECT_EQ(name_of(summary, summary.collectives[0].data_type), "ncclFloat32");
  // An address is no name that ranks share.
  ASSERT_EQ(summary.communicators.size(), 1U);
  EXPECT_EQ(summary.communicators[0].key, KeySource::calls);
  EXPECT_EQ(summary.communicators[0].id, "");
  EXPECT_FALSE(is_missing(summary, "collectives.bytes"));
}

TEST_F(Summarize, HandlesTellCommunicatorsOfOneStreamApart) {
  told("ncclAllReduce", 0, arguments("count", "1", "0x55aa"));
  told("ncclAllReduce", 100, arguments("count", "2", "0x66bb"));
  told("ncclAllReduce", 200, arguments("count", "1", "0x55aa"));
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 3U);
  ASSERT_EQ(summary.communicators.size(), 2U);
  EXPECT_EQ(summary.collectives[0].communicator, 0U);
  EXPECT_EQ(summary.collectives[1].communicator, 1U);
  EXPECT_EQ(summary.collectives[2].communicator, 0U);
}

TEST_F(Summarize, ArgumentsOfCallsWithinACallAreNotIts) {
  call("ncclAllToAllv", 0, 100);
  call("ncclGroupStart", 5, 10);
  call("ncclSend", 10, 15, {}, arguments("count", "7"));
  const Id inner = call("ncclGroupEnd", 20, 90);
  launch(rccl_, 30, 200, 300, 1, inner);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 1U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_to_all_v);
  EXPECT_EQ(summary.collectives[0].send_bytes, std::nullopt);
  EXPECT_EQ(summary.collectives[0].peer, std::nullopt);
  EXPECT_TRUE(is_missing(summary, "collectives.bytes"));
}

TEST_F(Summarize, SizesOfAGroupAddUpWhereItIsOfOneCommunicator) {
  for (const bool same : {true, false}) {
    const std::int64_t at = same ? 0 : 1000;
    call("ncclGroupStart", at, at + 2);
    call("ncclAllReduce", at + 3, at + 5, {}, arguments("count", "10"));
    call("ncclAllReduce", at + 6, at + 8, {}, arguments("count", "5", same ? "0x55aa" : "0x66bb"));
    const Id end = call("ncclGroupEnd", at + 10, at + 50);
    launch(rccl_, at + 15, at + 100, at + 150, 1, end);
  }
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].send_bytes, 60);
  EXPECT_EQ(summary.collectives[1].send_bytes, std::nullopt);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::all_reduce);
}

TEST_F(Summarize, TextAndArgumentsOfACallAddUp) {
  const Id stack = call("ncclAllReduce", 0, 20, {}, arguments("count", "1000"));
  text("{RCCL_AllReduce: NCCL communicator ID: -77, Message size [bytes]: 9, Data type: f32}", 1,
       19);
  launch(rccl_, 5, 100, 200, 1, stack);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 1U);
  EXPECT_EQ(summary.collectives[0].send_bytes, 4000);
  EXPECT_EQ(summary.communicators[0].key, KeySource::text);
  EXPECT_EQ(summary.communicators[0].id, "-77");
}

/// PyTorch's ranges around its calls, where no call was recorded.
TEST_F(Summarize, AnnotationsSayWhatAKernelIsWhereNoCallDoes) {
  text("ProfilerStep#3", 0, 900);
  text("nccl:all_to_all", 10, 30);
  launch(gemm_, 12, 40, 50);
  launch(rccl_, 20, 100, 200);
  text("nccl:_reduce_scatter_base", 210, 230);
  launch(rccl_, 220, 300, 400);
  text("nccl:something_else", 410, 430);
  launch(rccl_, 420, 500, 600);
  launch(rccl_, 620, 700, 800);
  launch(rccl_, 225, 850, 900, 2, 0, 4243);  // another thread
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 5U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_to_all);
  EXPECT_EQ(name_of(summary, summary.collectives[0].function), "all_to_all");
  EXPECT_EQ(summary.collectives[0].entry, kBegin + 100);  // gemm is work
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::reduce_scatter);
  for (const std::size_t i : {2U, 3U, 4U})
    EXPECT_EQ(summary.collectives[i].kind, CollectiveKind::unknown);
  EXPECT_TRUE(is_missing(summary, "collectives.kind"));
  EXPECT_TRUE(is_missing(summary, "collectives.function"));
}

TEST_F(Summarize, AnnotationsAreNothingBesideCalls) {
  text("nccl:all_to_all", 0, 400);
  collective("ncclAllReduce", 10, 100, 200);
  launch(rccl_, 220, 300, 400);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 2U);
  EXPECT_EQ(summary.collectives[0].kind, CollectiveKind::all_reduce);
  EXPECT_EQ(summary.collectives[1].kind, CollectiveKind::unknown);
  EXPECT_FALSE(is_missing(summary, "collectives.kind"));
}

TEST_F(Summarize, HelpersOfTheRuntimeAreWork) {
  const Id reduce = call("ncclAllReduce", 0, 20);
  launch(helper_, 2, 50, 60, 1, reduce);
  launch(rccl_, 5, 100, 200, 1, reduce);
  const RankSummary summary = only();
  ASSERT_EQ(summary.collectives.size(), 1U);
  EXPECT_EQ(summary.collectives[0].entry, kBegin + 100);
}

TEST_F(Summarize, WorkBetweenCollectives) {
  launch(gemm_, 0, 100, 300, 0);
  launch(gemm_, 20, 250, 400, 2);
  collective("ncclAllReduce", 50, 500, 600);
  launch(gemm_, 90, 550, 700, 0);
  collective("ncclAllReduce", 110, 800, 900);
  const RankSummary summary = only();
  ASSERT_EQ(summary.work.size(), 3U);
  // From the begin of the first call on.
  EXPECT_EQ(summary.begin, kBegin);
  EXPECT_EQ(summary.work[0].length, 500);
  EXPECT_EQ(summary.work[0].busy, 300);
  ASSERT_EQ(summary.work[0].kernels.size(), 1U);
  EXPECT_EQ(name_of(summary, summary.work[0].kernels[0].kernel), "gemm");
  EXPECT_EQ(summary.work[0].kernels[0].dispatches, 2U);
  EXPECT_EQ(summary.work[0].kernels[0].time, 350);
  EXPECT_EQ(summary.work[1].length, 200);
  EXPECT_EQ(summary.work[1].busy, 100);
  EXPECT_EQ(summary.work[2].length, 0);
  ASSERT_EQ(summary.kernels.size(), 1U);
  EXPECT_EQ(summary.kernels[0].time, 500);
}

TEST_F(Summarize, GraphGivesTheRecordedEntries) {
  launch(gemm_, 0, 100, 300, 1);
  collective("ncclAllReduce", 50, 500, 600);
  launch(gemm_, 90, 610, 700, 1);
  collective("ncclAllReduce", 110, 800, 900);
  const auto half = analyze::parse_what_if("gemm=2x");
  ASSERT_TRUE(half.has_value());
  const RankSummary summary = only({.what_if = {*half}});
  EXPECT_EQ(summary.scenarios, (std::vector<std::string>{"gemm=2x"}));
  EXPECT_EQ(summary.options, R"({"what_if":["gemm=2x"]})");
  std::vector<std::int64_t> at(2 * summary.collectives.size() + 2 + summary.graph.inner, INT64_MIN);
  at[0] = summary.begin;
  for (std::size_t k = 0; k < summary.collectives.size(); ++k)
    at[summary.exit_vertex(k)] = summary.collectives[k].exit;
  for (const LocalGraph::Edge& edge : summary.graph.edges) {
    at[edge.to] = std::max(at[edge.to], at[edge.from] + edge.weight);
    EXPECT_EQ(edge.scenarios.size(), 1U);
  }
  EXPECT_EQ(at[summary.entry_vertex(0)], kBegin + 500);
  EXPECT_EQ(at[summary.entry_vertex(1)], kBegin + 800);
  EXPECT_EQ(at[summary.end_vertex()], summary.end);
}

TEST_F(Summarize, TheRankIsFromTheEnvironmentAndNothingElseIs) {
  collective("ncclAllReduce", 0, 100, 200);
  const RankSummary summary = only();
  EXPECT_EQ(summary.identity.facts.rank, 3);
  EXPECT_EQ(summary.identity.facts.size, 8);
  EXPECT_EQ(summary.identity.facts.local_rank, 1);
  EXPECT_EQ(summary.identity.facts.from, "RANK");
  EXPECT_EQ(summary.identity.hostname, "gpu-node-7");
  EXPECT_EQ(summary.identity.pid, 4242);
  EXPECT_EQ(summary.identity.gpu_name, "gfx942");
  const auto head = decode_summary(encode_summary(summary), "it");
  ASSERT_TRUE(head.has_value());
  for (const std::string& name : head->names) EXPECT_EQ(name.find("hunter2"), std::string::npos);
  for (const auto& [field, why] : head->missing) {
    EXPECT_EQ(why.find("hunter2"), std::string::npos);
  }
}

}  // namespace
}  // namespace perflab::ranks
