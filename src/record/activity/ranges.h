// NVTX ranges and marks, put together from CUPTI's records: one at a range's start, one without a
// name at its end, one with its payload.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

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
    std::string members;  ///< of the event's JSON
  };
  Database& database_;
  std::unordered_map<std::uint32_t, Open> open_;
};

}  // namespace perflab::record
