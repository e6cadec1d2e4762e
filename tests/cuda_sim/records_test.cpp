// What the stand-in CUPTI writes of programs, against what the programs say that they did and
// docs/facts/cuda_cupti.md "Records", "Calls and correlation", "Events", "Graphs", "Markers",
// "Clock", "Buffers".
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "cuda_sim/sim_run.h"

namespace perflab::cuda_sim {
namespace {

constexpr std::uint64_t no_stream = 0xffffffff;

std::set<std::uint64_t> numbers(const std::vector<ClientLine>& lines, const std::string& key) {
  std::set<std::uint64_t> found;
  for (const ClientLine& line : lines) found.insert(line.number(key));
  return found;
}

// Calls of the driver that the program made: the exit handler's and CUPTI's own are not.
std::size_t driver_calls(const SimRun& run) {
  const std::vector<ClientLine> calls = run.of("driver");
  return static_cast<std::size_t>(std::ranges::count_if(calls, [](const ClientLine& call) {
    const std::string name = call.text("name");
    return name != "cuKernelGetName" && name != "cuDevicePrimaryCtxRetain" &&
           name != "cuCtxSetCurrent" && name != "cuCtxSynchronize";
  }));
}

TEST(CudaSimRecords, AllThatAProgramDid) {
  const SimRun run = run_app({"all", "3"});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.counts.at("kernels"), 15U);
  EXPECT_EQ(run.count("kernel"), run.counts.at("kernels"));
  EXPECT_EQ(run.count("copy"), run.counts.at("copies"));
  EXPECT_EQ(run.count("fill"), run.counts.at("fills"));
  EXPECT_EQ(run.count("runtime"), run.counts.at("runtime_calls"));
  EXPECT_EQ(driver_calls(run), run.counts.at("driver_calls"));
  EXPECT_EQ(run.count("memory"), run.counts.at("allocations") + run.counts.at("releases"));
  EXPECT_EQ(run.count("wait"), run.counts.at("waits") + 1) << "and the exit handler's";
  EXPECT_EQ(run.count("pool"), 2U);
  EXPECT_EQ(run.count("overhead"), 4U) << "one for each kernel's first launch";
  EXPECT_EQ(run.one("context").number("null_stream"), 7U);
  EXPECT_EQ(run.one("stream").number("id"), 13U);
  EXPECT_EQ(run.one("dropped").number("count"), 0U);
}

TEST(CudaSimRecords, WorkBelongsToTheOutermostCall) {
  const SimRun run = run_app({"all", "1"});
  std::map<std::uint64_t, ClientLine> calls;
  for (const char* const api : {"runtime", "driver"})
    for (const ClientLine& call : run.of(api))
      EXPECT_TRUE(calls.emplace(call.number("correlation"), call).second) << "ids are unique";
  std::multiset<std::string> launches;
  for (const ClientLine& kernel : run.of("kernel")) {
    const auto call = calls.find(kernel.number("correlation"));
    ASSERT_NE(call, calls.end());
    launches.insert(call->second.text("name"));
    EXPECT_GT(kernel.number("start"), call->second.number("start"));
  }
  EXPECT_EQ(launches,
            (std::multiset<std::string>{"cudaLaunchKernel_v7000", "cudaLaunchKernel_v7000",
                                        "cudaLaunchKernelExC_v11060",
                                        "cudaLaunchCooperativeKernel_v9000", "cuLaunchKernel"}));
  for (const ClientLine& copy : run.of("copy"))
    EXPECT_EQ(calls.at(copy.number("correlation")).text("name"), "cudaMemcpyAsync_v3020");
}

TEST(CudaSimRecords, ShapesOfLaunches) {
  const SimRun run = run_app({"all", "1"});
  int seen = 0;
  for (const ClientLine& kernel : run.of("kernel")) {
    if (kernel.text("name") == "_Z4gemmPKfS0_Pfiii") {
      EXPECT_EQ(kernel.number("shared"), 116'384U);
      EXPECT_EQ(kernel.number("registers"), 128U);
      EXPECT_EQ(kernel.number("block"), 512U);
      ++seen;
    }
    if (kernel.number("cluster") == 4) {
      EXPECT_EQ(kernel.text("name"), "_Z7stencilPKdPdii");
      ++seen;
    }
    if (kernel.number("type") == 1) {
      EXPECT_EQ(kernel.text("name"), "_Z6reduceIfLi256EEvPKT_PS0_i");
      ++seen;
    }
  }
  EXPECT_EQ(seen, 3);
}

TEST(CudaSimRecords, OperationsOfAStreamComeOneAfterAnother) {
  const SimRun run = run_app({"streams", "5"});
  std::map<std::uint64_t, std::uint64_t> ends;
  std::vector<std::uint64_t> starts;
  for (const ClientLine& kernel : run.of("kernel")) {
    std::uint64_t& end = ends[kernel.number("stream")];
    EXPECT_GE(kernel.number("start"), end);
    end = kernel.number("end");
    starts.push_back(kernel.number("start"));
  }
  EXPECT_EQ(ends.size(), 5U);
  EXPECT_FALSE(std::ranges::is_sorted(starts)) << "records of several streams are out of order";
}

TEST(CudaSimRecords, WaitsNameTheRecordThatTheyWaitFor) {
  const SimRun run = run_app({"streams", "4"});
  const std::set<std::uint64_t> recorded = numbers(run.of("event"), "sync");
  EXPECT_EQ(recorded.size(), 5U) << "an id for each time that an event is recorded";
  EXPECT_EQ(run.count("event"), 5U);
  std::map<std::uint64_t, int> types;
  for (const ClientLine& wait : run.of("wait")) {
    const std::uint64_t type = wait.number("type");
    ++types[type];
    EXPECT_EQ(recorded.contains(wait.number("sync")), type <= 2) << type;
    EXPECT_EQ(wait.number("stream") == no_stream, type != 2) << type;
  }
  EXPECT_EQ(types, (std::map<std::uint64_t, int>{{1, 1}, {2, 6}, {4, 2}}));
}

TEST(CudaSimRecords, AStreamThatWaitsStartsAfterwards) {
  const SimRun run = run_app({"streams", "4"});
  std::uint64_t first_end = 0;
  std::uint64_t last_start = 0;
  std::uint64_t parallel_end = 0;
  std::uint64_t parallel_start = ~std::uint64_t{0};
  for (const ClientLine& kernel : run.of("kernel")) {
    const std::string name = kernel.text("name");
    if (name == "_Z4gemmPKfS0_Pfiii") {
      first_end = kernel.number("end");
    } else if (name == "_Z7stencilPKdPdii") {
      parallel_start = std::min(parallel_start, kernel.number("start"));
      parallel_end = std::max(parallel_end, kernel.number("end"));
    } else {
      last_start = kernel.number("start");
    }
  }
  EXPECT_GE(parallel_start, first_end);
  EXPECT_GE(last_start, parallel_end);
}

TEST(CudaSimRecords, NodesOfAGraphNameIt) {
  const SimRun run = run_app({"graphs", "2"});
  EXPECT_EQ(run.count("kernel"), 6U);
  EXPECT_EQ(run.count("copy"), 2U);
  EXPECT_EQ(run.count("fill"), 2U);
  std::set<std::uint64_t> launches;
  for (const ClientLine& call : run.of("runtime"))
    if (call.text("name") == "cudaGraphLaunch_v10000") launches.insert(call.number("correlation"));
  EXPECT_EQ(launches.size(), 2U);
  std::set<std::uint64_t> nodes;
  for (const ClientLine& kernel : run.of("kernel")) {
    EXPECT_TRUE(launches.contains(kernel.number("correlation")));
    EXPECT_EQ(kernel.number("graph"), 1U);
    nodes.insert(kernel.number("node"));
  }
  constexpr std::uint64_t graph = std::uint64_t{1} << 32U;
  EXPECT_EQ(nodes, (std::set<std::uint64_t>{graph, graph + 2, graph + 4}));
}

TEST(CudaSimRecords, AGraphTraceReplacesTheNodes) {
  const SimRun run = run_app({"graphs", "2"}, "graphs");
  EXPECT_EQ(run.count("graph_trace"), 2U);
  EXPECT_EQ(run.count("kernel") + run.count("copy") + run.count("fill"), 0U);
}

TEST(CudaSimRecords, WorkThatRunsAtTheEndHasNoTimes) {
  const SimRun run = run_app({"in-flight", "4"}, "unsynchronized");
  ASSERT_EQ(run.count("kernel"), 4U);
  for (const ClientLine& kernel : run.of("kernel")) {
    EXPECT_EQ(kernel.number("start"), 0U);
    EXPECT_EQ(kernel.number("end"), 0U);
  }
  const SimRun waited = run_app({"in-flight", "4"});
  ASSERT_EQ(waited.count("kernel"), 4U);
  for (const ClientLine& kernel : waited.of("kernel"))
    EXPECT_GE(kernel.number("end") - kernel.number("start"), 20'000'000U);
}

TEST(CudaSimRecords, TimesAreOnTheClientsClock) {
  const SimRun run = run_app({"all", "1"});
  const std::vector<ClientLine> clock = run.of("clock");
  ASSERT_EQ(clock.size(), 2U);
  for (const char* const word : {"kernel", "copy", "fill", "runtime", "driver", "wait"})
    for (const ClientLine& line : run.of(word)) {
      EXPECT_GE(line.number("start"), clock[0].number("now")) << word;
      EXPECT_LE(line.number("start"), line.number("end")) << word;
      EXPECT_LE(line.number("end"), clock[1].number("now")) << word;
    }
  for (const ClientLine& line : run.of("marker")) {
    EXPECT_GE(line.number("time"), clock[0].number("now"));
    EXPECT_LE(line.number("time"), clock[1].number("now"));
  }
}

TEST(CudaSimRecords, RangesAreJoinedById) {
  const SimRun run = run_app({"all", "2"});
  std::map<std::uint64_t, std::string> open;
  std::multiset<std::string> closed;
  std::size_t marks = 0;
  for (const ClientLine& marker : run.of("marker")) {
    const std::uint64_t id = marker.number("id");
    if (marker.number("flags") == 2) {
      open[id] = marker.text("name");
    } else if (marker.number("flags") == 4) {
      EXPECT_EQ(marker.text("name"), "-");
      ASSERT_TRUE(open.contains(id));
      closed.insert(open[id]);
      open.erase(id);
    } else {
      EXPECT_EQ(marker.number("flags"), 1U);
      ++marks;
    }
    if (open.contains(id) && open[id] == "inner") {
      EXPECT_EQ(marker.text("domain"), "library");
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(closed, (std::multiset<std::string>{"inner", "round", "round", "whole"}));
  EXPECT_EQ(closed.size(), run.counts.at("ranges"));
  EXPECT_EQ(marks, run.counts.at("marks"));
  EXPECT_EQ(run.one("marker_data").number("payload"), 42U);
}

TEST(CudaSimRecords, ThreadsHaveStreamsAndIdsOfTheirOwn) {
  const SimRun run = run_app({"threads", "20"});
  EXPECT_EQ(run.count("kernel"), 80U);
  EXPECT_EQ(numbers(run.of("kernel"), "stream").size(), 4U);
  EXPECT_EQ(numbers(run.of("runtime"), "thread").size(), 4U);
  for (const ClientLine& call : run.of("runtime")) {
    const std::string name = call.text("name");
    EXPECT_TRUE(name == "cudaLaunchKernel_ptsz_v7000" || name == "cudaStreamSynchronize_v3020")
        << name;
  }
}

TEST(CudaSimRecords, SmallBuffersHoldTheSameRecords) {
  const SimRun run = run_app({"many", "2000"}, "small");
  EXPECT_EQ(run.count("kernel"), 2000U);
  EXPECT_EQ(run.count("runtime"), 2001U);
  EXPECT_GT(run.count("buffer"), 1000U);
  EXPECT_EQ(run.one("dropped").number("count"), 0U);
  for (const ClientLine& buffer : run.of("buffer")) EXPECT_LE(buffer.number("bytes"), 512U);
}

TEST(CudaSimRecords, WithoutBuffersRecordsAreDroppedAndCounted) {
  const SimRun run = run_app({"many", "100"}, "no-buffers");
  EXPECT_EQ(run.count("kernel"), 0U);
  // Kernels, their launches, cuKernelGetName of each, and more.
  EXPECT_GE(run.one("dropped").number("count"), 300U);
}

TEST(CudaSimRecords, AResetDeliversEverything) {
  const SimRun run = run_app({"reset", "300"});
  EXPECT_EQ(run.count("kernel"), 300U);
  for (const ClientLine& kernel : run.of("kernel")) EXPECT_GT(kernel.number("start"), 0U);
}

TEST(CudaSimRecords, AKernelThatFaultsHasNoTimes) {
  const SimRun run = run_app({"fault", "5"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("{\"fault\":700}"), std::string::npos) << run.output;
  ASSERT_EQ(run.count("kernel"), 6U);
  for (const ClientLine& kernel : run.of("kernel"))
    EXPECT_EQ(kernel.number("end") == 0, kernel.text("name") == "_Z5stealPi");
  std::vector<std::uint64_t> answers;
  for (const ClientLine& call : run.of("runtime"))
    if (call.text("name") == "cudaDeviceSynchronize_v3020")
      answers.push_back(call.number("answer"));
  EXPECT_EQ(answers, (std::vector<std::uint64_t>{0, 700}));
}

TEST(CudaSimRecords, VariablesOfModulesAreAllocations) {
  const SimRun run = run_app({"many", "1"}, "", {{"CUDA_SIM_VARIABLES", "1"}});
  EXPECT_EQ(run.one("memory").number("kind"), 6U);
  EXPECT_EQ(run_app({"many", "1"}).count("memory"), 0U);
}

TEST(CudaSimRecords, DevicesHaveContexts) {
  const SimRun run = run_app({"copies", "1"}, "", {{"CUDA_SIM_DEVICES", "2"}});
  EXPECT_EQ(run.count("context"), 2U);
  const ClientLine copy = run.one("peer_copy");
  EXPECT_EQ(copy.number("from"), 0U);
  EXPECT_EQ(copy.number("to"), 1U);
  const SimRun all = run_app({"devices", "3"}, "", {{"CUDA_SIM_DEVICES", "3"}});
  EXPECT_EQ(numbers(all.of("kernel"), "device"), (std::set<std::uint64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace perflab::cuda_sim
