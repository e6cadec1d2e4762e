// Options of the sample program.
#pragma once

#include <cstdint>
#include <string>

namespace perflab::test {

struct Options {
  std::string kernel = "inplace";  ///< vadd, inplace, reverse, chase, scale, ...: kernels.cpp
  std::uint32_t n = 4096;          ///< elements and work-items
  std::uint32_t workgroup = 256;
  int launches = 1;
  int batch = 1;                 ///< packets of one doorbell
  int target_at = 1;             ///< of them, counted from 1, the kernel; the others are `inplace`
  bool wrap = false;             ///< the batch crosses the ring's end
  int streams = 1;               ///< queues that take turns
  bool cooperative = false;      ///< they are the one of cooperative launches
  bool back_to_back = false;     ///< `slow` fills the array, the kernel follows without a wait
  std::uint32_t slow_ms = 50;    ///< how long `slow` takes
  bool several_kernels = false;  ///< others in the same code object
  std::string place = "pool";    ///< of the array: pool, host, region, vmem, managed, lock
  int regions = 0;               ///< buffers beside
  std::size_t sparse_bytes = 0;
  bool free_some = false, ipc = false, interop = false;
  std::string from_file;  ///< the code object is written there and read from there
  /// How it is loaded: memory, file (the core's reader), module (the loader extension, as CLR
  /// does), bundle (likewise, out of the middle of the file), minor (the older way to the
  /// extension), legacy (deserialized), address (the extension's other way to load).
  std::string door;
  bool replace_file = false;  ///< another file gets its name before it is loaded
  std::string code_object;    ///< a code object that is there already
  bool no_signal = false;     ///< the kernel's packet has none, a barrier after it has
  std::int64_t signal_value = 1;
  bool exit_without_shutdown = false;
  bool shutdown_at_exit = false;  ///< in an exit handler that was there before hsa_init, as in HIP
  int threads = 0;
  bool uneven = false;  ///< of threads, every second one launches once, the others in bursts
  std::uint32_t queue_size = 64;
};

/// Ends the program on an option that it does not know. "--adjacent" stands for vadd on arrays of
/// one page each, which the pool puts side by side; "--vmem" and the like for the place of that
/// name.
Options parse_options(int argc, char** argv);

}  // namespace perflab::test
