// NVTX ranges and marks, put together from CUPTI's records: one at a range's start, one without a
// name at its end, one with its payload. Ranges that cross others of their thread and domain, or
// end in another thread, are of nvtxRangeStart and End.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "cuda/api.h"
#include "record/database/database.h"

namespace perflab::record {

class Ranges {
 public:
  explicit Ranges(Database& database) : database_(database) {}

  void take(const cuda::MarkerRecord& record);
  void take(const cuda::MarkerDataRecord& record);

 private:
  struct Open {
    Range range;
    std::string members{};  ///< of the event's JSON
    std::string domain{};   ///< empty: the default one
  };
  /// Takes it from the open ranges of its thread and domain; whether it was the last one begun.
  bool closes_innermost(const Open& open, std::uint32_t id);

  Database& database_;
  std::unordered_map<std::uint32_t, Open> open_;
  /// Open ranges (start, id) by thread and domain.
  std::map<std::pair<std::int64_t, std::string>, std::set<std::pair<std::int64_t, std::uint32_t>>>
      stacks_;
};

}  // namespace perflab::record
