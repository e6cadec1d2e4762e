// A capture as a person sees it. Every figure here stands in the document too.
#pragma once

#include <string>

#include "report/capture_document.h"
#include "report/style.h"

namespace perflab::report {

/// Kernel, machine and regions; then what a check found.
std::string capture_text(const CaptureData& data, const TerminalStyle& style);

}  // namespace perflab::report
