// See code_writer.h.
#include "support/code_writer.h"

#include <elf.h>
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

namespace perflab::test {
namespace {

// Kept small, so that mutation tests see every byte; still never 0, as in compilers' files.
constexpr std::uint64_t kAddressDistance = 0x1000;
constexpr std::uint64_t kDescriptorBytes = 64;
constexpr std::uint64_t kCodeAlignment = 256;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void put_at(std::string& out, std::uint64_t at, T value) {
  std::memcpy(out.data() + at, &value, sizeof value);
}

void pad(std::string& out, std::uint64_t alignment) {
  out.resize((out.size() + alignment - 1) / alignment * alignment, '\0');
}

std::uint16_t segment_count(const ElfSpec& spec) {
  std::size_t count = 0;
  for (const ElfPart& part : spec.parts)
    count += (part.loaded ? 1U : 0U) + (part.type == SHT_NOTE ? 1U : 0U);
  return static_cast<std::uint16_t>(count);
}

void put_segments(std::string& out, const ElfSpec& spec, const ElfLayout& layout) {
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const ElfPart& part = spec.parts[i];
    Elf64_Phdr header{.p_type = PT_LOAD,
                      .p_flags = PF_R,
                      .p_offset = layout.offsets[i],
                      .p_vaddr = layout.addresses[i],
                      .p_paddr = layout.addresses[i],
                      .p_filesz = part.bytes.size(),
                      .p_memsz = part.bytes.size(),
                      .p_align = part.alignment};
    if (part.loaded) put(out, header);
    header.p_type = PT_NOTE;
    header.p_align = 4;
    if (part.type == SHT_NOTE) put(out, header);
  }
}

void put_sections(std::string& out, const ElfSpec& spec, const ElfLayout& layout) {
  std::string names(1, '\0');
  std::vector<Elf64_Shdr> headers(1);
  const auto add = [&](const ElfPart& part, std::uint64_t offset, std::uint64_t address) {
    headers.push_back({.sh_name = static_cast<Elf64_Word>(names.size()),
                       .sh_type = part.type,
                       .sh_flags = (part.loaded ? Elf64_Xword{SHF_ALLOC} : 0) |
                                   (part.name == ".text" ? Elf64_Xword{SHF_EXECINSTR} : 0),
                       .sh_addr = part.loaded ? address : 0,
                       .sh_offset = offset,
                       .sh_size = part.bytes.size(),
                       .sh_link = part.link,
                       .sh_info = 0,
                       .sh_addralign = part.alignment,
                       .sh_entsize = part.entry_bytes});
    names.append(part.name).push_back('\0');
  };
  for (std::size_t i = 0; i < spec.parts.size(); ++i)
    add(spec.parts[i], layout.offsets[i], layout.addresses[i]);
  add({.name = ".shstrtab", .type = SHT_STRTAB, .bytes = {}, .loaded = false, .alignment = 1},
      out.size(), 0);
  headers.back().sh_size = names.size();
  out += names;
  pad(out, 8);
  put_at<std::uint64_t>(out, offsetof(Elf64_Ehdr, e_shoff), out.size());
  for (const Elf64_Shdr& header : headers) put(out, header);
}

/// Padded for a note entry.
std::string note_of(std::string_view name, std::uint32_t type, std::string_view description) {
  std::string out;
  put(out, Elf64_Nhdr{.n_namesz = static_cast<Elf64_Word>(name.size() + 1),
                      .n_descsz = static_cast<Elf64_Word>(description.size()),
                      .n_type = type});
  out.append(name).push_back('\0');
  pad(out, 4);
  out += description;
  pad(out, 4);
  return out;
}

std::string metadata_note(const WrittenCodeObject& spec) {
  Json metadata = spec.metadata;
  Json kernels = Json::array();
  for (const WrittenKernel& kernel : spec.kernels) kernels.push_back(kernel.metadata);
  metadata["amdhsa.kernels"] = kernels;
  const std::vector<std::uint8_t> packed = Json::to_msgpack(metadata);
  return note_of("AMDGPU", 32, {reinterpret_cast<const char*>(packed.data()), packed.size()});
}

std::string descriptor_of(const WrittenKernel& kernel, std::int64_t entry_offset) {
  std::string out(kDescriptorBytes, '\0');
  put_at(out, 0, kernel.group_segment_bytes);
  put_at(out, 4, kernel.private_segment_bytes);
  put_at(out, 8, kernel.kernarg_bytes);
  put_at(out, 16, entry_offset);
  put_at(out, 44, kernel.rsrc3);
  put_at(out, 48, kernel.rsrc1);
  put_at(out, 52, kernel.rsrc2);
  put_at(out, 56, kernel.properties);
  put_at(out, 58, kernel.kernarg_preload);
  return out;
}

// Parts of a code object; sections count from 1. Only an object with variables has .data.
constexpr std::size_t kRodata = 1, kText = 2, kData = 3;
constexpr std::uint64_t kVariableAlignment = 16;

/// The symbols of a code object: two per kernel, one per variable.
class SymbolTable {
 public:
  SymbolTable(const std::vector<WrittenKernel>& kernels,
              const std::vector<WrittenVariable>& variables)
      : kernels_(kernels.size()) {
    for (const WrittenKernel& kernel : kernels)
      for (const char* ending : {"", ".kd"}) add(kernel.name + ending);
    for (const WrittenVariable& variable : variables) add(variable.name);
  }

  /// Adds the table, still empty, and its names.
  void add_to(ElfSpec& elf, const char* name, std::uint32_t type, const char* strings,
              bool loaded) const {
    elf.parts.push_back({.name = name,
                         .type = type,
                         .bytes = std::string(symbols_.size() * sizeof(Elf64_Sym), '\0'),
                         .loaded = loaded,
                         .link = static_cast<std::uint32_t>(elf.parts.size() + 2),
                         .entry_bytes = sizeof(Elf64_Sym)});
    elf.parts.push_back(
        {.name = strings, .type = SHT_STRTAB, .bytes = names_, .loaded = loaded, .alignment = 1});
  }

  void place(std::size_t kernel, std::uint64_t entry, std::uint64_t code_bytes,
             std::uint64_t descriptor) {
    Elf64_Sym& function = symbols_[1 + 2 * kernel];
    function.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    function.st_shndx = kText + 1;
    function.st_value = entry;
    function.st_size = code_bytes;
    Elf64_Sym& object = symbols_[2 + 2 * kernel];
    object.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    object.st_shndx = kRodata + 1;
    object.st_value = descriptor;
    object.st_size = kDescriptorBytes;
  }

  void place_variable(std::size_t number, const WrittenVariable& variable, std::uint64_t address) {
    Elf64_Sym& symbol = symbols_[1 + 2 * kernels_ + number];
    symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(
        variable.exported ? STB_GLOBAL : STB_LOCAL, variable.function ? STT_FUNC : STT_OBJECT));
    symbol.st_other = variable.replaceable ? STV_DEFAULT : STV_PROTECTED;
    symbol.st_shndx = kData + 1;
    symbol.st_value = address;
    symbol.st_size = variable.bytes.size();
  }

  [[nodiscard]] std::string bytes() const {
    std::string out;
    for (const Elf64_Sym& symbol : symbols_) put(out, symbol);
    return out;
  }

 private:
  void add(std::string_view name) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(names_.size());
    symbols_.push_back(symbol);
    names_.append(name).push_back('\0');
  }

  std::size_t kernels_;
  std::string names_ = std::string(1, '\0');
  std::vector<Elf64_Sym> symbols_ = std::vector<Elf64_Sym>(1);
};

}  // namespace

ElfLayout layout_of(const ElfSpec& spec) {
  ElfLayout layout;
  std::uint64_t at = sizeof(Elf64_Ehdr) + segment_count(spec) * sizeof(Elf64_Phdr);
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    const std::uint64_t alignment = spec.parts[i].alignment;
    at = (at + alignment - 1) / alignment * alignment;
    layout.offsets.push_back(at);
    layout.addresses.push_back(at + kAddressDistance * (i + 1));
    at += spec.parts[i].bytes.size();
  }
  layout.end = at;
  return layout;
}

std::string write_elf(const ElfSpec& spec) {
  const ElfLayout layout = layout_of(spec);
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_ident[EI_OSABI] = spec.os_abi;
  header.e_ident[EI_ABIVERSION] = spec.abi_version;
  header.e_type = spec.type;
  header.e_machine = spec.machine;
  header.e_version = EV_CURRENT;
  header.e_flags = spec.flags;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = segment_count(spec);
  if (spec.section_table) {
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<Elf64_Half>(spec.parts.size() + 2);
    header.e_shstrndx = static_cast<Elf64_Half>(spec.parts.size() + 1);
  }
  std::string out;
  put(out, header);
  put_segments(out, spec, layout);
  for (std::size_t i = 0; i < spec.parts.size(); ++i) {
    out.resize(layout.offsets[i], '\0');
    out += spec.parts[i].bytes;
  }
  if (spec.section_table) put_sections(out, spec, layout);
  return out;
}

Json object_metadata(int version, std::string_view target) {
  Json metadata = Json::object();
  // Version 6 writes the minor number of version 5.
  metadata["amdhsa.version"] = {1, std::min(version, 5) - 3};
  if (version >= 4) metadata["amdhsa.target"] = target;
  return metadata;
}

Json kernel_metadata(std::string_view name, std::span<const WrittenArgument> arguments) {
  Json kernel = Json::object();
  Json list = Json::array();
  std::int64_t end = 0;
  for (const WrittenArgument& argument : arguments) {
    Json entry = Json::object();
    entry[".offset"] = argument.offset;
    entry[".size"] = argument.size;
    entry[".value_kind"] = argument.kind;
    if (argument.kind == "global_buffer") entry[".address_space"] = "global";
    list.push_back(std::move(entry));
    end = std::max(end, argument.offset + argument.size);
  }
  kernel[".args"] = std::move(list);
  kernel[".group_segment_fixed_size"] = 0;
  kernel[".kernarg_segment_align"] = 8;
  kernel[".kernarg_segment_size"] = end;
  kernel[".max_flat_workgroup_size"] = 1024;
  kernel[".name"] = name;
  kernel[".private_segment_fixed_size"] = 0;
  kernel[".sgpr_count"] = 16;
  kernel[".sgpr_spill_count"] = 0;
  kernel[".symbol"] = std::string(name) + ".kd";
  kernel[".vgpr_count"] = 8;
  kernel[".vgpr_spill_count"] = 0;
  kernel[".wavefront_size"] = 64;
  return kernel;
}

std::string write_code_object(const WrittenCodeObject& spec) {
  std::string code;
  std::vector<std::uint64_t> code_offsets;
  for (const WrittenKernel& kernel : spec.kernels) {
    pad(code, kCodeAlignment);
    code_offsets.push_back(code.size());
    code += kernel.code;
  }
  ElfSpec elf{.type = ET_DYN,
              .machine = EM_AMDGPU,
              .os_abi = 64,
              .abi_version = spec.abi_version,
              .flags = spec.flags,
              .parts = {},
              .section_table = spec.section_table};
  elf.parts.push_back(
      {.name = ".note", .type = SHT_NOTE, .bytes = metadata_note(spec), .alignment = 4});
  elf.parts.push_back({.name = ".rodata",
                       .bytes = std::string(kDescriptorBytes * spec.kernels.size(), '\0'),
                       .alignment = 64});
  elf.parts.push_back({.name = ".text", .bytes = code, .alignment = kCodeAlignment});
  std::vector<std::uint64_t> variable_offsets;
  std::string data;
  for (const WrittenVariable& variable : spec.variables) {
    pad(data, kVariableAlignment);
    variable_offsets.push_back(data.size());
    data += variable.bytes;
  }
  if (!spec.variables.empty())
    elf.parts.push_back({.name = ".data", .bytes = data, .alignment = kVariableAlignment});
  SymbolTable symbols(spec.kernels, spec.variables);
  if (spec.dynamic_symbols) symbols.add_to(elf, ".dynsym", SHT_DYNSYM, ".dynstr", true);
  if (spec.symbols) symbols.add_to(elf, ".symtab", SHT_SYMTAB, ".strtab", false);

  // Sizes are settled; now what depends on addresses.
  const ElfLayout layout = layout_of(elf);
  elf.parts[kRodata].bytes.clear();
  for (std::size_t i = 0; i < spec.kernels.size(); ++i) {
    const std::uint64_t descriptor = layout.addresses[kRodata] + i * kDescriptorBytes;
    const std::uint64_t entry = layout.addresses[kText] + code_offsets[i];
    elf.parts[kRodata].bytes +=
        descriptor_of(spec.kernels[i], static_cast<std::int64_t>(entry - descriptor));
    symbols.place(i, entry, spec.kernels[i].code.size(), descriptor);
  }
  for (std::size_t i = 0; i < spec.variables.size(); ++i)
    symbols.place_variable(i, spec.variables[i], layout.addresses[kData] + variable_offsets[i]);
  for (ElfPart& part : elf.parts)
    if (part.type == SHT_DYNSYM || part.type == SHT_SYMTAB) part.bytes = symbols.bytes();
  return write_elf(elf);
}

WrittenCodeObject sample_code_object(int kernels, std::uint32_t flags, std::string_view target) {
  WrittenCodeObject object{.flags = flags, .metadata = object_metadata(5, target), .kernels = {}};
  std::vector<WrittenArgument> arguments{{0, 8, "global_buffer"},
                                         {8, 8, "global_buffer"},
                                         {16, 8, "global_buffer"},
                                         {24, 4, "by_value"}};
  constexpr std::int64_t kHidden = 32;
  for (int axis = 0; axis < 3; ++axis) {
    const std::string letter(1, static_cast<char>('x' + axis));
    arguments.push_back({kHidden + 4 * axis, 4, "hidden_block_count_" + letter});
    arguments.push_back({kHidden + 12 + 2 * axis, 2, "hidden_group_size_" + letter});
    arguments.push_back({kHidden + 18 + 2 * axis, 2, "hidden_remainder_" + letter});
    arguments.push_back({kHidden + 40 + 8 * axis, 8, "hidden_global_offset_" + letter});
  }
  arguments.push_back({kHidden + 64, 2, "hidden_grid_dims"});
  for (int i = 0; i < kernels; ++i) {
    WrittenKernel kernel{.name = fmt::format("_Z11saxpy_{:05}PKfS0_Pfi", i)};
    kernel.metadata = kernel_metadata(kernel.name, arguments);
    kernel.metadata[".kernarg_segment_size"] = kHidden + 256;
    kernel.metadata[".agpr_count"] = i % 3 == 2 ? 4 : 0;
    kernel.metadata[".vgpr_count"] = 8 + i % 40;
    kernel.metadata[".language"] = "OpenCL C";
    kernel.metadata[".language_version"] = {2, 0};
    kernel.metadata[".uniform_work_group_size"] = 1;
    kernel.metadata[".uses_dynamic_stack"] = false;
    kernel.kernarg_bytes = kHidden + 256;
    kernel.rsrc1 = 0x00af0000U | static_cast<std::uint32_t>((7 + i % 40) / 8);
    kernel.rsrc2 = 0x84;
    kernel.properties = 0x8;
    for (int nop = 0; nop < i % 5; ++nop) put<std::uint32_t>(kernel.code, 0xbf800000);  // s_nop 0
    put<std::uint32_t>(kernel.code, 0xbf810000);                                        // s_endpgm
    object.kernels.push_back(std::move(kernel));
  }
  return object;
}

std::string write_bundle(std::span<const WrittenEntry> entries, std::uint64_t alignment) {
  std::string out = "__CLANG_OFFLOAD_BUNDLE__";
  put<std::uint64_t>(out, entries.size());
  std::vector<std::uint64_t> places;
  for (const WrittenEntry& entry : entries) {
    places.push_back(out.size());
    put<std::uint64_t>(out, 0);
    put<std::uint64_t>(out, entry.bytes.size());
    put<std::uint64_t>(out, entry.id.size());
    out += entry.id;
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    pad(out, alignment);
    put_at<std::uint64_t>(out, places[i], out.size());
    out += entries[i].bytes;
  }
  return out;
}

std::string compress_bundle(std::string_view plain, int version, Packing packing) {
  std::string payload;
  if (packing == Packing::zlib) {
    uLongf size = compressBound(plain.size());
    payload.resize(size);
    compress(reinterpret_cast<Bytef*>(payload.data()), &size,
             reinterpret_cast<const Bytef*>(plain.data()), plain.size());
    payload.resize(size);
  } else {
    payload.resize(ZSTD_compressBound(plain.size()));
    payload.resize(ZSTD_compress(payload.data(), payload.size(), plain.data(), plain.size(),
                                 ZSTD_CLEVEL_DEFAULT));
  }
  std::string out = "CCOB";
  put(out, static_cast<std::uint16_t>(version));
  put<std::uint16_t>(out, packing == Packing::zlib ? 0 : 1);
  const std::uint64_t header = version == 1 ? 20 : version == 2 ? 24 : 32;
  const std::uint64_t total = header + payload.size();
  if (version == 2) put(out, static_cast<std::uint32_t>(total));
  if (version == 3) put(out, total);
  if (version == 3)
    put<std::uint64_t>(out, plain.size());
  else
    put(out, static_cast<std::uint32_t>(plain.size()));
  put<std::uint64_t>(out, 0);  // hash
  return out + payload;
}

std::string write_host_file(std::string_view fatbin, std::span<const WrittenWrapper> wrappers,
                            bool relocated) {
  ElfSpec spec;
  spec.parts.push_back({.name = ".text", .bytes = "\xc3", .alignment = 16});
  spec.parts.push_back({.name = ".hip_fatbin", .bytes = std::string(fatbin), .alignment = 4096});
  spec.parts.push_back(
      {.name = ".hipFatBinSegment", .bytes = std::string(24 * wrappers.size(), '\0')});
  spec.parts.push_back({.name = ".data", .bytes = "device code ends before here"});
  const std::uint64_t start = layout_of(spec).addresses[1];
  std::string& segment = spec.parts[2].bytes;
  segment.clear();
  for (const WrittenWrapper& wrapper : wrappers) {
    put(segment, wrapper.magic);
    put<std::uint32_t>(segment, 1);
    put<std::uint64_t>(segment, relocated ? 0 : start + wrapper.offset);
    put<std::uint64_t>(segment, 0);
  }
  return write_elf(spec);
}

std::string write_packager_image(std::span<const WrittenImage> images, int version) {
  constexpr std::uint64_t kHeader = 32, kEntry = 40;
  const std::uint64_t pair = version == 1 ? 16 : 24;
  std::string out(kHeader + kEntry * images.size(), '\0');
  out.replace(0, 4, "\x10\xFF\x10\xAD");
  put_at(out, 4, static_cast<std::uint32_t>(version));
  put_at(out, 16, kHeader);
  put_at(out, 24, version == 1 ? kEntry : images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::uint64_t entry = kHeader + kEntry * i;
    const std::uint64_t pairs = out.size();
    out.resize(out.size() + 2 * pair, '\0');
    const auto text = [&](std::uint64_t at, std::string_view value) {
      put_at<std::uint64_t>(out, at, out.size());
      out.append(value).push_back('\0');
    };
    text(pairs, "arch");
    text(pairs + 8, images[i].arch);
    text(pairs + pair, "triple");
    text(pairs + pair + 8, images[i].triple);
    if (version == 2) {
      put_at<std::uint64_t>(out, pairs + 16, images[i].arch.size());
      put_at<std::uint64_t>(out, pairs + pair + 16, images[i].triple.size());
    }
    pad(out, 8);
    put_at<std::uint16_t>(out, entry, 1);      // an object
    put_at<std::uint16_t>(out, entry + 2, 4);  // of HIP
    put_at(out, entry + 8, pairs);
    put_at<std::uint64_t>(out, entry + 16, 2);
    put_at<std::uint64_t>(out, entry + 24, out.size());
    put_at<std::uint64_t>(out, entry + 32, images[i].bytes.size());
    out += images[i].bytes;
    pad(out, 8);
  }
  put_at<std::uint64_t>(out, 8, out.size());
  return out;
}

}  // namespace perflab::test
