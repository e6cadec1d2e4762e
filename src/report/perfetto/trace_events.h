// Writer of the Trace Event Format (JSON), which ui.perfetto.dev and chrome://tracing open. Format:
// "Trace Event Format" (Google,
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU): events X, C, M, s, f;
// times in microseconds. Events are streamed: a trace can have millions.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/files.h"

namespace perflab::report {

/// Where an event stands. Numbers of this file, not of the operating system.
struct EventTrack {
  std::uint32_t process = 0, thread = 0;
};

/// The text as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

/// Writes one file. Names and arguments are JSON text already (json_string()); times are ns of the
/// trace clock and must not lie before the origin.
class TraceEventWriter {
 public:
  TraceEventWriter(AtomicFile& file, std::int64_t origin) : file_(file), origin_(origin) {}

  void process_name(std::uint32_t process, std::string_view name, int order);
  void thread_name(EventTrack track, std::string_view name, int order);
  /// A slice; `args`: members of an object, may be empty. `colour`: a name of chrome://tracing's
  /// palette, empty for its choice (ui.perfetto.dev colours by name).
  void slice(EventTrack track, std::int64_t start, std::int64_t end, std::string_view name,
             std::string_view category, std::string_view args, std::string_view colour = {});
  /// A value of the counter from that time on.
  void counter(std::uint32_t process, std::string_view name, std::int64_t time,
               std::string_view value);
  /// An arrow from the slice at one place to the slice that begins at another.
  void flow(std::string_view name, EventTrack from, std::int64_t start, EventTrack to,
            std::int64_t end);
  /// Ends the file; `other` are members of its object otherData.
  void finish(std::string_view other);

 private:
  void begin_event();

  AtomicFile& file_;
  std::int64_t origin_;
  std::string buffer_ = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  bool first_ = true;
  std::uint64_t flows_ = 0;
};

/// Gives slices that overlap lanes of their own: each the lowest that is free at its start. Slices
/// come by start.
class OverlapLanes {
 public:
  std::size_t lane(std::int64_t start, std::int64_t end);

 private:
  using Busy = std::pair<std::int64_t, std::size_t>;  ///< until when, which
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> free_;
  std::size_t lanes_ = 0;
};

/// Like OverlapLanes for slices that nest: one inside another stays in its lane.
class NestedLanes {
 public:
  /// Lanes at most: calls of one thread nest, other slices are damage.
  static constexpr std::size_t kMost = 64;
  /// kMost: there is no room for it.
  std::size_t lane(std::int64_t start, std::int64_t end);

 private:
  std::vector<std::vector<std::int64_t>> open_;  ///< by lane: ends of the slices it is inside of
};

}  // namespace perflab::report
