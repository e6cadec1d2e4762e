// Ids into indices; what has to wait until all rows are there is joined at the end.
#include "trace/recording_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/text/numbers.h"
#include "trace/api_calls.h"

namespace perflab::trace {
namespace {

constexpr std::string_view kUnfinishedRow =
    "unfinished: no start time, or its end is before its start";

/// MEMORY_ALLOCATION_VMEM_ALLOCATE -> ALLOC, VIRTUAL, as rocprofv3 names them in a database
/// (docs/facts/rocprofv3_outputs.md "Allocations").
std::pair<std::string, std::string_view> type_and_level(std::string_view operation) {
  std::string_view level = "REAL";
  const auto take = [&](std::string_view prefix) {
    if (!operation.starts_with(prefix)) return false;
    operation.remove_prefix(prefix.size());
    return true;
  };
  if (take("SCRATCH_MEMORY_")) level = "SCRATCH";
  if (take("MEMORY_ALLOCATION_") && take("VMEM_")) level = "VIRTUAL";
  take("ASYNC_");
  return {operation == "ALLOCATE" ? "ALLOC" : std::string(operation), level};
}

}  // namespace

RecordingRows::RecordingRows(LoadState& state, Source source, Process process,
                             std::size_t expected_calls)
    : state_(state),
      trace_(state.trace),
      source_(static_cast<Index>(state.trace.sources.size())),
      process_(static_cast<Index>(state.trace.processes.size())),
      codes_(expected_calls),
      first_dispatch_(state.trace.dispatches.size()),
      first_copy_(state.trace.copies.size()),
      first_queue_(state.trace.queues.size()),
      first_stream_(state.trace.streams.size()),
      first_symbol_(state.trace.kernel_symbols.size()),
      dispatches_known_(state.trace.dispatches.size()) {
  trace_.sources.push_back(std::move(source));
  process.source = source_;
  trace_.processes.push_back(std::move(process));
}

bool RecordingRows::finished(std::string_view table, std::int64_t start, std::int64_t end) {
  if (start > 0 && end >= start) return true;
  count(trace_.report.dropped, {std::string(table), std::string(kUnfinishedRow)}, 1);
  return false;
}

void RecordingRows::malformed(std::string_view table, std::uint64_t many) {
  count(trace_.report.dropped, {std::string(table), "a time, id or size is missing or no number"},
        many);
}

std::uint32_t RecordingRows::code_of(std::uint64_t correlation) {
  const std::uint32_t code = codes_.code(static_cast<std::int64_t>(correlation));
  if (code == 0) return 0;
  code_limit_ = std::max<std::uint64_t>(code_limit_, std::uint64_t{code} + 1);
  return static_cast<std::uint32_t>(state_.stack_base + code);
}

Index RecordingRows::thread_of(std::optional<std::int64_t> tid) {
  if (!tid) return kNone;
  const auto [entry, added] = threads_.try_emplace(*tid, static_cast<Index>(trace_.threads.size()));
  if (added) trace_.threads.push_back({.process = process_, .tid = *tid});
  return entry->second;
}

Index RecordingRows::queue_of(std::optional<std::int64_t> id) {
  if (!id) return kNone;
  const auto [entry, added] = queues_.try_emplace(*id, static_cast<Index>(trace_.queues.size()));
  if (added) trace_.queues.push_back({.source = source_, .id = *id, .name = {}});
  return entry->second;
}

Index RecordingRows::stream_of(std::optional<std::int64_t> id) {
  if (!id) return kNone;
  const auto [entry, added] = streams_.try_emplace(*id, static_cast<Index>(trace_.streams.size()));
  if (added) trace_.streams.push_back({.source = source_, .id = *id, .name = {}});
  return entry->second;
}

Index RecordingRows::add_kernel(KernelSymbol symbol) {
  symbol.source = source_;
  const auto index = static_cast<Index>(trace_.kernel_symbols.size());
  if (!kernels_.try_emplace(symbol.id, index).second) {
    count(trace_.report.odd, {"info_kernel_symbol", "an id that is there twice"}, 1);
    return kernels_.at(symbol.id);
  }
  if (symbol.code_object != kNone && trace_.strings.view(symbol.name).starts_with("__amd_rocclr_"))
    trace_.code_objects[symbol.code_object].of_runtime = true;
  trace_.kernel_symbols.push_back(std::move(symbol));
  return index;
}

Index RecordingRows::kernel_of(std::int64_t id) {
  if (const auto known = kernels_.find(id); known != kernels_.end()) return known->second;
  KernelSymbol symbol;
  symbol.id = id;
  symbol.name = trace_.strings.intern(fmt::format("kernel {}", id));
  return add_kernel(std::move(symbol));
}

void RecordingRows::dispatch(const DispatchRow& row) {
  if (!finished("kernel_dispatch", row.start, row.end)) return;
  DispatchColumns& all = trace_.dispatches;
  all.start.push_back(row.start);
  all.end.push_back(row.end);
  all.dispatch_id.push_back(row.dispatch_id);
  all.kernel.push_back(kernel_of(row.kernel));
  all.config.push_back(state_.configs.intern(row.config));
  all.track.push_back(state_.tracks.intern({.process = process_,
                                            .thread = thread_of(row.thread),
                                            .agent = row.agent,
                                            .queue = queue_of(row.queue),
                                            .stream = stream_of(row.stream)}));
  all.launch.push_back(code_of(row.correlation));
  ++trace_.report.rows["kernel_dispatch"];
  const auto odd = [&](const char* reason) {
    count(trace_.report.odd, {"kernel_dispatch", reason}, 1);
  };
  if (row.start == row.end) odd("zero length");
  if (!trace_.kernel_symbols[all.kernel.back()].known) odd("kernel without a symbol row");
}

Index RecordingRows::call(const CallRow& row, std::span<const NamedArgument> arguments) {
  if (!finished("region", row.start, row.end)) return kNone;
  // An instant (roctxMark), or a call too short for the clock: rocprofv3 writes no region of it
  // into a database either.
  if (row.start == row.end) {
    ++trace_.report.rows["sample"];
    return kNone;
  }
  RegionColumns& all = trace_.regions;
  const auto region = static_cast<Index>(all.size());
  all.start.push_back(row.start);
  all.end.push_back(row.end);
  all.name.push_back(row.name);
  all.category.push_back(row.category);
  all.thread.push_back(thread_of(row.thread));
  all.parent.push_back(code_of(row.parent));
  state_.region_stack.push_back(code_of(row.correlation));
  ++trace_.report.rows["region"];
  if (!arguments.empty()) {
    if (is_rccl_category(trace_.strings.view(row.category)))
      keep_communication(region, arguments);
    else
      keep_arguments(region, arguments);
  }
  return region;
}

CallKind RecordingRows::kind_of(Index name) {
  const auto [entry, added] = kinds_.try_emplace(name, CallKind::other);
  if (added) entry->second = call_kind(trace_.strings.view(name));
  return entry->second;
}

void RecordingRows::keep_arguments(Index region, std::span<const NamedArgument> arguments) {
  const CallKind kind = kind_of(trace_.regions.name[region]);
  const bool needed = needs_arguments(kind);
  const bool submits =
      kind == CallKind::launch || kind == CallKind::copy || kind == CallKind::blocking_copy;
  if (!needed && !submits) return;
  for (const NamedArgument& argument : arguments) {
    const std::uint8_t which = call_argument_of(argument.name);
    if (which == 0 || (!needed && which != CallArgumentColumns::kStream)) continue;
    ++trace_.report.rows["arg"];
    const auto value = parse_argument(argument.value);
    if (!value)
      ++odd_arguments_;
    else if (needed)
      arguments_.push_back({.region = region, .which = which, .value = *value});
    else if (const std::uint32_t code = state_.region_stack[region]; code != 0)
      submitted_.push_back({.region = region, .code = code, .handle = *value});
  }
}

void RecordingRows::keep_communication(Index region, std::span<const NamedArgument> arguments) {
  std::vector<RcclValue> values;
  for (const auto& [name, value] : arguments)
    if (const RcclArgument which = rccl_argument_of(name); which != RcclArgument::none)
      values.push_back({.region = region, .which = which, .value = std::string(value)});
  trace_.report.rows["arg"] += values.size();
  report_rccl(append_rccl_calls(values, trace_), trace_.report);
}

void RecordingRows::message(Index region, std::string_view text) {
  if (region == kNone || text.empty()) return;
  trace_.ranges.region.push_back(region);
  trace_.ranges.message.push_back(trace_.strings.intern(text));
}

void RecordingRows::copy(const CopyRow& row) {
  if (row.bytes < 0) return malformed("memory_copy");
  if (!finished("memory_copy", row.start, row.end)) return;
  CopyColumns& all = trace_.copies;
  all.start.push_back(row.start);
  all.end.push_back(row.end);
  all.bytes.push_back(row.bytes);
  all.kind.push_back(row.kind);
  all.source_agent.push_back(row.source);
  all.track.push_back(state_.tracks.intern({.process = process_,
                                            .thread = thread_of(row.thread),
                                            .agent = row.destination,
                                            .queue = kNone,
                                            .stream = stream_of(row.stream)}));
  all.launch.push_back(code_of(row.correlation));
  ++trace_.report.rows["memory_copy"];
}

void RecordingRows::allocation(const AllocationRow& row, std::string_view operation) {
  if (row.bytes < 0) return malformed("memory_allocate");
  if (!finished("memory_allocate", row.start, row.end)) return;
  const auto [type, level] = type_and_level(operation);
  const bool allocates = type == "ALLOC";
  Index agent = row.agent;
  if (allocates) {
    agent_of_address_[row.address] = agent;
  } else if (const auto known = agent_of_address_.find(row.address);
             known != agent_of_address_.end()) {
    agent = known->second;
  }
  AllocationColumns& all = trace_.allocations;
  all.start.push_back(row.start);
  all.end.push_back(row.end);
  all.address.push_back(row.address);
  all.bytes.push_back(type == "FREE" ? 0 : row.bytes);
  all.type.push_back(trace_.strings.intern(type));
  all.level.push_back(trace_.strings.intern(level));
  all.agent.push_back(agent);
  all.process.push_back(process_);
  ++trace_.report.rows["memory_allocate"];
}

void RecordingRows::counter(std::int64_t dispatch_id, Index counter, std::uint32_t instances,
                            double sum, double least, double most) {
  values_.push_back({.dispatch_id = dispatch_id,
                     .counter = counter,
                     .instances = instances,
                     .sum = sum,
                     .least = least,
                     .most = most});
}

void RecordingRows::find_dispatches() {
  const PackedColumn<std::int64_t>& ids = trace_.dispatches.dispatch_id;
  for (; dispatches_known_ < ids.size(); ++dispatches_known_)
    dispatches_.try_emplace(ids[dispatches_known_], static_cast<Index>(dispatches_known_));
}

bool RecordingRows::has_dispatch(std::int64_t dispatch_id) {
  find_dispatches();
  return dispatches_.contains(dispatch_id);
}

void RecordingRows::counted_dispatch(const DispatchRow& row) {
  counted_.push_back(row);
}

void RecordingRows::name_queues_and_streams() {
  // rocprofv3 numbers them in the order of their first use, which is that of their ids.
  const auto name = [](auto& table, std::size_t first, std::string_view what) {
    std::map<std::int64_t, std::size_t> by_id;
    for (std::size_t i = first; i < table.size(); ++i) by_id.emplace(table[i].id, i);
    std::size_t number = 0;
    for (const auto& [id, at] : by_id)
      table[at].name =
          id == 0 ? fmt::format("Default {}", what) : fmt::format("{} {}", what, number++);
  };
  name(trace_.queues, first_queue_, "Queue");
  name(trace_.streams, first_stream_, "Stream");
}

void RecordingRows::join_arguments() {
  std::unordered_map<std::uint32_t, std::uint16_t> stream_of_call;
  const auto note = [&](const PackedColumn<Index>& launches, const PackedColumn<Index>& tracks,
                        std::size_t first) {
    for (std::size_t i = first; i < launches.size(); ++i) {
      if (launches[i] == 0) continue;
      const Index stream = state_.tracks.values()[tracks[i]].stream;
      const Index number = stream == kNone ? 1 : stream - static_cast<Index>(first_stream_) + 2;
      std::uint16_t& of_call = stream_of_call[launches[i]];
      of_call = std::max(of_call, static_cast<std::uint16_t>(std::min<Index>(number, 0xFFFF)));
    }
  };
  if (!submitted_.empty()) {
    note(trace_.dispatches.launch, trace_.dispatches.track, first_dispatch_);
    note(trace_.copies.launch, trace_.copies.track, first_copy_);
  }
  HandleSamples samples;
  for (const Submitted& one : submitted_)
    if (const auto stream = stream_of_call.find(one.code); stream != stream_of_call.end())
      samples.add(
          trace_.regions,
          {.handle = one.handle, .name = trace_.regions.name[one.region], .stream = stream->second},
          one.region);
  // As with databases: without a call that needs its arguments nothing is gained by the others.
  if (!arguments_.empty()) samples.append_to(arguments_);
  const std::uint64_t twice = append_calls(arguments_, trace_.call_arguments);
  count(trace_.report.odd,
        {"arg", "a stream, event or device that is not a number: taken as missing"},
        odd_arguments_);
  count(trace_.report.odd, {"arg", "named twice in one call: the smallest value is taken"}, twice);
}

void RecordingRows::join_counters(std::string_view table) {
  find_dispatches();
  CounterColumns& all = trace_.counters;
  const std::size_t first_row = all.size();
  std::uint64_t lost = 0;
  for (const Value& value : values_) {
    const auto found = dispatches_.find(value.dispatch_id);
    if (found == dispatches_.end()) {
      ++lost;
      continue;
    }
    all.dispatch.push_back(found->second);
    all.counter.push_back(value.counter);
    all.instances.push_back(value.instances);
    all.sum.push_back(value.sum);
    all.min.push_back(value.least);
    all.max.push_back(value.most);
  }
  trace_.report.rows["pmc_event"] += values_.size() - lost;
  count(trace_.report.dropped, {std::string(table), "its dispatch is not there"}, lost);
  name_accumulators(state_, first_row, table);
}

Result<void> RecordingRows::finish_recording(std::string_view table) {
  if (state_.stack_base + code_limit_ > 0xFFFF'FFFE)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: more than 4 billion correlation ids over all inputs",
                            trace_.sources[source_].file),
                "analyze the files one by one");
  // Counters stand before the dispatches in a file.
  for (const DispatchRow& row : counted_)
    if (!has_dispatch(row.dispatch_id)) dispatch(row);
  counted_ = {};
  name_queues_and_streams();
  join_arguments();
  if (!values_.empty()) join_counters(table);
  state_.stack_base += code_limit_;
  return {};
}

}  // namespace perflab::trace
