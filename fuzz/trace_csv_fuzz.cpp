// Fuzzes the reader of rocprofv3's set of tables. The input: tables, each behind its name and a
// line break, one from the next by a NUL byte. One error of the kind "bad input", or a good Trace.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "check_rows.h"
#include "trace/load_state.h"
#include "trace/trace_csv/read_trace_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace trace = perflab::trace;
  std::string_view input(reinterpret_cast<const char*>(data), size);
  std::vector<trace::trace_csv::NamedTable> tables;
  while (!input.empty()) {
    const std::string_view piece = input.substr(0, input.find('\0'));
    input.remove_prefix(std::min(piece.size() + 1, input.size()));
    const std::size_t line = std::min(piece.find('\n'), piece.size());
    tables.push_back({.name = std::string(piece.substr(0, line)),
                      .text = std::string(piece.substr(std::min(line + 1, piece.size())))});
  }
  trace::Trace filled;
  trace::LoadState state(filled);
  const auto done = trace::trace_csv::load_tables(state, tables, "a_kernel_trace.csv");
  if (!done) {
    perflab::fuzz::check_bad_input(done.error());
    return 0;
  }
  trace::finish(state);
  perflab::fuzz::check_rows(filled);
  return 0;
}
