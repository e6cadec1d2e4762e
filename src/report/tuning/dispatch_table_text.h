// What a person sees of a dispatch table: the rule in words, and a line per problem. Drawn from the
// document, or from excerpts of it.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/json.h"
#include "report/kit/style.h"

namespace perflab::report {

/// `rule.words` of the document: {depth, text} for each line of the rule, "if M < 724: BM=32",
/// "else if ...", "else: BM=64", with the values in which leaves differ; last, at depth 0, the
/// values that all leaves have. `nodes`: `rule.nodes` of the document. Precondition: a node.
Json dispatch_rule_words(const Json& nodes);
/// Such lines, indented; of excerpts too.
std::string dispatch_rule_text(const Json& words, std::size_t width);

/// "M=1024 N=512"; of an excerpt too.
std::string dispatch_size_text(const Json& size);

/// "1.2 %", "fails", "not measured": what a choice (`state`, `loss`) loses.
std::string dispatch_loss_text(const Json& choice);

/// Names of the sections of the text: the rule with its losses, the problems.
inline constexpr std::array<std::string_view, 2> kDispatchTableSections = {"rule", "problems"};
/// One of them, of the document. Precondition: a name of kDispatchTableSections.
std::string dispatch_table_section(const Json& document, std::string_view name,
                                   const TerminalStyle& style);

/// Members of `losses` of the document, and what they are of, in the order in which they are shown.
inline constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDispatchLosses = {
    {{"rule", "this rule"},
     {"single", "one configuration for all"},
     {"unseen", "each left out: rules"},
     {"single_unseen", "each left out: one for all"}}};
/// The table of mean and worst losses: members of `losses`, or excerpts of them, each with `what`
/// and, where something is lost, the `size` of the worst problem.
std::string dispatch_losses_text(const Json& rows, std::size_t width);

}  // namespace perflab::report
