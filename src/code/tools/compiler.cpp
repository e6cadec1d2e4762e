// Finding a HIP compiler and what it is. Where compilers, HIP headers and device libraries lie:
// docs/facts/hip_toolchain.md.
#include "code/tools/compiler.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/system/environment.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "code/tools/tool_search.h"

namespace perflab::code {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInstallCompiler =
    "install ROCm's compiler, or clang-19, lld-19, rocm-device-libs and libamdhip64-dev (Debian, "
    "Ubuntu), or let ROCM_PERF_CLANG name a clang++ with the AMDGPU target";

bool has_hip_headers(const fs::path& root) {
  std::error_code error;
  return fs::exists(root / "include/hip/hip_runtime.h", error);
}

/// The root with HIP headers: named by the user, above the compiler, ROCm's usual place, /usr.
std::optional<fs::path> rocm_root(const fs::path& program) {
  std::vector<fs::path> roots;
  if (const std::string named = environment("ROCM_PATH"); !named.empty()) roots.emplace_back(named);
  std::error_code error;
  const fs::path real = fs::canonical(program, error);
  for (fs::path above = (error ? program : real).parent_path();
       above.has_relative_path() && above != above.parent_path(); above = above.parent_path())
    roots.push_back(above);
  roots.emplace_back("/opt/rocm");
  roots.emplace_back("/usr");
  const auto found = std::ranges::find_if(roots, has_hip_headers);
  return found == roots.end() ? std::nullopt : std::optional(*found);
}

/// Whether the compiler finds device libraries by itself, by letting it plan a compilation.
Result<bool> finds_device_libraries(const Compiler& compiler) {
  const std::string arch = compiler.knows("gfx90a") ? "gfx90a" : compiler.processors.front();
  std::vector<std::string> command{
      compiler.program.string(), "-###",     "-x", "hip", "--offload-arch=" + arch,
      "--cuda-device-only",      "-nogpuinc"};
  if (compiler.rocm_path) command.push_back("--rocm-path=" + compiler.rocm_path->string());
  for (const char* word : {"-c", "-o", "/dev/null", "/dev/null"}) command.emplace_back(word);
  PERFLAB_TRY(const ProcessResult result, detail::ask(command));
  return result.succeeded();
}

/// What the program is. A missing_tool error when it is no clang that knows AMDGPU.
Result<Compiler> examine(const fs::path& program) {
  PERFLAB_TRY(const ProcessResult version, detail::ask({program.string(), "--version"}));
  if (!version.succeeded())
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: --version {}", program.string(), describe_end(version)),
                std::string(kInstallCompiler));
  Compiler compiler;
  compiler.program = program;
  compiler.version = detail::first_line(version.output.tail);
  compiler.major = clang_major(compiler.version);
  PERFLAB_TRY(const ProcessResult listing,
              detail::ask({program.string(), "--target=amdgcn-amd-amdhsa", "-nogpulib",
                           "--print-supported-cpus"}));
  compiler.processors = detail::processors_in(listing.output.tail + "\n" + listing.error.tail);
  if (compiler.processors.empty())
    return fail(ErrorCode::missing_tool, fmt::format("{}: does not know AMDGPU", program.string()),
                std::string(kInstallCompiler));
  return compiler;
}

/// Looks for headers and device libraries; only for the compiler that is taken.
Result<Compiler> complete(Compiler compiler) {
  compiler.rocm_path = rocm_root(compiler.program);
  PERFLAB_TRY(const bool own, finds_device_libraries(compiler));
  if (own) return compiler;
  if (compiler.rocm_path)
    compiler.stock_device_libraries = detail::stock_device_libraries(*compiler.rocm_path);
  if (!compiler.stock_device_libraries)
    compiler.stock_device_libraries = detail::stock_device_libraries("/usr");
  return compiler;
}

Result<Compiler> named_compiler(const std::string& name) {
  const auto program = find_program(name);
  if (!program)
    return fail(ErrorCode::missing_tool,
                fmt::format("{}: $ROCM_PERF_CLANG names it, but it is not a program", name),
                std::string(kInstallCompiler));
  auto found = examine(*program);
  if (!found)
    return std::unexpected(std::move(found).error().with_remedy(std::string(kInstallCompiler)));
  return complete(*std::move(found));
}

}  // namespace

int clang_major(std::string_view version_line) {
  constexpr std::string_view kKey = "clang version ";
  const std::size_t at = version_line.find(kKey);
  if (at == std::string_view::npos) return 0;
  version_line.remove_prefix(at + kKey.size());
  return take_number<int>(version_line).value_or(0);
}

bool Compiler::knows(std::string_view processor) const {
  return std::ranges::find(processors, processor) != processors.end();
}

Result<Compiler> find_compiler(std::string_view wanted) {
  if (const std::string named = environment("ROCM_PERF_CLANG"); !named.empty())
    return named_compiler(named);
  std::optional<Compiler> best;
  std::vector<std::string> tried;
  for (const fs::path& program : detail::compiler_candidates()) {
    auto found = examine(program);
    if (!found && found.error().code == ErrorCode::interrupted) return found;
    if (!found) {
      tried.push_back(found.error().message);
      continue;
    }
    if (wanted.empty() || found->knows(wanted)) return complete(*std::move(found));
    if (!best) best = *std::move(found);
  }
  if (best) return complete(*std::move(best));
  std::unexpected<Error> error =
      fail(ErrorCode::missing_tool,
           tried.empty() ? "there is no HIP compiler: no clang++ in ROCm or on PATH"
                         : "no clang++ on this machine can compile for AMDGPU",
           std::string(kInstallCompiler));
  error.error().notes = std::move(tried);
  return error;
}

}  // namespace perflab::code
