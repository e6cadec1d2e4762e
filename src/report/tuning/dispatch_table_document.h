// dispatch_table.json: a rule that chooses a configuration by the size of the problem, and what it
// loses. Schema: schemas/dispatch_table.schema.json. Model: tune/table/dispatch_table.h.
#pragma once

#include <string>

#include "base/text/json.h"
#include "tune/table/dispatch_table.h"

namespace perflab::report {

/// A finished table. All have to outlive it.
struct DispatchTableData {
  const tune::MeasuredProblems& measured;
  const tune::DispatchTable& table;
  const tune::RuleOptions& options;
  std::string header{};  ///< file of the C++ header; empty: none
};

Json dispatch_table_document(const DispatchTableData& data);

}  // namespace perflab::report
