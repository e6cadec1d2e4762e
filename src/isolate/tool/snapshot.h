// One capture: what the memory was before the dispatch, what it changed, and everything that is
// needed to dispatch it again.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/writer.h"
#include "isolate/machine/memory_reader.h"
#include "isolate/tool/tool_state.h"

namespace perflab::isolate {

/// The dispatch to be captured.
struct Target {
  hsa::KernelDispatchPacket packet{};
  hsa::Agent agent{};
  const KernelName* name = nullptr;
};

/// Used while the agent's queues are empty and nothing is submitted or freed. Any error leaves no
/// capture behind.
class Snapshot {
 public:
  Snapshot(Tool& tool, const Target& target) : tool_(tool), target_(target) {}

  /// Takes the pre-image. Errors: what the dispatch is cannot be found out; memory cannot be read
  /// or written down.
  Result<void> before();
  /// Takes the write set and finishes the capture. `nanoseconds`: how long the dispatch took, when
  /// that is known.
  Result<capture::Description> after(std::optional<std::uint64_t> nanoseconds);

 private:
  /// A region and whose memory it is.
  struct Part {
    capture::MemoryRegion region;
    enum class Reader : std::uint8_t { none, gpu, host, process } reader = Reader::none;
    hsa::Agent owner{};
    std::size_t number = 0;   ///< the writer's
    std::uint64_t added = 0;  ///< of the allocation
  };

  Result<void> describe_dispatch();
  Result<void> check_code();
  Result<void> take_kernarg();
  Result<void> list_regions();
  Result<void> list_variables();
  void find_address_mode();
  void note_hidden_variables();
  Result<void> drop_what_is_gone();
  void add_allocation(const Allocation& allocation);
  void choose_reader(Part& part, const Pool& pool) const;
  [[nodiscard]] bool accessible(std::uint64_t base, hsa::Agent agent) const;
  Result<void> read(const Part& part, const ByteSink& sink);

  Tool& tool_;
  Target target_;
  capture::Description description_;
  LoadedObject object_;  ///< that holds the kernel
  std::vector<std::byte> kernarg_;
  std::vector<Part> parts_;
  std::unique_ptr<MemoryReader> reader_;
  std::optional<capture::Writer> writer_;
};

}  // namespace perflab::isolate
