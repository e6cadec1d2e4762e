#include "ranks/rank/find_collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "ranks/rank/message_bytes.h"
#include "trace/api_calls.h"

namespace perflab::ranks {

namespace {

using trace::Index;
using trace::kNone;
using trace::Trace;

/// A kernel that communicates, or may be part of what does.
struct Candidate {
  Index dispatch = kNone;
  KernelFacts kernel;
  std::uint32_t unit = kNoUnit;
  std::int64_t lane = 0;
  bool inside_graph = false;
  const Said* said = nullptr;  ///< of the dispatch itself
};

/// Kernels that are one operation.
struct Operation {
  std::vector<const Candidate*> kernels;
  std::uint32_t unit = kNoUnit;
};

/// What is known of an operation's communicator.
struct Told {
  Communicator communicator;
  std::string handle;  ///< of the rank alone; empty: not said
};

/// Null where one is not known, or the sum has no room.
std::optional<std::int64_t> plus(std::optional<std::int64_t> one,
                                 std::optional<std::int64_t> other) {
  std::int64_t sum = 0;
  if (!one || !other || __builtin_add_overflow(*one, *other, &sum)) return std::nullopt;
  return sum;
}

std::int64_t lane_of(const Trace& trace, Index dispatch) {
  const trace::Track& track = trace.tracks[trace.dispatches.track[dispatch]];
  if (track.stream != kNone) return trace.streams[track.stream].id;
  return track.queue == kNone ? -1 : trace.queues[track.queue].id;
}

std::uint32_t work_groups(const Trace& trace, Index dispatch) {
  const trace::LaunchConfig& config = trace.launch_configs[trace.dispatches.config[dispatch]];
  std::uint64_t groups = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::uint64_t size = std::max<std::uint32_t>(config.workgroup[axis], 1);
    groups = std::min<std::uint64_t>(groups * std::max<std::uint64_t>(config.grid[axis] / size, 1),
                                     0xFFFF'FFFF);
  }
  return static_cast<std::uint32_t>(groups);
}

class Finder {
 public:
  Finder(const Trace& trace, Index process, Index agent, ProcessCalls& calls, Names& names,
         KernelNames& kernel_names)
      : trace_(trace),
        process_(process),
        agent_(agent),
        calls_(calls),
        names_(names),
        kernel_names_(kernel_names) {}

  FoundCollectives run(bool only_agent) {
    find_candidates(only_agent);
    drop_what_is_no_part();
    note_launched();
    adopt_parts(calls_, launched_);
    if (only_agent) tie_by_order();
    const std::vector<Operation> all = operations();
    for (const Operation& one : all) ++operations_of_unit_[one.unit];
    for (const Operation& one : all) add(one);
    finish();
    return std::move(found_);
  }

 private:
  void find_candidates(bool only_agent);
  void drop_what_is_no_part();
  void note_launched();
  void tie_by_order();
  std::vector<Operation> operations() const;
  void add(const Operation& operation);
  void describe(const Operation& operation, Collective& collective, Told& told);
  void note_other(Index dispatch, Index agent);
  void describe_unit(std::uint32_t number, Collective& collective, Told& told);
  void describe_fused(std::uint32_t number, Collective& collective, Told& told);
  void describe_said(const Said& said, Collective& collective, Told& told);
  std::uint32_t number(const Told& told);
  void finish();

  const Trace& trace_;
  Index process_, agent_;
  ProcessCalls& calls_;
  Names& names_;
  KernelNames& kernel_names_;
  std::vector<Said> said_of_dispatches_;
  std::vector<Candidate> candidates_;                      ///< by dispatch
  std::vector<bool> launched_;                             ///< by unit
  std::map<std::uint32_t, std::set<Index>> other_agents_;  ///< of the process, by unit
  std::map<std::uint32_t, std::size_t> operations_of_unit_;
  std::vector<std::vector<Index>> kernels_;  ///< by collective as it was found
  std::map<std::tuple<KeySource, std::string, std::string, std::int64_t>, std::uint32_t> numbers_;
  FoundCollectives found_;
};

void Finder::find_candidates(bool only_agent) {
  std::unordered_map<Index, std::size_t> said;
  for (const trace::Communication& one : trace_.communications) {
    if (one.of_region || one.row >= trace_.dispatches.size()) continue;
    said.emplace(one.row, said_of_dispatches_.size());
    said_of_dispatches_.push_back(said_by(trace_, one));
  }
  std::vector<std::optional<KernelFacts>> facts(trace_.kernel_symbols.size());
  for (Index i = 0; i < trace_.dispatches.size(); ++i) {
    const trace::Track& track = trace_.tracks[trace_.dispatches.track[i]];
    if (track.process != process_) continue;
    if (track.agent != agent_ && only_agent) continue;
    auto& known = facts[trace_.dispatches.kernel[i]];
    const trace::KernelSymbol& symbol = trace_.kernel_symbols[trace_.dispatches.kernel[i]];
    if (!known) known = kernel_facts(trace_.strings.view(symbol.name));
    if (track.agent != agent_) {
      if (known->role == KernelRole::communicates) note_other(i, track.agent);
      continue;
    }
    Candidate one{.dispatch = i, .kernel = *known};
    if (const auto at = said.find(i); at != said.end()) one.said = &said_of_dispatches_[at->second];
    const Index launch = trace_.dispatches.launch[i];
    if (launch != kNone) {
      one.inside_graph = trace::is_graph_launch(trace_.strings.view(trace_.regions.name[launch]));
      const LibraryCall* const call = calls_.behind(trace_, launch);
      const bool may_own =
          calls_.own_all() || (one.kernel.role == KernelRole::communicates && one.said == nullptr);
      if (call != nullptr && !one.inside_graph && may_own) one.unit = call->unit;
    }
    if (one.kernel.role == KernelRole::one_rank) continue;
    // Runtime helpers fill and copy for RCCL too: they wait for nobody.
    const bool helper = trace_.strings.view(symbol.name).starts_with("__amd_rocclr_");
    if (one.kernel.role != KernelRole::communicates && one.said == nullptr &&
        (one.unit == kNoUnit || helper)) {
      continue;
    }
    one.lane = lane_of(trace_, i);
    candidates_.push_back(one);
  }
}

/// One group may launch on all GPUs of the process, a call for each.
void Finder::note_other(Index dispatch, Index agent) {
  const LibraryCall* const call = calls_.behind(trace_, trace_.dispatches.launch[dispatch]);
  if (call != nullptr && call->unit != kNoUnit) other_agents_[call->unit].insert(agent);
}

/// Of kernels that their names do not tell only those stay whose unit launched none that is told.
void Finder::drop_what_is_no_part() {
  std::vector<bool> told(calls_.units.size());
  for (const Candidate& one : candidates_) {
    if (one.unit != kNoUnit && one.kernel.role == KernelRole::communicates) told[one.unit] = true;
  }
  std::erase_if(candidates_, [&](const Candidate& one) {
    return one.kernel.role == KernelRole::ordinary && one.said == nullptr && told[one.unit];
  });
}

void Finder::note_launched() {
  launched_.assign(calls_.units.size(), false);
  for (const Candidate& one : candidates_) {
    if (one.unit != kNoUnit) launched_[one.unit] = true;
  }
}

/// Communicators that do not block launch from a thread of their own. Where as many calls have no
/// kernel as kernels have no call, and no kernel comes before its call, they are tied in order.
void Finder::tie_by_order() {
  if (!calls_.own_all()) return;
  std::vector<Candidate*> alone;
  for (Candidate& one : candidates_) {
    if (one.unit == kNoUnit && !one.inside_graph && one.said == nullptr) alone.push_back(&one);
  }
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t i = 0; i < calls_.units.size(); ++i) {
    if (!launched_[i] && !calls_.units[i].parts.empty()) waiting.push_back(i);
  }
  if (alone.empty() || alone.size() != waiting.size()) return;
  std::ranges::stable_sort(waiting, {}, [&](std::uint32_t i) { return calls_.units[i].start; });
  std::ranges::stable_sort(alone, {}, [&](const Candidate* one) {
    return trace_.dispatches.dispatch_id[one->dispatch];
  });
  for (std::size_t i = 0; i < alone.size(); ++i) {
    if (trace_.dispatches.start[alone[i]->dispatch] < calls_.units[waiting[i]].start) return;
  }
  for (std::size_t i = 0; i < alone.size(); ++i) alone[i]->unit = waiting[i];
  found_.by_order = alone.size();
}

std::vector<Operation> Finder::operations() const {
  std::vector<Operation> all;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> open;  // unit and lane
  for (const Candidate& one : candidates_) {
    if (one.unit == kNoUnit) {
      all.push_back({.kernels = {&one}});
      continue;
    }
    // A group may be of several communicators, each on its stream; a call is one operation.
    const std::int64_t lane = calls_.units[one.unit].group ? one.lane : 0;
    const auto [at, fresh] = open.try_emplace({one.unit, lane}, all.size());
    if (fresh) all.push_back({.kernels = {}, .unit = one.unit});
    all[at->second].kernels.push_back(&one);
  }
  return all;
}

void Finder::describe_said(const Said& said, Collective& collective, Told& told) {
  if (!said.group.empty()) {
    told.communicator = {.key = said.source,
                         .id = said.group,
                         .size = said.group_size,
                         .members = said.members,
                         .lane = told.communicator.lane};
  }
  told.handle = said.handle;
  collective.sequence = said.sequence;
  collective.root = said.root;
  collective.peer = said.peer;
  if (!said.data_type.empty()) collective.data_type = names_.add(said.data_type);
  const MessageBytes bytes = message_bytes(collective.kind, said);
  collective.send_bytes = bytes.send;
  collective.receive_bytes = bytes.receive;
  collective.part_bytes = bytes.part;
}

void Finder::describe_unit(std::uint32_t number, Collective& collective, Told& told) {
  const CallUnit& unit = calls_.units[number];
  if (unit.parts.empty()) {  // calls within the group were not recorded
    collective.kind = CollectiveKind::group;
    return;
  }
  told.communicator.key = KeySource::calls;
  const LibraryCall& first = calls_.calls[unit.parts.front()];
  collective.kind = first.facts.kind;
  collective.function = names_.add(first.function);
  if (unit.parts.size() > 1) {
    describe_fused(number, collective, told);
  } else if (first.said != kNoUnit) {
    describe_said(calls_.said[first.said], collective, told);
  }
}

/// Several calls in one kernel, or one for each GPU of the process: what they have in common, and
/// what they move.
void Finder::describe_fused(std::uint32_t number, Collective& collective, Told& told) {
  const CallUnit& unit = calls_.units[number];
  const LibraryCall& first = calls_.calls[unit.parts.front()];
  const auto others = other_agents_.find(number);
  const std::size_t gpus = others == other_agents_.end() ? 1 : 1 + others->second.size();
  MessageBytes sum{.send = 0, .receive = 0, .part = 0};
  bool same_group = true, same_handle = true, same_root = true, same_bytes = true;
  bool same_kind =
      collective.kind != CollectiveKind::send && collective.kind != CollectiveKind::receive;
  for (const std::uint32_t part : unit.parts) {
    const LibraryCall& call = calls_.calls[part];
    same_kind = same_kind && call.facts.kind == first.facts.kind;
    if (call.said == kNoUnit || first.said == kNoUnit) {
      same_group = false;
      continue;
    }
    const Said& said = calls_.said[call.said];
    const Said& said_first = calls_.said[first.said];
    same_group = same_group && said.group == said_first.group;
    same_handle = same_handle && said.handle == said_first.handle;
    same_root = same_root && said.root == said_first.root;
    same_bytes = same_bytes && said.bytes == said_first.bytes && said.count == said_first.count &&
                 said.in_count == said_first.in_count && said.out_count == said_first.out_count;
    const MessageBytes bytes = message_bytes(call.facts.kind, said);
    sum.send = plus(sum.send, bytes.send);
    sum.receive = plus(sum.receive, bytes.receive);
    sum.part = plus(sum.part, bytes.part);
  }
  // Whose roots differ is waited for by several: no one rank is the root.
  same_kind = same_kind && same_root;
  // GPUs of one process have a handle each.
  same_group = same_group && (same_handle || gpus > 1);
  if (same_group) describe_said(calls_.said[first.said], collective, told);
  if (!same_handle) told.handle.clear();
  // Which call is of which GPU is not recorded: only where each has one, and all are alike, what
  // the first says is what this GPU does.
  const bool one_each = gpus == unit.parts.size() && same_bytes;
  if (gpus == 1 || !one_each) {
    // Calls without a communicator's name may be of another one, on another stream.
    const bool told_apart =
        operations_of_unit_[number] == 1 || !told.communicator.id.empty() || !told.handle.empty();
    const bool known = same_group && gpus == 1 && told_apart;
    collective.send_bytes = known ? sum.send : std::nullopt;
    collective.receive_bytes = known ? sum.receive : std::nullopt;
    collective.part_bytes = known && same_kind ? sum.part : std::nullopt;
  }
  collective.peer.reset();
  if (!same_kind) {
    collective.kind = CollectiveKind::group;
    collective.function = names_.add("ncclGroupEnd");
    collective.root.reset();
  }
}

void Finder::describe(const Operation& operation, Collective& collective, Told& told) {
  const Candidate& first = *operation.kernels.front();
  told.communicator.lane = first.lane;
  collective.kind = first.kernel.kind;
  if (first.said != nullptr) {
    const FunctionFacts facts = function_facts(first.said->function);
    if (facts.role == CallRole::communicates) collective.kind = facts.kind;
    if (!first.said->function.empty()) {
      collective.function = names_.add(first.said->function);
      told.communicator.key = KeySource::calls;
    }
    describe_said(*first.said, collective, told);
  } else if (operation.unit != kNoUnit) {
    describe_unit(operation.unit, collective, told);
    if (calls_.annotations) ++found_.by_annotation;
    // Where the call says nothing more, a kernel's name may: NVIDIA's do.
    if (collective.kind == CollectiveKind::unknown || collective.kind == CollectiveKind::group) {
      if (first.kernel.kind != CollectiveKind::unknown) collective.kind = first.kernel.kind;
    }
  } else if (!first.inside_graph) {
    ++found_.without_call;
  }
}

/// What no name says is one communicator by its handle, else by its stream.
std::uint32_t Finder::number(const Told& told) {
  const Communicator& communicator = told.communicator;
  const bool named = !communicator.id.empty();
  const auto [at, fresh] =
      numbers_.try_emplace({communicator.key, communicator.id, named ? "" : told.handle,
                            named || !told.handle.empty() ? 0 : communicator.lane},
                           static_cast<std::uint32_t>(found_.communicators.size()));
  if (fresh) {
    found_.communicators.push_back(communicator);
    return at->second;
  }
  Communicator& known = found_.communicators[at->second];
  if (!known.size) known.size = communicator.size;
  if (known.members.empty()) known.members = communicator.members;
  return at->second;
}

void Finder::add(const Operation& operation) {
  Collective collective;
  Told told;
  const Candidate& first = *operation.kernels.front();
  collective.entry = trace_.dispatches.start[first.dispatch];
  std::vector<Index> rows;
  for (const Candidate* const kernel : operation.kernels) {
    collective.entry = std::min(collective.entry, trace_.dispatches.start[kernel->dispatch]);
    collective.exit = std::max(collective.exit, trace_.dispatches.end[kernel->dispatch]);
    rows.push_back(kernel->dispatch);
  }
  collective.inside_graph = first.inside_graph;
  if (first.inside_graph) found_.inside_graphs += operation.kernels.size();
  collective.kernel = kernel_names_.of(trace_.dispatches.kernel[first.dispatch]);
  collective.kernels = static_cast<std::uint32_t>(operation.kernels.size());
  collective.channels = work_groups(trace_, first.dispatch);
  describe(operation, collective, told);
  if (!collective.send_bytes && !collective.receive_bytes && !collective.part_bytes)
    ++found_.without_bytes;
  collective.communicator = number(told);
  found_.collectives.push_back(collective);
  kernels_.push_back(std::move(rows));
}

/// Puts collectives into their order, and communicators into that of their first one.
void Finder::finish() {
  std::vector<std::uint32_t> order(found_.collectives.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) {
    const Collective& one = found_.collectives[i];
    return std::tuple{one.entry, one.exit, kernels_[i].front()};
  });
  std::vector<Collective> collectives;
  std::vector<Communicator> communicators;
  std::vector<std::uint32_t> renamed(found_.communicators.size(), kNoUnit);
  for (std::uint32_t place = 0; place < order.size(); ++place) {
    Collective one = found_.collectives[order[place]];
    std::uint32_t& name = renamed[one.communicator];
    if (name == kNoUnit) {
      name = static_cast<std::uint32_t>(communicators.size());
      communicators.push_back(std::move(found_.communicators[one.communicator]));
    }
    one.communicator = name;
    collectives.push_back(one);
    for (const Index row : kernels_[order[place]]) found_.dispatches.emplace_back(row, place);
  }
  std::ranges::sort(found_.dispatches);
  found_.collectives = std::move(collectives);
  found_.communicators = std::move(communicators);
}

}  // namespace

Name Names::add(std::string_view text) {
  const auto [at, fresh] = index_.try_emplace(std::string(text), static_cast<Name>(names_.size()));
  if (fresh) names_.emplace_back(text);
  return at->second;
}

std::vector<std::string> Names::take() {
  index_.clear();
  return std::move(names_);
}

KernelNames::KernelNames(const Trace& trace, Names& names)
    : trace_(trace), names_(names), known_(trace.kernel_symbols.size(), kNoName) {}

Name KernelNames::of(Index kernel) {
  Name& known = known_[kernel];
  if (known == kNoName) {
    known = names_.add(short_kernel_name(trace_.strings.view(trace_.kernel_symbols[kernel].name)));
  }
  return known;
}

FoundCollectives find_collectives(const Trace& trace, Index process, Index agent,
                                  ProcessCalls& calls, bool only_agent, Names& names,
                                  KernelNames& kernel_names) {
  return Finder(trace, process, agent, calls, names, kernel_names).run(only_agent);
}

}  // namespace perflab::ranks
