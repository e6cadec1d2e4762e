// A simulated host thread launches kernels; every queue runs its kernels one after another. Like
// rocprofv3, which empties one buffer per kind at the end, rows go out kind by kind (regions, then
// dispatches, then copies). The simulation is run once per kind instead of being remembered, so
// that memory does not grow with the trace.
#include "support/big_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "support/api_rows.h"
#include "support/prng.h"
#include "support/rocpd_writer.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kClockStart = 5'000'000'000'000;
constexpr std::int64_t kMaxHostLead = 2'000'000;  // ns of queued work at which the host waits
constexpr int kRuntimeKernels = 2;
constexpr std::int64_t kRuntimeEvery = 512;  // one dispatch in so many is a runtime helper
constexpr int kXccs = 8;
constexpr Handle kFirstStream = 0x55b6'0f49'7900;  // streams but the default one, 0x100 apart
constexpr Handle kFirstEvent = 0x55b6'1080'0000;   // events, used in turn
constexpr std::int64_t kEvents = 64;
constexpr std::int64_t kStreamSyncEvery = 1'000;  // launches
constexpr std::int64_t kEventSyncEvery = 3'000;
constexpr std::int64_t kDeviceSyncEvery = 10'000;
constexpr std::int64_t kPassTime = 10'000'000'000'000;  // ns from one pass to the next

/// Which rows one run of the simulation writes.
enum class Kind { regions, dispatches, copies };

/// What a kernel is like, drawn once per kernel.
struct KernelShape {
  Id id = 0;
  std::int64_t duration = 0;  ///< ns, typical
  Extent workgroup;
  Extent grid;
  std::int64_t lds = 0;

  [[nodiscard]] std::int64_t waves() const { return grid.x * grid.y * grid.z / 64; }
};

/// A counter of BigTraceOptions::counted.
struct Counted {
  Id id = 0;
  std::int64_t per_wave = 0;  ///< over the whole GPU
  bool cycles = false;        ///< counts the time instead
  bool reduced = false;       ///< comes as one row
};

/// What a counter counts per wave: figures made of these stay possible (parts below wholes, 64
/// lanes, waves as launched).
std::int64_t per_wave(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> kOthers = {
      {{"SQ_WAVES_LT_64", 0},
       {"SQ_WAVES", 1},
       {"_32B", 1},
       {"BUBBLE", 1},
       {"CONFLICT", 1},
       {"SQ_THREAD_CYCLES_VALU", 512},
       {"TCP_TOTAL_CACHE_ACCESSES", 64}}};
  for (const auto& [part, many] : kOthers)
    if (name.contains(part)) return many;
  return 8;
}

Counted counted(Id id, std::string_view name) {
  return {.id = id,
          .per_wave = per_wave(name),
          .cycles = name.starts_with("GRBM_"),
          .reduced = std::ranges::any_of(name, [](char c) { return c >= 'a' && c <= 'z'; })};
}

/// The handle of a stream; the first is the default stream.
Handle stream_handle(std::size_t stream) {
  return stream == 0 ? 0 : kFirstStream + 0x100 * stream;
}

/// One process: its tables, its kernels, and the simulated run.
class ProcessTrace {
 public:
  ProcessTrace(RocpdFile& file, const BigTraceOptions& options, int process);

  void run(BigTraceResult& result) {
    if (options_.launches) simulate(Kind::regions);
    simulate(Kind::dispatches);
    simulate(Kind::copies);
    writer_.file().execute(fmt::format("UPDATE `{0}` SET fini = {1}, end = {1}",
                                       physical_name(Table::info_process, writer_.options().guid),
                                       host_));
    result.dispatches += count_;
    result.regions += regions_written_;
    result.copies += copies_written_;
    result.counter_values += values_written_;
  }

 private:
  void describe_machine();
  void make_kernels();
  void simulate(Kind kind);
  void one_launch(Kind kind, std::int64_t index);
  void one_copy(Kind kind);
  void wait_if_far_ahead(Kind kind, std::size_t queue);
  void order_streams(Kind kind, std::int64_t index);
  void record_and_wait(Kind kind);
  void synchronize(Kind kind, RegionRow call, std::int64_t work_end);
  void call_done(Kind kind, RegionRow call);
  [[nodiscard]] bool with_events() const { return options_.events_every > 0; }
  /// When the stream's work is done, and what it waits for behind it.
  [[nodiscard]] std::int64_t stream_end(std::size_t stream) const {
    return std::max(queue_end_[stream], wait_end_[stream]);
  }
  void write_region(const std::string& name, std::int64_t start, std::int64_t end, bool launch,
                    std::size_t stream);
  void write_dispatch(const KernelShape& kernel, std::size_t queue, std::int64_t start,
                      std::int64_t end);
  void write_counters(Id event, std::int64_t duration);
  void write_counted(Id event, std::int64_t waves, std::int64_t duration);

  const BigTraceOptions& options_;
  std::uint64_t seed_;
  std::int64_t count_;
  RocpdWriter writer_;
  Id streams_ = 0;
  std::vector<KernelShape> kernels_;
  std::array<Id, 2> counters_{};
  std::vector<Counted> counted_;
  std::int64_t clock_start_;
  // Rows that are changed and written again and again: no allocation per row.
  RegionRow region_;
  DispatchRow dispatch_;
  CopyRow copy_;
  // State of the running simulation.
  Prng prng_{0};
  std::int64_t host_ = 0;                ///< time of the host thread
  std::vector<std::int64_t> queue_end_;  ///< when each queue is free
  std::vector<std::int64_t> wait_end_;   ///< when what each stream waits for is done; 0: nothing
  std::int64_t event_end_ = 0;           ///< when the latest event is done
  Handle event_ = 0;                     ///< the latest event
  std::int64_t events_written_ = 0;
  std::int64_t copy_end_ = 0;
  Id stack_id_ = 0;
  std::int64_t regions_written_ = 0;
  std::int64_t copies_written_ = 0;
  std::int64_t values_written_ = 0;
};

WriterOptions writer_options(const BigTraceOptions& options, int process) {
  WriterOptions made;
  made.guid = fmt::format("{:08x}-{:04x}-7000-{:04x}-{:012x}", 0x10000 + process, process,
                          0x8000 + options.pass, options.seed & 0xffffffffffff);
  made.schema_version = options.schema_version;
  made.synthetic = "Synthetic benchmark trace made by make-rocpd: nothing in it was measured.";
  made.process.pid = 10'000 + 1'000 * options.pass + process;
  made.process.ppid = 9'999;
  made.process.start = kClockStart + kPassTime * options.pass;
  made.process.end = made.process.start;
  made.process.command = fmt::format("/app/synthetic --rank {}", process);
  return made;
}

ProcessTrace::ProcessTrace(RocpdFile& file, const BigTraceOptions& options, int process)
    : options_(options),
      seed_(options.seed * 1000 + static_cast<std::uint64_t>(process)),
      count_(options.dispatches / options.processes +
             (process < options.dispatches % options.processes ? 1 : 0)),
      writer_(file, writer_options(options, process)),
      streams_(options.streams > 0 ? options.streams : options.queues),
      clock_start_(writer_.options().process.start) {
  describe_machine();
  make_kernels();
}

void ProcessTrace::describe_machine() {
  writer_.agent(host_agent());
  writer_.agent(mi300x_agent());
  writer_.queue();  // "Default Queue" has no work of its own
  for (int i = 0; i < options_.queues; ++i) writer_.queue();
  for (Id i = 0; i < streams_; ++i) writer_.stream();
  for (const std::string& name : options_.listed.empty() ? options_.counted : options_.listed) {
    const bool derived = counted(0, name).reduced;
    const Id id =
        writer_.counter({.name = name,
                         .block = derived ? std::string() : name.substr(0, name.find('_')),
                         .is_derived = derived});
    if (std::ranges::find(options_.counted, name) != options_.counted.end())
      counted_.push_back(counted(id, name));
  }
  if (!options_.counters) return;
  counters_ = {writer_.counter({.name = "GRBM_COUNT", .block = "GRBM"}),
               writer_.counter({.name = "GRBM_GUI_ACTIVE", .block = "GRBM"})};
}

void ProcessTrace::make_kernels() {
  Prng prng(seed_ ^ 0x6b65726e656c73);
  writer_.code_object();
  writer_.code_object({.uri = "file:///app/synthetic#offset=16384&size=65536"});
  for (const char* name : {"__amd_rocclr_fillBufferAligned", "__amd_rocclr_copyBuffer"})
    kernels_.push_back({.id = writer_.kernel({.code_object = 1, .name = name}),
                        .duration = 2'500,
                        .workgroup = {.x = 256},
                        .grid = {.x = 65'536},
                        .lds = 0});
  for (int i = 0; i < options_.kernels; ++i) {
    // Long-tailed durations: most kernels take a few us, a few take a hundred times as long.
    const std::int64_t typical = 1'500 + prng.below(20'000) * (1 + prng.below(40) * prng.below(3));
    const std::int64_t waves = 1 + prng.below(4);
    KernelShape shape{.id = 0,
                      .duration = typical,
                      .workgroup = {.x = 64 * waves},
                      .grid = {.x = 64 * waves * (1 + prng.below(4096)), .y = 1 + prng.below(4)},
                      .lds = 1024 * prng.below(33)};
    shape.id = writer_.kernel(
        {.code_object = 2,
         .name = fmt::format("_Z8stage_{:03}ILi{}EEvPfPKfi", i, i % 7),
         .display_name = fmt::format("void stage_{:03}<{}>(float*, float const*, int)", i, i % 7),
         .group_segment_size = shape.lds,
         .sgpr_count = 16 * (1 + prng.below(7)),
         .arch_vgpr_count = 8 * (1 + prng.below(16)),
         .accum_vgpr_count = 8 * prng.below(4)});
    kernels_.push_back(shape);
  }
}

void ProcessTrace::simulate(Kind kind) {
  prng_ = Prng(seed_);
  host_ = clock_start_ + 1'000'000;
  queue_end_.assign(static_cast<std::size_t>(options_.queues), host_);
  wait_end_.assign(static_cast<std::size_t>(options_.queues), 0);
  event_end_ = 0;
  event_ = 0;
  events_written_ = 0;
  copy_end_ = host_;
  stack_id_ = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    one_launch(kind, i);
    if (with_events()) order_streams(kind, i + 1);
    if (options_.copies_every > 0 && (i + 1) % options_.copies_every == 0) one_copy(kind);
  }
}

void ProcessTrace::one_launch(Kind kind, std::int64_t index) {
  const auto queue = static_cast<std::size_t>(prng_.below(options_.queues));
  wait_if_far_ahead(kind, queue);
  // The smaller of two draws: low numbers are the hot kernels.
  const std::int64_t draw = std::min(prng_.below(options_.kernels), prng_.below(options_.kernels));
  const bool helper = index % kRuntimeEvery == kRuntimeEvery - 1;
  const KernelShape& kernel = kernels_[static_cast<std::size_t>(
      helper ? index / kRuntimeEvery % kRuntimeKernels : kRuntimeKernels + draw)];
  const std::int64_t call_end = host_ + prng_.spread(3'000, 500);
  std::int64_t start =
      std::max(call_end + prng_.spread(4'000, 250), queue_end_[queue] + prng_.spread(800, 500));
  if (with_events()) start = std::max(start, wait_end_[queue] + prng_.spread(1'500, 500));
  const std::int64_t end = start + prng_.spread(kernel.duration, 30);
  ++stack_id_;
  if (kind == Kind::regions) write_region("hipLaunchKernel", host_, call_end, true, queue);
  if (kind == Kind::dispatches) write_dispatch(kernel, queue, start, end);
  queue_end_[queue] = end;
  host_ = call_end + prng_.spread(1'200, 500);
}

void ProcessTrace::wait_if_far_ahead(Kind kind, std::size_t queue) {
  if (stream_end(queue) - host_ < kMaxHostLead) return;
  ++stack_id_;
  const std::int64_t end = stream_end(queue) + 5'000;
  if (kind == Kind::regions) write_region("hipStreamSynchronize", host_, end, false, queue);
  host_ = end + 1'000;
}

void ProcessTrace::order_streams(Kind kind, std::int64_t index) {
  if (index % options_.events_every == 0) record_and_wait(kind);
  if (index % kDeviceSyncEvery == 0) {
    synchronize(kind, device_synchronize(0, 0), std::ranges::max(queue_end_));
  } else if (index % kEventSyncEvery == 0 && event_ != 0) {
    synchronize(kind, event_synchronize(0, 0, event_), event_end_);
  } else if (index % kStreamSyncEvery == 0) {
    const auto stream = static_cast<std::size_t>(prng_.below(options_.queues));
    synchronize(kind, stream_synchronize(0, 0, stream_handle(stream)), stream_end(stream));
  }
}

void ProcessTrace::record_and_wait(Kind kind) {
  const auto recorded = static_cast<std::size_t>(prng_.below(options_.queues));
  const auto waiting = static_cast<std::size_t>(prng_.below(options_.queues));
  event_ = kFirstEvent + 0x100 * static_cast<Handle>(events_written_++ % kEvents);
  event_end_ = stream_end(recorded);
  call_done(kind,
            event_record(host_, host_ + prng_.spread(900, 400), event_, stream_handle(recorded)));
  if (waiting == recorded) return;
  wait_end_[waiting] = std::max(wait_end_[waiting], event_end_);
  call_done(kind, stream_wait_event(host_, host_ + prng_.spread(700, 400), stream_handle(waiting),
                                    event_));
}

void ProcessTrace::synchronize(Kind kind, RegionRow call, std::int64_t work_end) {
  call.start = host_;
  call.end = std::max(host_ + prng_.spread(1'500, 300), work_end + prng_.spread(5'000, 300));
  call_done(kind, std::move(call));
}

void ProcessTrace::call_done(Kind kind, RegionRow call) {
  call.event.stack_id = ++stack_id_;
  host_ = call.end + 300;
  if (kind != Kind::regions) return;
  writer_.region(call);
  ++regions_written_;
}

void ProcessTrace::one_copy(Kind kind) {
  const bool to_device = prng_.below(2) == 0;
  const std::int64_t size = std::int64_t{4096} << prng_.below(12);
  const std::int64_t call_end = host_ + prng_.spread(6'000, 300);
  ++stack_id_;
  const auto stream = static_cast<std::size_t>(stack_id_ % streams_);
  std::int64_t start = std::max(call_end + 3'000, copy_end_);
  if (with_events()) start = std::max(start, stream_end(stream));
  copy_end_ = start + 6'000 + size / 50;  // 50 GB/s over the bus
  if (with_events()) queue_end_[stream] = copy_end_;
  if (kind == Kind::regions) write_region("hipMemcpyAsync", host_, call_end, false, stream);
  if (kind == Kind::copies) {
    copy_.name = to_device ? "MEMORY_COPY_HOST_TO_DEVICE" : "MEMORY_COPY_DEVICE_TO_HOST";
    copy_.dst_agent = to_device ? 1 : 0;
    copy_.src_agent = to_device ? 0 : 1;
    copy_.start = start;
    copy_.end = copy_end_;
    copy_.size = size;
    copy_.stream = static_cast<Id>(stream);
    copy_.event.stack_id = stack_id_;
    writer_.copy(copy_);
    ++copies_written_;
  }
  host_ = call_end + 1'000;
}

void ProcessTrace::write_region(const std::string& name, std::int64_t start, std::int64_t end,
                                bool launch, std::size_t stream) {
  region_.name = name;
  region_.start = start;
  region_.end = end;
  region_.event.stack_id = stack_id_;
  region_.arguments.clear();
  if (with_events() && !(launch && options_.arguments))
    region_.arguments = {stream_argument(stream_handle(stream))};
  if (launch && options_.arguments)
    region_.arguments = {argument("void const*", "function_address", "0x55b5fb73cd78"),
                         argument("rocprofiler_dim3_t", "numBlocks", "{z=1, y=1, x=256}"),
                         argument("rocprofiler_dim3_t", "dimBlocks", "{z=1, y=1, x=256}"),
                         argument("void**", "args", "0x7ffcdf0102c0"),
                         argument("unsigned long", "sharedMemBytes", "0"),
                         with_events() ? stream_argument(stream_handle(stream))
                                       : argument("ihipStream_t*", "stream", "0x55b60f4979a0")};
  writer_.region(region_);
  ++regions_written_;
}

void ProcessTrace::write_dispatch(const KernelShape& kernel, std::size_t queue, std::int64_t start,
                                  std::int64_t end) {
  dispatch_.kernel = kernel.id;
  dispatch_.start = start;
  dispatch_.end = end;
  dispatch_.queue = static_cast<Id>(queue) + 1;
  dispatch_.stream = static_cast<Id>(queue) % streams_;
  dispatch_.workgroup = kernel.workgroup;
  dispatch_.grid = kernel.grid;
  dispatch_.group_segment_size = kernel.lds;
  dispatch_.event.stack_id = stack_id_;
  const Written written = writer_.dispatch(dispatch_);
  if (options_.counters) write_counters(written.event, end - start);
  write_counted(written.event, kernel.waves(), end - start);
}

void ProcessTrace::write_counters(Id event, std::int64_t duration) {
  const std::int64_t cycles = duration * 21 / 10;  // 2100 MHz
  for (const Id counter : counters_)
    for (int xcc = 0; xcc < kXccs; ++xcc) {
      const std::int64_t busy = counter == counters_[0] ? cycles : cycles * (90 + xcc) / 100;
      writer_.counter_value(event, counter, static_cast<double>(busy));
      ++values_written_;
    }
}

void ProcessTrace::write_counted(Id event, std::int64_t waves, std::int64_t duration) {
  for (const Counted& counter : counted_) {
    const std::int64_t total = counter.cycles ? duration * 21 / 10 * kXccs  // 2100 MHz
                                              : counter.per_wave * waves;
    const int rows = counter.reduced ? 1 : kXccs;
    for (int row = 0; row < rows; ++row) {
      const std::int64_t part = total / rows + (row < total % rows ? 1 : 0);
      writer_.counter_value(event, counter.id, static_cast<double>(part));
      ++values_written_;
    }
  }
}

std::filesystem::path numbered(const std::filesystem::path& path, int number) {
  std::string stem = path.string();
  if (stem.ends_with(".db")) stem.resize(stem.size() - 3);
  return fmt::format("{}.{}.db", stem, number);
}

}  // namespace

Result<BigTraceResult> write_big_trace(const std::filesystem::path& path,
                                       const BigTraceOptions& options) {
  PERFLAB_CHECK(
      options.dispatches >= 0 && options.queues > 0 && options.processes > 0 &&
      options.kernels > 0 && options.events_every >= 0 &&
      (options.events_every == 0 || options.streams == 0 || options.streams == options.queues));
  BigTraceResult result;
  const FileOptions file_options{.views = options.views, .append = false};
  if (options.one_file) {
    RocpdFile file(path, file_options);
    for (int process = 0; process < options.processes; ++process)
      ProcessTrace(file, options, process).run(result);
    PERFLAB_TRY_VOID(file.close());
    result.files.push_back(path);
    return result;
  }
  for (int process = 0; process < options.processes; ++process) {
    RocpdFile file(numbered(path, process + 1), file_options);
    ProcessTrace(file, options, process).run(result);
    PERFLAB_TRY_VOID(file.close());
    result.files.push_back(file.path());
  }
  return result;
}

}  // namespace perflab::test
