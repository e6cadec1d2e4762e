// The document `reservation`: whether each range of a capture can be had at its own address.
// Schema: schemas/reservation.schema.json.
#pragma once

#include <string>

#include "base/text/json.h"
#include "replay/session/reserve_check.h"

namespace perflab::report {

/// Everything that the document and the text are made from.
struct ReservationData {
  replay::ReserveReport report;
  std::string capture_folder;  ///< empty: typical addresses were probed
};

/// "GPU 0", "host".
std::string memory_of(const replay::FixedRange& range);

/// The answer in one word: "exact", "relocated" or "failed".
std::string verdict_of(const replay::ReserveReport& report);

Json reservation_document(const ReservationData& data);

}  // namespace perflab::report
