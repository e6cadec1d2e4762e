// A capture as --details prints it, section by section. Every figure here stands in the document
// too.
#pragma once

#include <string>

#include "report/kit/style.h"
#include "report/replay/capture_document.h"

namespace perflab::report {

/// Kernel, machine, sums.
std::string captured_dispatch_text(const CaptureData& data, const TerminalStyle& style);

/// Its memory as a table; empty: there is none.
std::string captured_regions_text(const CaptureData& data, const TerminalStyle& style);

/// What a check found, and whether it can be replayed.
std::string capture_findings_text(const CaptureCheck& check, const TerminalStyle& style);

}  // namespace perflab::report
