// Writers of cubins and fat binaries, so that tests have them without nvcc: the layout of CUDA 13's
// (ABI version 8) and of older ones (7). Facts: docs/facts/cuda_code.md; they share nothing with
// the readers of src/code but those.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::test {

/// One parameter, in order; of more than 16 383 bytes in the attribute for large ones.
struct WrittenCubinParameter {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

/// One kernel of a written cubin.
struct WrittenCubinKernel {
  std::string name;
  std::uint32_t registers = 16;
  std::uint32_t shared_bytes = 0;  ///< static, without what the system reserves
  bool shared_section = false;     ///< also when it has none of its own, as with dynamic memory
  std::uint32_t frame_bytes = 0, stack_bytes = 0;
  std::uint32_t spills = 0;  ///< instructions that the compiler lists
  std::vector<WrittenCubinParameter> parameters{};
  std::optional<std::array<std::uint32_t, 3>> max_threads{}, required_threads{}, cluster{};
  std::string code = std::string(128, '\x15');
  bool local = false;  ///< a local symbol, as kernels of unnamed namespaces have
  bool entry = true;   ///< else a device function
};

/// One variable: its contents, or `zeros` bytes that the file does not hold.
struct WrittenCubinVariable {
  std::string name;
  std::string contents{};
  std::uint64_t zeros = 0;
  bool constant = false, managed = false, local = true;
};

/// A section that a cubin has besides.
struct WrittenCubinSection {
  std::string name;
  std::string bytes;
};

struct WrittenCubin {
  std::uint32_t architecture = 90;
  std::uint8_t abi_version = 8;
  std::uint16_t type = 2;            ///< ET_EXEC; 1: not linked
  std::uint32_t cuda_version = 130;  ///< CUDA 13.0
  std::vector<WrittenCubinKernel> kernels{};
  std::vector<WrittenCubinVariable> variables{};
  std::vector<WrittenCubinSection> sections{};
};

std::string write_cubin(const WrittenCubin& spec);

/// How an entry of a fat binary is packed.
enum class FatbinPacking { none, zstd, lz4 };
/// One entry: a cubin, or the text of PTX.
struct WrittenFatbinEntry {
  std::uint32_t architecture = 90;
  std::string bytes;
  bool ptx = false;
  FatbinPacking packing = FatbinPacking::none;
};
std::string write_fatbin(std::span<const WrittenFatbinEntry> entries);

/// A host ELF file with this in a section (".nv_fatbin").
std::string write_cuda_host_file(std::string_view section, std::string_view fatbin);

}  // namespace perflab::test
