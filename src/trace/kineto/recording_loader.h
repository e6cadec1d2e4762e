// From the events of one Kineto file to rows of the Trace. Everything is put into an order of its
// own first, so that nothing depends on the order of events in the file. Internal to trace/kineto.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/kineto/content.h"
#include "trace/load_state.h"

namespace perflab::trace::kineto {

/// Appends one recording. Use once.
class RecordingLoader {
 public:
  RecordingLoader(LoadState& state, Content& content)
      : state_(state), trace_(state.trace), content_(content) {}

  /// Precondition: `guid` is new to the state. Error (bad_input): too many calls over all inputs.
  Result<void> run(std::string_view file, std::string guid);

 private:
  // host side: load_host.cpp
  [[nodiscard]] Platform platform() const;
  void add_source(std::string_view file, std::string guid);
  void add_processes();
  void add_agents();
  void add_calls();
  void add_ranges();
  void add_arguments();

  // GPU side: load_gpu.cpp
  void add_kernels();
  void add_copies();
  void add_communication(const Kernel& kernel, const Call* launch, Index dispatch);
  [[nodiscard]] const CommFacts* facts_of(const Kernel& kernel, const Call* launch);
  [[nodiscard]] LaunchConfig config_of(const Kernel& kernel, const Call* launch);
  [[nodiscard]] Agent described(const Device& device) const;
  Index agent_of(std::int64_t device);
  Index stream_of(std::int64_t id);
  Index queue_of(std::optional<std::int64_t> id);
  [[nodiscard]] const Call* call_of(std::optional<std::int64_t> correlation) const;
  [[nodiscard]] std::uint32_t stack_of(const Call* call) const;
  Index track_of(const Call* launch, Index agent, std::optional<std::int64_t> queue,
                 std::int64_t stream);

  void report();
  void odd(std::string_view reason, std::uint64_t many) {
    count(trace_.report.odd, {"traceEvents", std::string(reason)}, many);
  }
  [[nodiscard]] bool starts(std::int64_t start) const { return start + content_.base > 0; }

  LoadState& state_;
  Trace& trace_;
  Content& content_;
  Index source_ = kNone, node_ = kNone, cpu_ = kNone, main_process_ = kNone;
  std::map<std::int64_t, Index> processes_, agents_, streams_, queues_;
  std::map<Place, Index> threads_;
  std::unordered_map<std::int64_t, std::size_t> call_of_correlation_;  ///< Content::calls
  std::vector<Index> region_of_call_;
  std::unordered_map<std::int64_t, const CommOperation*> operation_of_id_;
  std::map<Place, std::vector<const CommOperation*>> operations_of_thread_;
  std::uint64_t unstarted_ = 0, too_large_ = 0, sizes_missing_ = 0;
};

}  // namespace perflab::trace::kineto
