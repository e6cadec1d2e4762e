// Lines to entries and back, and the reader of a whole text.
#include "tune/records/journal_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text/json_fields.h"
#include "stats/summary.h"
#include "tune/records/readers.h"

namespace perflab::tune {
namespace {

constexpr std::string_view kFormat = "rocm-perf autotune";
constexpr int kVersion = 2;
/// Every journal begins with it: how one is told from any other file.
constexpr std::string_view kBeginning = R"({"journal":"rocm-perf autotune")";

struct KeyField {
  std::string_view name;   ///< in the header
  std::string_view words;  ///< in messages
  std::string JournalKey::* member;
};
constexpr std::array<KeyField, 10> kKeyFields = {{
    {"command", "command", &JournalKey::command},
    {"build", "build command", &JournalKey::build},
    {"check", "check command", &JournalKey::check},
    {"kind", "objective", &JournalKey::kind},
    {"goal", "goal", &JournalKey::goal},
    {"objective", "pattern", &JournalKey::objective},
    {"binary_hash", "program's hash", &JournalKey::binary_hash},
    {"gpu", "GPU", &JournalKey::gpu},
    {"space", "search space", &JournalKey::space},
    {"priors", "list of priors", &JournalKey::priors},
}};

/// One line, whatever bytes are in its texts.
std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::unexpected<Error> damaged(std::string_view what, std::size_t line, std::string_view why) {
  return fail(ErrorCode::bad_input, fmt::format("{}: line {} {}", what, line, why));
}

Result<JournalKey> key_from_json(const Json& header, std::string_view what) {
  const Json* const version = perflab::member(header, "version");
  if (version == nullptr || *version != kVersion)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: is a journal of version {}, this program reads {}", what,
                            version == nullptr ? "none" : version->dump(), kVersion));
  JsonFields in(header, what);
  JsonFields fields = in.object("key");
  JournalKey key;
  // Journals from before there were priors have none.
  for (const KeyField& field : kKeyFields)
    if (field.member != &JournalKey::priors || fields.has(field.name))
      fields.read(field.name, key.*field.member);
  PERFLAB_TRY_VOID(in.result());
  return key;
}

Result<JournalEntry> entry_from_json(const Json& json, std::string_view place) {
  JournalEntry entry;
  JsonFields in(json, place);
  const auto configuration = in.get<Json>("configuration");
  if (!configuration.is_object()) in.wrong("configuration", "is not an object");
  in.read("round", entry.round);
  in.read("worker", entry.worker);
  const Json* const evaluation = in.find("evaluation");
  PERFLAB_TRY_VOID(in.result());
  for (const auto& [name, item] : configuration.items()) {
    PERFLAB_TRY(Value value, value_from_json(item, place));
    entry.configuration.emplace_back(name, std::move(value));
  }
  PERFLAB_TRY(entry.evaluation, evaluation_from_json(*evaluation, place));
  // Only a build alone has no value.
  if (entry.evaluation.outcome == Outcome::correct && !entry.evaluation.value &&
      entry.round != kBuiltRound)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: \"value\" is missing though \"outcome\" is \"correct\"", place));
  return entry;
}

/// The part of a text around the place `at`, on one line: what two long keys differ in.
std::string excerpt(std::string_view text, std::size_t at) {
  constexpr std::size_t kMost = 100, kBefore = 30;
  const auto continues = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
  };
  std::size_t begin =
      text.size() <= kMost || at <= kBefore ? 0 : std::min(at, text.size()) - kBefore;
  while (begin > 0 && continues(begin)) --begin;
  std::size_t end = std::min(begin + kMost, text.size());
  while (continues(end)) ++end;
  std::string out;
  if (begin > 0) out += "...";
  for (const char c : text.substr(begin, end - begin)) out += c == '\n' || c == '\r' ? ' ' : c;
  if (end < text.size()) out += "...";
  return out;
}

}  // namespace

std::string journal_header(const JournalKey& key) {
  Json fields = Json::object();
  for (const KeyField& field : kKeyFields) fields[std::string(field.name)] = key.*field.member;
  return one_line(Json{{"journal", kFormat}, {"version", kVersion}, {"key", std::move(fields)}});
}

std::string journal_line(const JournalEntry& entry) {
  Json configuration = Json::object();
  for (const auto& [name, value] : entry.configuration) configuration[name] = to_json(value);
  return one_line(Json{{"configuration", std::move(configuration)},
                       {"round", entry.round},
                       {"worker", entry.worker},
                       {"evaluation", to_json(entry.evaluation)}});
}

std::string journal_difference(const JournalKey& recorded, const JournalKey& asked) {
  for (const KeyField& field : kKeyFields) {
    const std::string& theirs = recorded.*field.member;
    const std::string& ours = asked.*field.member;
    if (theirs == ours) continue;
    const auto place =
        static_cast<std::size_t>(std::ranges::mismatch(theirs, ours).in1 - theirs.begin());
    return fmt::format("its {} is \"{}\", now it is \"{}\"", field.words, excerpt(theirs, place),
                       excerpt(ours, place));
  }
  return {};
}

bool is_journal(std::string_view text) {
  return text.starts_with(kBeginning);
}

Result<JournalText> parse_journal(std::string_view text, std::string_view what) {
  JournalText journal;
  const bool torn_header =
      text.find('\n') == std::string_view::npos && kBeginning.starts_with(text);
  if (!is_journal(text) && !torn_header)
    return fail(ErrorCode::bad_input, fmt::format("{}: is not a journal of {}", what, kFormat));
  for (std::size_t line = 1; journal.whole_bytes < text.size(); ++line) {
    const std::string_view rest = text.substr(journal.whole_bytes);
    const std::size_t length = rest.find('\n');
    journal.torn = length == std::string_view::npos;
    if (journal.torn) break;
    const Result<Json> json = parse_json(rest.substr(0, length), what);
    if (!json) {
      // A line that was being written when the machine went down: it has its end, but not its
      // middle.
      journal.torn = length + 1 == rest.size();
      if (journal.torn) break;
      return damaged(what, line, "is not JSON");
    }
    if (line == 1) {
      PERFLAB_TRY(journal.key, key_from_json(*json, what));
    } else {
      PERFLAB_TRY(JournalEntry entry,
                  entry_from_json(*json, fmt::format("{}: line {}", what, line)));
      journal.entries.push_back(std::move(entry));
    }
    journal.whole_bytes += length + 1;
  }
  return journal;
}

Result<RawRecording> read_journal_recording(std::string_view text, std::string_view what) {
  PERFLAB_TRY(JournalText journal, parse_journal(text, what));
  RawRecording raw;
  raw.head.format = "journal";
  raw.head.cut_off = journal.torn;
  if (journal.key) {
    raw.head.device = journal.key->gpu;
    raw.head.maximize = journal.key->goal == kMaximize;
  }
  std::map<std::string, std::size_t> rows;  // by configuration
  for (JournalEntry& entry : journal.entries) {
    Evaluation& evaluation = entry.evaluation;
    if (entry.round.starts_with(kAgainRound) && evaluation.value) {
      const auto row = rows.find(configuration_key(entry.configuration));
      if (row == rows.end()) continue;
      RecordedConfiguration& known = raw.rows[row->second].result;
      known.repeats.insert(known.repeats.end(), evaluation.samples.begin(),
                           evaluation.samples.end());
      known.value = stats::summarize(known.repeats).median;
    }
    if (entry.round != "search") continue;  // the last comparison repeats what search has
    RecordedConfiguration result{.values = {},
                                 .outcome = evaluation.outcome,
                                 .value = evaluation.value,
                                 .repeats = {},
                                 .compile_ms = evaluation.build_seconds * 1e3,
                                 .benchmark_ms = evaluation.run_seconds * 1e3};
    if (evaluation.value) result.repeats = std::move(evaluation.samples);
    for (MetricValue& one : evaluation.metrics)
      if (one.value) result.metrics.emplace_back(std::move(one.name), *one.value);
    if (result.value) rows.emplace(configuration_key(entry.configuration), raw.rows.size());
    raw.rows.push_back({std::move(entry.configuration), std::move(result)});
  }
  return raw;
}

}  // namespace perflab::tune
