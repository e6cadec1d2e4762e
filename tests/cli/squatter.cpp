// A library for LD_PRELOAD that takes addresses before main: SQUAT="0x200000000000:2" maps a page
// there in the first two starts of the program (as it counts its restarts in
// PERFLAB_STEERING_ATTEMPT), and in none after.
#include <sys/mman.h>

#include <cstdlib>

namespace {

__attribute__((constructor)) void squat() {
  const char* const wish = std::getenv("SQUAT");
  if (wish == nullptr) return;
  char* rest = nullptr;
  const unsigned long long base = std::strtoull(wish, &rest, 0);
  const long starts = *rest == ':' ? std::strtol(rest + 1, nullptr, 10) : 0;
  const char* const attempt = std::getenv("PERFLAB_STEERING_ATTEMPT");
  if ((attempt == nullptr ? 0 : std::strtol(attempt, nullptr, 10)) >= starts) return;
  ::mmap(reinterpret_cast<void*>(base), 4096, PROT_READ,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

}  // namespace
