// Counter passes of a CUDA program: it is started once per pass, and librocm_perf_record.so counts
// in it. Part of counter_passes.h, which is what others call.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "collect/collect.h"
#include "collect/counter_collection.h"

namespace perflab::collect {

/// As collect_counters(), for a plan of the platform cuda. `process` of the collection is that of
/// the last pass that was started; passes after one that failed are not.
Result<CounterCollection> collect_cuda_counters(
    const CollectPlan& plan, const Collection& base,
    const std::vector<std::vector<std::string>>& passes);

}  // namespace perflab::collect
