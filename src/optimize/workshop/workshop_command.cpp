// Candidates that are built, proven and timed by the user's own commands. What the original
// computes is kept in memory and its files are removed after every run, also after the timed ones:
// no program finds the expected output on the disk.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/command_line.h"
#include "base/text/pattern.h"
#include "measure/backend_command.h"
#include "measure/backend_rocprofv3.h"
#include "optimize/workshop/checked_backend.h"
#include "optimize/workshop/command_golden.h"
#include "optimize/workshop/command_objects.h"
#include "optimize/workshop/command_outputs.h"
#include "optimize/workshop/workshop.h"
#include "optimize/workshop/workshop_build.h"
#include "tune/evaluate/metric.h"
#include "tune/evaluate/process_step.h"
#include "tune/space/command_template.h"

namespace perflab::optimize {
namespace {

namespace fs = std::filesystem;
using tune::CommandTemplate;

/// The commands as templates.
struct Templates {
  std::optional<CommandTemplate> build, check;
  std::optional<CommandTemplate> run;  ///< always there
  std::vector<CommandTemplate> outputs;
};

fs::path absolute_path(const fs::path& path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  return (error ? path : absolute).lexically_normal();
}

Result<std::vector<std::string>> filled(const CommandTemplate& command, const fs::path& source,
                                        const fs::path& folder, std::uint64_t seed) {
  const std::vector<tune::Binding> values{{"source", absolute_path(source).string()},
                                          {"build_dir", absolute_path(folder).string()},
                                          {"seed", fmt::format("{}", seed)}};
  return command.fill(values);
}

Result<std::vector<OutputFile>> fill_outputs(const Templates& templates,
                                             const std::vector<std::string>& names,
                                             const Built& built, std::uint64_t seed) {
  std::vector<OutputFile> outputs;
  for (std::size_t i = 0; i < templates.outputs.size(); ++i) {
    PERFLAB_TRY(std::vector<std::string> path,
                filled(templates.outputs[i], built.source, built.folder, seed));
    outputs.push_back({.name = names[i], .path = std::move(path.front())});
  }
  return outputs;
}

class CommandWorkshop final : public Workshop {
 public:
  static Result<std::unique_ptr<Workshop>> open(const CommandWorkshopOptions& options);

  [[nodiscard]] Json identity() const override;
  Result<BuildOutcome> build(const fs::path& source, const fs::path& folder) override;
  Result<ObjectGuards> check_object(const Built& original, const Built& candidate) override;
  Result<Correctness> prove(const Built& original, const Built& candidate) override;
  Result<void> prepare_timing(const Built& original, const Built& before,
                              const Built& after) override;
  [[nodiscard]] measure::Backend& backend() override { return *backend_; }

  CommandWorkshop(const CommandWorkshop&) = delete;
  CommandWorkshop& operator=(const CommandWorkshop&) = delete;
  CommandWorkshop(CommandWorkshop&&) = delete;
  CommandWorkshop& operator=(CommandWorkshop&&) = delete;
  ~CommandWorkshop() override = default;

 private:
  explicit CommandWorkshop(const CommandWorkshopOptions& options) : options_(options) {
    options_.perturbations = std::max(options_.perturbations, 0);
  }

  Result<void> read_templates();
  [[nodiscard]] Result<void> check_templates() const;
  Result<void> open_backend();
  [[nodiscard]] Result<void> check_output_places(const std::vector<OutputFile>& outputs) const;

  [[nodiscard]] bool seeded() const { return uses(*templates_.run, "seed"); }
  [[nodiscard]] std::uint64_t seed_number(int number) const {
    return options_.seed + static_cast<std::uint64_t>(number);
  }
  [[nodiscard]] Result<void> leave_outputs_out(Built& built) const;
  /// The last number of a seed.
  [[nodiscard]] int last_number() const { return seeded() ? options_.perturbations : 0; }
  [[nodiscard]] const Pattern* metric_pattern() const { return metric_ ? &*metric_ : nullptr; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> run_environment() const {
    // A run that builds by itself needs the includes as a build does.
    return templates_.build ? std::vector<std::pair<std::string, std::string>>{}
                            : include_environment(options_.source);
  }
  [[nodiscard]] Confinement confined_to(const Built& built) const {
    return {.sandbox = options_.sandbox, .writable = {built.folder}};
  }
  [[nodiscard]] OutputRule rule() const {
    return {.type = options_.output_type, .compare = options_.compare};
  }
  [[nodiscard]] Result<CommandRun> run_of(const Built& built, std::uint64_t seed) const;
  /// Empty: the check passes, or there is none for this run.
  [[nodiscard]] Result<std::string> run_check(const Built& built, int number) const;

  Result<const Golden*> golden_of(const Built& original, int number);
  Result<Golden> run_original(const Built& original, int number);
  Result<void> prove_number(const Built& original, const Built& candidate, int number,
                            Correctness& out);
  void compare_with(const Golden& golden, const std::vector<OutputFile>& outputs,
                    const RunEnd& found, int number, Correctness& out) const;
  Result<void> note_timed_outputs(const Built& original, Correctness& out);

  CommandWorkshopOptions options_;
  Templates templates_;
  std::optional<Pattern> metric_;
  std::string build_program_hash_;
  std::unique_ptr<CheckedBackend> backend_;
  /// By folder and hash of the original, and number of the seed. References into it stay valid.
  std::map<std::tuple<fs::path, std::string, int>, Golden> golden_;
};

std::unexpected<Error> usage_error(std::string message, std::string remedy) {
  return fail(ErrorCode::usage, std::move(message), std::move(remedy));
}

Result<void> CommandWorkshop::read_templates() {
  const std::vector<std::string> of_build{"source", "build_dir"};
  const std::vector<std::string> of_run{"source", "build_dir", "seed"};
  const auto read = [&](std::string_view option, const std::string& text,
                        const std::vector<std::string>& names) {
    return parse_command(option, text, options_.source, names);
  };
  if (!options_.build.empty()) {
    PERFLAB_TRY(templates_.build, read("--build", options_.build, of_build));
  }
  PERFLAB_TRY(templates_.run, read("--run", options_.run, of_run));
  if (!options_.check.empty()) {
    PERFLAB_TRY(templates_.check, read("--check", options_.check, of_run));
  }
  for (const std::string& output : options_.outputs) {
    // One word, whatever blanks are in it.
    PERFLAB_TRY(CommandTemplate one, read("--output", join_command_line({output}), of_run));
    templates_.outputs.push_back(std::move(one));
  }
  if (!options_.metric_pattern.empty()) {
    PERFLAB_TRY(metric_, tune::compile_metric_pattern(options_.metric_pattern));
  }
  return check_templates();
}

/// Commands that would run or compare the wrong thing.
Result<void> CommandWorkshop::check_templates() const {
  const CommandTemplate& run = *templates_.run;
  const std::string file = options_.source.string();
  if (templates_.build) {
    if (!uses(*templates_.build, "source"))
      return usage_error(
          fmt::format("--build names neither {{source}} nor {}: candidates would not be built",
                      file),
          "write {source} where the compiler is given the source");
    if (!uses(*templates_.build, "build_dir"))
      return usage_error(
          "--build has no {build_dir}: original and candidates would overwrite each other's "
          "results",
          "let it write there: c++ -O3 {source} -o {build_dir}/app");
    if (!uses(run, "build_dir"))
      return usage_error("--run has no {build_dir}: it would not run what --build made",
                         "start what was built: {build_dir}/app");
  } else if (!uses(run, "source")) {
    return usage_error(
        fmt::format("there is no --build, and --run names neither {{source}} nor {}: candidates "
                    "would never run",
                    file),
        "give --build, or a --run that compiles {source} by itself");
  }
  for (std::size_t i = 0; options_.sandbox && i < templates_.outputs.size(); ++i)
    if (!uses(templates_.outputs[i], "build_dir"))
      return usage_error(
          fmt::format("--output {}: in the sandbox runs write below {{build_dir}} only",
                      options_.outputs[i]),
          "let them write there: --output '{build_dir}/out.bin'; or --no-sandbox");
  if (options_.compare.has_tolerance() && (!options_.output_type || options_.outputs.empty()))
    return usage_error("a tolerance needs files of a known type to be compared",
                       "give --output FILE and --type f32 (or another type)");
  return {};
}

/// A pattern that finds the instances of a function among kernel names, demangled or not, but no
/// longer name that it is a part of.
std::string pattern_of(std::string_view function) {
  return fmt::format("(?:^|[^A-Za-z0-9_:]){}(?:$|[^A-Za-z0-9_:])", quoted_pattern(function));
}

Result<void> CommandWorkshop::open_backend() {
  std::shared_ptr<RunPrints> prints;
  std::unique_ptr<measure::Backend> inner;
  if (options_.rocprofv3) {
    // Without a name it would be the kernel with the most time: another one for some candidate.
    if (options_.kernel_pattern.empty() && !options_.kernel.empty())
      options_.kernel_pattern = pattern_of(options_.kernel);
    PERFLAB_TRY(inner, measure::make_rocprofv3_backend({.kernel_pattern = options_.kernel_pattern,
                                                        .time_limit = options_.time_limit,
                                                        .scratch = {}}));
  } else {
    prints = std::make_shared<RunPrints>(metric_pattern(), templates_.outputs.empty());
    PERFLAB_TRY(inner, measure::make_command_backend(
                           {.metric_pattern = options_.metric_pattern,
                            .metric_unit = options_.metric_unit,
                            .larger_is_better = options_.larger_is_better,
                            .time_limit = options_.time_limit,
                            .on_stream = [prints](int stream, std::string_view bytes) {
                              prints->feed(stream, bytes);
                            }}));
  }
  // Under rocprofv3 what is printed is the profiler's, too.
  backend_ = std::make_unique<CheckedBackend>(std::move(inner), std::move(prints), rule());
  return {};
}

Result<std::unique_ptr<Workshop>> CommandWorkshop::open(const CommandWorkshopOptions& options) {
  std::unique_ptr<CommandWorkshop> workshop(new CommandWorkshop(options));
  PERFLAB_TRY_VOID(workshop->read_templates());
  if (workshop->templates_.build) {
    const std::string program = workshop->templates_.build->fixed_program();
    const auto found = find_program(program);
    if (!program.empty() && !found)
      return fail(ErrorCode::missing_tool, fmt::format("--build: {}: no such program", program),
                  "install it, or give another --build");
    if (found) {
      const Result<std::string> bytes = read_file(*found);
      if (bytes) workshop->build_program_hash_ = content_hash_text(*bytes);
    }
  }
  PERFLAB_TRY_VOID(workshop->open_backend());
  return workshop;
}

Json CommandWorkshop::identity() const {
  const auto text = [](const std::optional<CommandTemplate>& command) {
    return command ? Json(command->text()) : Json(nullptr);
  };
  Json json;
  json["kind"] = "command";
  json["kernel"] = options_.kernel;
  json["build"] = text(templates_.build);
  json["build_program_hash"] = or_null(build_program_hash_);
  json["run"] = text(templates_.run);
  json["check"] = text(templates_.check);
  json["outputs"] = options_.outputs;
  json["output_type"] = or_null(options_.output_type);
  json["tolerance"] = {{"max_ulp", or_null(options_.compare.max_ulp)},
                       {"max_relative", or_null(options_.compare.max_relative)},
                       {"max_absolute", or_null(options_.compare.max_absolute)},
                       {"nan_equal", options_.compare.nan_equal}};
  json["seeds"] = Json::array();
  for (int i = 0; i <= last_number(); ++i) json["seeds"].push_back(seed_number(i));
  json["objective"] = {{"backend", backend_->name()},
                       {"unit", backend_->unit()},
                       {"larger_is_better", backend_->larger_is_better()},
                       {"metric_pattern", options_.metric_pattern},
                       {"kernel_pattern", options_.kernel_pattern}};
  json["time_limit_ms"] = options_.time_limit.count();
  return json;
}

/// A build may make an output, too, by running the program once. Runs remove it: it is none of the
/// files that stay.
Result<void> CommandWorkshop::leave_outputs_out(Built& built) const {
  for (int number = 0; number <= last_number(); ++number) {
    PERFLAB_TRY(const std::vector<OutputFile> outputs,
                fill_outputs(templates_, options_.outputs, built, seed_number(number)));
    for (const OutputFile& output : outputs)
      std::erase_if(built.files, [&](const auto& file) {
        return output.path.lexically_normal() == (built.folder / file.first).lexically_normal();
      });
  }
  return {};
}

Result<BuildOutcome> CommandWorkshop::build(const fs::path& source, const fs::path& folder) {
  BuildOutcome outcome;
  Built built;
  built.source = absolute_path(source);
  built.folder = absolute_path(folder);
  const fs::path inside = absolute_path(options_.source).lexically_relative(built.folder);
  if (!inside.empty() && *inside.begin() != "..")
    return usage_error(fmt::format("{}: builds are made in this folder, and it holds {}",
                                   folder.string(), options_.source.string()),
                       "choose another --out");
  if (templates_.build) {
    PERFLAB_TRY(built.command,
                filled(*templates_.build, built.source, built.folder, options_.seed));
    PERFLAB_TRY(BuildResult result,
                build_twice({.command = built.command,
                             .folder = built.folder,
                             .kept = built.source,
                             .environment = include_environment(options_.source),
                             .time_limit = options_.time_limit,
                             .sandbox = options_.sandbox}));
    outcome.compiler_text = std::move(result.text);
    if (!result.succeeded) return outcome;
    built.hash = std::move(result.hash);
    built.files = std::move(result.files);
    PERFLAB_TRY_VOID(leave_outputs_out(built));
    built.reproducible = result.reproducible;
    PERFLAB_TRY(const std::optional<fs::path> device_code, file_with_device_code(built.folder));
    built.code_object = device_code.value_or(fs::path());
  } else {
    // The run builds by itself: what counts is the source.
    PERFLAB_TRY_VOID(make_directories(built.folder));
    PERFLAB_TRY(const std::string text, read_file(built.source));
    built.hash = content_hash_text(text);
    built.reproducible = true;
  }
  built.variant.name = built.source.filename().string();
  built.variant.environment = run_environment();
  built.variant.confinement = confined_to(built);
  PERFLAB_TRY(built.variant.command,
              filled(*templates_.run, built.source, built.folder, options_.seed));
  outcome.built = std::move(built);
  return outcome;
}

Result<ObjectGuards> CommandWorkshop::check_object(const Built& original, const Built& candidate) {
  ObjectGuards guards;
  if (original.code_object.empty()) return guards;
  if (options_.kernel.empty()) {
    guards.results.push_back({.name = "code_objects",
                              .passed = true,
                              .reason = {},
                              .detail = "not checked: the kernel's name is not known"});
    return guards;
  }
  if (!candidate.code_object.empty())
    return check_device_files(original.code_object, candidate.code_object, options_.kernel);
  guards.results.push_back(
      {.name = "code_objects",
       .passed = false,
       .reason = Reason::other_code_changed,
       .detail = "the build left no device code, and that of the original does"});
  return guards;
}

Result<CommandRun> CommandWorkshop::run_of(const Built& built, std::uint64_t seed) const {
  CommandRun run;
  PERFLAB_TRY(run.command, filled(*templates_.run, built.source, built.folder, seed));
  PERFLAB_TRY(run.outputs, fill_outputs(templates_, options_.outputs, built, seed));
  run.environment = run_environment();
  run.metric = metric_pattern();
  run.time_limit = options_.time_limit;
  run.confinement = confined_to(built);
  return run;
}

Result<std::string> CommandWorkshop::run_check(const Built& built, int number) const {
  if (!templates_.check || (number > 0 && !uses(*templates_.check, "seed"))) return std::string();
  PERFLAB_TRY(const std::vector<std::string> command,
              filled(*templates_.check, built.source, built.folder, seed_number(number)));
  PERFLAB_TRY(
      const tune::StepEnd step,
      tune::run_step(command,
                     {.environment = {},
                      .limit_seconds = std::chrono::duration<double>(options_.time_limit).count(),
                      .on_stream = {},
                      .confinement = confined_to(built)}));
  return step.succeeded ? std::string() : "the check " + step.detail;
}

/// Outputs outside of {build_dir} are removed after each of our runs: one that stands there before
/// is the user's, and would be lost.
Result<void> CommandWorkshop::check_output_places(const std::vector<OutputFile>& outputs) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::error_code ignored;
    if (!uses(templates_.outputs[i], "build_dir") && fs::exists(outputs[i].path, ignored))
      return usage_error(fmt::format("{} exists already, and outputs are removed before every run",
                                     outputs[i].path.string()),
                         "remove it, or let the run write into {build_dir}");
  }
  return {};
}

Result<Golden> CommandWorkshop::run_original(const Built& original, int number) {
  const std::uint64_t seed = seed_number(number);
  PERFLAB_TRY(const CommandRun run, run_of(original, seed));
  PERFLAB_TRY_VOID(check_output_places(run.outputs));
  const OutputsRemoved afterwards(run.outputs);
  PERFLAB_TRY(Golden golden, make_golden(run, rule(), seed, templates_.check.has_value()));
  PERFLAB_TRY(const std::string refused, run_check(original, number));
  if (!refused.empty())
    return fail(ErrorCode::refused,
                fmt::format("the original does not pass --check with seed {}: {}", seed, refused),
                "try the check by hand after a run of the original");
  return golden;
}

Result<const Golden*> CommandWorkshop::golden_of(const Built& original, int number) {
  const std::tuple key{original.folder, original.hash, number};
  auto found = golden_.find(key);
  if (found == golden_.end()) {
    PERFLAB_TRY(Golden golden, run_original(original, number));
    found = golden_.emplace(key, std::move(golden)).first;
  }
  return &found->second;
}

std::string check_name(std::string_view name, int number) {
  return number == 0 ? std::string(name) : fmt::format("perturbed input {}", number);
}

/// Adds a check that failed, which ends the proof.
void refuse_run(Correctness& out, std::string name, Reason reason, std::string sentence,
                Json evidence = Json::object()) {
  out.checks.push_back({.name = std::move(name),
                        .passed = false,
                        .detail = sentence,
                        .evidence = std::move(evidence)});
  out.reason = reason;
  out.sentence = std::move(sentence);
}

void pass_run(Correctness& out, std::string name, std::string sentence,
              Json evidence = Json::object()) {
  out.checks.push_back({.name = std::move(name),
                        .passed = true,
                        .detail = std::move(sentence),
                        .evidence = std::move(evidence)});
}

void CommandWorkshop::compare_with(const Golden& golden, const std::vector<OutputFile>& outputs,
                                   const RunEnd& found, int number, Correctness& out) const {
  OutputComparison compared = compare_with_golden(outputs, golden, found, rule());
  compared.evidence["seed"] = seed_number(number);
  if (!compared.equal)
    return refuse_run(out, check_name("output", number),
                      number == 0 ? Reason::wrong_output : Reason::wrong_on_perturbed_input,
                      std::move(compared.sentence), std::move(compared.evidence));
  pass_run(out, check_name("output", number), std::move(compared.sentence),
           std::move(compared.evidence));
}

/// One seed: the run, its outputs, the check.
Result<void> CommandWorkshop::prove_number(const Built& original, const Built& candidate,
                                           int number, Correctness& out) {
  PERFLAB_TRY(const Golden* const golden, golden_of(original, number));
  if (number == 0 && templates_.outputs.empty() && !templates_.check &&
      golden->outputs.text.empty()) {
    refuse_run(out, "output", Reason::proves_nothing,
               "the run prints nothing that could be compared, and there is neither --output nor "
               "--check");
    return {};
  }
  PERFLAB_TRY(const CommandRun run, run_of(candidate, seed_number(number)));
  const OutputsRemoved afterwards(run.outputs);
  PERFLAB_TRY(const RunEnd end, run_command(run));
  if (end.reason)
    refuse_run(out, check_name("output", number), *end.reason, end.sentence);
  else
    compare_with(*golden, run.outputs, end, number, out);
  if (!out.reason && number > 0) {
    PERFLAB_TRY(const Golden* const first, golden_of(original, 0));
    if (golden->text_repeats && golden->outputs == first->outputs)
      out.checks.back().detail +=
          "; the original computes the same for the first seed, so that this proves nothing more";
  }
  if (!out.reason && templates_.check) {
    PERFLAB_TRY(std::string refused, run_check(candidate, number));
    if (!refused.empty())
      refuse_run(out, "check", Reason::check_failed, std::move(refused));
    else if (number == 0)
      pass_run(out, "check", "the check passes");
  }
  return {};
}

/// Says that timed runs are not compared, where they are not: they are with files, or with a text
/// that repeats and is not mixed with the profiler's.
Result<void> CommandWorkshop::note_timed_outputs(const Built& original, Correctness& out) {
  if (!templates_.outputs.empty()) return {};
  std::string why;
  if (!backend_->sees_prints()) {
    why = "rocprofv3 prints to the same stdout, and there is no --output";
  } else {
    for (int number = 0; number <= last_number() && why.empty(); ++number) {
      PERFLAB_TRY(const Golden* const golden, golden_of(original, number));
      if (!golden->text_repeats) why = "the original prints something else each time";
    }
  }
  if (!why.empty()) pass_run(out, "timed outputs", "not compared: " + why);
  return {};
}

Result<Correctness> CommandWorkshop::prove(const Built& original, const Built& candidate) {
  Correctness out;
  const int numbers = last_number();
  for (int number = 0; number <= numbers && !out.reason; ++number)
    PERFLAB_TRY_VOID(prove_number(original, candidate, number, out));
  if (out.reason) return out;
  if (numbers == 0)
    pass_run(out, "perturbed inputs",
             seeded() ? "none: no perturbations are wanted"
                      : "none: --run has no {seed}, so that only one input was tried");
  PERFLAB_TRY_VOID(note_timed_outputs(original, out));
  out.sentence =
      fmt::format("{} passed", numbers == 0 ? "the run with one input"
                                            : fmt::format("runs with {} inputs", numbers + 1));
  return out;
}

Result<void> CommandWorkshop::prepare_timing(const Built& original, const Built& before,
                                             const Built& after) {
  for (const Built* const built : {&before, &after}) {
    std::vector<TimedRun> runs;
    for (int number = 0; number <= last_number(); ++number) {
      PERFLAB_TRY(const Golden* const golden, golden_of(original, number));
      PERFLAB_TRY(CommandRun run, run_of(*built, seed_number(number)));
      PERFLAB_TRY_VOID(check_output_places(run.outputs));
      runs.push_back(
          {.command = std::move(run.command), .outputs = std::move(run.outputs), .golden = golden});
    }
    backend_->expect(built->variant, std::move(runs));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Workshop>> open_command_workshop(const CommandWorkshopOptions& options) {
  return CommandWorkshop::open(options);
}

}  // namespace perflab::optimize
