// Placeholders and the restart. A restart has to come before anything was printed.
#include "replay/addresses/placeholders.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/system/environment.h"
#include "base/system/files.h"

namespace perflab::replay {
namespace {

constexpr const char* kAttemptVariable = "PERFLAB_STEERING_ATTEMPT";
/// One without randomised addresses, three with new ones.
constexpr int kMostAttempts = 4;

/// The arguments that this process was started with.
std::vector<std::string> own_arguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> arguments;
  for (std::size_t at = 0; at < text.size();) {
    arguments.emplace_back(text.c_str() + at);  // ends at the zero byte
    at += arguments.back().size() + 1;
  }
  return arguments;
}

}  // namespace

Result<Placeholders> Placeholders::hold(const std::vector<Span>& spans) {
  Placeholders placeholders;
  for (const Span& span : spans) {
    void* const wish = reinterpret_cast<void*>(span.base);
    void* const held =
        ::mmap(wish, span.bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (held == wish) {
      placeholders.held_.push_back(span);
      continue;
    }
    const int reason = held == MAP_FAILED ? errno : EEXIST;
    // A kernel before 4.17 does not know MAP_FIXED_NOREPLACE and gives another place.
    if (held != MAP_FAILED) ::munmap(held, span.bytes);
    PERFLAB_TRY(const std::vector<Mapping> mappings, own_mappings());
    std::string holder = who_holds(mappings, span.base, span.end());
    if (holder.empty()) holder = fmt::format("nobody, but mmap says: {}", errno_text(reason));
    placeholders.conflicts_.push_back({.span = span, .holder = std::move(holder)});
  }
  return placeholders;
}

Placeholders::Placeholders(Placeholders&& other) noexcept
    : held_(std::exchange(other.held_, {})), conflicts_(std::move(other.conflicts_)) {}

Placeholders& Placeholders::operator=(Placeholders&& other) noexcept {
  std::swap(held_, other.held_);
  std::swap(conflicts_, other.conflicts_);
  return *this;
}

Placeholders::~Placeholders() {
  for (const Span& span : held_) ::munmap(reinterpret_cast<void*>(span.base), span.bytes);
}

void Placeholders::release(const Span& span) {
  std::erase_if(held_, [&](const Span& one) {
    if (one.base < span.base || one.end() > span.end()) return false;
    ::munmap(reinterpret_cast<void*>(one.base), one.bytes);
    return true;
  });
}

int attempts_so_far() {
  return std::atoi(environment(kAttemptVariable).c_str());
}

void restart_with_other_addresses() {
  const int attempt = attempts_so_far() + 1;
  const int persona = ::personality(0xffffffff);  // asks only
  if (attempt > kMostAttempts || persona == -1) return;
  const auto wish = static_cast<unsigned long>(attempt == 1 ? persona | ADDR_NO_RANDOMIZE
                                                            : persona & ~ADDR_NO_RANDOMIZE);
  std::vector<std::string> arguments = own_arguments();
  if (arguments.empty() || ::personality(wish) == -1) return;
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::setenv(kAttemptVariable, fmt::format("{}", attempt).c_str(), 1);
  ::execv("/proc/self/exe", pointers.data());
}

}  // namespace perflab::replay
