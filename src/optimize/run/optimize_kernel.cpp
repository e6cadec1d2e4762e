// The parts put together; each is its own file.
#include "optimize/run/optimize_kernel.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "base/system/files.h"
#include "hal/arch.h"
#include "llm/secrets.h"
#include "measure/backend_command.h"
#include "measure/profile.h"
#include "optimize/rounds/context.h"
#include "optimize/rounds/projection.h"
#include "optimize/transform/transforms.h"

namespace perflab::optimize {
namespace {

constexpr std::string_view kDefaultArch = "gfx942", kDefaultCudaArch = "sm_90";
constexpr std::string_view kExecPrefix = "exec:";
/// Of proposers that never run out, and cost money and minutes each time: one that was told the
/// reasons of eight refusals in a row and found nothing has no ideas left. Rules end by themselves.
constexpr unsigned kDefaultPatience = 8;

class OptimizeRunner {
 public:
  OptimizeRunner(const OptimizeRequest& request, const OptimizeTalk& talk)
      : request_(request), talk_(talk) {}

  Result<KernelOptimization> run() {
    PERFLAB_TRY_VOID(check_request());
    PERFLAB_TRY(sandbox_, choose_sandbox(sandbox_request()));
    PERFLAB_TRY_VOID(read_run());
    // A capture says the architecture, which the source is read for; commands need the kernel's
    // name, which the source says.
    std::unique_ptr<Workshop> workshop;
    if (replays()) {
      PERFLAB_TRY(workshop, open_on_capture());
      captured_target_ = workshop->identity().value("target", "");
    }
    PERFLAB_TRY_VOID(read_source());
    if (!replays()) {
      PERFLAB_TRY(workshop, open_on_commands());
    }
    PERFLAB_TRY_VOID(make_directories(request_.loop.folder));
    PERFLAB_TRY(const std::unique_ptr<llm::Proposer> proposer, open_proposer(*workshop));
    LoopOptions options = request_.loop;
    options.source = request_.source;
    options.kernel = kernel_;
    options.parse = parse_;
    options.sandbox = sandbox_.record;
    options.sandbox_warning = sandbox_.warning;
    options.context = facts_for_proposer(documents_, kernel_, request_.host ? "" : parse_.arch);
    if (!options.patience && request_.proposer != "rules") options.patience = kDefaultPatience;
    LoopTools tools;
    tools.proposer = proposer.get();
    tools.workshop = workshop.get();
    tools.on_step = talk_.on_step;
    tools.on_decided = talk_.on_decided;
    tools.note = talk_.note;
    PERFLAB_TRY(out_.optimization, run_loop(std::move(original_), options, tools));
    project_gain();
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool replays() const { return !request_.replay.capture.empty(); }

  [[nodiscard]] bool proposes_by_command() const {
    return request_.proposer.starts_with(kExecPrefix) &&
           request_.proposer.size() > kExecPrefix.size();
  }

  [[nodiscard]] Result<void> check_request() const {
    const bool replays = this->replays();
    const bool runs = !request_.command.run.empty();
    if (replays && runs)
      return fail(ErrorCode::usage, "--capture and --run are two ways to measure",
                  "leave one of the two out");
    if (!replays && !runs)
      return fail(ErrorCode::usage,
                  request_.application.empty()
                      ? "there is nothing to measure candidates with"
                      : "an application is profiled as it is, but candidates have to be built",
                  "--capture DIR replays a dispatch (rocm-perf isolate makes one); or --build "
                  "'... {source} -o {build_dir}/app' with --run '{build_dir}/app args'");
    if (!request_.application.empty() && !replays && request_.command.build.empty())
      return fail(ErrorCode::usage, "an application needs --build, so that candidates get into it",
                  "--build '... {source} -o {build_dir}/app'");
    if (replays && request_.host && request_.replay.build.empty())
      return fail(ErrorCode::usage,
                  "--host with --capture needs --build: the built-in compiler builds for GPUs",
                  "leave --host out");
    const bool known =
        request_.proposer == "rules" || request_.proposer == "llm" || proposes_by_command();
    if (!known)
      return fail(ErrorCode::usage, fmt::format("there is no proposer '{}'", request_.proposer),
                  "rules, llm, or exec:COMMAND");
    if (request_.sandbox.proposer_network && !proposes_by_command())
      return fail(ErrorCode::usage, "--proposer-network is for programs that propose",
                  "leave it out, or give --proposer exec:COMMAND");
    return {};
  }

  [[nodiscard]] SandboxRequest sandbox_request() const {
    SandboxRequest sandbox = request_.sandbox;
    sandbox.needed = request_.proposer != "rules";
    sandbox.source = request_.source;
    sandbox.folder = request_.loop.folder;
    sandbox.capture = request_.replay.capture;
    const CommandWorkshopOptions& command = request_.command;
    sandbox.commands = {command.build, command.run, command.check};
    if (proposes_by_command())
      sandbox.commands.push_back(request_.proposer.substr(kExecPrefix.size()));
    sandbox.arguments = request_.arguments;
    return sandbox;
  }

  /// The recorded run: of the application, or given.
  Result<void> read_run() {
    if (!request_.analysis.empty()) {
      PERFLAB_TRY(documents_, read_documents(request_.analysis));
    }
    if (!request_.application.empty()) {
      PERFLAB_TRY_VOID(profile_application());
    } else if (!request_.trace.empty()) {
      PERFLAB_TRY(const RecordedRun recorded, recorded_run(request_.trace));
      PERFLAB_TRY(run_, analyze::analyze_files(recorded.databases, analyze_options()));
      out_.trace = recorded.place.string();
    }
    if (run_ && request_.analysis.empty()) documents_ = documents_of(*run_);
    return {};
  }

  static analyze::AnalyzeOptions analyze_options() {
    analyze::AnalyzeOptions options;
    options.critical_path.keep_nodes = true;
    return options;
  }

  Result<void> profile_application() {
    collect::CollectPlan plan;
    plan.target = request_.application;
    plan.progress = talk_.progress;
    measure::ProfileOptions options;
    options.keep_nodes_up_to = std::numeric_limits<std::size_t>::max();  // for the projection
    PERFLAB_TRY(measure::Profile profile, measure::profile(plan, options));
    if (profile.problem) return std::unexpected(*profile.problem);
    if (!profile.analyzed)
      return fail(ErrorCode::target_failed, "the profiled application left no database");
    run_ = std::move(profile.analyzed->representative);
    out_.trace = run_->trace.sources.front().file;
    return {};
  }

  [[nodiscard]] std::string find_arch() const {
    if (!request_.arch.empty()) return request_.arch;
    if (!captured_target_.empty()) return captured_target_;
    if (run_)
      for (const analyze::Kernel& kernel : run_->analysis.kernels)
        if (!kernel.gpu.architecture.empty()) return kernel.gpu.architecture;
    return std::string(parse_.compiler.filename() == "nvcc" ? kDefaultCudaArch : kDefaultArch);
  }

  Result<void> read_source() {
    parse_.path = request_.source;
    parse_.arguments = request_.arguments;
    parse_.host = request_.host;
    parse_.compiler =
        compiler_of_command(replays() ? request_.replay.build : request_.command.build);
    parse_.arch = find_arch();
    parse_.arch = parse_.arch.substr(0, parse_.arch.find(':'));
    PERFLAB_TRY(std::string text, read_file(request_.source, llm::kMostProposalBytes));
    PERFLAB_TRY(original_, parse_source(std::move(text), parse_, request_.kernel));
    if (!request_.application.empty() && request_.kernel.empty()) {
      PERFLAB_TRY(const ChosenKernel chosen, choose_kernel(*run_, original_));
      if (talk_.note) talk_.note(chosen.why);
      kernel_ = chosen.name;
      return {};
    }
    PERFLAB_TRY(const std::size_t kernel, find_kernel(original_, request_.kernel));
    kernel_ = original_.kernels[kernel].name;
    return {};
  }

  Result<std::unique_ptr<Workshop>> open_on_capture() {
    ReplayWorkshopOptions options = request_.replay;
    options.compile_arguments = request_.arguments;
    options.sandbox = sandbox_.candidates;
    options.source = request_.source;
    out_.capture = request_.replay.capture.string();
    return open_replay_workshop(options);
  }

  [[nodiscard]] Result<std::unique_ptr<Workshop>> open_on_commands() const {
    CommandWorkshopOptions options = request_.command;
    options.source = request_.source;
    options.kernel = kernel_;
    options.sandbox = sandbox_.candidates;
    return open_command_workshop(options);
  }

  Result<std::unique_ptr<llm::Proposer>> open_proposer(const Workshop& workshop) const {
    if (request_.proposer == "rules") {
      TransformFacts facts;
      facts.host = request_.host;
      facts.workgroup_size = workshop.workgroup_size();
      if (const hal::Arch* arch = hal::find_arch(parse_.arch)) {
        facts.wave_size = arch->default_wave_size;
        facts.lds_banks = arch->lds_banks;
      }
      return make_rules_proposer(parse_, facts);
    }
    const auto transcript = [&](const std::filesystem::path& given) {
      return given.empty() ? request_.loop.folder / kTranscriptName : given;
    };
    if (request_.proposer == "llm") {
      llm::LlmOptions options = request_.llm;
      options.transcript = transcript(options.transcript);
      options.resume = request_.loop.resume;
      return llm::make_llm_proposer(options);
    }
    llm::ExecOptions options = request_.exec;
    options.command = request_.proposer.substr(kExecPrefix.size());
    options.transcript = transcript(options.transcript);
    options.resume = request_.loop.resume;
    options.sandbox = sandbox_.proposer;
    options.work_folder = std::filesystem::absolute(request_.loop.folder / kProposerName);
    PERFLAB_TRY_VOID(make_directories(options.work_folder));
    return llm::make_exec_proposer(options);
  }

  void project_gain() {
    const auto missing = [&](std::string reason, std::string remedy) {
      out_.projection_missing = {
          .field = "projection", .reason = std::move(reason), .remedy = std::move(remedy)};
    };
    const Optimization& done = out_.optimization;
    if (!done.accepted) return missing("nothing was accepted", "");
    if (!run_)
      return missing("no recording of the whole application was given",
                     "--trace RUN.db (rocm-perf profile -- ./app)");
    const std::optional<SpeedUp> speed = speed_up(*done.final_proof->measurement);
    Result<Projection> projection = project(*run_, done.kernel, *speed);
    if (!projection) return missing(projection.error().message, projection.error().remedy);
    out_.projection = std::move(*projection);
    const std::string& backend = done.final_proof->measurement->backend;
    if (backend == measure::kMetricBackend || backend == measure::kWallTimeBackend)
      out_.projection->sentence +=
          "; the speed-up is that of the command, which does more than run the kernel";
  }

  const OptimizeRequest& request_;
  const OptimizeTalk& talk_;
  KernelOptimization out_;
  RunDocuments documents_;
  SandboxChoice sandbox_;
  std::optional<analyze::AnalyzedTrace> run_;
  ParseOptions parse_;
  SourceModel original_;
  std::string kernel_, captured_target_;
};

}  // namespace

Result<KernelOptimization> optimize_kernel(const OptimizeRequest& request,
                                           const OptimizeTalk& talk) {
  llm::hold_keys();  // no candidate is to find them
  return OptimizeRunner(request, talk).run();
}

}  // namespace perflab::optimize
