// From what a model wrote to a proposal: the one fenced code block in it, by CommonMark's rules
// (section 4.5, fenced code blocks).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "llm/proposer.h"

namespace perflab::llm {

/// Most bytes of a proposal's summary.
inline constexpr std::size_t kMostSummaryBytes = 200;

/// The first line of a text that is not blank: without control characters, markup of lists and
/// headings at its beginning, and bytes that are no UTF-8; at most `most` bytes, cut between
/// characters.
std::string one_printable_line(std::string_view text, std::size_t most = kMostSummaryBytes);

/// Reads an answer. `wanted` is the form that was asked for; a block with an #include line is a
/// file whatever was asked. Problems: no_code, several_codes, too_large, bad_answer (a block that
/// does not end, or holds a NUL).
Proposal parse_answer(std::string_view text, Proposal::Form wanted);

/// Whether the answer says that there is nothing more to propose (prompt.h asks for kNoMore).
bool says_no_more(std::string_view text);

/// The line by which a model ends its proposals.
inline constexpr std::string_view kNoMore = "NO MORE PROPOSALS";

}  // namespace perflab::llm
