// Writers of AMDGPU code objects, host ELF files, offload bundles and packager images, so that
// tests have every form of them without recordings. Facts: docs/facts/code_object.md; the writers
// share nothing with the readers of src/code but those facts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/json.h"

namespace perflab::test {

/// One section of an ELF file. Loaded sections get a PT_LOAD segment each, and notes a PT_NOTE.
struct ElfPart {
  std::string name;
  std::uint32_t type = 1;  ///< SHT_PROGBITS
  std::string bytes;
  bool loaded = true;
  std::uint64_t alignment = 8;
  std::uint32_t link = 0;  ///< section number: parts count from 1
  std::uint64_t entry_bytes = 0;
};

/// An ELF file: header fields and sections.
struct ElfSpec {
  std::uint16_t type = 3;      ///< ET_DYN
  std::uint16_t machine = 62;  ///< EM_X86_64
  std::uint8_t os_abi = 0;
  std::uint8_t abi_version = 0;
  std::uint32_t flags = 0;
  std::vector<ElfPart> parts{};
  bool section_table = true;
};

/// Where parts come to lie.
struct ElfLayout {
  std::vector<std::uint64_t> offsets;    ///< in the file, one per part
  std::vector<std::uint64_t> addresses;  ///< offset and a part's own distance: never the offset
  std::uint64_t end = 0;                 ///< file offset behind the last part
};
ElfLayout layout_of(const ElfSpec& spec);
std::string write_elf(const ElfSpec& spec);

/// One kernel of a written code object.
struct WrittenKernel {
  std::string name;
  Json metadata{};     ///< its map in the note; made by kernel_metadata()
  std::string code{};  ///< instruction bytes
  std::uint32_t group_segment_bytes = 0;
  std::uint32_t private_segment_bytes = 0;
  std::uint32_t kernarg_bytes = 0;
  std::uint32_t rsrc1 = 0, rsrc2 = 0, rsrc3 = 0;
  std::uint16_t properties = 0;
  std::uint16_t kernarg_preload = 0;
};

/// A variable of a written code object, in its .data.
struct WrittenVariable {
  std::string name;
  std::string bytes;        ///< its contents
  bool exported = true;     ///< else a local symbol, which runtimes do not list
  bool replaceable = true;  ///< of default visibility; else protected
  bool function = false;    ///< a symbol of a function, for all that it lies in .data
};

/// A code object.
struct WrittenCodeObject {
  std::uint8_t abi_version = 3;    ///< code object version - 2
  std::uint32_t flags = 0x54c;     ///< gfx942, features any
  Json metadata = Json::object();  ///< keys beside "amdhsa.kernels"; made by object_metadata()
  std::vector<WrittenKernel> kernels{};
  std::vector<WrittenVariable> variables{};
  bool dynamic_symbols = true;
  bool symbols = false;  ///< .symtab as well
  bool section_table = true;
};

/// "amdhsa.version" of a code object version and, from 4 on, "amdhsa.target".
Json object_metadata(int version, std::string_view target);

/// The required keys of a kernel's map and its counts, with `arguments` ([offset, size, kind]).
struct WrittenArgument {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::string kind;
};
Json kernel_metadata(std::string_view name, std::span<const WrittenArgument> arguments = {});

std::string write_code_object(const WrittenCodeObject& spec);

/// A code object as compilers make it: `kernels` kernels with pointers, a count and the hidden
/// arguments of version 5.
WrittenCodeObject sample_code_object(int kernels, std::uint32_t flags = 0x54c,
                                     std::string_view target = "amdgcn-amd-amdhsa--gfx942");

/// One entry of a bundle.
struct WrittenEntry {
  std::string id;
  std::string bytes;
};
std::string write_bundle(std::span<const WrittenEntry> entries, std::uint64_t alignment = 4096);

/// A compressed bundle (CCOB) of version 1, 2 or 3. The hash is left 0: readers may ignore it.
enum class Packing { zlib, zstd };
std::string compress_bundle(std::string_view plain, int version, Packing packing);

/// A host file with `fatbin` in .hip_fatbin (none when it is empty) and wrappers in
/// .hipFatBinSegment, which point to these offsets of it, or nowhere (0) when `relocated`.
struct WrittenWrapper {
  std::uint32_t magic = 0x48495046;  ///< "HIPF"
  std::uint64_t offset = 0;
};
std::string write_host_file(std::string_view fatbin, std::span<const WrittenWrapper> wrappers,
                            bool relocated = false);

/// An image of the offload packager, version 1 (one entry) or 2.
struct WrittenImage {
  std::string triple;
  std::string arch;
  std::string bytes;
};
std::string write_packager_image(std::span<const WrittenImage> images, int version);

}  // namespace perflab::test
