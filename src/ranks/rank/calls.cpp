#include "ranks/rank/calls.h"

#include <algorithm>
#include <string_view>

#include "ranks/rank/roctx_text.h"

namespace perflab::ranks {

namespace {

using trace::Index;
using trace::kNone;
using trace::Trace;

/// NVTX ranges of NCCL, each around one call: "ncclAllReduce". Its own calls are not recorded.
bool is_range_of_nccl(std::string_view text) {
  return text.size() > 4 && text.starts_with("nccl") && text[4] >= 'A' && text[4] <= 'Z' &&
         function_facts(text).role != CallRole::other;
}

/// Of regions, what the recording or a range's text says; by region.
std::unordered_map<Index, Said> said_of_regions(const Trace& trace) {
  std::unordered_map<Index, Said> said;
  for (const trace::Communication& one : trace.communications) {
    if (one.of_region) said.try_emplace(one.row, said_by(trace, one));
  }
  for (std::size_t i = 0; i < trace.ranges.region.size(); ++i) {
    const std::string_view message = trace.strings.view(trace.ranges.message[i]);
    Said what;
    if (is_range_of_nccl(message)) {
      what.source = KeySource::calls;
      what.function = message;
      said.try_emplace(trace.ranges.region[i], std::move(what));
      continue;
    }
    const auto text = parse_roctx_text(message);
    if (!text) continue;
    what.source = KeySource::text;
    what.function = text->function;
    what.group = text->group;
    what.data_type = text->data_type;
    what.bytes = text->bytes;
    what.root = text->root;
    what.peer = text->peer;
    said.try_emplace(trace.ranges.region[i], std::move(what));
  }
  return said;
}

bool is_library(std::string_view category) {
  return category == "RCCL_API" || category == "RCCL_API_EXT" || category == "NCCL_API";
}

/// Of PyTorch's annotations; by region.
std::unordered_map<Index, Said> said_by_annotations(const Trace& trace) {
  std::unordered_map<Index, Said> said;
  for (std::size_t i = 0; i < trace.ranges.region.size(); ++i) {
    const auto function = annotated_function(trace.strings.view(trace.ranges.message[i]));
    if (!function || function_facts(*function).role != CallRole::communicates) continue;
    Said what;
    what.source = KeySource::calls;
    what.function = *function;
    said.try_emplace(trace.ranges.region[i], std::move(what));
  }
  return said;
}

/// What RCCL's text of a call adds to the call's arguments.
void add_text(const Said& text, Said& said) {
  if (said.source != KeySource::arguments || text.source != KeySource::text) return;
  if (said.group.empty() && !text.group.empty()) {
    said.group = text.group;
    said.source = KeySource::text;
  }
  if (said.data_type.empty()) said.data_type = text.data_type;
  if (!said.bytes) said.bytes = text.bytes;
  if (!said.root) said.root = text.root;
  if (!said.peer) said.peer = text.peer;
}

/// Units of one thread, while its calls come in order.
struct OpenGroup {
  std::uint32_t depth = 0;
  CallUnit unit;
};

void add_to_units(const Trace& trace, ProcessCalls& all, OpenGroup& open, std::uint32_t number) {
  LibraryCall& call = all.calls[number];
  const Index thread = trace.regions.thread[call.region];
  const std::int64_t start = trace.regions.start[call.region];
  const auto close = [&](CallUnit&& unit) {
    call.unit = static_cast<std::uint32_t>(all.units.size());
    for (const std::uint32_t part : unit.parts) all.calls[part].unit = call.unit;
    all.units.push_back(std::move(unit));
  };
  switch (call.facts.role) {
    case CallRole::group_start:
      if (open.depth++ == 0)
        open.unit = {.thread = thread, .group = true, .parts = {}, .start = start};
      return;
    case CallRole::group_end:
      if (open.depth == 0) {
        close({.thread = thread, .group = true, .start_lost = true, .parts = {}, .start = start});
      } else if (--open.depth == 0) {
        close(std::move(open.unit));
      }
      return;
    case CallRole::communicates:
      if (open.depth > 0) {
        open.unit.parts.push_back(number);
      } else {
        close({.thread = thread, .parts = {number}, .start = start});
      }
      return;
    case CallRole::other:
      return;
  }
}

/// The calls of a process; `said`: what is known of regions.
ProcessCalls collect(const Trace& trace, Index process,
                     const std::unordered_map<Index, Said>& said) {
  ProcessCalls all;
  std::vector<signed char> library(trace.strings.size(), -1);  // by category, once known
  struct Thread {
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    std::uint32_t call = kNoUnit;
    OpenGroup open = {};
  };
  std::unordered_map<Index, Thread> threads;
  for (Index region = 0; region < trace.regions.size(); ++region) {
    signed char& known = library[trace.regions.category[region]];
    if (known < 0) known = is_library(trace.strings.view(trace.regions.category[region])) ? 1 : 0;
    const auto about = said.find(region);
    if (known == 0 && about == said.end()) continue;
    const Index on = trace.regions.thread[region];
    if (on == kNone || trace.threads[on].process != process) continue;
    Thread& thread = threads[on];
    const bool outermost = thread.call == kNoUnit || trace.regions.start[region] >= thread.end;
    if (outermost) {
      LibraryCall call;
      call.region = region;
      call.function = known == 1 ? std::string(trace.strings.view(trace.regions.name[region]))
                                 : about->second.function;
      call.facts = function_facts(call.function);
      thread.end = trace.regions.end[region];
      thread.call = static_cast<std::uint32_t>(all.calls.size());
      all.call_of_region.emplace(region, thread.call);
      all.by_thread[on].push_back(thread.call);
      all.calls.push_back(std::move(call));
      add_to_units(trace, all, thread.open, thread.call);
    }
    // Arguments further in are those of calls that RCCL makes itself.
    if (about == said.end() || (!outermost && about->second.source == KeySource::arguments))
      continue;
    LibraryCall& call = all.calls[thread.call];
    if (call.said == kNoUnit) {
      call.said = static_cast<std::uint32_t>(all.said.size());
      all.said.push_back(about->second);
    } else if (function_facts(about->second.function).kind == call.facts.kind) {
      add_text(about->second, all.said[call.said]);
    }
  }
  return all;
}

}  // namespace

Said said_by(const Trace& trace, const trace::Communication& what) {
  const auto text = [&](Index index) {
    return index == kNone ? std::string() : std::string(trace.strings.view(index));
  };
  return {.source = KeySource::arguments,
          .function = text(what.function),
          .group = text(what.group),
          .data_type = text(what.data_type),
          .handle = text(what.handle),
          .sequence = what.sequence,
          .group_size = what.group_size,
          .in_count = what.in_count,
          .out_count = what.out_count,
          .count = what.count,
          .bytes = what.bytes,
          .root = what.root,
          .peer = what.peer,
          .members = what.members};
}

ProcessCalls find_calls(const Trace& trace, Index process) {
  ProcessCalls all = collect(trace, process, said_of_regions(trace));
  if (!all.calls.empty()) return all;
  all = collect(trace, process, said_by_annotations(trace));
  all.annotations = true;
  return all;
}

const LibraryCall* ProcessCalls::behind(const Trace& trace, Index region) const {
  if (calls.empty() || region == kNone) return nullptr;
  // RCCL's regions are their own parents in some recordings; a chain is never long.
  Index at = region;
  for (int hops = 0; hops < 64 && at != kNone; ++hops) {
    if (const auto found = call_of_region.find(at); found != call_of_region.end()) {
      return &calls[found->second];
    }
    if (trace.regions.parent[at] == at) break;
    at = trace.regions.parent[at];
  }
  const auto thread = by_thread.find(trace.regions.thread[region]);
  if (thread == by_thread.end()) return nullptr;
  const std::int64_t when = trace.regions.start[region];
  const auto after = std::ranges::upper_bound(thread->second, when, {}, [&](std::uint32_t call) {
    return trace.regions.start[calls[call].region];
  });
  if (after == thread->second.begin()) return nullptr;
  const LibraryCall& before = calls[*std::prev(after)];
  return trace.regions.end[before.region] > when ? &before : nullptr;
}

void adopt_parts(ProcessCalls& all, const std::vector<bool>& launched) {
  std::unordered_map<Index, std::uint32_t> last;  // unit of each thread
  std::vector<std::uint32_t> before(all.units.size(), kNoUnit);
  for (std::uint32_t i = 0; i < all.units.size(); ++i) {
    const auto [known, fresh] = last.try_emplace(all.units[i].thread, i);
    if (!fresh) before[i] = std::exchange(known->second, i);
  }
  for (std::uint32_t i = 0; i < all.units.size(); ++i) {
    CallUnit& unit = all.units[i];
    if (!unit.start_lost || !launched[i]) continue;
    for (std::uint32_t from = before[i]; from != kNoUnit && !launched[from] &&
                                         !all.units[from].group && !all.units[from].parts.empty();
         from = before[from]) {
      const std::uint32_t part = all.units[from].parts.front();
      all.calls[part].unit = i;
      unit.parts.insert(unit.parts.begin(), part);
      all.units[from].parts.clear();
    }
  }
}

}  // namespace perflab::ranks
