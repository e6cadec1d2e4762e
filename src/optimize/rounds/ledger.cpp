// Lines of the ledger to what is known of the candidates.
#include "optimize/rounds/ledger.h"

#include <fmt/format.h>

#include <array>

#include "base/system/files.h"
#include "optimize/rounds/records.h"

namespace perflab::optimize {
namespace {

constexpr std::string_view kLedgerFormat = "rocm-perf optimize";
constexpr int kLedgerVersion = 2;  // 1: hashes were XXH3
/// Every ledger begins with it: how one is told from any other file.
constexpr std::string_view kLedgerBeginning = R"({"event":"begin","ledger":"rocm-perf optimize")";

/// One line, whatever bytes are in its texts.
std::string ledger_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string short_dump(const Json& json) {
  constexpr std::size_t kMost = 100;
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  return text;
}

/// What the lines say, one after the other.
class LedgerReader {
 public:
  LedgerReader(LedgerContents& contents, std::string_view what)
      : contents_(contents), what_(what) {}

  /// Behind the last line.
  void finish() {
    for (const auto& [number, candidate] : open_) keep_steps(candidate);
  }

  Result<void> take(const Json& line) {
    const std::string event = line.value("event", "");
    if (event == "begin") return begin(line);
    ++contents_.events;
    if (event == "original") return original(line);
    if (event == "final") return final_proof(line);
    if (event == "end" || !line.contains("number")) return {};
    return candidate(event, line);
  }

 private:
  Result<void> begin(const Json& line) {
    const Json version = line.value("version", Json());
    if (version != kLedgerVersion)
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: is a ledger of version {}, this program reads {}", what_,
                              version.dump(), kLedgerVersion),
                  "go on with the version of rocm-perf that began it, or choose another --out");
    contents_.key = line.value("key", Json());
    if (!contents_.key.is_object())
      return fail(ErrorCode::bad_input, fmt::format("{}: line 1 has no \"key\"", what_));
    return {};
  }

  Result<void> original(const Json& line) {
    PERFLAB_TRY(contents_.original, candidate_from_json(line, what_));
    return {};
  }

  Result<void> final_proof(const Json& line) {
    PERFLAB_TRY(FinalProof proof, final_proof_from_json(line, what_));
    contents_.finals.push_back(std::move(proof));
    return {};
  }

  Result<void> candidate(const std::string& event, const Json& line) {
    if (!line.at("number").is_number_unsigned())
      return fail(ErrorCode::bad_input, fmt::format("{}: \"number\" is not a number", what_));
    const auto number = line.at("number").get<unsigned>();
    if (event == "proposal") {
      PERFLAB_TRY(open_[number], candidate_from_json(line, what_));
      if (line.contains("against_hash") && line["against_hash"].is_string())
        against_[number] = line["against_hash"].get<std::string>();
      return {};
    }
    const auto found = open_.find(number);
    if (found == open_.end())
      return fail(
          ErrorCode::bad_input,
          fmt::format("{}: \"{}\" of candidate {}, which was not proposed", what_, event, number));
    Candidate& candidate = found->second;
    PERFLAB_TRY_VOID(add_steps(line, what_, candidate));
    if (event != "decision") return {};
    if (!candidate.hash.empty() && candidate.decision.outcome != Outcome::open &&
        !candidate.same_as)
      contents_.decided.insert_or_assign({candidate.hash, against_[number]}, candidate);
    if (candidate.decision.outcome == Outcome::open) keep_steps(candidate);
    open_.erase(found);
    return {};
  }

  void keep_steps(Candidate candidate) {
    // What the end of the time cut short is measured again.
    if (candidate.measurement && candidate.measurement->out_of_time) candidate.measurement.reset();
    if (!candidate.hash.empty() && !candidate.same_as)
      contents_.undecided.insert_or_assign({candidate.hash, against_[candidate.number]}, candidate);
  }

  LedgerContents& contents_;
  std::string_view what_;
  std::map<unsigned, Candidate> open_;
  std::map<unsigned, std::string> against_;  ///< hashes of the best ones at the time
};

}  // namespace

std::string key_difference(const Json& recorded, const Json& asked) {
  for (const auto& [name, now] : asked.items()) {
    const Json then = recorded.value(name, Json());
    if (then == now) continue;
    if (then.is_object() && now.is_object())
      if (const std::string inner = key_difference(then, now); !inner.empty())
        return name + ": " + inner;
    return fmt::format("its {} is {}, now it is {}", name, short_dump(then), short_dump(now));
  }
  for (const auto& [name, then] : recorded.items())
    if (!asked.contains(name))
      return fmt::format("its {} is {}, now there is none", name, short_dump(then));
  return {};
}

Result<LedgerContents> parse_ledger(std::string_view text, std::string_view what) {
  LedgerContents contents;
  const bool torn_header =
      text.find('\n') == std::string_view::npos && kLedgerBeginning.starts_with(text);
  if (!text.starts_with(kLedgerBeginning) && !torn_header)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is not a ledger of {}", what, kLedgerFormat));
  LedgerReader reader(contents, what);
  for (std::size_t number = 1; contents.whole_bytes < text.size(); ++number) {
    const std::string_view rest = text.substr(contents.whole_bytes);
    const std::size_t length = rest.find('\n');
    contents.torn = length == std::string_view::npos;
    if (contents.torn) break;
    const std::string place = fmt::format("{}: line {}", what, number);
    const Result<Json> line = parse_json(rest.substr(0, length), place);
    if (!line || !line->is_object()) {
      // A line that was being written when the machine went down: it has its end, but not its
      // middle.
      contents.torn = length + 1 == rest.size();
      if (contents.torn) break;
      return fail(ErrorCode::bad_input, place + " is not a JSON object");
    }
    PERFLAB_TRY_VOID(reader.take(*line));
    contents.whole_bytes += length + 1;
  }
  reader.finish();
  return contents;
}

Result<Ledger> Ledger::open(const std::filesystem::path& file, const Json& key, bool resume) {
  PERFLAB_TRY(LineLog log,
              LineLog::open(file, "the ledger",
                            "wait for the other optimisation to end, or name another --out"));
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(LedgerContents found, parse_ledger(text, file.string()));
  if (!resume && found.events > 0)
    return fail(ErrorCode::usage,
                fmt::format("the ledger {} already holds decisions", file.string()),
                "--resume continues it; or name another --out");
  const bool fresh = found.events == 0;
  if (!fresh)
    if (const std::string difference = key_difference(found.key, key); !difference.empty())
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: cannot be resumed: {}", file.string(), difference),
                  "decisions of the two cannot be mixed: name another --out");
  PERFLAB_TRY_VOID(log.keep(fresh ? 0 : found.whole_bytes));
  if (fresh) {
    found.key = key;
    PERFLAB_TRY_VOID(log.append(ledger_line({{"event", "begin"},
                                             {"ledger", kLedgerFormat},
                                             {"version", kLedgerVersion},
                                             {"key", key}})));
  }
  return Ledger(std::move(log), std::move(found));
}

Result<void> Ledger::append(std::string_view event, const Json& fields) {
  Json line = {{"event", event}};
  line.update(fields);
  return log_.append(ledger_line(line));
}

}  // namespace perflab::optimize
