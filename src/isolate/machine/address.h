// Addresses that calls of a runtime give as pointers, as numbers.
#pragma once

#include <cstdint>

namespace perflab::isolate {

inline std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace perflab::isolate
