// What must hold for any bytes that are given to the readers of device code: a result whose views
// lie inside the bytes, or one line of bad input. Shared by mutation tests and fuzz targets, which
// run under AddressSanitizer: reading what is reported is part of the check.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "code/cubin/cubin.h"
#include "code/cubin/cubin_files.h"
#include "code/files/container.h"
#include "code/object/code_object.h"

namespace perflab::test {

/// What unpacking may take in tests: the samples need a few KiB.
inline constexpr std::uint64_t kMostUnpackedInTests = std::uint64_t{1} << 24;
/// Objects of one file that are read: thousands of entries may share their bytes.
inline constexpr std::size_t kMostObjectsRead = 32;

inline void check_error(const Error& error) {
  PERFLAB_CHECK(error.code == ErrorCode::bad_input);
  PERFLAB_CHECK(!error.message.empty());
  for (const char c : error.message) PERFLAB_CHECK(c >= ' ' && c <= '~');
}

/// Reads every byte, for AddressSanitizer.
inline void touch(std::string_view bytes) {
  static volatile unsigned sum = 0;
  unsigned local = 0;
  for (const char c : bytes) local += static_cast<unsigned char>(c);
  sum = sum + local;
}

/// Reads a code object; whether it could be read.
inline bool check_code_object(std::string_view bytes) {
  const auto object = code::read_code_object(bytes, "input");
  if (!object) {
    check_error(object.error());
    return false;
  }
  PERFLAB_CHECK(object->version >= 3 && object->version <= 6);
  PERFLAB_CHECK(!object->target.processor.empty());
  for (std::size_t i = 0; i < object->kernels.size(); ++i) {
    const code::KernelMetadata& kernel = object->kernels[i];
    PERFLAB_CHECK(kernel.wave_size == 32 || kernel.wave_size == 64);
    if (i < kMostObjectsRead) {
      const std::string_view code = code::kernel_code(bytes, kernel);
      PERFLAB_CHECK(code.size() == kernel.code_bytes || !kernel.descriptor);
      touch(code);
    }
  }
  return true;
}

/// Reads a cubin; whether it could be read.
inline bool check_cubin(std::string_view bytes) {
  const auto cubin = code::read_cubin(bytes, "input");
  if (!cubin) {
    check_error(cubin.error());
    return false;
  }
  PERFLAB_CHECK(cubin->abi_version == 7 || cubin->abi_version == 8);
  PERFLAB_CHECK(code::cubin_architecture(bytes) == cubin->architecture);
  for (const code::CubinKernel& kernel : cubin->kernels) {
    PERFLAB_CHECK(code::kernel_named(*cubin, kernel.name) == &kernel);
    touch(kernel.code);
  }
  for (const code::CubinVariable& variable : cubin->variables) {
    PERFLAB_CHECK(variable.contents.empty() || variable.contents.size() == variable.size);
    touch(variable.contents);
  }
  return true;
}

/// Finds the cubins of a file and reads them; whether any could be read.
inline bool check_cubin_file(std::string bytes) {
  const auto found = code::find_cubins(std::move(bytes), "input", kMostUnpackedInTests);
  if (!found) {
    check_error(found.error());
    return false;
  }
  PERFLAB_CHECK(!found->cubins.empty());
  bool read = false;
  std::size_t count = 0;
  for (const code::FatbinEntry& entry : found->cubins)
    if (++count <= kMostObjectsRead) read |= check_cubin(entry.bytes);
  return read;
}

/// Finds the code objects of a file and reads them; whether any could be read.
inline bool check_container(std::string bytes) {
  const auto container = code::find_code_objects(std::move(bytes), "input", kMostUnpackedInTests);
  if (!container) {
    check_error(container.error());
    return false;
  }
  PERFLAB_CHECK(!container->objects.empty());
  bool read = false;
  std::size_t count = 0;
  for (const code::EmbeddedObject& object : container->objects) {
    if (++count > kMostObjectsRead) break;
    PERFLAB_CHECK(!object.bytes.empty());
    if (object.file_offset)
      PERFLAB_CHECK(std::string_view(*container->file).substr(*object.file_offset).data() ==
                    object.bytes.data());
    touch(object.bytes);
    read |= check_code_object(object.bytes);
  }
  return read;
}

}  // namespace perflab::test
