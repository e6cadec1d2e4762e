// A chat server inside of the test program: every connection plays one of the given parts, good or
// bad. It answers on 127.0.0.1, on a port that the system chooses, and sleeps nowhere.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace perflab::test {

/// A request as it came.
struct SeenRequest {
  std::string head;  ///< request line and headers
  std::string body;
};

/// One connection, from the server's side.
class ServerConnection {
 public:
  ServerConnection(int fd, int stop_fd) : fd_(fd), stop_fd_(stop_fd) {}
  /// Reads a whole request; false: the client went away.
  bool read_request(SeenRequest& request) const;
  /// False: the client went away, or the server ends.
  bool send(std::string_view text) const;
  /// Until the client closes, or the server ends.
  void wait_for_close() const;
  /// Ends the connection with RST instead of FIN.
  void reset() const;

 private:
  int fd_, stop_fd_;
};

/// What one connection does with its request.
using ServerPart = std::function<void(const ServerConnection&, const SeenRequest&)>;

class ChatServer {
 public:
  /// The n-th connection plays the n-th part, later ones the last.
  explicit ChatServer(std::vector<ServerPart> parts);
  ChatServer(const ChatServer&) = delete;
  ChatServer& operator=(const ChatServer&) = delete;
  ~ChatServer();

  /// "http://127.0.0.1:PORT".
  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::vector<SeenRequest> seen() const;

 private:
  void serve();

  std::vector<ServerPart> parts_;
  int listen_fd_ = -1, stop_fd_ = -1;
  unsigned port_ = 0;
  mutable std::mutex mutex_;
  std::vector<SeenRequest> seen_;
  std::jthread thread_;
};

/// An answer with any status; `headers` are lines that end in "\r\n".
ServerPart answers(int status, std::string body, std::string headers = {});
/// Good answers of both forms.
ServerPart says(std::string_view text, unsigned prompt_tokens = 100,
                unsigned completion_tokens = 10);
ServerPart says_as_anthropic(std::string_view text);
std::string openai_body(std::string_view text, unsigned prompt_tokens, unsigned completion_tokens,
                        std::string_view finish = "stop");
/// Reads the request and says nothing.
ServerPart keeps_silent();
/// A body, or header lines, without end.
ServerPart never_ends();
ServerPart never_ends_its_headers();
/// RST after the request; a body that ends before its length.
ServerPart resets();
ServerPart breaks_off();

}  // namespace perflab::test
