// What the stand-in driver reads of a cubin: kernels with their resources and parameters, and
// variables. Images come from sim_cubins.h; of anything else only the form is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::cuda_sim {

struct ImageKernel {
  std::string name;
  std::string body;
  std::uint32_t registers = 0, shared_bytes = 0, local_bytes = 0, max_threads = 1024;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> parameters;  ///< offset, bytes
};

struct ImageVariable {
  std::string name;
  std::string contents;
};

struct CubinImage {
  std::string bytes;  ///< the whole file
  std::vector<ImageKernel> kernels;
  std::vector<ImageVariable> variables;
  std::string library;
};

/// Bytes of the ELF file at an address, from its header, or of a text in PTX; 0: it is none for
/// this GPU.
std::size_t image_bytes(const void* image);
CubinImage read_image(std::string_view bytes);

}  // namespace perflab::cuda_sim
