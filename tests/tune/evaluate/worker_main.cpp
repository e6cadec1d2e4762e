// `slurm_worker autotune-worker ...`: the far end of the Slurm executor as a program of its own.
#include <cstdio>
#include <string>
#include <vector>

#include "tune/evaluate/executor.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments[0] != "autotune-worker") {
    std::fputs("slurm_worker: only autotune-worker is known\n", stderr);
    return 2;
  }
  return perflab::tune::autotune_worker_main(std::span(arguments).subspan(1), {});
}
