// The self test as JSON. It describes one machine; nothing of it is the same elsewhere.
#include <cmath>

#include "doctor/self_test/self_test.h"
#include "report/kit/document.h"

namespace perflab::doctor {
namespace {

/// Milliseconds are enough.
double rounded(double time_s) {
  return std::round(time_s * 1e3) / 1e3;
}

Json step_json(const StepRun& step) {
  Json unmet = Json::array();
  for (const UnmetCheck& one : step.unmet)
    unmet.push_back({{"field", one.check.field},
                     {"relation", to_string(one.check.relation)},
                     {"value", one.check.value.dump()},
                     {"found", one.found}});
  return {{"step", step.name},
          {"exit_code", or_null(step.exit_code)},
          {"signal", or_null(step.signal)},
          {"seconds", rounded(step.seconds)},
          {"unmet", std::move(unmet)}};
}

Json run_json(const CaseRun& run) {
  Json steps = Json::array();
  for (const StepRun& step : run.steps) steps.push_back(step_json(step));
  return {{"case", run.test->id},
          {"group", run.test->group},
          {"shows", run.test->shows},
          {"addresses", to_string(run.mode)},
          {"outcome", to_string(run.outcome)},
          {"reason", or_null(run.reason)},
          {"sentence", or_null(run.sentence)},
          {"remedy", or_null(run.remedy)},
          {"seconds", rounded(run.seconds)},
          {"steps", std::move(steps)}};
}

Json part_json(const Part& part) {
  return {{"need", to_string(part.need)},
          {"state", to_string(part.state)},
          {"version", or_null(part.version)}};
}

Json machine_json(const SelfTest& test) {
  Json gpus = Json::array(), parts = Json::array();
  for (const Gpu& gpu : test.gpus)
    gpus.push_back({{"processor", gpu.processor}, {"product", or_null(gpu.product)}});
  for (const Part& part : test.parts) parts.push_back(part_json(part));
  return {{"architecture", or_null(test.architecture)},
          {"gpus", std::move(gpus)},
          {"parts", std::move(parts)}};
}

Json programs_json(const SelfTest& test) {
  Json programs = Json::array();
  for (const ProgramBuild& build : test.programs)
    programs.push_back({{"program", build.id},
                        {"built", build.complaint.empty()},
                        {"seconds", rounded(build.seconds)},
                        {"problem", or_null(build.complaint)}});
  return programs;
}

Json environment_json(const SelfTest& test) {
  Json commands = Json::array();
  for (const ProgramBuild& build : test.programs)
    commands.push_back({{"of", "build " + build.id}, {"command", build.command}});
  for (const CaseRun& run : test.runs)
    for (const StepRun& step : run.steps)
      commands.push_back({{"of", std::string(run.test->id) + " " +
                                     std::string(to_string(run.mode)) + " " + step.name},
                          {"command", step.command}});
  return {{"folder", test.kept ? Json(test.folder.string()) : Json(nullptr)},
          {"commands", std::move(commands)}};
}

std::string_view verdict_of(const SelfTest& test) {
  if (test.count(TestOutcome::failed) > 0) return "failed";
  return test.count(TestOutcome::held) > 0 ? "holds" : "nothing_ran";
}

}  // namespace

Json self_test_document(const SelfTest& test) {
  Json runs = Json::array();
  for (const CaseRun& run : test.runs) runs.push_back(run_json(run));
  Json obstacle = nullptr;
  if (test.obstacle)
    obstacle = {{"reason", to_string(test.obstacle->reason)},
                {"sentence", test.obstacle->sentence},
                {"remedy", or_null(test.obstacle->remedy)}};
  return {{"schema_version", "1.0.0"},
          {"document", "self_test"},
          {"generator", report::generator_json()},
          {"verdict", verdict_of(test)},
          {"obstacle", std::move(obstacle)},
          {"counts",
           {{"held", test.count(TestOutcome::held)},
            {"failed", test.count(TestOutcome::failed)},
            {"skipped", test.count(TestOutcome::skipped)}}},
          {"seconds", rounded(test.seconds)},
          {"budget_seconds", test.budget_seconds},
          {"cases", std::move(runs)},
          {"programs", programs_json(test)},
          {"machine", machine_json(test)},
          {"environment", environment_json(test)}};
}

}  // namespace perflab::doctor
