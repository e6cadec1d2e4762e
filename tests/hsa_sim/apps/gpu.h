// A GPU for the sample programs: plain calls of whatever libhsa-runtime64.so.1 is found, the
// stand-in or the real one, and an end with a sentence when one fails.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "hsa/loader_table.h"

namespace perflab::test {

/// Ends the program: exit code 3, so that tests can tell it from a wrong result (1).
[[noreturn]] inline void fail(const std::string& sentence) {
  std::fprintf(stderr, "app: %s\n", sentence.c_str());
  std::exit(3);
}

inline void check(hsa::Status status, const char* call) {
  if (status == hsa::Status::success) return;
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", static_cast<unsigned>(status));
  fail(std::string(call) + " answered " + text);
}

/// A kernel of a loaded code object.
struct Kernel {
  std::uint64_t object = 0;
  std::uint32_t kernarg_bytes = 0, group_bytes = 0, private_bytes = 0;
};

/// What a packet is made of.
struct Work {
  Kernel kernel;
  std::string arguments{};  ///< explicit ones
  std::uint32_t n = 0, workgroup = 256, dynamic_lds = 0;
};

class Gpu {
 public:
  Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const hsa::Api& api() const { return api_; }
  hsa::Agent gpu() const { return gpu_; }
  hsa::Agent cpu() const { return cpu_; }
  hsa::MemoryPool device_pool() const { return device_pool_; }
  hsa::MemoryPool host_pool() const { return host_pool_; }

  void* allocate(hsa::MemoryPool pool, std::size_t bytes) const;
  template <class T>
  T* device(std::size_t count) const {
    return static_cast<T*>(allocate(device_pool_, count * sizeof(T)));
  }
  hsa::Signal signal(hsa::SignalValue value) const;
  void wait(hsa::Signal signal) const;
  hsa::Queue* queue(std::uint32_t packets, std::uint32_t type = hsa::queue_multi_producer) const;

  /// Where a code object is and how it is loaded.
  struct Loading {
    std::string door = "memory";          ///< see options.h
    std::string bytes{};                  ///< of memory and legacy
    std::string file{};                   ///< of the others
    std::size_t offset = 0, size = 0;     ///< in it
    std::function<void()> before_load{};  ///< once there is a reader
  };
  void load(const Loading& from);
  Kernel kernel(const std::string& name) const;
  void* variable(const std::string& name) const;

  /// The packet of some work, with a kernarg segment of its own. `signal` may be none.
  hsa::KernelDispatchPacket packet(const Work& work, hsa::Signal signal);
  static hsa::KernelDispatchPacket barrier(hsa::Signal signal);
  /// Writes the packets one after the other and rings the doorbell once, for the last.
  void submit(hsa::Queue* queue, const std::vector<hsa::KernelDispatchPacket>& packets) const;

  void shut_down() const {
    check(api_.core.executable_destroy(executable_), "hsa_executable_destroy");
    check(api_.core.shut_down(), "hsa_shut_down");
  }

 private:
  hsa::LoaderTable loader_table(const std::string& door) const;
  hsa::CodeObjectReader reader(const Loading& from, const hsa::LoaderTable& loader) const;
  void load_legacy(const Loading& from);

  hsa::Api api_{};
  hsa::Agent gpu_{}, cpu_{};
  hsa::MemoryPool device_pool_{}, host_pool_{}, kernarg_pool_{};
  hsa::Executable executable_{};
  std::mutex kernarg_mutex_;
  std::byte* kernargs_ = nullptr;
  std::size_t next_kernarg_ = 0;
};

}  // namespace perflab::test
