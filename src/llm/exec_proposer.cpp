#include "llm/exec_proposer.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/system/subprocess.h"
#include "base/text/command_line.h"
#include "base/text/text.h"
#include "llm/model_answer.h"
#include "llm/secrets.h"
#include "llm/transcript.h"

namespace perflab::llm {
namespace {

std::string line_of_request(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// As a transcript gives it back: bytes that are no UTF-8 are replaced, so that what is played back
/// is what was seen when it was recorded.
Json as_recorded(const Json& json) {
  return Json::parse(line_of_request(json));
}

std::string last_line_of(std::string_view text) {
  const std::string_view rest = trimmed(text);
  const std::size_t before = rest.find_last_of("\r\n");
  return one_printable_line(before == std::string_view::npos ? rest : rest.substr(before + 1));
}

class ExecProposer final : public Proposer {
 public:
  ExecProposer(const ExecOptions& options, std::vector<std::string> argv)
      : options_(options), argv_(std::move(argv)), secrets_(Secrets::from_environment()) {}

  Result<void> open() {
    if (options_.transcript.empty()) return {};
    PERFLAB_TRY(Transcript transcript,
                Transcript::open(options_.transcript, name(), options_.resume));
    transcript_.emplace(std::move(transcript));
    return transcript_->begin();
  }

  [[nodiscard]] std::string name() const override {
    return "exec " + secrets_.without(std::string(trimmed(options_.command)));
  }

  Result<std::optional<Proposal>> next(const Task& task) override {
    if (!ended_.empty()) return std::nullopt;
    if (exchanges_ >= options_.most_proposals)
      return end(fmt::format("the limit of {} proposals is reached", options_.most_proposals));
    PERFLAB_TRY(const std::optional<Json> answer, answer_to(exec_request(task)));
    if (!answer) return std::nullopt;
    PERFLAB_TRY(Proposal proposal, proposal_of(*answer));
    if (proposal.problem.empty() && trimmed(proposal.text).empty())
      return end("the command has no more proposals");
    return proposal;
  }

  [[nodiscard]] Usage usage() const override {
    Usage used;
    used.exchanges = exchanges_;
    return used;
  }
  [[nodiscard]] std::string why_ended() const override { return ended_; }

 private:
  Result<std::optional<Proposal>> end(std::string why) {
    ended_ = std::move(why);
    if (transcript_) PERFLAB_TRY_VOID(transcript_->record_end(ended_));
    return std::nullopt;
  }

  Result<std::optional<Json>> answer_to(const Json& request) {
    if (transcript_) {
      PERFLAB_TRY(const Transcript::Found found, transcript_->find(request));
      exchanges_ += found.passed.size();
      if (found.kind == Transcript::Found::Kind::ended) {
        ended_ = found.reason;
        return std::nullopt;
      }
      if (found.kind == Transcript::Found::Kind::answer) {
        ++exchanges_;
        return found.answer;
      }
    }
    PERFLAB_TRY(const Json raw, run(request));
    ++exchanges_;
    const Json answer = as_recorded(raw);
    if (transcript_) PERFLAB_TRY_VOID(transcript_->record(request, answer));
    return answer;
  }

  /// Runs the program: "text" and "summary", or "problem" and "detail".
  Result<Json> run(const Json& request) {
    ProcessOptions options;
    if (!options_.sandbox || options_.sandbox->network) options.set_environment = held_keys();
    options.confinement.sandbox = options_.sandbox;
    if (!options_.work_folder.empty()) {
      options.set_environment.emplace_back(kWorkFolderVariable, options_.work_folder.string());
      options.confinement.writable.push_back(options_.work_folder);
    }
    options.input = line_of_request(request);
    options.standard_output = StreamMode::capture;
    options.standard_error = StreamMode::capture;
    options.capture_limit = kMostProposalBytes + 1;
    options.timeout = options_.time_limit;
    options.grace = std::chrono::seconds(2);
    std::uint64_t written = 0;
    options.on_stream = [&](int stream, std::string_view bytes) {
      if (stream == 1) written += bytes.size();
    };
    options.give_up = [&] { return written > kMostProposalBytes; };
    PERFLAB_TRY(const ProcessResult result, run_program(argv_, options));
    if (result.interrupted)
      return fail(ErrorCode::interrupted, fmt::format("{}: was interrupted", argv_.front()));
    const std::string words = last_line_of(secrets_.without(result.error.tail));
    const std::string more = words.empty() ? "" : ": " + words;
    if (written > kMostProposalBytes)
      return problem("too_large", fmt::format("{} wrote more than {} KiB", argv_.front(),
                                              kMostProposalBytes / 1024));
    if (result.timed_out)
      return problem("timed_out", fmt::format("{} did not end within {} ms{}", argv_.front(),
                                              options_.time_limit.count(), more));
    if (!result.succeeded())
      return problem("command_failed",
                     fmt::format("{} {}{}", argv_.front(), describe_end(result), more));
    if (result.output.tail.find('\0') != std::string::npos)
      return problem("bad_answer", fmt::format("{} wrote a NUL character", argv_.front()));
    return Json{{"text", secrets_.without(result.output.tail)}, {"summary", words}};
  }

  static Json problem(std::string_view name, std::string detail) {
    return Json{{"problem", name}, {"detail", std::move(detail)}};
  }

  [[nodiscard]] Result<Proposal> proposal_of(const Json& answer) const {
    const auto text = [&](const char* name) -> std::optional<std::string> {
      const auto found = answer.find(name);
      if (found == answer.end() || !found->is_string()) return std::nullopt;
      return found->get<std::string>();
    };
    Proposal proposal;
    proposal.form = Proposal::Form::file;
    if (const auto name = text("problem"), detail = text("detail"); name && detail) {
      proposal.problem = *name;
      proposal.problem_detail = *detail;
      return proposal;
    }
    const auto source = text("text"), summary = text("summary");
    if (!source || !summary)
      return fail(ErrorCode::bad_input, fmt::format("{}: the answer lacks some of its fields",
                                                    options_.transcript.string()));
    proposal.text = *source;
    proposal.summary = *summary;
    return proposal;
  }

  ExecOptions options_;
  std::vector<std::string> argv_;
  Secrets secrets_;
  std::optional<Transcript> transcript_;
  std::uint64_t exchanges_ = 0;
  std::string ended_;
};

}  // namespace

Json exec_request(const Task& task) {
  return Json{{"format", 1},
              {"round", task.round},
              {"kernel", task.kernel},
              {"kernel_source", task.kernel_source},
              {"source", task.source},
              {"context", task.context},
              {"compiler_text", task.compiler_text},
              {"rejected_source", task.rejected_source}};
}

Result<std::unique_ptr<Proposer>> make_exec_proposer(const ExecOptions& options) {
  PERFLAB_TRY(std::vector<std::string> argv, split_command_line(options.command));
  auto proposer = std::make_unique<ExecProposer>(options, std::move(argv));
  PERFLAB_TRY_VOID(proposer->open());
  return proposer;
}

}  // namespace perflab::llm
