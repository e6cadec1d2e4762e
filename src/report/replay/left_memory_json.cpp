// See left_memory_json.h.
#include "report/replay/left_memory_json.h"

#include <fmt/format.h>

namespace perflab::report {

Json left_memory_json(const replay::Dirtied& dirtied, std::vector<Missing>& missing) {
  if (!dirtied.what) {
    missing.push_back({.field = "left_memory", .reason = dirtied.missing_because, .remedy = ""});
    return nullptr;
  }
  return {{"lds_bytes", dirtied.what->lds_bytes},
          {"scratch_bytes", dirtied.what->scratch_bytes},
          {"vgprs", dirtied.what->vgprs}};
}

std::string left_memory_words(const replay::Dirtied& dirtied) {
  if (!dirtied.what) return fmt::format("nothing: {}", dirtied.missing_because);
  return fmt::format(
      "{} bytes of LDS and {} vector registers of each CU's lanes, {} bytes of "
      "scratch of each work-item",
      dirtied.what->lds_bytes, dirtied.what->vgprs, dirtied.what->scratch_bytes);
}

}  // namespace perflab::report
