// The answer of PC samples: how many there are and how sure they make, why waves did not issue, and
// which instructions and source lines they were at. Places are those of analysis.json.
#pragma once

#include <cstddef>
#include <optional>

#include "report/excerpt/parts.h"

namespace perflab::report {

/// Of `pc_sampling`, the sampled kernel that is this kernel of the document (by its index); without
/// an index the one with the most samples. A place where nothing is without one.
DocumentPlace main_samples(const DocumentPlace& samples, std::optional<std::size_t> kernel = {});

/// Why it stalled and where, behind the answer of a recording.
void add_sampled_parts(const DocumentPlace& sampled, Json& summary);

/// All parts of samples that stand alone.
void add_samples(const DocumentPlace& samples, const DocumentPlace& sampled, Json& summary);

}  // namespace perflab::report
