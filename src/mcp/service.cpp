// One thread that runs calls, and what other threads tell it.
#include "mcp/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace perflab::mcp {

Service::Service(Offer offer, std::size_t most_bytes, Runner runner, Send send)
    : protocol_(std::move(offer)),
      most_bytes_(most_bytes),
      runner_(std::move(runner)),
      send_(std::move(send)),
      worker_([this] { work(); }) {}

Service::~Service() {
  {
    const std::lock_guard lock(state_);
    ending_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  worker_.join();
}

void Service::receive(std::string_view line) {
  Reaction reaction = protocol_.receive(line);
  if (reaction.answer) send(*reaction.answer);
  if (reaction.cancelled) cancel(*reaction.cancelled);
  if (reaction.call) start(std::move(*reaction.call));
}

void Service::drain() {
  std::unique_lock lock(state_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

void Service::start(Call call) {
  std::optional<Json> refused;
  {
    const std::lock_guard lock(state_);
    // A second call of that id could not be told from the first when it is cancelled.
    if (running_ == call.id || std::ranges::find(waiting_, call.id, &Call::id) != waiting_.end())
      refused = error_message(call.id, RpcError::invalid_request,
                              "a call with this id is not answered yet");
    else if (waiting_.size() >= kMostWaitingCalls)
      refused = error_message(
          call.id, RpcError::busy,
          fmt::format("{} calls wait already: calls run one after another", waiting_.size()));
    else
      waiting_.push_back(std::move(call));
  }
  if (refused) send(*refused);
  changed_.notify_all();
}

void Service::cancel(const Json& id) {
  {
    const std::lock_guard lock(state_);
    std::erase_if(waiting_, [&](const Call& call) { return call.id == id; });
    if (running_ == id) cancelled_ = true;
  }
  changed_.notify_all();
}

void Service::send(const Json& message) {
  const std::lock_guard lock(sending_);
  send_(message);
}

Json Service::run(const Call& call) {
  const auto give_up = [this] {
    const std::lock_guard lock(state_);
    return cancelled_ || ending_;
  };
  try {
    const Answering with{
        .offer = protocol_.offer(), .kept = protocol_.kept(), .most_bytes = most_bytes_};
    return protocol_.answer(call, call.kept
                                      ? kept_result(call, with)
                                      : tool_result(call, runner_(call.words, give_up), with));
  } catch (const std::exception& error) {
    return error_message(call.id, RpcError::internal,
                         fmt::format("rocm-perf mcp: internal error: {}", error.what()));
  }
}

void Service::work() {
  std::unique_lock lock(state_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (ending_) return;
    const Call call = std::move(waiting_.front());
    waiting_.pop_front();
    running_ = call.id;
    busy_ = true;
    cancelled_ = false;
    lock.unlock();
    const Json answer = run(call);
    lock.lock();
    const bool wanted = !cancelled_ && !ending_;
    running_ = nullptr;  // before the answer: with it a client may use the id again
    lock.unlock();
    if (wanted) send(answer);  // to a call that was cancelled there is no answer
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

}  // namespace perflab::mcp
