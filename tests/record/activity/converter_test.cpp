// CUPTI's records into rows: records are made by hand, the driver and CUPTI are a few functions.
#include "record/activity/converter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>

#include "base/temp_folder.h"
#include "support/test_database.h"
#include "trace/read/read_trace.h"

namespace perflab::record {
namespace {

using cuda::ActivityKind;
using test::TestDatabase;
using Row = std::vector<std::string>;

/// A driver with one kind of device: 100 is the answer to every question but a few.
cuda::Driver fake_driver() {
  cuda::Driver driver{};
  driver.driver_get_version = [](int* version) {
    *version = 13000;
    return cuda::DriverResult::success;
  };
  driver.device_get = [](cuda::Device* device, int ordinal) {
    *device = ordinal;
    return cuda::DriverResult::success;
  };
  driver.device_get_name = [](char* name, int bytes, cuda::Device) {
    std::strncpy(name, "Test GPU", static_cast<std::size_t>(bytes));
    return cuda::DriverResult::success;
  };
  driver.device_get_attribute = [](int* value, cuda::DeviceAttribute attribute, cuda::Device) {
    using enum cuda::DeviceAttribute;
    if (attribute == reserved_shared_memory_per_block) return cuda::DriverResult::invalid_value;
    *value = attribute == compute_capability_major               ? 9
             : attribute == compute_capability_minor             ? 0
             : attribute == warp_size                            ? 32
             : attribute == max_threads_per_multiprocessor       ? 2048
             : attribute == max_shared_memory_per_multiprocessor ? 233472
             : attribute == clock_rate                           ? 1'980'000
             : attribute == gpu_pci_device_id                    ? 0x233510de
                                                                 : 100;
    return cuda::DriverResult::success;
  };
  driver.device_total_memory = [](std::size_t* bytes, cuda::Device) {
    *bytes = 1 << 30;
    return cuda::DriverResult::success;
  };
  driver.device_get_pci_bus_id = [](char*, int, cuda::Device) {
    return cuda::DriverResult::invalid_device;
  };
  return driver;
}

cuda::Cupti fake_cupti() {
  cuda::Cupti cupti{};
  cupti.get_callback_name = [](cuda::CallbackDomain domain, cuda::CallbackId id,
                               const char** name) {
    if (id == 99) return cuda::CuptiResult::invalid_parameter;
    *name =
        domain == cuda::CallbackDomain::runtime_api ? "cudaLaunchKernel_v7000" : "cuMemAlloc_v2";
    return cuda::CuptiResult::success;
  };
  return cupti;
}

class RecordConverter : public testing::Test {
 protected:
  void SetUp() override {
    Process process{.pid = getpid(), .start = 1'000};
    auto made = Database::create(path_.string(), process);
    ASSERT_TRUE(made) << describe(made.error());
    database_ = std::move(*made);
    converter_ = std::make_unique<Converter>(*database_, driver_, cupti_, What{});
  }
  template <class Record>
  void take(const Record& record) {
    const auto& any = reinterpret_cast<const cuda::Record&>(record);
    converter_->note(any);
    converter_->take(any);
  }
  TestDatabase& finish() {
    const auto done = database_->finish();
    EXPECT_TRUE(done) << describe(done.error());
    db_ = std::make_unique<TestDatabase>(path_);
    return *db_;
  }
  static cuda::KernelRecord kernel(std::uint32_t call) {
    cuda::KernelRecord record{};
    record.kind = ActivityKind::concurrent_kernel;
    record.registers_per_thread = 40;
    record.start = 2'000;
    record.end = 2'900;
    record.context_id = 1;
    record.stream_id = 7;
    record.grid_x = 3;
    record.grid_y = record.grid_z = record.block_y = record.block_z = 1;
    record.block_x = 128;
    record.static_shared_memory = 256;
    record.dynamic_shared_memory = 1024;
    record.correlation_id = call;
    record.name = "_Z4axpyPf";
    return record;
  }
  static cuda::ApiRecord call(std::uint32_t id, std::uint32_t thread) {
    return {.kind = ActivityKind::runtime_call,
            .callback_id = 211,
            .start = 1'500,
            .end = 1'800,
            .process_id = 1,
            .thread_id = thread,
            .correlation_id = id,
            .return_value = 0};
  }

  test::TempFolder folder_;
  std::filesystem::path path_ = folder_ / "1_results.db";
  cuda::Driver driver_ = fake_driver();
  cuda::Cupti cupti_ = fake_cupti();
  std::unique_ptr<Database> database_;
  std::unique_ptr<Converter> converter_;
  std::unique_ptr<TestDatabase> db_;
};

TEST_F(RecordConverter, AKernelWithItsCall) {
  take(call(5, 4242));
  take(kernel(5));
  TestDatabase& db = finish();
  EXPECT_EQ(db.rows("SELECT name, tid, start, end, grid_x, workgroup_x, lds_size, static_lds_size,"
                    " vgpr_count, stack_id, agent_log_index, stream FROM kernels"),
            (std::vector<Row>{{"axpy(float*)", "4242", "2000", "2900", "384", "128", "1280", "256",
                               "40", "5", "1", "Stream 7"}}));
  EXPECT_EQ(db.rows("SELECT event_id, category, name, tid FROM regions"),
            (std::vector<Row>{{"5", "CUDA_RUNTIME_API", "cudaLaunchKernel", "4242"}}));
  const auto trace = trace::read(std::vector<std::filesystem::path>{path_});
  ASSERT_TRUE(trace) << describe(trace.error());
  EXPECT_EQ(trace->dispatches.size(), 1U);
  EXPECT_EQ(trace->report.dropped, (std::map<trace::ReadReport::Key, std::uint64_t>{}));
}

TEST_F(RecordConverter, TheDeviceAsAnAgent) {
  take(kernel(0));
  TestDatabase& db = finish();
  EXPECT_EQ(db.rows("SELECT id, name, product_name, vendor_name, uuid, "
                    "json_extract(extdata, '$.max_waves_per_cu'), "
                    "json_extract(extdata, '$.max_waves_per_simd'), "
                    "json_extract(extdata, '$.lds_size_in_kb'), "
                    "json_extract(extdata, '$.max_engine_clk_fcompute'), "
                    "json_extract(extdata, '$.cuda.compute_capability'), "
                    "json_type(extdata, '$.cuda.reserved_shared_memory_per_block'), "
                    "json_extract(extdata, '$.cuda.memory_bytes') "
                    "FROM rocpd_info_agent WHERE type = 'GPU'"),
            (std::vector<Row>{{"1", "sm_90", "Test GPU", "NVIDIA", "9013", "64", "16", "228",
                               "1980", "9.0", "NULL", "1073741824"}}));
}

TEST_F(RecordConverter, WhatDidNotFinishIsCountedAndNotWritten) {
  cuda::KernelRecord record = kernel(1);
  record.start = record.end = 0;
  take(record);
  cuda::FillRecord fill{};
  fill.kind = ActivityKind::fill;
  take(fill);
  EXPECT_EQ(converter_->totals().unfinished, 2);
  TestDatabase& db = finish();
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_kernel_dispatch"), 0);
  EXPECT_EQ(db.number("SELECT count(*) FROM rocpd_memory_copy"), 0);
}

TEST_F(RecordConverter, SymbolsByNameRegistersAndSharedMemory) {
  cuda::KernelRecord record = kernel(1);
  std::string name = "first";
  record.name = name.c_str();
  take(record);
  take(record);
  record.registers_per_thread = 41;
  take(record);
  name = "other";  // the same address, another kernel
  take(record);
  TestDatabase& db = finish();
  EXPECT_EQ(
      db.rows("SELECT kernel_name, arch_vgpr_count FROM rocpd_info_kernel_symbol ORDER BY id"),
      (std::vector<Row>{{"first", "40"}, {"first", "41"}, {"other", "41"}}));
  EXPECT_EQ(db.list("SELECT kernel_id FROM rocpd_kernel_dispatch ORDER BY id"),
            (Row{"1", "1", "2", "3"}));
}

TEST_F(RecordConverter, GraphsClustersAndCooperativeLaunchesSaySo) {
  take(kernel(1));
  cuda::KernelRecord record = kernel(1);
  record.graph_node_id = (std::uint64_t{2} << 32) + 1;
  record.graph_id = 2;
  record.cluster_x = 2;
  record.cluster_y = record.cluster_z = 1;
  record.launch_type = cuda::launch_type::cooperative;
  take(record);
  TestDatabase& db = finish();
  EXPECT_EQ(db.list("SELECT extdata FROM rocpd_event ORDER BY id"),
            (Row{"{}",
                 "{\"cuda\": {\"graph_node\": 8589934593, \"graph\": 2, \"cluster\": [2, 1, 1], "
                 "\"cooperative\": true}}"}));
}

TEST_F(RecordConverter, StreamsOfTwoContextsAreApart) {
  cuda::ContextRecord context{};
  context.kind = ActivityKind::context;
  context.context_id = 1;
  context.null_stream_id = 7;
  take(kernel(1));
  take(context);  // after the stream was seen
  context.context_id = 2;
  take(context);  // before
  cuda::KernelRecord record = kernel(2);
  record.context_id = 2;
  record.device_id = 1;
  take(record);
  TestDatabase& db = finish();
  EXPECT_EQ(
      db.rows("SELECT id, name FROM rocpd_info_stream ORDER BY id"),
      (std::vector<Row>{{"7", "Default Stream"}, {"33554439", "Default Stream of context 2"}}));
  EXPECT_EQ(db.list("SELECT stream_id FROM rocpd_kernel_dispatch ORDER BY id"),
            (Row{"7", "33554439"}));
  EXPECT_EQ(db.list("SELECT agent_id FROM rocpd_kernel_dispatch ORDER BY id"), (Row{"1", "2"}));
}

TEST_F(RecordConverter, CopiesAndFills) {
  cuda::CopyRecord copy{};
  copy.kind = ActivityKind::copy;
  copy.start = 10;
  copy.end = 20;
  copy.bytes = 4096;
  for (const cuda::CopyKind kind : {cuda::CopyKind::host_to_device, cuda::CopyKind::device_to_host,
                                    cuda::CopyKind::device_to_device, cuda::CopyKind::host_to_host,
                                    cuda::CopyKind::array_to_host}) {
    copy.copy_kind = kind;
    take(copy);
  }
  cuda::PeerCopyRecord peer{};
  peer.kind = ActivityKind::peer_copy;
  peer.start = 10;
  peer.end = 20;
  peer.bytes = 1;
  peer.source_device_id = 1;
  take(peer);
  cuda::FillRecord fill{};
  fill.kind = ActivityKind::fill;
  fill.start = 10;
  fill.end = 20;
  fill.bytes = 2;
  take(fill);
  TestDatabase& db = finish();
  EXPECT_EQ(db.rows("SELECT name, src_agent_log_index, dst_agent_log_index, size "
                    "FROM memory_copies ORDER BY id"),
            (std::vector<Row>{{"MEMORY_COPY_HOST_TO_DEVICE", "0", "1", "4096"},
                              {"MEMORY_COPY_DEVICE_TO_HOST", "1", "0", "4096"},
                              {"MEMORY_COPY_DEVICE_TO_DEVICE", "1", "1", "4096"},
                              {"MEMORY_COPY_HOST_TO_HOST", "0", "0", "4096"},
                              {"MEMORY_COPY_DEVICE_TO_HOST", "1", "0", "4096"},
                              {"MEMORY_COPY_PEER_TO_PEER", "2", "1", "1"},
                              {"MEMORY_SET", "1", "1", "2"}}));
}

TEST_F(RecordConverter, WaitsNameTheRecordTheyWaitFor) {
  for (const std::uint32_t id : {1U, 2U, 3U, 4U}) take(call(id, 9));
  cuda::EventRecord event{};
  event.kind = ActivityKind::event;
  event.correlation_id = 1;
  event.context_id = 1;
  event.stream_id = 13;
  event.event_id = 4;
  event.event_sync_id = 77;
  take(event);
  cuda::SynchronizationRecord sync{};
  sync.kind = ActivityKind::synchronization;
  sync.context_id = 1;
  sync.event_id = 4;
  sync.event_sync_id = 77;
  sync.type = cuda::SynchronizationType::stream_wait_event;
  sync.correlation_id = 2;
  sync.stream_id = 14;
  take(sync);
  sync.type = cuda::SynchronizationType::event_synchronize;
  sync.correlation_id = 3;
  sync.stream_id = cuda::no_stream;
  take(sync);
  sync.type = cuda::SynchronizationType::stream_synchronize;
  sync.correlation_id = 4;
  sync.stream_id = 14;
  take(sync);
  TestDatabase& db = finish();
  EXPECT_EQ(db.rows("SELECT event_id, position, name, value FROM rocpd_arg ORDER BY 1, 2"),
            (std::vector<Row>{{"1", "0", "event_id", "4"},
                              {"1", "1", "record_id", "77"},
                              {"1", "2", "stream_id", "13"},
                              {"2", "0", "event_id", "4"},
                              {"2", "1", "record_id", "77"},
                              {"2", "2", "stream_id", "14"},
                              {"3", "0", "event_id", "4"},
                              {"3", "1", "record_id", "77"},
                              {"4", "0", "stream_id", "14"}}));
}

TEST_F(RecordConverter, CallsOfOursAndOfCuptiAreLeftOut) {
  converter_->ignore_thread(55);
  take(call(1, 55));
  cuda::ApiRecord driver = call(2, 9);
  driver.kind = ActivityKind::driver_call;
  driver.callback_id = kKernelGetName;
  take(driver);
  driver.callback_id = 243;
  driver.correlation_id = 3;
  driver.return_value = 2;
  take(driver);
  cuda::ApiRecord unknown = call(4, 9);
  unknown.callback_id = 99;
  take(unknown);
  TestDatabase& db = finish();
  EXPECT_EQ(
      db.rows("SELECT event_id, category, name, extdata FROM regions ORDER BY event_id"),
      (std::vector<Row>{{"3", "CUDA_DRIVER_API", "cuMemAlloc_v2", "{\"cuda\": {\"result\": 2}}"},
                        {"4", "CUDA_RUNTIME_API", "runtime call 99", "{}"}}));
}

TEST_F(RecordConverter, Allocations) {
  cuda::MemoryRecord memory{};
  memory.kind = ActivityKind::memory;
  memory.operation = cuda::MemoryOperation::allocation;
  memory.memory_kind = cuda::MemoryKind::device;
  memory.address = 0x1000;
  memory.bytes = 512;
  memory.timestamp = 33;
  memory.stream_id = cuda::no_stream;
  take(memory);
  memory.operation = cuda::MemoryOperation::release;
  take(memory);
  memory.operation = cuda::MemoryOperation::allocation;
  memory.memory_kind = cuda::MemoryKind::pinned;
  take(memory);
  memory.memory_kind = cuda::MemoryKind::managed;
  take(memory);
  memory.memory_kind = cuda::MemoryKind::device;
  memory.is_async = 1;
  memory.pool_address = 12;
  memory.stream_id = 13;
  take(memory);
  TestDatabase& db = finish();
  EXPECT_EQ(
      db.rows("SELECT m.type, m.level, m.agent_log_index, m.size, m.start, m.stream_id, "
              "e.extdata FROM memory_allocations m JOIN rocpd_memory_allocate a ON a.id = "
              "m.id JOIN rocpd_event e ON e.id = a.event_id ORDER BY m.id"),
      (std::vector<Row>{
          {"ALLOC", "REAL", "1", "512", "33", "NULL", "{}"},
          {"FREE", "REAL", "1", "0", "33", "NULL", "{}"},
          {"ALLOC", "REAL", "0", "512", "33", "NULL", "{\"cuda\": {\"memory\": \"pinned\"}}"},
          {"ALLOC", "VIRTUAL", "1", "512", "33", "NULL", "{\"cuda\": {\"memory\": \"managed\"}}"},
          {"ALLOC", "REAL", "1", "512", "33", "13", "{\"cuda\": {\"pool\": 12}}"}}));
}

TEST_F(RecordConverter, RangesAreJoinedByTheirIds) {
  cuda::MarkerRecord marker{};
  marker.kind = ActivityKind::marker;
  marker.flags = cuda::marker_flag::start;
  marker.timestamp = 100;
  marker.id = 1;
  marker.object_kind = cuda::ObjectKind::thread;
  marker.object.thread_or_context = 66;
  marker.name = "outer";
  take(marker);
  cuda::MarkerDataRecord data{};
  data.kind = ActivityKind::marker_data;
  data.id = 1;
  data.payload_kind = cuda::payload_kind::signed_integer;
  data.payload = static_cast<std::uint64_t>(-3);
  take(data);
  marker.id = 2;
  marker.name = "never ended";
  marker.object.thread_or_context = 67;
  take(marker);
  marker.id = 1;
  marker.object.thread_or_context = 66;
  marker.flags = cuda::marker_flag::end;
  marker.timestamp = 150;
  marker.name = nullptr;
  take(marker);
  take(marker);  // an end without a start
  marker.flags = cuda::marker_flag::instantaneous;
  marker.name = "mark";
  marker.domain = "mine";
  take(marker);
  TestDatabase& db = finish();
  EXPECT_EQ(db.rows("SELECT name, tid, start, end, extdata FROM regions"),
            (std::vector<Row>{{"nvtxRangePushA", "66", "100", "150",
                               "{\"message\": \"outer\", \"payload\": -3}"}}));
  EXPECT_EQ(db.rows("SELECT timestamp, extdata FROM samples"),
            (std::vector<Row>{{"150", "{\"message\": \"mark\", \"domain\": \"mine\"}"}}));
}

TEST_F(RecordConverter, WithoutItsCallAKernelHasNoThreadUntilTheCallComes) {
  take(kernel(5));
  take(kernel(6));
  EXPECT_EQ(converter_->totals().without_thread, 2);
  take(call(6, 77));
  EXPECT_EQ(converter_->totals().without_thread, 1);
  EXPECT_EQ(finish().rows("SELECT stack_id, tid FROM kernels ORDER BY stack_id"),
            (std::vector<Row>{{"5", "0"}, {"6", "77"}}));
  EXPECT_EQ(db_->text("SELECT name FROM rocpd_info_thread WHERE tid = 0"),
            "unknown: no record of the call");
}

TEST_F(RecordConverter, RangesThatCrossOthersOrThreadsAreNotPushed) {
  const auto mark = [&](bool begins, std::uint32_t id, std::uint64_t time, std::uint32_t thread,
                        const char* domain = nullptr) {
    cuda::MarkerRecord record{};
    record.kind = ActivityKind::marker;
    record.flags = begins ? cuda::marker_flag::start : cuda::marker_flag::end;
    record.timestamp = time;
    record.id = id;
    record.object_kind = cuda::ObjectKind::thread;
    record.object.thread_or_context = thread;
    const std::string text = "range " + std::to_string(id);
    record.name = begins ? text.c_str() : nullptr;
    record.domain = domain;
    take(record);
  };
  mark(true, 1, 100, 66);             // around all: a push
  mark(true, 2, 200, 66);             // ends inside of 3: cannot have been pushed
  mark(true, 3, 300, 66);             // nested
  mark(true, 4, 350, 66, "library");  // of another domain: has a stack of its own
  mark(false, 2, 400, 66);
  mark(false, 3, 500, 66);
  mark(true, 5, 550, 66);  // ends in another thread
  mark(false, 5, 600, 67);
  mark(false, 1, 700, 66);
  mark(false, 4, 800, 66, "library");
  EXPECT_EQ(finish().rows("SELECT start, name FROM regions ORDER BY start"),
            (std::vector<Row>{{"100", "nvtxRangePushA"},
                              {"200", "nvtxRangeStartA"},
                              {"300", "nvtxRangePushA"},
                              {"350", "nvtxRangePushA"},
                              {"550", "nvtxRangeStartA"}}));
}

TEST_F(RecordConverter, ALaunchThatWasSeenAsACall) {
  SeenLaunch launch{.kernel = "_Z4copyPf",
                    .context = 1,
                    .call = 5,
                    .tid = 77,
                    .grid = {4, 2, 1},
                    .block = {32, 1, 1},
                    .start = 2'000,
                    .end = 9'000};
  const std::int64_t first = converter_->launched(launch);
  launch.stream = 3;
  launch.call = 6;
  EXPECT_NE(converter_->launched(launch), first);
  TestDatabase& db = finish();
  EXPECT_EQ(db.rows("SELECT start, \"end\", tid, stream_id, grid_size_x, group_segment_size FROM "
                    "rocpd_kernel_dispatch WHERE event_id = " +
                    std::to_string(first)),
            (std::vector<Row>{{"2000", "9000", "77", "0", "128", "NULL"}}));
  // Registers and static shared memory are not known.
  EXPECT_EQ(db.rows("SELECT kernel_name, display_name, arch_vgpr_count, group_segment_size FROM "
                    "rocpd_info_kernel_symbol"),
            (std::vector<Row>{{"_Z4copyPf", "copy(float*)", "NULL", "NULL"}}));
  EXPECT_EQ(db.rows("SELECT id, name FROM rocpd_info_stream ORDER BY id"),
            (std::vector<Row>{{"0", "Default Stream"}, {"3", "Stream 3"}}));
}

TEST_F(RecordConverter, KindsThatNobodyAskedForAreCounted) {
  cuda::ContextRecord record{};
  record.kind = ActivityKind::overhead;
  take(record);
  EXPECT_EQ(converter_->totals().unknown_kinds, 1);
  finish();
}

}  // namespace
}  // namespace perflab::record
