// A stretch in which no signal handler of the process runs on this thread (pthread_sigmask(3)).
// Threads made meanwhile inherit that: none of the process's handlers ever runs on them.
#pragma once

#include <csignal>

namespace perflab {

/// While it lives, every signal of this thread is blocked. Not to be handed to another thread.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace perflab
