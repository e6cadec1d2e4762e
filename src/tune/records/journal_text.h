// The lines of a journal: its key, and one per evaluation.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "tune/values/outcome.h"
#include "tune/values/value.h"

namespace perflab::tune {

/// The round of an evaluation that was only built, to be chosen by what the compiler says of it.
inline constexpr std::string_view kBuiltRound = "built";

/// What the rounds of further runs of a measured configuration begin with (Racing): "again 1".
inline constexpr std::string_view kAgainRound = "again ";

/// What `goal` of a key says.
inline constexpr std::string_view kMinimize = "minimize", kMaximize = "maximize";

/// What measurements must have in common to be comparable. A journal of another key is refused.
struct JournalKey {
  std::string command;  ///< template of the command; "simulate" and the recording's hash
  std::string build;    ///< template of the build, and hashes of the files it names
  std::string check;
  std::string kind;         ///< of the objective: "gpu_time", "wall_time", "metric"
  std::string goal;         ///< "minimize" or "maximize"
  std::string objective;    ///< its pattern or kernel
  std::string binary_hash;  ///< of the program that the command starts, when it is not built here
  std::string gpu;          ///< of the GPUs; empty: none
  std::string space;        ///< names of the parameters, and the derived values with expressions
  std::string priors{};     ///< digests of --prior, in their order; empty: none
  friend bool operator==(const JournalKey&, const JournalKey&) = default;
};

struct JournalEntry {
  std::vector<Binding> configuration;  ///< parameters only
  /// "search", kBuiltRound, kAgainRound, "captured", or "final 3": a repeat of the last comparison
  std::string round;
  std::string worker;  ///< which one measured it: "gpu 0", "node7"; empty: one only
  Evaluation evaluation;
};

/// What the text of a journal holds.
struct JournalText {
  std::optional<JournalKey> key;  ///< missing: the header was not written, or is torn
  std::vector<JournalEntry> entries;
  std::size_t whole_bytes = 0;  ///< up to the end of the last whole line
  bool torn = false;            ///< something stands behind it: a line that a kill cut short
};
/// Error (bad_input): no journal, one of another version, or a damaged line (numbered) that is not
/// the last.
Result<JournalText> parse_journal(std::string_view text, std::string_view what);
/// Whether the text begins as journals do.
bool is_journal(std::string_view text);

/// The first line, and the line of an entry; both end with a line break.
std::string journal_header(const JournalKey& key);
std::string journal_line(const JournalEntry& entry);

/// What differs between the key of a journal and the one that is asked for: "the command is "./a",
/// the journal has "./b"". Precondition: they differ.
std::string journal_difference(const JournalKey& recorded, const JournalKey& asked);

/// Text that names a configuration whatever the order of its values: the key of resumption. Equal
/// exactly when the names are and the values are same_value().
std::string configuration_key(std::vector<Binding> configuration);

}  // namespace perflab::tune
