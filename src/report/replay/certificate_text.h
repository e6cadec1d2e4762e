// A certificate as a page of text: the verdict in a sentence, the regions, distances, examples.
#pragma once

#include <string>

#include "report/kit/style.h"
#include "report/replay/certificate_document.h"

namespace perflab::report {

/// The verdict in a sentence, and what was run.
std::string certificate_verdict_text(const CertificateData& data, const TerminalStyle& style);
/// The regions with their distances and examples; empty without regions.
std::string certificate_regions_text(const CertificateData& data, const TerminalStyle& style);
/// What limits the answer; empty: nothing.
std::string certificate_notes_text(const CertificateData& data, const TerminalStyle& style);
/// All three. Every figure here stands in the document too.
std::string certificate_text(const CertificateData& data, const TerminalStyle& style);

}  // namespace perflab::report
