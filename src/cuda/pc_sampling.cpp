// Entry points by their names, in the order of the members.
#include "cuda/pc_sampling.h"

#include <dlfcn.h>

#include <array>
#include <cstring>

namespace perflab::cuda {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define PERFLAB_CUDA_PC_SAMPLING_NAME(name, exported, needed, ...) EntryName{#exported, needed},
constexpr std::array pc_sampling_names{PERFLAB_CUDA_PC_SAMPLING(PERFLAB_CUDA_PC_SAMPLING_NAME)};
#undef PERFLAB_CUDA_PC_SAMPLING_NAME

static_assert(sizeof(PcSampling) == pc_sampling_names.size() * sizeof(void*));

}  // namespace

PcSampling pc_sampling_of(const CuptiLibrary& library) {
  PcSampling sampling{};
  if (library.problem != LibraryProblem::none || library.handle == nullptr) return sampling;
  std::array<void*, pc_sampling_names.size()> found{};
  for (std::size_t i = 0; i < found.size(); ++i)
    found[i] = dlsym(library.handle, pc_sampling_names[i].name);
  std::memcpy(&sampling, found.data(), sizeof(sampling));
  return sampling;
}

const char* missing_entry(const PcSampling& sampling) {
  std::array<void*, pc_sampling_names.size()> found{};
  std::memcpy(found.data(), &sampling, sizeof(sampling));
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] == nullptr) return pc_sampling_names[i].name;
  return nullptr;
}

}  // namespace perflab::cuda
