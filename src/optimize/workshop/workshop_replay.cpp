// Candidates as code objects: built here, proven and timed by the worker that holds the device. A
// worker that dies of the original on invented memory asks for less of that; one that dies of the
// candidate has answered.
#include "optimize/workshop/workshop_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "code/cubin/cubin.h"
#include "code/elf/target_id.h"
#include "measure/sensed_json.h"
#include "measure/tolerance_json.h"
#include "optimize/workshop/workshop_build.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCodeObjectName = "kernel.hsaco";
constexpr const char* kCubinName = "kernel.cubin";
constexpr const char* kShownAlone = "`rocm-perf replay verify` on this capture shows it alone";
constexpr std::array<std::string_view, 3> kBuildNames{"source", "build_dir", "code_object"};

/// How far inputs may be invented before the original itself fails; learned as it does.
class InputScope {
 public:
  explicit InputScope(bool wanted) {
    if (wanted) scope_ = replay::PerturbScope::guessed;
  }
  [[nodiscard]] bool any() const { return scope_.has_value(); }
  void try_milder(const std::string& because) {
    using replay::PerturbScope;
    if (!scope_ || *scope_ == PerturbScope::permuted) {
      scope_.reset();
      none_because_ = fmt::format(
          "the original itself does not end well on inputs that were not captured ({})", because);
      return;
    }
    scope_ = *scope_ == PerturbScope::guessed ? PerturbScope::declared : PerturbScope::permuted;
  }
  /// What a request says of inputs; `seed`: of those that are timed on.
  [[nodiscard]] Json request(std::uint64_t seed) const {
    return {{"scope", or_null(scope_)}, {"no_scope_because", none_because_}, {"seed", seed}};
  }

 private:
  std::optional<replay::PerturbScope> scope_;
  std::string none_because_;
};

/// Times of the worker's dispatches.
class BenchBackend final : public measure::Backend {
 public:
  /// `scope` has to outlive it.
  BenchBackend(measure::AskBench ask, InputScope& scope) : ask_(std::move(ask)), scope_(scope) {}
  [[nodiscard]] std::string name() const override { return "replay"; }
  [[nodiscard]] std::string unit() const override { return "ns"; }

  /// From now on, dispatches are timed on the inputs of this seed.
  void use_inputs(std::uint64_t seed) { seed_ = seed; }
  void use_captured_input() { seed_.reset(); }

  Result<measure::Measured> measure(const measure::Variant& variant) override {
    // Each turn but the last makes the scope milder, of which there are three.
    while (true) {
      PERFLAB_TRY(const measure::BenchAnswer answer, ask_(request_for(variant)));
      if (answer.answer && answer.answer->contains("perturbation_failed") && scope_.any()) {
        scope_.try_milder(answer.answer->value("perturbation_failed", ""));
        continue;
      }
      if (!answer.answer && answer.step == bench_step::kOriginalPerturbed && scope_.any()) {
        scope_.try_milder(answer.ended);
        continue;
      }
      return measured_of(answer);
    }
  }

 private:
  [[nodiscard]] Json request_for(const measure::Variant& variant) const {
    const std::string object =
        variant.code_object.empty() ? "" : fs::absolute(variant.code_object).string();
    Json what{{"name", variant.name}, {"code_object", object}};
    if (seed_) what["inputs"] = scope_.request(*seed_);
    return {{"measure", std::move(what)}};
  }

  static Result<measure::Measured> measured_of(const measure::BenchAnswer& answer) {
    measure::Measured measured;
    if (!answer.answer) {
      if (answer.step.empty())
        return fail(ErrorCode::target_failed,
                    fmt::format("the process that replays the capture {} before it ran anything",
                                answer.ended));
      if (answer.step == bench_step::kOracle || answer.step == bench_step::kOriginalPerturbed)
        return fail(ErrorCode::target_failed,
                    fmt::format("the process that replays the original {}", answer.ended),
                    kShownAlone);
      measured.failure = fmt::format("the process that ran it {}", answer.ended);
      return measured;
    }
    measured.samples = answer.answer->value("samples", std::vector<double>{});
    measured.failure = answer.answer->value("failure", "");
    if (measured.samples.empty() && measured.failure.empty())
      return fail(ErrorCode::internal, "the replay worker gave neither times nor a failure");
    if (const auto sensed = answer.answer->find("sensed"); sensed != answer.answer->end()) {
      PERFLAB_TRY(measured.sensed,
                  measure::sensed_from_json(*sensed, "the replay worker's answer"));
    }
    return measured;
  }

  measure::AskBench ask_;
  InputScope& scope_;
  std::optional<std::uint64_t> seed_;  ///< missing: the captured input
};

/// The proof of a candidate that took the process with it in the last of these checks.
Correctness died_in(const std::string& ended, std::initializer_list<const char*> checks) {
  Correctness out;
  out.reason = Reason::faulted;
  out.sentence = fmt::format("the process that ran it {}", ended);
  for (const char* const name : checks)
    out.checks.push_back({.name = name,
                          .passed = true,
                          .detail = "passed; its figures went with the process",
                          .evidence = Json::object()});
  out.checks.back().passed = false;
  out.checks.back().detail = out.sentence;
  return out;
}

class ReplayWorkshop final : public Workshop {
 public:
  ReplayWorkshop(const capture::Capture& capture, ReplayWorkshopOptions options,
                 code::TargetId target, std::optional<code::Compiler> compiler,
                 std::optional<tune::CommandTemplate> command, measure::AskBench ask)
      : description_(capture.description()),
        capture_hash_(capture.hash()),
        options_(std::move(options)),
        target_(std::move(target)),
        compiler_(std::move(compiler)),
        command_(std::move(command)),
        ask_(ask),
        scope_(options_.perturbations > 0),
        backend_(std::move(ask), scope_) {}

  [[nodiscard]] Json identity() const override;
  Result<BuildOutcome> build(const fs::path& source, const fs::path& folder) override;
  Result<ObjectGuards> check_object(const Built& original, const Built& candidate) override;
  Result<Correctness> prove(const Built& original, const Built& candidate) override;
  Result<void> prepare_timing(const Built& original, const Built& before,
                              const Built& after) override;
  bool time_as_captured() override {
    if (options_.perturbations == 0) return false;
    backend_.use_captured_input();
    return true;
  }
  [[nodiscard]] measure::Backend& backend() override { return backend_; }
  [[nodiscard]] std::optional<std::int64_t> workgroup_size() const override {
    return analyze::workgroup_size(description_.dispatch.workgroup);
  }

 private:
  [[nodiscard]] bool is_cuda() const {
    return description_.machine.platform == capture::Platform::cuda;
  }
  Result<BuildOutcome> compile(const fs::path& source, const fs::path& object) const;
  Result<BuildOutcome> run_command(const fs::path& source, const fs::path& folder,
                                   const fs::path& object) const;
  [[nodiscard]] Json proof_request(const Built& original, const Built& candidate,
                                   std::uint64_t seed) const;
  [[nodiscard]] Result<std::uint64_t> seed_of(const Built& candidate) const;
  /// What the end of the worker means. Missing: ask again.
  Result<std::optional<Correctness>> judge_end(const measure::BenchAnswer& answer,
                                               bool is_original);

  capture::Description description_;
  std::string capture_hash_;
  ReplayWorkshopOptions options_;
  code::TargetId target_;
  std::optional<code::Compiler> compiler_;
  std::optional<tune::CommandTemplate> command_;
  measure::AskBench ask_;
  // How far memory may be invented before the original itself fails; learned once.
  bool poison_ = true;
  InputScope scope_;
  BenchBackend backend_;
};

Json ReplayWorkshop::identity() const {
  return {{"kind", "replay"},
          {"capture", capture_hash_},
          {"kernel", description_.dispatch.kernel},
          {"code_object", description_.code_object_hash},
          {"target", code::to_string(target_)},
          {"compiler", compiler_ ? Json(compiler_->version) : Json(nullptr)},
          {"compile_arguments", options_.compile_arguments},
          {"build", command_ ? Json(command_->text()) : Json(nullptr)},
          {"tolerance", measure::tolerance_json(options_.compare)},
          {"perturbations", options_.perturbations},
          {"timed_inputs", replay::kTimedInputs},
          {"seed", options_.seed},
          {"time_limit_ms", options_.time_limit.count()},
          {"iterations", options_.iterations},
          {"caches", to_string(options_.caches)}};
}

Result<BuildOutcome> ReplayWorkshop::build(const fs::path& source, const fs::path& folder) {
  PERFLAB_TRY_VOID(make_directories(folder));
  const fs::path object = folder / (is_cuda() ? kCubinName : kCodeObjectName);
  PERFLAB_TRY(BuildOutcome outcome,
              compiler_ ? compile(source, object) : run_command(source, folder, object));
  if (outcome.built) {
    outcome.built->source = source;
    outcome.built->folder = folder;
    outcome.built->code_object = object;
    outcome.built->variant = {
        .name = source.stem().string(), .code_object = object, .command = {}, .environment = {}};
  }
  return outcome;
}

Result<BuildOutcome> ReplayWorkshop::compile(const fs::path& source, const fs::path& object) const {
  code::CompileRequest request;
  request.source = source;
  request.arch = code::to_string(target_);
  request.arguments = options_.compile_arguments;
  request.sandbox = options_.sandbox;
  if (!options_.source.empty())
    request.arguments.push_back("-iquote" + fs::absolute(options_.source).parent_path().string());
  BuildOutcome outcome;
  const auto first = code::compile(*compiler_, request);
  if (!first) {
    if (first.error().code != ErrorCode::bad_input) return std::unexpected(first.error());
    outcome.compiler_text = first.error().message + "\n";
    for (const std::string& note : first.error().notes) outcome.compiler_text += note + "\n";
    outcome.compiler_text.resize(std::min(outcome.compiler_text.size(), kMostCompilerText));
    return outcome;
  }
  PERFLAB_TRY(const code::Compiled second, code::compile(*compiler_, request));
  PERFLAB_TRY_VOID(write_file_atomically(object, first->code_object));
  outcome.compiler_text = first->messages.substr(0, kMostCompilerText);
  Built& built = outcome.built.emplace();
  built.command = first->command;
  built.hash = content_hash_text(first->code_object);
  built.files = {{kCodeObjectName, built.hash}};
  built.reproducible = first->code_object == second.code_object;
  return outcome;
}

Result<BuildOutcome> ReplayWorkshop::run_command(const fs::path& source, const fs::path& folder,
                                                 const fs::path& object) const {
  const std::array<tune::Binding, 3> values{
      tune::Binding{"source", fs::absolute(source).string()},
      tune::Binding{"build_dir", fs::absolute(folder).string()},
      tune::Binding{"code_object", fs::absolute(object).string()}};
  BuildRequest request;
  PERFLAB_TRY(request.command, command_->fill(values));
  request.folder = folder;
  request.time_limit = options_.time_limit;
  request.kept = source;
  request.sandbox = options_.sandbox;
  request.environment = include_environment(options_.source.empty() ? source : options_.source);
  PERFLAB_TRY(BuildResult built, build_twice(request));
  BuildOutcome outcome;
  outcome.compiler_text = built.text;
  if (!built.succeeded) return outcome;
  std::error_code ignored;
  if (!fs::is_regular_file(object, ignored)) {
    outcome.compiler_text += "the build ended well, but wrote no {code_object}\n";
    return outcome;
  }
  Built& found = outcome.built.emplace();
  found.command = request.command;
  found.hash = built.hash;
  found.files = std::move(built.files);
  found.reproducible = built.reproducible;
  return outcome;
}

Result<ObjectGuards> ReplayWorkshop::check_object(const Built& original, const Built& candidate) {
  PERFLAB_TRY(const std::string before, read_file(original.code_object));
  PERFLAB_TRY(const std::string after, read_file(candidate.code_object));
  const capture::Dispatch& dispatch = description_.dispatch;
  const std::int64_t static_lds =
      std::min(dispatch.group_segment_bytes, dispatch.static_group_segment_bytes);
  return optimize::check_object(before, after,
                                {.kernel = dispatch.kernel,
                                 .workgroup_size = workgroup_size(),
                                 .dynamic_lds = dispatch.group_segment_bytes - static_lds,
                                 .architecture = code::cubin_architecture(before)});
}

Result<std::uint64_t> ReplayWorkshop::seed_of(const Built& candidate) const {
  PERFLAB_TRY(const std::string bytes, read_file(candidate.code_object));
  return seed_of_timed_inputs(options_.seed, bytes);
}

Json ReplayWorkshop::proof_request(const Built& original, const Built& candidate,
                                   std::uint64_t seed) const {
  return {{"prove",
           {{"original", fs::absolute(original.code_object).string()},
            {"candidate", fs::absolute(candidate.code_object).string()},
            {"poison", to_string(poison_ ? replay::Poison::written : replay::Poison::none)},
            {"inputs", scope_.request(seed)}}}};
}

Result<std::optional<Correctness>> ReplayWorkshop::judge_end(const measure::BenchAnswer& answer,
                                                             bool is_original) {
  if (!is_original && answer.step == bench_step::kCandidate)
    return std::optional(died_in(answer.ended, {"golden output"}));
  // It had come past the others then.
  if (!is_original && answer.step == bench_step::kCandidatePerturbed)
    return std::optional(
        died_in(answer.ended, {"golden output", "poisoned output", "perturbed inputs"}));
  std::optional<Correctness> again;
  if (answer.step == bench_step::kOriginalPerturbed ||
      answer.step == bench_step::kCandidatePerturbed) {
    scope_.try_milder(answer.ended);
    return again;
  }
  if (!answer.step.empty() && poison_) {
    poison_ = false;
    return again;
  }
  return fail(ErrorCode::target_failed,
              fmt::format("the process that replays the original {}", answer.ended), kShownAlone);
}

Result<Correctness> ReplayWorkshop::prove(const Built& original, const Built& candidate) {
  const bool is_original = original.hash == candidate.hash;
  PERFLAB_TRY(const std::uint64_t seed, seed_of(candidate));
  // Each turn takes something away that may be asked for: poison, three scopes.
  while (true) {
    PERFLAB_TRY(const measure::BenchAnswer answer, ask_(proof_request(original, candidate, seed)));
    if (!answer.answer) {
      PERFLAB_TRY(std::optional<Correctness> judged, judge_end(answer, is_original));
      if (judged) return std::move(*judged);
    } else if (const auto proof = answer.answer->find("correctness");
               proof != answer.answer->end()) {
      return correctness_from_json(*proof, "the replay worker's answer");
    } else if (answer.answer->contains("poison_failed") && poison_) {
      poison_ = false;
    } else if (answer.answer->contains("perturbation_failed") && scope_.any()) {
      scope_.try_milder(answer.answer->value("perturbation_failed", ""));
    } else {
      return fail(ErrorCode::internal, "the replay worker gave an answer that is none");
    }
  }
}

/// The oracle is the captured code object, which every request finds. `before` was built before
/// `after` was proposed: it cannot know the inputs either.
Result<void> ReplayWorkshop::prepare_timing(const Built& /*original*/, const Built& /*before*/,
                                            const Built& after) {
  PERFLAB_TRY(const std::uint64_t seed, seed_of(after));
  backend_.use_inputs(seed);
  return {};
}

}  // namespace

BenchSetup setup_of(const ReplayWorkshopOptions& options) {
  return {.capture = options.capture,
          .compare = options.compare,
          .perturbations = options.perturbations,
          .ignore_findings = options.ignore_findings,
          .seed = options.seed,
          .time_limit = options.time_limit,
          .iterations = options.iterations,
          .caches = options.caches};
}

namespace {

/// The GPU that candidates are built for. Error (usage): it is NVIDIA's, and nothing says how.
Result<code::TargetId> target_of(const capture::Capture& capture,
                                 const ReplayWorkshopOptions& options) {
  const capture::Machine& machine = capture.description().machine;
  if (machine.platform == capture::Platform::cuda) {
    if (options.build.empty())
      return fail(ErrorCode::usage,
                  "a capture of a CUDA program needs --build: there is no built-in compiler for "
                  "NVIDIA's GPUs",
                  fmt::format("--build 'nvcc -cubin -arch={} {{source}} -o {{code_object}}', with "
                              "the options that the application is built with",
                              machine.isa));
    return code::TargetId{.processor = machine.isa};
  }
  const auto target = code::parse_target_id(machine.isa);
  if (!target)
    return fail(ErrorCode::bad_input, fmt::format("{}: the capture's ISA is {}, which names no GPU",
                                                  options.capture.string(), machine.isa));
  return *target;
}

}  // namespace

Result<std::unique_ptr<Workshop>> make_replay_workshop(const capture::Capture& capture,
                                                       const ReplayWorkshopOptions& options,
                                                       std::optional<code::Compiler> compiler,
                                                       measure::AskBench ask) {
  PERFLAB_TRY(code::TargetId target, target_of(capture, options));
  std::optional<tune::CommandTemplate> command;
  if (!options.build.empty()) {
    const std::vector<std::string> names(kBuildNames.begin(), kBuildNames.end());
    PERFLAB_TRY(command, parse_command("--build", options.build, options.source, names));
    if (!uses(*command, "code_object"))
      return fail(ErrorCode::usage,
                  "--build for a capture has to say with {code_object} where the code object goes");
    compiler.reset();
  }
  return std::make_unique<ReplayWorkshop>(capture, options, std::move(target), std::move(compiler),
                                          std::move(command), std::move(ask));
}

Result<std::unique_ptr<Workshop>> open_replay_workshop(const ReplayWorkshopOptions& options) {
  PERFLAB_TRY(const capture::Capture capture, capture::Capture::open(options.capture));
  std::optional<code::Compiler> compiler;
  if (options.build.empty() && capture.description().machine.platform == capture::Platform::hip) {
    const auto target = code::parse_target_id(capture.description().machine.isa);
    PERFLAB_TRY(compiler, code::find_compiler(target ? target->processor : ""));
  }
  ReplayWorkshopOptions absolute = options;
  absolute.capture = fs::absolute(options.capture);
  const auto worker =
      std::make_shared<measure::ReplayWorker>(measure::own_worker_command("optimize-worker"),
                                              to_json(setup_of(absolute)), absolute.sandbox);
  return make_replay_workshop(capture, absolute, std::move(compiler),
                              [worker](const Json& request) { return worker->ask(request); });
}

}  // namespace perflab::optimize
