// What is hooked, and by which function. Each function calls the runtime through the saved entry
// and keeps no lock meanwhile; none throws.
#pragma once

#include <optional>
#include <vector>

#include "hsa/api.h"

namespace perflab::isolate {

/// One entry of the runtime's tables and what replaces it.
struct Hook {
  std::optional<hsa::CoreEntry> core;
  std::optional<hsa::AmdEntry> amd;
  void* function = nullptr;
};

std::vector<Hook> queue_hooks();
std::vector<Hook> code_hooks();
std::vector<Hook> memory_hooks();
std::vector<Hook> vmem_hooks();

// The cast to the entry's own type makes sure that the signatures agree.
// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_CORE_HOOK(name, replacement)                                            \
  ::perflab::isolate::Hook {                                                            \
    .core = hsa::CoreEntry::name, .amd = std::nullopt,                                  \
    .function = reinterpret_cast<void*>(static_cast<hsa::Core::name##_t*>(replacement)) \
  }
#define PERFLAB_AMD_HOOK(name, replacement)                                               \
  ::perflab::isolate::Hook {                                                              \
    .core = std::nullopt, .amd = hsa::AmdEntry::name,                                     \
    .function = reinterpret_cast<void*>(static_cast<hsa::AmdExt::name##_t*>(replacement)) \
  }
// NOLINTEND(cppcoreguidelines-macro-usage)

}  // namespace perflab::isolate
