// The lines of a journal. Internal to src/tune/records.
#pragma once

#include <string>

#include "tune/records/journal.h"

namespace perflab::tune {

/// The first line, and the line of an entry; both end with a line break.
std::string journal_header(const JournalKey& key);
std::string journal_line(const JournalEntry& entry);

/// What differs between the key of a journal and the one that is asked for: "the command is "./a",
/// the journal has "./b"". Precondition: they differ.
std::string journal_difference(const JournalKey& recorded, const JournalKey& asked);

}  // namespace perflab::tune
