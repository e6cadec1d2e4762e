// Pointers to variables of code in a capture's memory and arguments. CUDA gives a module's
// variables other addresses in every process and places none of them where one wants it, so a
// replay puts a copy where each was (docs/facts/cuda_cupti.md "Modules").
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "capture/capture_reader.h"

namespace perflab::replay {

/// A variable that something points to.
struct VariablePointers {
  std::size_t region = 0;   ///< of the variable
  std::uint64_t count = 0;  ///< words that are addresses in it, at multiples of 8
  std::string first;        ///< where the first one is: "argument word 8", "0x7f..."
};

/// Reads the arguments and, when there are variables at all, all captured memory. By region.
/// Errors: those of the reader.
Result<std::vector<VariablePointers>> variable_pointers(const capture::Capture& capture);

}  // namespace perflab::replay
