// The reader of PyTorch's profiler traces on files that the tests write: every field by value,
// order, damage, and what other kinds of JSON come to.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/gzipped.h"
#include "base/temp_folder.h"
#include "trace/kineto/read_kineto.h"
#include "trace/kineto/times.h"
#include "trace/kineto_text.h"
#include "trace/read/file_kind.h"
#include "trace/read/read_trace.h"

namespace perflab::trace {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Trace kineto_trace(const std::string& text) {
  Trace trace;
  LoadState state(trace);
  const Result<void> loaded = kineto::load_text(state, text, "trace.json");
  EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
  finish(state);
  return trace;
}

std::string kineto_refusal(const std::string& text) {
  Trace trace;
  LoadState state(trace);
  const Result<void> loaded = kineto::load_text(state, text, "trace.json");
  if (loaded) return "no error";
  EXPECT_EQ(loaded.error().code, ErrorCode::bad_input);
  EXPECT_THAT(loaded.error().message, HasSubstr("trace.json: "));
  return loaded.error().message;
}

/// The first region of that name.
Index region_named(const Trace& trace, std::string_view name) {
  for (Index i = 0; i < trace.regions.size(); ++i)
    if (trace.strings.view(trace.regions.name[i]) == name) return i;
  ADD_FAILURE() << "no " << name;
  return kNone;
}

TEST(KinetoTimes, FromTheirDigits) {
  using kineto::microseconds;
  EXPECT_EQ(microseconds("1694128201435418"), 1694128201435418000);
  EXPECT_EQ(microseconds("1694128201435418.123"), 1694128201435418123);
  EXPECT_EQ(microseconds("0.001"), 1);
  EXPECT_EQ(microseconds("0.0019"), 1);
  EXPECT_EQ(microseconds("12.5"), 12500);
  EXPECT_EQ(microseconds("-1.5"), -1500);
  EXPECT_EQ(microseconds("1.5e3"), 1500000);
  EXPECT_EQ(microseconds("15E-1"), 1500);
  EXPECT_EQ(microseconds("0e999"), 0);
  EXPECT_EQ(microseconds("1e-999"), 0);
  for (const char* none : {"", "-", ".", "NaN", "nan", "Infinity", "null", "true", "1e", "1e9999",
                           "1.5x", "\"1\"", "9999999999999999999", "1e300"})
    EXPECT_EQ(microseconds(none), std::nullopt) << none;
  // Any number of nanoseconds comes back as it was.
  std::uint64_t x = 12345;
  for (int i = 0; i < 1000; ++i) {
    x = x * 6364136223846793005 + 1442695040888963407;
    const auto ns = static_cast<std::int64_t>(x >> (2 + i % 40));
    EXPECT_EQ(microseconds(fmt::format("{}.{:03}", ns / 1000, ns % 1000)), ns);
  }
}

TEST(Kineto, ProcessesAndGpus) {
  const Trace trace = kineto_trace(cuda_step_file());
  ASSERT_EQ(trace.sources.size(), 1U);
  const Source& source = trace.sources[0];
  EXPECT_EQ(source.file, "trace.json");
  EXPECT_EQ(source.collector, "PyTorch profiler");
  EXPECT_EQ(source.schema_version, "1");
  EXPECT_EQ(source.platform, Platform::cuda);
  EXPECT_TRUE(source.wall_clock);
  ASSERT_EQ(trace.nodes.size(), 1U);
  EXPECT_EQ(trace.nodes[0].hostname, "node-a");
  ASSERT_EQ(trace.processes.size(), 1U);
  EXPECT_EQ(trace.processes[0].pid, 70);
  EXPECT_EQ(trace.processes[0].command, "") << "python3 alone cannot be run again";
  EXPECT_EQ(trace.processes[0].rank,
            (RankFacts{.rank = 3, .size = 8, .local_rank = {}, .from = "distributedInfo"}));
  ASSERT_EQ(trace.agents.size(), 2U);
  EXPECT_EQ(trace.agents[0].type, "CPU");
  const Agent& gpu = trace.agents[1];
  EXPECT_EQ(gpu.name, "sm_90");
  EXPECT_EQ(gpu.product, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(gpu.facts.compute_units, 132);
  EXPECT_EQ(gpu.facts.wave_size, 32);
  EXPECT_EQ(gpu.facts.max_waves_per_cu, 64);
  EXPECT_EQ(gpu.facts.lds_bytes_per_cu, 233472);
  ASSERT_TRUE(gpu.facts.cuda.has_value());
  EXPECT_EQ(gpu.facts.cuda->compute_capability, "9.0");
  EXPECT_EQ(gpu.facts.cuda->shared_memory_per_block_optin, 232448);
  EXPECT_EQ(gpu.facts.cuda->memory_bytes, 85045542912);
  EXPECT_EQ(gpu.facts.cuda->clock_khz, std::nullopt);
}

TEST(Kineto, WorkOfTheGpu) {
  const Trace trace = kineto_trace(cuda_step_file());
  constexpr std::int64_t kBase = 1700000000000000001;
  ASSERT_EQ(trace.dispatches.size(), 2U);
  EXPECT_THAT(trace.dispatches.start, ElementsAre(kBase + 120500, kBase + 161001));
  EXPECT_THAT(trace.dispatches.end, ElementsAre(kBase + 160750, kBase + 191001));
  const LaunchConfig& config = trace.launch_configs[trace.dispatches.config[0]];
  EXPECT_THAT(config.grid, ElementsAre(4096, 2, 1));
  EXPECT_THAT(config.workgroup, ElementsAre(128, 1, 1));
  EXPECT_EQ(config.lds_bytes, 13824U);
  const KernelSymbol& symbol = trace.kernel_symbols[trace.dispatches.kernel[0]];
  EXPECT_EQ(trace.strings.view(symbol.name), "void gemm<float>(float*)");
  EXPECT_EQ(symbol.arch_vgprs, 72);
  EXPECT_EQ(symbol.static_lds_bytes, std::nullopt);
  EXPECT_EQ(symbol.code_object, kNone);
  const Track& track = trace.tracks[trace.dispatches.track[1]];
  EXPECT_EQ(trace.streams[track.stream].id, 20);
  EXPECT_FALSE(trace.streams[track.stream].is_default());
  EXPECT_EQ(track.queue, kNone);
  EXPECT_EQ(trace.threads[track.thread].tid, 71);
  EXPECT_EQ(track.agent, 1U);
  EXPECT_EQ(trace.dispatches.launch[0], region_named(trace, "cudaLaunchKernel"));
  EXPECT_EQ(trace.dispatches.launch[1], region_named(trace, "cudaLaunchKernelExC"));

  ASSERT_EQ(trace.copies.size(), 2U);
  EXPECT_EQ(trace.strings.view(trace.copies.kind[0]), "MEMORY_COPY_DEVICE_TO_HOST");
  EXPECT_EQ(trace.strings.view(trace.copies.kind[1]), "MEMORY_SET");
  EXPECT_THAT(trace.copies.bytes, ElementsAre(4096, 64));
  EXPECT_EQ(trace.copies.source_agent[0], 1U);
  EXPECT_EQ(trace.tracks[trace.copies.track[0]].agent, 0U);
  EXPECT_EQ(trace.copies.launch[0], region_named(trace, "cudaMemcpyAsync"));
  EXPECT_EQ(trace.copies.launch[1], kNone);  // before the profiler began
}

TEST(Kineto, CallsRangesAndWaits) {
  const Trace trace = kineto_trace(cuda_step_file());
  const Index step = region_named(trace, "record_function");
  ASSERT_EQ(trace.ranges.region, std::vector<Index>{step});
  EXPECT_EQ(trace.strings.view(trace.ranges.message[0]), "ProfilerStep#5");
  EXPECT_EQ(trace.strings.view(trace.regions.category[step]), "MARKER_CORE_RANGE_API");
  const Index launch = region_named(trace, "cudaLaunchKernel");
  EXPECT_EQ(trace.strings.view(trace.regions.category[launch]), "CUDA_RUNTIME_API");
  EXPECT_EQ(trace.regions.end[launch] - trace.regions.start[launch], 5004);

  using C = CallArgumentColumns;
  const C& all = trace.call_arguments;
  ASSERT_EQ(all.region, (std::vector<Index>{region_named(trace, "cudaEventRecord"),
                                            region_named(trace, "cudaStreamWaitEvent"),
                                            region_named(trace, "cudaStreamSynchronize")}));
  constexpr std::uint8_t kEventCall = C::kStreamId | C::kEvent | C::kRecord;
  EXPECT_THAT(all.has, ElementsAre(kEventCall, kEventCall, C::kStreamId));
  EXPECT_THAT(all.stream, ElementsAre(7, 20, 7));
  EXPECT_THAT(all.event, ElementsAre(4, 4, 0));
  EXPECT_EQ(all.record[0], all.record[1]);
}

TEST(Kineto, CommunicationOfAKernel) {
  const Trace trace = kineto_trace(cuda_step_file());
  ASSERT_EQ(trace.communications.size(), 1U);
  const Communication& row = trace.communications[0];
  EXPECT_FALSE(row.of_region);
  EXPECT_EQ(row.row, 1U);
  EXPECT_EQ(trace.strings.view(row.function), "allreduce");
  EXPECT_EQ(trace.strings.view(row.group), "0");
  EXPECT_EQ(trace.strings.view(row.data_type), "Float");
  EXPECT_EQ(row.sequence, 12);
  EXPECT_EQ(row.group_size, 8);
  EXPECT_EQ(row.in_count, 1024);
  EXPECT_EQ(row.out_count, 1024);
  EXPECT_EQ(row.peer, std::nullopt);
  // The kernel's list is shortened, that of the groups is whole.
  EXPECT_THAT(row.members, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Kineto, RocmGridsAndHostFacts) {
  const Trace trace = kineto_trace(rocm_step_file());
  EXPECT_EQ(trace.sources[0].platform, Platform::amd);
  ASSERT_EQ(trace.dispatches.size(), 2U);
  const auto config = [&](std::size_t i) {
    return trace.launch_configs[trace.dispatches.config[i]];
  };
  EXPECT_THAT(config(0).grid, ElementsAre(2560, 1, 1));   // from its call, in work-groups
  EXPECT_THAT(config(1).grid, ElementsAre(28160, 1, 1));  // in work-items
  EXPECT_THAT(config(1).workgroup, ElementsAre(256, 1, 1));
  EXPECT_EQ(trace.tracks[trace.dispatches.track[0]].queue, kNone);
  EXPECT_EQ(trace.queues[trace.tracks[trace.dispatches.track[1]].queue].id, 3);
  EXPECT_EQ(trace.strings.view(trace.regions.category[0]), "HIP_RUNTIME_API");
  ASSERT_EQ(trace.communications.size(), 1U);
  const Communication& row = trace.communications[0];
  EXPECT_EQ(row.row, 1U);
  EXPECT_EQ(trace.strings.view(row.function), "recv");
  EXPECT_EQ(row.sequence, 3);
  EXPECT_THAT(row.members, ElementsAre(4, 9));
  EXPECT_EQ(row.peer, 1);  // rank 9 of the job
  const Agent& gpu = trace.agents[1];
  EXPECT_EQ(gpu.name, "");
  EXPECT_EQ(gpu.product, "AMD Instinct MI300X");
  EXPECT_EQ(gpu.facts.compute_units, 304);
  EXPECT_FALSE(gpu.facts.cuda.has_value());
}

TEST(Kineto, TheOrderOfEventsChangesNothing) {
  std::vector<std::string> events;
  for (int i = 0; i < 40; ++i) {
    events.push_back(kineto_event("cuda_runtime", "cudaLaunchKernel", "\"pid\": 1, \"tid\": 2",
                                  std::to_string(1000 + 10 * (i / 3)), "5",
                                  fmt::format("\"correlation\": {}", i + 1)));
    events.push_back(kineto_event(
        "kernel", i % 2 == 0 ? "even" : "odd", "\"pid\": 0, \"tid\": 7",
        std::to_string(2000 + 10 * (i / 4)), "3",
        fmt::format("\"correlation\": {}, \"stream\": {}, \"device\": 0, \"grid\": [{}, 1, 1], "
                    "\"block\": [64, 1, 1], \"Collective name\": \"c{}\"",
                    i + 1, 7 + i % 3, i + 1, i)));
  }
  const Trace forward = kineto_trace(kineto_file(kKinetoCudaDevices, "", events));
  std::ranges::reverse(events);
  const Trace backward = kineto_trace(kineto_file(kKinetoCudaDevices, "", events));
  EXPECT_EQ(forward.dispatches.start, backward.dispatches.start);
  EXPECT_EQ(forward.dispatches.launch, backward.dispatches.launch);
  EXPECT_EQ(forward.dispatches.dispatch_id, backward.dispatches.dispatch_id);
  EXPECT_EQ(forward.launch_configs, backward.launch_configs);
  ASSERT_EQ(forward.communications.size(), 40U);
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_EQ(forward.communications[i].row, i);
    EXPECT_EQ(forward.strings.view(forward.communications[i].function),
              backward.strings.view(backward.communications[i].function));
    const auto name = [&](const Trace& trace) {
      return trace.strings.view(trace.kernel_symbols[trace.dispatches.kernel[i]].name);
    };
    EXPECT_EQ(name(forward), name(backward));
  }
}

TEST(Kineto, WhatIsLeftOutIsCounted) {
  const std::string where = "\"pid\": 0, \"tid\": 7";
  const Trace trace = kineto_trace(
      kineto_file(kKinetoCudaDevices, "",
                  {kineto_event("kernel", "good", where, "10", "1", "\"correlation\": 1"),
                   kineto_event("kernel", "a", where, "10", "NaN", "\"correlation\": 2"),
                   kineto_event("kernel", "b", where, "\"10\"", "1", "\"correlation\": 3"),
                   kineto_event("kernel", "c", where, "10", "-1", "\"correlation\": 4"),
                   kineto_event("kernel", "d", where, "10", "1e300", "\"correlation\": 5"),
                   kineto_event("kernel", "", where, "10", "1", ""),
                   kineto_event("kernel", "e", where, "0", "1", ""),
                   R"({"ph": "X", "cat": "kernel", "name": "f", "pid": 0, "tid": 7, "ts": 10})",
                   R"({"ph": "B", "cat": "kernel", "name": "g", "pid": 0, "tid": 7, "ts": 10})",
                   R"({"ph": "E", "cat": "kernel", "name": "g", "pid": 0, "tid": 7, "ts": 11})",
                   "7", "[{}]", "null",
                   kineto_event("cuda_runtime", "cudaLaunchKernel", "\"pid\": 1, \"tid\": 1", "5",
                                "1", "\"correlation\": 1"),
                   kineto_event("cuda_runtime", "cudaLaunchKernel", "\"pid\": 1, \"tid\": 1", "7",
                                "1", "\"correlation\": 1"),
                   kineto_event("gpu_memcpy", "Memcpy XtoY (a -> b)", where, "20", "1",
                                "\"bytes\": \"many\"")}));
  ASSERT_EQ(trace.dispatches.size(), 1U);
  EXPECT_EQ(trace.dispatches.launch[0], 0U);
  const auto& dropped = trace.report.dropped;
  const auto many = [](const auto& counts, const char* table, std::string_view part) {
    std::uint64_t sum = 0;
    for (const auto& [key, number] : counts)
      if (key.first == table && key.second.find(part) != std::string::npos) sum += number;
    return sum;
  };
  EXPECT_EQ(many(dropped, "kernel", "no number"), 4U);
  EXPECT_EQ(many(dropped, "kernel", "no duration"), 2U);
  EXPECT_EQ(many(dropped, "traceEvents", "two parts"), 2U);
  EXPECT_EQ(many(dropped, "traceEvents", "no object"), 3U);
  EXPECT_EQ(many(dropped, "traceEvents", "no start time"), 1U);
  EXPECT_EQ(many(trace.report.odd, "traceEvents", "two calls"), 1U);
  EXPECT_EQ(many(trace.report.odd, "traceEvents", "size is not said"), 1U);
  EXPECT_EQ(many(trace.report.odd, "traceEvents", "grid is not said"), 1U);
  EXPECT_EQ(trace.strings.view(trace.copies.kind[0]), "Memcpy XtoY (a -> b)");
}

/// Times add up to what 64 bits hold, whatever the file says that they begin at.
TEST(Kineto, NoTimeOverflows) {
  for (const std::string_view base : {"9223372036854775807", "-9223372036854775808"})
    for (const std::string_view start : {"9223372036854775.8", "-9223372036854775.8", "5.1"}) {
      const Trace trace = kineto_trace(kineto_file(
          kKinetoCudaDevices, fmt::format(R"("baseTimeNanoseconds": {},)", base),
          {fmt::format(R"({{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {},
                           "dur": 2, "args": {{"device": 0, "stream": 7}}}})",
                       start)}));
      EXPECT_LE(trace.dispatches.size(), 1U);
      for (std::size_t i = 0; i < trace.dispatches.size(); ++i)
        EXPECT_EQ(trace.dispatches.end[i] - trace.dispatches.start[i], 2000);
    }
}

TEST(Kineto, CutOffAnywhereItIsRefused) {
  const std::string whole = cuda_step_file();
  const std::size_t last = whole.rfind('}');
  for (std::size_t length = 0; length <= last; length += length + 40 < last ? 7 : 1)
    EXPECT_NE(kineto_refusal(whole.substr(0, length)), "no error") << length;
  EXPECT_THAT(kineto_refusal(whole + "{}"), HasSubstr("not JSON"));
  EXPECT_THAT(kineto_refusal("[1, 2]"), HasSubstr("not JSON"));
  EXPECT_THAT(kineto_refusal(R"({"traceEvents": [{"ph": "X", "cat": "sql", "name": "q"}]})"),
              HasSubstr("without an event of PyTorch's profiler"));
  EXPECT_THAT(kineto_refusal(R"({"traceEvents": 5})"), HasSubstr("without an event"));
}

TEST(Kineto, FilesByTheirContent) {
  const test::TempFolder folder;
  const std::string text = cuda_step_file();
  const auto kind = [&](std::string_view content) {
    return kind_of_file(folder.write("file", content));
  };
  EXPECT_EQ(kind(text), FileKind::kineto);
  EXPECT_EQ(kind(gzipped(text)), FileKind::kineto);
  EXPECT_EQ(kind(std::string(100, ' ') + text), FileKind::kineto);
  EXPECT_EQ(kind(R"({"a": {"traceEvents": []}, "b": "traceEvents", "c\"": [1, {}]})"),
            FileKind::json);
  EXPECT_EQ(kind(R"({"a": "}", "traceEvents": [)"), FileKind::kineto);
  EXPECT_EQ(kind(R"([{"traceEvents": 1}])"), FileKind::json);
  EXPECT_EQ(kind("{\"unclosed"), FileKind::json);
  EXPECT_EQ(kind("Index,KernelName\n"), FileKind::text);
  EXPECT_EQ(kind(std::string("SQLite format 3\0 and so on", 26)), FileKind::database);
  EXPECT_EQ(kind(""), FileKind::nothing);
  EXPECT_EQ(kind_of_file(folder / "missing"), FileKind::nothing);

  const fs::path packed = folder.write("rank3.pt.trace.json.gz", gzipped(text));
  const fs::path plain = folder.write("rank3.pt.trace.json", text);
  const Result<Trace> read_packed = read({{packed}});
  ASSERT_TRUE(read_packed.has_value());
  EXPECT_EQ(read_packed->dispatches.size(), 2U);
  const Result<Trace> twice = read(std::vector<fs::path>{packed, plain});
  ASSERT_FALSE(twice.has_value());
  EXPECT_THAT(twice.error().message, HasSubstr("was given already"));
}

}  // namespace
}  // namespace perflab::trace
