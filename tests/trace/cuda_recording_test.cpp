// Recordings of rocm-perf-record: what the reader learns of the recorder, the device, streams,
// events and calls of CUDA.
#include <gtest/gtest.h>

#include "support/cuda_rows.h"
#include "support/test_database.h"
#include "trace/api_calls.h"
#include "trace/trace_checks.h"

namespace perflab::trace {
namespace {

using test::cuda_recording;
using test::RocpdWriter;
using test::test_folder;
using CudaColumns = CallArgumentColumns;

/// Host, H100, the null stream 7 and stream 13, kernel 1.
void add_cuda_machine(RocpdWriter& writer) {
  writer.agent(test::host_agent());
  writer.agent(test::h100_agent());
  writer.queue({.id = 7, .name = "Default Stream"});
  writer.queue({.id = 13, .name = "Stream 13"});
  writer.stream({.id = 7, .name = "Default Stream"});
  writer.stream({.id = 13, .name = "Stream 13"});
  writer.stream({.id = 0, .name = "Stream 0"});
  writer.code_object({.uri = "cuda:unknown"});
  writer.kernel({.name = "_Z4axpyPf", .display_name = "axpy(float*)", .add_kd_suffix = false});
}

TEST(CudaRecording, SaysItsCollectorAndPlatform) {
  RocpdWriter writer(test_folder() / "a.db", cuda_recording());
  add_cuda_machine(writer);
  finish(writer);
  const Trace trace = read_ok({writer.file().path()});
  ASSERT_EQ(trace.sources.size(), 1U);
  EXPECT_EQ(trace.sources[0].collector, "rocm-perf-record");
  EXPECT_EQ(trace.sources[0].platform, Platform::cuda);
  EXPECT_TRUE(trace.sources[0].complete);
  EXPECT_EQ(trace.sources[0].lost_records, 0);
  EXPECT_EQ(trace.sources[0].second_client, "");
  EXPECT_EQ(trace.platform_of_process(0), Platform::cuda);
  EXPECT_TRUE(trace.report.odd.empty());
}

TEST(CudaRecording, SaysWhatItLost) {
  RocpdWriter writer(
      test_folder() / "a.db",
      cuda_recording({.complete = false, .dropped_records = 12, .second_client = "libkineto"}));
  add_cuda_machine(writer);
  finish(writer);
  const Trace trace = read_ok({writer.file().path()});
  EXPECT_FALSE(trace.sources.at(0).complete);
  EXPECT_EQ(trace.sources.at(0).lost_records, 12);
  EXPECT_EQ(trace.sources.at(0).second_client, "libkineto");
}

/// The source that a process with this extdata makes.
Trace with_extdata(const std::string& extdata) {
  test::WriterOptions options;
  options.process.extdata = extdata;
  RocpdWriter writer(test_folder() / "e.db", options);
  add_cuda_machine(writer);
  finish(writer);
  return read_ok({writer.file().path()});
}

TEST(CudaRecording, ExtdataOfOthersChangesNothing) {
  for (const char* text : {"{}", R"({"collector":"someone","platform":"cuda","complete":false})",
                           R"({"note":"rocm-perf-record","platform":"cuda"})", "[1]",
                           R"({"collector":5,"x":"rocm-perf-record"})"}) {
    const Trace trace = with_extdata(text);
    EXPECT_EQ(trace.sources.at(0).platform, Platform::amd) << text;
    EXPECT_EQ(trace.sources.at(0).collector, "rocprofv3") << text;
    EXPECT_TRUE(trace.sources.at(0).complete) << text;
    EXPECT_TRUE(trace.report.odd.empty()) << text;
    EXPECT_FALSE(trace.streams.at(0).null_stream.has_value()) << text;
  }
}

TEST(CudaRecording, SaysWhatWasNotCounted) {
  const Trace trace =
      with_extdata(R"({"collector":"rocm-perf-record","platform":"cuda","counters":{"skipped":)"
                   R"({"graph":12,"enough":3,"time":0,"memory":"many"}}})");
  EXPECT_EQ(trace.sources.at(0).not_counted,
            (std::map<std::string, std::int64_t>{{"enough", 3}, {"graph", 12}}));
}

TEST(CudaRecording, ValuesOfOtherTypesAreNotTaken) {
  const Trace trace = with_extdata(
      R"({"collector":"rocm-perf-record","platform":"cuda","complete":"no","dropped_records":-3,)"
      R"("second_client":7})");
  EXPECT_EQ(trace.sources.at(0).platform, Platform::cuda);
  EXPECT_TRUE(trace.sources.at(0).complete);
  EXPECT_EQ(trace.sources.at(0).lost_records, 0);
  EXPECT_EQ(trace.sources.at(0).second_client, "");
}

TEST(CudaRecording, APlatformOfALaterVersionIsSaid) {
  const Trace trace = with_extdata(R"({"collector":"rocm-perf-record","platform":"other"})");
  EXPECT_EQ(odd(trace, "info_process", "recorded on a platform that this version does not know"),
            1U);
}

TEST(CudaRecording, DeviceFactsAndTheNullStream) {
  RocpdWriter writer(test_folder() / "a.db", cuda_recording());
  add_cuda_machine(writer);
  finish(writer);
  const Trace trace = read_ok({writer.file().path()});
  const AgentFacts& facts = trace.agents.at(1).facts;
  EXPECT_EQ(facts.compute_units, 132);
  EXPECT_EQ(facts.wave_size, 32);
  EXPECT_EQ(facts.lds_bytes_per_cu, 228 * 1024);
  EXPECT_EQ(facts.vendor_id, 4318);
  EXPECT_EQ(facts.target_version, std::nullopt);
  ASSERT_TRUE(facts.cuda);
  EXPECT_EQ(facts.cuda->compute_capability, "9.0");
  EXPECT_EQ(facts.cuda->reserved_shared_memory_per_block, 1024);
  EXPECT_EQ(facts.cuda->memory_bytes, 85520809984);
  EXPECT_FALSE(trace.agents.at(0).facts.cuda);
  ASSERT_EQ(trace.streams.size(), 3U);  // by id; 0 is a number like others there
  for (const Stream& stream : trace.streams)
    EXPECT_EQ(stream.is_default(), stream.id == 7) << stream.id;
}

TEST(CudaRecording, IdsOfEventsRecordsAndStreams) {
  RocpdWriter writer(test_folder() / "a.db", cuda_recording());
  add_cuda_machine(writer);
  writer.region(test::cuda_event_record(kT0, kT0 + 1, {.event = 5, .record = 9, .stream = 13}));
  writer.region(test::cuda_stream_wait(kT0 + 2, kT0 + 3, {.event = 5, .record = 9, .stream = 7}));
  writer.region(test::cuda_event_sync(kT0 + 4, kT0 + 5, {.event = 5, .record = 9}));
  writer.region(test::cuda_stream_sync(kT0 + 6, kT0 + 7, 13));
  finish(writer);
  const Trace trace = read_ok({writer.file().path()});
  const CudaColumns& calls = trace.call_arguments;
  constexpr std::uint8_t kAll = CudaColumns::kStreamId | CudaColumns::kEvent | CudaColumns::kRecord;
  EXPECT_EQ(calls.has,
            (std::vector<std::uint8_t>{kAll, kAll, CudaColumns::kEvent | CudaColumns::kRecord,
                                       CudaColumns::kStreamId}));
  EXPECT_EQ(calls.stream, (std::vector<std::uint64_t>{13, 7, 0, 13}));
  EXPECT_EQ(calls.event, (std::vector<std::uint64_t>{5, 5, 5, 0}));
  EXPECT_EQ(calls.record, (std::vector<std::uint64_t>{9, 9, 9, 0}));
}

TEST(CudaRecording, RangesOfNvtxHaveTheirTexts) {
  RocpdWriter writer(test_folder() / "a.db", cuda_recording());
  add_cuda_machine(writer);
  writer.region(test::nvtx_range("step 1", kT0, kT0 + 50));
  finish(writer);
  const Trace trace = read_ok({writer.file().path()});
  ASSERT_EQ(trace.ranges.size(), 1U);
  EXPECT_EQ(trace.strings.view(trace.ranges.message[0]), "step 1");
}

TEST(CudaCalls, AreKnownByNameWithAnySuffix) {
  for (const char* name : {"cudaLaunchKernel", "cudaLaunchKernel_ptsz", "cudaLaunchKernelExC",
                           "cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cudaLaunchCooperativeKernel",
                           "cudaGraphLaunch_ptsz", "cuGraphLaunch"})
    EXPECT_EQ(call_kind(name), CallKind::launch) << name;
  for (const char* name : {"cudaMemcpyAsync", "cuMemcpyHtoDAsync_v2_ptsz", "cudaMemset",
                           "cuMemsetD32Async", "cudaMemcpyPeerAsync", "cudaMemset2DAsync_ptsz"})
    EXPECT_EQ(call_kind(name), CallKind::copy) << name;
  for (const char* name :
       {"cudaMemcpy", "cudaMemcpy_ptds", "cuMemcpyDtoH_v2", "cudaMemcpy2D", "cudaMemcpyToSymbol"})
    EXPECT_EQ(call_kind(name), CallKind::blocking_copy) << name;
  EXPECT_EQ(call_kind("cuCtxSynchronize"), CallKind::device_sync);
  EXPECT_EQ(call_kind("cudaStreamSynchronize_ptsz"), CallKind::stream_sync);
  EXPECT_EQ(call_kind("cudaEventRecord_ptsz"), CallKind::event_record);
  EXPECT_EQ(call_kind("cuStreamWaitEvent_ptsz"), CallKind::stream_wait_event);
  EXPECT_EQ(call_kind("cudaFree"), CallKind::implicit_sync);
  EXPECT_EQ(call_kind("cuMemFree_v2"), CallKind::implicit_sync);
  for (const char* name :
       {"cudaMallocAsync_ptsz", "cudaFreeAsync", "cuMemAlloc_v2", "cudaMemPoolTrimTo",
        "cuModuleLoadData", "cudaGraphInstantiate", "cudaMalloc"})
    EXPECT_EQ(call_kind(name), CallKind::resource) << name;
  EXPECT_EQ(call_kind("cudaStreamCreate"), CallKind::make_blocking_stream);
  EXPECT_EQ(call_kind("cudaStreamCreateWithPriority"), CallKind::make_stream);
  EXPECT_EQ(call_kind("cuStreamBeginCapture_v2_ptsz"), CallKind::begin_capture);
}

TEST(CudaCalls, OthersOrderNothing) {
  for (const char* name : {"cudaGetDevice", "cudaStreamQuery", "cudaEventQuery", "cuda", "cu",
                           "cublasSgemm", "cudnnCreate", "cudaGetLastError", "curandGenerate",
                           "cuda_v", "cuGetProcAddress_v2", "cudaFuncSetAttribute"})
    EXPECT_EQ(call_kind(name), CallKind::other) << name;
}

TEST(CudaCalls, GraphLaunches) {
  for (const char* name : {"hipGraphLaunch", "cudaGraphLaunch", "cuGraphLaunch_ptsz"})
    EXPECT_TRUE(is_graph_launch(name)) << name;
  for (const char* name : {"cudaGraphUpload", "cudaLaunchKernel", ""})
    EXPECT_FALSE(is_graph_launch(name)) << name;
}

}  // namespace
}  // namespace perflab::trace
