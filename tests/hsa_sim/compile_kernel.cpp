// See compile_kernel.h.
#include "hsa_sim/compile_kernel.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <sstream>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "code/tools/temporary_folder.h"

namespace perflab::test {
namespace {

namespace fs = std::filesystem;

/// Compiles source and glue to a library; g++'s messages go to stderr.
Result<bool> compile_library(const KernelCompilation& what, const fs::path& glue,
                             const fs::path& library) {
  std::error_code ignored;
  PERFLAB_TRY_VOID(code::detail::write_temporary(
      glue, fmt::format("#include \"{}\"\n#include \"hsa_sim/host_kernel.h\"\n"
                        "HSA_SIM_HOST_KERNEL({})\n",
                        fs::absolute(what.source, ignored).string(), what.kernel)));
  // Without unique symbols, which would keep the library from being closed.
  std::vector<std::string> command{"g++",
                                   "-std=c++20",
                                   "-O2",
                                   "-s",
                                   "-shared",
                                   "-fPIC",
                                   "-fno-gnu-unique",
                                   "-Wl,-Bsymbolic",
                                   "-fsanitize-coverage=trace-pc"};
  command.insert(command.end(), what.flags.begin(), what.flags.end());
  std::vector<std::string> folders = what.include_folders;
  folders.insert(folders.end(), {PERFLAB_EXAMPLES_FOLDER "/host", PERFLAB_TESTS_FOLDER});
  for (const std::string& folder : folders) command.push_back("-I" + folder);
  command.insert(command.end(), {"-x", "c++", glue.string(), "-o", library.string()});
  PERFLAB_TRY(const ProcessResult end, run_program(command));
  return end.succeeded();
}

/// The kernel's arguments as the compiled library describes them.
Result<std::vector<WrittenArgument>> arguments_of(const fs::path& library,
                                                  const std::string& kernel) {
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Describe = const char* (*)();
  const auto describe = opened == nullptr
                            ? nullptr
                            : reinterpret_cast<Describe>(::dlsym(
                                  opened, fmt::format("hsa_sim_arguments_{}", kernel).c_str()));
  if (describe == nullptr) return fail(ErrorCode::internal, ::dlerror());
  std::vector<WrittenArgument> list;
  std::istringstream words{describe()};
  char kind = 0, colon = 0;
  std::int64_t offset = 0, size = 0;
  while (words >> kind >> colon >> offset >> colon >> size)
    list.push_back({offset, size, kind == 'p' ? "global_buffer" : "by_value"});
  return list;
}

}  // namespace

Result<std::optional<CompiledKernel>> compile_kernel(const KernelCompilation& what) {
  PERFLAB_TRY(const auto folder, code::detail::TemporaryFolder::make());
  const fs::path library = folder / "kernel.so";
  PERFLAB_TRY(const bool compiled, compile_library(what, folder / "glue.cpp", library));
  if (!compiled) return std::optional<CompiledKernel>{};
  CompiledKernel kernel;
  PERFLAB_TRY(kernel.arguments, arguments_of(library, what.kernel));
  PERFLAB_TRY(kernel.library, read_file(library));
  return std::optional(std::move(kernel));
}

}  // namespace perflab::test
