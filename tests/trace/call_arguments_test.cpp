// Arguments of the API calls that order work, and texts of user ranges: what is read of them, what
// is left unread, and what damage does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <utility>

#include "support/api_rows.h"
#include "support/test_database.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::argument;
using test::DispatchRow;
using test::Id;
using test::RegionRow;
using test::RocpdWriter;
using test::Strictness;
using test::Table;
using test::test_folder;

using A = CallArgumentColumns;
constexpr test::Handle kStreamA = 0x55b60f4979a0, kStreamB = 0x55b610969670;
constexpr test::Handle kEvent1 = 0x55b60803cd30, kEvent2 = 0xffff'ffff'ffff'fff0;

/// One call with its arguments: "name has stream event device"; parts that it has not are "-".
std::string call_text(const Trace& trace, std::size_t i) {
  const A& all = trace.call_arguments;
  const auto part = [&](std::uint8_t which, const std::string& text) {
    return (all.has[i] & which) != 0 ? text : std::string("-");
  };
  return fmt::format("{} {} {} {}", trace.strings.view(trace.regions.name[all.region[i]]),
                     part(A::kStream, fmt::format("{:x}", all.stream[i])),
                     part(A::kEvent, fmt::format("{:x}", all.event[i])),
                     part(A::kDevice, fmt::to_string(all.device[i])));
}

std::vector<std::string> call_texts(const Trace& trace) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < trace.call_arguments.size(); ++i)
    texts.push_back(call_text(trace, i));
  return texts;
}

/// Regions with their texts, in order: "start text".
std::vector<std::string> range_texts(const Trace& trace) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < trace.ranges.size(); ++i)
    texts.push_back(fmt::format("{} {}", trace.regions.start[trace.ranges.region[i]] - kT0,
                                trace.strings.view(trace.ranges.message[i])));
  return texts;
}

using Texts = std::vector<std::string>;

class CallArguments : public testing::Test {
 protected:
  CallArguments() : writer_(test_folder() / "calls.db", {.strictness = Strictness::nullable}) {
    add_machine(writer_);
  }
  void region(RegionRow row) {
    row.start += kT0;
    row.end += kT0;
    writer_.region(row);
  }
  /// A launch on the stream, with a dispatch.
  void launch(std::int64_t start, test::Handle stream) {
    writer_.launch(test::kernel_call(kT0 + start, kT0 + start + 2, stream),
                   dispatch_at(start + 5, 3));
  }
  Trace read(unsigned threads = 1) {
    finish(writer_);
    return read_ok({writer_.file().path()}, threads);
  }
  void sql(const std::string& text) { writer_.file().execute(text); }
  static std::string table(Table which) {
    return "`" + test::physical_name(which, test::WriterOptions{}.guid) + "`";
  }
  RocpdWriter writer_;
};

TEST_F(CallArguments, OfEveryCallThatOrdersWorkAreThere) {
  region(test::event_record(10, 11, kEvent1, kStreamA));
  region(test::stream_wait_event(20, 21, kStreamB, kEvent1));
  region(test::stream_synchronize(30, 31));
  region(test::event_synchronize(40, 41, kEvent2));
  region(test::set_device(50, 51, 3));
  region(test::device_synchronize(60, 61));
  const Trace trace = read();
  EXPECT_EQ(call_texts(trace),
            (Texts{"hipEventRecord 55b60f4979a0 55b60803cd30 -",
                   "hipStreamWaitEvent 55b610969670 55b60803cd30 -", "hipStreamSynchronize 0 - -",
                   "hipEventSynchronize - fffffffffffffff0 -", "hipSetDevice - - 3"}));
  EXPECT_EQ(trace.call_arguments.region, (std::vector<Index>{0, 1, 2, 3, 4}));
  EXPECT_EQ(trace.report.rows.at("arg"), 7U);
  EXPECT_TRUE(trace.report.odd.empty());
  EXPECT_TRUE(trace.report.dropped.empty());
}

TEST_F(CallArguments, OfOtherCallsAreNotRead) {
  region(test::event_synchronize(1, 2, kEvent1));
  region(test::api_call("hipEventCreate", 10, 11, {test::event_argument(kEvent1)}));
  region(test::api_call("hipGetDevicePropertiesR0600", 20, 21, {argument("int", "deviceId", "0")}));
  region(test::api_call("hipEventElapsedTime", 30, 31, {argument("ihipEvent_t*", "start", "0x1")}));
  EXPECT_EQ(call_texts(read()), (Texts{"hipEventSynchronize - 55b60803cd30 -"}));
}

TEST_F(CallArguments, OfLaunchesAreNotReadWhenNoCallNeedsThem) {
  launch(0, kStreamA);
  region(test::device_synchronize(60, 61));
  const Trace trace = read();
  EXPECT_EQ(trace.call_arguments.size(), 0U);
  EXPECT_FALSE(trace.report.rows.contains("arg"));
}

TEST_F(CallArguments, OfLaunchesTeachTheStreamsAtTheirFirstAndLast) {
  region(test::stream_synchronize(100'000, 100'001, kStreamA));
  for (std::int64_t i = 0; i < 20; ++i) launch(i * 100, i % 2 == 0 ? kStreamA : kStreamB);
  const Trace trace = read();
  ASSERT_EQ(call_texts(trace),
            (Texts{"hipLaunchKernel 55b60f4979a0 - -", "hipLaunchKernel 55b610969670 - -",
                   "hipLaunchKernel 55b60f4979a0 - -", "hipLaunchKernel 55b610969670 - -",
                   "hipStreamSynchronize 55b60f4979a0 - -"}));
  EXPECT_EQ(trace.call_arguments.region, (std::vector<Index>{0, 1, 18, 19, 20}));
}

TEST_F(CallArguments, OfLaunchesTeachEveryStreamThatAHandleWas) {
  // Destroyed and created again: the same address, another stream.
  region(test::stream_synchronize(100'000, 100'001, kStreamA));
  for (std::int64_t i = 0; i < 40; ++i) {
    if (i % 10 == 0) writer_.stream();
    DispatchRow row = dispatch_at(i * 100 + 5, 3);
    row.stream = 1 + i / 10;
    writer_.launch(test::kernel_call(kT0 + i * 100, kT0 + i * 100 + 2, kStreamA), row);
  }
  const Trace trace = read(2);
  EXPECT_EQ(trace.call_arguments.region, (std::vector<Index>{0, 9, 10, 19, 20, 29, 30, 39, 40}));
  EXPECT_EQ(trace.call_arguments.stream, std::vector<std::uint64_t>(9, kStreamA));
  EXPECT_EQ(trace.report.rows.at("arg"), 41U);
}

TEST_F(CallArguments, OfLaunchesOfNothingTeachNothing) {
  region(test::stream_synchronize(1, 2, kStreamA));
  region(test::kernel_call(10, 11, kStreamA));  // captured into a graph: no dispatch carries its id
  RegionRow captured = test::kernel_call(20, 21, kStreamA);
  captured.event.stack_id = 77;
  region(captured);
  EXPECT_EQ(call_texts(read()), (Texts{"hipStreamSynchronize 55b60f4979a0 - -"}));
}

TEST_F(CallArguments, OfCopiesTeachTheStreamsToo) {
  region(test::stream_synchronize(100, 101, kStreamB));
  writer_.launch_copy(test::copy_call(kT0 + 10, kT0 + 12, kStreamB),
                      {.start = kT0 + 20, .end = kT0 + 30, .size = 64});
  EXPECT_EQ(call_texts(read()),
            (Texts{"hipMemcpyAsync 55b610969670 - -", "hipStreamSynchronize 55b610969670 - -"}));
}

TEST_F(CallArguments, FollowTheirCallsWhenTimeReordersThem) {
  for (std::int64_t i = 20; i-- > 0;) {
    region(test::event_record(i * 100, i * 100 + 1, 0x1000U + static_cast<test::Handle>(i)));
    region(test::api_call("other", i * 100 + 50, i * 100 + 51));
    region(test::roctx_range("range " + std::to_string(i), i * 100 + 70, i * 100 + 80));
  }
  const Trace trace = read();
  ASSERT_EQ(trace.call_arguments.size(), 20U);
  ASSERT_EQ(trace.ranges.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(trace.call_arguments.region[i], i * 3);
    EXPECT_EQ(trace.call_arguments.event[i], 0x1000U + i);
    EXPECT_EQ(trace.ranges.region[i], i * 3 + 2);
    EXPECT_EQ(range_texts(trace)[i], fmt::format("{} range {}", i * 100 + 70, i));
  }
}

TEST_F(CallArguments, AreTakenInEverySpelling) {
  std::int64_t at = 0;
  const auto sync = [&](const char* value) {
    region(test::api_call("hipStreamSynchronize", at, at + 1,
                          {argument("ihipStream_t*", "stream", value)}));
    at += 10;
  };
  for (const char* value :
       {"0", "(null)", "0x0", "0x1f", "31", "0xFFFFFFFFFFFFFFFF", "18446744073709551615"})
    sync(value);
  region(test::api_call("hipSetDevice", at, at + 1, {argument("int", "device", "-1")}));
  const Trace trace = read();
  EXPECT_EQ(trace.call_arguments.stream,
            (std::vector<std::uint64_t>{0, 0, 0, 31, 31, UINT64_MAX, UINT64_MAX, 0}));
  EXPECT_EQ(trace.call_arguments.device.back(), -1);
  EXPECT_TRUE(trace.report.odd.empty());
}

TEST_F(CallArguments, ThatAreNoNumbersAreMissingAndCounted) {
  std::int64_t at = 0;
  const std::vector<std::optional<std::string>> values = {"",
                                                          "0x",
                                                          "x",
                                                          "12 ",
                                                          " 12",
                                                          "0x12g",
                                                          "1e3",
                                                          "-",
                                                          "--1",
                                                          "0x-1",
                                                          "18446744073709551616",
                                                          "0x10000000000000000",
                                                          "{z=1, y=1}",
                                                          std::nullopt};
  for (const auto& value : values) {
    region(test::api_call(
        "hipStreamWaitEvent", at, at + 1,
        {argument("ihipStream_t*", "stream", value), test::event_argument(kEvent1)}));
    at += 10;
  }
  const Trace trace = read();
  EXPECT_EQ(trace.call_arguments.has, std::vector<std::uint8_t>(values.size(), A::kEvent));
  EXPECT_EQ(odd(trace, "arg", "a stream, event or device that is not a number: taken as missing"),
            values.size());
}

TEST_F(CallArguments, NamedTwiceAreTakenOnceAndCounted) {
  for (const bool turned : {false, true}) {
    const std::int64_t at = turned ? 100 : 0;
    std::vector<test::ArgumentRow> arguments = {test::stream_argument(7), test::stream_argument(5)};
    if (turned) std::swap(arguments[0], arguments[1]);
    region(test::api_call("hipStreamSynchronize", at, at + 1, arguments));
  }
  const Trace trace = read();
  EXPECT_EQ(trace.call_arguments.stream, (std::vector<std::uint64_t>{5, 5}));
  EXPECT_EQ(odd(trace, "arg", "named twice in one call: the smallest value is taken"), 2U);
}

TEST_F(CallArguments, OfNoEventAreDroppedAndCounted) {
  region(test::stream_synchronize(1, 2, kStreamA));
  sql("UPDATE " + table(Table::arg) + " SET event_id = 123456");
  const Trace trace = read();
  EXPECT_EQ(trace.call_arguments.size(), 0U);
  EXPECT_EQ(dropped(trace, "arg", "its event is not there"), 1U);
}

/// A call of RCCL as it is proposed to be recorded, with arguments named as in RCCL's header.
RegionRow rccl_call(const std::string& name, std::int64_t at,
                    std::vector<test::ArgumentRow> arguments,
                    const std::string& category = "RCCL_API_EXT") {
  RegionRow row = test::api_call(name, at, at + 2, std::move(arguments));
  row.event.category = category;
  return row;
}

TEST_F(CallArguments, OfRcclCallsAreWhatTheySay) {
  region(rccl_call(
      "ncclAllReduce", 10,
      {argument("const void*", "sendbuff", "0x7f00"), argument("void*", "recvbuff", "0x7f10"),
       argument("size_t", "count", "1024"), argument("ncclDataType_t", "datatype", "ncclFloat32"),
       argument("ncclRedOp_t", "op", "ncclSum"), argument("ncclComm_t", "comm", "0x55aa"),
       argument("hipStream_t", "stream", "0x10")}));
  region(rccl_call("ncclAlltoAll", 20, {argument("size_t", "count", "64")}, "RCCL_API"));
  region(rccl_call("ncclGroupEnd", 30, {}));
  region(rccl_call("ncclBroadcast", 40,
                   {argument("int", "root", "3"), argument("ncclComm_t", "comm", "(null)")}));
  region(rccl_call("ncclAllGather", 50, {argument("size_t", "sendcount", "0x20")}));
  region(rccl_call("ncclSend", 60, {argument("int", "peer", "2")}));
  const Trace trace = read();
  const auto text = [&](Index string) {
    return string == kNone ? std::string("-") : std::string(trace.strings.view(string));
  };
  std::vector<std::string> said;
  for (const Communication& one : trace.communications) {
    EXPECT_TRUE(one.of_region);
    EXPECT_EQ(trace.regions.name[one.row], one.function);
    EXPECT_EQ(one.group, kNone);
    said.push_back(fmt::format("{} {} {} {} {} {} {}", text(one.function), one.count.value_or(-1),
                               text(one.data_type), text(one.handle), one.stream.value_or(-1),
                               one.root.value_or(-1), one.peer.value_or(-1)));
  }
  EXPECT_EQ(said, (Texts{"ncclAllReduce 1024 ncclFloat32 0x55aa 16 -1 -1",
                         "ncclAlltoAll 64 - - -1 -1 -1", "ncclBroadcast -1 - - -1 3 -1",
                         "ncclAllGather 32 - - -1 -1 -1", "ncclSend -1 - - -1 -1 2"}));
  EXPECT_EQ(trace.call_arguments.size(), 0U);
  EXPECT_EQ(trace.report.rows.at("arg"), 9U);
  EXPECT_TRUE(trace.report.odd.empty());
}

TEST_F(CallArguments, OfRcclCallsThatAreDamagedAreCounted) {
  region(rccl_call("ncclAllReduce", 10,
                   {argument("size_t", "count", "many"), argument("size_t", "count", "7"),
                    argument("int", "root", "-2"), argument("int", "peer", std::nullopt),
                    argument("ncclDataType_t", "datatype", std::string(300, 'x')),
                    argument("int", "nranks", "0x")}));
  region(rccl_call("ncclReduceScatter", 20,
                   {argument("size_t", "recvcount", "18446744073709551615"),
                    argument("ncclComm_t", "comm", "no address")}));
  region(test::event_synchronize(40, 41, kEvent1));
  const Trace trace = read(3);
  ASSERT_EQ(trace.communications.size(), 2U);
  EXPECT_EQ(trace.communications[0].count, 7);
  EXPECT_EQ(trace.communications[0].root, std::nullopt);
  EXPECT_EQ(trace.communications[0].data_type, kNone);
  EXPECT_EQ(trace.communications[1].count, std::nullopt);
  EXPECT_EQ(trace.communications[1].handle, kNone);
  EXPECT_EQ(trace.call_arguments.size(), 1U);
  EXPECT_EQ(odd(trace, "arg", "of a call of RCCL, not a number or name: taken as missing"), 6U);
  EXPECT_EQ(odd(trace, "arg", "named twice in one call: the smallest value is taken"), 1U);
}

TEST_F(CallArguments, StayUnreadWithoutTheirColumnsOrRows) {
  region(test::stream_synchronize(1, 2, kStreamA));
  sql("ALTER TABLE " + table(Table::arg) + " RENAME COLUMN value TO what");
  EXPECT_EQ(read().call_arguments.size(), 0U);
}

TEST_F(CallArguments, OfATableWithoutRowIdsAreRead) {
  region(test::stream_synchronize(1, 2, kStreamA));
  region(test::stream_synchronize(11, 12, kStreamB));
  sql("CREATE TABLE other (event_id, name TEXT, value TEXT, guid TEXT, PRIMARY KEY (event_id, "
      "name)) WITHOUT ROWID; INSERT INTO other SELECT event_id, name, value, guid FROM " +
      table(Table::arg) + "; DROP TABLE " + table(Table::arg) + "; ALTER TABLE other RENAME TO " +
      table(Table::arg));
  EXPECT_EQ(call_texts(read(3)), (Texts{"hipStreamSynchronize 55b60f4979a0 - -",
                                        "hipStreamSynchronize 55b610969670 - -"}));
}

TEST(CallArgumentsOf, OneRunAreTheSameWhateverTheRowIdsAndThreads) {
  const auto folder = test_folder();
  const auto write = [&](const std::string& name, const std::string& change) {
    RocpdWriter writer(folder / name);
    add_machine(writer);
    writer.region(test::event_synchronize(kT0 + 9'900'000, kT0 + 9'900'001, kEvent1));
    for (std::int64_t i = 0; i < 300; ++i) {
      const std::int64_t at = i * 30'000;
      writer.launch(test::kernel_call(kT0 + at, kT0 + at + 2, i % 3 == 0 ? kStreamB : kStreamA),
                    dispatch_at(at + 5, 3));
    }
    if (!change.empty())
      writer.file().execute(fmt::format("UPDATE `{}` SET {}",
                                        test::physical_name(Table::arg, test::WriterOptions{}.guid),
                                        change));
    finish(writer);
    return folder / name;
  };
  const auto plain = write("plain.db", "");
  const auto turned = write("turned.db", "id = -100000 * id");
  const Trace expected = read_ok({plain});
  EXPECT_EQ(expected.call_arguments.region, (std::vector<Index>{0, 1, 297, 299, 300}));
  for (const auto& path : {plain, turned})
    for (const unsigned threads : {1U, 3U}) {
      const Trace trace = read_ok({path}, threads);
      EXPECT_EQ(call_texts(trace), call_texts(expected));
      EXPECT_EQ(trace.call_arguments.region, expected.call_arguments.region);
    }
}

TEST(CallArgumentsOf, RecordingsWhoseIdsCollideStayApart) {
  const auto path = test_folder() / "merged.db";
  test::RocpdFile file(path);
  for (const Id pid : {10, 20}) {
    test::WriterOptions options;
    options.guid = fmt::format("000000{}-1111-7111-8111-00000000000a", pid);
    options.process.pid = pid;
    RocpdWriter writer(file, options);
    add_machine(writer);
    const auto at = kT0 + (20 - pid) * 100;  // the second process first
    const auto stream = static_cast<test::Handle>(pid);
    writer.region(test::stream_synchronize(at, at + 1, stream));
    writer.launch(test::kernel_call(at + 20, at + 22, stream), dispatch_at(at + 25 - kT0, 3));
    writer.region(test::roctx_range(fmt::format("of {}", pid), at + 50, at + 60));
  }
  ASSERT_TRUE(file.close());
  const Trace trace = read_ok({path});
  EXPECT_EQ(call_texts(trace), (Texts{"hipStreamSynchronize 14 - -", "hipLaunchKernel 14 - -",
                                      "hipStreamSynchronize a - -", "hipLaunchKernel a - -"}));
  EXPECT_EQ(range_texts(trace), (Texts{"50 of 20", "1050 of 10"}));
  for (const Index region : trace.call_arguments.region) {
    const Process& process = trace.processes[trace.threads[trace.regions.thread[region]].process];
    EXPECT_EQ(process.pid, region < 3 ? 20 : 10);
  }
}

TEST(CallArgumentsOf, AMissingTableAreNotThere) {
  const auto path = test_folder() / "none.db";
  RocpdWriter writer(path, {.missing_tables = {"arg"}});
  add_machine(writer);
  writer.region(test::stream_synchronize(kT0, kT0 + 1, kStreamA));
  finish(writer);
  EXPECT_EQ(read_ok({path}).call_arguments.size(), 0U);
}

TEST_F(CallArguments, TextsOfUserRangesAreRead) {
  region(test::roctx_range("step 1", 10, 20));
  region(test::roctx_range("caf\u00e9 \"quoted\" <\\>", 30, 40));
  RegionRow plain = test::roctx_range("core", 50, 60);
  plain.event.category = "MARKER_CORE_API";
  region(plain);
  RegionRow other = test::roctx_range("not of a marker", 70, 80);
  other.event.category = "HIP_RUNTIME_API_EXT";
  region(other);
  region(test::roctx_range("", 90, 95));
  const Trace trace = read();
  EXPECT_EQ(range_texts(trace), (Texts{"10 step 1", "30 caf\u00e9 \"quoted\" <\\>", "50 core"}));
  EXPECT_TRUE(trace.report.odd.empty());
}

TEST_F(CallArguments, TextsOfMarksAreNoRanges) {
  const Id track = writer_.track({.name = "marks"});
  writer_.sample({.track = track,
                  .timestamp = kT0 + 5,
                  .event = {.category = "MARKER_CORE_RANGE_API", .extdata = R"({"message":"m"})"}});
  region(test::roctx_range("step 1", 10, 20));
  EXPECT_EQ(range_texts(read()), (Texts{"10 step 1"}));
}

TEST_F(CallArguments, TextsOfUserRangesThatAreDamagedAreMissingAndCounted) {
  std::int64_t at = 10;
  for (const char* extdata : {R"({"message":"cut)", R"(["message"])", R"({"message":7})",
                              R"({"message":null})", R"({"other":"x"})", R"({})", ""}) {
    RegionRow row = test::roctx_range("", at, at + 5);
    row.event.extdata = extdata;
    region(row);
    at += 10;
  }
  region(test::roctx_range("good", at, at + 5));
  const Trace trace = read();
  EXPECT_EQ(range_texts(trace), (Texts{"80 good"}));
  EXPECT_EQ(odd(trace, "event", "text of a user range that cannot be read: taken as missing"), 4U);
}

}  // namespace
}  // namespace perflab::trace
