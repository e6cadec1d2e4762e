// JSON of a comparison. Every null has an entry in `missing`, but for what its schema calls
// ordinary: names that are the same, samples that would decide what is decided.
#include "report/comparison/comparison_document.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "report/comparison/comparison_text.h"
#include "report/kit/document.h"

namespace perflab::report {
namespace {

class ComparisonWriter {
 public:
  ComparisonWriter(const compare::ComparisonResult& result, const compare::CompareOptions& options)
      : result_(result), options_(options) {}

  Json document() {
    Json out = {{"schema_version", "1.2.0"},
                {"document", "comparison"},
                {"generator", generator_json()},
                {"verdict", to_string(result_.verdict)},
                {"sentence", gate_sentence(result_, options_)},
                {"fails", result_.fails},
                {"regressions", result_.regressions},
                {"undecided", result_.undecided},
                {"options", options_json()},
                {"comparisons", result_.comparisons},
                {"confidence_each", result_.confidence_each}};
    out["unit"] = result_.unit.empty()
                      ? null("unit", "neither input says what its numbers are", "--unit us")
                      : Json(result_.unit);
    out["larger_is_better"] = result_.larger_is_better;
    out["a"] = side_json(result_.a, "a");
    out["b"] = side_json(result_.b, "b");
    out["kernels"] = Json::array();
    for (std::size_t i = 0; i < result_.kernels.size(); ++i)
      out["kernels"].push_back(kernel_json(result_.kernels[i], fmt::format("kernels[{}].", i)));
    out["total"] = total_json();
    out["only_in_a"] = unpaired_json(result_.only_a, result_.a, "only_in_a");
    out["only_in_b"] = unpaired_json(result_.only_b, result_.b, "only_in_b");
    out["not_compared"] = not_compared_json();
    out["notes"] = result_.notes;
    out["warnings"] = result_.warnings;
    out["environment"] = {{"a", result_.a.files},
                          {"b", result_.b.files},
                          {"recordings_a", result_.a.recordings},
                          {"recordings_b", result_.b.recordings}};
    out["missing"] = missing_json(missing_);
    return out;
  }

 private:
  Json null(std::string field, std::string_view reason, std::string_view remedy = {}) {
    missing_.push_back(
        {.field = std::move(field), .reason = std::string(reason), .remedy = std::string(remedy)});
    return nullptr;
  }
  template <class T>
  Json value(std::string field, const std::optional<T>& number, std::string_view reason,
             std::string_view remedy = {}) {
    return number ? Json(*number) : null(std::move(field), reason, remedy);
  }

  Json share(std::string field, const std::optional<double>& part, const compare::SideFacts& side) {
    return value(std::move(field), part, side.no_shares.reason, side.no_shares.remedy);
  }

  [[nodiscard]] Json options_json() const {
    std::string_view samples = "auto";
    if (options_.samples == compare::SampleChoice::runs) samples = "runs";
    if (options_.samples == compare::SampleChoice::single) samples = "single";
    return {{"threshold", options_.threshold},
            {"confidence", options_.confidence},
            {"min_share", options_.min_share},
            {"kernel", options_.kernel ? Json(options_.kernel->text()) : Json(nullptr)},
            {"samples", samples},
            {"fail_undecided", options_.fail_undecided}};
  }

  Json side_json(const compare::SideFacts& side, const std::string& field) {
    Json out = {{"kind", side.kind},
                {"synthetic", or_null(side.synthetic)},
                {"samples_are", to_string(side.samples_are)}};
    out["runs"] = side.runs > 0
                      ? Json(side.runs)
                      : null(field + ".runs", "these samples are not of whole runs of a program");
    out["kernels"] = side.kernels;
    return out;
  }

  Json figures_json(std::size_t samples, const std::optional<double>& median,
                    const stats::SampleHealth& health, const std::string& field) {
    Json out = {{"samples", samples}};
    out["median"] = value(field + ".median", median, "there are no samples");
    out["outliers"] = health.outliers;
    out["drift"] = value(field + ".drift", health.drift,
                         samples < 8 ? "it takes 8 samples or more" : "the median is not positive");
    out["drifting"] = health.drifting;
    return out;
  }

  /// The figures that kernels and total have in common. `estimate`: there are no samples.
  void add_comparison(Json& out, const stats::Comparison& found, bool regression, bool estimate,
                      const std::string& field) {
    const std::string_view no_samples = "it is an estimate, without samples of its own";
    out["regression"] = regression;
    out["ratio"] = value(field + "ratio", found.ratio,
                         "a side has no samples, or a median that is not positive");
    if (found.interval)
      out["interval"] = {{"low", found.interval->low}, {"high", found.interval->high}};
    else
      out["interval"] =
          null(field + "interval", estimate       ? no_samples
                                   : !found.ratio ? "there is no ratio"
                                                  : "it takes three samples or more of both sides");
    out["effect"] =
        value(field + "effect", found.effect, estimate ? no_samples : "a side has no samples");
    out["samples_to_decide"] = or_null(found.samples_to_decide);
    if (!found.samples_to_decide && found.verdict == stats::SpeedVerdict::undecided)
      null(field + "samples_to_decide",
           estimate          ? no_samples
           : !found.interval ? "there is no interval to tell it from"
                             : "the ratio is so near a limit that no number can be given");
    out["rejected"] = found.rejected;
  }

  Json kernel_json(const compare::KernelComparison& kernel, const std::string& field) {
    const stats::Comparison& found = kernel.comparison;
    const std::string_view no_runs = "these samples are not the dispatches of whole runs";
    Json out = {{"name", kernel.name}, {"name_b", or_null(kernel.name_b)}};
    out["share_a"] = share(field + "share_a", kernel.share_a, result_.a);
    out["share_b"] = share(field + "share_b", kernel.share_b, result_.b);
    out["dispatches_per_run_a"] = value(field + "dispatches_per_run_a", kernel.launches_a, no_runs);
    out["dispatches_per_run_b"] = value(field + "dispatches_per_run_b", kernel.launches_b, no_runs);
    out["gated"] = kernel.gated;
    out["verdict"] = to_string(found.verdict);
    add_comparison(out, found, kernel.regression, false, field);
    out["a"] = figures_json(found.samples_a, found.median_a, found.health_a, field + "a");
    out["b"] = figures_json(found.samples_b, found.median_b, found.health_b, field + "b");
    return out;
  }

  Json total_json() {
    if (!result_.total) {
      missing_.push_back(result_.total_missing);
      return nullptr;
    }
    const compare::TotalComparison& total = *result_.total;
    const stats::Comparison& found = total.comparison;
    Json out = {{"estimate", !total.tested}};
    out["verdict"] = total.tested ? Json(to_string(found.verdict))
                                  : null("total.verdict", "an estimate has no verdict",
                                         "record three runs or more of each side");
    add_comparison(out, found, total.regression, !total.tested, "total.");
    for (const bool first : {true, false}) {
      const char* name = first ? "a" : "b";
      out[name] = figures_json(
          first ? found.samples_a : found.samples_b, first ? found.median_a : found.median_b,
          first ? found.health_a : found.health_b, std::string("total.") + name);
    }
    return out;
  }

  Json unpaired_json(const std::vector<compare::UnpairedKernel>& kernels,
                     const compare::SideFacts& side, const char* field) {
    Json out = Json::array();
    for (const compare::UnpairedKernel& kernel : kernels) {
      Json one = {{"name", kernel.name}, {"samples", kernel.samples}};
      one["share"] = share(fmt::format("{}[{}].share", field, out.size()), kernel.share, side);
      one["median"] = value(fmt::format("{}[{}].median", field, out.size()), kernel.median,
                            "there are no samples");
      out.push_back(std::move(one));
    }
    return out;
  }

  Json not_compared_json() {
    Json out = Json::array();
    for (const compare::NotCompared& one : result_.not_compared) {
      const compare::SideFacts& side = one.of_b ? result_.b : result_.a;
      const std::string field = fmt::format("not_compared[{}].", out.size());
      const bool in_profile = one.reason == compare::NotComparedReason::no_databases;
      const std::string_view older = "the profile was made by an older version, and does not say";
      Json row = {{"side", one.of_b ? "b" : "a"}, {"reason", to_string(one.reason)}};
      row["kernels"] = value(field + "kernels", one.kernels, older, "profile again");
      row["share"] = in_profile ? value(field + "share", one.share, older, "profile again")
                                : share(field + "share", one.share, side);
      row["text"] = reason_text(one.reason);
      row["remedy"] = or_null(remedy_text(one.reason));
      out.push_back(std::move(row));
    }
    return out;
  }

  const compare::ComparisonResult& result_;
  const compare::CompareOptions& options_;
  std::vector<Missing> missing_;
};

}  // namespace

Json comparison_document(const compare::ComparisonResult& result,
                         const compare::CompareOptions& options) {
  return ComparisonWriter(result, options).document();
}

}  // namespace perflab::report
