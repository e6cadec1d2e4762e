// sim_hipcc: a "HIP compiler" for the stand-in runtime. Compiles one kernel of a HIP source for
// this machine (g++ and examples/host) and writes a code object that carries the library; its
// metadata have the arguments that the compiled kernel really takes.
//     sim_hipcc SOURCE -o OUT.hsaco --kernel NAME [--max-workgroup N] [flags of g++]
// Exit codes: 0 done, 1 the source does not compile, 2 wrong arguments.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/system/files.h"
#include "hsa_sim/compile_kernel.h"
#include "hsa_sim/sim_code_objects.h"

namespace {

using namespace perflab;

struct HipccArguments {
  test::KernelCompilation compilation;
  std::filesystem::path out;
  std::int64_t max_workgroup = 1024;
};

bool read_arguments(int argc, char** argv, HipccArguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "-o" && more)
      arguments.out = argv[++i];
    else if (word == "--kernel" && more)
      arguments.compilation.kernel = argv[++i];
    else if (word == "--max-workgroup" && more)
      arguments.max_workgroup = std::atoll(argv[++i]);
    else if (word.starts_with("-"))
      arguments.compilation.flags.emplace_back(word);
    else
      arguments.compilation.source = word;
  }
  return !arguments.compilation.source.empty() && !arguments.out.empty() &&
         !arguments.compilation.kernel.empty();
}

Result<int> run(const HipccArguments& arguments) {
  PERFLAB_TRY(const auto compiled, test::compile_kernel(arguments.compilation));
  if (!compiled) return 1;
  PERFLAB_TRY_VOID(write_file_atomically(
      arguments.out, test::sim_library_object(arguments.compilation.kernel, compiled->arguments,
                                              compiled->library, arguments.max_workgroup)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  HipccArguments arguments;
  if (!read_arguments(argc, argv, arguments)) {
    std::fputs("usage: sim_hipcc SOURCE -o OUT --kernel NAME [--max-workgroup N] [flags]\n",
               stderr);
    return 2;
  }
  const auto done = run(arguments);
  if (!done) fmt::print(stderr, "sim_hipcc: {}\n", describe(done.error()));
  return done ? *done : 1;
}
