// The journal of a tuning: JSON lines, appended and flushed after every evaluation, so that a kill
// at any moment loses at most the evaluation under way. One line is a configuration: adding a value
// to the space keeps the rest.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/system/line_log.h"
#include "tune/records/journal_text.h"
#include "tune/values/outcome.h"
#include "tune/values/value.h"

namespace perflab::tune {

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

}  // namespace perflab::tune
