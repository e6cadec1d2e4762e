// A bounds-checked reader of little-endian ELF64 files, of devices and of hosts: header, sections,
// segments, symbols, notes, and addresses to file bytes. Nothing is copied: texts and bytes are
// views into the file. Facts: elf(5), <elf.h>.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace perflab::code {

/// One section. `bytes` is empty for sections without contents (.bss).
struct ElfSection {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t alignment = 0;
  std::uint32_t link = 0;  ///< index of the string table of a symbol table
  std::uint32_t info = 0;  ///< sh_info: what it means depends on the type
  std::uint64_t size = 0;  ///< sh_size: bytes in memory, also of sections without contents
  std::string_view bytes;
};

/// One segment (program header).
struct ElfSegment {
  std::uint32_t type = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t alignment = 0;
  std::string_view bytes;
};

/// One defined symbol.
struct ElfSymbol {
  std::string_view name;
  std::uint64_t value = 0;  ///< address, in linked files
  std::uint64_t size = 0;   ///< bytes; 0: not recorded
  std::uint8_t type = 0;    ///< STT_*
};

/// One entry of a note section or segment.
struct ElfNote {
  std::string_view name;  ///< without its NUL
  std::uint32_t type = 0;
  std::string_view description;
};

/// An ELF file's headers, checked.
class Elf {
 public:
  /// Reads the headers. `what` names the file in errors (bad_input): not ELF, not 64-bit
  /// little-endian, a table, section or segment outside the file.
  static Result<Elf> read(std::string_view bytes, std::string_view what);

  [[nodiscard]] std::uint16_t type() const { return type_; }
  [[nodiscard]] std::uint16_t machine() const { return machine_; }
  [[nodiscard]] std::uint32_t flags() const { return flags_; }
  [[nodiscard]] std::uint8_t os_abi() const { return os_abi_; }
  [[nodiscard]] std::uint8_t abi_version() const { return abi_version_; }
  [[nodiscard]] const std::vector<ElfSection>& sections() const { return sections_; }
  [[nodiscard]] const std::vector<ElfSegment>& segments() const { return segments_; }

  /// The file bytes behind `size` bytes at a virtual address; missing when no loaded segment has
  /// them all in the file.
  [[nodiscard]] std::optional<std::string_view> at_address(std::uint64_t address,
                                                           std::uint64_t size) const;

  /// The file bytes from an address to the end of its segment; missing when none holds it.
  [[nodiscard]] std::optional<std::string_view> from_address(std::uint64_t address) const;

  /// Calls `visit` for the defined symbols with a name of at most `longest_name` characters: those
  /// of .dynsym, then those of .symtab (stripped files have the first only). Absolute symbols are
  /// passed over. Error (bad_input): a symbol or name outside its table.
  Result<void> visit_symbols(std::size_t longest_name,
                             const std::function<void(const ElfSymbol&)>& visit) const;

  /// Every note of the note segments; of the note sections when there is no note segment. Error
  /// (bad_input): a note outside its segment.
  [[nodiscard]] Result<std::vector<ElfNote>> notes() const;

 private:
  Elf(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}
  Result<void> read_header();
  Result<void> read_sections(std::uint64_t table, std::uint64_t count, std::uint64_t name_table);
  Result<void> read_segments(std::uint64_t table, std::uint64_t count);
  Result<void> visit_table(const ElfSection& section, std::size_t longest_name,
                           const std::function<void(const ElfSymbol&)>& visit) const;
  [[nodiscard]] std::unexpected<Error> damaged(std::string_view problem) const;

  std::string_view bytes_;
  std::string what_;
  std::uint16_t type_ = 0;
  std::uint16_t machine_ = 0;
  std::uint32_t flags_ = 0;
  std::uint8_t os_abi_ = 0;
  std::uint8_t abi_version_ = 0;
  std::vector<ElfSection> sections_;
  std::vector<ElfSegment> segments_;
};

/// Whether the bytes begin with the magic of an ELF file.
bool is_elf(std::string_view bytes);

}  // namespace perflab::code
