// Writing to what nobody reads any more: an EPIPE instead of the signal that would end us. The
// signal goes to the thread that writes (POSIX write(2)), so blocking it there is enough, and no
// handler of the process is touched.
#pragma once

#include <csignal>
#include <ctime>

namespace perflab {

/// While it lives, this thread gets EPIPE and no SIGPIPE. Not to be handed to another thread.
class BrokenPipeGuard {
 public:
  BrokenPipeGuard() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    pending_before_ = is_pending();
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;
  ~BrokenPipeGuard() {
    // Ours is taken back; one that waited before us is somebody else's.
    const timespec at_once{};
    if (!pending_before_ && is_pending()) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  static bool is_pending() {
    sigset_t pending;
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    return ::sigismember(&pending, SIGPIPE) == 1;
  }

  sigset_t pipe_{};
  sigset_t before_{};
  bool pending_before_ = false;
};

}  // namespace perflab
