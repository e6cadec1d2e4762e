// Nothing of the document is believed: what follows from something else in it is computed again.
#include "optimize/rounds/recheck.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/enum_names.h"
#include "base/hash.h"
#include "base/system/files.h"
#include "capture/capture_reader.h"
#include "optimize/rounds/record_checks.h"
#include "optimize/rounds/records.h"
#include "report/kit/document.h"
#include "report/kit/text_table.h"

namespace perflab::optimize {
namespace {

class Rechecker {
 public:
  Rechecker(const Json& document, const std::filesystem::path& place, const RecheckTools& tools)
      : document_(document), tools_(tools) {
    std::error_code ignored;
    folder_ = document["environment"]["folder"].get<std::string>();
    // Moved with its folder: what lies beside it counts.
    if (std::filesystem::exists(place.parent_path() / kLedgerName, ignored))
      folder_ = place.parent_path();
  }

  Result<Recheck> run() {
    PERFLAB_TRY_VOID(read_records());
    check_source_file();
    check_hash("original " + original_.file, original_.file, original_.hash, accepts());
    for (const Candidate& candidate : candidates_) {
      const bool accepted = candidate.decision.outcome == Outcome::accepted;
      if (!candidate.file.empty())
        check_hash(candidate.file, candidate.file, candidate.hash, accepted);
      else if (accepted)
        add(fmt::format("source of candidate {}", candidate.number), false,
            "the document names no file for it");
    }
    check_original();
    check_capture();
    check_sandbox();
    for (const Candidate& candidate : candidates_) {
      if (candidate.measurement)
        check_measurement(fmt::format("comparison of candidate {}", candidate.number),
                          *candidate.measurement);
      check_decision(candidate);
    }
    check_chain();
    check_final();
    check_guards();
    return std::move(out_);
  }

 private:
  void add(std::string what, bool holds, std::string detail = {}) {
    out_.items.push_back({.what = std::move(what),
                          .finding = holds ? Finding::holds : Finding::does_not_hold,
                          .detail = holds ? std::string() : std::move(detail)});
  }
  void not_checked(std::string what, std::string why) {
    out_.items.push_back(
        {.what = std::move(what), .finding = Finding::not_checked, .detail = std::move(why)});
  }

  Result<void> read_records() {
    const Json& options = document_["options"];
    judge_ = {.min_gain = options["min_gain"].get<double>(),
              .confidence = options["confidence"].get<double>(),
              .seed = options["seed"].get<std::uint64_t>(),
              .resamples = options["resamples"].get<int>(),
              .stopping = {.fewest = options["fewest_samples"].get<std::size_t>(),
                           .most = options["most_samples"].get<std::size_t>(),
                           .looks = options["looks"].get<std::size_t>()},
              .warmup = options["warmup"].get<std::size_t>()};
    original_.hash = document_["source"]["hash"].get<std::string>();
    original_.file = document_["original"]["file"].get<std::string>();
    PERFLAB_TRY_VOID(add_steps(document_["original"], "original", original_));
    for (const Json& json : document_["candidates"]) {
      PERFLAB_TRY(Candidate candidate, candidate_from_json(json, "candidates"));
      if (candidate.number != candidates_.size() + 1)
        return fail(ErrorCode::bad_input, "the candidates are not numbered from 1");
      candidates_.push_back(std::move(candidate));
    }
    return {};
  }

  [[nodiscard]] bool accepts() const { return document_["accepted"].is_object(); }

  /// `evidence`: something was accepted on the strength of this file, so that it has to be there.
  void check_hash(const std::string& name, const std::filesystem::path& file,
                  const std::string& hash, bool evidence) {
    const Result<std::string> text = read_file(folder_ / file);
    const std::string what = "hash of " + name;
    if (!text && evidence) return add(what, false, text.error().message);
    if (!text) return not_checked(what, text.error().message);
    add(what, is_hash_of(hash, *text),
        fmt::format("it is {}, and {} is recorded", content_hash_text(*text), hash));
  }

  /// Nothing can be proven with an original that was not built, or not proven against itself.
  void check_original() {
    const bool built = original_.build && original_.build->compiled;
    const bool proven = original_.proof && !refused_proof(*original_.proof);
    add("the proof of the original against itself", built && proven,
        built ? "it failed" : "it was not built");
  }

  void check_source_file() {
    const std::string path = document_["environment"]["source"].get<std::string>();
    const std::string what = "hash of the source " + path;
    const Result<std::string> text = read_file(path);
    if (!text) return not_checked(what, text.error().message);
    const Json& accepted = document_["accepted"];
    const bool applied =
        accepted.is_object() && is_hash_of(accepted["hash"].get<std::string>(), *text);
    add(what, applied || is_hash_of(original_.hash, *text),
        fmt::format("it is {}: neither the original ({}) nor the accepted source",
                    content_hash_text(*text), original_.hash));
  }

  /// Steps that were made in a sandbox and without one do not get into the same ledger.
  void check_sandbox() {
    const Json& sandbox = document_["sandbox"];
    out_.sandbox = sandbox["sentence"].get<std::string>();
    const std::string what = "the sandbox, by the ledger";
    const std::filesystem::path file = folder_ / kLedgerName;
    const Result<std::string> text = read_file(file);
    if (!text) return not_checked(what, text.error().message);
    const Result<LedgerContents> ledger = parse_ledger(*text, file.string());
    if (!ledger) return not_checked(what, ledger.error().message);
    add(what, ledger->key.is_object() && ledger->key.value("sandbox", Json()) == sandbox["tool"],
        "the ledger names another one");
  }

  /// A replay workshop's identity has the hash of its capture.
  void check_capture() {
    const Json& folder = document_["environment"]["capture"];
    const Json& workshop = document_["workshop"];
    if (!folder.is_string() || !workshop.contains("capture")) return;
    const auto capture = capture::Capture::open(folder.get<std::string>());
    if (!capture) return not_checked("hash of the capture", capture.error().message);
    if (const Result<void> same = capture->check_bytes(); !same)
      return add("hash of the capture", false, same.error().message);
    add("hash of the capture",
        workshop["capture"].is_string() &&
            capture->has_hash(workshop["capture"].get<std::string>()),
        fmt::format("it is {}, and {} is recorded", capture->hash(), workshop["capture"].dump()));
  }

  void check_measurement(const std::string& what, const Measurement& recorded) {
    const std::string altered = altered_figure(judge_, recorded);
    add(what, altered.empty(), altered);
  }

  [[nodiscard]] bool must_reproduce() const {
    return original_.build && original_.build->reproducible;
  }

  void check_decision(const Candidate& candidate) {
    const std::string altered = altered_decision(candidate, judge_, must_reproduce());
    add(fmt::format("decision on candidate {}", candidate.number), altered.empty(), altered);
  }

  /// Every candidate was judged against the best one before it.
  void check_chain() {
    unsigned best = 0;
    for (const Candidate& candidate : candidates_) {
      if (candidate.against != best)
        add(fmt::format("chain at candidate {}", candidate.number), false,
            fmt::format("it was judged against {}, and the best one was {}", candidate.against,
                        best));
      if (candidate.decision.outcome == Outcome::accepted) best = candidate.number;
    }
    const Json& final_proof = document_["final"];
    const unsigned proven = final_proof.is_object() ? final_proof["number"].get<unsigned>() : 0;
    add("the final source is the last one accepted", proven == best,
        fmt::format("it is {}, and {} was", proven, best));
    if (proven != 0 && proven <= candidates_.size())
      add("hash of the final source", final_proof["hash"] == candidates_[proven - 1].hash,
          "it is not that of its candidate");
  }

  void check_final() {
    const Json& final_proof = document_["final"];
    const Json& accepted = document_["accepted"];
    if (!final_proof.is_object())
      return add("nothing is accepted without a final proof", accepted.is_null(),
                 "there is no final proof");
    const Result<FinalProof> read = final_proof_from_json(final_proof, "final");
    if (!read) return add("the final proof", false, "it cannot be read");
    const FinalProof& proof = *read;
    if (proof.measurement) check_measurement("the final comparison", *proof.measurement);
    if (proof.as_captured)
      check_measurement("the comparison on the captured input", *proof.as_captured);
    const Decision again = decision_of_final(proof, judge_);
    const bool accepts = again.outcome == Outcome::accepted;
    add("what is accepted follows from the final proof",
        accepts == accepted.is_object() &&
            document_["decision"]["outcome"] == to_string(again.outcome),
        fmt::format("the records say {}: {}", to_string(again.outcome), again.sentence));
    if (!accepted.is_object()) return;
    add("the accepted source is the one that was proven",
        accepted["number"] == final_proof["number"] && accepted["hash"] == final_proof["hash"],
        "it is another one");
    const unsigned number = accepted["number"].get<unsigned>();
    add("the file of the accepted source",
        number >= 1 && number <= candidates_.size() &&
            accepted["file"] == candidates_[number - 1].file,
        "it is not that of its candidate");
    if (accepts) check_speed_up(accepted["speed_up"], *proof.measurement);
    const std::string name =
        "accepted" +
        std::filesystem::path(document_["source"]["name"].get<std::string>()).extension().string();
    check_hash(name, name, proof.hash, false);  // a copy of its candidate
  }

  void check_speed_up(const Json& recorded, Measurement measurement) {
    recompute(judge_, measurement);
    const std::optional<SpeedUp> speed = speed_up(measurement);
    const bool same =
        speed &&
        same_figures(recorded,
                     {{"value", speed->value}, {"low", speed->low}, {"high", speed->high}});
    add("the speed-up of the accepted source", same, "the samples say another one");
  }

  [[nodiscard]] ParseOptions parse_options() const {
    const Json& source = document_["source"];
    ParseOptions options;
    options.path = document_["environment"]["source"].get<std::string>();
    options.arguments = source["arguments"].get<std::vector<std::string>>();
    options.host = source["host"].get<bool>();
    if (source["architecture"].is_string()) options.arch = source["architecture"];
    return options;
  }

  Result<SourceModel> parse_original() const {
    PERFLAB_TRY(std::string text, read_file(folder_ / original_.file));
    const std::string kernel = document_["source"]["kernel"];
    return tools_.parse ? tools_.parse(std::move(text), parse_options())
                        : parse_source(std::move(text), parse_options(), kernel);
  }

  void check_guards() {
    const Result<SourceModel> model = parse_original();
    if (!model) return not_checked("guards on the stored sources", model.error().message);
    SourceGuardOptions options;
    options.kernel = document_["source"]["kernel"];
    if (const Json& size = document_["source"]["workgroup_size"]; size.is_number_integer())
      options.workgroup_size = size.get<std::int64_t>();
    for (const Candidate& candidate : candidates_) {
      if (!candidate.guards) continue;
      const std::string what = fmt::format("guards on candidate {}", candidate.number);
      const Result<std::string> text = read_file(folder_ / candidate.file);
      if (!text) {
        not_checked(what, text.error().message);
        continue;
      }
      const Result<GuardResults> again = tools_.check ? tools_.check(*model, *text, options)
                                                      : check_source(*model, *text, options);
      if (!again) {
        not_checked(what, again.error().message);
        continue;
      }
      const std::string difference = guard_difference(*candidate.guards, *again);
      add(what, difference.empty(), difference);
    }
  }

  const Json& document_;
  const RecheckTools& tools_;
  std::filesystem::path folder_;
  JudgeOptions judge_;
  Candidate original_;
  std::vector<Candidate> candidates_;
  Recheck out_;
};

}  // namespace

std::string_view to_string(Finding finding) {
  using enum Finding;
  static constexpr auto kNames = enum_names<Finding>(
      {{holds, "holds"}, {does_not_hold, "does not hold"}, {not_checked, "not checked"}});
  return kNames[finding];
}

std::size_t Recheck::count(Finding finding) const {
  return static_cast<std::size_t>(std::ranges::count(items, finding, &RecheckItem::finding));
}

Result<Recheck> recheck(const std::filesystem::path& document, const RecheckTools& tools) {
  PERFLAB_TRY(const std::string text, read_file(document));
  PERFLAB_TRY(const Json json, parse_json(text, document.string()));
  if (const Result<void> valid = report::validate("optimization", json); !valid)
    return fail(ErrorCode::bad_input, fmt::format("{}: is not a sound optimization.json: {}",
                                                  document.string(), valid.error().message));
  Result<Recheck> done = Rechecker(json, document, tools).run();
  if (!done) done.error().message = document.string() + ": " + done.error().message;
  return done;
}

namespace {

std::string item_line(const RecheckItem& item) {
  return fmt::format("{:13}  {}{}\n", to_string(item.finding), printable(item.what),
                     item.detail.empty() ? "" : ": " + printable(item.detail));
}

/// "12 of 14 hold, 2 could not be checked: the document is sound as far as it could be checked".
std::string verdict_line(const Recheck& recheck) {
  return fmt::format("{} of {} hold, {} could not be checked: {}\n", recheck.count(Finding::holds),
                     recheck.items.size(), recheck.count(Finding::not_checked),
                     !recheck.holds() ? "the document is not sound"
                     : recheck.count(Finding::not_checked) > 0
                         ? "the document is sound as far as it could be checked"
                         : "the document is sound");
}

}  // namespace

std::string recheck_text(const Recheck& recheck) {
  std::string text;
  for (const Finding finding : {Finding::does_not_hold, Finding::not_checked, Finding::holds})
    for (const RecheckItem& item : recheck.items)
      if (item.finding == finding) text += item_line(item);
  return text + "\n" + printable(recheck.sandbox) + "\n" + verdict_line(recheck);
}

std::string recheck_answer(const Recheck& recheck) {
  constexpr std::size_t kMostItems = 5;
  std::string text = verdict_line(recheck);
  for (const Finding finding : {Finding::does_not_hold, Finding::not_checked}) {
    std::size_t shown = 0;
    for (const RecheckItem& item : recheck.items)
      if (item.finding == finding && shown++ < kMostItems) text += item_line(item);
    if (shown > kMostItems) text += fmt::format("… and {} more: --details\n", shown - kMostItems);
  }
  return text + printable(recheck.sandbox) + "\n";
}

}  // namespace perflab::optimize
