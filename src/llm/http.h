// One POST to a chat server, bounded in every way: connecting, the whole of it, the bytes that come
// back. Redirects are never followed: a key belongs to the host it was given for.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace perflab::llm {

/// Where a chat server is.
struct ServerPlace {
  std::string url;    ///< without "/" at its end
  std::string shown;  ///< scheme, host and port: for messages
  std::string host;   ///< lower case, without brackets
  std::string path;   ///< "/v1"; "" for none
  bool loopback = false;
};

struct HttpRequest {
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body{};
  std::chrono::milliseconds connect_limit{10'000}, limit{300'000};
  std::size_t most_bytes = std::size_t{4} << 20;  ///< of the answer's body
  bool direct = false;                            ///< whatever proxy the environment names
};

/// How a request ended.
enum class HttpEnd : std::uint8_t {
  answered,     ///< with `status`, whatever it is
  unreachable,  ///< no connection: no such host, refused, TLS failed
  broken,       ///< the connection ended before the answer did
  timed_out,
  too_large,
  interrupted,  ///< Ctrl-C
};

struct HttpAnswer {
  HttpEnd end = HttpEnd::broken;
  int status = 0;
  std::string body{};
  std::optional<std::chrono::seconds> retry_after{};
  std::string detail{};  ///< unless answered: a clause, lower case, the same for the same failure
};

class Http {
 public:
  /// Error (missing_tool): no libcurl.
  static Result<Http> open();
  Http(Http&&) noexcept;
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;
  Http& operator=(Http&&) = delete;
  ~Http();

  /// Reads a base URL with libcurl's own parser, so that what is checked is what is asked. Errors
  /// (usage; the URL is shown without what may be secret in it): no URL, another scheme than
  /// https, http to another machine (the key would be readable on the way), a user or password, a
  /// query or fragment.
  [[nodiscard]] Result<ServerPlace> place(std::string_view base_url) const;
  /// Error (internal): libcurl refuses an option.
  [[nodiscard]] Result<HttpAnswer> post(const HttpRequest& request) const;

 private:
  struct State;
  explicit Http(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace perflab::llm
