// The answers about many ranks in words, each with its figures.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ranks/analyze_ranks.h"

namespace perflab::report {

/// "rank 5", with its host where the job has several.
std::string rank_words(const ranks::RanksAnalysis& analysis, ranks::RankIndex rank);

/// Who makes the others wait, and by how much.
std::string who_words(const ranks::RanksAnalysis& analysis);
/// Who waits most: the victim. Null: nobody waits.
std::optional<std::string> victim_words(const ranks::RanksAnalysis& analysis);
std::string cause_words(const ranks::RanksAnalysis& analysis, const ranks::Cause& cause);
std::string pattern_words(const ranks::RanksAnalysis& analysis);
std::string collective_name(const ranks::Statistics& row);
std::string collective_words(const ranks::Statistics& row);
std::string what_if_words(const ranks::JobPath& path, const ranks::RankWhatIfAnswer& answer);
/// In which order answers are shown: those that were asked (the first ones) as asked, then by gain.
std::vector<std::size_t> what_if_order(const ranks::JobPath& path, std::size_t asked);
/// Whether any rank recorded a communication kernel.
bool has_collectives(const ranks::RanksAnalysis& analysis);
/// Which ranks' work the job is as long as. There has to be a path.
std::string path_words(const ranks::RanksAnalysis& analysis);

std::string_view spent_name(analyze::Spent spent);
std::string_view unmatched_name(ranks::Unmatched why);
std::string_view unmatched_words(ranks::Unmatched why);

}  // namespace perflab::report
