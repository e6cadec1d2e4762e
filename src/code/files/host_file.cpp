// See host_file.h.
#include "code/files/host_file.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>

#include "code/elf/bytes.h"
#include "code/elf/elf.h"
#include "code/elf/hostile_text.h"

namespace perflab::code {
namespace {

constexpr std::string_view kFatbinSection = ".hip_fatbin";
constexpr std::string_view kWrapperSection = ".hipFatBinSegment";
constexpr std::string_view kPackagerSection = ".llvm.offloading";
constexpr std::string_view kRdcSectionPrefix = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kPackagerMagic = "\x10\xFF\x10\xAD";
constexpr std::uint64_t kBundleAlignment = 4096;
constexpr std::uint64_t kMostImageStrings = 64;  // images have two to four

/// One entry of .hipFatBinSegment.
struct Wrapper {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint64_t bundle = 0;  ///< address; 0 in objects and position-independent files
  std::uint64_t unused = 0;
};
constexpr std::uint32_t kWrapperMagic = 0x48495046;         // "HIPF": code is in .hip_fatbin
constexpr std::uint32_t kArchiveWrapperMagic = 0x4b504948;  // "HIPK": code is in a .kpack file

/// Header of an offload packager image. Version 1 has one entry at `entries`, and the entry's size;
/// version 2 a count.
struct ImageHeader {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  std::uint64_t size = 0;
  std::uint64_t entries = 0;  ///< offset
  std::uint64_t count = 0;
};
struct ImageEntry {
  std::uint16_t image_kind = 0;
  std::uint16_t offload_kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t strings = 0;  ///< offset of pairs of offsets (version 2: and the value's size)
  std::uint64_t string_count = 0;
  std::uint64_t image = 0;  ///< offset
  std::uint64_t image_bytes = 0;
};

class Search {
 public:
  Search(const Elf& elf, std::string_view bytes, std::string_view what, std::uint64_t budget,
         Container& out)
      : elf_(elf), bytes_(bytes), what_(what), budget_(budget), out_(out) {}

  Result<void> run() {
    if (elf_.sections().empty()) return search_segments();
    // In the file's order, and no byte twice: sections of a damaged file may overlap.
    std::vector<ElfSection> sections = elf_.sections();
    std::ranges::stable_sort(sections, {}, &ElfSection::offset);
    for (const ElfSection& section : sections) {
      if (section.bytes.empty() || section.offset < searched_) continue;
      PERFLAB_TRY(const bool searched, search_section(section));
      if (searched) searched_ = section.offset + section.bytes.size();
    }
    for (const ElfSection& section : sections)
      if (section.name == kWrapperSection) {
        PERFLAB_TRY_VOID(read_wrappers(section));
        break;
      }
    std::ranges::stable_sort(out_.bundles, {}, &Bundle::offset);
    return {};
  }

 private:
  Result<bool> search_section(const ElfSection& section) {
    if (section.name == kFatbinSection) {
      PERFLAB_TRY_VOID(add_bundles(section.bytes, section.offset));
    } else if (section.name == kPackagerSection) {
      PERFLAB_TRY_VOID(read_images(section));
    } else if (section.name.starts_with(kRdcSectionPrefix)) {
      const std::string_view id = section.name.substr(kRdcSectionPrefix.size());
      const auto target = parse_target_id(id);
      add_object(out_, {.bytes = target ? section.bytes : std::string_view(),
                        .target = target.value_or(TargetId{}),
                        .entry = std::string(id),
                        .bundle = {},
                        .file_offset = section.offset});
    } else {
      return false;
    }
    return true;
  }

  /// Adds the bundles of a range of the file.
  Result<void> add_bundles(std::string_view bytes, std::uint64_t offset) {
    auto bundles = read_bundles(bytes, fmt::format("{} at 0x{:x}", what_, offset), budget_);
    if (!bundles) return std::unexpected(std::move(bundles).error());
    for (Bundle& bundle : *bundles) {
      bundle.offset += offset;
      if (bundle.unpacked != nullptr) budget_ -= bundle.unpacked->size();
      out_.bundles.push_back(std::move(bundle));
    }
    return {};
  }

  /// A file without section table: bundles begin at page boundaries of what is loaded.
  Result<void> search_segments() {
    for (const ElfSegment& segment : elf_.segments()) {
      if (segment.type != PT_LOAD) continue;
      const std::uint64_t end = segment.offset + segment.bytes.size();
      const std::uint64_t first = std::max(segment.offset, searched_);
      for (std::uint64_t at = (first + kBundleAlignment - 1) / kBundleAlignment * kBundleAlignment;
           at < end; at += kBundleAlignment) {
        const std::string_view rest = bytes_.substr(at, end - at);
        if (!is_bundle(rest)) continue;
        PERFLAB_TRY_VOID(add_bundles(rest, at));
        break;
      }
      searched_ = std::max(searched_, end);
    }
    return {};
  }

  Result<void> read_wrappers(const ElfSection& section) {
    std::size_t archived = 0;
    for (std::uint64_t at = 0; at + sizeof(Wrapper) <= section.bytes.size();
         at += sizeof(Wrapper)) {
      const auto wrapper = *value_at<Wrapper>(section.bytes, at);
      if (wrapper.magic == kArchiveWrapperMagic) ++archived;
      if (wrapper.magic != kWrapperMagic || wrapper.bundle == 0) continue;
      const auto bundle = elf_.from_address(wrapper.bundle);
      if (!bundle || !is_bundle(*bundle)) {
        add_note(out_,
                 fmt::format("the wrapper at offset {} points to no bundle", section.offset + at));
        continue;
      }
      const auto offset = static_cast<std::uint64_t>(bundle->data() - bytes_.data());
      bool found = false;
      std::uint64_t end = offset + bundle->size();
      for (const Bundle& known : out_.bundles) {
        found |= offset >= known.offset && offset < known.offset + known.size;
        if (known.offset > offset) end = std::min(end, known.offset);
      }
      if (!found) PERFLAB_TRY_VOID(add_bundles(bundle->substr(0, end - offset), offset));
    }
    if (archived != 0)
      add_note(out_, fmt::format("{} of its bundles are in an external .kpack archive (HIPK "
                                 "wrappers), which is not read",
                                 archived));
    return {};
  }

  /// Images of the offload packager, one after the other, aligned to 8 bytes.
  Result<void> read_images(const ElfSection& section) {
    std::uint64_t at = 0;
    while (at < section.bytes.size()) {
      const std::string_view rest = section.bytes.substr(at);
      if (!rest.starts_with(kPackagerMagic)) {
        at += 8;  // padding
        continue;
      }
      PERFLAB_TRY(const std::uint64_t size, read_image(rest, section.offset + at));
      at += (size + 7) / 8 * 8;
    }
    return {};
  }

  /// Adds the code objects of one image and returns its size.
  Result<std::uint64_t> read_image(std::string_view rest, std::uint64_t offset) {
    const auto damaged = [&](std::string_view problem) {
      return fail(ErrorCode::bad_input, fmt::format("{}: damaged offload image at offset {}: {}",
                                                    what_, offset, problem));
    };
    const auto header = value_at<ImageHeader>(rest, 0);
    if (!header || header->size < sizeof(ImageHeader) || header->size > rest.size())
      return damaged("its size cannot be");
    if (header->version != 1 && header->version != 2)
      return damaged(fmt::format("version {} is not known", header->version));
    const std::string_view image = rest.substr(0, header->size);
    const std::uint64_t count = header->version == 1 ? 1 : header->count;
    if (count > image.size() / sizeof(ImageEntry)) return damaged("it has too many entries");
    std::uint64_t held = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto entry =
          header->entries > image.size()
              ? std::nullopt
              : value_at<ImageEntry>(image, header->entries + i * sizeof(ImageEntry));
      const auto code = entry ? range_of(image, entry->image, entry->image_bytes) : std::nullopt;
      if (!code) return damaged(fmt::format("entry {} lies outside", i));
      held += code->size();
      if (held > image.size()) return damaged("its entries overlap");
      const std::string arch = string_of(image, *header, *entry, "arch");
      const std::string id = string_of(image, *header, *entry, "triple") + "--" + arch;
      const auto target = parse_target_id(arch);
      add_object(out_, {.bytes = target ? *code : std::string_view(),
                        .target = target.value_or(TargetId{}),
                        .entry = id,
                        .bundle = {},
                        .file_offset = offset + entry->image});
    }
    return header->size;
  }

  /// The string of an image's entry under a key; empty when there is none.
  static std::string string_of(std::string_view image, const ImageHeader& header,
                               const ImageEntry& entry, std::string_view key) {
    const std::uint64_t pair_bytes = header.version == 1 ? 16 : 24;
    const auto text_at = [&](std::optional<std::uint64_t> at) {
      if (!at || *at >= image.size()) return std::string_view();
      const std::string_view text = image.substr(*at, kMostTextBytes);
      return text.substr(0, text.find('\0'));
    };
    if (entry.strings > image.size()) return {};
    for (std::uint64_t i = 0; i < std::min(entry.string_count, kMostImageStrings); ++i) {
      const std::uint64_t at = entry.strings + i * pair_bytes;
      if (text_at(value_at<std::uint64_t>(image, at)) == key)
        return std::string(text_at(value_at<std::uint64_t>(image, at + 8)));
    }
    return {};
  }

  static constexpr std::size_t kMostTextBytes = 256;  // keys, triples and target ids

  const Elf& elf_;
  std::string_view bytes_;
  std::string_view what_;
  std::uint64_t budget_;
  std::uint64_t searched_ = 0;  ///< end of what was searched
  Container& out_;
};

}  // namespace

Result<void> search_host_file(std::string_view bytes, std::string_view what,
                              std::uint64_t most_unpacked, Container& container) {
  PERFLAB_TRY(const Elf elf, Elf::read(bytes, what));
  return Search(elf, bytes, what, most_unpacked, container).run();
}

}  // namespace perflab::code
