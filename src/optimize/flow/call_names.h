// What a function does, by its name: the one table of names that the source model and the guards
// share. A name that is not here is not known, which never speaks for it.
#pragma once

#include <cstdint>
#include <string_view>

namespace perflab::optimize {

enum class CallKind : std::uint8_t {
  unknown,
  harmless,       ///< arithmetic, conversions, vectors, copies, hints, indices of work-items
  barrier,        ///< lanes wait for each other: of a work-group, a wave, a grid
  fence,          ///< accesses keep their order; nobody waits
  atomic,         ///< atomic operations
  lanes,          ///< shuffles, ballots, votes: lanes of a wave read each other
  clock,          ///< clocks, timers, counters of cycles
  outside,        ///< files, processes, network, environment
  makes_pointer,  ///< pointers that are not derived from an argument
  device          ///< one instruction of the GPU that works on its operands; no more is known
};

/// `qualified`: with namespaces and classes, inline namespaces left out.
CallKind kind_of_call(std::string_view qualified);

/// Whether a variable outside of functions is the place of a work-item or the like: "threadIdx".
bool is_index_variable(std::string_view qualified);

/// Attributes that only say how to compile or lay out; others may call, rename or place things.
/// `name`: without underscores around it and without its namespace.
bool is_plain_attribute(std::string_view name);

}  // namespace perflab::optimize
