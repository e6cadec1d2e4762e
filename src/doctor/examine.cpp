// Each need is looked for by the code that uses it, so that doctor and commands never disagree.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/system/files.h"
#include "base/system/find_sandbox.h"
#include "base/system/subprocess.h"
#include "base/text/text.h"
#include "code/instructions/disassembly.h"
#include "code/tools/compiler.h"
#include "code/tools/tool_search.h"
#include "collect/decoder.h"
#include "collect/rocprofv3.h"
#include "doctor/agents.h"
#include "doctor/cuda.h"
#include "doctor/driver.h"
#include "doctor/examination.h"
#include "hal/arch.h"
#include "isolate/launch.h"
#include "llm/curl_library.h"
#include "optimize/ast/clang_library.h"
#include "slurm/commands.h"

namespace perflab::doctor {
namespace {

/// What a search says that found nothing. `there`: something is, and cannot be used.
void note_problem(const Error& error, bool there, Part& part) {
  part.state = there ? State::unusable : State::missing;
  part.problem = error.message;
  part.remedy = error.remedy;
  part.details.insert(part.details.end(), error.notes.begin(), error.notes.end());
}

/// Options that our commands give to rocprofv3, and what for.
struct ProfilerOption {
  std::string_view option, without;
};
constexpr ProfilerOption kProfilerOptions[] = {
    {"--kernel-trace", "no dispatches: too old"},        {"--pmc", "no counters"},
    {"--input", "no several counter passes in one run"}, {"--att", "no thread traces"},
    {"--output-format", "no databases: too old"},
};

/// The forms of input it takes, as its help says. Error: interrupted.
Result<void> ask_for_options(const collect::Rocprofv3& tool, Part& part) {
  PERFLAB_TRY(const ProcessResult help, code::detail::ask({tool.path.string(), "--help"}));
  if (!help.succeeded()) {
    part.details.push_back(fmt::format("--help {}: its options are not known", describe_end(help)));
    return {};
  }
  std::vector<std::string> known;
  for (const auto& [option, without] : kProfilerOptions) {
    if (help.output.tail.find(option) != std::string::npos)
      known.emplace_back(option);
    else
      part.details.push_back(fmt::format("it does not know {}: {}", option, without));
  }
  if (!known.empty()) part.details.push_back(fmt::format("it takes {}", fmt::join(known, ", ")));
  if (help.output.tail.find("rocpd") == std::string::npos) {
    part.state = State::unusable;
    part.problem = "it does not write rocpd databases";
    part.remedy = collect::how_to_get_rocprofv3();
  }
  return {};
}

/// rocprofv3 and the decoder of its thread traces.
Result<void> add_profiler(std::vector<Part>& parts) {
  Part profiler{.need = Need::profiler, .title = "rocprofv3"};
  Part decoder{.need = Need::decoder, .title = "trace decoder"};
  const Result<collect::Rocprofv3> tool = collect::find_rocprofv3();
  if (!tool && tool.error().code == ErrorCode::interrupted) return std::unexpected(tool.error());
  if (tool) {
    profiler.state = State::works;
    profiler.version = tool->version;
    profiler.path = tool->path.string();
    if (!tool->rocm_version.empty())
      profiler.details.push_back(fmt::format("ROCm {}", tool->rocm_version));
    PERFLAB_TRY_VOID(ask_for_options(*tool, profiler));
  } else {
    note_problem(tool.error(), false, profiler);
  }
  if (const Result<std::filesystem::path> folder =
          collect::find_decoder(tool ? *tool : collect::Rocprofv3{})) {
    decoder.state = State::works;
    decoder.path = folder->string();
  } else {
    note_problem(folder.error(), false, decoder);
  }
  parts.push_back(std::move(profiler));
  parts.push_back(std::move(decoder));
  return {};
}

/// "23 of our 25 AMD architectures; not gfx1250, gfx950": the compiler is AMD's.
std::string architectures_text(const std::vector<std::string>& processors) {
  std::vector<std::string> lacking;
  for (const hal::Arch& arch : hal::archs_of(hal::Platform::amd))
    if (std::ranges::find(processors, arch.gfx) == processors.end()) lacking.push_back(arch.gfx);
  const std::size_t all = hal::archs_of(hal::Platform::amd).size();
  if (lacking.empty()) return fmt::format("knows all {} architectures of rocm-perf", all);
  return fmt::format("knows {} of the {} architectures of rocm-perf, not {}", all - lacking.size(),
                     all, fmt::join(lacking, ", "));
}

/// The others, each once, however many links name it.
std::vector<std::string> other_compilers(const std::filesystem::path& chosen) {
  std::error_code ignored;
  std::vector<std::filesystem::path> known{std::filesystem::canonical(chosen, ignored)};
  std::vector<std::string> others;
  for (const std::filesystem::path& program : code::detail::compiler_candidates()) {
    const std::filesystem::path real = std::filesystem::canonical(program, ignored);
    if (std::ranges::find(known, real) != known.end()) continue;
    known.push_back(real);
    others.push_back(program.string());
  }
  return others;
}

/// The compiler that builds, when there is one.
Result<std::optional<code::Compiler>> add_compiler(std::vector<Part>& parts,
                                                   std::vector<Gpu>& gpus) {
  Part part{.need = Need::compiler, .title = "HIP compiler"};
  const std::string wanted = gpus.empty() ? std::string() : gpus.front().processor;
  const Result<code::Compiler> compiler = code::find_compiler(wanted);
  if (!compiler && compiler.error().code == ErrorCode::interrupted)
    return std::unexpected(compiler.error());
  if (!compiler) {
    note_problem(compiler.error(), !compiler.error().notes.empty(), part);
    parts.push_back(std::move(part));
    return {};
  }
  part.state = State::works;
  part.version = compiler->version;
  part.path = compiler->program.string();
  part.details.push_back(architectures_text(compiler->processors));
  for (Gpu& gpu : gpus) gpu.compilable = compiler->knows(gpu.processor);
  if (compiler->rocm_path) {
    part.details.push_back(fmt::format("HIP headers below {}", compiler->rocm_path->string()));
  } else {
    part.state = State::unusable;
    part.problem = "it finds no hip/hip_runtime.h";
    part.remedy = "sudo apt install libamdhip64-dev (Debian, Ubuntu), or let ROCM_PATH name ROCm";
  }
  if (compiler->stock_device_libraries)
    part.details.push_back(fmt::format("device libraries of the distribution: {}",
                                       compiler->stock_device_libraries->string()));
  const std::vector<std::string> more = other_compilers(compiler->program);
  if (!more.empty())
    part.details.push_back(
        fmt::format("also there: {} (ROCM_PERF_CLANG chooses)", fmt::join(more, ", ")));
  parts.push_back(std::move(part));
  return std::optional(*compiler);
}

Result<void> add_disassembler(std::vector<Part>& parts, const std::vector<Gpu>& gpus) {
  Part part{.need = Need::disassembler, .title = "llvm-objdump"};
  const std::string wanted = gpus.empty() ? std::string() : gpus.front().processor;
  if (const Result<code::Disassembler> found = code::find_disassembler(wanted)) {
    part.state = State::works;
    part.version = found->version;
    part.path = found->program.string();
    part.details.push_back(architectures_text(found->processors));
  } else if (found.error().code == ErrorCode::interrupted) {
    return std::unexpected(found.error());
  } else {
    note_problem(found.error(), !found.error().notes.empty(), part);
  }
  parts.push_back(std::move(part));
  return {};
}

/// The libclang that reads sources for this compiler.
Part libclang_part(const std::optional<code::Compiler>& compiler) {
  Part source{.need = Need::source_reader, .title = "libclang"};
  std::vector<std::filesystem::path> compilers;
  if (compiler) compilers.push_back(compiler->program);
  if (const Result<const optimize::ClangApi*> api = optimize::clang_api(compilers)) {
    source.state = State::works;
    source.version = (*api)->version;
    source.path = (*api)->path;
    source.details.push_back((*api)->why);
    if (compiler && compiler->version != (*api)->version)
      source.details.push_back(
          "another version than the compiler's, whose headers it may not understand: install that "
          "compiler's libclang, or let ROCM_PERF_LIBCLANG name it");
    if ((*api)->resource_folder.empty())
      source.details.push_back(
          "its own headers are not next to it (Debian, Ubuntu: libclang-common-NN-dev)");
  } else {
    note_problem(api.error(), !api.error().notes.empty(), source);
  }
  return source;
}

/// Libraries that are opened in this process.
void add_libraries(std::vector<Part>& parts, const std::optional<code::Compiler>& compiler) {
  parts.push_back(libclang_part(compiler));
  Part network{.need = Need::network, .title = "libcurl"};
  if (const Result<llm::CurlApi> curl = llm::open_curl())
    network.state = State::works;
  else
    note_problem(curl.error(), false, network);
  parts.push_back(std::move(network));
  Part library{.need = Need::capture_library, .title = "capture library"};
  if (const Result<std::filesystem::path> found = isolate::find_library()) {
    library.state = State::works;
    library.path = found->string();
  } else {
    note_problem(found.error(), found.error().code == ErrorCode::usage, library);
  }
  parts.push_back(std::move(library));
}

void add_cluster(std::vector<Part>& parts) {
  Part part{.need = Need::cluster, .title = "Slurm"};
  if (const Result<slurm::Commands> found = slurm::Commands::find()) {
    part.state = State::works;
    if (const auto program = find_program("salloc")) part.path = program->string();
  } else {
    note_problem(found.error(), false, part);
    if (part.remedy.empty())
      part.remedy = "sudo apt install slurm-client (Debian, Ubuntu), on a node of the cluster";
  }
  parts.push_back(std::move(part));
}

/// Made and tried, as optimize does.
Result<void> add_sandbox(std::vector<Part>& parts) {
  Part part{.need = Need::sandbox, .title = "bubblewrap"};
  if (const Result<Sandbox> found = find_sandbox()) {
    part.state = State::works;
    part.version = found->version;
    part.path = found->program.string();
  } else if (found.error().code == ErrorCode::interrupted) {
    return std::unexpected(found.error());
  } else {
    note_problem(found.error(), found.error().code == ErrorCode::refused, part);
  }
  parts.push_back(std::move(part));
  return {};
}

/// PRETTY_NAME of /etc/os-release (os-release(5)).
std::string system_name(const std::filesystem::path& file) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  const Result<std::string> text = read_file(file);
  if (!text) return {};
  std::size_t at = text->starts_with(kKey) ? 0 : text->find("\n" + std::string(kKey));
  if (at == std::string::npos) return {};
  at = text->find('=', at) + 1;
  std::string_view value = trimmed(std::string_view(*text).substr(at, text->find('\n', at) - at));
  if (value.size() >= 2 && (value.front() == '"' || value.front() == '\''))
    value = value.substr(1, value.size() - 2);
  return std::string(value);
}

}  // namespace

Result<Examination> examine(const Places& places) {
  Examination out;
  out.gpus = driver_gpus(places);
  out.parts.push_back(driver_part(places, out.gpus));
  PERFLAB_TRY(Part runtime, runtime_part(places, out.gpus));
  out.parts.push_back(std::move(runtime));
  PERFLAB_TRY_VOID(add_profiler(out.parts));
  PERFLAB_TRY(const std::optional<code::Compiler> compiler, add_compiler(out.parts, out.gpus));
  PERFLAB_TRY_VOID(add_disassembler(out.parts, out.gpus));
  add_libraries(out.parts, compiler);
  add_cluster(out.parts);
  PERFLAB_TRY_VOID(add_sandbox(out.parts));
  PERFLAB_TRY(std::vector<Part> cuda, cuda_parts(places, out.gpus));
  for (Part& part : cuda) out.parts.push_back(std::move(part));
  for (Gpu& gpu : out.gpus)
    gpu.calibration = calibration_here(gpu.processor, std::chrono::system_clock::now());
  PERFLAB_TRY(out.commands, readiness(out.parts, {}));
  out.system = system_name(places.release);
  utsname name{};
  if (::uname(&name) == 0) out.kernel = name.release;
  return out;
}

}  // namespace perflab::doctor
