// Plays the program of a trace description. One host thread makes calls one after another and runs
// ahead of the GPU; each stream does its work in order; `wait` makes a stream wait for an event of
// another, `synchronize` makes the host wait for a stream. What happened is kept in memory and
// written kind by kind at the end, as rocprofv3 does. Whole-number arithmetic throughout.
#include "support/described_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text/json.h"
#include "support/prng.h"

namespace perflab::test {
namespace {

constexpr std::int64_t kDeviceHeap = 0x7f0000000000;  // where made-up device addresses start
constexpr std::int64_t kHostHeap = 0x55b620000000;
constexpr std::int64_t kPage = 2'097'152;

std::string dim3_text(const Extent& extent) {
  return fmt::format("{{z={}, y={}, x={}}}", extent.z, extent.y, extent.x);
}

Extent grid_of(const DescribedKernel& kernel) {
  return {.x = kernel.groups.x * kernel.workgroup.x,
          .y = kernel.groups.y * kernel.workgroup.y,
          .z = kernel.groups.z * kernel.workgroup.z};
}

/// What one GPU stream has been given so far.
struct StreamState {
  std::int64_t busy_until = 0;
  std::int64_t ready_after = 0;  ///< end of an event that the next work waits for
};

class Player {
 public:
  explicit Player(const TraceDescription& description)
      : description_(description),
        prng_(description.seed),
        host_(description.clock_start),
        streams_(description.streams.size()) {}

  DescribedRecording play() {
    run(description_.program);
    recording_.end = host_;
    return std::move(recording_);
  }

 private:
  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps) run(step);
  }

  void run(const Step& step) {
    switch (step.kind) {
      case Step::Kind::launch:
        launch(description_.kernels.at(step.name), step.stream);
        return;
      case Step::Kind::repeat:
        for (std::int64_t i = 0; i < step.value; ++i) run(step.body);
        return;
      case Step::Kind::range:
        range(step);
        return;
      case Step::Kind::copy:
        copy(step);
        return;
      case Step::Kind::record:
        record(step);
        return;
      case Step::Kind::wait:
        wait(step);
        return;
      case Step::Kind::synchronize:
        synchronize(step.stream);
        return;
      case Step::Kind::allocate:
        allocate(step);
        return;
      case Step::Kind::host:
        host_ += jitter(step.value);
        return;
    }
  }

  std::int64_t jitter(std::int64_t time) {
    return prng_.spread(time, description_.timing.jitter_permille);
  }

  /// A kernel's or copy's duration: spread, and once in a while clearly longer.
  std::int64_t duration(std::int64_t typical) {
    const DescribedTiming& timing = description_.timing;
    const bool slow = timing.tail_every > 0 && prng_.below(timing.tail_every) == 0;
    return jitter(slow ? typical + typical * timing.tail_permille / 1000 : typical);
  }

  /// Adds the region of a host call that takes `length` and lets the host go on after it.
  /// Returns its stack id.
  Id call(std::string name, std::int64_t length, std::vector<ArgumentRow> arguments) {
    const Id stack = ++last_stack_id_;
    recording_.regions.push_back({.name = std::move(name),
                                  .start = host_,
                                  .end = host_ + length,
                                  .event = {.stack_id = stack},
                                  .arguments = std::move(arguments)});
    call_end_ = host_ + length;
    host_ = call_end_ + jitter(description_.timing.between_calls);
    return stack;
  }

  /// When work that was just given to the stream starts.
  std::int64_t start_on(const StreamState& stream) {
    const DescribedTiming& timing = description_.timing;
    const std::int64_t earliest = call_end_ + jitter(timing.start);
    const std::int64_t after = std::max(stream.busy_until, stream.ready_after);
    return std::max(earliest, after + jitter(timing.kernel_gap));
  }

  void launch(const DescribedKernel& kernel, std::size_t stream_index) {
    StreamState& stream = streams_[stream_index];
    const Id stack = call(kernel.api, jitter(description_.timing.call),
                          launch_arguments(kernel, handle(stream_index)));
    const std::int64_t start = start_on(stream);
    stream.busy_until = start + duration(kernel.duration);
    recording_.dispatches.push_back({.kernel = kernel.id,
                                     .start = start,
                                     .end = stream.busy_until,
                                     .agent = description_.gpu,
                                     .queue = description_.streams[stream_index].queue_id,
                                     .stream = static_cast<Id>(stream_index),
                                     .workgroup = kernel.workgroup,
                                     .grid = grid_of(kernel),
                                     .group_segment_size = kernel.lds,
                                     .private_segment_size = kernel.scratch,
                                     .event = {.stack_id = stack}});
  }

  static std::vector<ArgumentRow> launch_arguments(const DescribedKernel& kernel,
                                                   const std::string& stream) {
    const std::string function = fmt::format("0x55b5fb{:06x}", 64 * kernel.id);
    const std::string lds = "0";  // dynamic; the kernels' LDS is static
    if (kernel.api == "hipLaunchKernel")
      return {argument("void const*", "function_address", function),
              argument("rocprofiler_dim3_t", "numBlocks", dim3_text(kernel.groups)),
              argument("rocprofiler_dim3_t", "dimBlocks", dim3_text(kernel.workgroup)),
              argument("void**", "args", "0x7ffcdf0102c0"),
              argument("unsigned long", "sharedMemBytes", lds),
              argument("ihipStream_t*", "stream", stream)};
    if (kernel.api == "hipModuleLaunchKernel" || kernel.api == "hipExtModuleLaunchKernel") {
      // The module call counts blocks, the ext call counts work-items.
      const bool ext = kernel.api == "hipExtModuleLaunchKernel";
      const Extent size = ext ? grid_of(kernel) : kernel.groups;
      const std::string prefix = ext ? "globalWorkSize" : "gridDim";
      const std::string local = ext ? "localWorkSize" : "blockDim";
      return {argument("ihipModuleSymbol_t*", "f", function),
              argument("unsigned int", prefix + "X", std::to_string(size.x)),
              argument("unsigned int", prefix + "Y", std::to_string(size.y)),
              argument("unsigned int", prefix + "Z", std::to_string(size.z)),
              argument("unsigned int", local + "X", std::to_string(kernel.workgroup.x)),
              argument("unsigned int", local + "Y", std::to_string(kernel.workgroup.y)),
              argument("unsigned int", local + "Z", std::to_string(kernel.workgroup.z)),
              argument("unsigned int", "sharedMemBytes", lds),
              argument("ihipStream_t*", ext ? "hStream" : "stream", stream)};
    }
    return {argument("ihipStream_t*", "stream", stream)};
  }

  void range(const Step& step) {
    // A range is written when it is left, and its stack id is that of its beginning.
    const Id stack = ++last_stack_id_;
    const std::int64_t start = host_;
    run(step.body);
    recording_.regions.push_back({.name = "roctxThreadRangeA",
                                  .start = start,
                                  .end = host_,
                                  .event = {.category = "MARKER_CORE_RANGE_API",
                                            .stack_id = stack,
                                            .extdata = Json{{"message", step.name}}.dump()},
                                  .arguments = {argument("char const*", "message", step.name)}});
  }

  void copy(const Step& step) {
    const CopyRate& rate = description_.copies.at(step.name);
    const bool to_device = step.name == "HOST_TO_DEVICE";
    const std::int64_t device = kDeviceHeap;
    const std::int64_t host = kHostHeap;
    StreamState& stream = streams_[step.stream];
    const Id stack =
        call("hipMemcpyAsync", 2 * jitter(description_.timing.call),
             {argument("void*", "dst", fmt::format("{:#x}", to_device ? device : host)),
              argument("void const*", "src", fmt::format("{:#x}", to_device ? host : device)),
              argument("unsigned long", "sizeBytes", std::to_string(step.value)),
              argument("hipMemcpyKind", "kind", to_device ? "HostToDevice" : "DeviceToHost"),
              argument("ihipStream_t*", "stream", handle(step.stream))});
    const std::int64_t start = start_on(stream);
    const auto transfer =
        static_cast<std::int64_t>(static_cast<double>(step.value) / rate.gb_per_s);
    stream.busy_until = start + duration(rate.fixed + transfer);
    recording_.copies.push_back({.name = "MEMORY_COPY_" + step.name,
                                 .start = start,
                                 .end = stream.busy_until,
                                 .size = step.value,
                                 .dst_agent = to_device ? description_.gpu : 0,
                                 .src_agent = to_device ? 0 : description_.gpu,
                                 .dst_address = to_device ? device : host,
                                 .src_address = to_device ? host : device,
                                 .stream = static_cast<Id>(step.stream),
                                 .event = {.stack_id = stack}});
  }

  void record(const Step& step) {
    events_[step.name] = streams_[step.stream].busy_until;
    call("hipEventRecord", jitter(900),
         {argument("ihipEvent_t*", "event", event_handle(step.name)),
          argument("ihipStream_t*", "stream", handle(step.stream))});
  }

  void wait(const Step& step) {
    StreamState& stream = streams_[step.stream];
    stream.ready_after = std::max(stream.ready_after, events_[step.name]);
    call("hipStreamWaitEvent", jitter(800),
         {argument("ihipStream_t*", "stream", handle(step.stream)),
          argument("ihipEvent_t*", "event", event_handle(step.name)),
          argument("unsigned int", "flags", "0")});
  }

  void synchronize(std::size_t stream) {
    const std::int64_t done = streams_[stream].busy_until + jitter(description_.timing.wake);
    call("hipStreamSynchronize", std::max(jitter(1'000), done - host_),
         {argument("ihipStream_t*", "stream", handle(stream))});
  }

  void allocate(const Step& step) {
    const bool on_device = step.name == "hipMalloc";
    std::int64_t& heap = on_device ? device_top_ : host_top_;
    const std::int64_t address = heap;
    heap += (step.value + kPage - 1) / kPage * kPage;
    const std::int64_t begin = host_;
    const std::int64_t length = jitter(38'000);
    const Id stack = call(step.name, length,
                          {argument("void**", "ptr", "0x7ffcdf010300"),
                           argument("unsigned long", "size", std::to_string(step.value))});
    recording_.allocations.push_back({.start = begin + 2'000,
                                      .end = begin + length - 1'500,
                                      .address = address,
                                      .size = step.value,
                                      .agent = step.agent,
                                      .event = {.stack_id = stack, .parent_stack_id = 0}});
  }

  [[nodiscard]] std::string handle(std::size_t stream) const {
    return description_.streams[stream].handle;
  }

  std::string event_handle(const std::string& name) {
    const auto [at, added] = event_numbers_.try_emplace(name, event_numbers_.size());
    return fmt::format("0x55b61087{:04x}", 0x6c50 + 0x100 * at->second);
  }

  const TraceDescription& description_;
  Prng prng_;
  std::int64_t host_;          ///< time of the host thread
  std::int64_t call_end_ = 0;  ///< when the last call returned
  Id last_stack_id_ = 0;
  std::vector<StreamState> streams_;
  std::map<std::string, std::int64_t> events_;
  std::map<std::string, std::size_t> event_numbers_;
  std::int64_t device_top_ = kDeviceHeap;
  std::int64_t host_top_ = kHostHeap;
  DescribedRecording recording_;
};

}  // namespace

DescribedRecording play(const TraceDescription& description) {
  return Player(description).play();
}

WriterOptions options_of(const TraceDescription& description, std::int64_t end) {
  return {.guid = description.guid,
          .creation_time = description.creation_time,
          .synthetic = description.synthetic,
          .process = {.pid = description.pid,
                      .ppid = description.ppid,
                      .start = description.clock_start,
                      .end = end,
                      .command = description.command}};
}

void write_machine(RocpdWriter& writer, const TraceDescription& description) {
  for (const std::string& agent : description.agents)
    writer.agent(agent == "host" ? host_agent() : mi300x_agent());
  writer.queue();  // "Default Queue": rocprofv3 always lists it
  Id queues = 0;
  for (const DescribedStream& stream : description.streams) {
    if (stream.queue_id > queues) queues = writer.queue({.name = stream.queue});
    writer.stream({.name = stream.name});
  }
  std::int64_t base = 360'777'310'208;
  for (const DescribedCodeObject& code : description.code_objects) {
    writer.code_object(
        {.agent = description.gpu, .uri = code.uri, .load_base = base, .load_size = code.bytes});
    base += (code.bytes + kPage) / kPage * kPage;
  }
  for (const std::string& name : description.kernel_order) {
    const DescribedKernel& kernel = description.kernels.at(name);
    writer.kernel({.id = kernel.id,
                   .code_object = kernel.code_object,
                   .name = kernel.symbol,
                   .display_name = kernel.display,
                   .kernarg_segment_size = kernel.kernarg,
                   .group_segment_size = kernel.lds,
                   .private_segment_size = kernel.scratch,
                   .sgpr_count = kernel.sgpr,
                   .arch_vgpr_count = kernel.arch_vgpr,
                   .accum_vgpr_count = kernel.accum_vgpr});
  }
}

Result<void> write_described_trace(const TraceDescription& description,
                                   const std::filesystem::path& path) {
  const DescribedRecording recording = play(description);
  RocpdWriter writer(path, options_of(description, recording.end));
  write_machine(writer, description);
  for (const RegionRow& row : recording.regions) writer.region(row);
  for (const DispatchRow& row : recording.dispatches) writer.dispatch(row);
  for (const CopyRow& row : recording.copies) writer.copy(row);
  for (const AllocationRow& row : recording.allocations) writer.allocation(row);
  return writer.close();
}

}  // namespace perflab::test
