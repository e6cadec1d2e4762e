// The builder walks calls and operations in their topological order once, and keeps what the next
// one of each thread, stream, queue and event has to follow. An order that the recorded times deny
// by more than the noise is left out and counted: the trace wins over what the API promises.
#include "analyze/critical_path/build_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyze/critical_path/graph_lanes.h"
#include "analyze/critical_path/handover.h"
#include "analyze/critical_path/stream_handles.h"
#include "base/system/large_pages.h"

namespace perflab::analyze {
namespace {

using trace::CallArgumentColumns;
using trace::CallKind;
using trace::Index;
using trace::kNone;

/// Marks a thread in the keys of `seen_`, where lanes wait too.
constexpr std::uint32_t kThreadKey = 0x8000'0000U;

class Builder {
 public:
  Builder(const trace::Trace& trace, GraphInput input, const GraphOptions& options)
      : trace_(trace),
        options_(options),
        input_(std::move(input)),
        handles_(trace, input_),
        lanes_(input_.lanes()),
        threads_(trace.threads.size()),
        lanes_of_process_(trace.processes.size()),
        default_lanes_of_process_(trace.processes.size()),
        ends_(trace.processes.size()) {
    for (Index i = 0; i < lanes_.size(); ++i) {
      const GraphInput::LaneInfo& lane = input_.lane(i);
      lanes_of_process_[lane.process].push_back(i);
      if (lane.is_default_stream) default_lanes_of_process_[lane.process].push_back(i);
    }
    look_at_calls();
  }

  BuiltGraph build() &&;

 private:
  struct ThreadState {
    NodeId last = kNoNode;
    std::int64_t device = 0;  ///< ordinal, as hipSetDevice said it last
    bool device_said = false;
    bool captures = false;  ///< records a HIP graph: its events order nothing now
  };
  using Arguments = NamedArguments;  ///< of the call at hand

  void reserve();
  NodeId add_node(NodeKind kind, std::uint32_t row, std::int64_t start, std::int64_t end);
  void add_edge(NodeId from, EdgeRule rule);
  void push_edge(NodeId from, EdgeRule rule);
  void add_order(NodeId from, NodeId node, EdgeRule rule);

  void place_operation(Operation op, NodeId call);
  void follow_lane(Lane& lane, NodeId node, EdgeRule order);
  void follow_in_graph(Lane& lane, NodeId node);
  [[nodiscard]] std::string_view name_of_call(Index region) const {
    return trace_.strings.view(trace_.regions.name[region]);
  }
  [[nodiscard]] bool is_cuda(Index process) const {
    return trace_.platform_of_process(process) == trace::Platform::cuda;
  }
  void follow_default_stream(Index own, NodeId node);
  void note_end(Operation op, NodeId node);
  void place_free_operations();
  void place_call(Index region, const Arguments& arguments);
  void place_wait_half(Index region, NodeId call);
  void place_late_halves(Index region);
  [[nodiscard]] bool waits_for_its_work(Index region) const;
  [[nodiscard]] std::vector<PendingWork> work_of_stream(Index region, Index process,
                                                        const Arguments& arguments) const;
  void wait_for_device(NodeId call, Index thread, EdgeRule rule);
  void wait_implicitly(NodeId call, Index region);
  void wait_for_signal(NodeId call, Index region);
  void wait_for(NodeId call, NodeId work, EdgeRule rule);
  void wait_for_event(NodeId call, Index region, const Arguments& arguments);
  void record_event(Index region, Index process, const Arguments& arguments);
  void stream_waits(Index region, Index process, const Arguments& arguments);
  [[nodiscard]] Index lane_of(Index region, Index process, const Arguments& arguments) const;
  [[nodiscard]] std::uint64_t device_key(Index thread) const;
  [[nodiscard]] Index device_of(Index thread) const;
  [[nodiscard]] bool names_default(Index process, const Arguments& arguments) const;
  void learn_device(Index region, Index track);
  void look_at_calls();
  Arguments arguments_of(Index region);

  const trace::Trace& trace_;
  GraphOptions options_;
  GraphInput input_;
  StreamHandles handles_;
  Graph graph_;
  GraphReport report_;
  std::vector<Lane> lanes_;
  std::vector<ThreadState> threads_;
  std::vector<std::vector<Index>> lanes_of_process_, default_lanes_of_process_;
  std::vector<bool> orders_default_stream_;         ///< by process
  std::unordered_map<std::uint64_t, NodeId> seen_;  ///< (waiter, lane) -> what it last waited for
  std::vector<NodeId> overtaken_;                   ///< by call that is_overtaken(): its node
  std::unordered_map<Index, std::vector<NodeId>>
      overtaken_work_;  ///< such, if it waits -> its work
  std::unordered_map<Index, std::vector<Index>>
      late_halves_;                                           ///< call -> calls whose work it holds
  std::unordered_map<std::uint64_t, Index> agent_of_device_;  ///< (process, ordinal)
  std::pair<std::uint64_t, Index> learned_ = {0, kNone};      ///< by learn_device() last
  EventRecords events_;
  bool waits_for_signals_ = false;
  std::vector<std::set<std::pair<std::int64_t, NodeId>>>
      ends_;  ///< by process: of operations that no HIP call submitted
  std::map<std::pair<Index, std::uint64_t>, std::vector<PendingWork>>
      idle_waits_;  ///< (process, handle) of streams on which nothing runs
  std::size_t next_argument_ = 0;
};

void Builder::reserve() {
  // Waiting calls have two halves; they are few beside what a large trace is made of.
  const std::size_t nodes = input_.operations() + input_.calls() + input_.calls() / 16;
  graph_.kind_row.reserve(nodes);
  graph_.first_edge.reserve(nodes + 1);
  graph_.rule.reserve(2 * input_.operations() + input_.calls() + input_.calls() / 8);
  prefer_large_pages(graph_.kind_row);
  prefer_large_pages(graph_.rule);
}

NodeId Builder::add_node(NodeKind kind, std::uint32_t row, std::int64_t start, std::int64_t end) {
  const auto node = static_cast<NodeId>(graph_.size());
  PERFLAB_CHECK(node != kNoNode);
  graph_.start.push_back(start);
  graph_.end.push_back(end);
  graph_.kind_row.push_back(operation(kind, row));
  graph_.first_edge.push_back(static_cast<std::uint32_t>(graph_.from.size()));
  return node;
}

/// An edge into the node that was added last; an equal pair of nodes is joined once for each end.
void Builder::add_edge(NodeId from, EdgeRule rule) {
  for (std::size_t i = graph_.first_edge.back(); i < graph_.from.size(); ++i)
    if (graph_.from[i] == from && info(graph_.rule[i]).to == info(rule).to &&
        info(graph_.rule[i]).from == info(rule).from)
      return;
  push_edge(from, rule);
}

/// An edge that is known to be the first between its two nodes.
void Builder::push_edge(NodeId from, EdgeRule rule) {
  PERFLAB_CHECK(from + std::size_t{1} < graph_.size());
  graph_.from.push_back(from);
  graph_.rule.push_back(rule);
  ++report_.edges[static_cast<std::size_t>(rule)];
}

/// An order that must hold, unless the times deny it.
void Builder::add_order(NodeId from, NodeId node, EdgeRule rule) {
  if (follows(graph_, from, node, options_.noise))
    add_edge(from, rule);
  else
    ++report_.contradicted[static_cast<std::size_t>(rule)];
}

void Builder::follow_lane(Lane& lane, NodeId node, EdgeRule order) {
  if (lane.last == kNoNode) return;
  if (follows(graph_, lane.longest, node, options_.noise)) {
    add_edge(lane.longest, order);
    if (lane.last != lane.longest) add_order(lane.last, node, order);
    return;
  }
  if (order == EdgeRule::stream_order) ++report_.contradicted[static_cast<std::size_t>(order)];
  add_edge(lane.last, EdgeRule::submission_order);
}

/// CUDA names the launch of a graph, not what depends on what in it: that some of it ran side by
/// side is no contradiction to the stream's order.
void Builder::follow_in_graph(Lane& lane, NodeId node) {
  if (const NodeId before = ended_before(graph_, lane, node, options_.noise); before != kNoNode)
    add_edge(before, EdgeRule::graph_order);
  else if (lane.before_graph != kNoNode)
    add_order(lane.before_graph, node, EdgeRule::stream_order);
  lane.graph_ends.emplace(graph_.end[node], node);
}

void Builder::place_operation(Operation op, NodeId call) {
  const std::int64_t start = input_.start(op);
  const NodeId node = add_node(kind_of(op), row_of(op), start, input_.end(op));
  ++(kind_of(op) == NodeKind::dispatch ? report_.dispatches : report_.copies);
  const Index submitter = input_.submitter(op), track = input_.track(op);
  if (submitter == kNone) {
    ++report_.without_launch;
  } else {
    // Placed behind a later call because of its queue: its own call was noted when it was placed.
    const bool noted = input_.is_overtaken(submitter);
    const NodeId from = noted ? overtaken_[submitter] : call;
    if (noted && overtaken_work_.contains(submitter)) overtaken_work_[submitter].push_back(node);
    // The first half of a call that waits has no length: its call has not returned.
    if (trace_.regions.end[graph_.row(from)] <= start)
      push_edge(from, EdgeRule::launch);
    else if (graph_.start[from] <= start + options_.noise)
      push_edge(from, EdgeRule::launch_inside);
    else
      ++report_.contradicted[static_cast<std::size_t>(EdgeRule::launch)];
    if (kind_of(op) == NodeKind::dispatch) learn_device(submitter, track);
  }
  note_end(op, node);
  const Index stream = input_.stream_lane(track), queue = input_.queue_lane(track);
  if (stream != kNone) {
    Lane& lane = lanes_[stream];
    const bool in_graph = submitter != kNone && is_cuda(input_.lane(stream).process) &&
                          input_.launches_graph(submitter);
    lane.enter_graph(in_graph ? submitter : kNone);
    if (in_graph)
      follow_in_graph(lane, node);
    else
      follow_lane(lane, node, EdgeRule::stream_order);
    for (const PendingWork& wait : lane.waits) add_order(wait.node, node, EdgeRule::event_wait);
    lane.waits.clear();
    follow_default_stream(stream, node);
  }
  if (queue != kNone) follow_lane(lanes_[queue], node, EdgeRule::queue_order);
  for (const Index lane : {stream, queue})
    if (lane != kNone) lanes_[lane].placed(graph_, node);
}

/// Notes what a wait of HSA can be for: those inside of HIP calls are no nodes.
void Builder::note_end(Operation op, NodeId node) {
  if (!waits_for_signals_) return;
  const Index submitter = input_.submitter(op);
  if (submitter != kNone && name_of_call(submitter).starts_with("hip")) return;
  auto& ends = ends_[trace_.tracks[input_.track(op)].process];
  ends.emplace_hint(ends.end(), graph_.end[node], node);  // nearly always the last place
}

/// The legacy default stream of HIP and CUDA waits for all blocking streams of its device, and they
/// for it. Streams say whether they block when they are made; without flags they do. The per-thread
/// default streams of CUDA do too.
void Builder::look_at_calls() {
  std::vector<bool> makes(trace_.processes.size(), false), flags(trace_.processes.size(), false);
  for (Index region = 0; region < trace_.regions.size(); ++region) {
    const CallKind kind = input_.call_kind(region);
    waits_for_signals_ = waits_for_signals_ || kind == CallKind::signal_wait;
    const Index thread = trace_.regions.thread[region];
    if (thread == kNone) continue;
    if (kind == CallKind::make_blocking_stream) makes[trace_.threads[thread].process] = true;
    if (kind == CallKind::make_stream) flags[trace_.threads[thread].process] = true;
    if (kind == CallKind::launch && name_of_call(region).ends_with("_ptsz"))
      makes[trace_.threads[thread].process] = true;
  }
  for (std::size_t i = 0; i < makes.size(); ++i)
    orders_default_stream_.push_back(makes[i] && !flags[i]);
}

void Builder::follow_default_stream(Index own, NodeId node) {
  const GraphInput::LaneInfo& of = input_.lane(own);
  if (!orders_default_stream_[of.process]) return;
  for (const Index other : of.is_default_stream ? lanes_of_process_[of.process]
                                                : default_lanes_of_process_[of.process]) {
    const GraphInput::LaneInfo& with = input_.lane(other);
    if (other == own || with.stream == kNone || with.agent != of.agent ||
        with.is_default_stream == of.is_default_stream)
      continue;
    const NodeId before = lanes_[other].longest;
    if (before == kNoNode) continue;
    const auto [seen, added] = seen_.try_emplace(pair_key(own, other), before);
    if (!added && std::exchange(seen->second, before) == before) continue;
    add_order(before, node, EdgeRule::null_stream);
  }
}

/// Operations before all calls: of recordings without host calls, and stray ones.
void Builder::place_free_operations() {
  std::unordered_map<Index, std::vector<HandoverOperation>> by_process;
  std::unordered_map<Index, std::unordered_map<Index, std::uint32_t>> lane_numbers;
  NodeId next = 0;
  for (auto op = input_.begin_of(kNone); op != input_.end_of(kNone); ++op, ++next) {
    const Index track = input_.track(*op), queue = input_.queue_lane(track);
    const Index lane = queue != kNone ? queue : input_.stream_lane(track);
    if (lane == kNone) continue;
    const Index process = input_.lane(lane).process;
    auto& numbers = lane_numbers[process];
    const auto number = static_cast<std::uint32_t>(numbers.size());
    by_process[process].push_back({.node = next,
                                   .lane = numbers.try_emplace(lane, number).first->second,
                                   .start = input_.start(*op),
                                   .end = input_.end(*op)});
  }
  std::vector<Handover> handovers;
  for (auto& [process, operations] : by_process) {
    const auto found =
        find_handovers(operations, static_cast<std::uint32_t>(lane_numbers[process].size()),
                       options_.handover, options_.noise);
    handovers.insert(handovers.end(), found.begin(), found.end());
    operations = {};
  }
  std::ranges::sort(handovers, {}, [](const Handover& h) { return std::pair{h.to, h.from}; });
  auto handover = handovers.begin();
  for (auto op = input_.begin_of(kNone); op != input_.end_of(kNone); ++op) {
    place_operation(*op, kNoNode);
    const auto node = static_cast<NodeId>(graph_.size() - 1);
    for (; handover != handovers.end() && handover->to == node; ++handover)
      add_order(handover->from, node, EdgeRule::handover);
  }
}

Builder::Arguments Builder::arguments_of(Index region) {
  const CallArgumentColumns& all = trace_.call_arguments;
  while (next_argument_ < all.size() && all.region[next_argument_] < region) ++next_argument_;
  if (next_argument_ == all.size() || all.region[next_argument_] != region) return {};
  return {.has = all.has[next_argument_],
          .stream = handles_.handle_of(region, all.stream[next_argument_]),
          .event = all.event[next_argument_],
          .device = all.device[next_argument_],
          .record = (all.has[next_argument_] & CallArgumentColumns::kRecord) != 0
                        ? std::optional(all.record[next_argument_])
                        : std::nullopt};
}

/// What a thread's device is known by: its ordinal; of CUDA recordings, which do not say that, the
/// thread.
std::uint64_t Builder::device_key(Index thread) const {
  const Index process = trace_.threads[thread].process;
  if (is_cuda(process) && !threads_[thread].device_said) return pair_key(kThreadKey, thread);
  return pair_key(process, static_cast<std::uint32_t>(threads_[thread].device));
}

/// GPU that a device ordinal means, learned from the dispatches that were launched while it was
/// set: copies name where they go, which can be another GPU.
void Builder::learn_device(Index region, Index track) {
  const Index thread = trace_.regions.thread[region];
  const Index agent = trace_.tracks[track].agent;
  if (agent == kNone || trace_.agents[agent].type != "GPU") return;
  const std::pair learned(device_key(thread), agent);
  if (std::exchange(learned_, learned) == learned) return;
  const auto [found, added] = agent_of_device_.try_emplace(learned.first, agent);
  if (!added && found->second != agent) found->second = kNone;  // ambiguous: all devices
}

Index Builder::device_of(Index thread) const {
  const auto found = agent_of_device_.find(device_key(thread));
  return found == agent_of_device_.end() ? kNone : found->second;
}

/// The lane of the stream that a call names.
Index Builder::lane_of(Index region, Index process, const Arguments& arguments) const {
  if (!arguments.name_stream()) return kNone;
  if ((arguments.has & CallArgumentColumns::kStreamId) != 0)
    return input_.lane_of_stream(handles_.stream_of_id(process, arguments.stream), kNone);
  return input_.lane_of_stream(handles_.stream(process, arguments.stream, region),
                               device_of(trace_.regions.thread[region]));
}

bool Builder::names_default(Index process, const Arguments& arguments) const {
  if ((arguments.has & CallArgumentColumns::kStreamId) == 0)
    return handles_.is_default(arguments.stream);
  const Index stream = handles_.stream_of_id(process, arguments.stream);
  return stream != kNone && trace_.streams[stream].is_default();
}

void Builder::wait_for(NodeId call, NodeId work, EdgeRule rule) {
  if (work == kNoNode) return;
  if (graph_.end[work] <= graph_.end[call] + options_.noise)
    add_edge(work, rule);
  else
    ++report_.contradicted[static_cast<std::size_t>(rule)];
}

/// What is done when everything that was submitted to the stream so far is done. The legacy default
/// stream comes after all blocking streams of its device.
std::vector<PendingWork> Builder::work_of_stream(Index region, Index process,
                                                 const Arguments& arguments) const {
  std::vector<PendingWork> work;
  const auto add = [&](Index lane) {
    if (lanes_[lane].longest != kNoNode)
      add_work(work, {.lane = lane, .node = lanes_[lane].longest});
    for (const PendingWork& wait : lanes_[lane].waits) add_work(work, wait);
  };
  if (!arguments.name_stream()) return work;
  if (names_default(process, arguments) && orders_default_stream_[process]) {
    const Index device = device_of(trace_.regions.thread[region]);
    for (const Index lane : lanes_of_process_[process])
      if (input_.lane(lane).stream != kNone &&
          (device == kNone || input_.lane(lane).agent == device))
        add(lane);
  } else if (const Index lane = lane_of(region, process, arguments); lane != kNone) {
    add(lane);
  } else if (const auto waits = idle_waits_.find({process, arguments.stream});
             waits != idle_waits_.end()) {
    work = waits->second;
  }
  return work;
}

void Builder::wait_for_device(NodeId call, Index thread, EdgeRule rule) {
  const Index agent = device_of(thread);
  for (const Index lane : lanes_of_process_[trace_.threads[thread].process]) {
    const NodeId work = lanes_[lane].longest;
    if (work == kNoNode) continue;
    const Index of = input_.lane(lane).agent;
    if (agent != kNone && of != kNone && of != agent) continue;
    // Of several GPUs nobody knows which: then the times alone say what it waited for.
    if (agent == kNone && is_cuda(trace_.threads[thread].process) &&
        graph_.end[work] > graph_.end[call] + options_.noise)
      continue;
    // What a thread has waited for holds up none of its later calls again.
    NodeId& seen = seen_.try_emplace(pair_key(kThreadKey | thread, lane), kNoNode).first->second;
    if (seen == work) continue;
    wait_for(call, work, rule);
    if (graph_.end[work] <= graph_.end[call] + options_.noise) seen = work;
  }
}

void Builder::wait_implicitly(NodeId call, Index region) {
  const Index process = trace_.threads[trace_.regions.thread[region]].process;
  for (const Index lane : lanes_of_process_[process]) {
    const NodeId work = lanes_[lane].longest;
    if (work != kNoNode && graph_.end[work] > graph_.start[call] &&
        graph_.end[work] <= graph_.end[call])
      add_edge(work, EdgeRule::implicit_sync);
  }
}

void Builder::wait_for_signal(NodeId call, Index region) {
  const auto& ends = ends_[trace_.threads[trace_.regions.thread[region]].process];
  const auto after = ends.upper_bound({graph_.end[call], kNoNode});
  if (after != ends.begin() && std::prev(after)->first > graph_.start[call])
    add_edge(std::prev(after)->second, EdgeRule::signal_wait);
}

void Builder::record_event(Index region, Index process, const Arguments& arguments) {
  if ((arguments.has & CallArgumentColumns::kEvent) == 0) return;
  events_.record({process, arguments.event}, arguments.record,
                 work_of_stream(region, process, arguments));
}

void Builder::wait_for_event(NodeId call, Index region, const Arguments& arguments) {
  if ((arguments.has & CallArgumentColumns::kEvent) == 0) return wait_implicitly(call, region);
  const Index process = trace_.threads[trace_.regions.thread[region]].process;
  const auto* const found = events_.find({process, arguments.event}, arguments.record);
  if (found == nullptr) {
    ++report_.unknown_events;
    return;
  }
  for (const PendingWork& work : *found) wait_for(call, work.node, EdgeRule::event_sync);
}

void Builder::stream_waits(Index region, Index process, const Arguments& arguments) {
  if ((arguments.has & CallArgumentColumns::kEvent) == 0) return;
  const auto* const found = events_.find({process, arguments.event}, arguments.record);
  if (found == nullptr) {
    ++report_.unknown_events;
    return;
  }
  const Index lane = lane_of(region, process, arguments);
  if (lane == kNone && !arguments.name_stream()) return;
  auto& waits = lane == kNone ? idle_waits_[{process, arguments.stream}] : lanes_[lane].waits;
  for (const PendingWork& work : *found) add_work(waits, work);
}

/// A copy call waits when something that it submitted ended before it returned. Where its work
/// stands behind another call, that shows only later. Asynchronous calls wait for some memory too.
bool Builder::waits_for_its_work(Index region) const {
  const CallKind kind = input_.call_kind(region);
  if (kind != CallKind::blocking_copy && kind != CallKind::copy) return false;
  const bool blocking = kind == CallKind::blocking_copy;
  if (blocking && input_.is_overtaken(region)) return true;
  const std::int64_t limit = trace_.regions.end[region] + (blocking ? options_.noise : 0);
  return std::any_of(input_.begin_of(region), input_.end_of(region), [&](Operation op) {
    return input_.submitter(op) == region && input_.end(op) <= limit;
  });
}

void Builder::place_call(Index region, const Arguments& arguments) {
  const std::int64_t start = trace_.regions.start[region];
  const Index thread = trace_.regions.thread[region];
  const Index process = trace_.threads[thread].process;
  const bool halves = waits_for_its_work(region);
  const NodeId call =
      add_node(NodeKind::call, region, start, halves ? start : trace_.regions.end[region]);
  ++report_.calls;
  if (threads_[thread].last != kNoNode) add_edge(threads_[thread].last, EdgeRule::program_order);
  threads_[thread].last = call;
  const bool is_overtaken = input_.is_overtaken(region);
  if (is_overtaken) {
    overtaken_.resize(trace_.regions.size());
    overtaken_[region] = call;
    if (halves) overtaken_work_[region] = {};
  }
  const bool submits = input_.begin_of(region) != input_.end_of(region) || is_overtaken;
  switch (input_.call_kind(region)) {
    case CallKind::stream_sync:
      if (!arguments.name_stream()) wait_implicitly(call, region);
      for (const PendingWork& work : work_of_stream(region, process, arguments))
        wait_for(call, work.node, EdgeRule::stream_sync);
      break;
    case CallKind::device_sync:
      wait_for_device(call, thread, EdgeRule::device_sync);
      break;
    case CallKind::event_sync:
      wait_for_event(call, region, arguments);
      break;
    case CallKind::event_record:
      if (!threads_[thread].captures || arguments.record) record_event(region, process, arguments);
      break;
    case CallKind::stream_wait_event:
      if (!threads_[thread].captures || arguments.record) stream_waits(region, process, arguments);
      break;
    case CallKind::begin_capture:
    case CallKind::end_capture:
      threads_[thread].captures = input_.call_kind(region) == CallKind::begin_capture;
      break;
    case CallKind::implicit_sync:
      wait_implicitly(call, region);
      break;
    case CallKind::blocking_copy:
      if (!submits) wait_implicitly(call, region);
      break;
    case CallKind::signal_wait:
      wait_for_signal(call, region);
      break;
    default:
      break;
  }
  if (input_.launches_graph(region)) {
    ++report_.graph_launches;
    if (!submits) ++report_.blind_graph_launches;
  }
  for (auto op = input_.begin_of(region); op != input_.end_of(region); ++op)
    place_operation(*op, call);
  if (halves && is_overtaken)
    late_halves_[input_.overtaken_by(region)].push_back(region);
  else if (halves)
    place_wait_half(region, call);
  place_late_halves(region);
}

/// Waiting halves of calls of which the last operation stands behind this one.
void Builder::place_late_halves(Index region) {
  const auto late = late_halves_.find(region);
  if (late == late_halves_.end()) return;
  for (const Index waiting : late->second) place_wait_half(waiting, overtaken_[waiting]);
  late_halves_.erase(late);
}

void Builder::place_wait_half(Index region, NodeId call) {
  const bool blocking = input_.call_kind(region) == CallKind::blocking_copy;
  const EdgeRule rule = blocking ? EdgeRule::blocking_call : EdgeRule::implicit_sync;
  std::vector<NodeId> all;
  if (const auto late = overtaken_work_.find(region); late != overtaken_work_.end())
    all = late->second;
  else
    for (NodeId work = call + 1; work < graph_.size(); ++work)
      if (input_.submitter(graph_.kind_row[work]) == region) all.push_back(work);
  const NodeId wait = add_node(NodeKind::call_wait, region, trace_.regions.start[region],
                               trace_.regions.end[region]);
  add_edge(call, EdgeRule::program_order);
  for (const NodeId work : all)
    if (graph_.end[work] <= graph_.end[wait] + (blocking ? options_.noise : 0))
      push_edge(work, rule);
  threads_[trace_.regions.thread[region]].last = wait;
}

BuiltGraph Builder::build() && {
  reserve();
  place_free_operations();
  for (Index region = 0; region < trace_.regions.size(); ++region) {
    const Arguments arguments = arguments_of(region);
    if ((arguments.has & CallArgumentColumns::kDevice) != 0 &&
        input_.call_kind(region) == CallKind::set_device &&
        trace_.regions.thread[region] != kNone) {
      threads_[trace_.regions.thread[region]].device = arguments.device;
      threads_[trace_.regions.thread[region]].device_said = true;
    }
    if (input_.is_node(region)) place_call(region, arguments);
  }
  graph_.first_edge.push_back(static_cast<std::uint32_t>(graph_.from.size()));
  return {.graph = std::move(graph_), .report = report_};
}

}  // namespace

BuiltGraph build_graph(const trace::Trace& trace, GraphInput input, const GraphOptions& options) {
  return Builder(trace, std::move(input), options).build();
}

BuiltGraph build_graph(const trace::Trace& trace, const TimingScope& scope, Index node,
                       const GraphOptions& options) {
  return build_graph(trace, GraphInput(trace, scope, node), options);
}

}  // namespace perflab::analyze
