// A small capture with one region of every kind, for tests that look at captures from outside.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "capture/written_capture.h"
#include "support/code_writer.h"

namespace perflab::test {

inline constexpr std::uint64_t kSampleCaptureBase = 0x7f1000000000;

/// Three regions, one of which was not captured; `pointer` is the kernel's second argument: one
/// into no region, 0x555500000000, is what cannot be replayed.
inline WrittenCapture sample_capture(std::uint64_t pointer) {
  WrittenCapture written;
  auto& description = written.description;
  description.dispatch = {.kernel = "_Z11saxpy_00000PKfS0_Pfi",
                          .demangled = "saxpy(float const*)",
                          .ordinal = 2,
                          .grid = {500, 1, 1},
                          .workgroup = {64, 1, 1},
                          .header = 0x1502,
                          .setup = 1,
                          .group_segment_bytes = 1024,
                          .packet = {},
                          .captured_ns = 12340};
  description.machine = {.isa = "amdgcn-amd-amdhsa--gfx942",
                         .agent_name = "gfx942",
                         .product_name = "",
                         .compute_units = 304,
                         .gpu_index = 0,
                         .gpu_count = 1,
                         .runtime_version = "1.21",
                         .rocm_version = "7.1",
                         .address_mode = "mmap"};
  description.limits = {"a queue of another GPU was left running"};
  written.code_object = write_code_object(sample_code_object(2));
  written.kernarg.assign(288, '\0');
  std::memcpy(written.kernarg.data(), &kSampleCaptureBase, 8);
  std::memcpy(written.kernarg.data() + 8, &pointer, 8);
  capture::MemoryRegion region;
  region.base = kSampleCaptureBase;
  region.pool_flags = 4;
  std::string after(3 * capture::kPageBytes + 5, 'a');
  after[capture::kPageBytes] = 'b';
  written.regions.push_back({region, std::string(3 * capture::kPageBytes + 5, 'a'), after});
  region.base += 0x100000;
  written.regions.push_back({region, std::string(2 * capture::kPageBytes, '\0'), {}});
  region.base += 0x100000;
  region.origin = capture::Origin::locked;
  region.on_gpu = false;
  region.bytes = 4096;
  region.not_captured = "it is memory of the host";
  written.regions.push_back({region, "", {}});
  return written;
}

}  // namespace perflab::test
