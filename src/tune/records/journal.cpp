// The journal's file: a key and one line per evaluation (base/system/line_log.h).
#include "tune/records/journal.h"

#include <fmt/format.h>

#include <utility>

#include "base/system/files.h"

namespace perflab::tune {

Result<Journal> Journal::open(const std::filesystem::path& file, const JournalKey& key,
                              bool resume) {
  PERFLAB_TRY(LineLog log,
              LineLog::open(file, "the journal",
                            "wait for the other tuning to end, or name another --journal"));
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(JournalText found, parse_journal(text, file.string()));
  if (!resume && !found.entries.empty())
    return fail(ErrorCode::usage,
                fmt::format("the journal {} already holds {} evaluation{}", file.string(),
                            found.entries.size(), found.entries.size() == 1 ? "" : "s"),
                "--resume continues it; or name another --journal");
  if (!found.entries.empty() && *found.key != key)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: cannot be resumed: {}", file.string(),
                            journal_difference(*found.key, key)),
                "measurements of the two cannot be compared: name another --journal");
  const bool fresh = found.entries.empty();
  PERFLAB_TRY_VOID(log.keep(fresh ? 0 : found.whole_bytes));
  if (fresh) PERFLAB_TRY_VOID(log.append(journal_header(key)));
  Journal journal(file, std::move(log));
  journal.torn_ = found.torn;
  journal.earlier_ = std::move(found.entries);
  return journal;
}

Result<std::vector<JournalEntry>> Journal::read(const std::filesystem::path& file) {
  PERFLAB_TRY(const std::string text, read_file(file));
  PERFLAB_TRY(JournalText journal, parse_journal(text, file.string()));
  return std::move(journal.entries);
}

Result<void> Journal::append(const JournalEntry& entry) {
  return log_.append(journal_line(entry));
}

}  // namespace perflab::tune
