// JSON of a check of reservations. Where a range went instead, and what is in its way, differs from
// run to run (addresses are random) and stands under `environment`.
#include "report/replay/reservation_document.h"

#include <fmt/format.h>

#include "report/kit/document.h"

namespace perflab::report {

std::string memory_of(const replay::FixedRange& range) {
  return range.on_gpu ? fmt::format("GPU {}", range.agent_index) : "host";
}

std::string verdict_of(const replay::ReserveReport& report) {
  if (report.failed > 0) return "failed";
  return report.relocated > 0 ? "relocated" : "exact";
}

Json reservation_document(const ReservationData& data) {
  const replay::ReserveReport& report = data.report;
  Json ranges = Json::array(), others = Json::array();
  for (const replay::RangeCheck& one : report.ranges) {
    const std::string base = fmt::format("{:#x}", one.range.base);
    ranges.push_back({{"base", base},
                      {"bytes", one.range.bytes},
                      {"memory", memory_of(one.range)},
                      {"regions", one.regions.size()},
                      {"outcome", replay::to_string(one.outcome)}});
    if (one.outcome == replay::Reservation::exact) continue;
    others.push_back(
        {{"base", base},
         {"returned", one.returned == 0 ? Json(nullptr) : Json(fmt::format("{:#x}", one.returned))},
         {"status", or_null(one.status)},
         {"in_the_way", or_null(one.holder)}});
  }
  return {{"schema_version", "1.0.0"},
          {"document", "reservation"},
          {"generator", generator_json()},
          {"source", report.probe ? "typical_addresses" : "capture"},
          {"through", report.through},
          {"verdict", verdict_of(report)},
          {"summary",
           {{"ranges", report.ranges.size()},
            {"bytes", report.bytes},
            {"granule", report.granule},
            {"exact", report.exact},
            {"relocated", report.relocated},
            {"failed", report.failed}}},
          {"ranges", std::move(ranges)},
          {"environment",
           {{"capture_folder", or_null(data.capture_folder)},
            {"no_runtime", or_null(report.no_runtime)},
            {"not_exact", std::move(others)}}}};
}

}  // namespace perflab::report
