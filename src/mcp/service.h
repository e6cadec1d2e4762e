// The calls of one connection, run one after another in a thread of their own, so that a client can
// cancel one while it runs. What runs them is given: tests need no processes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "mcp/protocol.h"
#include "mcp/tool_answer.h"

namespace perflab::mcp {

/// Calls that may wait for the one that runs.
inline constexpr std::size_t kMostWaitingCalls = 32;

/// Runs the program with these words and waits for it; ends it when `give_up` says so, which it is
/// to ask every tenth of a second or so.
using Runner = std::function<Outcome(const std::vector<std::string>& words,
                                     const std::function<bool()>& give_up)>;

/// Takes one message to the client. Called by one thread at a time.
using Send = std::function<void(const Json& message)>;

class Service {
 public:
  /// `most_bytes`: of the result of a call, at least kLeastAnswerBytes.
  Service(Offer offer, std::size_t most_bytes, Runner runner, Send send);
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;
  /// Gives up what runs, forgets what waits, and waits for the thread.
  ~Service();

  /// One line of the client's, without its newline. Not from several threads at once.
  void receive(std::string_view line);
  /// Waits until no call runs or waits.
  void drain();

 private:
  void work();
  void start(Call call);
  void cancel(const Json& id);
  void send(const Json& message);
  [[nodiscard]] Json run(const Call& call);

  Protocol protocol_;
  std::size_t most_bytes_;
  Runner runner_;
  Send send_;
  std::mutex sending_;  ///< held while a message is sent; never together with state_

  std::mutex state_;  ///< guards all that follows
  std::condition_variable changed_;
  std::deque<Call> waiting_;
  Json running_;       ///< id of the call that runs; null: none does
  bool busy_ = false;  ///< a call runs, or its answer is on its way
  bool cancelled_ = false;
  bool ending_ = false;
  std::thread worker_;
};

}  // namespace perflab::mcp
