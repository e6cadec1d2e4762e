// Keeping the captured addresses free in this process until they are reserved: libraries, threads
// and the runtime's own buffers go wherever mmap has room, which is exactly where a captured
// process had its memory (docs/facts/hsa_runtime.md "Occupied addresses"). Linux: mmap(2),
// personality(2), proc(5).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "replay/addresses/address_plan.h"

namespace perflab::replay {

/// Mappings without access over address ranges; made before the runtime is opened, taken away one
/// by one right before each reservation.
class Placeholders {
 public:
  /// A span that could not be held, and who is there.
  struct Conflict {
    Span span;
    std::string holder;
  };

  /// Holds every span that is free; the others are conflicts. Error: the process map cannot be
  /// read.
  static Result<Placeholders> hold(const std::vector<Span>& spans);
  Placeholders() = default;
  Placeholders(Placeholders&& other) noexcept;
  Placeholders& operator=(Placeholders&& other) noexcept;
  Placeholders(const Placeholders&) = delete;
  Placeholders& operator=(const Placeholders&) = delete;
  ~Placeholders();

  [[nodiscard]] const std::vector<Conflict>& conflicts() const { return conflicts_; }
  /// Lets go of what is held inside [span.base, span.end()).
  void release(const Span& span);

 private:
  std::vector<Span> held_;
  std::vector<Conflict> conflicts_;
};

/// Starts this program again with the same arguments: first without randomised addresses, then up
/// to three times with new random ones (the count travels in the environment variable
/// PERFLAB_STEERING_ATTEMPT). Returns only when that did not work, or all attempts are used up.
void restart_with_other_addresses();
/// How often this program was started again so.
int attempts_so_far();

}  // namespace perflab::replay
