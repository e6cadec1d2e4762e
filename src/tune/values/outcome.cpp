// Names of outcomes, and evaluations as JSON. Every key is always written, so that a reader can
// tell a damaged entry from a short one.
#include "tune/values/outcome.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "base/enum_names.h"
#include "base/text/json_fields.h"

namespace perflab::tune {
namespace {

Json number_json(double number) {
  PERFLAB_CHECK(std::isfinite(number));  // JSON has no other; evaluators refuse them before
  return number;
}

Json optional_json(const std::optional<double>& number) {
  return number ? number_json(*number) : Json(nullptr);
}

Json list_json(const std::vector<double>& numbers) {
  Json list = Json::array();
  for (const double number : numbers) list.push_back(number_json(number));
  return list;
}

Json to_json(const std::optional<KernelMix>& mix) {
  if (!mix) return nullptr;
  return Json{{"instructions", mix->instructions},
              {"valu", mix->valu},
              {"matrix", mix->matrix},
              {"memory", mix->memory},
              {"lds", mix->lds},
              {"branches", mix->branches}};
}

KernelMix mix_from(JsonFields in) {
  KernelMix mix;
  in.read("instructions", mix.instructions);
  in.read("valu", mix.valu);
  in.read("matrix", mix.matrix);
  in.read("memory", mix.memory);
  in.read("lds", mix.lds);
  in.read("branches", mix.branches);
  return mix;
}

Json to_json(const CompiledKernel& kernel) {
  return Json{{"kernel", kernel.kernel},       {"target", kernel.target},
              {"vgprs", kernel.vgprs},         {"sgprs", kernel.sgprs},
              {"lds_bytes", kernel.lds_bytes}, {"scratch_bytes", kernel.scratch_bytes},
              {"spills", kernel.spills},       {"occupancy", optional_json(kernel.occupancy)},
              {"mix", to_json(kernel.mix)},    {"why_no_mix", kernel.why_no_mix}};
}

CompiledKernel kernel_from(JsonFields& in) {
  CompiledKernel kernel;
  in.read("kernel", kernel.kernel);
  in.read("target", kernel.target);
  in.read("vgprs", kernel.vgprs);
  in.read("sgprs", kernel.sgprs);
  in.read("lds_bytes", kernel.lds_bytes);
  in.read("scratch_bytes", kernel.scratch_bytes);
  in.read("spills", kernel.spills);
  in.read("occupancy", kernel.occupancy);
  // Journals from before there were mixes have none.
  if (!in.has("mix")) return kernel;
  if (!in.is_null("mix")) kernel.mix = mix_from(in.object("mix"));
  in.read("why_no_mix", kernel.why_no_mix);
  return kernel;
}

Json to_json(const std::optional<Proof>& proof) {
  if (!proof) return nullptr;
  return Json{{"verdict", proof->verdict},
              {"sentence", proof->sentence},
              {"compared_bytes", proof->compared_bytes},
              {"code_object_hash", proof->code_object_hash},
              {"grid", proof->grid},
              {"workgroup", proof->workgroup},
              {"dynamic_lds_bytes", proof->dynamic_lds_bytes}};
}

Proof proof_from(JsonFields in) {
  Proof proof;
  in.read("verdict", proof.verdict);
  in.read("sentence", proof.sentence);
  in.read("compared_bytes", proof.compared_bytes);
  in.read("code_object_hash", proof.code_object_hash);
  in.read("grid", proof.grid);
  in.read("workgroup", proof.workgroup);
  in.read("dynamic_lds_bytes", proof.dynamic_lds_bytes);
  return proof;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  using enum Outcome;
  static constexpr auto kNames = enum_names<Outcome>({{correct, "correct"},
                                                      {compile_failed, "compile"},
                                                      {run_failed, "runtime"},
                                                      {timed_out, "timeout"},
                                                      {wrong, "correctness"},
                                                      {not_launchable, "device_limit"}});
  return kNames[outcome];
}

Json to_json(const Evaluation& evaluation) {
  Json compiled = Json::array();
  for (const CompiledKernel& kernel : evaluation.compiled) compiled.push_back(to_json(kernel));
  Json json{{"outcome", to_string(evaluation.outcome)},
            {"value", optional_json(evaluation.value)},
            {"samples", list_json(evaluation.samples)},
            {"warm_up", list_json(evaluation.warm_up)},
            {"cv", optional_json(evaluation.cv)},
            {"unstable", evaluation.unstable},
            {"detail", evaluation.detail},
            {"build_seconds", number_json(evaluation.build_seconds)},
            {"run_seconds", number_json(evaluation.run_seconds)},
            {"longest_run_seconds", optional_json(evaluation.longest_run_seconds)},
            {"compiled", std::move(compiled)},
            {"proof", to_json(evaluation.proof)}};
  if (evaluation.metrics.empty()) return json;
  Json& metrics = json["metrics"] = Json::array();
  for (const MetricValue& one : evaluation.metrics)
    metrics.push_back(
        {{"name", one.name}, {"value", optional_json(one.value)}, {"detail", one.detail}});
  return json;
}

Result<Evaluation> evaluation_from_json(const Json& json, std::string_view what) {
  Evaluation evaluation;
  JsonFields in(json, what);
  const auto outcome = in.get<std::string>("outcome");
  in.read("value", evaluation.value);
  in.read("samples", evaluation.samples);
  in.read("warm_up", evaluation.warm_up);
  in.read("cv", evaluation.cv);
  in.read("unstable", evaluation.unstable);
  in.read("detail", evaluation.detail);
  in.read("build_seconds", evaluation.build_seconds);
  in.read("run_seconds", evaluation.run_seconds);
  in.read("longest_run_seconds", evaluation.longest_run_seconds);
  in.each("compiled", [&](JsonFields& item) { evaluation.compiled.push_back(kernel_from(item)); });
  if (!in.is_null("proof")) evaluation.proof = proof_from(in.object("proof"));
  if (in.has("metrics"))  // evaluations without any have no such key
    in.each("metrics", [&](JsonFields& item) {
      MetricValue& one = evaluation.metrics.emplace_back();
      item.read("name", one.name);
      item.read("value", one.value);
      item.read("detail", one.detail);
    });
  if (const std::optional<Outcome> known = from_name<Outcome>(outcome))
    evaluation.outcome = *known;
  else
    in.wrong("outcome", fmt::format("is \"{}\", which is not an outcome", outcome));
  const bool only_built = evaluation.run_seconds == 0 && evaluation.samples.empty();
  if (evaluation.value.has_value() != (evaluation.outcome == Outcome::correct) &&
      !(only_built && !evaluation.value))
    in.wrong("value", fmt::format("is {} though \"outcome\" is \"{}\"",
                                  evaluation.value ? "set" : "missing", outcome));
  PERFLAB_TRY_VOID(in.result());
  return evaluation;
}

}  // namespace perflab::tune
