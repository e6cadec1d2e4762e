// Proposals, repairs, what ends the loop, and the final proof. The steps with one candidate are in
// steps.cpp, decisions in candidate.cpp.
#include "optimize/rounds/loop.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/enum_names.h"
#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/interrupt.h"
#include "base/text/text.h"
#include "base/version.h"
#include "optimize/rounds/records.h"
#include "optimize/rounds/steps.h"
#include "report/kit/document.h"

namespace perflab::optimize {
namespace {

using Clock = std::chrono::steady_clock;

class OptimizationLoop {
 public:
  OptimizationLoop(SourceModel original, const LoopOptions& options, const LoopTools& tools)
      : options_(options),
        tools_(tools),
        started_(Clock::now()),
        original_model_(std::move(original)) {}

  Result<Optimization> run() {
    PERFLAB_TRY_VOID(describe_request());
    PERFLAB_TRY(Ledger ledger, open_ledger());
    ledger_.emplace(std::move(ledger));
    out_.resumed = ledger_->earlier().events > 0;
    out_.torn = ledger_->earlier().torn;
    steps_.emplace(
        options_, tools_, *ledger_, original_model_, [this] { return out_of_time(); },
        [this](std::string text) { warn(std::move(text)); });
    PERFLAB_TRY_VOID(begin());
    PERFLAB_TRY_VOID(rounds());
    PERFLAB_TRY_VOID(finish());
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool out_of_time() const {
    return options_.time_budget && Clock::now() - started_ >= *options_.time_budget;
  }

  Result<SourceModel> parse(std::string text) const {
    return tools_.parse ? tools_.parse(std::move(text))
                        : parse_source(std::move(text), options_.parse, options_.kernel);
  }

  Result<void> describe_request() {
    out_.source = options_.source;
    out_.folder = options_.folder;
    out_.original_text = original_model_.text;
    PERFLAB_TRY(const std::size_t kernel, find_kernel(original_model_, options_.kernel));
    out_.source_name = options_.source.filename().string();
    out_.source_hash = content_hash_text(out_.original_text);
    out_.kernel = original_model_.kernels[kernel].name;
    out_.signature = original_model_.kernels[kernel].signature;
    out_.libclang = original_model_.library;
    out_.libclang_path = original_model_.library_path;
    out_.parse = options_.parse;
    out_.judge = options_.judge;
    out_.max_candidates = options_.max_candidates;
    out_.patience = options_.patience;
    out_.proposer = tools_.proposer->name();
    out_.sandbox = options_.sandbox;
    out_.workshop = tools_.workshop->identity();
    out_.workgroup_size = tools_.workshop->workgroup_size();
    return {};
  }

  [[nodiscard]] Json key() const {
    const JudgeOptions& judge = options_.judge;
    return {{"program", kProgramVersion},
            {"libclang", out_.libclang},
            {"source", out_.source_hash},
            {"kernel", out_.kernel},
            {"workshop", out_.workshop},
            {"sandbox", sandbox_kind(out_.sandbox)},
            {"parse",
             {{"arguments", options_.parse.arguments},
              {"host", options_.parse.host},
              {"arch", options_.parse.arch}}},
            {"judge",
             {{"min_gain", judge.min_gain},
              {"confidence", judge.confidence},
              {"seed", judge.seed},
              {"resamples", judge.resamples},
              {"fewest_samples", judge.stopping.fewest},
              {"most_samples", judge.stopping.most},
              {"looks", judge.stopping.looks},
              {"warmup", judge.warmup}}}};
  }

  /// Folders of builds are emptied: the user's source must not lie in one.
  [[nodiscard]] Result<void> check_place() const {
    std::error_code ignored;
    const std::filesystem::path builds =
        std::filesystem::weakly_canonical(options_.folder / kBuildsName, ignored);
    const std::filesystem::path inside =
        std::filesystem::weakly_canonical(options_.source, ignored).lexically_relative(builds);
    if (inside.empty() || *inside.begin() == "..") return {};
    return fail(ErrorCode::usage,
                fmt::format("{}: builds are made in this folder and removed again, but it holds {}",
                            builds.string(), options_.source.string()),
                "choose another --out");
  }

  Result<Ledger> open_ledger() {
    PERFLAB_TRY_VOID(check_place());
    PERFLAB_TRY_VOID(make_directories(options_.folder / kCandidatesName));
    const std::filesystem::path file = options_.folder / kLedgerName;
    Result<Ledger> ledger = Ledger::open(file, key(), options_.resume);
    if (ledger || ledger.error().code != ErrorCode::bad_input) return ledger;
    const Result<std::string> text = read_file(file);
    const Result<LedgerContents> found =
        text ? parse_ledger(*text, file.string())
             : Result<LedgerContents>(std::unexpected(text.error()));
    if (found)
      for (const FinalProof& proof : found->finals)
        if (proof.hash == out_.source_hash)
          return fail(ErrorCode::usage,
                      fmt::format("{} already is the accepted source of {}",
                                  options_.source.string(), file.string()),
                      "name another --out to go on from it");
    return ledger;
  }

  Result<void> begin() {
    if (!options_.sandbox_warning.empty()) warn(options_.sandbox_warning);
    out_.original.summary = "the original";
    PERFLAB_TRY_VOID(steps_->store(out_.original_text, out_.original));
    out_.original.decision = {.outcome = Outcome::accepted, .reason = {}, .sentence = {}};
    PERFLAB_TRY_VOID(steps_->judge_original(out_.original));
    if (!out_.original.build->reproducible)
      warn("two builds of the original differ: candidates are not required to be reproducible");
    best_text_ = out_.original_text;
    best_model_ = original_model_;
    tokens_[layout_free(best_text_)] = 0;
    return {};
  }

  void warn(std::string text) {
    if (tools_.note) tools_.note(text);
    out_.warnings.push_back(std::move(text));
  }

  [[nodiscard]] const Candidate& best() const {
    return out_.best ? out_.candidates[*out_.best - 1] : out_.original;
  }

  Result<void> rounds() {
    unsigned refused_in_a_row = 0;
    for (unsigned round = 1;; ++round) {
      if (interrupted()) return fail(ErrorCode::interrupted, "the optimisation was interrupted");
      if (options_.max_candidates && round > *options_.max_candidates)
        return end(Ended::max_candidates, fmt::format("{} proposal{} looked at", round - 1,
                                                      round == 2 ? " was" : "s were"));
      if (options_.patience && refused_in_a_row >= *options_.patience)
        return end(Ended::patience, fmt::format("{} proposal{} refused in a row", refused_in_a_row,
                                                refused_in_a_row == 1 ? " was" : "s were"));
      if (out_of_time()) return end(Ended::time_budget, "the time budget is over");
      PERFLAB_TRY(const std::optional<Outcome> outcome, one_round(round));
      if (!outcome) {
        const std::string why = tools_.proposer->why_ended();
        return end(Ended::no_more_proposals,
                   why.empty() ? "the proposer has no more proposals" : why);
      }
      refused_in_a_row = *outcome == Outcome::accepted ? 0 : refused_in_a_row + 1;
    }
  }

  Result<void> end(Ended ended, std::string sentence) {
    out_.ended = ended;
    out_.ended_sentence = std::move(sentence);
    return {};
  }

  /// A proposal and its repairs; nothing when there is no proposal.
  Result<std::optional<Outcome>> one_round(unsigned round) {
    llm::Task task = task_of(round);
    std::optional<unsigned> repairs;
    for (unsigned attempt = 0;; ++attempt) {
      Candidate candidate;
      candidate.number = static_cast<unsigned>(out_.candidates.size()) + 1;
      candidate.round = round;
      candidate.repairs = repairs;
      if (tools_.on_step) tools_.on_step(candidate, "proposal", 0);
      PERFLAB_TRY(const std::optional<llm::Proposal> proposal, tools_.proposer->next(task));
      if (!proposal && !repairs) return std::optional<Outcome>();
      if (!proposal) return std::optional<Outcome>(Outcome::refused);
      PERFLAB_TRY(const std::string text, take(*proposal, std::move(candidate)));
      const Candidate& decided = out_.candidates.back();
      if (decided.decision.reason != Reason::does_not_compile || attempt >= options_.most_repairs ||
          !tools_.proposer->repairs() || out_of_time())
        return std::optional<Outcome>(decided.decision.outcome);
      repairs = decided.number;
      task.compiler_text = decided.build->compiler_text;
      task.rejected_source = text;
    }
  }

  /// Decides a proposal; its text as a whole file.
  Result<std::string> take(const llm::Proposal& proposal, Candidate candidate) {
    candidate.summary = proposal.summary;
    candidate.against = best().number;
    const std::string text = whole_text(proposal, candidate);
    if (candidate.problem.empty()) {
      PERFLAB_TRY_VOID(steps_->store(text, candidate));
      const auto [known, fresh] = tokens_.try_emplace(layout_free(text), candidate.number);
      if (!fresh) candidate.same_as = known->second;
    }
    if (!take_decision(candidate)) take_steps(candidate);
    PERFLAB_TRY_VOID(steps_->verify(text, out_.kernel, out_.original, candidate));
    if (candidate.decision.outcome == Outcome::open)
      PERFLAB_TRY_VOID(steps_->judge(text, out_.kernel, out_.original, best(), candidate));
    const bool accepted = candidate.decision.outcome == Outcome::accepted;
    if (tools_.on_decided) tools_.on_decided(candidate);
    out_.candidates.push_back(std::move(candidate));
    if (accepted) PERFLAB_TRY_VOID(keep(text));
    return text;
  }

  /// What an earlier process decided on it; false: nothing.
  [[nodiscard]] bool take_decision(Candidate& candidate) const {
    const auto& decided = ledger_->earlier().decided;
    const auto known = decided.find({candidate.hash, best().hash});
    if (known == decided.end() || candidate.same_as || !candidate.problem.empty()) return false;
    take_records(known->second, candidate);
    candidate.decision = known->second.decision;
    return true;
  }

  /// The steps that an earlier process made with it before it was killed.
  void take_steps(Candidate& candidate) const {
    const auto& undecided = ledger_->earlier().undecided;
    const auto known = undecided.find({candidate.hash, best().hash});
    if (known == undecided.end() || candidate.same_as || !candidate.problem.empty()) return;
    take_records(known->second, candidate);
  }

  static void take_records(const Candidate& known, Candidate& candidate) {
    candidate.guards = known.guards;
    candidate.build = known.build;
    candidate.object = known.object;
    candidate.proof = known.proof;
    candidate.measurement = known.measurement;
    // Compilers put the names of files into what they make: it is built again under the old one.
    const std::filesystem::path file(known.file);
    if (file.parent_path() == kCandidatesName && file.has_stem()) candidate.file = known.file;
  }

  /// The whole file that a proposal means; a problem goes into the candidate.
  [[nodiscard]] std::string whole_text(const llm::Proposal& proposal, Candidate& candidate) const {
    const auto problem = [&](const char* name, const char* detail) {
      candidate.problem = name;
      candidate.problem_detail = detail;
      return std::string();
    };
    if (!proposal.problem.empty()) {
      candidate.problem = proposal.problem;
      candidate.problem_detail = proposal.problem_detail;
      return {};
    }
    if (trimmed(proposal.text).empty()) return problem("no_code", "the proposal is empty");
    if (proposal.text.size() > llm::kMostProposalBytes)
      return problem("too_large", "the proposal is larger than any kernel source");
    if (proposal.form == llm::Proposal::Form::file) return proposal.text;
    const Result<std::size_t> kernel = find_kernel(best_model_, out_.kernel);
    PERFLAB_CHECK(kernel.has_value());  // the guards let nothing pass that has it not
    std::string text =
        replaced(best_text_, best_model_.kernels[*kernel].definition, trimmed(proposal.text));
    if (text.size() > llm::kMostProposalBytes)
      return problem("too_large", "with the proposal the file is larger than any kernel source");
    return text;
  }

  /// The candidate that was decided last is the best now.
  Result<void> keep(const std::string& text) {
    out_.best = out_.candidates.back().number;
    best_text_ = text;
    PERFLAB_TRY(best_model_, parse(text));
    PERFLAB_TRY([[maybe_unused]] const std::size_t kernel, find_kernel(best_model_, out_.kernel));
    return {};
  }

  [[nodiscard]] llm::Task task_of(unsigned round) const {
    llm::Task task;
    task.source = best_text_;
    task.kernel = out_.kernel;
    task.round = round;
    if (const Result<std::size_t> kernel = find_kernel(best_model_, out_.kernel))
      task.kernel_source = best_model_.at(best_model_.kernels[*kernel].definition);
    task.context = options_.context;
    for (const char* fact : {"architecture", "roofline", "bottleneck", "hot_lines"})
      if (!task.context.contains(fact)) task.context[fact] = nullptr;
    task.context["resources"] = resources();
    task.context["history"] = history();
    return task;
  }

  /// Of the best source.
  [[nodiscard]] Json resources() const {
    Json out = Json::object();
    for (const Candidate* one : {&out_.original, &best()})
      if (one->object)
        for (const ResourceChange& change : one->object->changes)
          out[change.figure] = or_null(change.after);
    return out.empty() ? Json(nullptr) : out;
  }

  /// Without measured figures: a transcript can be played back only when it is asked the same.
  [[nodiscard]] Json history() const {
    Json out = Json::array();
    for (const Candidate& candidate : out_.candidates) {
      const Decision& decision = candidate.decision;
      out.push_back(
          {{"number", candidate.number},
           {"summary", candidate.summary},
           {"outcome", to_string(decision.outcome)},
           {"reason", decision.reason ? Json(to_string(*decision.reason)) : Json()},
           {"sentence", candidate.measurement ? timed_sentence(candidate) : decision.sentence}});
    }
    return out;
  }

  static std::string timed_sentence(const Candidate& candidate) {
    if (!candidate.decision.reason)
      return candidate.decision.outcome == Outcome::accepted
                 ? "it was faster, and is the source now"
                 : "time ran out";
    switch (*candidate.decision.reason) {
      case Reason::slower:
        return "it was slower";
      case Reason::no_gain:
        return "it was not faster, or less than is asked for";
      case Reason::undecided:
        return "its gain could not be told from noise";
      case Reason::resources:
        return "it needs more registers or memory and is not faster";
      case Reason::files_changed:
        return "files of a build were different after it had been timed";
      case Reason::proves_nothing:
        return "what it was timed against failed";
      default:
        return "it failed while it was timed";
    }
  }

  Result<void> finish() {
    out_.usage = tools_.proposer->usage();
    if (out_.best) {
      PERFLAB_TRY(out_.final_proof, steps_->prove_final(out_.original, best()));
      out_.decision = decision_of_final(*out_.final_proof, options_.judge);
      if (out_.decision.outcome == Outcome::accepted) {
        out_.accepted = out_.best;
        out_.accepted_text = best_text_;
        if (std::string words = data_words(*out_.final_proof); !words.empty())
          warn(std::move(words));
      }
    } else {
      out_.decision = {.outcome = Outcome::refused,
                       .reason = {},
                       .sentence = out_.candidates.empty() ? "there was no proposal"
                                                           : "no candidate was accepted"};
    }
    return ledger_->append("end", {{"ended", to_string(out_.ended)},
                                   {"accepted", out_.accepted ? Json(*out_.accepted) : Json()}});
  }

  const LoopOptions& options_;
  const LoopTools& tools_;
  Clock::time_point started_;
  Optimization out_;
  SourceModel original_model_, best_model_;
  std::string best_text_;
  std::optional<Ledger> ledger_;
  std::optional<Steps> steps_;
  std::map<std::string, unsigned> tokens_;  ///< what was tried, without layout
};

}  // namespace

std::string_view to_string(Ended ended) {
  using enum Ended;
  static constexpr auto kNames = enum_names<Ended>({{no_more_proposals, "no_more_proposals"},
                                                    {max_candidates, "max_candidates"},
                                                    {patience, "patience"},
                                                    {time_budget, "time_budget"}});
  return kNames[ended];
}

Result<Optimization> run_loop(SourceModel original, const LoopOptions& options,
                              const LoopTools& tools) {
  return OptimizationLoop(std::move(original), options, tools).run();
}

}  // namespace perflab::optimize
