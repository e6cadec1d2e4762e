// The fields of a summary in the order of its file: one description for both directions. Numbers
// are written as differences to what is likely, so that most are a byte or two.
#pragma once

#include "ranks/rank/summary_numbers.h"
#include "ranks/values/rank_summary.h"

namespace perflab::ranks {

/// Who the rank is, names, communicators, collectives.
void put_head(NumberWriter& out, const RankSummary& summary);
/// False: not what put_head() writes, or indices that point nowhere.
bool take_head(NumberReader& in, RankSummary& summary);

/// Work, kernels, graph. Precondition: the head is there.
void put_rest(NumberWriter& out, const RankSummary& summary);
bool take_rest(NumberReader& in, RankSummary& summary);

}  // namespace perflab::ranks
