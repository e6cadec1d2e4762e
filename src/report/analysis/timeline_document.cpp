// Builder of timeline.json. Slices and stretches are arrays of numbers: there can be 80,000.
#include "report/analysis/timeline_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/critical_path/dag_document.h"
#include "report/critical_path/dag_parts.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

using analyze::Place;
using analyze::Timeline;
using analyze::TimelineLane;

/// Stream or queue id of the recording; of a thread: its place in environment.threads.
Json lane_id(const trace::Trace& trace, const TimelineLane& lane) {
  switch (lane.kind) {
    case Place::host_thread:
      return lane.place;
    case Place::stream:
      return trace.streams[lane.place].id;
    case Place::queue:
      return trace.queues[lane.place].id;
    case Place::several:
    case Place::nowhere:
      break;
  }
  return nullptr;
}

/// What makes lanes of one timeline different from each other, and no more.
struct LaneLabels {
  bool processes = false, gpus = false;
};

LaneLabels labels_of(const trace::Trace& trace, const Timeline& timeline) {
  LaneLabels out;
  const TimelineLane* with_gpu = nullptr;
  for (const TimelineLane& lane : timeline.lanes) {
    out.processes = out.processes || lane.process != timeline.lanes.front().process;
    // A copy between hosts has no GPU, but can have the stream of one.
    if (lane.kind == Place::stream && lane.agent == trace::kNone)
      out.gpus = out.gpus || std::ranges::any_of(timeline.lanes, [&](const TimelineLane& other) {
                   return other.kind == Place::stream && other.agent != trace::kNone &&
                          other.process == lane.process &&
                          trace.streams[other.place].id == trace.streams[lane.place].id;
                 });
    if (lane.agent == trace::kNone) continue;
    out.gpus = out.gpus || (with_gpu != nullptr && with_gpu->agent != lane.agent);
    with_gpu = &lane;
  }
  return out;
}

std::string lane_label(const trace::Trace& trace, const TimelineLane& lane,
                       const LaneLabels& labels) {
  std::string out;
  if (labels.processes && lane.process != trace::kNone)
    out += fmt::format("process {}, ", lane.process);
  if (labels.gpus && lane.agent != trace::kNone)
    out += fmt::format("agent {}, ", trace.agents[lane.agent].absolute_index);
  if (lane.kind == Place::nowhere) return out + "no stream or queue recorded";
  return out + place_text(lane.kind, lane_id(trace, lane).get<std::int64_t>());
}

Json slices_json(const TimelineLane& lane) {
  Json out = Json::array();
  out.get_ref<Json::array_t&>().reserve(lane.slices.size());
  for (const analyze::TimelineSlice& slice : lane.slices)
    out.push_back(Json::array(
        {slice.start, slice.duration, slice.name, slice.count, slice.busy, slice.path}));
  return out;
}

Json lanes_json(const trace::Trace& trace, const Timeline& timeline) {
  const LaneLabels labels = labels_of(trace, timeline);
  Json out = Json::array();
  for (const TimelineLane& lane : timeline.lanes) {
    Json row = object_with_room(9);
    row["kind"] = name_of(lane.kind);
    row["process"] = lane.process == trace::kNone ? Json(nullptr) : Json(lane.process);
    row["id"] = lane_id(trace, lane);
    row["label"] = lane_label(trace, lane, labels);
    row["operations"] = lane.operations;
    row["busy_ns"] = lane.busy;
    row["path_ns"] = lane.path;
    row["slices"] = slices_json(lane);
    out.push_back(std::move(row));
  }
  return out;
}

Json rest_json(const analyze::TimelineRest& rest) {
  return {{"operations", rest.operations}, {"busy_ns", rest.busy}};
}

Json stretches_json(const std::vector<analyze::TimelineStretch>& path) {
  Json out = Json::array();
  out.get_ref<Json::array_t&>().reserve(path.size());
  for (const analyze::TimelineStretch& stretch : path)
    out.push_back(Json::array({stretch.from, stretch.to, static_cast<std::size_t>(stretch.spent),
                               stretch.lane == trace::kNone ? Json(nullptr) : Json(stretch.lane),
                               stretch.spent_time}));
  return out;
}

}  // namespace

Json timeline_document(const trace::Trace& trace, const analyze::Analysis& analysis) {
  const Timeline& timeline = *analysis.timeline;
  Json names = Json::array(), kinds = Json::array(), spent_kinds = Json::array();
  for (const analyze::TimelineName& name : timeline.names) {
    names.push_back(trace.strings.view(name.name));
    kinds.push_back(name_of(name.kind));
  }
  for (const analyze::Spent spent : all_spent()) spent_kinds.push_back(name_of(spent));
  std::vector<Missing> missing;
  if (!timeline.path) {
    missing.push_back(analysis.critical_path_missing);
    missing.back().field = "path";
  }
  Json document = object_with_room(18);
  document["schema_version"] = "1.0.0";
  document["document"] = "timeline";
  document["generator"] = generator_json();
  document["synthetic"] = or_null(trace::synthetic_note(trace));
  document["segment"] = or_null(analysis.segment);
  document["machine"] = timeline.node == trace::kNone ? Json(nullptr) : Json(timeline.node);
  document["elsewhere"] = rest_json(timeline.elsewhere);
  document["outside"] = rest_json(timeline.outside);
  document["span_ns"] = timeline.span;
  document["resolution_ns"] = timeline.resolution;
  document["names"] = std::move(names);
  document["name_kinds"] = std::move(kinds);
  document["lanes"] = lanes_json(trace, timeline);
  document["lanes_left_out"] = {{"lanes", timeline.left_out.lanes},
                                {"operations", timeline.left_out.operations},
                                {"busy_ns", timeline.left_out.busy},
                                {"path_ns", timeline.left_out.path}};
  document["spent_kinds"] = std::move(spent_kinds);
  document["path"] = timeline.path ? stretches_json(*timeline.path) : Json(nullptr);
  document["path_resolution_ns"] = timeline.path_resolution;
  document["missing"] = missing_json(missing);
  document["environment"] = trace_environment_json(trace);
  return document;
}

}  // namespace perflab::report
