// What the programs here share: errors of CUDA calls, the count of what they did, and the line of
// JSON that says it, so that a recording can be compared with it.
#pragma once

#include <cuda_runtime.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>

namespace zoo {

/// What this process did.
struct Done {
  std::mutex mutex;                       ///< guards all
  std::map<std::string, long> calls;      ///< of CUDA's runtime, by name
  std::map<std::string, long> did;        ///< kernels, copies, fills, ranges, marks, ...
  std::map<std::string, double> figures;  ///< measured by the program itself
  std::string expect;                     ///< counters of known work, entries of a JSON list
};

inline Done& done() {
  static Done all;
  return all;
}

inline void count(const char* what, long times = 1) {
  const std::lock_guard<std::mutex> lock(done().mutex);
  done().did[what] += times;
}

/// Counts a call by the name before its "(", and ends the program with code 2 when it failed.
inline void call(cudaError_t error, const char* text) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s: %s\n", text, cudaGetErrorString(error));
    std::_Exit(2);
  }
  const std::string name(text);
  const std::lock_guard<std::mutex> lock(done().mutex);
  ++done().calls[name.substr(0, name.find('('))];
}
#define CALL(...) ::zoo::call((__VA_ARGS__), #__VA_ARGS__)

/// Says that `launches` kernels were launched with <<<>>>, and checks the last one.
inline void launched(long launches = 1) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) {
    std::fprintf(stderr, "launch: %s\n", cudaGetErrorString(error));
    std::_Exit(2);
  }
  const std::lock_guard<std::mutex> lock(done().mutex);
  done().calls["cudaLaunchKernel"] += launches;
  done().did["kernels"] += launches;
}

/// A counter that must be read for `kernel`: `value` up to `tolerance` (a share; 0: exactly), and
/// `above` more.
inline void expect(const char* kernel, const char* metric, double value, double tolerance,
                   double above = 0) {
  char text[512];
  std::snprintf(text, sizeof text,
                "%s{\"kernel\": \"%s\", \"metric\": \"%s\", \"value\": %.0f, \"tolerance\": %g, "
                "\"above\": %.0f}",
                done().expect.empty() ? "" : ", ", kernel, metric, value, tolerance, above);
  done().expect += text;
}

template <class Map>
std::string members(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map) {
    char number[64];
    std::snprintf(number, sizeof number, "%.6g", static_cast<double>(value));
    if (static_cast<double>(value) == static_cast<double>(static_cast<long>(value)))
      std::snprintf(number, sizeof number, "%ld", static_cast<long>(value));
    text += (text.empty() ? "\"" : ", \"") + name + "\": " + number;
  }
  return "{" + text + "}";
}

/// One line on standard output, written at once: processes do not mix. Also to the file $ZOO_SAY.
inline void say() {
  const Done& all = done();
  const std::string line = "ZOO {\"pid\": " + std::to_string(::getpid()) +
                           ", \"did\": " + members(all.did) + ", \"calls\": " + members(all.calls) +
                           ", \"figures\": " + members(all.figures) + ", \"expect\": [" +
                           all.expect + "]}\n";
  std::fflush(stdout);
  if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) std::_Exit(2);
  const char* path = std::getenv("ZOO_SAY");
  if (path == nullptr) return;
  const int file = ::open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (file < 0 || ::write(file, line.data(), line.size()) < 0) std::_Exit(2);
  ::close(file);
}

/// The number after argument `index`, or `otherwise`.
inline long number(int argc, char** argv, int index, long otherwise) {
  return argc > index ? std::atol(argv[index]) : otherwise;
}

}  // namespace zoo
