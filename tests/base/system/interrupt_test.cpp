// Real signals to this process.
#include "base/system/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace perflab {
namespace {

using Handler = void (*)(int);

Handler handler_of(int signal) {
  struct sigaction action{};
  ::sigaction(signal, nullptr, &action);
  return action.sa_handler;
}

bool readable(int descriptor) {
  pollfd polled{.fd = descriptor, .events = POLLIN, .revents = 0};
  return ::poll(&polled, 1, 0) == 1;
}

TEST(Interrupt, SignalsBecomeAFlagAndWakeThePoller) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const InterruptScope scope;
    EXPECT_FALSE(interrupted());
    EXPECT_FALSE(readable(interrupt_descriptor()));
    ASSERT_EQ(std::raise(signal), 0);
    EXPECT_TRUE(interrupted());
    EXPECT_EQ(interrupt_count(), 1);
    EXPECT_TRUE(readable(interrupt_descriptor()));
    clear_interrupts();
    EXPECT_FALSE(interrupted());
    EXPECT_FALSE(readable(interrupt_descriptor()));
  }
}

TEST(Interrupt, ScopesNestAndRestore) {
  const Handler before = handler_of(SIGINT);
  {
    const InterruptScope outer;
    const Handler ours = handler_of(SIGINT);
    EXPECT_NE(ours, before);
    {
      const InterruptScope inner;
    }
    EXPECT_EQ(handler_of(SIGINT), ours);
  }
  EXPECT_EQ(handler_of(SIGINT), before);
}

TEST(Interrupt, TheFlagSurvivesTheScope) {
  {
    const InterruptScope scope;
    ASSERT_EQ(std::raise(SIGINT), 0);
  }
  EXPECT_TRUE(interrupted());
  clear_interrupts();
}

TEST(Interrupt, AnIgnoredSignalStaysIgnored) {
  const Handler before = std::signal(SIGINT, SIG_IGN);
  {
    const InterruptScope scope;
    EXPECT_EQ(handler_of(SIGINT), SIG_IGN);
    ASSERT_EQ(std::raise(SIGINT), 0);
    EXPECT_FALSE(interrupted());
  }
  EXPECT_EQ(handler_of(SIGINT), SIG_IGN);
  std::signal(SIGINT, before);
}

TEST(InterruptDeathTest, TheThirdSignalEndsTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const InterruptScope scope;
        for (int i = 0; i < 3; ++i) std::raise(SIGINT);
        std::_Exit(0);
      },
      testing::ExitedWithCode(130), "");
}

}  // namespace
}  // namespace perflab
