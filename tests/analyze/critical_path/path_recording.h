// Traces by construction for the tests of the critical path: a recording is written as a rocpd
// database in a few lines, read back through trace::read, and its graph shown as text, so that a
// test can say every node and edge that it expects. Times are in microseconds after kT0 (of a
// Recording with another unit: in that).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/critical_path/critical_path.h"
#include "support/api_rows.h"
#include "support/rocpd_writer.h"
#include "trace/trace.h"

namespace perflab::test {

/// Where an operation runs, by the ids of the recording.
struct On {
  Id stream = 0;
  Id queue = 1;
  Id agent = 1;
  std::optional<Id> tid = {};
};

/// A database: host (agent 0), two GPUs (1 and 2), queues 0 to 4, streams 0 to 4. Handle of stream
/// n in API calls: handle(n).
class Recording {
 public:
  explicit Recording(std::string_view name = "a", WriterOptions options = {},
                     std::int64_t unit = 1000);

  /// A call and the kernel that it launched; `on.stream` has nothing to do with the call's handle.
  Id launch(RegionRow call, std::string_view kernel, std::int64_t start, std::int64_t end,
            On on = {});
  Id launch_copy(RegionRow call, std::int64_t start, std::int64_t end, On on = {});
  /// Work without a launching call, or of the call with that stack id.
  void dispatch(std::string_view kernel, std::int64_t start, std::int64_t end, On on = {},
                Id stack_id = 0);
  void copy(CopyRow row);
  void call(RegionRow row);
  Id thread(Id tid);
  RocpdWriter& writer() { return writer_; }
  /// Finishes the database.
  std::filesystem::path write();

 private:
  Id kernel_id(std::string_view name);
  RegionRow scaled(RegionRow row) const;
  [[nodiscard]] std::int64_t at(std::int64_t time) const;

  std::filesystem::path path_;
  RocpdWriter writer_;
  std::int64_t unit_;
  std::map<std::string, Id, std::less<>> kernels_;
};

/// The handle under which calls know stream `id`; 0 for the default stream.
constexpr Handle handle(Id id) {
  return id == 0 ? 0 : 0x1000U + static_cast<Handle>(id) * 16;
}

/// What was made of recordings.
struct Built {
  trace::Trace trace;
  analyze::TimingScope scope;
  analyze::CriticalPath path;  ///< keeps its nodes
  std::int64_t unit = 1000, begin = 0;

  [[nodiscard]] const analyze::Graph& graph() const { return *path.graph; }
  /// "a" (a kernel), "a@30" when it was dispatched more than once, "copy@20", "hipMalloc@10",
  /// "hipMemcpy@10/wait" for the second half of a call. Times from kT0.
  [[nodiscard]] std::string name(analyze::NodeId node) const;
  /// "a > b stream_order", by the nodes they go into.
  [[nodiscard]] std::vector<std::string> edges() const;
  /// "a stream_order" of every edge into that node, sorted.
  [[nodiscard]] std::vector<std::string> into(std::string_view node) const;
  /// Node of that name; fails the test when there is none.
  [[nodiscard]] analyze::NodeId find(std::string_view node) const;
  [[nodiscard]] std::int64_t slack(std::string_view node) const;
  /// Edges of that rule.
  [[nodiscard]] std::uint64_t count(analyze::EdgeRule rule) const;
  /// "kernel 20, idle 3", in the order of Spent, without zeros.
  [[nodiscard]] std::string spent(const analyze::SpentTimes& times) const;
  [[nodiscard]] std::string spent() const { return spent(path.spent); }
  [[nodiscard]] std::int64_t length() const { return path.length / unit; }
  /// Names of the nodes on the path, in the order of the graph.
  [[nodiscard]] std::vector<std::string> on_path() const;
  /// Gain of a kernel that is so many times faster (0: infinitely), in the unit's thousandths
  /// (ns for a unit of a microsecond).
  [[nodiscard]] std::int64_t gain(std::string_view kernel, double factor) const;
  /// Everything about the path, with names instead of numbers: equal for equal recordings.
  [[nodiscard]] std::string summary() const;
};

/// Reads, builds, solves, and checks what holds for every trace (see check()).
Built build(const std::vector<std::filesystem::path>& files,
            analyze::CriticalPathOptions options = {}, std::int64_t unit = 1000);
Built build(Recording& recording, analyze::CriticalPathOptions options = {});
Built build(trace::Trace trace, analyze::CriticalPathOptions options = {},
            std::int64_t unit = 1000);

/// What holds for every graph: each dispatch and copy of the scope's machine is exactly one node,
/// edges go forward, the earliest schedule by the formulas of graph.h is the recorded one, slack is
/// not negative, steps of the path follow each other and add up.
void check(const Built& built);

}  // namespace perflab::test
