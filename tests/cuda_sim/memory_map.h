// What lies at which address in the stand-in's memory: allocations, mapped memory, variables of
// modules. Everything is memory of this process, so that kernels, which are functions of it, and
// tests can touch it.
#pragma once

#include <cstdint>
#include <optional>

#include "cuda/records.h"

namespace perflab::cuda_sim {

/// One allocation, as cuMemGetAddressRange has it.
struct Block {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;  ///< as asked for
  cuda::MemoryKind kind = cuda::MemoryKind::device;
  std::uint32_t device = 0;
  std::uint64_t mapped_base = 0, mapped_bytes = 0;  ///< to be unmapped with it; 0: nothing
};

inline constexpr std::uint64_t small_page = 4096, large_page = std::uint64_t{2} << 20U,
                               envelope = std::uint64_t{32} << 20U;

constexpr std::uint64_t rounded_up(std::uint64_t value, std::uint64_t granule) {
  return (value + granule - 1) / granule * granule;
}

// Under the machine's lock, all of them.
void add_block(const Block& block);
/// The block that begins there, no longer known; missing: none does.
std::optional<Block> take_block(std::uint64_t base);
/// The block that holds the address.
std::optional<Block> block_at(std::uint64_t address);

/// Zeroed memory of this process somewhere, aligned; 0: no room.
std::uint64_t map_memory(std::uint64_t bytes, std::uint64_t alignment, int protection);
/// The same at an address where nothing is yet; false: something is.
bool map_memory_at(std::uint64_t address, std::uint64_t bytes, int protection);
void unmap_memory(std::uint64_t address, std::uint64_t bytes);

/// Notes what stands in the device's address space before the driver does: it lays its own around
/// that, and never gives out the holes (facts D of a placeholder that was unmapped later).
void note_holes();
/// Whether the range lies in such a hole.
bool is_hole(std::uint64_t address, std::uint64_t bytes);

}  // namespace perflab::cuda_sim
