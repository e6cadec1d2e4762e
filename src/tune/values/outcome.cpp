// Names of outcomes, and evaluations as JSON. Every key is always written, so that a reader can
// tell a damaged entry from a short one.
#include "tune/values/outcome.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

namespace perflab::tune {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 6> kOutcomeNames = {{
    {Outcome::correct, "correct"},
    {Outcome::compile_failed, "compile"},
    {Outcome::run_failed, "runtime"},
    {Outcome::timed_out, "timeout"},
    {Outcome::wrong, "correctness"},
    {Outcome::not_launchable, "device_limit"},
}};

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

Json to_json(const CompiledKernel& kernel) {
  return Json{{"kernel", kernel.kernel},       {"target", kernel.target},
              {"vgprs", kernel.vgprs},         {"sgprs", kernel.sgprs},
              {"lds_bytes", kernel.lds_bytes}, {"scratch_bytes", kernel.scratch_bytes},
              {"spills", kernel.spills},       {"occupancy", optional_json(kernel.occupancy)}};
}

/// The fields of one object, and the first thing that is wrong with them: checked once at the end,
/// which keeps the readers free of a branch per field.
class EvaluationFields {
 public:
  EvaluationFields(const Json& object, std::string_view what) : object_(object), what_(what) {
    if (!object.is_object()) problem_ = "is no object";
  }

  void read(std::string_view key, std::string& out) {
    const Json* const found = find(key);
    if (found == nullptr) return;
    if (!found->is_string()) return wrong(key, "text");
    out = found->get<std::string>();
  }
  void read(std::string_view key, bool& out) {
    const Json* const found = find(key);
    if (found == nullptr) return;
    if (!found->is_boolean()) return wrong(key, "true or false");
    out = found->get<bool>();
  }
  void read(std::string_view key, double& out) {
    const Json* const found = find(key);
    if (found == nullptr) return;
    if (!found->is_number()) return wrong(key, "number");
    out = found->get<double>();
  }
  void read(std::string_view key, std::int64_t& out) {
    const Json* const found = find(key);
    if (found == nullptr) return;
    if (!found->is_number_integer() ||
        (found->is_number_unsigned() && found->get<std::int64_t>() < 0))
      return wrong(key, "whole number of 64 bits");
    out = found->get<std::int64_t>();
  }
  void read(std::string_view key, std::optional<double>& out) {
    const Json* const found = find(key);
    if (found == nullptr || found->is_null()) return;
    if (!found->is_number()) return wrong(key, "number or null");
    out = found->get<double>();
  }
  void read(std::string_view key, std::vector<double>& out) {
    const Json* const found = list(key);
    if (found == nullptr) return;
    for (const Json& item : *found) {
      if (!item.is_number()) return wrong(key, "list of numbers");
      out.push_back(item.get<double>());
    }
  }
  const Json* list(std::string_view key) {
    const Json* const found = find(key);
    if (found == nullptr || found->is_array()) return found;
    wrong(key, "list");
    return nullptr;
  }

  void refuse(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  [[nodiscard]] Result<void> result() const {
    if (problem_.empty()) return {};
    return fail(ErrorCode::bad_input, fmt::format("{}: {}", what_, problem_));
  }

 private:
  const Json* find(std::string_view key) {
    if (!problem_.empty()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    problem_ = fmt::format("\"{}\" is missing", key);
    return nullptr;
  }
  void wrong(std::string_view key, std::string_view kind) {
    problem_ = fmt::format("\"{}\" is no {}", key, kind);
  }

  const Json& object_;
  std::string_view what_;
  std::string problem_;
};

Result<CompiledKernel> kernel_from_json(const Json& json, std::string_view what) {
  CompiledKernel kernel;
  EvaluationFields fields(json, what);
  fields.read("kernel", kernel.kernel);
  fields.read("target", kernel.target);
  fields.read("vgprs", kernel.vgprs);
  fields.read("sgprs", kernel.sgprs);
  fields.read("lds_bytes", kernel.lds_bytes);
  fields.read("scratch_bytes", kernel.scratch_bytes);
  fields.read("spills", kernel.spills);
  fields.read("occupancy", kernel.occupancy);
  PERFLAB_TRY_VOID(fields.result());
  return kernel;
}

}  // namespace

std::string_view to_string(Outcome outcome) {
  for (const auto& [known, name] : kOutcomeNames)
    if (known == outcome) return name;
  return "unknown";
}

std::optional<Outcome> outcome_from(std::string_view name) {
  for (const auto& [outcome, known] : kOutcomeNames)
    if (known == name) return outcome;
  return std::nullopt;
}

Json to_json(const Evaluation& evaluation) {
  Json compiled = Json::array();
  for (const CompiledKernel& kernel : evaluation.compiled) compiled.push_back(to_json(kernel));
  return Json{{"outcome", to_string(evaluation.outcome)},
              {"value", optional_json(evaluation.value)},
              {"samples", list_json(evaluation.samples)},
              {"warm_up", list_json(evaluation.warm_up)},
              {"cv", optional_json(evaluation.cv)},
              {"unstable", evaluation.unstable},
              {"detail", evaluation.detail},
              {"build_seconds", number_json(evaluation.build_seconds)},
              {"run_seconds", number_json(evaluation.run_seconds)},
              {"longest_run_seconds", optional_json(evaluation.longest_run_seconds)},
              {"compiled", std::move(compiled)}};
}

Result<Evaluation> evaluation_from_json(const Json& json, std::string_view what) {
  Evaluation evaluation;
  EvaluationFields fields(json, what);
  std::string outcome;
  fields.read("outcome", outcome);
  fields.read("value", evaluation.value);
  fields.read("samples", evaluation.samples);
  fields.read("warm_up", evaluation.warm_up);
  fields.read("cv", evaluation.cv);
  fields.read("unstable", evaluation.unstable);
  fields.read("detail", evaluation.detail);
  fields.read("build_seconds", evaluation.build_seconds);
  fields.read("run_seconds", evaluation.run_seconds);
  fields.read("longest_run_seconds", evaluation.longest_run_seconds);
  const Json* const compiled = fields.list("compiled");
  const std::optional<Outcome> known = outcome_from(outcome);
  if (!known)
    fields.refuse(fmt::format("\"outcome\" is \"{}\", which is no outcome", outcome));
  else
    evaluation.outcome = *known;
  const bool only_built = evaluation.run_seconds == 0 && evaluation.samples.empty();
  if (evaluation.value.has_value() != (evaluation.outcome == Outcome::correct) &&
      !(only_built && !evaluation.value))
    fields.refuse(fmt::format("\"value\" is {} though \"outcome\" is \"{}\"",
                              evaluation.value ? "set" : "missing", outcome));
  PERFLAB_TRY_VOID(fields.result());
  for (const Json& item : *compiled) {
    PERFLAB_TRY(CompiledKernel kernel, kernel_from_json(item, what));
    evaluation.compiled.push_back(std::move(kernel));
  }
  return evaluation;
}

}  // namespace perflab::tune
