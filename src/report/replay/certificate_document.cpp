// JSON of a certificate. Every null has an entry in `missing`, but for what was not asked for
// (method.*), what did not happen (run_failure, poison_note), symbols of memory that is no
// variable, and hsaco_path.
#include "report/replay/certificate_document.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "analyze/analysis.h"
#include "report/kit/document.h"
#include "report/replay/left_memory_json.h"

namespace perflab::report {
namespace {

using replay::ElementDiff;
using replay::RegionVerdict;

Json histogram_json(const std::vector<replay::Bucket>& buckets) {
  Json out = Json::array();
  for (const replay::Bucket& bucket : buckets)
    out.push_back({{"upto", bucket.upto}, {"elements", bucket.elements}});
  return out;
}

/// Why there is no largest distance of this kind.
std::string no_distance_reason(const ElementDiff& comparison, bool is_ulp_or_relative) {
  if (!comparison.type) return "bytes without a type have no distance";
  if (is_ulp_or_relative && !replay::is_float(*comparison.type))
    return "integers have an absolute distance only";
  if (comparison.different == 0) return "no element differs";
  return "no element that differs has such a distance (NaN, infinity, or zero expected)";
}

Json largest_json(const ElementDiff& comparison, const std::string& field,
                  std::vector<Missing>& missing) {
  const auto note = [&](const char* name, bool there, bool is_ulp_or_relative) {
    if (!there)
      missing.push_back({.field = fmt::format("{}.largest.{}", field, name),
                         .reason = no_distance_reason(comparison, is_ulp_or_relative),
                         .remedy = ""});
  };
  note("ulp", comparison.largest_ulp.has_value(), true);
  note("relative", comparison.largest_relative.has_value(), true);
  note("absolute", comparison.largest_absolute.has_value(), false);
  return {{"ulp", or_null(comparison.largest_ulp)},
          {"relative", or_null(comparison.largest_relative)},
          {"absolute", or_null(comparison.largest_absolute)}};
}

Json varying_json(const RegionVerdict& verdict) {
  Json first = Json::array();
  for (const replay::ByteRange& range : verdict.not_deterministic)
    first.push_back({{"offset", range.offset}, {"bytes", range.bytes}});
  return {{"bytes", verdict.not_deterministic_bytes},
          {"ranges", verdict.not_deterministic_ranges},
          {"first", std::move(first)}};
}

/// The figures of the poisoned runs.
void add_poison_figures(Json& out, const CertificateData& data, const RegionVerdict& verdict,
                        const std::string& field, std::vector<Missing>& missing) {
  const auto add = [&](const char* name, std::uint64_t bytes, bool of_other) {
    std::string reason, remedy;
    if (!verdict.poisoned) {
      reason = "the region was not poisoned";
      remedy = data.certificate.poison == replay::Poison::arguments ? "" : "--poison arguments";
    } else if (of_other && data.certificate.original) {
      reason = "no other code object was verified";
      remedy = "name one with --hsaco";
    }
    out[name] = reason.empty() ? Json(bytes) : Json(nullptr);
    if (!reason.empty())
      missing.push_back({.field = fmt::format("{}.{}", field, name),
                         .reason = std::move(reason),
                         .remedy = std::move(remedy)});
  };
  add("changed_poison_bytes", verdict.changed_poison_bytes, false);
  add("pure_output_bytes", verdict.pure_output_bytes, false);
  add("not_rewritten_bytes", verdict.not_rewritten_bytes, true);
  add("wrong_on_poison_bytes", verdict.wrong_on_poison_bytes, true);
}

Json region_json(const CertificateData& data, const RegionVerdict& verdict,
                 const std::string& field, std::vector<Missing>& missing) {
  const capture::MemoryRegion& region = data.description.regions.at(verdict.region);
  const ElementDiff& comparison = verdict.comparison;
  if (!comparison.type)
    for (const char* name : {"type", "type_from"})
      missing.push_back({.field = fmt::format("{}.{}", field, name),
                         .reason = "neither the kernel's arguments nor the data tell it",
                         .remedy = "give it with --type"});
  Json out = {{"base", fmt::format("{:#x}", region.base)},
              {"bytes", region.bytes},
              {"origin", capture::to_string(region.origin)},
              {"symbol", or_null(region.symbol)},
              {"verdict", to_string(verdict.verdict)},
              {"type", or_null(comparison.type)},
              {"type_from", or_null(comparison.type_from)},
              {"changed_bytes", verdict.changed_bytes},
              {"compared_bytes", verdict.compared_bytes},
              {"unexpected_bytes", verdict.unexpected_bytes}};
  add_poison_figures(out, data, verdict, field, missing);
  out["not_deterministic"] = varying_json(verdict);
  out["elements"] = comparison.elements;
  out["different"] = comparison.different;
  out["beyond_tolerance"] = comparison.beyond_tolerance;
  out["nan_expected"] = comparison.nan_expected;
  out["nan_found"] = comparison.nan_found;
  out["infinity_mismatches"] = comparison.infinity_mismatches;
  out["largest"] = largest_json(comparison, field, missing);
  out["histograms"] = {{"ulp", histogram_json(comparison.ulp)},
                       {"relative", histogram_json(comparison.relative)},
                       {"absolute", histogram_json(comparison.absolute)}};
  Json examples = Json::array();
  for (const ElementDiff::Example& example : comparison.examples)
    examples.push_back(
        {{"offset", example.offset}, {"expected", example.expected}, {"found", example.found}});
  out["examples"] = std::move(examples);
  return out;
}

Json method_json(const CertificateData& data) {
  const replay::DiffOptions& compare = data.options.compare;
  return {{"runs", data.certificate.runs},
          {"poison", to_string(data.certificate.poison)},
          {"poison_note", or_null(data.certificate.poison_note)},
          {"type", or_null(compare.type)},
          {"max_ulp", or_null(compare.max_ulp)},
          {"max_relative", or_null(compare.max_relative)},
          {"max_absolute", or_null(compare.max_absolute)},
          {"nan_equal", compare.nan_equal}};
}

Json certificate_environment(const CertificateData& data, std::vector<Missing>& missing) {
  for (const auto& [field, value] :
       {std::pair{"environment.rocm_version", &data.device.rocm_version},
        std::pair{"environment.product_name", &data.device.product_name}})
    if (value->empty())
      missing.push_back({.field = field, .reason = "the installation does not say", .remedy = ""});
  return {{"gpu_agent", data.device.agent_name},
          {"rocm_version", or_null(data.device.rocm_version)},
          {"runtime_version", data.device.runtime_version},
          {"product_name", or_null(data.device.product_name)},
          {"isa", data.device.isa},
          {"capture_folder", data.capture_folder},
          {"hsaco_path", or_null(data.options.code_object.string())}};
}

}  // namespace

std::string region_name(const capture::MemoryRegion& region) {
  return region.symbol.empty() ? fmt::format("{:#x}", region.base) : region.symbol;
}

Json certificate_document(const CertificateData& data) {
  const replay::Certificate& certificate = data.certificate;
  std::vector<Missing> missing;
  Json regions = Json::array();
  for (const RegionVerdict& verdict : certificate.regions)
    regions.push_back(
        region_json(data, verdict, fmt::format("regions[{}]", regions.size()), missing));
  Json document = {
      {"schema_version", "1.1.0"},
      {"document", "certificate"},
      {"generator", generator_json()},
      {"verdict", to_string(certificate.verdict)},
      {"sentence", certificate.sentence},
      {"kernel", {{"name", certificate.kernel}, {"demangled", certificate.demangled}}},
      {"capture",
       {{"hash", certificate.capture_hash},
        {"isa", data.description.machine.isa},
        {"dispatch", data.description.dispatch.ordinal}}},
      {"code_object", {{"hash", certificate.code_object_hash}, {"captured", certificate.original}}},
      {"method", method_json(data)},
      {"original_reproduces", certificate.reproduces},
      {"write_set", to_string(certificate.write_set)},
      {"run_failure", or_null(certificate.run_failure)},
      {"left_memory", left_memory_json(certificate.left_memory, missing)},
      {"regions", std::move(regions)},
      {"notes", certificate.notes}};
  document["environment"] = certificate_environment(data, missing);
  document["missing"] = missing_json(missing);
  return document;
}

}  // namespace perflab::report
