// Which kernels a traced dispatch's folder holds, and which of them a wave or a code row is of.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "att/thread_trace.h"

namespace perflab::analyze {

/// A kernel of a folder.
struct TraceKernel {
  std::string mangled;    ///< empty: only its code is known
  std::string demangled;  ///< the label row's; empty: there is none
};

/// Kernels by mangled name: the same kernel in two code objects is one.
class TraceKernels {
 public:
  explicit TraceKernels(const att::ThreadTrace& trace);

  /// By name; the last one has none: it stands for what cannot be told.
  [[nodiscard]] const std::vector<TraceKernel>& all() const { return kernels_; }
  [[nodiscard]] std::size_t unknown() const { return kernels_.size() - 1; }

  /// By the occupancy row of its start, else by the label before its first instruction. Safe from
  /// several threads.
  [[nodiscard]] std::size_t of_wave(const att::Wave& wave) const;
  /// By the label before it in its code object; where none is, the only kernel of the code object.
  [[nodiscard]] std::size_t of_row(att::RowIndex row) const { return of_row_[row]; }
  /// Of an id of the trace.
  [[nodiscard]] std::size_t of_id(std::int64_t id) const;

 private:
  struct Start {
    int engine, simd, slot;
    std::int64_t time;
    int cu;
    std::int64_t kernel;
  };
  void find_names(const att::ThreadTrace& trace);
  void find_rows(const att::ThreadTrace& trace);
  void find_starts(const att::ThreadTrace& trace);

  std::vector<TraceKernel> kernels_;
  std::map<std::int64_t, std::size_t> by_id_;
  std::vector<std::size_t> of_row_;  ///< by row
  std::vector<Start> starts_;        ///< by engine, simd, slot, time
};

}  // namespace perflab::analyze
