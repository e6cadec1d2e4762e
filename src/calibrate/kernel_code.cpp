// HIP: clang and llvm-objdump as code/ drives them. CUDA: nvcc, and our own reader of its code.
#include "calibrate/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/system/environment.h"
#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/text.h"
#include "calibration_programs.h"
#include "code/cubin/cubin.h"
#include "code/cubin/sass.h"
#include "code/instructions/instruction_mix.h"
#include "code/object/code_object.h"
#include "code/tools/compiler.h"
#include "code/tools/hip_command.h"

namespace perflab::calibrate {
namespace {

namespace fs = std::filesystem;
using hal::KernelCheck;

constexpr std::chrono::seconds kNvccTimeout{300};
constexpr const char* kWithoutMatrix = "-DCALIBRATE_WITHOUT_MATRIX";

Result<void> write_sources(const fs::path& folder) {
  PERFLAB_TRY_VOID(make_directories(folder));
  for (const EmbeddedFile& file : calibration_programs())
    PERFLAB_TRY_VOID(write_file_atomically(folder / file.name, file.text));
  return {};
}

/// The first line with an error; empty: none.
std::string first_error_in(std::string_view messages) {
  const std::size_t at = messages.find("error");
  if (at == std::string_view::npos) return {};
  const std::size_t before = messages.rfind('\n', at);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return std::string(trimmed(messages.substr(begin, messages.find('\n', at) - begin)));
}

/// Runs a compiler in the folder. Error (bad_input): it refuses, with its first error as a note.
Result<std::string> run_compiler(const std::vector<std::string>& command, const fs::path& folder) {
  ProcessOptions options;
  options.working_directory = folder;
  options.empty_input = true;
  options.standard_output = options.standard_error = StreamMode::capture;
  options.timeout = kNvccTimeout;
  PERFLAB_TRY(const ProcessResult result, run_program(command, options));
  if (result.interrupted) return fail(ErrorCode::interrupted, "interrupted");
  if (result.succeeded()) return result.output.tail;
  auto error = fail(ErrorCode::bad_input, fmt::format("{}: does not compile the kernels ({})",
                                                      command.front(), describe_end(result)));
  if (std::string first = first_error_in(result.error.tail); !first.empty())
    error.error().notes.push_back(std::move(first));
  return error;
}

/// nvcc: of $CUDA_PATH or $CUDA_HOME, on PATH, of /usr/local/cuda.
Result<fs::path> find_nvcc() {
  std::vector<fs::path> folders;
  for (const char* const name : {"CUDA_PATH", "CUDA_HOME"})
    if (const std::string place = environment(name); !place.empty())
      folders.push_back(fs::path(place) / "bin");
  for (const fs::path& folder : folders)
    if (const auto found = find_program((folder / "nvcc").string())) return *found;
  constexpr std::array<std::string_view, 1> kUsual = {"/usr/local/cuda/bin"};
  const std::vector<fs::path> usual(kUsual.begin(), kUsual.end());
  if (const auto found = find_program("nvcc", usual)) return *found;
  return fail(ErrorCode::missing_tool, "nvcc is not found",
              "install the CUDA toolkit, or set CUDA_PATH to its folder");
}

Result<CompiledKernels> compile_cuda(const std::string& architecture, const fs::path& folder) {
  PERFLAB_TRY(const fs::path nvcc, find_nvcc());
  CompiledKernels kernels;
  PERFLAB_TRY(const std::string version, run_compiler({nvcc.string(), "--version"}, folder));
  const std::size_t release = version.find("Cuda compilation tools");
  if (release != std::string::npos)
    kernels.compiler = version.substr(release, version.find('\n', release) - release);
  const fs::path object = folder / "kernels.cubin";
  std::vector<std::string> command{
      nvcc.string(),           "-x",     "cu",          "-O2", "-std=c++17",
      "-arch=" + architecture, "-cubin", "kernels.hip", "-o",  object.string()};
  Result<std::string> built = run_compiler(command, folder);
  if (!built && built.error().code == ErrorCode::bad_input) {
    kernels.matrix_missing = built.error().notes.empty() ? "" : built.error().notes.front();
    command.emplace_back(kWithoutMatrix);
    built = run_compiler(command, folder);
  }
  if (!built) return std::unexpected(std::move(built).error());
  PERFLAB_TRY(kernels.object, read_file(object));
  PERFLAB_TRY(const code::Cubin cubin, code::read_cubin(kernels.object, object.string()));
  for (const code::CubinKernel& kernel : cubin.kernels) {
    PERFLAB_TRY(std::vector<code::Instruction> instructions,
                code::read_sass(kernel.code, kernel.name));
    std::vector<KnownInstruction>& known = kernels.code[kernel.name];
    for (code::Instruction& one : instructions) {
      const code::InstructionInfo info = code::classify_sass(one);
      known.push_back({.instruction = std::move(one), .info = info});
    }
  }
  return kernels;
}

Result<CompiledKernels> compile_hip(const std::string& architecture, const fs::path& folder) {
  PERFLAB_TRY(const code::Compiler compiler, code::find_compiler(architecture));
  CompiledKernels kernels;
  kernels.compiler = compiler.version;
  code::CompileRequest request;
  request.source = folder / "kernels.hip";
  request.arch = architecture;
  // They include nothing of HIP's: any clang that knows the GPU will do.
  request.arguments = {"-O2", "-std=c++17", "-nogpuinc", "-nogpulib"};
  Result<code::Compiled> compiled = code::compile(compiler, request);
  if (!compiled && compiled.error().code == ErrorCode::bad_input) {
    for (const std::string& note : compiled.error().notes)
      if (kernels.matrix_missing.empty()) kernels.matrix_missing = first_error_in(note);
    request.arguments.emplace_back(kWithoutMatrix);
    compiled = code::compile(compiler, request);
  }
  if (!compiled) return std::unexpected(std::move(compiled).error());
  kernels.object = std::move(compiled->code_object);
  PERFLAB_TRY(const code::CodeObject object, code::read_code_object(kernels.object, "kernels.hip"));
  PERFLAB_TRY(const code::Disassembler tool, code::find_disassembler(architecture));
  code::ToDisassemble wanted{
      .bytes = kernels.object, .processor = object.target.processor, .symbols = {}};
  for (const code::KernelMetadata& kernel : object.kernels) wanted.symbols.push_back(kernel.name);
  PERFLAB_TRY(auto results, code::disassemble(tool, std::array{wanted}));
  PERFLAB_TRY(std::vector<code::Function> functions, std::move(results.front()));
  for (code::Function& function : functions) {
    std::vector<KnownInstruction>& known = kernels.code[function.symbol];
    for (code::Instruction& one : function.instructions) {
      const code::InstructionInfo info = code::classify(one.mnemonic, one.operands);
      known.push_back({.instruction = std::move(one), .info = info});
    }
  }
  return kernels;
}

CheckedWork check_one(const Work& work, const CompiledKernels& kernels, hal::Platform platform) {
  CheckedWork checked{.work = &work};
  const auto refuse = [&](KernelCheck check, std::string reason) {
    checked.check = check;
    checked.reason = std::move(reason);
    return checked;
  };
  if (work.only && *work.only != platform)
    return refuse(KernelCheck::not_here, "there are no such instructions on these GPUs");
  const auto found = kernels.code.find(work.function);
  if (found == kernels.code.end()) {
    const bool matrix = work.name.starts_with("matrix_");
    if (matrix && !kernels.matrix_missing.empty())
      return refuse(KernelCheck::not_compiled, kernels.matrix_missing);
    return refuse(KernelCheck::not_here, "this architecture has no such instructions");
  }
  auto shape = shape_of(found->second);
  if (!shape) return refuse(KernelCheck::refused, std::move(shape).error());
  checked.shape = std::move(*shape);
  if (auto held = hold_against(work, platform, checked.shape); !held)
    return refuse(KernelCheck::refused, std::move(held).error());
  checked.check = KernelCheck::agrees;
  return checked;
}

}  // namespace

Result<CompiledKernels> compile_kernels(const std::string& architecture, const fs::path& folder) {
  PERFLAB_TRY_VOID(write_sources(folder));
  return hal::platform_of(architecture) == hal::Platform::nvidia
             ? compile_cuda(architecture, folder)
             : compile_hip(architecture, folder);
}

Result<fs::path> compile_host(const std::string& architecture, const fs::path& folder) {
  PERFLAB_TRY_VOID(write_sources(folder));
  std::vector<std::string> command;
  if (hal::platform_of(architecture) == hal::Platform::nvidia) {
    PERFLAB_TRY(const fs::path nvcc, find_nvcc());
    const fs::path stubs = nvcc.parent_path().parent_path() / "lib64/stubs";
    command = {nvcc.string(),        "-x", "cu", "-O2", "-std=c++17", "-DCALIBRATE_WITH_CUDA",
               "-L" + stubs.string()};
  } else {
    PERFLAB_TRY(const code::Compiler compiler, code::find_compiler(architecture));
    PERFLAB_TRY(command, code::hip_compile_command(compiler, architecture, folder));
  }
  const fs::path program = folder / "calibrate_host";
  command.insert(command.end(), {"host.cpp", "-o", program.string()});
  if (hal::platform_of(architecture) == hal::Platform::nvidia) command.emplace_back("-lcuda");
  PERFLAB_TRY_VOID(run_compiler(command, folder));
  return program;
}

std::vector<CheckedWork> check_work(const CompiledKernels& kernels, hal::Platform platform) {
  std::vector<CheckedWork> checked;
  for (const Work& work : all_work()) checked.push_back(check_one(work, kernels, platform));
  return checked;
}

}  // namespace perflab::calibrate
