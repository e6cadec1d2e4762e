// What is asked of a whole trace.
#include "trace/trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

namespace perflab::trace {

std::string synthetic_note(const Trace& trace) {
  std::set<std::string> notes;
  for (const Source& source : trace.sources)
    if (!source.synthetic.empty()) notes.insert(source.synthetic);
  return fmt::format("{}", fmt::join(notes, "; "));
}

}  // namespace perflab::trace
