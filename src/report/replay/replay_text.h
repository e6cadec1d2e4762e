// What a person sees of `replay full-vm` and `replay reserve-check`.
#pragma once

#include <string>

#include "report/kit/style.h"
#include "report/replay/replay_document.h"
#include "report/replay/reservation_document.h"

namespace perflab::report {

std::string replay_text(const ReplayData& data, const TerminalStyle& style);

/// Ranges that are not exact come first; tables are cut to the style's rows.
std::string reservation_text(const ReservationData& data, const TerminalStyle& style);

}  // namespace perflab::report
