// sim_nvcc: an "nvcc" for the stand-in driver. Compiles one kernel of a CUDA or HIP source for this
// machine (g++ and examples/host) and writes a cubin that carries the library; its attributes have
// the parameters that the compiled kernel really takes.
//     sim_nvcc SOURCE -o OUT.cubin --kernel NAME [--symbol MANGLED] [--registers N]
//              [--max-threads N] [--fatbin] [flags of g++]
// Exit codes: 0 done, 1 the source does not compile, 2 wrong arguments.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/system/files.h"
#include "cuda_sim/sim_cubins.h"
#include "hsa_sim/compile_kernel.h"
#include "support/cubin_writer.h"

namespace {

using namespace perflab;

struct NvccArguments {
  test::KernelCompilation compilation;
  std::filesystem::path out;
  test::CubinKernel kernel;
  bool fatbin = false;
};

bool read_nvcc_arguments(int argc, char** argv, NvccArguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool more = i + 1 < argc;
    if (word == "-o" && more)
      arguments.out = argv[++i];
    else if (word == "--kernel" && more)
      arguments.compilation.kernel = argv[++i];
    else if (word == "--symbol" && more)
      arguments.kernel.name = argv[++i];
    else if (word == "--registers" && more)
      arguments.kernel.registers = static_cast<std::uint32_t>(std::atoi(argv[++i]));
    else if (word == "--max-threads" && more)
      arguments.kernel.max_threads = static_cast<std::uint32_t>(std::atoi(argv[++i]));
    else if (word == "--fatbin")
      arguments.fatbin = true;
    else if (word.starts_with("-"))
      arguments.compilation.flags.emplace_back(word);
    else
      arguments.compilation.source = word;
  }
  arguments.kernel.body = arguments.compilation.kernel;
  if (arguments.kernel.name.empty()) arguments.kernel.name = arguments.kernel.body;
  return !arguments.compilation.source.empty() && !arguments.out.empty() &&
         !arguments.kernel.body.empty();
}

Result<int> run_nvcc(NvccArguments& arguments) {
  arguments.compilation.include_folders = {PERFLAB_TESTS_FOLDER "/cuda_sim/host"};
  PERFLAB_TRY(const auto compiled, test::compile_kernel(arguments.compilation));
  if (!compiled) return 1;
  for (const test::WrittenArgument& one : compiled->arguments)
    arguments.kernel.parameters.push_back({.offset = static_cast<std::uint32_t>(one.offset),
                                           .bytes = static_cast<std::uint32_t>(one.size)});
  std::string bytes =
      test::sim_cubin(test::SimCubin{.kernels = {arguments.kernel}, .library = compiled->library});
  if (arguments.fatbin)
    bytes = test::write_fatbin(std::vector<test::WrittenFatbinEntry>{{.bytes = bytes}});
  PERFLAB_TRY_VOID(write_file_atomically(arguments.out, bytes));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  NvccArguments arguments;
  if (!read_nvcc_arguments(argc, argv, arguments)) {
    std::fputs(
        "usage: sim_nvcc SOURCE -o OUT --kernel NAME [--symbol MANGLED] [--registers N] "
        "[--max-threads N] [--fatbin] [flags]\n",
        stderr);
    return 2;
  }
  const auto done = run_nvcc(arguments);
  if (!done) fmt::print(stderr, "sim_nvcc: {}\n", describe(done.error()));
  return done ? *done : 1;
}
