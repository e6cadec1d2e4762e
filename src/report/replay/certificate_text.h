// A certificate as a page of text: the verdict in a sentence, the regions, distances, examples.
#pragma once

#include <string>

#include "report/kit/style.h"
#include "report/replay/certificate_document.h"

namespace perflab::report {

/// Every figure here stands in the document too.
std::string certificate_text(const CertificateData& data, const TerminalStyle& style);

}  // namespace perflab::report
