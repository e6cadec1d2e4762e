// Shares are of the kernel's samples: how often, never how long.
#include "report/answers/samples_summary.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace perflab::report {
namespace {

constexpr std::string_view kSamplesDetails = "pc-samples";

/// The share with its bounds, as members of one object.
Json bounded_share(const DocumentPlace& estimate) {
  return estimate.excerpt({"value", "low", "high"});
}

Part sampled_part(const DocumentPlace& samples, const DocumentPlace& sampled) {
  Part part{.part = "recorded", .title = "PC samples"};
  part.rows.push_back(sampled.excerpt({"name", "samples", "ticks"}));
  Json sure = sampled.excerpt({"confidence"});
  if (sampled["quality"]["delivered"])
    sure["quality"] = sampled["quality"].excerpt({"delivered"}, "of the expected samples");
  part.rows.push_back(std::move(sure));
  const DocumentPlace set = samples["sets"][static_cast<std::size_t>(sampled["set"].number())];
  part.rows.push_back(set["kernel_unknown"].number() > 0
                          ? set.excerpt({"method", "samples", "kernel_unknown"}, "all")
                          : set.excerpt({"method", "samples"}, "all"));
  return part;
}

Part why_part(const DocumentPlace& sampled) {
  Part part{.part = "samples",
            .title = "Why its waves did not issue (shares of samples, 95 % bounds)",
            .details = std::string(kSamplesDetails)};
  if (!sampled["issued"]) {
    part.missing = "host traps say where waves were, not whether or why they stalled";
    return part;
  }
  // By samples, "issued" among the reasons: the first rows are those that stay on a page.
  std::vector<std::pair<double, Json>> rows;
  const auto add = [&rows](const DocumentPlace& one, std::string_view name,
                           const DocumentPlace& share) {
    Json row = one.excerpt({"samples"}, name);
    row["share"] = bounded_share(share);
    rows.emplace_back(one["samples"].number(), std::move(row));
  };
  if (const DocumentPlace issued = sampled["issued"]; issued["share"])
    add(issued, "issued", issued["share"]);
  const DocumentPlace reasons = sampled["reasons"];
  for (std::size_t i = 0; i < reasons.size(); ++i)
    add(reasons[i], reasons[i]["name"].text(), reasons[i]["of_all"]);
  std::ranges::stable_sort(rows, std::ranges::greater{}, &std::pair<double, Json>::first);
  for (auto& [samples, row] : rows)
    if (part.rows.size() == kMostSummaryRows)
      ++part.left_out;
    else
      part.rows.push_back(std::move(row));
  return part;
}

Part places_part(const DocumentPlace& rows, const char* part, const char* title,
                 std::string_view key) {
  Part out{.part = part, .title = title, .details = std::string(kSamplesDetails)};
  return rows_of(std::move(out), rows, [&](const DocumentPlace& one) {
    Json row = one.excerpt({key, "samples", "issued"});
    row["share"] = bounded_share(one["share"]);
    return row;
  });
}

/// Why nothing may be concluded.
Part refused_part(const DocumentPlace& sampled) {
  Part part{.part = "refused", .title = "Not concluded from PC samples"};
  const std::vector<std::string> refusals = sampled["refusals"].texts();
  if (!refusals.empty()) part.missing = refusals.front();
  return part;
}

}  // namespace

DocumentPlace main_samples(const DocumentPlace& samples, std::optional<std::size_t> kernel) {
  const DocumentPlace kernels = samples["kernels"];
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernel && (!kernels[i]["kernel"] ||
                   static_cast<std::size_t>(kernels[i]["kernel"].number()) != *kernel))
      continue;
    if (!best || kernels[i]["samples"].number() > kernels[*best]["samples"].number()) best = i;
  }
  return best ? kernels[*best] : DocumentPlace(nullptr);
}

void add_sampled_parts(const DocumentPlace& sampled, Json& summary) {
  if (!sampled) return;
  add_part(summary, refused_part(sampled));
  add_part(summary, why_part(sampled));
  add_part(summary,
           places_part(sampled["hot"], "hot-samples", "Instructions with most samples", "text"));
}

void add_samples(const DocumentPlace& samples, const DocumentPlace& sampled, Json& summary) {
  if (!sampled) {
    add_part(summary, {.part = "recorded",
                       .title = "PC samples",
                       .missing = "the samples are of no kernel, or there are none"});
    return;
  }
  add_part(summary, sampled_part(samples, sampled));
  add_sampled_parts(sampled, summary);
  add_part(summary,
           places_part(sampled["lines"], "lines", "Source lines with most samples", "line"));
}

}  // namespace perflab::report
