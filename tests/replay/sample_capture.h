// Captures for the tests of replay: described region by region, written through capture::Writer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "capture/capture_reader.h"
#include "capture/writer.h"
#include "hsa/types.h"
#include "support/code_writer.h"

namespace perflab::test {

/// Where the tests put device memory: far from the heap, libraries, stacks and sanitizers' shadows.
inline constexpr std::uint64_t kSampleBase = 0x2000'0000'0000;

/// A region with its contents before and after the dispatch.
struct SampleRegion {
  capture::MemoryRegion region;
  std::vector<std::byte> before, after;
};

/// Bytes of numbers.
template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// One capture to be written.
struct SampleCapture {
  capture::Description description;
  std::vector<SampleRegion> regions;
  std::string code_object;
  std::vector<std::byte> kernarg;

  /// Adds a coarse-grained region of the GPU.
  SampleRegion& add(std::uint64_t base, std::vector<std::byte> before,
                    std::vector<std::byte> after) {
    SampleRegion one;
    one.region.base = base;
    one.region.bytes = before.size();
    one.region.pool_flags = hsa::pool_coarse_grained;
    one.region.granule = 4096;
    one.region.recommended_granule = 2U << 20U;
    one.before = std::move(before);
    one.after = std::move(after);
    regions.push_back(std::move(one));
    return regions.back();
  }
  /// Adds a variable of the code object, which has to be there already.
  SampleRegion& add_variable(std::string symbol, std::vector<std::byte> before,
                             std::vector<std::byte> after) {
    SampleRegion& one =
        add(0x7f10'0000'0000 + regions.size() * 4096, std::move(before), std::move(after));
    one.region.origin = capture::Origin::variable;
    one.region.symbol = std::move(symbol);
    one.region.code_object_hash = content_hash_text(code_object);
    return one;
  }
  /// Appends an argument to the kernargs.
  template <class T>
  void push(T value) {
    kernarg.resize((kernarg.size() + sizeof(T) - 1) / sizeof(T) * sizeof(T));
    const auto* const from = reinterpret_cast<const std::byte*>(&value);
    kernarg.insert(kernarg.end(), from, from + sizeof(T));
  }

  /// Writes it to `folder` and opens it; a failed test and nothing else on an error.
  [[nodiscard]] std::optional<capture::Capture> write(const std::filesystem::path& folder) const {
    const auto done = write_to(folder);
    if (!done) {
      ADD_FAILURE() << done.error().message;
      return std::nullopt;
    }
    auto opened = capture::Capture::open(folder);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return std::nullopt;
    }
    return std::move(*opened);
  }

 private:
  [[nodiscard]] Result<void> write_to(const std::filesystem::path& folder) const {
    PERFLAB_TRY(capture::Writer writer, capture::Writer::create(folder));
    std::vector<std::size_t> numbers;
    for (const SampleRegion& one : regions) {
      PERFLAB_TRY(const std::size_t number, writer.add_region(one.region));
      numbers.push_back(number);
      if (one.region.captured()) PERFLAB_TRY_VOID(writer.append(one.before));
    }
    for (std::size_t i = 0; i < regions.size(); ++i) {
      if (!regions[i].region.captured()) continue;
      PERFLAB_TRY_VOID(writer.changed(numbers[i]));
      PERFLAB_TRY_VOID(writer.append(regions[i].after));
    }
    PERFLAB_TRY([[maybe_unused]] const capture::Description written,
                writer.finish(description, code_object, kernarg));
    return {};
  }
};

/// A code object with one kernel of these arguments, for `target` (an ELF flag word and the same in
/// words).
inline std::string one_kernel_object(std::string_view name,
                                     const std::vector<WrittenArgument>& arguments,
                                     std::uint32_t kernarg_bytes, std::string_view code = "",
                                     std::uint32_t static_lds = 0, std::uint32_t flags = 0x54c,
                                     std::string_view target = "amdgcn-amd-amdhsa--gfx942") {
  WrittenKernel kernel{.name = std::string(name),
                       .metadata = kernel_metadata(name, arguments),
                       .code = code.empty() ? std::string("\0\0\x81\xbf", 4) : std::string(code),
                       .group_segment_bytes = static_lds,
                       .kernarg_bytes = kernarg_bytes};
  kernel.metadata[".kernarg_segment_size"] = kernarg_bytes;
  kernel.metadata[".group_segment_fixed_size"] = static_lds;
  return write_code_object(
      {.flags = flags, .metadata = object_metadata(5, target), .kernels = {std::move(kernel)}});
}

/// x[i] += 1 over `count` floats 0, 1, 2, ... at kSampleBase: kernargs {x, n}.
inline SampleCapture inplace_sample(std::uint32_t count = 4096) {
  SampleCapture sample;
  std::vector<float> before(count), after(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    before[i] = static_cast<float>(i);
    after[i] = static_cast<float>(i + 1);
  }
  sample.add(kSampleBase, bytes_of_values(before), bytes_of_values(after));
  sample.push<std::uint64_t>(kSampleBase);
  sample.push<std::uint32_t>(count);
  sample.code_object =
      one_kernel_object("inplace", {{0, 8, "global_buffer"}, {8, 4, "by_value"}}, 12);
  capture::Dispatch& dispatch = sample.description.dispatch;
  dispatch.kernel = dispatch.demangled = "inplace";
  dispatch.ordinal = 1;
  dispatch.grid = {count, 1, 1};
  dispatch.workgroup = {256, 1, 1};
  dispatch.header = 0x1502;
  dispatch.setup = 1;
  dispatch.kernarg_bytes = 12;
  dispatch.kernarg_align = 16;
  dispatch.kernarg_address = 0x7f0000001000;
  dispatch.packet = std::string(128, '0');
  dispatch.captured_ns = 2000;
  capture::Machine& machine = sample.description.machine;
  machine.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  machine.agent_name = "gfx942";
  machine.gpu_count = 1;
  machine.address_mode = "mmap";
  return sample;
}

}  // namespace perflab::test
