// CUPTI's activity records become rows of the database (docs/facts/rocpd_cuda.md, which says how
// each kind stands there). For use by the writer's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "cuda/api.h"
#include "record/activity/ranges.h"
#include "record/database/database.h"

namespace perflab::record {

/// What is recorded beside kernels and copies.
struct What {
  bool calls = true;
  bool memory = true;
  bool ranges = true;
  bool sync = true;
};

/// cuKernelGetName, of CallbackDomain::driver_api. With CUPTI attached the runtime calls it at
/// every launch (docs/facts/cuda_cupti.md "Callbacks"): it is ours, not the program's, and left
/// out.
inline constexpr cuda::CallbackId kKernelGetName = 719;

/// How much was seen.
struct Totals {
  std::int64_t unfinished = 0;  ///< kernels, copies and fills without times: not written
  std::int64_t unknown_kinds = 0;
  std::int64_t without_thread = 0;  ///< rows at kUnknownThread: no record of their call came
};

/// A launch of a counter pass, in which CUPTI gives no records: seen as a call of the driver.
struct SeenLaunch {
  std::string kernel;  ///< mangled
  std::uint32_t device = 0, context = 0;
  std::uint32_t stream =
      0;                   ///< a number of its own for each stream of a context, 0 the default one
  std::uint32_t call = 0;  ///< correlation id
  std::int64_t tid = 0;
  std::array<std::uint32_t, 3> grid{}, block{};  ///< blocks, threads
  std::int64_t start = 0, end = 0;               ///< of the call, ns of CLOCK_BOOTTIME
};

class Converter {
 public:
  /// All three outlive the converter.
  Converter(Database& database, const cuda::Driver& driver, const cuda::Cupti& cupti, What what);

  /// Records of these threads are ours, not the program's, and are left out. Before take().
  void ignore_thread(std::uint32_t tid) { ignored_.insert(tid); }
  /// Notes which thread made a call. For all records of a buffer before the first take(): a launch
  /// may stand behind its kernel.
  void note(const cuda::Record& record);
  /// Writes one record.
  void take(const cuda::Record& record);
  [[nodiscard]] const Totals& totals() const { return totals_; }

  /// Writes a launch that has no record; the event of its dispatch.
  std::int64_t launched(const SeenLaunch& launch);

 private:
  struct SymbolKey {
    const char* name;
    std::uint32_t device;
    std::uint32_t registers;
    std::int32_t shared;
    friend bool operator==(const SymbolKey&, const SymbolKey&) = default;
  };
  struct SymbolHash {
    std::size_t operator()(const SymbolKey& key) const {
      const auto name = reinterpret_cast<std::uintptr_t>(key.name);
      return ((name >> 3) * 0x9e3779b97f4a7c15U) ^ key.device ^ (std::size_t{key.registers} << 8) ^
             (static_cast<std::size_t>(key.shared) << 16);
    }
  };
  struct KnownSymbol {
    std::string name;
    std::int64_t id = 0;
  };

  void take_kernel(const cuda::KernelRecord& record);
  void take_copy(const cuda::CopyRecord& record);
  void take_peer_copy(const cuda::PeerCopyRecord& record);
  void take_fill(const cuda::FillRecord& record);
  void take_call(const cuda::ApiRecord& record);
  void take_event(const cuda::EventRecord& record);
  void take_sync(const cuda::SynchronizationRecord& record);
  void take_memory(const cuda::MemoryRecord& record);
  void take_pool(const cuda::MemoryPoolRecord& record);
  void take_context(const cuda::ContextRecord& record);

  /// Whether it ran: has a start and an end. Counts it where not.
  bool finished(std::uint64_t start, std::uint64_t end);
  std::int64_t agent_of(std::uint32_t device);
  std::int64_t stream_of(std::uint32_t context, std::uint32_t stream);
  std::int64_t thread_of(std::uint32_t call) const;
  /// The row added last stands at kUnknownThread if its call was not seen yet: once it is, the row
  /// gets its thread.
  void await_caller(std::uint32_t call, OfThread table);
  std::int64_t symbol_of(const cuda::KernelRecord& record);
  std::int64_t name_of(const cuda::ApiRecord& record);
  void argue(std::uint32_t call, std::int64_t position, std::string_view name, std::uint64_t value);

  Database& database_;
  const cuda::Driver& driver_;
  const cuda::Cupti& cupti_;
  What what_;
  Totals totals_;
  std::int64_t pid_;
  std::unordered_set<std::uint32_t> ignored_;
  std::unordered_set<std::uint32_t> agents_;
  /// By context << 32 | stream. The second context with a stream's number gets another id.
  std::unordered_map<std::uint64_t, std::int64_t> streams_;
  std::unordered_map<std::uint32_t, std::uint32_t> owners_;    ///< stream id: its context
  std::unordered_map<std::uint32_t, std::uint32_t> defaults_;  ///< context: its default stream
  std::unordered_map<SymbolKey, KnownSymbol, SymbolHash> symbols_;
  std::unordered_map<std::uint64_t, std::int64_t> call_names_;  ///< by kind << 32 | callback id
  /// The last calls by the low bits of their correlation ids: (id, thread). Bounded.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> callers_;
  /// Rows whose call was not seen yet, by call. At most kMostAwaited.
  std::unordered_multimap<std::uint32_t, std::pair<OfThread, std::int64_t>> awaited_;
  Ranges ranges_;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> seen_symbols_;  ///< by agent, name
};

}  // namespace perflab::record
