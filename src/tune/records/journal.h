// The journal of a tuning: JSON lines, appended and flushed after every evaluation, so that a kill
// at any moment loses at most the evaluation under way. One line is a configuration: adding a value
// to the space keeps the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/line_log.h"
#include "base/text/json.h"
#include "tune/values/outcome.h"
#include "tune/values/value.h"

namespace perflab::tune {

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
  friend bool operator==(const JournalKey&, const JournalKey&) = default;
};

struct JournalEntry {
  std::vector<Binding> configuration;  ///< parameters only
  std::string round;                   ///< "search", or "final 3": a repeat of the last comparison
  std::string worker;                  ///< which one measured it: "gpu 0", "node7"; empty: one only
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

class Journal {
 public:
  /// Creates the file, or with `resume` reads what is there. Errors: usage (it exists and holds
  /// evaluations but `resume` is not set; cannot be written; another process has it locked),
  /// bad_input (another key: names the field that differs and both values; a damaged line that is
  /// not the last; a file that is no journal, which is left alone).
  static Result<Journal> open(const std::filesystem::path& file, const JournalKey& key,
                              bool resume);
  /// The entries of a journal, whatever its key; for warm starts. Errors as open().
  static Result<std::vector<JournalEntry>> read(const std::filesystem::path& file);

  /// What an earlier process left, in the order written.
  [[nodiscard]] const std::vector<JournalEntry>& earlier() const { return earlier_; }
  /// The last line was torn by a kill: it was dropped (and cut off the file).
  [[nodiscard]] bool torn() const { return torn_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes the line and flushes it to the file. Error (usage): the disk is full, say.
  Result<void> append(const JournalEntry& entry);

 private:
  Journal(std::filesystem::path path, LineLog log) : path_(std::move(path)), log_(std::move(log)) {}

  std::filesystem::path path_;
  LineLog log_;
  std::vector<JournalEntry> earlier_;
  bool torn_ = false;
};

/// Text that names a configuration whatever the order of its values: the key of resumption. Equal
/// exactly when the names are and the values are same_value().
std::string configuration_key(std::vector<Binding> configuration);

}  // namespace perflab::tune
