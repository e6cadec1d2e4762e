// See elf.h. Every number of the file is checked against the bytes that are there before use.
#include "code/elf/elf.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>

#include "code/elf/bytes.h"
#include "code/elf/hostile_text.h"

namespace perflab::code {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// The text at `offset` of a string table; missing when it does not end in the table, or only
/// after `longest` characters.
std::optional<std::string_view> text_at(std::string_view table, std::uint64_t offset,
                                        std::size_t longest = std::string_view::npos) {
  if (offset >= table.size()) return std::nullopt;
  table.remove_prefix(offset);
  const std::string_view window = longest < table.size() ? table.substr(0, longest + 1) : table;
  const std::size_t end = window.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return table.substr(0, end);
}

/// Appends the notes of one section or segment; false when one lies outside.
bool append_notes(std::string_view bytes, std::uint64_t alignment, std::vector<ElfNote>& notes) {
  // Notes are padded to 4 bytes, except in segments that say 8 (.note.gnu.property).
  const std::uint64_t unit = alignment == 8 ? 8 : 4;
  std::uint64_t at = 0;
  while (bytes.size() - at >= sizeof(Elf64_Nhdr)) {
    const auto header = *value_at<Elf64_Nhdr>(bytes, at);
    at += sizeof(Elf64_Nhdr);
    const auto name = range_of(bytes, at, header.n_namesz);
    at = round_up(at + header.n_namesz, unit);
    const auto description = range_of(bytes, at, header.n_descsz);
    if (!name || !description) return false;
    at = std::min<std::uint64_t>(round_up(at + header.n_descsz, unit), bytes.size());
    notes.push_back({name->substr(0, name->find('\0')), header.n_type, *description});
  }
  return true;
}

}  // namespace

bool is_elf(std::string_view bytes) {
  return bytes.starts_with(std::string_view(ELFMAG, SELFMAG));
}

std::unexpected<Error> Elf::damaged(std::string_view problem) const {
  return fail(ErrorCode::bad_input, fmt::format("{}: damaged ELF file: {}", what_, problem));
}

Result<Elf> Elf::read(std::string_view bytes, std::string_view what) {
  Elf elf(bytes, what);
  PERFLAB_TRY_VOID(elf.read_header());
  return elf;
}

Result<void> Elf::read_header() {
  if (!is_elf(bytes_)) return fail(ErrorCode::bad_input, fmt::format("{}: not an ELF file", what_));
  const auto header = value_at<Elf64_Ehdr>(bytes_, 0);
  if (!header) return damaged("it ends within its header");
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
    return fail(ErrorCode::bad_input,
                fmt::format("{}: an ELF file, but not a 64-bit little-endian one", what_));
  type_ = header->e_type;
  machine_ = header->e_machine;
  flags_ = header->e_flags;
  os_abi_ = header->e_ident[EI_OSABI];
  abi_version_ = header->e_ident[EI_ABIVERSION];

  std::uint64_t sections = header->e_shnum;
  std::uint64_t names = header->e_shstrndx;
  std::uint64_t segments = header->e_phnum;
  if (header->e_shoff != 0) {
    // Counts that do not fit the header are in the first section.
    const auto first = value_at<Elf64_Shdr>(bytes_, header->e_shoff);
    if (!first) return damaged("its section table lies outside the file");
    if (sections == 0) sections = first->sh_size;
    if (names == SHN_XINDEX) names = first->sh_link;
    if (segments == PN_XNUM) segments = first->sh_info;
    if (sections != 0 && header->e_shentsize != sizeof(Elf64_Shdr))
      return damaged("its section headers have a wrong size");
    PERFLAB_TRY_VOID(read_sections(header->e_shoff, sections, names));
  }
  if (segments != 0 && header->e_phentsize != sizeof(Elf64_Phdr))
    return damaged("its program headers have a wrong size");
  return read_segments(header->e_phoff, segments);
}

Result<void> Elf::read_sections(std::uint64_t table, std::uint64_t count,
                                std::uint64_t name_table) {
  if (count > bytes_.size() / sizeof(Elf64_Shdr) ||
      !range_of(bytes_, table, count * sizeof(Elf64_Shdr)))
    return damaged("its section table lies outside the file");
  std::vector<std::uint32_t> names;
  sections_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = *value_at<Elf64_Shdr>(bytes_, table + i * sizeof(Elf64_Shdr));
    ElfSection section{.name = {},
                       .type = header.sh_type,
                       .address = header.sh_addr,
                       .offset = header.sh_offset,
                       .alignment = header.sh_addralign,
                       .link = header.sh_link,
                       .info = header.sh_info,
                       .size = header.sh_size,
                       .bytes = {}};
    if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL) {
      const auto bytes = range_of(bytes_, header.sh_offset, header.sh_size);
      if (!bytes) return damaged(fmt::format("section {} lies outside the file", i));
      section.bytes = *bytes;
    }
    names.push_back(header.sh_name);
    sections_.push_back(section);
  }
  if (name_table == SHN_UNDEF) return {};
  if (name_table >= count) return damaged("its table of section names does not exist");
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto name = text_at(sections_[name_table].bytes, names[i]);
    if (!name && sections_[i].type != SHT_NULL)
      return damaged(fmt::format("the name of section {} lies outside its table", i));
    sections_[i].name = name.value_or("");
  }
  return {};
}

Result<void> Elf::read_segments(std::uint64_t table, std::uint64_t count) {
  if (count > bytes_.size() / sizeof(Elf64_Phdr) ||
      !range_of(bytes_, table, count * sizeof(Elf64_Phdr)))
    return damaged("its program header table lies outside the file");
  segments_.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = *value_at<Elf64_Phdr>(bytes_, table + i * sizeof(Elf64_Phdr));
    ElfSegment segment{.type = header.p_type,
                       .address = header.p_vaddr,
                       .offset = header.p_offset,
                       .alignment = header.p_align,
                       .bytes = {}};
    if (header.p_type == PT_LOAD || header.p_type == PT_NOTE) {
      const auto bytes = range_of(bytes_, header.p_offset, header.p_filesz);
      if (!bytes) return damaged(fmt::format("segment {} lies outside the file", i));
      segment.bytes = *bytes;
    }
    segments_.push_back(segment);
  }
  return {};
}

std::optional<std::string_view> Elf::from_address(std::uint64_t address) const {
  for (const ElfSegment& segment : segments_)
    if (segment.type == PT_LOAD && address >= segment.address &&
        address - segment.address < segment.bytes.size())
      return segment.bytes.substr(address - segment.address);
  return std::nullopt;
}

std::optional<std::string_view> Elf::at_address(std::uint64_t address, std::uint64_t size) const {
  const auto rest = from_address(address);
  return rest ? range_of(*rest, 0, size) : std::nullopt;
}

Result<void> Elf::visit_symbols(std::size_t longest_name,
                                const std::function<void(const ElfSymbol&)>& visit) const {
  // A file has at most one of each; more, all over the same bytes, would be there to keep us busy.
  for (const unsigned type : {unsigned{SHT_DYNSYM}, unsigned{SHT_SYMTAB}}) {
    const auto table = std::ranges::find(sections_, type, &ElfSection::type);
    if (table != sections_.end()) PERFLAB_TRY_VOID(visit_table(*table, longest_name, visit));
  }
  return {};
}

Result<void> Elf::visit_table(const ElfSection& section, std::size_t longest_name,
                              const std::function<void(const ElfSymbol&)>& visit) const {
  if (section.link >= sections_.size())
    return damaged(fmt::format("the names of section {} do not exist", in_quotes(section.name)));
  const std::string_view names = sections_[section.link].bytes;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.bytes.size();
       at += sizeof(Elf64_Sym)) {
    const auto symbol = *value_at<Elf64_Sym>(section.bytes, at);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_name == 0) continue;
    if (symbol.st_name >= names.size())
      return damaged(fmt::format("the name of symbol {} of section {} lies outside its table",
                                 at / sizeof(Elf64_Sym), in_quotes(section.name)));
    if (const auto name = text_at(names, symbol.st_name, longest_name); name && !name->empty())
      visit({*name, symbol.st_value, symbol.st_size,
             static_cast<std::uint8_t>(ELF64_ST_TYPE(symbol.st_info))});
  }
  return {};
}

Result<std::vector<ElfNote>> Elf::notes() const {
  std::vector<ElfNote> notes;
  std::uint64_t total = 0;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    total += segment.bytes.size();
    if (total > bytes_.size()) return damaged("its note segments overlap");
    if (!append_notes(segment.bytes, segment.alignment, notes))
      return damaged("a note lies outside its segment");
  }
  if (total != 0) return notes;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    total += section.bytes.size();
    if (total > bytes_.size()) return damaged("its note sections overlap");
    if (!append_notes(section.bytes, section.alignment, notes))
      return damaged(fmt::format("a note lies outside section {}", in_quotes(section.name)));
  }
  return notes;
}

}  // namespace perflab::code
