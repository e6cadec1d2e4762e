// The two forms (chat.h) in which chat servers are asked and answer.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "llm/chat_exchange.h"
#include "llm/http.h"
#include "llm/secrets.h"

namespace perflab::llm {

/// Everything that is fixed about a server.
struct Endpoint {
  Provider provider = Provider::openai;
  std::string url;                                           ///< of the completions
  std::string shown;                                         ///< for messages
  std::vector<std::pair<std::string, std::string>> headers;  ///< with the key
  bool loopback = false;
  bool own_server = false;  ///< the provider's
};

/// The provider's own server.
const char* own_base_url(Provider provider);
const char* own_host(Provider provider);
/// Variable with the key for that server.
const char* own_key_variable(Provider provider);

/// URL and headers of a server.
Endpoint make_endpoint(Provider provider, const ServerPlace& place, const std::string& key);

/// The body of a request, JSON on one line.
std::string wire_body(const ChatRequest& request, const Endpoint& endpoint);

/// Reads the body of an answer with status 200. A body that is no answer gives "bad_answer".
ChatReply read_reply(const std::string& body, Provider provider, const Secrets& secrets);

/// The server's own words of why it refuses, on one line, at most 300 bytes; empty: it gives none.
std::string refusal_text(const std::string& body, const Secrets& secrets);

}  // namespace perflab::llm
