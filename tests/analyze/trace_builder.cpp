// Rows of a hand-made Trace.
#include "analyze/trace_builder.h"

#include <algorithm>

#include "base/error.h"

namespace perflab::analyze {

using trace::Index;
using trace::kNone;

Index TraceBuilder::last_process() const {
  return static_cast<Index>(trace.processes.size() - 1);
}

Index TraceBuilder::source(std::optional<int> pass, std::string version) {
  const auto index = static_cast<Index>(trace.sources.size());
  trace.sources.push_back({.file = "made.db",
                           .guid = "guid " + std::to_string(index),
                           .schema_version = std::move(version),
                           .collector = "rocprofv3",
                           .synthetic = {},
                           .pass = pass});
  if (trace.nodes.empty()) trace.nodes.emplace_back();
  trace.processes.push_back(
      {.source = index, .node = 0, .pid = index, .command = {}, .start = {}, .end = {}});
  trace.threads.push_back({.process = last_process(), .tid = index});
  return index;
}

Index TraceBuilder::agent(std::string name, std::string product) {
  trace::Agent agent;
  agent.type = "GPU";
  agent.id = agent.absolute_index = static_cast<std::int64_t>(trace.agents.size());
  agent.name = std::move(name);
  agent.product = std::move(product);
  trace.agents.push_back(std::move(agent));
  return static_cast<Index>(trace.agents.size() - 1);
}

Index TraceBuilder::queue() {
  trace.queues.push_back({.source = static_cast<Index>(trace.sources.size() - 1),
                          .id = static_cast<std::int64_t>(trace.queues.size()),
                          .name = "queue"});
  return static_cast<Index>(trace.queues.size() - 1);
}

Index TraceBuilder::code_object() {
  trace::CodeObject object;
  object.source = trace.sources.empty() ? kNone : static_cast<Index>(trace.sources.size() - 1);
  object.agent = trace.agents.empty() ? kNone : static_cast<Index>(trace.agents.size() - 1);
  trace.code_objects.push_back(object);
  return static_cast<Index>(trace.code_objects.size() - 1);
}

Index TraceBuilder::kernel(std::string_view name) {
  return kernel(name, KernelOptions{});
}

Index TraceBuilder::kernel(std::string_view name, const KernelOptions& options) {
  trace::KernelSymbol symbol;
  symbol.source = static_cast<Index>(trace.sources.size() - 1);
  symbol.id = static_cast<std::int64_t>(trace.kernel_symbols.size());
  symbol.code_object = options.code_object;
  symbol.name = trace.strings.intern(name);
  symbol.mangled_name = trace.strings.intern(options.mangled);
  symbol.known = options.known;
  symbol.arch_vgprs = options.arch_vgprs;
  symbol.accum_vgprs = options.accum_vgprs;
  symbol.sgprs = options.sgprs;
  symbol.static_lds_bytes = options.static_lds;
  symbol.kernarg_bytes = options.kernarg;
  trace.kernel_symbols.push_back(symbol);
  return static_cast<Index>(trace.kernel_symbols.size() - 1);
}

Index TraceBuilder::track(Index queue) {
  const trace::Track track{
      .process = last_process(),
      .thread = static_cast<Index>(trace.threads.size() - 1),
      .agent = trace.agents.empty() ? kNone : static_cast<Index>(trace.agents.size() - 1),
      .queue = queue,
      .stream = kNone};
  if (const auto same = std::ranges::find(trace.tracks, track); same != trace.tracks.end())
    return static_cast<Index>(same - trace.tracks.begin());
  trace.tracks.push_back(track);
  return static_cast<Index>(trace.tracks.size() - 1);
}

Index TraceBuilder::dispatch(Index kernel, const DispatchOptions& options) {
  trace::DispatchColumns& all = trace.dispatches;
  PERFLAB_CHECK(all.size() == 0 || all.start.back() <= options.start);
  auto config = std::ranges::find(trace.launch_configs, options.config);
  if (config == trace.launch_configs.end())
    config = trace.launch_configs.insert(config, options.config);
  all.start.push_back(options.start);
  all.end.push_back(options.start + options.duration);
  all.dispatch_id.push_back(static_cast<std::int64_t>(all.start.size()));
  all.kernel.push_back(kernel);
  all.config.push_back(static_cast<Index>(config - trace.launch_configs.begin()));
  all.track.push_back(track(options.queue));
  all.launch.push_back(options.launched ? 0 : kNone);
  return static_cast<Index>(all.size() - 1);
}

void TraceBuilder::dispatches(Index kernel, std::initializer_list<std::int64_t> durations) {
  for (const std::int64_t duration : durations) {
    dispatch(kernel, {.start = clock_, .duration = duration});
    clock_ += duration + 100;
  }
}

void TraceBuilder::region(std::string_view category, std::string_view name, std::int64_t start,
                          std::int64_t duration) {
  trace::RegionColumns& all = trace.regions;
  all.start.push_back(start);
  all.end.push_back(start + duration);
  all.name.push_back(trace.strings.intern(name));
  all.category.push_back(trace.strings.intern(category));
  all.thread.push_back(static_cast<Index>(trace.threads.size() - 1));
  all.parent.push_back(kNone);
}

void TraceBuilder::copy(std::string_view kind, std::int64_t start, std::int64_t duration,
                        std::int64_t bytes) {
  trace::CopyColumns& all = trace.copies;
  all.start.push_back(start);
  all.end.push_back(start + duration);
  all.bytes.push_back(bytes);
  all.kind.push_back(trace.strings.intern(kind));
  all.source_agent.push_back(kNone);
  all.track.push_back(track(kNone));
  all.launch.push_back(kNone);
}

void TraceBuilder::allocation(std::string_view type, std::string_view level, std::int64_t bytes) {
  trace::AllocationColumns& all = trace.allocations;
  all.start.push_back(1);
  all.end.push_back(1);
  all.address.push_back(4096);
  all.bytes.push_back(bytes);
  all.type.push_back(trace.strings.intern(type));
  all.level.push_back(trace.strings.intern(level));
  all.agent.push_back(kNone);
  all.process.push_back(last_process());
}

Index TraceBuilder::counter(std::string_view name, bool derived) {
  trace.counter_infos.push_back({.name = trace.strings.intern(name),
                                 .block = {},
                                 .units = {},
                                 .description = {},
                                 .derived = derived});
  return static_cast<Index>(trace.counter_infos.size() - 1);
}

void TraceBuilder::value(Index dispatch, Index counter, double value) {
  trace::CounterColumns& all = trace.counters;
  all.dispatch.push_back(dispatch);
  all.counter.push_back(counter);
  all.instances.push_back(1);
  all.sum.push_back(value);
  all.min.push_back(value);
  all.max.push_back(value);
}

}  // namespace perflab::analyze
