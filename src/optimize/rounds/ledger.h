// The ledger of an optimisation: one JSON object a line, appended and flushed as soon as something
// is known, so that a kill at any moment loses at most the step under way. --resume takes from it
// whatever was decided.
//
// Lines: begin (with the key), original, proposal, guards, build, object, proof, measured,
// decision, final, end. Those of a candidate carry its number; a further "proposal" of a
// number begins that candidate anew.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/line_log.h"
#include "base/text/json.h"
#include "optimize/rounds/candidate.h"

namespace perflab::optimize {

/// What an earlier process left.
struct LedgerContents {
  Json key;  ///< an object; null: there is no header, or it is torn
  std::optional<Candidate> original;
  /// Decided candidates by the hash of their source and the best one's at the time.
  std::map<std::pair<std::string, std::string>, Candidate> decided;
  /// Likewise those that a kill, or the end of the time, left with some steps made.
  std::map<std::pair<std::string, std::string>, Candidate> undecided;
  std::vector<FinalProof> finals;
  std::size_t events = 0;       ///< behind the header
  std::size_t whole_bytes = 0;  ///< up to the end of the last whole line
  bool torn = false;            ///< a kill cut the last line short
};
/// Error (bad_input): no ledger, another version, a damaged line (numbered) that is not the last.
Result<LedgerContents> parse_ledger(std::string_view text, std::string_view what);

class Ledger {
 public:
  /// Creates the file, or with `resume` reads what is there. `key`: an object of what decisions
  /// must have in common. Errors: usage (it holds events but `resume` is not set; it cannot be
  /// written; another process has it), bad_input (another key: names the field; a damaged file).
  static Result<Ledger> open(const std::filesystem::path& file, const Json& key, bool resume);

  [[nodiscard]] const LedgerContents& earlier() const { return earlier_; }

  /// Appends {"event": name, ...fields}. Error (usage): the disk is full, say.
  Result<void> append(std::string_view event, const Json& fields);

 private:
  Ledger(LineLog log, LedgerContents earlier)
      : log_(std::move(log)), earlier_(std::move(earlier)) {}

  LineLog log_;
  LedgerContents earlier_;
};

/// The first field in which two keys differ, with both values; empty: none.
std::string key_difference(const Json& recorded, const Json& asked);

}  // namespace perflab::optimize
