// Kernels, copies and fills with the calls that submitted them, and what is said of communication.
#include <algorithm>
#include <limits>

#include "base/communication_kernels.h"
#include "trace/kineto/recording_loader.h"

namespace perflab::trace::kineto {
namespace {

/// The word of a copy's name that says between what: "Memcpy HtoD (Pinned -> Device)". Arrays count
/// as devices.
struct Direction {
  std::string_view word, kind;
  bool from_host, to_host;
};
constexpr auto kDirections = std::to_array<Direction>({
    {"HtoD", "MEMORY_COPY_HOST_TO_DEVICE", true, false},
    {"HtoA", "MEMORY_COPY_HOST_TO_DEVICE", true, false},
    {"DtoH", "MEMORY_COPY_DEVICE_TO_HOST", false, true},
    {"AtoH", "MEMORY_COPY_DEVICE_TO_HOST", false, true},
    {"DtoD", "MEMORY_COPY_DEVICE_TO_DEVICE", false, false},
    {"AtoA", "MEMORY_COPY_DEVICE_TO_DEVICE", false, false},
    {"AtoD", "MEMORY_COPY_DEVICE_TO_DEVICE", false, false},
    {"DtoA", "MEMORY_COPY_DEVICE_TO_DEVICE", false, false},
    {"PtoP", "MEMORY_COPY_PEER_TO_PEER", false, false},
    {"HtoH", "MEMORY_COPY_HOST_TO_HOST", true, true},
});
constexpr Direction kFill = {"", "MEMORY_SET", false, false};

/// `name` is that of the event; a word that is not known stays as it is written, between devices.
Direction direction_of(std::string_view name) {
  constexpr std::string_view kCopy = "Memcpy ";
  if (name.starts_with("Memset")) return kFill;
  if (name.starts_with(kCopy)) {
    const std::string_view rest = name.substr(kCopy.size());
    const auto* const found =
        std::ranges::find(kDirections, rest.substr(0, rest.find(' ')), &Direction::word);
    if (found != kDirections.end()) return *found;
  }
  return {"", name, false, false};
}

/// Calls of HIP whose grid is given in work-items; that of the others counts work-groups
/// (docs/facts/kineto.md "Kernels").
bool grid_in_work_items(std::string_view call) {
  return call == "hipExtModuleLaunchKernel" || call == "hipHccModuleLaunchKernel";
}

}  // namespace

Index RecordingLoader::agent_of(std::int64_t device) {
  const auto found = agents_.find(device);
  return found == agents_.end() ? kNone : found->second;
}

Index RecordingLoader::stream_of(std::int64_t id) {
  const auto [known, added] = streams_.try_emplace(id, static_cast<Index>(trace_.streams.size()));
  // Which stream is the default one is not said.
  if (added)
    trace_.streams.push_back({.source = source_, .id = id, .name = {}, .null_stream = false});
  return known->second;
}

Index RecordingLoader::queue_of(std::optional<std::int64_t> id) {
  if (!id) return kNone;
  const auto [known, added] = queues_.try_emplace(*id, static_cast<Index>(trace_.queues.size()));
  if (added) trace_.queues.push_back({.source = source_, .id = *id, .name = {}});
  return known->second;
}

const Call* RecordingLoader::call_of(std::optional<std::int64_t> correlation) const {
  if (!correlation) return nullptr;
  const auto found = call_of_correlation_.find(*correlation);
  return found == call_of_correlation_.end() ? nullptr : &content_.calls[found->second];
}

std::uint32_t RecordingLoader::stack_of(const Call* call) const {
  if (call == nullptr) return 0;
  return static_cast<std::uint32_t>(state_.stack_base +
                                    static_cast<std::uint64_t>(call - content_.calls.data()) + 1);
}

Index RecordingLoader::track_of(const Call* launch, Index agent, std::optional<std::int64_t> queue,
                                std::int64_t stream) {
  const Index thread = launch == nullptr ? kNone : threads_.at(launch->place);
  return state_.tracks.intern(
      {.process = thread == kNone ? main_process_ : trace_.threads[thread].process,
       .thread = thread,
       .agent = agent,
       .queue = queue_of(queue),
       .stream = stream_of(stream)});
}

LaunchConfig RecordingLoader::config_of(const Kernel& kernel, const Call* launch) {
  LaunchConfig config;
  const auto shared = kernel.shared ? kernel.shared : launch ? launch->shared : std::nullopt;
  if (shared && *shared >= 0 && *shared <= std::numeric_limits<std::uint32_t>::max())
    config.lds_bytes = static_cast<std::uint32_t>(*shared);
  const auto grid = kernel.grid ? kernel.grid : launch ? launch->grid : std::nullopt;
  const auto block = kernel.block ? kernel.block : launch ? launch->block : std::nullopt;
  if (!grid || !block) return config;
  config.workgroup = *block;
  const bool items = launch != nullptr && grid_in_work_items(trace_.strings.view(launch->name));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t size = std::uint64_t{(*grid)[axis]} * (items ? 1 : (*block)[axis]);
    constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
    too_large_ += size > kLargest ? 1U : 0U;
    config.grid[axis] = static_cast<std::uint32_t>(std::min(size, kLargest));
  }
  return config;
}

/// What is said of a kernel's communication: by itself, else by the host operation that it names,
/// else by the one around the call that launched it.
const CommFacts* RecordingLoader::facts_of(const Kernel& kernel, const Call* launch) {
  if (kernel.communication != kNone) return &content_.communications[kernel.communication];
  if (kernel.external_id) {
    const auto named = operation_of_id_.find(*kernel.external_id);
    if (named != operation_of_id_.end())
      return &content_.communications[named->second->communication];
  }
  if (launch == nullptr || !waits_for_ranks(trace_.strings.view(kernel.name))) return nullptr;
  const auto on_thread = operations_of_thread_.find(launch->place);
  if (on_thread == operations_of_thread_.end()) return nullptr;
  const auto& operations = on_thread->second;
  auto after = std::ranges::upper_bound(operations, launch->start, {}, &CommOperation::start);
  constexpr int kDeepest = 8;  // they are not nested, but for those of a group
  for (int i = 0; i < kDeepest && after != operations.begin(); ++i)
    if ((*--after)->end >= launch->end) return &content_.communications[(*after)->communication];
  return nullptr;
}

void RecordingLoader::add_communication(const Kernel& kernel, const Call* launch, Index dispatch) {
  const CommFacts* const facts = facts_of(kernel, launch);
  if (facts == nullptr) return;
  Communication row;
  row.row = dispatch;
  row.function = facts->function;
  row.group = facts->group;
  row.data_type = facts->data_type;
  row.sequence = facts->sequence;
  row.group_size = facts->group_size;
  row.in_count = facts->in_count;
  row.out_count = facts->out_count;
  row.members = facts->members;
  if (const auto listed = content_.group_members.find(facts->group);
      row.members.empty() && listed != content_.group_members.end())
    row.members = listed->second;
  // Of the two ends the other one; both are said as ranks of the whole job.
  const std::string_view function =
      facts->function == kNone ? std::string_view{} : trace_.strings.view(facts->function);
  row.peer = function == "recv"   ? facts->source
             : function == "send" ? facts->destination
                                  : row.peer;
  if (row.peer)
    if (const auto in_group = std::ranges::find(row.members, *row.peer);
        in_group != row.members.end())
      row.peer = in_group - row.members.begin();
  trace_.communications.push_back(std::move(row));
}

void RecordingLoader::add_kernels() {
  std::vector<Kernel>& kernels = content_.kernels;
  const auto name_of = [&](const Kernel& kernel) { return trace_.strings.view(kernel.name); };
  std::erase_if(kernels, [&](const Kernel& kernel) {
    unstarted_ += starts(kernel.start) ? 0U : 1U;
    return !starts(kernel.start);
  });
  std::ranges::sort(kernels, {}, [&](const Kernel& kernel) {
    return std::tuple(kernel.start, kernel.end, kernel.place, kernel.correlation, name_of(kernel),
                      kernel.external_id, kernel.grid, kernel.block);
  });
  for (const CommOperation& operation : content_.operations) {
    if (operation.communication == kNone) continue;
    if (operation.external_id) operation_of_id_.try_emplace(*operation.external_id, &operation);
    operations_of_thread_[operation.place].push_back(&operation);
  }
  for (auto& [place, operations] : operations_of_thread_)
    std::ranges::sort(operations, {}, &CommOperation::start);

  std::map<std::pair<std::string_view, std::optional<std::int64_t>>, Index> symbols;
  for (const Kernel& kernel : kernels) symbols.try_emplace({name_of(kernel), kernel.registers});
  std::int64_t id = 0;
  for (auto& [key, index] : symbols) {
    index = static_cast<Index>(trace_.kernel_symbols.size());
    KernelSymbol symbol;
    symbol.source = source_;
    symbol.id = ++id;
    symbol.name = trace_.strings.intern(key.first);
    symbol.known = true;
    symbol.arch_vgprs = key.second;
    trace_.kernel_symbols.push_back(symbol);
  }
  DispatchColumns& all = trace_.dispatches;
  std::int64_t number = 0;
  std::uint64_t zero_length = 0, no_sizes = 0;
  for (const Kernel& kernel : kernels) {
    const Call* const launch = call_of(kernel.correlation);
    const auto dispatch = static_cast<Index>(all.size());
    const LaunchConfig config = config_of(kernel, launch);
    zero_length += kernel.start == kernel.end ? 1U : 0U;
    no_sizes += config.workgroup[0] == 0 ? 1U : 0U;
    add_communication(kernel, launch, dispatch);
    all.start.push_back(kernel.start + content_.base);
    all.end.push_back(kernel.end + content_.base);
    all.dispatch_id.push_back(++number);
    all.kernel.push_back(symbols.at({name_of(kernel), kernel.registers}));
    all.config.push_back(state_.configs.intern(config));
    all.track.push_back(track_of(launch, agent_of(kernel.device.value_or(kernel.place.pid)),
                                 kernel.queue, kernel.stream.value_or(kernel.place.tid)));
    all.launch.push_back(stack_of(launch));
  }
  odd("kernel of zero length", zero_length);
  odd("kernel whose grid is not said: taken as 0", no_sizes);
}

void RecordingLoader::add_copies() {
  std::ranges::sort(content_.copies, {}, [&](const Copy& copy) {
    return std::tuple(copy.start, copy.end, copy.place, copy.correlation,
                      trace_.strings.view(copy.name), copy.bytes);
  });
  CopyColumns& all = trace_.copies;
  for (const Copy& copy : content_.copies) {
    if (!starts(copy.start)) {
      ++unstarted_;
      continue;
    }
    const Call* const launch = call_of(copy.correlation);
    const Direction direction = direction_of(trace_.strings.view(copy.name));
    const std::int64_t device = copy.device.value_or(copy.place.pid);
    const Index from = direction.from_host ? cpu_ : agent_of(copy.from_device.value_or(device));
    const Index to = direction.to_host ? cpu_ : agent_of(copy.to_device.value_or(device));
    const bool sized = copy.bytes && *copy.bytes >= 0;
    sizes_missing_ += sized ? 0U : 1U;
    all.start.push_back(copy.start + content_.base);
    all.end.push_back(copy.end + content_.base);
    all.bytes.push_back(sized ? *copy.bytes : 0);
    all.kind.push_back(trace_.strings.intern(direction.kind));
    all.source_agent.push_back(from);
    all.track.push_back(track_of(launch, to, copy.queue, copy.stream.value_or(copy.place.tid)));
    all.launch.push_back(stack_of(launch));
  }
}

}  // namespace perflab::trace::kineto
