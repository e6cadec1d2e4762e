// What travels between the replay workshop and its worker: set-up and proofs as JSON.
#include "base/text/json_names.h"
#include "measure/tolerance_json.h"
#include "optimize/workshop/replay_bench.h"

namespace perflab::optimize {
Json to_json(const BenchSetup& setup) {
  return {{"capture", setup.capture.string()},
          {"tolerance", measure::tolerance_json(setup.compare)},
          {"perturbations", setup.perturbations},
          {"ignore_findings", setup.ignore_findings},
          {"seed", setup.seed},
          {"time_limit_ms", setup.time_limit.count()},
          {"iterations", setup.iterations},
          {"caches", to_string(setup.caches)}};
}

Result<BenchSetup> bench_setup_from_json(const Json& json, std::string_view what) {
  JsonFields in(json, what);
  BenchSetup setup;
  in.read("capture", setup.capture);
  in.read("perturbations", setup.perturbations, 0);
  in.read("ignore_findings", setup.ignore_findings);
  in.read("seed", setup.seed);
  std::int64_t limit_ms = 0;
  in.read("time_limit_ms", limit_ms, 1);
  setup.time_limit = std::chrono::milliseconds(limit_ms);
  in.read("iterations", setup.iterations, 1);
  read_name(in, "caches", setup.caches);
  setup.compare = measure::tolerance_from(in.object("tolerance"));
  PERFLAB_TRY_VOID(in.result());
  return setup;
}

Json correctness_json(const Correctness& correctness) {
  Json checks = Json::array();
  for (const Check& check : correctness.checks)
    checks.push_back({{"name", check.name},
                      {"passed", check.passed},
                      {"detail", check.detail},
                      {"evidence", check.evidence}});
  return {{"checks", std::move(checks)},
          {"reason", or_null(correctness.reason)},
          {"sentence", correctness.sentence}};
}

Result<Correctness> correctness_from_json(const Json& json, std::string_view what) {
  JsonFields in(json, what);
  Correctness out;
  in.read("sentence", out.sentence);
  in.each("checks", [&](JsonFields& one) {
    out.checks.push_back({.name = one.get<std::string>("name"),
                          .passed = one.get<bool>("passed"),
                          .detail = one.get<std::string>("detail"),
                          .evidence = one.get<Json>("evidence")});
  });
  read_name(in, "reason", out.reason);
  PERFLAB_TRY_VOID(in.result());
  return out;
}

}  // namespace perflab::optimize
