// What travels between the replay workshop and its worker: set-up and proofs as JSON.
#include <fmt/format.h>

#include "optimize/workshop/replay_bench.h"

namespace perflab::optimize {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Values of an object that may be missing or of another kind.
class FieldReader {
 public:
  FieldReader(const Json& json, std::string_view what) : json_(json), what_(what) {}

  template <class T>
  Result<T> get(const char* name) const {
    const auto at = json_.is_object() ? json_.find(name) : json_.end();
    if (at == json_.end() || !fits<T>(*at))
      return fail(ErrorCode::bad_input, fmt::format("{}: {} is missing or wrong", what_, name));
    return at->template get<T>();
  }
  template <class T>
  std::optional<T> get_optional(const char* name) const {
    const auto at = json_.is_object() ? json_.find(name) : json_.end();
    if (at == json_.end() || !fits<T>(*at)) return std::nullopt;
    return at->template get<T>();
  }

 private:
  template <class T>
  static bool fits(const Json& value) {
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
    if constexpr (std::is_same_v<T, std::string>) return value.is_string();
    if constexpr (std::is_same_v<T, Json>) return true;
    return value.is_number();
  }
  const Json& json_;
  std::string what_;
};

}  // namespace

Json tolerance_json(const replay::CompareOptions& compare) {
  return {{"type", compare.type ? Json(to_string(*compare.type)) : Json(nullptr)},
          {"max_ulp", or_null(compare.max_ulp)},
          {"max_relative", or_null(compare.max_relative)},
          {"max_absolute", or_null(compare.max_absolute)},
          {"nan_equal", compare.nan_equal}};
}

Json to_json(const BenchSetup& setup) {
  return {{"capture", setup.capture.string()},
          {"tolerance", tolerance_json(setup.compare)},
          {"perturbations", setup.perturbations},
          {"ignore_findings", setup.ignore_findings},
          {"seed", setup.seed},
          {"time_limit_ms", setup.time_limit.count()},
          {"iterations", setup.iterations}};
}

Result<BenchSetup> bench_setup_from_json(const Json& json, std::string_view what) {
  const FieldReader fields(json, what);
  BenchSetup setup;
  PERFLAB_TRY(setup.capture, fields.get<std::string>("capture"));
  PERFLAB_TRY(setup.perturbations, fields.get<int>("perturbations"));
  PERFLAB_TRY(setup.ignore_findings, fields.get<bool>("ignore_findings"));
  PERFLAB_TRY(setup.seed, fields.get<std::uint64_t>("seed"));
  PERFLAB_TRY(const auto limit, fields.get<std::int64_t>("time_limit_ms"));
  setup.time_limit = std::chrono::milliseconds(limit);
  PERFLAB_TRY(setup.iterations, fields.get<std::uint64_t>("iterations"));
  if (setup.perturbations < 0 || limit <= 0 || setup.iterations == 0)
    return fail(ErrorCode::bad_input, fmt::format("{}: a number is out of range", what));
  PERFLAB_TRY(const Json tolerance, fields.get<Json>("tolerance"));
  const FieldReader in(tolerance, what);
  if (const auto type = in.get_optional<std::string>("type")) {
    setup.compare.type = replay::element_type_from(*type);
    if (!setup.compare.type)
      return fail(ErrorCode::bad_input, fmt::format("{}: no element type {}", what, *type));
  }
  setup.compare.max_ulp = in.get_optional<std::uint64_t>("max_ulp");
  setup.compare.max_relative = in.get_optional<double>("max_relative");
  setup.compare.max_absolute = in.get_optional<double>("max_absolute");
  PERFLAB_TRY(setup.compare.nan_equal, in.get<bool>("nan_equal"));
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
          {"reason", correctness.reason ? Json(to_string(*correctness.reason)) : Json(nullptr)},
          {"sentence", correctness.sentence}};
}

Result<Correctness> correctness_from_json(const Json& json, std::string_view what) {
  const FieldReader fields(json, what);
  Correctness out;
  PERFLAB_TRY(out.sentence, fields.get<std::string>("sentence"));
  PERFLAB_TRY(const Json checks, fields.get<Json>("checks"));
  for (const Json& one : checks) {
    const FieldReader in(one, what);
    Check check;
    PERFLAB_TRY(check.name, in.get<std::string>("name"));
    PERFLAB_TRY(check.passed, in.get<bool>("passed"));
    PERFLAB_TRY(check.detail, in.get<std::string>("detail"));
    PERFLAB_TRY(check.evidence, in.get<Json>("evidence"));
    out.checks.push_back(std::move(check));
  }
  if (const auto name = fields.get_optional<std::string>("reason")) {
    out.reason = reason_from(*name);
    if (!out.reason)
      return fail(ErrorCode::bad_input, fmt::format("{}: no reason {}", what, *name));
  }
  return out;
}

}  // namespace perflab::optimize
