// The recording, its processes and GPUs, calls with their arguments, ranges of the user.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/system/packed.h"
#include "trace/cuda_calls.h"
#include "trace/kineto/read_kineto.h"
#include "trace/kineto/recording_loader.h"
#include "trace/rank_variables.h"

namespace perflab::trace::kineto {
namespace {

constexpr std::string_view kCollector = "PyTorch profiler";
/// As rocprofv3 and rocm-perf-record name them (docs/facts/rocpd.md "Columns").
constexpr std::string_view kHip = "HIP_RUNTIME_API", kCudaRuntime = "CUDA_RUNTIME_API",
                           kCudaDriver = "CUDA_DRIVER_API", kRange = "MARKER_CORE_RANGE_API";
/// The function that makes a range of a PyTorch program.
constexpr std::string_view kRangeName = "record_function";

}  // namespace

Platform RecordingLoader::platform() const {
  std::size_t hip = 0, cuda = 0;
  for (const Call& call : content_.calls) {
    const std::string_view name = trace_.strings.view(call.name);
    hip += name.starts_with("hip") ? 1U : 0U;
    cuda += is_cuda_call(name) ? 1U : 0U;
  }
  if (hip != cuda) return hip > cuda ? Platform::amd : Platform::cuda;
  return std::ranges::any_of(content_.devices, &Device::cuda) ? Platform::cuda : Platform::amd;
}

void RecordingLoader::add_source(std::string_view file, std::string guid) {
  const Platform on = platform();
  source_ = static_cast<Index>(trace_.sources.size());
  trace_.sources.push_back({.file = std::string(file),
                            .guid = std::move(guid),
                            .schema_version = content_.schema_version,
                            .collector = std::string(kCollector),
                            .synthetic = {},
                            .pass = {},
                            .lds_known = on == Platform::cuda,
                            .scratch_known = false,
                            .wall_clock = true,
                            .platform = on});
  // Files that do not say their machine may be of several: their clocks are not taken for one.
  node_ = static_cast<Index>(trace_.nodes.size());
  if (!content_.hostname.empty()) {
    const auto [same, added] =
        state_.nodes.try_emplace(std::pair{std::int64_t{0}, "kineto:" + content_.hostname}, node_);
    node_ = same->second;
    if (!added) return;
  }
  trace_.nodes.push_back({.machine_id = {}, .hash = 0, .hostname = content_.hostname});
}

void RecordingLoader::add_processes() {
  std::set<Place> places;
  for (const Call& call : content_.calls) places.insert(call.place);
  for (const Range& range : content_.ranges) places.insert(range.place);
  for (const CommOperation& operation : content_.operations) places.insert(operation.place);
  const auto process_of = [&](std::int64_t pid) {
    const auto [known, added] =
        processes_.try_emplace(pid, static_cast<Index>(trace_.processes.size()));
    if (!added) return known->second;
    Process process{.source = source_,
                    .node = node_,
                    .pid = pid,
                    .command = {},  // the name that it records is that of the interpreter
                    .start = {},
                    .end = {}};
    if (content_.rank)
      process.rank = {.rank = content_.rank,
                      .size = content_.world_size,
                      .local_rank = {},
                      .from = std::string(kDistributedInfo)};
    trace_.processes.push_back(std::move(process));
    return known->second;
  };
  for (const Place& place : places) {
    const Index process = process_of(place.pid);
    threads_[place] = static_cast<Index>(trace_.threads.size());
    trace_.threads.push_back({.process = process, .tid = place.tid});
  }
  main_process_ = processes_.empty() ? process_of(0) : processes_.begin()->second;
  if (processes_.size() > 1)
    odd("process of a file that has several: work of the GPU without a launching call is counted "
        "as the first one's",
        processes_.size());
}

Agent RecordingLoader::described(const Device& device) const {
  Agent agent{.node = node_,
              .id = device.id + 1,
              .absolute_index = device.id + 1,
              .type = "GPU",
              .name = {},
              .product = device.name,
              .model = {},
              .uuid = 0,
              .facts = {}};
  const auto positive = [](std::optional<std::int64_t> value) {
    return value && *value > 0 ? value : std::nullopt;
  };
  const auto wave = positive(device.wave_size), threads = positive(device.threads_per_sm);
  agent.facts.compute_units = positive(device.sms);
  agent.facts.wave_size = wave;
  if (wave && threads) agent.facts.max_waves_per_cu = *threads / *wave;
  agent.facts.lds_bytes_per_cu = positive(device.shared_per_sm);
  if (trace_.sources[source_].platform != Platform::cuda || !device.major || !device.minor)
    return agent;
  agent.name = fmt::format("sm_{}{}", *device.major, *device.minor);
  CudaFacts cuda{};
  cuda.compute_capability = fmt::format("{}.{}", *device.major, *device.minor);
  cuda.registers_per_sm = positive(device.registers_per_sm);
  cuda.shared_memory_per_block_optin = positive(device.shared_optin);
  cuda.memory_bytes = positive(device.memory_bytes);
  agent.facts.cuda = std::move(cuda);
  return agent;
}

void RecordingLoader::add_agents() {
  const auto add = [&](Agent agent) {
    const auto [same, added] = state_.agents.try_emplace(
        std::tuple{agent.node, agent.id, agent.type, agent.name, agent.product},
        static_cast<Index>(trace_.agents.size()));
    if (added) trace_.agents.push_back(std::move(agent));
    return same->second;
  };
  cpu_ = add({.node = node_,
              .id = 0,
              .absolute_index = 0,
              .type = "CPU",
              .name = {},
              .product = {},
              .model = {},
              .uuid = 0,
              .facts = {}});
  std::set<std::int64_t> used;
  for (const Kernel& kernel : content_.kernels)
    used.insert(kernel.device.value_or(kernel.place.pid));
  for (const Copy& copy : content_.copies) {
    used.insert(copy.device.value_or(copy.place.pid));
    for (const auto& end : {copy.from_device, copy.to_device})
      if (end) used.insert(*end);
  }
  for (const Device& device : content_.devices)
    if (used.erase(device.id) > 0) agents_.try_emplace(device.id, add(described(device)));
  for (const std::int64_t id : used) {
    Device unknown;
    unknown.id = id;
    agents_[id] = add(described(unknown));
  }
}

void RecordingLoader::add_calls() {
  std::vector<Call>& calls = content_.calls;
  std::erase_if(calls, [&](const Call& call) {
    unstarted_ += starts(call.start) ? 0U : 1U;
    return !starts(call.start);
  });
  std::ranges::sort(calls, {}, [&](const Call& call) {
    return std::tuple(call.start, -call.end, call.place, trace_.strings.view(call.name),
                      call.correlation);
  });
  const Index hip = trace_.strings.intern(kHip), runtime = trace_.strings.intern(kCudaRuntime),
              driver = trace_.strings.intern(kCudaDriver);
  std::uint64_t twice = 0;
  RegionColumns& regions = trace_.regions;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const Call& call = calls[i];
    region_of_call_.push_back(static_cast<Index>(regions.size()));
    std::uint32_t stack = 0;
    if (call.correlation && *call.correlation != 0) {
      const bool added = call_of_correlation_.try_emplace(*call.correlation, i).second;
      if (added)
        stack = static_cast<std::uint32_t>(state_.stack_base + i + 1);
      else
        ++twice;
    }
    const bool is_hip = trace_.strings.view(call.name).starts_with("hip");
    regions.start.push_back(call.start + content_.base);
    regions.end.push_back(call.end + content_.base);
    regions.name.push_back(call.name);
    regions.category.push_back(is_hip ? hip : call.driver ? driver : runtime);
    regions.thread.push_back(threads_.at(call.place));
    regions.parent.push_back(0);
    state_.region_stack.push_back(stack);
  }
  odd("correlation id of two calls: work with it is counted as the first one's", twice);
}

void RecordingLoader::add_ranges() {
  const Index name = trace_.strings.intern(kRangeName), category = trace_.strings.intern(kRange);
  RegionColumns& regions = trace_.regions;
  std::ranges::sort(content_.ranges, {}, [&](const Range& range) {
    return std::tuple(range.start, -range.end, range.place, trace_.strings.view(range.text));
  });
  for (const Range& range : content_.ranges) {
    if (!starts(range.start)) {
      ++unstarted_;
      continue;
    }
    trace_.ranges.region.push_back(static_cast<Index>(regions.size()));
    trace_.ranges.message.push_back(range.text);
    regions.start.push_back(range.start + content_.base);
    regions.end.push_back(range.end + content_.base);
    regions.name.push_back(name);
    regions.category.push_back(category);
    regions.thread.push_back(threads_.at(range.place));
    regions.parent.push_back(0);
    state_.region_stack.push_back(0);
  }
}

/// The profiler says of a wait which stream or event it was for, and which call recorded the event:
/// both calls learn from it.
void RecordingLoader::add_arguments() {
  using Columns = CallArgumentColumns;
  struct Row {
    std::uint8_t has = 0;
    std::uint64_t stream = 0, event = 0, record = 0;
  };
  std::map<Index, Row> rows;  // by region
  const auto row_of = [&](std::int64_t correlation) -> Row* {
    const auto call = call_of_correlation_.find(correlation);
    return call == call_of_correlation_.end() ? nullptr : &rows[region_of_call_[call->second]];
  };
  const auto set = [](Row& row, std::uint8_t which, std::uint64_t& field,
                      std::optional<std::int64_t> value) {
    constexpr std::int64_t kInvalid = 0xFFFF'FFFF;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE
    if (!value || *value < 0 || *value == kInvalid || (row.has & which) != 0) return;
    row.has |= which;
    field = static_cast<std::uint64_t>(*value);
  };
  std::ranges::sort(content_.syncs, {}, [](const Sync& sync) {
    return std::tuple(sync.correlation, sync.record, sync.event, sync.stream, sync.wait_on_stream);
  });
  std::uint64_t strangers = 0;
  for (const Sync& sync : content_.syncs) {
    Row* const waits = row_of(sync.correlation);
    if (waits == nullptr) {
      ++strangers;
      continue;
    }
    set(*waits, Columns::kStreamId, waits->stream, sync.stream);
    set(*waits, Columns::kEvent, waits->event, sync.event);
    set(*waits, Columns::kRecord, waits->record, sync.record);
    if (!sync.record) continue;
    Row* const records = row_of(*sync.record);
    if (records == nullptr) continue;  // before the profiler began
    set(*records, Columns::kStreamId, records->stream, sync.wait_on_stream);
    set(*records, Columns::kEvent, records->event, sync.event);
    set(*records, Columns::kRecord, records->record, sync.record);
  }
  odd("cuda_sync of a call that is not there", strangers);
  Columns& all = trace_.call_arguments;
  for (const auto& [region, row] : rows) {
    if (row.has == 0) continue;
    all.region.push_back(region);
    all.has.push_back(row.has);
    all.stream.push_back(row.stream);
    all.event.push_back(row.event);
    all.device.push_back(0);
    all.record.push_back(row.record);
  }
}

void RecordingLoader::report() {
  constexpr const char* kTable = "traceEvents";
  ReadReport& report = trace_.report;
  for (const auto& [category, many] : content_.rows) report.rows[category] += many;
  for (const auto& [category, many] : content_.malformed)
    count(report.dropped, {category, "a time, id or name is missing or no number"}, many);
  for (const auto& [category, many] : content_.unfinished)
    count(report.dropped, {category, "unfinished: no duration, or one below zero"}, many);
  count(report.dropped, {kTable, "event in two parts (phases B and E)"}, content_.split);
  count(report.dropped, {kTable, "no object, as an event is"}, content_.strangers);
  count(report.dropped, {kTable, "unfinished: no start time"}, unstarted_);
  odd("grid of more than 4 billion work-items: taken as that many", too_large_);
  odd("copy or fill whose size is not said: taken as 0", sizes_missing_);
}

Result<void> RecordingLoader::run(std::string_view file, std::string guid) {
  if (state_.stack_base + content_.calls.size() > 0xFFFF'FFF0)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: more than 4 billion calls over all inputs", file),
                "analyze the recordings one by one");
  add_source(file, std::move(guid));
  add_processes();
  add_agents();
  add_calls();
  add_ranges();
  add_arguments();
  add_kernels();
  add_copies();
  report();
  state_.stack_base += content_.calls.size() + 1;
  return {};
}

Result<void> load_text(LoadState& state, std::string text, std::string_view name) {
  std::string guid = fmt::format("kineto-{:016x}", content_hash(text));
  if (!state.recordings.insert(guid).second)
    return given_twice(name, guid, "name every recording once");
  PERFLAB_TRY(Content content, read_content(text, name, state.trace.strings));
  return RecordingLoader(state, content).run(name, std::move(guid));
}

Result<void> load(LoadState& state, const std::filesystem::path& path) {
  constexpr std::size_t kMost =
      (std::size_t{1} << 32) - 4096;  // of simdjson's, with room for padding
  PERFLAB_TRY(std::string text, read_maybe_packed(path, kMost));
  return load_text(state, std::move(text), path.string());
}

}  // namespace perflab::trace::kineto
