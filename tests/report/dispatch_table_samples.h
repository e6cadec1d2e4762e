// Dispatch tables made by hand: one with everything that a rule can ask, and one that leaves
// problems uncovered.
#pragma once

#include "report/tuning/dispatch_table_document.h"
#include "tune/table/dispatch_table.h"

namespace perflab::report {

/// A table and what it was made of, kept together.
struct DispatchTableSample {
  tune::MeasuredProblems measured;
  tune::RuleOptions options;
  tune::DispatchTable table;

  [[nodiscard]] DispatchTableData data(std::string header = {}) const {
    return {.measured = measured, .table = table, .options = options, .header = std::move(header)};
  }
};

/// Twelve problems over M, N and K in ms: a size and a product are asked about, one configuration
/// fails where it matters, one was measured for half of the problems.
DispatchTableSample sample_dispatch_table();
/// Three problems that have no configuration in common, one leaf, larger values are better; a value
/// of 0 and a row that could not be read.
DispatchTableSample sample_uncovered_table();

}  // namespace perflab::report
