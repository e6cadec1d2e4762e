// One recording out of a table of counters, on its way into the Trace: dispatches, kernels and
// values by name, in an order that does not depend on the order of the table's rows.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/counter_csv/system_info.h"
#include "trace/trace.h"

namespace perflab::trace::counter_csv {

/// A text that many dispatches have, kept once per table: a merged one has the kernel's name in
/// every pass of every row. Compared by content.
class SharedText {
 public:
  SharedText() = default;
  explicit SharedText(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}
  [[nodiscard]] std::string_view view() const {
    return text_ ? std::string_view(*text_) : std::string_view{};
  }
  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.text_ == b.text_ || a.view() == b.view();
  }
  friend std::strong_ordering operator<=>(const SharedText& a, const SharedText& b) {
    return a.text_ == b.text_ ? std::strong_ordering::equal : a.view() <=> b.view();
  }

 private:
  std::shared_ptr<const std::string> text_;
};

/// A kernel as the rows name it.
struct KernelKey {
  std::optional<std::int64_t> id;
  SharedText name;  ///< without ".kd"
  std::optional<std::int64_t> sgprs, arch_vgprs, accum_vgprs;
  friend auto operator<=>(const KernelKey&, const KernelKey&) = default;
};

struct Dispatch {
  std::int64_t start = 0, end = 0, id = 0;
  LaunchConfig config;
  KernelKey kernel;
  AgentLabel agent;
  std::optional<std::int64_t> queue, thread;
  friend auto operator<=>(const Dispatch&, const Dispatch&) = default;
};

/// A counter of a dispatch, over its instances.
struct Value {
  Index dispatch = 0;  ///< Recording::dispatches
  Index counter = 0;   ///< Recording::counters
  std::uint32_t instances = 0;
  double sum = 0, min = 0, max = 0;
  friend auto operator<=>(const Value&, const Value&) = default;
};

/// What a recording holds.
struct Content {
  std::vector<Dispatch> dispatches;
  std::vector<std::string> counters;  ///< names, sorted
  std::vector<Value> values;          ///< by dispatch, then counter
  bool times_known = true;
  std::optional<std::int64_t> pid;
  friend auto operator<=>(const Content&, const Content&) = default;
};

struct Recording {
  std::string file, guid, collector;
  Content content;
  std::shared_ptr<const SystemInfo> machine;  ///< never null once read; all of a file share it
  bool merged = false;                        ///< a pass of a table that has several side by side
  ReadReport report;
};

/// The table that dropped and odd rows are counted under.
inline constexpr const char* kTable = "counter_table";

/// A value of the table before its instances are put together.
struct Cell {
  Index dispatch = 0;
  Index counter = 0;              ///< Draft::counters
  std::uint32_t channel = kNone;  ///< N of "TCC_HIT[N]"; kNone: the name has none
  double value = 0;
};

/// A recording as its rows come.
struct Draft {
  std::string guid;
  std::optional<std::int64_t> pid;
  std::vector<Dispatch> dispatches;
  std::vector<std::string> counters;  ///< names without "[N]", in order of appearance
  std::vector<Cell> cells;
  bool lost_digits = false;   ///< of a time
  bool has_times = true;      ///< the table has columns for them
  bool merged = false;        ///< see Recording
  bool times_shared = false;  ///< one pair of times for several recordings side by side
  ReadReport report;
};

/// Puts instances together and everything into its final order. Left out and counted: dispatches
/// that did not end, counters of which instances are missing (of `l2_channels` ones, where that is
/// known).
Recording finish_draft(Draft draft, std::optional<std::int64_t> l2_channels);

/// Sorts recordings by first start, counters, content and file, whatever order the files came in.
void sort_recordings(std::vector<Recording>& recordings);

}  // namespace perflab::trace::counter_csv
