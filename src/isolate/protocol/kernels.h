// Which kernel a dispatch packet names, looked up without a lock: the packet handler asks for every
// dispatch of the program. Names are matched when their code is loaded, not when they are launched.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/text/pattern.h"
#include "isolate/protocol/status.h"

namespace perflab::isolate {

/// What is known of all kernels of one name. Never destroyed.
struct KernelName {
  std::string symbol;  ///< without ".kd"
  std::string quoted;  ///< as a JSON text
  bool wanted = false;
  std::uint32_t slot = 0;
  std::atomic<std::uint64_t>* count = nullptr;  ///< its dispatches
  std::atomic<std::uint64_t> own_count{0};      ///< when there is no counter left
};

/// The name people know a symbol by: demangled where it is a C++ name.
std::string demangled(const std::string& symbol);

/// Whether dispatches of a kernel are asked for. The kernels that HIP itself launches for copies
/// and fills are asked for only by a pattern that spells the start of their names.
bool wanted(const Pattern& pattern, const std::string& symbol);

/// Names, and the names of kernel objects. find() is lock-free; the rest takes a lock.
class Kernels {
 public:
  Kernels(Pattern pattern, const StatusLog& status);

  /// The name of a kernel object; null when it is not known (any more).
  [[nodiscard]] KernelName* find(std::uint64_t kernel_object) const;

  /// Whether dispatches of a kernel of this name are asked for; makes no entry.
  [[nodiscard]] bool wants(const std::string& symbol) const { return wanted(pattern_, symbol); }

  /// The one entry of a name; made when it is new. Allocates.
  KernelName* named(const std::string& symbol);
  /// Binds a kernel object to a name. False: the table is full, and find() will not know it.
  bool bind(std::uint64_t kernel_object, KernelName* name);
  void unbind(std::uint64_t kernel_object);

  /// Counts a dispatch. Says the name at the first. Does not allocate.
  void count(KernelName& name) const;

 private:
  struct Slot {
    std::atomic<std::uint64_t> object;
    std::atomic<KernelName*> name;
  };
  static constexpr std::size_t kSlots = std::size_t{1} << 18;

  Pattern pattern_;
  const StatusLog& status_;
  Slot* slots_;
  std::mutex mutex_;  ///< of everything below, and of changes to the slots
  std::size_t used_ = 0;
  std::unordered_map<std::string, std::unique_ptr<KernelName>> names_;
};

}  // namespace perflab::isolate
