// The whole of it: what is there, programs, then the cases, first all in the usual address mode.
#include "doctor/self_test/self_test.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/system/files.h"
#include "base/text/command_line.h"
#include "base/text/pattern.h"
#include "code/tools/compiler.h"
#include "code/tools/hip_command.h"
#include "doctor/self_test/build_programs.h"
#include "doctor/self_test/run_case.h"

namespace perflab::doctor {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kSearchSeconds = 60;  // of one optimisation
constexpr double kUsualSeconds = 600;  // what the limits of cases are meant for

const Part& part_of(const SelfTest& test, Need need) {
  return *std::ranges::find(test.parts, need, &Part::need);
}

/// The folder of a self test; gone at the end unless it is kept.
class WorkFolder {
 public:
  static Result<WorkFolder> make(const fs::path& keep) {
    std::error_code error;
    if (!keep.empty()) {
      if (fs::exists(fs::symlink_status(keep, error)))
        return fail(ErrorCode::usage, keep.string() + ": exists already",
                    "name another folder with --keep, or remove it");
      PERFLAB_TRY_VOID(make_directories(keep));
      return WorkFolder(fs::absolute(keep, error), true);
    }
    std::string name = (fs::temp_directory_path(error) / "rocm-perf-self-test-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      return fail(ErrorCode::usage, "no temporary folder can be made: " +
                                        (error ? error.message() : errno_text(errno)));
    return WorkFolder(std::move(name), false);
  }
  WorkFolder(WorkFolder&& other) noexcept
      : path_(std::exchange(other.path_, {})), kept_(other.kept_) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty() && !kept_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }
  [[nodiscard]] bool kept() const { return kept_; }

 private:
  WorkFolder(fs::path path, bool kept) : path_(std::move(path)), kept_(kept) {}
  fs::path path_;
  bool kept_;
};

Result<std::vector<TestCase>> chosen_cases(const std::string& only) {
  std::vector<TestCase> cases = test_cases();
  if (only.empty()) return cases;
  PERFLAB_TRY(const Pattern pattern, Pattern::compile(only));
  std::erase_if(cases, [&](const TestCase& one) { return !pattern.found_in(one.id); });
  if (!cases.empty()) return cases;
  std::vector<std::string> names;
  for (const TestCase& one : test_cases()) names.push_back(one.id);
  return fail(ErrorCode::usage, fmt::format("--only '{}': no case has such a name", only),
              fmt::format("the cases are {}", fmt::join(names, ", ")));
}

/// Those that the cases name.
std::vector<TestProgram> programs_of(const std::vector<TestCase>& cases) {
  std::vector<TestProgram> programs = test_programs();
  std::erase_if(programs, [&](const TestProgram& program) {
    const std::string place = fmt::format("<bin:{}>", program.id);
    return std::ranges::none_of(cases, [&](const TestCase& test) {
      return std::ranges::any_of(test.steps, [&](const TestStep& step) {
        return std::ranges::any_of(step.words, [&](const std::string& word) {
          return word.find(place) != std::string::npos;
        });
      });
    });
  });
  return programs;
}

/// The GPU that programs are compiled for: the first that the runtime lists.
std::string first_architecture(const SelfTest& test) {
  const auto opened =
      std::ranges::find_if(test.gpus, [](const Gpu& gpu) { return !gpu.product.empty(); });
  return opened != test.gpus.end() ? opened->processor
         : test.gpus.empty()       ? std::string()
                                   : test.gpus.front().processor;
}

/// Compiles everything and fills in the places; false: nothing can run.
Result<bool> prepare(const SelfTestRequest& request, const fs::path& folder, SelfTest& test,
                     Bench& bench) {
  const Part& runtime = part_of(test, Need::runtime);
  if (runtime.state != State::works) {
    test.obstacle = {.reason = TestReason::no_device,
                     .sentence = fmt::format("{}: {}", runtime.title, runtime.problem),
                     .remedy = runtime.remedy};
    return false;
  }
  test.architecture = first_architecture(test);
  const Result<code::Compiler> compiler = code::find_compiler(test.architecture);
  if (!compiler && compiler.error().code == ErrorCode::interrupted)
    return std::unexpected(compiler.error());
  if (!compiler || !compiler->knows(test.architecture)) {
    test.obstacle = {
        .reason = TestReason::no_compiler,
        .sentence = compiler
                        ? fmt::format("{} does not know {}", compiler->version, test.architecture)
                        : compiler.error().message,
        .remedy = compiler ? "install a newer compiler, or let ROCM_PERF_CLANG name one"
                           : compiler.error().remedy};
    return false;
  }
  request.on_progress("compiling the programs", 0);
  const fs::path sources = folder / "programs";
  PERFLAB_TRY(const std::vector<std::string> compile,
              code::hip_compile_command(*compiler, test.architecture, sources));
  PERFLAB_TRY(test.programs, build_programs(compile, programs_of(test.cases), sources));
  for (const ProgramBuild& build : test.programs) {
    const std::string place = "bin:" + build.id;
    if (build.complaint.empty())
      bench.places[place] = build.file.string();
    else
      bench.unbuilt[place] = build.complaint;
  }
  // Two builds of one source have to be the same bytes.
  std::vector<std::string> quoted = compile;
  quoted.emplace_back("-fuse-cuid=none");
  bench.places["hip-compile"] = join_command_line(quoted);
  bench.places["compiler"] = join_command_line({compiler->program.string()});
  bench.places["search-time"] = fmt::format("{:.0f}s", kSearchSeconds * bench.patience);
  bench.places["src"] = sources.string();
  bench.places["arch"] = test.architecture;
  bench.places["rocm-perf"] = request.program;
  bench.places["rocprofv3"] = part_of(test, Need::profiler).path;
  return true;
}

Result<void> run_cases(const SelfTestRequest& request, const Bench& bench, SelfTest& test) {
  std::vector<std::pair<const TestCase*, AddressMode>> order;
  for (const AddressMode mode : {AddressMode::usual, AddressMode::reserved})
    for (const TestCase& one : test.cases)
      if (mode == AddressMode::usual || one.both_modes) order.emplace_back(&one, mode);
  for (const auto& [one, mode] : order) {
    request.on_progress(
        fmt::format("{}{}", one->id, mode == AddressMode::usual ? "" : ", reserved addresses"),
        static_cast<double>(test.runs.size()) / static_cast<double>(order.size()));
    PERFLAB_TRY(CaseRun run, run_case(*one, mode, bench));
    if (request.on_run) request.on_run(run);
    test.runs.push_back(std::move(run));
  }
  return {};
}

}  // namespace

Result<SelfTest> run_self_test(const SelfTestRequest& request) {
  const auto begin = Clock::now();
  SelfTest test;
  test.budget_seconds = std::chrono::duration<double>(request.budget).count();
  PERFLAB_TRY(test.cases, chosen_cases(request.only));
  PERFLAB_TRY(const WorkFolder folder, WorkFolder::make(request.keep));
  test.folder = folder.path();
  test.kept = folder.kept();
  request.on_progress("looking at this machine", 0);
  PERFLAB_TRY(Examination examination, examine(request.places));
  test.parts = std::move(examination.parts);
  test.gpus = std::move(examination.gpus);
  Bench bench{.places = {},
              .unbuilt = {},
              .parts = test.parts,
              .folder = folder.path() / "cases",
              .deadline = begin + request.budget,
              // A machine that needs more in all needs more for each.
              .patience = std::max(1.0, test.budget_seconds / kUsualSeconds)};
  PERFLAB_TRY(const bool ready, prepare(request, folder.path(), test, bench));
  if (ready) PERFLAB_TRY_VOID(run_cases(request, bench, test));
  test.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return test;
}

}  // namespace perflab::doctor
