// Several recordings at once: merged databases, several files, several guids in one table. Ids
// repeat between recordings, so every join has to be on (guid, id).
#include <gtest/gtest.h>

#include "support/test_database.h"
#include "trace/rocpd/read_rocpd.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::Id;
using test::RocpdFile;
using test::RocpdWriter;
using test::Strictness;
using test::test_folder;
using test::WriterOptions;

const std::string kGuidA = "0000000a-1111-7111-8111-00000000000a";
const std::string kGuidB = "0000000b-2222-7222-8222-00000000000b";

WriterOptions process(const std::string& guid, Id pid) {
  WriterOptions options;
  options.guid = guid;
  options.process.pid = pid;
  options.process.command = "/app/p" + std::to_string(pid);
  return options;
}

/// A recording whose ids are those of every other one, with names of its own: kernel 1, agent 0,
/// queue 0, stack id 1.
void write_recording(RocpdWriter& writer, const std::string& name, std::int64_t start) {
  writer.agent({.absolute_index = 0, .product_name = "GPU of " + name});
  writer.queue({.name = "queue of " + name});
  writer.stream({.name = "stream of " + name});
  writer.code_object({.agent = 0, .uri = "file:///" + name});
  const Id kernel = writer.kernel({.name = "kernel_" + name});
  const Id counter = writer.counter({.id = 1, .agent = 0, .name = "COUNTER_" + name});
  test::DispatchRow row = dispatch_at(start);
  row.kernel = kernel;
  row.agent = 0;
  row.queue = 0;
  row.stream = 0;
  const test::Launched launched = writer.launch(
      {.name = "launch_" + name, .start = row.start - 50, .end = row.start - 10}, row);
  writer.counter_value(launched.dispatch.event, counter, static_cast<double>(start));
  writer.copy({.name = "COPY_" + name,
               .start = row.start,
               .end = row.end,
               .size = 64,
               .dst_agent = 0,
               .src_agent = 0,
               .queue = 0,
               .stream = 0,
               .event = {.stack_id = launched.stack_id}});
  writer.allocation({.start = row.start,
                     .end = row.end,
                     .size = name == "a" ? 1 : 2,
                     .agent = 0,
                     .queue = 0,
                     .stream = 0});
}

/// Checks that every row of dispatch `i` leads to facts of the recording `name`.
void expect_own_facts(const Trace& trace, std::size_t i, const std::string& name, Id pid) {
  EXPECT_EQ(kernel_name(trace, i), "kernel_" + name);
  EXPECT_EQ(launch_name(trace, i), "launch_" + name);
  const KernelSymbol& symbol = trace.kernel_symbols[trace.dispatches.kernel[i]];
  EXPECT_EQ(trace.code_objects[symbol.code_object].uri, "file:///" + name);
  const Track& track = trace.tracks[trace.dispatches.track[i]];
  EXPECT_EQ(trace.processes[track.process].pid, pid);
  EXPECT_EQ(trace.processes[track.process].command, "/app/p" + std::to_string(pid));
  EXPECT_EQ(trace.threads[track.thread].tid, pid);
  EXPECT_EQ(trace.agents[track.agent].product, "GPU of " + name);
  EXPECT_EQ(trace.queues[track.queue].name, "queue of " + name);
  EXPECT_EQ(trace.streams[track.stream].name, "stream of " + name);
  EXPECT_EQ(trace.strings.view(trace.copies.kind[i]), "COPY_" + name);
  EXPECT_EQ(trace.copies.launch[i], trace.dispatches.launch[i]);
  EXPECT_EQ(trace.allocations.bytes[i], name == "a" ? 1 : 2);
  EXPECT_EQ(trace.processes[trace.allocations.process[i]].pid, pid);
  EXPECT_EQ(trace.counters.dispatch[i], i);
  EXPECT_EQ(trace.strings.view(trace.counter_infos[trace.counters.counter[i]].name),
            "COUNTER_" + name);
}

TEST(Merge, SuffixesWhoseIdsCollideStayApart) {
  const auto path = test_folder() / "merged.db";
  RocpdFile file(path);
  RocpdWriter a(file, process(kGuidA, 10));
  RocpdWriter b(file, process(kGuidB, 20));
  write_recording(a, "a", 5000);
  write_recording(b, "b", 1000);
  ASSERT_TRUE(file.close());

  const Trace trace = read_ok({path});
  ASSERT_EQ(trace.sources.size(), 2U);
  EXPECT_EQ(trace.sources[0].guid, kGuidA);
  EXPECT_EQ(trace.sources[1].guid, kGuidB);
  ASSERT_EQ(trace.dispatches.size(), 2U);  // by time: b first
  expect_own_facts(trace, 0, "b", 20);
  expect_own_facts(trace, 1, "a", 10);
}

TEST(Merge, FilesOfTwoProcessesAreOneTrace) {
  const auto folder = test_folder();
  RocpdWriter a(folder / "a.db", process(kGuidA, 10));
  write_recording(a, "a", 1000);
  finish(a);
  RocpdWriter b(folder / "b.db", process(kGuidB, 20));
  write_recording(b, "b", 5000);
  finish(b);

  const Trace trace = read_ok({folder / "a.db", folder / "b.db"});
  ASSERT_EQ(trace.sources.size(), 2U);
  EXPECT_EQ(trace.sources[0].file, (folder / "a.db").string());
  EXPECT_EQ(trace.sources[1].file, (folder / "b.db").string());
  ASSERT_EQ(trace.dispatches.size(), 2U);
  expect_own_facts(trace, 0, "a", 10);
  expect_own_facts(trace, 1, "b", 20);
}

TEST(Merge, GuidsInsideOneTableStayApart) {
  const auto path = test_folder() / "by_hand.db";
  WriterOptions options = process(kGuidA, 10);
  options.strictness = Strictness::nullable;
  RocpdWriter writer(path, options);
  writer.agent({.id = 1, .product_name = "GPU of a"});
  writer.kernel({.id = 1, .name = "kernel_a"});
  test::DispatchRow row = dispatch_at(1000);
  writer.launch({.name = "launch_a", .start = kT0, .end = kT0 + 10}, row);
  test::NodeRow node;
  node.id = 884468037;
  test::ProcessRow other;
  other.pid = 20;
  writer.rows_of(kGuidB, node, other);
  writer.kernel({.id = 2, .name = "kernel_b"});
  row = dispatch_at(5000);
  row.kernel = 2;
  writer.launch({.name = "launch_b", .start = kT0 + 20, .end = kT0 + 30}, row);
  row = dispatch_at(9000);
  row.kernel = 1;  // a row of the other guid: not this recording's kernel
  row.agent = 1;   // likewise
  writer.dispatch(row);
  finish(writer);

  const Trace trace = read_ok({path});
  ASSERT_EQ(trace.sources.size(), 2U);
  EXPECT_EQ(kernel_names(trace), (std::vector<std::string>{"kernel_a", "kernel_b", "kernel 1"}));
  EXPECT_EQ(launch_name(trace, 0), "launch_a");
  EXPECT_EQ(launch_name(trace, 1), "launch_b");
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].agent, 0U);
  EXPECT_EQ(trace.tracks[trace.dispatches.track[2]].agent, kNone);
  EXPECT_EQ(trace.source_of_track(trace.dispatches.track[2]), 1U);
}

TEST(Merge, RowsOfAStrangerAreCounted) {
  const auto path = test_folder() / "stranger.db";
  RocpdWriter writer(path, process(kGuidA, 10));
  add_machine(writer);
  writer.dispatch(dispatch_at(0));
  test::DispatchRow row = dispatch_at(100);
  row.overrides = {{"guid", "nobody"}};
  writer.dispatch(row);
  writer.dispatch(row);
  writer.region({.start = kT0, .end = kT0 + 1, .overrides = {{"guid", kGuidB}}});
  finish(writer);

  const Trace trace = read_ok({path}, 2);
  EXPECT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(trace.regions.size(), 0U);
  EXPECT_EQ(
      dropped(trace, "(any table)", "row of a recording that the process table does not name"), 3U);
}

TEST(Merge, StackIdsDoNotReachOverRecordings) {
  const auto path = test_folder() / "stacks.db";
  RocpdFile file(path);
  RocpdWriter a(file, process(kGuidA, 10));
  RocpdWriter b(file, process(kGuidB, 20));
  a.region({.name = "of a", .start = kT0, .end = kT0 + 1, .event = {.stack_id = 7}});
  b.region({.name = "of b", .start = kT0, .end = kT0 + 1, .event = {.stack_id = 8}});
  test::DispatchRow row = dispatch_at(10);
  row.event.stack_id = 7;
  b.dispatch(row);
  row = dispatch_at(20);
  row.event.stack_id = 8;
  b.dispatch(row);
  row = dispatch_at(30);
  row.event.stack_id = 7;
  a.dispatch(row);
  ASSERT_TRUE(file.close());

  const Trace trace = read_ok({path});
  EXPECT_EQ(launch_name(trace, 0), "");
  EXPECT_EQ(launch_name(trace, 1), "of b");
  EXPECT_EQ(launch_name(trace, 2), "of a");
}

TEST(Merge, ProcessesOfOneNodeShareItsAgents) {
  const auto path = test_folder() / "node.db";
  RocpdFile file(path);
  RocpdWriter a(file, process(kGuidA, 10));
  RocpdWriter b(file, process(kGuidB, 20));
  add_machine(a);
  add_machine(b);
  a.dispatch(dispatch_at(0));
  b.dispatch(dispatch_at(0));
  ASSERT_TRUE(file.close());

  const Trace trace = read_ok({path});
  EXPECT_EQ(trace.nodes.size(), 1U);
  EXPECT_EQ(trace.agents.size(), 2U);  // host and GPU
  EXPECT_EQ(trace.queues.size(), 4U);  // queues are per process
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].agent,
            trace.tracks[trace.dispatches.track[1]].agent);
  EXPECT_NE(trace.dispatches.track[0], trace.dispatches.track[1]);
}

TEST(Merge, SameAgentIdOnAnotherNodeIsAnotherAgent) {
  const auto path = test_folder() / "nodes.db";
  RocpdFile file(path);
  WriterOptions other = process(kGuidB, 20);
  other.node.hash = 99;
  RocpdWriter a(file, process(kGuidA, 10));
  RocpdWriter b(file, other);
  add_machine(a);
  add_machine(b);
  ASSERT_TRUE(file.close());

  const Trace trace = read_ok({path});
  EXPECT_EQ(trace.nodes.size(), 2U);
  EXPECT_EQ(trace.agents.size(), 4U);
}

TEST(Merge, SameRecordingTwiceIsRefused) {
  const auto folder = test_folder();
  RocpdWriter writer(folder / "a.db", process(kGuidA, 10));
  write_recording(writer, "a", 1000);
  finish(writer);
  std::filesystem::copy_file(folder / "a.db", folder / "copy.db");

  const Error same_file = read_error({folder / "a.db", folder / "a.db"});
  EXPECT_EQ(same_file.message, (folder / "a.db").string() + ": recording " + kGuidA +
                                   " was given already, by this file or an earlier one");
  EXPECT_EQ(same_file.remedy, "name every database once");
  Result<Trace> copied = rocpd::read(Paths{folder / "a.db", folder / "copy.db"});
  ASSERT_FALSE(copied);
  EXPECT_EQ(copied.error().message, (folder / "copy.db").string() + ": recording " + kGuidA +
                                        " was given already, by this file or an earlier one");
}

TEST(Merge, PassNumberIsTheNearestFolders) {
  const auto folder = test_folder();
  const auto source_in = [&](const std::string& where) {
    std::filesystem::create_directories(folder / where);
    const auto path = folder / where / "x.db";
    RocpdWriter writer(path, process(kGuidA, 10));
    add_machine(writer);
    finish(writer);
    return read_ok({path}).sources[0].pass;
  };
  EXPECT_EQ(source_in("plain"), std::nullopt);
  EXPECT_EQ(source_in("pass_7"), 7);
  EXPECT_EQ(source_in("pmc_12/host"), 12);
  EXPECT_EQ(source_in("pass_1/pass_2"), 2);
  EXPECT_EQ(source_in("pass_x"), std::nullopt);
  EXPECT_EQ(source_in("pass_3b"), std::nullopt);
  EXPECT_EQ(source_in("bypass_3"), std::nullopt);
}

}  // namespace
}  // namespace perflab::trace
