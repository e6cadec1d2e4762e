// Every quirk, one function per kind of row. Comments say where each was seen or what it is for.
#include "support/quirks_trace.h"

#include <array>
#include <string>

#include "support/api_rows.h"
#include "support/rocpd_writer.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kStart = 5'000'000'000'000;
constexpr Id kNoSuchKernel = 9999;
constexpr Id kNoSuchAgent = 77;
constexpr const char* kHugeAddress = "18446744073709551615";  // above INT64_MAX: stored as TEXT

/// Hands out times: each piece of work starts after the one before.
class Clock {
 public:
  std::int64_t next(std::int64_t length) {
    const std::int64_t start = now_;
    now_ += length + 1'000;
    return start;
  }

 private:
  std::int64_t now_ = kStart;
};

/// Process `a`.
class OddProcess {
 public:
  OddProcess(RocpdFile& file, QuirkCounts& counts);
  void write();

 private:
  void describe();
  void odd_kernels();
  void launched_dispatches();
  void odd_dispatches();
  void unfinished_dispatches();
  void odd_links();
  void regions();
  void ordering_calls();
  void copies();
  void allocations();
  void counters();
  void markers();
  void rows_of_another_guid();
  Written dispatch(const DispatchRow& row);
  DispatchRow timed(std::int64_t length = 10'000);

  QuirkCounts& counts_;
  RocpdWriter writer_;
  Clock clock_;
  Id gpu_ = 0;
  Id user_kernel_ = 0;
};

WriterOptions odd_options() {
  WriterOptions options;
  options.guid = "0000005b-e625-7625-933c-00000000000a";
  options.strictness = Strictness::untyped;
  options.synthetic = "Synthetic: a collection of quirks for tests, not measured on a GPU";
  options.process.pid = 501;
  options.process.environment =
      std::string(R"({"PATH":"/usr/bin","API_TOKEN":")") + std::string(kSecret) + R"("})";
  return options;
}

OddProcess::OddProcess(RocpdFile& file, QuirkCounts& counts)
    : counts_(counts), writer_(file, odd_options()) {
  ++counts_.processes;
}

void OddProcess::write() {
  describe();
  odd_kernels();
  launched_dispatches();
  odd_dispatches();
  unfinished_dispatches();
  odd_links();
  regions();
  copies();
  allocations();
  counters();
  markers();
  ordering_calls();
  rows_of_another_guid();
}

void OddProcess::describe() {
  writer_.agent(host_agent());
  gpu_ = writer_.agent(mi300x_agent());
  AgentRow broken = mi300x_agent();
  broken.extdata = R"({"cu_count": 304, "num_xcc")";  // cut off: not JSON
  writer_.agent(broken);
  AgentRow odd = mi300x_agent();
  odd.extdata = R"({"cu_count":"many","simd_count":-4,"num_xcc":0,"wave_front_size":1e300})";
  writer_.agent(odd);
  for (int i = 0; i < 3; ++i) writer_.queue();
  for (int i = 0; i < 2; ++i) writer_.stream();
  writer_.code_object();
  writer_.code_object({.uri = "file:///app/odd#offset=16384&size=6592"});
  writer_.code_object({.agent = {},
                       .uri = "no uri at all",
                       .overrides = {{"load_base", kHugeAddress}, {"load_size", nullptr}}});
}

void OddProcess::odd_kernels() {
  user_kernel_ = writer_.kernel({.code_object = 2,
                                 .name = "_Z5saxpyPfPKffi",
                                 .display_name = "saxpy(float*, float const*, float, int)"});
  // A kernel of the user that looks like one of the runtime, and helpers that are the runtime's.
  writer_.kernel({.code_object = 2, .name = "hip_anything_goes"});
  writer_.kernel({.code_object = 1, .name = "__amd_rocclr_copyBuffer"});
  writer_.kernel({.code_object = 1, .name = "__amd_rocclr_fillBufferAligned"});
  // rocprofiler-systems leaves ".kd" on the display name.
  writer_.kernel({.code_object = 2, .name = "plain", .display_name = "plain.kd"});
  writer_.kernel({.code_object = 2, .name = "not utf-8 \xff\xfe\x80", .extdata = "{}"});
  writer_.kernel({.code_object = 2,
                  .name = "odd",
                  .display_name = "quote ' \" ` back\\slash <b>&amp;</b> \t\n\x1b[31m; DROP TABLE",
                  .extdata = "{}"});
  writer_.kernel({.code_object = 2,
                  .name = "null",
                  .overrides = {{"display_name", nullptr}, {"kernel_name", nullptr}}});
  writer_.kernel(
      {.code_object = 2, .name = "blob", .overrides = {{"display_name", Cell::Blob{"\x01\x02"}}}});
  writer_.kernel({.code_object = 99,  // no such code object
                  .name = "registers",
                  .overrides = {{"arch_vgpr_count", nullptr},
                                {"accum_vgpr_count", "4"},
                                {"sgpr_count", -1},
                                {"kernel_object", kHugeAddress},
                                {"extdata", nullptr}}});
}

DispatchRow OddProcess::timed(std::int64_t length) {
  const std::int64_t start = clock_.next(length);
  return {.kernel = user_kernel_, .start = start, .end = start + length, .agent = gpu_};
}

Written OddProcess::dispatch(const DispatchRow& row) {
  ++counts_.dispatches;
  return writer_.dispatch(row);
}

void OddProcess::launched_dispatches() {
  for (Id kernel = 1; kernel <= 10; ++kernel) {
    DispatchRow row = timed();
    row.kernel = kernel;
    writer_.launch({.start = row.start - 900, .end = row.start - 500}, row);
    ++counts_.dispatches;
    ++counts_.regions;
    ++counts_.launched;
  }
}

void OddProcess::odd_dispatches() {
  DispatchRow row = timed();
  row.queue = {};
  row.stream = {};
  dispatch(row);
  row = timed();
  row.queue = {};
  dispatch(row);
  counts_.null_queue_or_stream += 2;

  row = timed();  // numbers as TEXT
  row.overrides = {{"start", std::to_string(row.start)},
                   {"end", std::to_string(row.end)},
                   {"queue_id", "1"},
                   {"grid_size_x", "4096"}};
  dispatch(row);
  ++counts_.text_times;

  row = timed();  // numbers as REAL, as a spreadsheet or pandas would write them
  row.overrides = {{"start", static_cast<double>(row.start)},
                   {"end", static_cast<double>(row.end)}};
  dispatch(row);
  ++counts_.real_times;

  row = timed(0);
  dispatch(row);
  ++counts_.zero_length_dispatches;

  row = timed();
  row.kernel = kNoSuchKernel;
  dispatch(row);
  ++counts_.dispatches_without_symbol;

  row = timed();
  row.agent = kNoSuchAgent;
  dispatch(row);

  row = timed();  // what would divide by zero, overflow, or turn negative
  row.workgroup = {.x = 0, .y = 0, .z = 0};
  row.grid = {.x = 4'294'967'295, .y = 4'294'967'295, .z = 4'294'967'295};
  row.overrides = {{"group_segment_size", -1}, {"private_segment_size", nullptr}};
  dispatch(row);

  // Two kernels at once on one queue, and one inside the other.
  row = timed(50'000);
  dispatch(row);
  row.start += 10'000;
  row.end += 10'000;
  dispatch(row);
  row.end = row.start + 5'000;
  row.dispatch_id = 1;  // used before
  dispatch(row);
}

void OddProcess::unfinished_dispatches() {
  const std::array<std::pair<std::int64_t, std::int64_t>, 4> times = {
      {{0, 0}, {kStart, 0}, {0, kStart}, {kStart + 10, kStart}}};
  for (const auto& [start, end] : times) {
    dispatch({.kernel = user_kernel_, .start = start, .end = end, .agent = gpu_});
    ++counts_.unfinished_dispatches;
  }
}

void OddProcess::odd_links() {
  DispatchRow row = timed();
  row.event.link = EventLink::null;
  dispatch(row);
  row = timed();
  row.event.link = EventLink::dangling;
  dispatch(row);
  counts_.without_event += 2;

  // Stack id 0 means "none": this region and this dispatch do not belong together.
  row = timed();
  writer_.region({.name = "hipLaunchKernel", .start = row.start - 900, .end = row.start - 500});
  ++counts_.regions;
  dispatch(row);
  // One launch, two dispatches (a graph), and NULL in every column of the event.
  const Id stack = writer_.next_stack_id();
  writer_.region({.name = "hipGraphLaunch",
                  .start = clock_.next(500),
                  .end = clock_.next(500),
                  .event = {.stack_id = stack}});
  ++counts_.regions;
  for (int i = 0; i < 2; ++i) {
    row = timed();
    row.event.stack_id = stack;
    dispatch(row);
    ++counts_.launched;
  }
  row = timed();
  row.event.overrides = {{"stack_id", nullptr},
                         {"parent_stack_id", nullptr},
                         {"correlation_id", nullptr},
                         {"category_id", nullptr}};
  dispatch(row);
}

void OddProcess::regions() {
  // One call recorded in two categories of the same spelling, as rocprofiler-systems does.
  const std::int64_t start = clock_.next(1'000);
  writer_.region({.name = "hipMalloc", .start = start, .end = start + 1'000});
  writer_.duplicate_string("HIP_RUNTIME_API_EXT");
  writer_.region({.name = "hipMalloc",
                  .start = start,
                  .end = start + 1'000,
                  .event = {.category = "HIP_RUNTIME_API_EXT"}});
  writer_.region({.name = "hipFree", .start = start, .end = 0});
  writer_.region({.name = "hipDeviceSynchronize", .start = start + 5, .end = start});
  writer_.region({.name = "roctxThreadRangeA",
                  .start = start,
                  .end = start + 9'000,
                  .event = {.category = "MARKER_CORE_RANGE_API",
                            .extdata = R"({"message":"caf\u00e9 \"range\" <i>"})"}});
  writer_.region({.name = "named by nobody",
                  .start = start,
                  .end = start + 10,
                  .overrides = {{"name_id", 123456}, {"tid", nullptr}}});
  counts_.regions += 6;
  counts_.unfinished_regions += 2;
}

void OddProcess::ordering_calls() {
  const auto call = [&](RegionRow row) {
    const std::int64_t start = clock_.next(500);
    row.end = start + (row.end - row.start);
    row.start = start;
    writer_.region(row);
    ++counts_.regions;
  };
  DispatchRow work = timed();
  work.event.stack_id = writer_.next_stack_id();
  dispatch(work);
  ++counts_.launched;
  RegionRow launch = kernel_call(0, 100, 0x55b60f4979a0);
  launch.event.stack_id = work.event.stack_id;
  call(launch);
  call(roctx_range("step 1", 0, 400));
  call(event_record(0, 10, 0x55b60803cd30, 0x55b60f4979a0));
  call(stream_wait_event(0, 10, 0, 0x55b60803cd30));
  call(event_synchronize(0, 90, 0x55b60803cd30));
  call(stream_synchronize(0, 90, 0x55b60f4979a0));
  call(set_device(0, 1, 0));
  call(device_synchronize(0, 90));
  // No number, no value, one argument twice, and an argument of no event.
  call(api_call("hipStreamWaitEvent", 0, 10,
                {argument("ihipStream_t*", "stream", "0xnone"),
                 argument("ihipEvent_t*", "event", std::nullopt), event_argument(1),
                 event_argument(2), argument("ihipStream_t*", "stream", "(null)")}));
  writer_.raw_row(
      Table::arg,
      {{"event_id", 123456}, {"position", 0}, {"type", "int"}, {"name", "stream"}, {"value", "0"}});
  RegionRow broken = roctx_range("", 0, 400);
  broken.event.extdata = R"({"message":)";
  call(broken);
}

void OddProcess::copies() {
  const auto copy = [&](CopyRow row) {
    row.start = clock_.next(2'000);
    row.end = row.start + 2'000;
    writer_.copy(row);
    ++counts_.copies;
  };
  const Id stack = writer_.next_stack_id();
  const std::int64_t start = clock_.next(300);
  writer_.region(
      {.name = "hipMemcpyAsync", .start = start, .end = start + 300, .event = {.stack_id = stack}});
  ++counts_.regions;
  copy({.size = 4096, .event = {.stack_id = stack}});
  copy({.size = 0, .stream = {}});
  copy({.name = "MEMORY_COPY_DEVICE_TO_HOST",
        .size = 4096,
        .dst_agent = {},
        .src_agent = {},
        .overrides = {{"src_address", kHugeAddress}, {"dst_address", nullptr}}});
  copy({.name = "MEMORY_COPY_NONE", .size = 1, .overrides = {{"size", "65536"}}});
  copy({.name = "MEMORY_COPY_DEVICE_TO_DEVICE",
        .size = 1 << 20,
        .dst_agent = kNoSuchAgent,
        .event = {.link = EventLink::null}});
}

void OddProcess::allocations() {
  const auto allocate = [&](AllocationRow row) {
    row.start = clock_.next(700);
    row.end = row.start + 700;
    writer_.allocation(row);
    ++counts_.allocations;
  };
  allocate({.size = 1 << 20});
  allocate({.type = "FREE", .size = 0});
  allocate({.size = 4096, .agent = {}, .queue = {}, .stream = {}});
  allocate({.level = "VIRTUAL", .size = 1, .overrides = {{"address", kHugeAddress}}});
  allocate({.level = "SCRATCH", .size = 1, .overrides = {{"size", "65536"}, {"type", nullptr}}});
  allocate({.type = "MOVED", .level = "NOWHERE", .size = 7});
}

void OddProcess::counters() {
  const Id waves = writer_.counter({.name = "SQ_WAVES"});
  const Id busy = writer_.counter({.name = "GRBM_GUI_ACTIVE", .block = "GRBM"});
  const Id derived = writer_.counter(
      {.name = "VALUUtilization", .expression = "100*SQ_A/SQ_B", .is_derived = true});
  const Id zero = writer_.counter({.name = "TCC_HIT", .block = "TCC"});
  const Id kfd = writer_.counter({.id = 8'070'450'532'247'928'832,
                                  .agent = {},
                                  .target_arch = {},
                                  .name = "KFD_EVENT_PAGE_MIGRATE",
                                  .block = "KFD"});
  const Written measured = dispatch(timed());
  const std::array<double, 8> per_xcc = {128, 128, 130, 126, 128, 128, 127, 129};
  const std::array<double, 8> nothing = {};
  writer_.counter_values(measured.event, waves, per_xcc);
  writer_.counter_values(measured.event, busy, per_xcc);
  writer_.counter_values(measured.event, zero, nothing);
  writer_.counter_value(measured.event, derived, 87.5);
  counts_.counter_values += 25;
  // Values of no dispatch: of no event, of a counter that is not described, of the kernel driver.
  const Written other = writer_.region({.start = kStart, .end = kStart + 5});
  ++counts_.regions;
  writer_.counter_value(other.event, waves, 5);
  writer_.counter_value(0, waves, 5);
  writer_.counter_value(other.event, kfd, 1);
  counts_.counter_values += 3;
  counts_.stray_counter_values += 3;
  writer_.counter_value(measured.event, 424242, 5);
  writer_.raw_row(Table::pmc_event,
                  {{"event_id", measured.event}, {"pmc_id", waves}, {"value", nullptr}});
  writer_.raw_row(Table::pmc_event,
                  {{"event_id", measured.event}, {"pmc_id", waves}, {"value", "7.5"}});
  counts_.counter_values += 3;
}

void OddProcess::markers() {
  const Id track = writer_.track({.name = "roctx"});
  writer_.sample({.track = track,
                  .timestamp = clock_.next(1),
                  .event = {.extdata = R"({"message":"half way"})"}});
  writer_.sample({.track = 99, .timestamp = -1, .event = {.link = EventLink::null}});
}

void OddProcess::rows_of_another_guid() {
  NodeRow node;
  node.id = 884468037;
  ProcessRow process;
  process.pid = 502;
  process.environment = "not JSON: " + std::string(kSecret);
  writer_.rows_of("0000005b-e625-7625-933c-00000000000c", node, process);
  ++counts_.processes;
  gpu_ = writer_.agent(mi300x_agent());
  const Id queue = writer_.queue();
  const Id stream = writer_.stream();
  const Id code = writer_.code_object({.agent = gpu_});
  user_kernel_ = writer_.kernel({.code_object = code, .name = "of_another_guid"});
  DispatchRow row = timed();
  row.queue = queue;
  row.stream = stream;
  // Its kernel id is a row of the other guid: joined on the id alone it would get a wrong name.
  DispatchRow stranger = row;
  stranger.kernel = 1;
  writer_.launch({.start = row.start - 900, .end = row.start - 500}, row);
  dispatch(stranger);
  ++counts_.dispatches;
  ++counts_.regions;
  ++counts_.launched;
  ++counts_.dispatches_without_symbol;
}

/// Process `b`: what rocprofiler-systems writes (stack ids 0, bare agents, telemetry, no dashes).
void write_systems_process(RocpdFile& file, QuirkCounts& counts) {
  RocpdWriter writer(file, {.guid = "3224963d0bd2e790224c3b2186eb8bd0",
                            .schema_version = "3",
                            .missing_tables = {"memory_allocate", "arg"},
                            .metadata = {{"upid", "3224963d0bd2e790224c3b2186eb8bd0"}},
                            .node = {.id = 9162464413581981795},
                            .process = {.pid = 503, .start = 0, .end = 0}});
  ++counts.processes;
  writer.agent({.id = 1, .type = "CPU", .name = "AMD EPYC 9575F 64-Core Processor"});
  const Id gpu = writer.agent({.id = 3,
                               .uuid = 30112,
                               .name = "gfx950",
                               .model_name = "ip discovery",
                               .product_name = "AMD Instinct MI350X"});
  writer.queue({.name = "Queue 0"});
  writer.queue({.name = "Queue 1"});
  writer.stream({.name = "Stream 0"});
  writer.code_object({.agent = gpu, .storage_type = "MEMORY", .extdata = "{}"});
  const Id kernel = writer.kernel({.name = "_Z18bit_extract_kernelPjPKjm",
                                   .display_name = "bit_extract_kernel(unsigned int*, ...)",
                                   .extdata = "{}"});
  writer.region({.start = kStart, .end = kStart + 9, .event = {.category = "rocm_hip_api"}});
  writer.region({.start = kStart, .end = kStart + 9, .event = {.category = "rocm_marker_api"}});
  writer.dispatch({.kernel = kernel, .start = kStart, .end = kStart + 10'920, .agent = gpu});
  writer.allocation({.start = kStart, .end = kStart + 1, .size = 1});  // dropped: no such table
  counts.regions += 2;
  ++counts.dispatches;
  const Id track = writer.track({.name = "device_busy_gfx [0]"});
  const Id other_track = writer.track({.name = "device_temp [0]"});
  const Id busy =
      writer.counter({.id = 1, .agent = gpu, .name = "device_busy_gfx", .units = "%", .block = ""});
  const Written sample =
      writer.sample({.track = track, .timestamp = kStart, .event = {.category = "timer_sampling"}});
  writer.sample({.track = other_track,
                 .timestamp = kStart,
                 .event = {.link = EventLink::existing, .existing = sample.event}});
  writer.counter_value(sample.event, busy, 51);
  ++counts.counter_values;
  ++counts.stray_counter_values;
}

}  // namespace

Result<QuirkCounts> write_quirks(const std::filesystem::path& path) {
  QuirkCounts counts;
  RocpdFile file(path, {.views = Views::lying, .append = false});
  OddProcess(file, counts).write();
  write_systems_process(file, counts);
  PERFLAB_TRY_VOID(file.close());
  return counts;
}

}  // namespace perflab::test
