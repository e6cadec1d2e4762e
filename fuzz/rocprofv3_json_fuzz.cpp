// Fuzzes the reader of rocprofv3's JSON: one error of the kind "bad input", or a good Trace.
#include <cstdint>
#include <string>

#include "check_rows.h"
#include "trace/load_state.h"
#include "trace/rocprofv3_json/read_rocprofv3_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace trace = perflab::trace;
  trace::Trace filled;
  trace::LoadState state(filled);
  const auto done = trace::rocprofv3_json::load_text(
      state, std::string(reinterpret_cast<const char*>(data), size), "a.json");
  if (!done) {
    perflab::fuzz::check_bad_input(done.error());
    return 0;
  }
  trace::finish(state);
  perflab::fuzz::check_rows(filled);
  return 0;
}
