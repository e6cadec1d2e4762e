#include "llm/chat_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text/json.h"
#include "base/text/text.h"

namespace perflab::test {
namespace {

/// Waits until `fd` is ready; false: the server ends.
bool wait_for(int fd, short events, int stop_fd) {
  std::array<pollfd, 2> polled{{{.fd = fd, .events = events, .revents = 0},
                                {.fd = stop_fd, .events = POLLIN, .revents = 0}}};
  while (::poll(polled.data(), polled.size(), -1) < 0) {
  }
  return polled[1].revents == 0;
}

std::size_t length_in(std::string_view head) {
  constexpr std::string_view kName = "content-length:";
  for (std::size_t at = 0; at < head.size(); ++at)
    if (equal_ignoring_case(head.substr(at, kName.size()), kName))
      return static_cast<std::size_t>(
          std::strtoul(std::string(head.substr(at + kName.size(), 20)).c_str(), nullptr, 10));
  return 0;
}

}  // namespace

bool ServerConnection::read_request(SeenRequest& request) const {
  std::string text;
  std::array<char, 65536> buffer{};
  std::size_t head = std::string::npos, length = 0;
  while (head == std::string::npos || text.size() < head + length) {
    if (!wait_for(fd_, POLLIN, stop_fd_)) return false;
    const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), 0);
    if (got <= 0) return false;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (head != std::string::npos) continue;
    if (const std::size_t end = text.find("\r\n\r\n"); end != std::string::npos) {
      head = end + 4;
      length = length_in(std::string_view(text).substr(0, head));
    }
  }
  request = {.head = text.substr(0, head), .body = text.substr(head)};
  return true;
}

bool ServerConnection::send(std::string_view text) const {
  while (!text.empty()) {
    if (!wait_for(fd_, POLLOUT, stop_fd_)) return false;
    const ssize_t put = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

void ServerConnection::wait_for_close() const {
  std::array<char, 256> buffer{};
  while (wait_for(fd_, POLLIN, stop_fd_) && ::recv(fd_, buffer.data(), buffer.size(), 0) > 0) {
  }
}

void ServerConnection::reset() const {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
}

ChatServer::ChatServer(std::vector<ServerPart> parts)
    : parts_(std::move(parts)),
      listen_fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)),
      stop_fd_(::eventfd(0, EFD_CLOEXEC)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const place = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listen_fd_, place, size) != 0 || ::listen(listen_fd_, 16) != 0 ||
      ::getsockname(listen_fd_, place, &size) != 0) {
    ADD_FAILURE() << "the test's chat server does not start";
    return;
  }
  port_ = ntohs(address.sin_port);
  thread_ = std::jthread([this] { serve(); });
}

ChatServer::~ChatServer() {
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(stop_fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  if (thread_.joinable()) thread_.join();
  ::close(listen_fd_);
  ::close(stop_fd_);
}

std::string ChatServer::url() const {
  return fmt::format("http://127.0.0.1:{}", port_);
}

std::vector<SeenRequest> ChatServer::seen() const {
  const std::scoped_lock lock(mutex_);
  return seen_;
}

void ChatServer::serve() {
  while (wait_for(listen_fd_, POLLIN, stop_fd_)) {
    const int fd = ::accept4(listen_fd_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    const ServerConnection connection(fd, stop_fd_);
    SeenRequest request;
    if (connection.read_request(request)) {
      std::size_t number = 0;
      {
        const std::scoped_lock lock(mutex_);
        number = seen_.size();
        seen_.push_back(request);
      }
      parts_[std::min(number, parts_.size() - 1)](connection, request);
    }
    ::close(fd);
  }
}

std::string openai_body(std::string_view text, unsigned prompt_tokens, unsigned completion_tokens,
                        std::string_view finish) {
  const Json message{{"role", "assistant"}, {"content", text}};
  const Json choice{{"index", 0}, {"message", message}, {"finish_reason", finish}};
  return Json{
      {"id", "1"},
      {"choices", Json::array({choice})},
      {"usage", Json{{"prompt_tokens", prompt_tokens}, {"completion_tokens", completion_tokens}}}}
      .dump();
}

ServerPart answers(int status, std::string body, std::string headers) {
  return [=](const ServerConnection& connection, const SeenRequest&) {
    connection.send(
        fmt::format("HTTP/1.1 {} Said\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n", status,
                    body.size(), headers));
    connection.send(body);
  };
}

ServerPart says(std::string_view text, unsigned prompt_tokens, unsigned completion_tokens) {
  return answers(200, openai_body(text, prompt_tokens, completion_tokens));
}

ServerPart says_as_anthropic(std::string_view text) {
  const Json part{{"type", "text"}, {"text", text}};
  return answers(
      200, Json{{"type", "message"},
                {"content", Json::array({Json{{"type", "thinking"}, {"thinking", "hm"}}, part})},
                {"stop_reason", "end_turn"},
                {"usage",
                 Json{{"input_tokens", 70}, {"cache_read_input_tokens", 5}, {"output_tokens", 7}}}}
               .dump());
}

ServerPart keeps_silent() {
  return
      [](const ServerConnection& connection, const SeenRequest&) { connection.wait_for_close(); };
}

ServerPart never_ends() {
  return [](const ServerConnection& connection, const SeenRequest&) {
    bool wanted = connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"choices\": \"");
    const std::string more(65536, 'x');
    while (wanted) wanted = connection.send(more);
  };
}

ServerPart never_ends_its_headers() {
  return [](const ServerConnection& connection, const SeenRequest&) {
    bool wanted = connection.send("HTTP/1.1 200 OK\r\n");
    const std::string more = "X-More: " + std::string(1000, 'x') + "\r\n";
    while (wanted) wanted = connection.send(more);
  };
}

ServerPart resets() {
  return [](const ServerConnection& connection, const SeenRequest&) { connection.reset(); };
}

ServerPart breaks_off() {
  return [](const ServerConnection& connection, const SeenRequest&) {
    connection.send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n{\"cho");
  };
}

}  // namespace perflab::test
