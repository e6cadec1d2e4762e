// sim_hipcc: a "HIP compiler" for the stand-in runtime. Compiles one kernel of a HIP source for
// this machine (g++ and examples/host) and writes a code object that carries the library; its
// metadata have the arguments that the compiled kernel really takes.
//     sim_hipcc SOURCE -o OUT.hsaco --kernel NAME [--max-workgroup N] [flags of g++]
// Exit codes: 0 done, 1 the source does not compile, 2 wrong arguments.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "code/tools/temporary_folder.h"
#include "hsa_sim/sim_code_objects.h"

namespace {

using namespace perflab;
namespace fs = std::filesystem;

struct Arguments {
  fs::path source, out;
  std::string kernel;
  std::int64_t max_workgroup = 1024;
  std::vector<std::string> flags;
};

bool read_arguments(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "-o" && more)
      arguments.out = argv[++i];
    else if (word == "--kernel" && more)
      arguments.kernel = argv[++i];
    else if (word == "--max-workgroup" && more)
      arguments.max_workgroup = std::atoll(argv[++i]);
    else if (word.starts_with("-"))
      arguments.flags.emplace_back(word);
    else
      arguments.source = word;
  }
  return !arguments.source.empty() && !arguments.out.empty() && !arguments.kernel.empty();
}

/// Compiles source and glue to a library; g++'s messages go to stderr.
Result<bool> compile_library(const Arguments& arguments, const fs::path& glue,
                             const fs::path& library) {
  std::error_code ignored;
  PERFLAB_TRY_VOID(code::detail::write_temporary(
      glue, fmt::format("#include \"{}\"\n#include \"hsa_sim/host_kernel.h\"\n"
                        "HSA_SIM_HOST_KERNEL({})\n",
                        fs::absolute(arguments.source, ignored).string(), arguments.kernel)));
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
  command.insert(command.end(), arguments.flags.begin(), arguments.flags.end());
  for (const char* folder : {PERFLAB_EXAMPLES_FOLDER "/host", PERFLAB_TESTS_FOLDER})
    command.push_back(fmt::format("-I{}", folder));
  command.insert(command.end(), {"-x", "c++", glue.string(), "-o", library.string()});
  PERFLAB_TRY(const ProcessResult end, run_program(command));
  return end.succeeded();
}

/// The kernel's arguments as the compiled library describes them.
Result<std::vector<test::WrittenArgument>> arguments_of(const fs::path& library,
                                                        const std::string& kernel) {
  void* const opened = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  using Describe = const char* (*)();
  const auto describe = opened == nullptr
                            ? nullptr
                            : reinterpret_cast<Describe>(::dlsym(
                                  opened, fmt::format("hsa_sim_arguments_{}", kernel).c_str()));
  if (describe == nullptr) return fail(ErrorCode::internal, ::dlerror());
  std::vector<test::WrittenArgument> list;
  std::istringstream words{describe()};
  char kind = 0, colon = 0;
  std::int64_t offset = 0, size = 0;
  while (words >> kind >> colon >> offset >> colon >> size)
    list.push_back({offset, size, kind == 'p' ? "global_buffer" : "by_value"});
  return list;
}

Result<int> run(const Arguments& arguments) {
  PERFLAB_TRY(const auto folder, code::detail::TemporaryFolder::make());
  const fs::path library = folder / "kernel.so";
  PERFLAB_TRY(const bool compiled, compile_library(arguments, folder / "glue.cpp", library));
  if (!compiled) return 1;
  PERFLAB_TRY(const auto list, arguments_of(library, arguments.kernel));
  PERFLAB_TRY(const std::string bytes, read_file(library));
  PERFLAB_TRY_VOID(write_file_atomically(
      arguments.out,
      test::sim_library_object(arguments.kernel, list, bytes, arguments.max_workgroup)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    std::fputs("usage: sim_hipcc SOURCE -o OUT --kernel NAME [--max-workgroup N] [flags]\n",
               stderr);
    return 2;
  }
  const auto done = run(arguments);
  if (!done) fmt::print(stderr, "sim_hipcc: {}\n", describe(done.error()));
  return done ? *done : 1;
}
