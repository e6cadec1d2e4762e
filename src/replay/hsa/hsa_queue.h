// The queue of a replay: one dispatch at a time, between two barriers that make memory coherent,
// timed by the GPU's own clock. Facts: docs/facts/hsa_runtime.md "Packets of HIP", "Times of
// dispatches", "Dispatch".
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/units.h"
#include "replay/device.h"
#include "replay/hsa/hsa_runtime.h"

namespace perflab::replay {

class HsaQueue {
 public:
  /// Creates the queue, its profiling and its signals. Error: hsa_call_failed.
  static Result<std::unique_ptr<HsaQueue>> create(const HsaRuntime& runtime, const HsaAgent& gpu);
  HsaQueue(const HsaQueue&) = delete;
  HsaQueue(HsaQueue&&) = delete;
  HsaQueue& operator=(const HsaQueue&) = delete;
  HsaQueue& operator=(HsaQueue&&) = delete;
  ~HsaQueue();

  /// As Device::run. After timed_out or kernel_fault the queue, and the runtime, are lost.
  Result<Nanos> run(const Launch& launch, Nanos limit);
  /// Whether a dispatch hangs or has failed.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Trouble;

  HsaQueue(const HsaRuntime& runtime, const HsaAgent& gpu);
  Result<void> open();
  void submit(const Launch& launch);
  Result<void> wait(Nanos limit);
  [[nodiscard]] Result<Nanos> time() const;

  const HsaRuntime& runtime_;
  const HsaAgent& gpu_;
  hsa::Queue* queue_ = nullptr;
  hsa::Signal completed_{};  ///< of the dispatch: the GPU puts its times there
  hsa::Signal done_{};       ///< of the barrier behind it
  Trouble* trouble_;         ///< written by the runtime's threads
  bool lost_ = false;
};

}  // namespace perflab::replay
