// Builder of `pc_sampling`. Shares stand beside the samples that they are made of.
#include "report/pc_sampling/pc_sampling_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "code/instructions/instruction_mix.h"
#include "report/kit/document.h"
#include "report/kit/null_reasons.h"

namespace perflab::report {
namespace {

using analyze::KernelPcSamples;
using analyze::PcCounts;
using analyze::PcEstimate;
using analyze::PcFeatures;
using analyze::PcInstruction;
using analyze::PcSampleSet;
using analyze::PcShare;

Json estimate_json(const PcEstimate& estimate) {
  if (!estimate.value) return nullptr;
  return {{"value", *estimate.value},
          {"low", or_null(estimate.low())},
          {"high", or_null(estimate.high())}};
}

Json pc_share_json(const PcShare& share) {
  return {{"samples", share.samples}, {"share", estimate_json(share.share)}};
}

/// A feature by its name in the document.
struct NamedFeature {
  const char* name;
  PcEstimate PcFeatures::* value;
};
constexpr std::array<NamedFeature, 16> kFeatureNames = {{
    {"issued", &PcFeatures::issued},
    {"memory_wait", &PcFeatures::memory_wait},
    {"lds_wait", &PcFeatures::lds_wait},
    {"scalar_wait", &PcFeatures::scalar_wait},
    {"wait_unknown", &PcFeatures::wait_unknown},
    {"barrier", &PcFeatures::barrier},
    {"vmem_backpressure", &PcFeatures::vmem_backpressure},
    {"lds_backpressure", &PcFeatures::lds_backpressure},
    {"matrix_busy", &PcFeatures::matrix_busy},
    {"valu_busy", &PcFeatures::valu_busy},
    {"contention", &PcFeatures::contention},
    {"dependency", &PcFeatures::dependency},
    {"instruction_fetch", &PcFeatures::instruction_fetch},
    {"lanes_active", &PcFeatures::lanes_active},
    {"waves_per_busy_cu", &PcFeatures::waves_per_busy_cu},
    {"simd_latency", &PcFeatures::simd_latency},
}};

void put_counts(const PcCounts& counts, Json& out) {
  out["samples"] = counts.samples;
  out["issued"] = counts.issued;
  out["stalled"] = counts.stalled;
  out["share"] = estimate_json(counts.share);
  out["wave_time_share"] = estimate_json(counts.wave_time_share);
  out["issued_share"] = estimate_json(counts.issued_share);
  Json reasons = Json::array();
  for (const auto& [name, samples] : counts.reasons)
    reasons.push_back({{"name", name}, {"samples", samples}});
  out["reasons"] = std::move(reasons);
  out["tied_with_previous"] = counts.tied_with_previous;
}

/// Builds the object of one kernel, and its `missing` on the way.
class SampledKernel {
 public:
  explicit SampledKernel(const KernelPcSamples& kernel)
      : kernel_(kernel), reasons_(kernel.missing) {}

  Json build() {
    Json out = object_with_room(36);
    put_identity(out);
    put_certainty(out);
    out["quality"] = quality();
    out["features"] = features();
    out["reasons"] = stall_reasons();
    out["waits"] = waits();
    out["causes"] = causes();
    Json refused = Json::array();
    for (const auto& [one, share] : kernel_.refused_by_class)
      refused.push_back({{"class", code::to_string(one)}, {"refused", pc_share_json(share)}});
    out["refused_by_class"] = std::move(refused);
    out["arbiter"] = arbiter();
    out["waves"] = waves();
    put_lists(out);
    Json xccs = Json::array();
    for (const analyze::PcXcc& one : kernel_.xccs)
      xccs.push_back({{"xcc", one.xcc},
                      {"samples", pc_share_json(one.samples)},
                      {"cus", one.cus},
                      {"ticks", one.ticks}});
    out["xccs"] = std::move(xccs);
    out["slots_alias"] = kernel_.slots_alias;
    out["missing"] = reasons_.json();
    return out;
  }

 private:
  void put_identity(Json& out) {
    out["set"] = kernel_.set;
    out["name"] = kernel_.kernel;
    out["mangled_name"] =
        reasons_.text("mangled_name", kernel_.mangled_name, "the samples' files do not have it");
    out["kernel"] = reasons_.value("kernel", kernel_.analysis_kernel, {"analysis_kernel"},
                                   "no recording was given, or none has this kernel");
    out["architecture"] =
        reasons_.text("architecture", kernel_.architecture, "the samples' files do not state it");
    out["agent"] = reasons_.text("agent", kernel_.agent, "the samples' files do not state it");
  }

  void put_certainty(Json& out) {
    constexpr const char* kNoReasons = "these samples do not say whether a wave issued";
    out["samples"] = kernel_.samples;
    out["issued"] = kernel_.issued.share.value ? pc_share_json(kernel_.issued)
                                               : reasons_.null("issued", {}, kNoReasons);
    out["stalled"] = kernel_.stalled.share.value ? pc_share_json(kernel_.stalled)
                                                 : reasons_.null("stalled", {}, kNoReasons);
    out["ticks"] = kernel_.ticks;
    out["samples_per_tick"] = kernel_.samples_per_tick;
    out["design_effect"] = reasons_.value("design_effect", kernel_.design_effect, {}, kNoReasons);
    out["intervals"] = {{"method", analyze::to_string(kernel_.intervals)},
                        {"reason", kernel_.intervals_reason}};
    out["confidence"] = analyze::to_string(kernel_.confidence);
    out["confidence_reasons"] = kernel_.confidence_reasons;
    out["refusals"] = kernel_.refusals;
  }

  Json quality() {
    const analyze::PcQuality& seen = kernel_.quality;
    const auto known = [&](const char* name, const auto& value) {
      return reasons_.value(fmt::format("quality.{}", name), value, {}, "it is not known");
    };
    return {{"expected", known("expected", seen.expected)},
            {"delivered", known("delivered", seen.delivered)},
            {"undecoded", seen.undecoded},
            {"dispatches", known("dispatches", seen.dispatches)},
            {"dispatches_sampled", known("dispatches_sampled", seen.dispatches_sampled)},
            {"dispatches_lost", known("dispatches_lost", seen.dispatches_lost)},
            {"kernel_disagrees", seen.kernel_disagrees},
            {"reason_contradictions", seen.reason_contradictions},
            {"lock_errors", known("lock_errors", seen.lock_errors)},
            {"sampled_ns", known("sampled_ns", seen.sampled_ns)},
            {"plain_ns", known("plain_ns", seen.plain_ns)}};
  }

  Json features() {
    if (!kernel_.refusals.empty()) return reasons_.null("features", {}, kernel_.refusals.front());
    Json out = Json::object();
    for (const NamedFeature& one : kFeatureNames) {
      const PcEstimate& value = kernel_.features.*one.value;
      out[one.name] = value.value ? estimate_json(value)
                                  : reasons_.null(fmt::format("features.{}", one.name), {},
                                                  "these samples do not tell it");
    }
    return out;
  }

  [[nodiscard]] Json stall_reasons() const {
    Json out = Json::array();
    for (const analyze::PcReason& one : kernel_.reasons)
      out.push_back({{"name", one.name},
                     {"samples", one.samples},
                     {"of_stalled", estimate_json(one.of_stalled)},
                     {"of_all", estimate_json(one.of_all)},
                     {"of_wave_time", estimate_json(one.of_wave_time)}});
    return out;
  }

  Json causes() {
    Json out = Json::array();
    for (const analyze::PcCause& one : kernel_.causes) {
      const PcInstruction& load = kernel_.instructions[one.instruction];
      out.push_back({{"text", load.text},
                     {"in_kernel", or_null(load.in_kernel)},
                     {"chain", load.chain},
                     {"samples", one.samples}});
    }
    return out;
  }

  Json arbiter() {
    if (!kernel_.arbiter) return reasons_.null("arbiter", {}, "these samples do not tell it");
    Json pipes = Json::array();
    for (const analyze::PcPipe& one : kernel_.arbiter->pipes) {
      Json row = {{"pipe", pc_sampling::to_string(one.pipe)}};
      const std::array<std::pair<const char*, const PcShare*>, 3> states = {
          {{"used", &one.used}, {"backpressured", &one.backpressured}, {"idle", &one.idle}}};
      for (const auto& [name, share] : states)
        row[name] = one.available
                        ? pc_share_json(*share)
                        : reasons_.null(fmt::format("arbiter.pipes[{}].{}", pipes.size(), name), {},
                                        "this architecture does not report the pipe");
      pipes.push_back(std::move(row));
    }
    return {{"pipes", std::move(pipes)},
            {"no_pipe_used", pc_share_json(kernel_.arbiter->no_pipe_used)},
            {"nobody_asked", pc_share_json(kernel_.arbiter->nobody_asked)},
            {"issued_per_cycle", estimate_json(kernel_.arbiter->issued_per_cycle)},
            {"contradictions", kernel_.arbiter->contradictions}};
  }

  Json waits() {
    if (!kernel_.waits.front().share.value)
      return reasons_.null("waits", {}, "these samples do not say what was waited for");
    Json out = Json::object();
    for (std::size_t i = 0; i < analyze::kPcWaits; ++i)
      out[std::string(analyze::to_string(static_cast<analyze::PcWait>(i)))] =
          pc_share_json(kernel_.waits[i]);
    return out;
  }

  Json waves() {
    if (!kernel_.waves) return reasons_.null("waves", {}, "these samples do not tell it");
    const analyze::PcWaves& seen = *kernel_.waves;
    return {{"mean", estimate_json(seen.mean)},
            {"p10", seen.p10},
            {"median", seen.median},
            {"p90", seen.p90},
            {"most", seen.most},
            {"per", seen.per_simd ? "simd" : "cu"}};
  }

  [[nodiscard]] Json instruction_json(const PcInstruction& one) const {
    Json row = object_with_room(15);
    row["text"] = one.text;
    row["class"] = code::to_string(one.instruction_class);
    row["offset"] = or_null(one.offset);
    row["in_kernel"] = or_null(one.in_kernel);
    row["chain"] = one.chain;
    row["wait"] = or_null(one.wait);
    Json waits_for = Json::array();
    for (const std::size_t load : one.waits_for)
      waits_for.push_back(kernel_.instructions[load].text);
    row["waits_for"] = std::move(waits_for);
    put_counts(one, row);
    return row;
  }

  static Json lines_json(const std::vector<analyze::PcLine>& lines) {
    Json out = Json::array();
    for (std::size_t i = 0; i < lines.size() && i < kMostSampledLines; ++i) {
      Json row = {{"line", or_null(lines[i].line)}};
      put_counts(lines[i], row);
      out.push_back(std::move(row));
    }
    return out;
  }

  void put_lists(Json& out) {
    Json hot = Json::array();
    for (std::size_t i = 0; i < kernel_.hot.size() && i < kMostHotSamples; ++i)
      hot.push_back(instruction_json(kernel_.instructions[kernel_.hot[i]]));
    out["hot"] = std::move(hot);
    out["sampled"] = kernel_.hot.size();
    out["never_sampled"] =
        kernel_.code_known
            ? Json(kernel_.instructions.size() - kernel_.hot.size())
            : reasons_.null("never_sampled", {}, "the code of the kernel is not at hand");
    out["lines"] = lines_json(kernel_.lines);
    out["call_sites"] = lines_json(kernel_.call_sites);
    Json classes = Json::array();
    for (const analyze::PcClass& one : kernel_.classes) {
      Json row = {{"class", code::to_string(one.instruction_class)}};
      put_counts(one, row);
      classes.push_back(std::move(row));
    }
    out["classes"] = std::move(classes);
  }

  const KernelPcSamples& kernel_;
  NullReasons reasons_;
};

Json odd_counts_json(const pc_sampling::Counts& counts) {
  return {{"dropped", counts.dropped},
          {"undecoded", counts.undecoded},
          {"index_out_of_range", counts.index_out_of_range},
          {"no_code_object", counts.no_code_object},
          {"code_object_unknown", counts.code_object_unknown},
          {"dispatch_unknown", counts.dispatch_unknown},
          {"dispatch_unrecorded", counts.dispatch_unrecorded},
          {"kernel_disagrees", counts.kernel_disagrees},
          {"unknown_type", counts.unknown_type},
          {"unknown_reason", counts.unknown_reason},
          {"value_out_of_range", counts.value_out_of_range},
          {"malformed_rows", counts.malformed_rows},
          {"lost", counts.lost},
          {"not_user", counts.not_user}};
}

const char* form_name(pc_sampling::Form form) {
  switch (form) {
    case pc_sampling::Form::rocprofv3_json:
      return "rocprofv3_json";
    case pc_sampling::Form::rocprofv3_csv:
      return "rocprofv3_csv";
    case pc_sampling::Form::cuda_recording:
      break;
  }
  return "cuda_recording";
}

Json set_json(const PcSampleSet& set) {
  const std::vector<Missing> none;
  NullReasons missing(none);
  constexpr const char* kNotStated = "no file states it: give it with --pc-interval";
  Json interval = Json::object();
  if (set.interval) {
    const bool cycles = set.interval->unit == pc_sampling::IntervalUnit::cycles;
    interval["value"] = set.interval->value;
    interval["unit"] = cycles ? "cycles" : "microseconds";
  } else {
    interval["value"] = missing.null("interval.value", {}, kNotStated);
    interval["unit"] = missing.null("interval.unit", {}, kNotStated);
  }
  interval["source"] = analyze::to_string(set.interval_source);
  interval["ns"] = missing.value("interval.ns", set.tick_ns, {},
                                 "neither the interval and the clock are stated, nor are there "
                                 "samples enough of single CUs");
  Json reasons = Json::array();
  for (const analyze::PcReason& one : set.reasons)
    reasons.push_back({{"name", one.name},
                       {"samples", one.samples},
                       {"of_stalled", one.of_stalled.value.value_or(0)}});
  Json others = Json::array();
  for (const analyze::PcOtherKernel& one : set.others)
    others.push_back({{"name", one.name}, {"samples", one.samples}});
  return {{"files", set.files},
          {"method", pc_sampling::to_string(set.method)},
          {"form", form_name(set.form)},
          {"interval", std::move(interval)},
          {"samples", set.samples},
          {"in_kernels", set.in_kernels},
          {"other_kernels", set.other_kernels},
          {"others", std::move(others)},
          {"kernel_unknown", set.kernel_unknown},
          {"counts", odd_counts_json(set.counts)},
          {"reasons", std::move(reasons)},
          {"missing", missing.json()}};
}

}  // namespace

Json pc_sampling_json(const analyze::PcSampling& sampling) {
  Json sets = Json::array(), kernels = Json::array();
  for (const PcSampleSet& set : sampling.sets) sets.push_back(set_json(set));
  for (const KernelPcSamples& kernel : sampling.kernels)
    kernels.push_back(SampledKernel(kernel).build());
  return {{"sets", std::move(sets)}, {"kernels", std::move(kernels)}};
}

}  // namespace perflab::report
