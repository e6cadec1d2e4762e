// See memory_map.h.
#include "cuda_sim/memory_map.h"

#include <sys/mman.h>

#include <cstdio>
#include <map>
#include <utility>
#include <vector>

namespace perflab::cuda_sim {
namespace {

std::map<std::uint64_t, Block>& blocks() {
  static auto* all = new std::map<std::uint64_t, Block>;
  return *all;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>>& holes() {
  static auto* all = new std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  return *all;
}

constexpr int kKind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void add_block(const Block& block) {
  blocks().emplace(block.base, block);
}

std::optional<Block> take_block(std::uint64_t base) {
  const auto at = blocks().find(base);
  if (at == blocks().end()) return std::nullopt;
  const Block block = at->second;
  blocks().erase(at);
  return block;
}

std::optional<Block> block_at(std::uint64_t address) {
  auto at = blocks().upper_bound(address);
  if (at == blocks().begin()) return std::nullopt;
  --at;
  if (address - at->first >= at->second.bytes) return std::nullopt;
  return at->second;
}

std::uint64_t map_memory(std::uint64_t bytes, std::uint64_t alignment, int protection) {
  const std::uint64_t whole = bytes + alignment;
  void* const made = mmap(nullptr, whole, protection, kKind, -1, 0);
  if (made == MAP_FAILED) return 0;
  const auto first = reinterpret_cast<std::uint64_t>(made);
  const std::uint64_t base = rounded_up(first, alignment);
  if (base != first) unmap_memory(first, base - first);
  if (const std::uint64_t behind = first + whole - (base + bytes); behind != 0)
    unmap_memory(base + bytes, behind);
  return base;
}

bool map_memory_at(std::uint64_t address, std::uint64_t bytes, int protection) {
  void* const wish = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  void* const made = mmap(wish, bytes, protection, kKind | MAP_FIXED_NOREPLACE, -1, 0);
  if (made == MAP_FAILED) return false;
  if (made == wish) return true;
  munmap(made, bytes);
  return false;
}

void unmap_memory(std::uint64_t address, std::uint64_t bytes) {
  munmap(reinterpret_cast<void*>(address), bytes);  // NOLINT(performance-no-int-to-ptr)
}

void note_holes() {
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, maps) != nullptr) {
    unsigned long first = 0;
    unsigned long last = 0;
    unsigned long inode = 0;
    char permissions[5] = "";
    if (std::sscanf(line, "%lx-%lx %4s %*x %*s %lu", &first, &last, permissions, &inode) != 4)
      continue;
    if (inode == 0 && permissions[0] == '-' && last - first >= large_page)
      holes().emplace_back(first, last);
  }
  std::fclose(maps);
}

bool is_hole(std::uint64_t address, std::uint64_t bytes) {
  for (const auto& [first, last] : holes())
    if (address < last && first < address + bytes) return true;
  return false;
}

}  // namespace perflab::cuda_sim
