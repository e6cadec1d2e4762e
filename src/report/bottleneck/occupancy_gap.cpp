// Builder of `occupancy_gap`.
#include "report/bottleneck/occupancy_gap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "report/kit/document.h"
#include "report/kit/quantities.h"

namespace perflab::report {

Json occupancy_gap_json(const analyze::Kernel& kernel, std::vector<Missing>& missing) {
  if (!kernel.occupancy_gap) {
    missing.push_back(kernel.occupancy_gap_missing);
    return nullptr;
  }
  const analyze::OccupancyGap& gap = *kernel.occupancy_gap;
  Json causes = Json::array();
  for (const analyze::GapShare& part : gap.causes)
    causes.push_back({{"cause", analyze::to_string(part.cause)},
                      {"label", analyze::label_of(part.cause)},
                      {"share", or_null(part.share)},
                      {"reason", part.share ? Json(nullptr) : Json(part.reason)}});
  Json waited = Json::array();
  for (const analyze::WaitedFor& one : gap.waited_for)
    waited.push_back({{"resource", one.resource}, {"share", one.share}});
  const auto why = [&](const char* field, const std::string& reason) {
    missing.push_back({fmt::format("occupancy_gap.{}", field), reason, ""});
  };
  if (!gap.idle_cus)
    for (const char* const field : {"idle_cus", "unfilled_cus"})
      why(field, gap[analyze::GapCause::launch].reason);
  if (!gap.rounds) why("rounds", gap[analyze::GapCause::tail].reason);
  return {{"theoretical", gap.theoretical},
          {"achieved", gap.achieved},
          {"gap", gap.gap},
          {"idle_cus", or_null(gap.idle_cus)},
          {"unfilled_cus", or_null(gap.unfilled_cus)},
          {"causes", std::move(causes)},
          {"not_attributed", gap.not_attributed},
          {"rounds", or_null(gap.rounds)},
          {"waited_for", std::move(waited)}};
}

std::string occupancy_gap_text(const analyze::OccupancyGap& gap, hal::Platform platform) {
  constexpr double kWorthSaying = 0.01;
  std::vector<std::pair<double, std::string>> parts;
  const auto add = [&](double share, std::string_view what) {
    if (share >= kWorthSaying)
      parts.emplace_back(share, fmt::format("{} {}", percent(share), what));
  };
  for (const analyze::GapShare& part : gap.causes)
    add(part.share.value_or(0), analyze::label_of(part.cause));
  add(gap.not_attributed, "not attributed");
  std::ranges::stable_sort(parts, std::ranges::greater{}, &std::pair<double, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [share, text] : parts) texts.push_back(std::move(text));
  std::string out =
      fmt::format("{} achieved of {} possible", percent(gap.achieved), percent(gap.theoretical));
  if (!texts.empty()) out += fmt::format("; empty: {}", fmt::join(texts, ", "));
  return hal::in_terms(out, platform);
}

}  // namespace perflab::report
