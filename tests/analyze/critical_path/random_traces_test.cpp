// Graphs of random traces (build_graph.h): whatever a recording holds, each dispatch and copy is
// one node, edges go forward, the recorded times are the earliest schedule (test::check), and edges
// join what their rule says. Times of chaos are few, so that equal times and zero lengths are
// common.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "analyze/critical_path/path_recording.h"
#include "support/prng.h"
#include "trace/select.h"

namespace perflab::analyze {
namespace {

using test::build;
using test::Built;
using test::Prng;
using trace::Index;
using trace::kNone;

constexpr std::array<const char*, 22> kCallNames = {"hipLaunchKernel",
                                                    "hipMemcpyAsync",
                                                    "hipMemcpy",
                                                    "hipStreamSynchronize",
                                                    "hipDeviceSynchronize",
                                                    "hipEventSynchronize",
                                                    "hipEventRecord",
                                                    "hipStreamWaitEvent",
                                                    "hipSetDevice",
                                                    "hipFree",
                                                    "hipMalloc",
                                                    "cudaGraphLaunch",
                                                    "cudaEventRecord",
                                                    "cudaStreamWaitEvent",
                                                    "cudaLaunchKernel_ptsz",
                                                    "hipGraphLaunch",
                                                    "hipStreamCreate",
                                                    "hipGetDevice",
                                                    "hipLaunchKernel",
                                                    "hipMemset",
                                                    "hipEventRecord",
                                                    "hsa_signal_wait_scacquire"};

/// Makes traces without a database: tables of a fixed shape, rows by chance.
class Chaos {
 public:
  explicit Chaos(std::uint64_t seed) : prng_(seed), range_(1 + prng_.below(4000)) {
    tables();
    regions(static_cast<std::size_t>(prng_.below(60)));
    dispatches(static_cast<std::size_t>(1 + prng_.below(60)));
    copies(static_cast<std::size_t>(prng_.below(20)));
  }
  trace::Trace take() && { return std::move(trace_); }

 private:
  static constexpr Index kProcesses = 3;

  void tables() {
    trace_.nodes.resize(2);
    for (Index p = 0; p < kProcesses; ++p) {
      trace_.sources.push_back({.file = fmt::format("{}.db", p),
                                .guid = fmt::format("guid {}", p),
                                .schema_version = "3.0.1",
                                .collector = "rocprofv3",
                                .synthetic = {},
                                .pass = std::nullopt});
      if (p % 2 == 1) trace_.sources.back().platform = trace::Platform::cuda;
      trace_.processes.push_back(
          {.source = p, .node = p == 2 ? 1U : 0U, .pid = p, .command = {}, .start = {}, .end = {}});
      for (int i = 0; i < 2; ++i)
        trace_.threads.push_back({.process = p, .tid = 10 * std::int64_t{p} + i});
      for (int i = 0; i < 4; ++i) {
        trace_.streams.push_back({.source = p, .id = i, .name = {}});
        trace_.queues.push_back({.source = p, .id = i, .name = {}});
      }
    }
    for (int i = 0; i < 3; ++i) {
      trace::Agent agent;
      agent.id = agent.absolute_index = i;
      agent.type = i == 0 ? "CPU" : "GPU";
      trace_.agents.push_back(agent);
    }
    for (const char* name : {"k0", "k1", "k2"}) {
      trace::KernelSymbol symbol;
      symbol.source = 0;
      symbol.name = trace_.strings.intern(name);
      trace_.kernel_symbols.push_back(symbol);
    }
    trace_.launch_configs.emplace_back();
  }

  Index below(std::size_t limit) {
    return static_cast<Index>(prng_.below(static_cast<std::int64_t>(limit)));
  }
  Index track(Index process, bool copy) {
    const trace::Track track{.process = process,
                             .thread = kNone,
                             .agent = copy && prng_.below(3) == 0 ? 0U : 1 + below(2),
                             .queue = copy || prng_.below(8) == 0 ? kNone : process * 4 + below(4),
                             .stream = prng_.below(8) == 0 ? kNone : process * 4 + below(4)};
    const auto same = std::ranges::find(trace_.tracks, track);
    const auto index = static_cast<Index>(same - trace_.tracks.begin());
    if (same == trace_.tracks.end()) trace_.tracks.push_back(track);
    return index;
  }
  /// Some start and end, often equal ones.
  std::pair<std::int64_t, std::int64_t> times() {
    const std::int64_t start = 1 + prng_.below(range_);
    return {start, start + (prng_.below(4) == 0 ? 0 : prng_.below(range_ / 4 + 2))};
  }

  void regions(std::size_t count) {
    std::vector<std::tuple<std::int64_t, std::int64_t, Index, Index>> rows;
    for (std::size_t i = 0; i < count; ++i) {
      const auto [start, end] = times();
      rows.emplace_back(start, -end, below(trace_.threads.size()), below(kCallNames.size()));
    }
    std::ranges::sort(rows);
    trace::CallArgumentColumns& arguments = trace_.call_arguments;
    for (const auto& [start, end, thread, name] : rows) {
      const auto region = static_cast<Index>(trace_.regions.size());
      trace_.regions.start.push_back(start);
      trace_.regions.end.push_back(-end);
      trace_.regions.name.push_back(trace_.strings.intern(kCallNames.at(name)));
      trace_.regions.category.push_back(trace_.strings.intern("HIP_RUNTIME_API_EXT"));
      trace_.regions.thread.push_back(prng_.below(20) == 0 ? kNone : thread);
      trace_.regions.parent.push_back(parent_of(region, thread));
      if (prng_.below(4) == 0) continue;
      arguments.region.push_back(region);
      arguments.has.push_back(static_cast<std::uint8_t>(prng_.below(32)));
      arguments.stream.push_back(static_cast<std::uint64_t>(prng_.below(5)));
      arguments.event.push_back(static_cast<std::uint64_t>(prng_.below(3)));
      arguments.device.push_back(prng_.below(3));
      arguments.record.push_back(static_cast<std::uint64_t>(prng_.below(4)));
    }
  }
  /// Mostly none, else an earlier call of the same process.
  Index parent_of(Index region, Index thread) {
    if (region == 0 || prng_.below(6) > 0) return kNone;
    const Index parent = below(region), of = trace_.regions.thread[parent];
    return of != kNone && trace_.threads[of].process == trace_.threads[thread].process ? parent
                                                                                       : kNone;
  }
  /// A call of the process, or none.
  Index call_of(Index process) {
    if (trace_.regions.size() == 0 || prng_.below(6) == 0) return kNone;
    const Index region = below(trace_.regions.size());
    const Index thread = trace_.regions.thread[region];
    return thread != kNone && trace_.threads[thread].process == process ? region : kNone;
  }
  void dispatches(std::size_t count) {
    std::vector<std::pair<std::int64_t, std::int64_t>> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(times());
    std::ranges::sort(rows);
    for (const auto& [start, end] : rows) {
      const Index process = below(kProcesses);
      trace_.dispatches.start.push_back(start);
      trace_.dispatches.end.push_back(end);
      trace_.dispatches.dispatch_id.push_back(prng_.below(100));
      trace_.dispatches.kernel.push_back(below(3));
      trace_.dispatches.config.push_back(0);
      trace_.dispatches.track.push_back(track(process, false));
      trace_.dispatches.launch.push_back(call_of(process));
    }
  }
  void copies(std::size_t count) {
    std::vector<std::pair<std::int64_t, std::int64_t>> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back(times());
    std::ranges::sort(rows);
    for (const auto& [start, end] : rows) {
      const Index process = below(kProcesses);
      trace_.copies.start.push_back(start);
      trace_.copies.end.push_back(end);
      trace_.copies.bytes.push_back(64);
      trace_.copies.kind.push_back(trace_.strings.intern("MEMORY_COPY_HOST_TO_DEVICE"));
      trace_.copies.source_agent.push_back(below(3));
      trace_.copies.track.push_back(track(process, true));
      trace_.copies.launch.push_back(call_of(process));
    }
  }

  Prng prng_;
  std::int64_t range_;
  trace::Trace trace_;
};

Index process_of(const Built& b, NodeId node) {
  const std::uint32_t row = b.graph().row(node);
  switch (b.graph().kind(node)) {
    case NodeKind::dispatch:
      return b.trace.tracks[b.trace.dispatches.track[row]].process;
    case NodeKind::copy:
      return b.trace.tracks[b.trace.copies.track[row]].process;
    case NodeKind::call:
    case NodeKind::call_wait:
      return b.trace.threads[b.trace.regions.thread[row]].process;
  }
  return kNone;
}

/// Track of an operation.
const trace::Track& track_of(const Built& b, NodeId node) {
  const std::uint32_t row = b.graph().row(node);
  return b.trace.tracks[b.graph().kind(node) == NodeKind::dispatch ? b.trace.dispatches.track[row]
                                                                   : b.trace.copies.track[row]];
}

void check_ends_of_edge(const Built& b, NodeId from, NodeId node, EdgeRule rule) {
  const bool from_call = is_call(b.graph().kind(from)), to_call = is_call(b.graph().kind(node));
  ASSERT_EQ(process_of(b, from), process_of(b, node));
  ASSERT_EQ(to_call, info(rule).to == NodeEvent::end || rule == EdgeRule::program_order);
  ASSERT_EQ(from_call, is_launch(rule) || rule == EdgeRule::program_order);
  const std::int64_t noise = b.path.options.noise;
  const std::int64_t distance =
      b.graph().time(node, info(rule).to) - b.graph().time(from, info(rule).from);
  if (rule == EdgeRule::program_order) {
    ASSERT_EQ(b.trace.regions.thread[b.graph().row(from)],
              b.trace.regions.thread[b.graph().row(node)]);
    return;
  }
  ASSERT_GE(distance, rule == EdgeRule::submission_order ? 0 : -noise);
  if (is_launch(rule)) {
    // Which of them it is says whether the call had returned.
    ASSERT_EQ(b.trace.regions.end[b.graph().row(from)] <= b.graph().start[node],
              rule == EdgeRule::launch);
    return;
  }
  if (to_call) return;
  const trace::Track &before = track_of(b, from), &after = track_of(b, node);
  const bool same_stream = before.stream == after.stream, same_queue = before.queue == after.queue;
  ASSERT_TRUE(rule != EdgeRule::stream_order || same_stream);
  ASSERT_TRUE(rule != EdgeRule::queue_order || same_queue);
  ASSERT_TRUE(rule != EdgeRule::submission_order || same_queue || same_stream);
}

void check_edges_of(const Built& b) {
  for (NodeId node = 0; node < b.graph().size(); ++node)
    for (std::uint32_t e = b.graph().first_edge[node]; e < b.graph().first_edge[node + 1]; ++e)
      check_ends_of_edge(b, b.graph().from[e], node, b.graph().rule[e]);
}

TEST(RandomTraces, AnythingGoes) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    CriticalPathOptions options;
    options.graph.noise = seed % 3 == 0 ? 1000 : seed % 3 == 1 ? 0 : 20;
    const Built b = build(Chaos(seed).take(), options, 1);
    check_edges_of(b);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomTraces, AnyPartOfThem) {
  for (std::uint64_t seed = 2000; seed < 2300; ++seed) {
    SCOPED_TRACE(seed);
    const trace::Trace whole = Chaos(seed).take();
    Prng prng(seed);
    trace::Selection rows;
    for (auto [keep, count] : {std::pair{&rows.dispatches, whole.dispatches.size()},
                               std::pair{&rows.copies, whole.copies.size()},
                               std::pair{&rows.regions, whole.regions.size()}})
      for (std::size_t i = 0; i < count; ++i) keep->push_back(prng.below(3) > 0);
    check_edges_of(build(trace::select(whole, rows), {}, 1));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(RandomTraces, AreTheSameWithEachBuild) {
  for (std::uint64_t seed = 3000; seed < 3050; ++seed)
    ASSERT_EQ(build(Chaos(seed).take(), {}, 1).summary(),
              build(Chaos(seed).take(), {}, 1).summary())
        << seed;
}

/// A program that could have been: one thread, three streams, launches, waits and synchronisation;
/// every end is at another time.
std::filesystem::path write_program(Prng& prng, int number) {
  test::WriterOptions options;
  options.guid = fmt::format("0000000{}-7f00-7000-8000-000000000001", number + 1);
  options.process.pid = 4000 + number;
  test::Recording r(fmt::format("p{}", number), options, 1);
  std::int64_t now = prng.below(5'000);
  std::array<std::int64_t, 4> free{};
  for (int i = 0; i < 40; ++i) {
    const test::Id stream = 1 + prng.below(3);
    const test::Handle handle = test::handle(stream);
    const std::int64_t length = 500 + prng.below(3'000);
    const auto place = static_cast<std::size_t>(stream);
    const std::int64_t begin = now;
    now += length;
    switch (prng.below(8)) {
      case 0:
        now = std::max(now, free[place] + 300 + prng.below(500));
        r.call(test::stream_synchronize(begin, now, handle));
        break;
      case 1:
        r.call(test::event_record(begin, now, static_cast<test::Handle>(prng.below(3)), handle));
        break;
      case 2:
        r.call(
            test::stream_wait_event(begin, now, handle, static_cast<test::Handle>(prng.below(3))));
        break;
      default: {
        const std::int64_t start = std::max(now + 1'000, free[place]) + prng.below(2'000);
        free[place] = start + 1 + prng.below(40'000);
        r.launch(test::kernel_call(begin, now, handle), fmt::format("k{}", prng.below(4)), start,
                 free[place], {.stream = stream, .queue = stream});
      }
    }
    now += 100 + prng.below(1'000);
  }
  return r.write();
}

TEST(RandomTraces, OfSeveralFilesDoNotDependOnTheirOrder) {
  Prng prng(99);
  for (int round = 0; round < 40; ++round) {
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < 3; ++i) files.push_back(write_program(prng, i));
    const std::string expected = build(files, {}, 1).summary();
    std::ranges::sort(files);
    do ASSERT_EQ(build(files, {}, 1).summary(), expected) << round;
    while (std::ranges::next_permutation(files).found);
  }
}

}  // namespace
}  // namespace perflab::analyze
