// See sim_cubins.h. What nvcc 13.0 was seen to write for sm_90: .text, .nv.info, .nv.shared and
// .nv.constant0 of each kernel, registers and frame in .nv.info, variables in .nv.global.init and
// .nv.constant3.
#include "cuda_sim/sim_cubins.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "hsa_sim/sim_code_objects.h"

namespace perflab::test {
namespace {

constexpr std::uint32_t kNvInfo = 0x70000000;  // SHT_CUDA_INFO
constexpr std::uint32_t kParameterBase = 0x210;
constexpr std::uint32_t kReservedShared = 1024;  // what CUDA keeps of it from sm_90 on
// Attributes of .nv.info, and the forms of their values.
constexpr std::uint8_t kHalf = 3, kSized = 4;
constexpr std::uint8_t kMaxThreads = 0x05, kParamCbank = 0x0a, kFrameSize = 0x11,
                       kMinStackSize = 0x12, kKernelParam = 0x17, kCbankParamSize = 0x19,
                       kRegisters = 0x2f;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_half(std::string& out, std::uint8_t attribute, std::uint16_t value) {
  out += static_cast<char>(kHalf);
  out += static_cast<char>(attribute);
  put(out, value);
}

void put_words(std::string& out, std::uint8_t attribute,
               std::initializer_list<std::uint32_t> words) {
  out += static_cast<char>(kSized);
  out += static_cast<char>(attribute);
  put(out, static_cast<std::uint16_t>(words.size() * sizeof(std::uint32_t)));
  for (const std::uint32_t word : words) put(out, word);
}

/// Sections and symbols as they are added, then the file.
class Writer {
 public:
  Writer() {
    sections_.push_back({});
    add(".shstrtab", SHT_STRTAB, "", 1);
    add(".strtab", SHT_STRTAB, "", 1);
    add(".symtab", SHT_SYMTAB, "", 8);
    symbol("", 0, 0, 0, 0);
  }

  std::uint32_t add(const std::string& name, std::uint32_t type, std::string bytes,
                    std::uint64_t alignment, std::uint64_t flags = 0, std::uint32_t info = 0,
                    std::uint64_t size = 0) {
    Section section{.name = name, .bytes = std::move(bytes)};
    section.header.sh_type = type;
    section.header.sh_addralign = alignment;
    section.header.sh_flags = flags;
    section.header.sh_info = info;
    section.header.sh_size = size;
    sections_.push_back(std::move(section));
    return static_cast<std::uint32_t>(sections_.size() - 1);
  }
  std::uint32_t symbol(const std::string& name, std::uint8_t info, std::uint32_t section,
                       std::uint64_t value, std::uint64_t size, std::uint8_t other = 0) {
    Elf64_Sym one{};
    one.st_name = static_cast<std::uint32_t>(names_.size());
    names_ += name + '\0';
    one.st_info = info;
    one.st_other = other;
    one.st_shndx = static_cast<std::uint16_t>(section);
    one.st_value = value;
    one.st_size = size;
    put(symbols_, one);
    return symbol_count_++;
  }
  std::string& bytes_of(std::uint32_t section) { return sections_[section].bytes; }
  void set_info(std::uint32_t section, std::uint32_t info) {
    sections_[section].header.sh_info = info;
  }

  std::string file(std::uint32_t architecture) {
    sections_[2].bytes = names_;
    sections_[3].bytes = symbols_;
    sections_[3].header.sh_link = 2;
    sections_[3].header.sh_entsize = sizeof(Elf64_Sym);
    std::string section_names;
    for (Section& section : sections_) {
      section.header.sh_name = static_cast<std::uint32_t>(section_names.size());
      section_names += section.name + '\0';
    }
    sections_[1].bytes = section_names;
    std::string out(sizeof(Elf64_Ehdr), '\0');
    for (std::size_t i = 1; i < sections_.size(); ++i) {
      Section& section = sections_[i];
      const std::uint64_t alignment = section.header.sh_addralign;
      out.resize((out.size() + alignment - 1) / alignment * alignment);
      section.header.sh_offset = out.size();
      if (section.header.sh_type == SHT_NOBITS) continue;
      section.header.sh_size = section.bytes.size();
      out += section.bytes;
    }
    out.resize((out.size() + 7) / 8 * 8);
    Elf64_Ehdr header{};
    constexpr unsigned char kIdent[EI_NIDENT] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x41, 8};
    std::memcpy(header.e_ident, kIdent, sizeof kIdent);
    constexpr std::uint16_t kCuda = 190;
    header.e_type = ET_EXEC;
    header.e_machine = kCuda;
    header.e_version = 1;
    header.e_flags = 0x06000004U | architecture << 8U;
    header.e_shoff = out.size();
    header.e_ehsize = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<std::uint16_t>(sections_.size());
    header.e_shstrndx = 1;
    std::memcpy(out.data(), &header, sizeof header);
    for (const Section& section : sections_) put(out, section.header);
    return out;
  }

 private:
  struct Section {
    std::string name;
    std::string bytes;
    Elf64_Shdr header{};
  };
  std::vector<Section> sections_;
  std::string names_, symbols_;
  std::uint32_t symbol_count_ = 0;
};

std::string_view body_of(const CubinKernel& kernel) {
  return kernel.body.empty() ? kernel.name : kernel.body;
}

std::uint32_t end_of(const std::vector<CubinParameter>& parameters) {
  std::uint32_t end = 0;
  for (const CubinParameter& one : parameters) end = std::max(end, one.offset + one.bytes);
  return end;
}

std::string kernel_info(const CubinKernel& kernel, std::uint32_t constant_symbol) {
  std::string info;
  for (std::size_t i = kernel.parameters.size(); i-- > 0;) {
    const CubinParameter& one = kernel.parameters[i];
    put_words(info, kKernelParam,
              {0, static_cast<std::uint32_t>(i) | one.offset << 16U, 0x1f000U | one.bytes << 18U});
  }
  if (kernel.max_threads != 0) put_words(info, kMaxThreads, {kernel.max_threads, 1, 1});
  const std::uint32_t bytes = end_of(kernel.parameters);
  put_half(info, kCbankParamSize, static_cast<std::uint16_t>(bytes));
  put_words(info, kParamCbank, {constant_symbol, kParameterBase | bytes << 16U});
  return info;
}

void add_kernel(Writer& writer, std::uint32_t info, const CubinKernel& kernel) {
  constexpr std::uint8_t kKernel = 0x10;  // st_other: an entry
  constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
  // An instruction is 16 bytes: EXIT, as nvcc 13.0 writes it for sm_90.
  std::string code;
  put<std::uint64_t>(code, 0x000000000000794d);
  put<std::uint64_t>(code, 0x000fea0003800000);
  const std::uint32_t text = writer.add(".text." + kernel.name, SHT_PROGBITS, code, 128, kCode);
  const std::uint32_t symbol = writer.symbol(kernel.name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), text,
                                             0, code.size(), kKernel);
  writer.set_info(text, symbol | kernel.registers << 24U);
  const std::uint32_t constants =
      writer.add(".nv.constant0." + kernel.name, SHT_PROGBITS,
                 std::string(kParameterBase + end_of(kernel.parameters), '\0'), 4,
                 SHF_ALLOC | SHF_INFO_LINK, text);
  const std::uint32_t constant_symbol = writer.symbol(
      ".nv.constant0." + kernel.name, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), constants, 0, 0);
  writer.add(".nv.info." + kernel.name, kNvInfo, kernel_info(kernel, constant_symbol), 4,
             SHF_INFO_LINK, text);
  if (kernel.shared_bytes != 0)
    writer.add(".nv.shared." + kernel.name, SHT_NOBITS, "", 16,
               SHF_ALLOC | SHF_WRITE | SHF_INFO_LINK, text, kernel.shared_bytes + kReservedShared);
  std::string& all = writer.bytes_of(info);
  put_words(all, kRegisters, {symbol, kernel.registers});
  put_words(all, kFrameSize, {symbol, kernel.local_bytes});
  put_words(all, kMinStackSize, {symbol, kernel.local_bytes});
}

void add_variables(Writer& writer, const std::vector<CubinVariable>& variables, bool constant) {
  std::string bytes;
  std::vector<std::uint64_t> places;
  for (const CubinVariable& one : variables) {
    if (one.constant != constant) continue;
    bytes.resize((bytes.size() + 15) / 16 * 16);
    places.push_back(bytes.size());
    bytes += one.bytes;
  }
  if (places.empty()) return;
  const std::uint32_t section =
      constant ? writer.add(".nv.constant3", SHT_PROGBITS, bytes, 16, SHF_ALLOC)
               : writer.add(".nv.global.init", SHT_PROGBITS, bytes, 16, SHF_ALLOC | SHF_WRITE);
  std::size_t i = 0;
  for (const CubinVariable& one : variables)
    if (one.constant == constant)
      writer.symbol(one.name, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), section, places[i++],
                    one.bytes.size());
}

void complete(SimCubin& cubin) {
  const auto need = [&](const char* name, float value) {
    if (std::ranges::none_of(cubin.variables, [&](const auto& one) { return one.name == name; }))
      cubin.variables.push_back({.name = name, .bytes = bytes_of(value)});
  };
  for (CubinKernel& kernel : cubin.kernels) {
    const std::string_view body = body_of(kernel);
    if (body.starts_with("scale")) need("factor", 2.5F);
    if (body.starts_with("accumulate")) need("total", 0.0F);
    if (kernel.parameters.empty()) kernel.parameters = sim_parameters(body);
  }
}

}  // namespace

std::vector<CubinParameter> sim_parameters(std::string_view body) {
  std::vector<CubinParameter> parameters;
  for (const WrittenArgument& one : sim_explicit_arguments(body))
    parameters.push_back({.offset = static_cast<std::uint32_t>(one.offset),
                          .bytes = static_cast<std::uint32_t>(one.size)});
  return parameters;
}

std::uint32_t sim_parameter_bytes(std::string_view body) {
  return end_of(sim_parameters(body));
}

std::string sim_cubin(SimCubin cubin) {
  complete(cubin);
  Writer writer;
  const std::uint32_t info = writer.add(".nv.info", kNvInfo, "", 4);
  std::string bodies;
  for (const CubinKernel& kernel : cubin.kernels) {
    add_kernel(writer, info, kernel);
    bodies += kernel.name + '=' + std::string(body_of(kernel)) + ';';
  }
  add_variables(writer, cubin.variables, false);
  add_variables(writer, cubin.variables, true);
  writer.add(".cuda_sim.bodies", SHT_PROGBITS, bodies, 1);
  if (!cubin.library.empty()) writer.add(".cuda_sim.library", SHT_PROGBITS, cubin.library, 16);
  return writer.file(cubin.architecture);
}

std::string sim_cubin(std::initializer_list<CubinKernel> kernels) {
  return sim_cubin(SimCubin{.kernels = kernels});
}

}  // namespace perflab::test
