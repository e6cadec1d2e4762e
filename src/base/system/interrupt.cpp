// Signal handlers over an atomic counter and an eventfd; both are async-signal-safe
// (signal-safety(7)).
#include "base/system/interrupt.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace perflab {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};
constexpr int kSignalsUntilExit = 3;
constexpr int kExitInterrupted = 130;

std::atomic<int> interrupts{0};
std::atomic<int> wake_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free, "used in a signal handler");

std::mutex scopes_mutex;
int scopes = 0;
std::array<struct sigaction, kSignals.size()> previous{};

void wake() {
  const int descriptor = wake_descriptor.load();
  const std::uint64_t one = 1;
  if (descriptor >= 0 && ::write(descriptor, &one, sizeof one) < 0) {
    // The counter is full: it is readable already, which is all that is wanted.
  }
}

void on_signal(int /*signal*/) {
  const int saved = errno;
  if (interrupts.fetch_add(1) + 1 >= kSignalsUntilExit) ::_exit(kExitInterrupted);
  wake();
  errno = saved;
}

void install() {
  if (wake_descriptor.load() < 0) wake_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = on_signal;
    ::sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    ::sigaction(kSignals[i], nullptr, &previous[i]);
    if (previous[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

}  // namespace

InterruptScope::InterruptScope() {
  const std::scoped_lock lock(scopes_mutex);
  if (scopes++ == 0) install();
}

InterruptScope::~InterruptScope() {
  const std::scoped_lock lock(scopes_mutex);
  if (--scopes > 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &previous[i], nullptr);
}

bool interrupted() {
  return interrupts.load() > 0;
}

int interrupt_count() {
  return interrupts.load();
}

int interrupt_descriptor() {
  return wake_descriptor.load();
}

void raise_interrupt() {
  ++interrupts;
  wake();
}

void clear_interrupts() {
  interrupts = 0;
  std::uint64_t ignored = 0;
  const int descriptor = wake_descriptor.load();
  if (descriptor >= 0 && ::read(descriptor, &ignored, sizeof ignored) < 0) {
    // Nothing had arrived.
  }
}

}  // namespace perflab
