// See clang_command.h. Facts: docs/facts/hip_toolchain.md; docs/facts/cuda_code.md "What clang
// reads".
#include "optimize/ast/clang_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "base/system/environment.h"
#include "code/tools/compiler.h"
#include "optimize/ast/cuda_headers.h"

namespace perflab::optimize {
namespace {

/// The compiler that will build the source. Asking it takes a while: once for what the environment
/// says. Missing: there is none; parsing may do without.
Result<std::optional<code::Compiler>> compiler_of(const std::string& arch) {
  static std::mutex mutex;
  static std::map<std::string, std::optional<code::Compiler>> known;
  const std::string processor = arch.substr(0, arch.find(':'));
  std::string key = processor;
  for (const char* name : {"ROCM_PERF_CLANG", "HIP_CLANG_PATH", "ROCM_PATH", "PATH"})
    key += '\n' + environment(name);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  auto found = code::find_compiler(processor);
  if (!found && found.error().code == ErrorCode::interrupted)
    return std::unexpected(std::move(found).error());
  std::optional<code::Compiler> compiler;
  if (found) compiler = *std::move(found);
  return known.emplace(key, std::move(compiler)).first->second;
}

bool sets_standard(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(arguments,
                             [](const std::string& a) { return a.starts_with("-std="); });
}

/// Clang's words for a source for an NVIDIA GPU.
void add_cuda(const ParseOptions& options, const ClangApi& api, ClangCommand& command) {
  // A folder that is not there: what is in it is given to clang as text.
  const std::string folder = "/rocm-perf/cuda";
  const int major = code::clang_major(api.version);
  command.words = {"clang++",
                   "-x",
                   "cuda",
                   "--cuda-device-only",
                   "--cuda-gpu-arch=" + architecture_for_clang(options.arch, major),
                   "-nocudalib",
                   "-Wno-unknown-cuda-version"};
  if (!sets_standard(options.arguments)) command.words.emplace_back("-std=c++17");
  if (const auto toolkit = find_cuda_toolkit(options.compiler)) {
    command.words.push_back("--cuda-path=" + toolkit->string());
    // CUDA's own library for C++ is beside the other headers from CUDA 13 on.
    for (const std::string& more : {folder, (*toolkit / "include/cccl").string()})
      command.words.insert(command.words.end(), {"-isystem", more});
    std::error_code ignored;
    if (!std::filesystem::exists(*toolkit / "include/texture_fetch_functions.h", ignored))
      command.files.push_back({folder + "/texture_fetch_functions.h", kTextureFetchHeader});
  }
}

}  // namespace

Result<const ClangApi*> clang_for(const ParseOptions& options) {
  std::vector<std::filesystem::path> compilers;
  if (!options.compiler.empty()) compilers.push_back(options.compiler);
  if (!options.host && !options.cuda()) {
    PERFLAB_TRY(const std::optional<code::Compiler> compiler, compiler_of(options.arch));
    if (compiler) compilers.push_back(compiler->program);
  }
  return clang_api(compilers);
}

Result<ClangCommand> clang_command(const ParseOptions& options, const ClangApi& api) {
  ClangCommand command;
  std::vector<std::string>& words = command.words;
  if (options.host) {
    words = {"clang++", "-x", "c++"};
    if (!sets_standard(options.arguments)) words.emplace_back("-std=c++20");
  } else if (options.cuda()) {
    add_cuda(options, api, command);
  } else {
    PERFLAB_TRY(const std::optional<code::Compiler> compiler, compiler_of(options.arch));
    words = {compiler ? compiler->program.string() : "clang++",
             "-x",
             "hip",
             "--offload-arch=" + options.arch,
             "--cuda-device-only",
             "-nogpulib",
             "-O3"};
    if (compiler && compiler->rocm_path)
      words.push_back("--rocm-path=" + compiler->rocm_path->string());
  }
  if (!api.resource_folder.empty()) words.push_back("-resource-dir=" + api.resource_folder);
  words.insert(words.end(), options.arguments.begin(), options.arguments.end());
  words.emplace_back("-fno-color-diagnostics");
  // Whatever the source switches on: its warnings are not what a parse is asked for.
  words.emplace_back("-Wno-error");
  return command;
}

Result<std::string> other_compiler(const ParseOptions& options, const ClangApi& api) {
  if (options.host || options.cuda()) return std::string();
  PERFLAB_TRY(const std::optional<code::Compiler> compiler, compiler_of(options.arch));
  if (!compiler || compiler->version == api.version) return std::string();
  return fmt::format("{} ({})", compiler->program.string(), compiler->version);
}

}  // namespace perflab::optimize
