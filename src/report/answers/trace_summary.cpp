// Cycles are those of the traced waves: shares of them mean something, sums are not the runtime.
#include "report/answers/trace_summary.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <utility>

namespace perflab::report {
namespace {

constexpr std::string_view kDetails = "thread-trace";

Part traced_part(const DocumentPlace& traced) {
  Part part{.part = "recorded", .title = "Traced"};
  part.rows.push_back(traced.excerpt({"name"}));
  const DocumentPlace coverage = traced["coverage"];
  Json seen = coverage["packets_lost"].number() > 0
                  ? coverage.excerpt({"waves", "waves_of_dispatch", "packets_lost"})
                  : coverage.excerpt({"waves", "waves_of_dispatch"});
  seen["trace"] = traced.excerpt({"confidence"});
  part.rows.push_back(std::move(seen));
  return part;
}

/// Where the waves spent their cycles, most first.
Part cycles_part(const DocumentPlace& traced) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kParts = {
      {{"issue", "issuing instructions"},
       {"wait", "waiting for memory and other results"},
       {"barrier", "waiting at barriers"},
       {"issue_stall", "ready, but not issued: unit busy, queue full"},
       {"idle", "idle: start-up, fetch, branches, other waves' turn"}}};
  Part part{.part = "time",
            .title = "Where its waves spent their time",
            .details = std::string(kDetails)};
  for (const auto& [field, words] : kParts)
    if (const DocumentPlace one = traced["time"][field]; one["cycles"].number() != 0)
      part.rows.push_back(one.excerpt({"share", "cycles"}, words));
  std::ranges::stable_sort(part.rows, std::ranges::greater{},
                           [](const Json& row) { return row["cycles"].get<double>(); });
  if (part.rows.empty()) part.missing = "no traced wave ran this kernel";
  return part;
}

Part lines_part(const DocumentPlace& traced) {
  Part part{.part = "lines", .title = "Hot source lines", .details = std::string(kDetails)};
  return rows_of(std::move(part), traced["lines"], [](const DocumentPlace& line) {
    return line.excerpt({"line", "cost_share", "stall", "wait_caused"});
  });
}

Part others_part(const DocumentPlace& kernels) {
  Part part{.part = "kernels", .title = "Traced kernels", .details = std::string(kDetails)};
  return rows_of(std::move(part), kernels, [](const DocumentPlace& kernel) {
    Json row = kernel.excerpt({"name", "dispatch_id", "confidence"});
    row["cycles"] = kernel["cycles"].excerpt({"cost"});
    return row;
  });
}

}  // namespace

DocumentPlace main_trace(const DocumentPlace& traces) {
  const DocumentPlace kernels = traces["kernels"];
  const auto rank = [&](std::size_t i) {
    return std::tuple(kernels[i]["form"].text() == "ui_output",
                      kernels[i]["cycles"]["cost"].number());
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kernels.size(); ++i)
    if (rank(i) > rank(best)) best = i;
  return kernels[best];
}

DocumentPlace verdict_of_trace(const DocumentPlace& verdicts, const DocumentPlace& traces,
                               const DocumentPlace& traced) {
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (const DocumentPlace trace = verdicts[i]["thread_trace"];
        trace &&
        traces["kernels"][static_cast<std::size_t>(trace.number())].name() == traced.name())
      return verdicts[i];
  return DocumentPlace(nullptr);
}

Part hot_part(const DocumentPlace& traced) {
  Part part{.part = "hot", .title = "Hot instructions", .details = std::string(kDetails)};
  return rows_of(std::move(part), traced["hot"], [](const DocumentPlace& one) {
    return one.excerpt({"text", "cost_share", "stall", "wait_caused", "hits"});
  });
}

void add_trace(const DocumentPlace& traces, const DocumentPlace& traced, Json& summary) {
  if (!traced) return;
  add_part(summary, traced_part(traced));
  if (traces["kernels"].size() > 1) add_part(summary, others_part(traces["kernels"]));
  add_part(summary, cycles_part(traced));
  add_part(summary, hot_part(traced));
  add_part(summary, lines_part(traced));
}

}  // namespace perflab::report
