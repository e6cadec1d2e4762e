// A Trace by hand, for testing what is concluded from one without a database: every part is added
// with defaults, rows in the order of their start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trace/trace.h"

namespace perflab::analyze {

/// Starts with nothing; source() comes first. Later parts refer to the last ones added.
class TraceBuilder {
 public:
  struct KernelOptions {
    std::string mangled = "mangled";
    std::optional<std::int64_t> arch_vgprs = 32, accum_vgprs = 0, sgprs = 32, static_lds = 0,
                                kernarg = 64;
    trace::Index code_object = trace::kNone;
    bool known = true;
  };
  struct DispatchOptions {
    std::int64_t start = 0, duration = 0;
    trace::LaunchConfig config = {
        .workgroup = {256, 1, 1}, .grid = {65536, 1, 1}, .lds_bytes = 0, .scratch_bytes = 0};
    trace::Index queue = trace::kNone;
    bool launched = false;
  };

  /// A recording with a process, a thread and a track of its own.
  trace::Index source(std::optional<int> pass = std::nullopt, std::string version = "3.0.1");
  /// A GPU for the tracks that follow.
  trace::Index agent(std::string name, std::string product = {});
  trace::Index queue();
  /// A code object of the last source, on the last agent.
  trace::Index code_object();
  trace::Index kernel(std::string_view name);
  trace::Index kernel(std::string_view name, const KernelOptions& options);

  /// A dispatch of the kernel by the last source, on the last agent.
  trace::Index dispatch(trace::Index kernel, const DispatchOptions& options);
  /// Dispatches of the kernel one after the other, 100 ns apart.
  void dispatches(trace::Index kernel, std::initializer_list<std::int64_t> durations);
  void region(std::string_view category, std::string_view name, std::int64_t start,
              std::int64_t duration);
  void copy(std::string_view kind, std::int64_t start, std::int64_t duration, std::int64_t bytes);
  void allocation(std::string_view type, std::string_view level, std::int64_t bytes);
  trace::Index counter(std::string_view name, bool derived = false);
  /// The value of a counter at a dispatch, of one instance.
  void value(trace::Index dispatch, trace::Index counter, double value);

  trace::Trace trace;

 private:
  [[nodiscard]] trace::Index last_process() const;
  trace::Index track(trace::Index queue);

  std::int64_t clock_ = 1000;
};

}  // namespace perflab::analyze
