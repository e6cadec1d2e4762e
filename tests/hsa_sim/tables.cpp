// The API tables and the exported symbols. An exported function jumps through its slot of the live
// table, so that a tool's hook sees the program's calls; the slots hold wrappers that count,
// inject and check that the runtime is open. HSA_SIM_TABLE=5.2.3 gives the older layout.
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "sim.h"

#ifndef __x86_64__
#error "the exported symbols are written for x86-64: give them a jump for this processor"
#endif

extern "C" {
// For every entry, by its offset in the tables of today: the place of its pointer in the live
// table. Only the assembly below uses these names.
__attribute__((visibility("hidden"), used)) void** hsa_sim_core_places[1016 / 8];
__attribute__((visibility("hidden"), used)) void** hsa_sim_amd_places[744 / 8];
}

// NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_SIM_EXPORT(symbol, places, offset)                                             \
  __asm__(".text\n.globl " symbol "\n.type " symbol ",@function\n.p2align 4\n" symbol          \
          ":\n"                                                                                \
          "  endbr64\n  movq " places "+" #offset "(%rip), %rax\n  jmp *(%rax)\n.size " symbol \
          ", .-" symbol "\n");
#define PERFLAB_SIM_EXPORT_CORE(name, offset, ...) \
  PERFLAB_SIM_EXPORT("hsa_" #name, "hsa_sim_core_places", offset)
// Fact 3: interception is reached through the table only, so these two names are not exported.
#define PERFLAB_SIM_EXPORT_AMD(name, offset, offset_1, ...) \
  PERFLAB_SIM_EXPORT(PERFLAB_SIM_AMD_SYMBOL(name), "hsa_sim_amd_places", offset)
#define PERFLAB_SIM_AMD_SYMBOL(name) "hsa_amd_" #name
// NOLINTEND(cppcoreguidelines-macro-usage)
PERFLAB_HSA_CORE(PERFLAB_SIM_EXPORT_CORE)
PERFLAB_HSA_AMD(PERFLAB_SIM_EXPORT_AMD)
__asm__(".hidden hsa_amd_queue_intercept_create\n.hidden hsa_amd_queue_intercept_register\n");

namespace perflab::hsa::sim {
namespace {

// Sizes of the tables: docs/facts/hsa_runtime.md "Tables".
constexpr std::uint32_t kCoreBytes = 1016, kAmdBytes = 744, kOldAmdBytes = 400, kRootBytes = 64,
                        kOldRootBytes = 48, kToolsBytes = 64, kSamplingBytes = 72, kAmdStep = 0x12;

struct Tables {
  alignas(8) std::byte core[kCoreBytes]{};
  alignas(8) std::byte amd[kAmdBytes]{};
  alignas(8) std::byte old_amd[kOldAmdBytes]{};
  alignas(8) std::byte finalizer[64]{}, image[128]{}, tools[kToolsBytes]{},
      sampling[kSamplingBytes]{};
  ApiTables root{};
  void* unlisted = nullptr;  ///< stands in for slots that the older table has not
};

Tables& tables() {
  static Tables& instance = *new Tables;
  return instance;
}

void unlisted_entry() {
  misuse("an entry of the tables was called that the stand-in does not have");
}

template <class T>
std::uint64_t bits_of(const T& value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

// Every call of an entry: its number, whether it works on a closed runtime, what it does.
template <std::size_t Number, bool AlwaysOpen, auto Call>
struct Wrapped;
template <std::size_t Number, bool AlwaysOpen, class Answer, class... Arguments,
          Answer (*Call)(Arguments...)>
struct Wrapped<Number, AlwaysOpen, Call> {
  static Answer call(Arguments... arguments) {
    if constexpr (AlwaysOpen)
      if (!runtime_is_open.load(std::memory_order_acquire)) read_watch_settings();
    if (calls_are_watched.load(std::memory_order_relaxed)) [[unlikely]] {
      const auto status = watch_call(Number, {bits_of(arguments)...});
      if constexpr (std::is_same_v<Answer, Status>)
        if (status) return *status;
    }
    if constexpr (std::is_same_v<Answer, Status> && !AlwaysOpen)
      if (!runtime_is_open.load(std::memory_order_acquire)) return Status::not_initialized;
    return Call(arguments...);
  }
};

void put_version(void* table, std::uint32_t major, std::uint32_t bytes, std::uint32_t step) {
  const TableVersion version{.major = major, .minor = bytes, .step = step, .reserved = 0};
  std::memcpy(table, &version, sizeof version);
}

void fill_unlisted(void* table, std::size_t bytes) {
  void (*const entry)() = unlisted_entry;
  for (std::size_t at = sizeof(TableVersion); at < bytes; at += sizeof entry)
    std::memcpy(static_cast<std::byte*>(table) + at, &entry, sizeof entry);
}

void put_entry(std::byte* table, std::size_t bytes, std::size_t offset, void* entry,
               void**& place) {
  const bool has_it = offset != 0 && offset + sizeof(void*) <= bytes;
  place = has_it ? reinterpret_cast<void**>(table + offset) : &tables().unlisted;
  if (has_it) *place = entry;
}

}  // namespace

ApiTables& live_tables() {
  return tables().root;
}

void reset_tables() {
  Tables& all = tables();
  const bool old = setting("HSA_SIM_TABLE") == "5.2.3";
  std::byte* const amd = old ? all.old_amd : all.amd;
  const std::uint32_t amd_bytes = old ? kOldAmdBytes : kAmdBytes;
  all.unlisted = reinterpret_cast<void*>(unlisted_entry);
  fill_unlisted(all.core, kCoreBytes);
  fill_unlisted(amd, amd_bytes);
  put_version(all.core, old ? 1 : 2, kCoreBytes, 0);
  put_version(amd, old ? 1 : 2, amd_bytes, old ? 0 : kAmdStep);
  put_version(all.finalizer, old ? 1 : 0, old ? 64 : 0, 0);
  put_version(all.image, old ? 1 : 0, old ? 120 : 0, 0);
  put_version(all.tools, 1, kToolsBytes, 0);
  put_version(all.sampling, 1, kSamplingBytes, 0);
  all.root = {.version = {.major = old ? 1U : 3U,
                          .minor = old ? kOldRootBytes : kRootBytes,
                          .step = old ? 0U : 1U,
                          .reserved = 0},
              .core = all.core,
              .amd_ext = amd,
              .finalizer = all.finalizer,
              .image = all.image,
              .tools = old ? nullptr : all.tools,
              .pc_sampling = old ? nullptr : all.sampling};
  constexpr std::size_t core_count = sizeof(Core) / sizeof(void*);
  // NOLINTBEGIN(cppcoreguidelines-macro-usage)
#define PERFLAB_SIM_PUT_CORE(name, offset, ...)                                               \
  put_entry(                                                                                  \
      all.core, kCoreBytes, offset,                                                           \
      reinterpret_cast<void*>(Wrapped < static_cast<std::size_t>(CoreEntry::name),            \
                              CoreEntry::name == CoreEntry::init, core_calls::name > ::call), \
      hsa_sim_core_places[(offset) / 8]);
#define PERFLAB_SIM_PUT_AMD(name, offset, offset_1, ...)                                           \
  put_entry(amd, amd_bytes, old ? (offset_1) : (offset),                                           \
            reinterpret_cast<void*>(Wrapped<core_count + static_cast<std::size_t>(AmdEntry::name), \
                                            false, amd_calls::name>::call),                        \
            hsa_sim_amd_places[(offset) / 8]);
  // NOLINTEND(cppcoreguidelines-macro-usage)
  PERFLAB_HSA_CORE(PERFLAB_SIM_PUT_CORE)
  PERFLAB_HSA_AMD(PERFLAB_SIM_PUT_AMD)
#undef PERFLAB_SIM_PUT_CORE
#undef PERFLAB_SIM_PUT_AMD
}

namespace {
// Before anything is called: the exported symbols jump through the places.
[[maybe_unused]] const bool tables_are_filled = (reset_tables(), true);
}  // namespace

}  // namespace perflab::hsa::sim
