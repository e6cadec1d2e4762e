// `rocm-perf optimize --recheck`: verifies an optimization.json again, without a GPU: hashes of the
// files, every comparison from its samples, the guards on the stored sources, and whether the
// decisions follow. A stored source that is gone is not checked when it was refused, and does not
// hold when it was accepted.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text/json.h"
#include "optimize/rounds/loop.h"

namespace perflab::optimize {

enum class Finding : std::uint8_t { holds, does_not_hold, not_checked };
std::string_view to_string(Finding finding);

struct RecheckItem {
  std::string what;  ///< "hash of candidates/003.hip", "comparison of candidate 3"
  Finding finding = Finding::holds;
  std::string detail;  ///< empty: nothing to say
};

struct Recheck {
  std::vector<RecheckItem> items;
  std::string sandbox;  ///< where candidates ran, by the document: a sentence
  [[nodiscard]] std::size_t count(Finding finding) const;
  /// Nothing was found that does not hold.
  [[nodiscard]] bool holds() const { return count(Finding::does_not_hold) == 0; }
};

struct RecheckTools {
  /// As in LoopTools; parse_source() and check_source() unless given.
  std::function<Result<SourceModel>(std::string text, const ParseOptions& options)> parse;
  std::function<Result<GuardResults>(const SourceModel& original, const std::string& candidate,
                                     const SourceGuardOptions& options)>
      check;
};

/// Looks at a document and the files that its environment names; a folder that was moved is looked
/// for beside the document. Errors (bad_input): it cannot be read or does not satisfy its schema.
Result<Recheck> recheck(const std::filesystem::path& document, const RecheckTools& tools = {});

/// A line for each item, those that do not hold first, and what that says.
std::string recheck_text(const Recheck& recheck);

/// The answer: what that says first, and five items at most of those that do not hold or could not
/// be checked.
std::string recheck_answer(const Recheck& recheck);

}  // namespace perflab::optimize
