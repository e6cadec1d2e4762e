// For tests of what runs in a sandbox.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/system/find_sandbox.h"
#include "base/temp_folder.h"

/// Skips the test, with the reason, where no sandbox can be made.
#define PERFLAB_NEEDS_A_SANDBOX()                                                               \
  if (const auto sandbox_of_this_machine = ::perflab::find_sandbox(); !sandbox_of_this_machine) \
  GTEST_SKIP() << sandbox_of_this_machine.error().message

namespace perflab::test {

/// A socket on 127.0.0.1 that somebody may connect to.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 16), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() { ::close(socket_); }
  [[nodiscard]] std::string port() const { return std::to_string(port_); }
  /// Whether somebody has connected since the last call.
  [[nodiscard]] bool was_reached() const {
    const int connection = ::accept(socket_, nullptr, nullptr);
    if (connection >= 0) ::close(connection);
    return connection >= 0;
  }

 private:
  int socket_;
  int port_ = 0;
};

/// Numbers of the living processes with this text in their command line.
inline std::vector<pid_t> processes_with(const std::string& text) {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (text_of(entry.path() / "cmdline").find(text) != std::string::npos)
      found.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return found;
}

}  // namespace perflab::test
