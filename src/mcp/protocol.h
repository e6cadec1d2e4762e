// The messages of the Model Context Protocol, without threads and processes: a line comes in, an
// answer goes out, or a call of a tool to be run. Both eras: revisions that begin with `initialize`
// (2024-11-05, 2025-06-18, 2025-11-25), and 2026-07-28, where every request says its revision
// itself. Not 2025-03-26: it demands batches, which came and went with it.
// Specification: modelcontextprotocol.io, basic/versioning and basic/transports/stdio of
// 2026-07-28, basic/lifecycle of 2025-11-25.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/json.h"
#include "mcp/kept_runs.h"
#include "mcp/offer.h"

namespace perflab::mcp {

/// The longest message that is read, bytes, and how deep its values may be nested.
inline constexpr std::size_t kMostMessageBytes = std::size_t{1} << 20;
inline constexpr int kDeepestMessage = 64;

/// The error codes of JSON-RPC 2.0 and of the protocol that are used here.
enum class RpcError {
  busy = -32000,                ///< of this server: too many calls wait
  resource_not_found = -32002,  ///< until 2025-11-25
  unsupported_version = -32022,
  parse = -32700,
  invalid_request = -32600,
  method_not_found = -32601,
  invalid_params = -32602,
  internal = -32603,
};

/// What a message asks for: at most one of these.
struct Reaction {
  std::optional<Json> answer;
  std::optional<Call> call;
  std::optional<Json> cancelled;  ///< id of the call that nobody waits for any more
};

/// The server's side of one connection. receive() is for one thread; answer() for any.
class Protocol {
 public:
  explicit Protocol(Offer offer)
      : offer_(std::move(offer)), kept_(std::make_unique<KeptRuns>(offer_.name)) {}

  /// One line, without its newline. Nothing that a client sends is an error of ours: what is wrong
  /// with it is said in the answer.
  Reaction receive(std::string_view line);

  /// The answer to a call.
  [[nodiscard]] Json answer(const Call& call, Json result) const;

  /// For whoever runs calls.
  [[nodiscard]] const Offer& offer() const { return offer_; }
  [[nodiscard]] KeptRuns& kept() const { return *kept_; }

 private:
  struct Request;

  Reaction react(Request request);
  Reaction react_before_session(const Request& request);
  Reaction initialize(const Request& request);
  Reaction call_tool(const Request& request);
  [[nodiscard]] Result<Call> call_of(const Tool& tool, Call call) const;
  [[nodiscard]] Json list_tools() const;
  [[nodiscard]] Json list_resources() const;
  [[nodiscard]] Reaction read_resource(const Request& request) const;
  [[nodiscard]] Result<std::string> kept_text(const KeptPlace& place) const;
  [[nodiscard]] Json discovery() const;
  [[nodiscard]] Json answer_to(const Json& id, const std::string& revision, Json result,
                               bool cacheable) const;

  Offer offer_;
  std::unique_ptr<KeptRuns> kept_;
  std::string session_;  ///< the revision agreed on with `initialize`; empty: none yet
};

/// An error as a message. A null id (it could not be read) is left out.
Json error_message(const Json& id, RpcError code, const std::string& text, Json data = nullptr);

}  // namespace perflab::mcp
