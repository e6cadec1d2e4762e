// Names for the kinds of analyze/critical_path, in one place.
#include "report/critical_path/dag_parts.h"

#include <fmt/format.h>

#include <array>

namespace perflab::report {
namespace {

using analyze::NodeKind;
using analyze::Place;
using analyze::Spent;

struct SpentNames {
  std::string_view name, words, brief;
};

constexpr std::array<SpentNames, analyze::kSpentKinds> kSpent = {{
    {"kernel", "kernels", "kernels"},
    {"copy", "copies", "copies"},
    {"launch_latency", "launch latency", "launch latency"},
    {"host_call", "host: inside API calls", "API calls"},
    {"sync_return", "host: return from waiting", "wait's return"},
    {"host_code", "host: own code", "host code"},
    {"idle", "idle", "idle"},
}};

constexpr std::array<std::string_view, 4> kKinds = {"dispatch", "copy", "call", "call_wait"};
constexpr std::array<std::string_view, 5> kPlaces = {"host_thread", "stream", "queue", "several",
                                                     "nowhere"};

}  // namespace

std::string_view name_of(Spent spent) {
  return kSpent[static_cast<std::size_t>(spent)].name;
}

std::string_view words_for(Spent spent) {
  return kSpent[static_cast<std::size_t>(spent)].words;
}

std::string_view brief_words_for(Spent spent) {
  return kSpent[static_cast<std::size_t>(spent)].brief;
}

std::string_view name_of(analyze::NodeEvent event) {
  return event == analyze::NodeEvent::start ? "start" : "end";
}

std::string_view name_of(NodeKind kind) {
  return kKinds[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Place place) {
  return kPlaces[static_cast<std::size_t>(place)];
}

std::vector<Spent> all_spent() {
  std::vector<Spent> out;
  for (std::size_t i = 0; i < analyze::kSpentKinds; ++i) out.push_back(static_cast<Spent>(i));
  return out;
}

NodePlace place_of_track(const trace::Trace& trace, trace::Index track) {
  const trace::Track& where = trace.tracks[track];
  NodePlace out{.process = where.process, .thread = where.thread, .agent = where.agent};
  if (where.stream != trace::kNone) {
    out.place = Place::stream;
    out.id = trace.streams[where.stream].id;
  } else if (where.queue != trace::kNone) {
    out.place = Place::queue;
    out.id = trace.queues[where.queue].id;
  }
  return out;
}

const trace::Track* track_of_row(const trace::Trace& trace, const analyze::NodeRow& node) {
  if (node.kind == NodeKind::dispatch) return &trace.tracks[trace.dispatches.track[node.row]];
  if (node.kind == NodeKind::copy) return &trace.tracks[trace.copies.track[node.row]];
  return nullptr;
}

NodePlace place_of_row(const trace::Trace& trace, const analyze::NodeRow& node) {
  if (node.kind == NodeKind::dispatch)
    return place_of_track(trace, trace.dispatches.track[node.row]);
  if (node.kind == NodeKind::copy) return place_of_track(trace, trace.copies.track[node.row]);
  const trace::Index thread = trace.regions.thread[node.row];
  if (thread == trace::kNone) return {};
  return {.place = Place::host_thread,
          .process = trace.threads[thread].process,
          .thread = thread,
          .id = trace.threads[thread].tid};
}

std::pair<std::int64_t, std::int64_t> times_of_row(const trace::Trace& trace,
                                                   const analyze::NodeRow& node) {
  const std::size_t row = node.row;
  if (node.kind == NodeKind::dispatch)
    return {trace.dispatches.start[row], trace.dispatches.end[row]};
  if (node.kind == NodeKind::copy) return {trace.copies.start[row], trace.copies.end[row]};
  return {trace.regions.start[row], trace.regions.end[row]};
}

trace::Index name_of_row(const trace::Trace& trace, const analyze::NodeRow& node) {
  if (node.kind == NodeKind::dispatch)
    return trace.kernel_symbols[trace.dispatches.kernel[node.row]].name;
  if (node.kind == NodeKind::copy) return trace.copies.kind[node.row];
  return trace.regions.name[node.row];
}

std::string place_text(Place place, std::int64_t id) {
  switch (place) {
    case Place::host_thread:
      return fmt::format("thread {}", id);
    case Place::stream:
      return fmt::format("stream {}", id);
    case Place::queue:
      return fmt::format("queue {}", id);
    case Place::several:
      return "several";
    case Place::nowhere:
      break;
  }
  return "—";
}

}  // namespace perflab::report
