// Fuzzes the readers of what earlier tunings left: the first byte chooses between a recording of
// any format ('r') and a journal ('j'). What must hold: one error of the kind "bad input", or
// configurations that are whole and different, which the writers and readers of T4 and CSV give
// back; a journal's whole lines read the same without what is torn off.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tune/records/journal.h"
#include "tune/records/recording.h"

namespace {

using perflab::Result;
using namespace perflab::tune;  // NOLINT(google-build-using-namespace): all of it is used

void check_error(const perflab::Error& error) {
  PERFLAB_CHECK(error.code == perflab::ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty());
}

std::vector<Binding> bindings_of(const Recording& recording, const RecordedConfiguration& row) {
  std::vector<Binding> bindings;
  for (std::size_t p = 0; p < recording.parameters.size(); ++p)
    bindings.emplace_back(recording.parameters[p], row.values[p]);
  return bindings;
}

void check_recording(const Recording& recording) {
  PERFLAB_CHECK(!recording.parameters.empty() && !recording.configurations.empty());
  std::set<std::string> keys;
  for (const RecordedConfiguration& row : recording.configurations) {
    PERFLAB_CHECK(row.values.size() == recording.parameters.size());
    PERFLAB_CHECK(row.value.has_value() == (row.outcome == Outcome::correct));
    PERFLAB_CHECK(!row.value || std::isfinite(*row.value));
    for (const double repeat : row.repeats) PERFLAB_CHECK(std::isfinite(repeat));
    PERFLAB_CHECK(keys.insert(configuration_key(bindings_of(recording, row))).second);
  }
}

/// Values, outcomes and repeats of a recording that our writers made of `recording`.
void check_same(const Result<Recording>& read, const Recording& recording) {
  PERFLAB_CHECK(read.has_value() && read->dropped == 0);
  PERFLAB_CHECK(read->configurations.size() == recording.configurations.size());
  for (std::size_t i = 0; i < recording.configurations.size(); ++i) {
    PERFLAB_CHECK(read->configurations[i].values == recording.configurations[i].values);
    PERFLAB_CHECK(read->configurations[i].outcome == recording.configurations[i].outcome);
    PERFLAB_CHECK(read->configurations[i].value == recording.configurations[i].value);
    PERFLAB_CHECK(read->configurations[i].repeats == recording.configurations[i].repeats);
  }
}

void fuzz_recording(std::string_view text) {
  const Result<Recording> recording = parse_recording(text, "file");
  if (!recording) return check_error(recording.error());
  check_recording(*recording);
  std::vector<ResultRow> rows;
  bool has_nul = false;  // a table cannot hold one
  for (const RecordedConfiguration& row : recording->configurations) {
    rows.push_back({bindings_of(*recording, row), {}});
    rows.back().evaluation.outcome = row.outcome;
    rows.back().evaluation.value = row.value;
    rows.back().evaluation.samples = row.repeats;
    for (const auto& [name, value] : rows.back().configuration)
      has_nul = has_nul || (name + to_text(value)).find('\0') != std::string::npos;
  }
  // T4 is JSON: bytes of a table that are not UTF-8 are replaced in it.
  if (recording->format != "csv")
    check_same(parse_recording(to_t4(rows, "x", "W"), "t4"), *recording);
  if (!has_nul) check_same(parse_recording(to_csv(rows, "x", "W"), "csv"), *recording);
  if (const Result<Space> space = space_of(*recording); !space)
    check_error(space.error());
  else
    PERFLAB_CHECK(space->size() == recording->configurations.size());
}

void fuzz_journal(std::string_view text) {
  const Result<JournalText> journal = parse_journal(text, "file");
  if (!journal) return check_error(journal.error());
  PERFLAB_CHECK(journal->whole_bytes <= text.size());
  PERFLAB_CHECK(journal->torn == (journal->whole_bytes < text.size()));
  PERFLAB_CHECK(journal->entries.empty() || journal->key.has_value());
  const Result<JournalText> again = parse_journal(text.substr(0, journal->whole_bytes), "file");
  PERFLAB_CHECK(again.has_value() && !again->torn && again->key == journal->key);
  PERFLAB_CHECK(again->entries.size() == journal->entries.size());
  for (const JournalEntry& entry : journal->entries) {
    const auto read = evaluation_from_json(to_json(entry.evaluation), "entry");
    PERFLAB_CHECK(read.has_value() && *read == entry.evaluation);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with('j'))
    fuzz_journal(input.substr(1));
  else if (input.starts_with('r'))
    fuzz_recording(input.substr(1));
  return 0;
}
