// The source side of a kernel's listing in thread_trace.json: tables of inline chains, lines and
// files of the rows that are shown, and the parts of the files that they stand in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/thread_trace/detail.h"
#include "base/text/json.h"
#include "report/kit/null_reasons.h"
#include "report/kit/source_parts.h"

namespace perflab::report {

class TraceSources {
 public:
  /// `rows`: indices into the detail's rows, which must outlive this.
  TraceSources(const analyze::TraceDetail& detail, const std::vector<std::size_t>& rows);

  /// Index into `chains` of a row that is shown; missing: it has no source line.
  [[nodiscard]] std::optional<std::size_t> chain(const analyze::DetailRow& row) const;

  /// How many lines of text all parts have.
  [[nodiscard]] std::size_t lines() const;

  [[nodiscard]] Json chains_json() const;
  [[nodiscard]] Json lines_json() const;
  /// `sources`, with at most `room` lines of text: the files with the most cycles get theirs first.
  Json files_json(std::size_t room, NullReasons& reasons) const;

 private:
  struct File {
    std::string path;
    std::int64_t cycles = 0;  ///< of the rows that name it
    std::set<std::int64_t> lines;
    std::optional<SourceParts> parts;  ///< missing: the trace has no text of it
  };
  [[nodiscard]] std::vector<bool> files_with_room(std::size_t room) const;

  const analyze::TraceDetail& detail_;
  std::map<std::string_view, std::size_t> chain_of_source_;  ///< DetailRow::source -> chains_
  std::vector<std::vector<std::size_t>> chains_;             ///< indices into lines_
  std::vector<std::pair<std::size_t, std::int64_t>> lines_;  ///< index into files_, line
  std::vector<File> files_;                                  ///< by path
};

}  // namespace perflab::report
