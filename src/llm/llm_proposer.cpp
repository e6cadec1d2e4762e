#include "llm/llm_proposer.h"

#include <fmt/format.h>

#include <utility>

#include "llm/model_answer.h"
#include "llm/transcript.h"

namespace perflab::llm {
namespace {

class LlmProposer final : public Proposer {
 public:
  LlmProposer(const LlmOptions& options, Budget budget) : options_(options), budget_(budget) {}

  /// Opens transcript and server, as far as they are needed.
  Result<void> open() {
    if (!options_.transcript.empty()) {
      PERFLAB_TRY(Transcript transcript,
                  Transcript::open(options_.transcript, name(), options_.resume));
      transcript_.emplace(std::move(transcript));
      if (transcript_->plays_back()) {
        options_.chat.model = transcript_->proposer().substr(kName.size());
        return {};
      }
    }
    PERFLAB_TRY(Chat chat, Chat::open(options_.chat));
    chat_.emplace(std::move(chat));
    if (transcript_) PERFLAB_TRY_VOID(transcript_->begin());
    return {};
  }

  [[nodiscard]] std::string name() const override {
    return std::string(kName) + options_.chat.model;
  }

  Result<std::optional<Proposal>> next(const Task& task) override {
    if (!ended_.empty()) return std::nullopt;
    if (std::string why = budget_.why_spent(); !why.empty()) return end(std::move(why));
    PERFLAB_TRY(const std::optional<ChatReply> reply, reply_to(request_for(task)));
    if (!reply) return std::nullopt;
    if (!reply->problem.empty()) {
      Proposal proposal;
      proposal.problem = reply->problem;
      proposal.problem_detail = reply->problem_detail;
      return proposal;
    }
    if (says_no_more(reply->text)) return end("the model has no more proposals");
    Proposal proposal = parse_answer(reply->text, options_.form);
    if (reply->cut_off && !proposal.problem.empty())
      proposal.problem_detail += "; the answer ended at its limit of tokens";
    return proposal;
  }

  [[nodiscard]] Usage usage() const override { return budget_.usage(); }
  [[nodiscard]] std::string why_ended() const override { return ended_; }

 private:
  static constexpr std::string_view kName = "llm ";

  Result<std::optional<Proposal>> end(std::string why) {
    ended_ = std::move(why);
    if (transcript_) PERFLAB_TRY_VOID(transcript_->record_end(ended_));
    return std::nullopt;
  }

  [[nodiscard]] ChatRequest request_for(const Task& task) const {
    Prompt prompt = make_prompt(task, options_.form, options_.prompt);
    return {.model = options_.chat.model,
            .system = std::move(prompt.system),
            .user = std::move(prompt.user),
            .max_answer_tokens = budget_.answer_tokens(options_.max_answer_tokens),
            .temperature = options_.temperature,
            .seed = options_.seed};
  }

  /// From the transcript, else from the server; nothing: it has ended.
  Result<std::optional<ChatReply>> reply_to(const ChatRequest& request) {
    const Json asked = to_json(request);
    if (transcript_) {
      PERFLAB_TRY(const Transcript::Found found, transcript_->find(asked));
      for (const Json& passed : found.passed) PERFLAB_TRY_VOID(recorded(passed));
      if (found.kind == Transcript::Found::Kind::answer) return recorded(found.answer);
      if (found.kind == Transcript::Found::Kind::ended) {
        ended_ = found.reason;
        return std::nullopt;
      }
    }
    Result<ChatReply> reply = chat_->ask(request);
    if (!reply) {
      // What was accepted so far must not be lost because a server has gone away.
      if (reply.error().code != ErrorCode::missing_tool || budget_.usage().exchanges == 0)
        return std::unexpected(std::move(reply).error());
      PERFLAB_TRY_VOID(end(reply.error().message));
      return std::nullopt;
    }
    budget_.add(*reply);
    if (transcript_) PERFLAB_TRY_VOID(transcript_->record(asked, to_json(*reply)));
    return *std::move(reply);
  }

  Result<std::optional<ChatReply>> recorded(const Json& answer) {
    PERFLAB_TRY(ChatReply reply, reply_from_json(answer, options_.transcript.string()));
    budget_.add(reply);
    return reply;
  }

  LlmOptions options_;
  Budget budget_;
  std::optional<Transcript> transcript_;
  std::optional<Chat> chat_;
  std::string ended_;
};

}  // namespace

Result<std::unique_ptr<Proposer>> make_llm_proposer(const LlmOptions& options) {
  if (options.max_answer_tokens == 0)
    return fail(ErrorCode::usage, "an answer of no tokens makes no sense");
  PERFLAB_TRY(const Budget budget, Budget::make(options.budget));
  auto proposer = std::make_unique<LlmProposer>(options, budget);
  PERFLAB_TRY_VOID(proposer->open());
  return proposer;
}

}  // namespace perflab::llm
