// From work and calls of the stand-in driver to the records that CUPTI writes of them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cuda_sim/buffers.h"
#include "cuda_sim/sim.h"

namespace perflab::cuda_sim {

/// Bytes of a record of a kind; 0: no record has it.
std::size_t record_bytes(cuda::ActivityKind kind);

class Activity {
 public:
  static Activity& get();

  [[nodiscard]] bool enabled(cuda::ActivityKind kind) const;
  /// Whether the kind is one that can be enabled.
  bool enable(cuda::ActivityKind kind, bool on);
  void enable_call(cuda::CallbackDomain domain, cuda::CallbackId id, bool on);
  void set_timestamp(cuda::TimestampFunction function);
  void set_system_threads(bool on) { system_threads_ = on; }
  void set_event_timestamps(bool on) { event_timestamps_ = on; }
  void set_latency_timestamps(bool on) { latency_timestamps_ = on; }

  [[nodiscard]] std::uint64_t now() const;

  void call_ended(const Call& call);
  void submitted(const Work& work);
  void graph_launched(const Work& first, const Work& last);
  void waited(const Call& call, const Wait& wait, std::uint64_t since);
  void recorded(const Call& call, const Recorded& event);
  void allocated(const Call& call, const Allocated& memory);
  void pool(const Call& call, const PoolEvent& event);
  void loaded_lazily(const Call& call, std::uint64_t since);
  void made_context(std::uint32_t context, std::uint32_t device, std::uint32_t null_stream);
  void made_stream(const Call* call, std::uint32_t context, std::uint32_t stream);
  /// An NVTX range's start or end, or a mark; the text is kept.
  void marked(std::uint32_t flags, std::uint32_t id, const char* text, const char* domain);
  void marked_with(std::uint32_t id, std::uint32_t color, std::uint32_t category,
                   std::uint32_t payload_kind, std::uint64_t payload);

  /// Writes records of finished work, with `forced` of unfinished too, and gives all buffers back.
  void flush(bool forced);

  Buffers buffers;

 private:
  template <class Record>
  void append(const Record& record) {
    buffers.append(&record, sizeof record);
  }
  [[nodiscard]] std::uint64_t on_clients_clock(std::uint64_t machine_time) const;
  [[nodiscard]] std::uint32_t thread() const;
  void write(const Work& work, bool finished);
  void write_kernel(const Work& work, std::uint64_t start, std::uint64_t end);
  void write_copy(const Work& work, std::uint64_t start, std::uint64_t end);
  void harvest(bool forced);
  void measure_offset();

  std::array<std::atomic<bool>, 64> enabled_{};
  std::array<std::array<std::atomic<bool>, 1024>, 3> muted_calls_{};
  std::atomic<cuda::TimestampFunction> timestamp_ = nullptr;
  std::atomic<std::int64_t> offset_ = 0;  ///< client's clock minus the machine's
  std::atomic<bool> system_threads_ = false, event_timestamps_ = false, latency_timestamps_ = false;

  std::mutex pending_lock_;
  std::map<std::uint32_t, std::deque<Work>> pending_;  ///< by stream; newest streams go first
  std::size_t pending_count_ = 0;
  std::mutex harvest_lock_;
  std::mutex text_lock_;
  std::set<std::string> texts_;
};

}  // namespace perflab::cuda_sim
