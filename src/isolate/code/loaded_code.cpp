// Facts: hsa/loader_table.h. ROCr 1.21 always answers that an object is stored in memory: the
// loader's own mapping of the file, which ends with the reader.
#include "isolate/code/loaded_code.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "base/system/descriptor.h"
#include "base/system/files.h"
#include "code/elf/elf.h"
#include "isolate/code/code_uri.h"

namespace perflab::isolate {
namespace {

/// No code object is larger: offsets within one are of 32 bits.
constexpr std::uint64_t kMostCode = std::uint64_t{4} << 30U;
constexpr std::uint32_t kLongestUri = 1U << 16U;

Descriptor open_file(const char* path) {
  return Descriptor(::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

/// Bytes of a file whose size says nothing (/proc/self/mem); empty when they are not all there.
std::string read_at(int file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t got =
        ::pread(file, bytes.data() + at, bytes.size() - at, static_cast<off_t>(offset + at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return {};
    at += static_cast<std::size_t>(got);
  }
  return bytes;
}

template <class T>
std::optional<T> info(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object,
                      std::uint32_t attribute) {
  T value{};
  if (loader.loaded_code_object_get_info == nullptr ||
      loader.loaded_code_object_get_info(object, attribute, &value) != hsa::Status::success)
    return std::nullopt;
  return value;
}

Result<FoundCode> code_at(std::string bytes, std::string place) {
  if (code::is_elf(bytes)) return FoundCode{.bytes = std::move(bytes), .place = std::move(place)};
  return fail(ErrorCode::refused, fmt::format("in {} there is no code object", place));
}

Result<FoundCode> from_memory(std::uint64_t address, std::uint64_t size) {
  std::string place = fmt::format("the memory of the program at {:#x}", address);
  const Descriptor memory = open_file("/proc/self/mem");
  if (!memory.open() || size == 0 || size > kMostCode)
    return fail(ErrorCode::refused, fmt::format("{} cannot be read", place));
  return code_at(read_at(memory.get(), address, size), std::move(place));
}

Result<FoundCode> from_file(const CodeUri& uri) {
  const Descriptor file = open_file(uri.path.c_str());
  if (!file.open())
    return fail(ErrorCode::refused,
                fmt::format("{} cannot be opened: {}", uri.path, errno_text(errno)));
  return code_at(file_bytes(file.get(), uri.offset, uri.bytes.value_or(kMostCode)), uri.path);
}

/// Where the loader itself read it; missing: it does not say.
std::optional<FoundCode> from_storage(const hsa::LoaderTable& loader,
                                      hsa::LoadedCodeObject object) {
  using namespace hsa::loaded_code_info;
  if (info<std::uint32_t>(loader, object, storage_type) != storage_memory) return std::nullopt;
  const auto base = info<std::uint64_t>(loader, object, memory_base);
  const auto size = info<std::uint64_t>(loader, object, memory_size);
  if (!base || !size) return std::nullopt;
  auto found = from_memory(*base, *size);
  return found ? std::optional(std::move(*found)) : std::nullopt;
}

Result<CodeUri> uri_of(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object) {
  const auto length = info<std::uint32_t>(loader, object, hsa::loaded_code_info::uri_length);
  if (!length || *length == 0 || *length > kLongestUri)
    return fail(ErrorCode::refused, "the runtime does not say where it came from");
  // One more, for a runtime that ends it with a NUL.
  std::string text(std::size_t{*length} + 1, '\0');
  if (loader.loaded_code_object_get_info(object, hsa::loaded_code_info::uri, text.data()) !=
      hsa::Status::success)
    return fail(ErrorCode::refused, "the runtime does not say where it came from");
  text.resize(*length);
  return parse_code_uri(text);
}

/// What the comparison needs of a loaded object.
struct Place {
  std::uint64_t delta = 0;  ///< address in memory minus address in the file; wraps
  std::uint64_t base = 0, bytes = 0;

  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t size) const {
    return address >= base && address - base <= bytes && size <= bytes - (address - base);
  }
};

std::optional<Place> place_of(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object) {
  using namespace hsa::loaded_code_info;
  const auto delta = info<std::int64_t>(loader, object, load_delta);
  const auto base = info<std::uint64_t>(loader, object, load_base);
  const auto size = info<std::uint64_t>(loader, object, load_size);
  if (!delta || !base || !size) return std::nullopt;
  return Place{.delta = static_cast<std::uint64_t>(*delta), .base = *base, .bytes = *size};
}

/// Whether the bytes are those at an address of the GPU.
Result<bool> equal_in_memory(std::string_view bytes, std::uint64_t address,
                             const CodeReader& read) {
  bool equal = true;
  std::size_t at = 0;
  PERFLAB_TRY_VOID(
      read(address, bytes.size(), [&](std::span<const std::byte> piece) -> Result<void> {
        equal = equal && std::memcmp(piece.data(), bytes.data() + at, piece.size()) == 0;
        at += piece.size();
        return {};
      }));
  return equal && at == bytes.size();
}

}  // namespace

std::string file_bytes(int file, std::uint64_t offset, std::uint64_t most) {
  struct stat about{};
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) return {};
  const auto size = static_cast<std::uint64_t>(about.st_size);
  if (offset >= size) return {};
  return read_at(file, offset, std::min(most, size - offset));
}

Result<FoundCode> find_loaded_code(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object) {
  if (object.handle == 0)
    return fail(ErrorCode::refused, "the runtime has no interface that says where it came from");
  if (auto stored = from_storage(loader, object)) return std::move(*stored);
  PERFLAB_TRY(const CodeUri uri, uri_of(loader, object));
  if (!uri.path.empty()) return from_file(uri);
  if (uri.process != static_cast<std::uint64_t>(::getpid()))
    return fail(
        ErrorCode::refused,
        fmt::format("it came from the memory of process {}, which is not this one", uri.process));
  return from_memory(uri.offset, uri.bytes.value_or(0));
}

Result<void> check_loaded_code(const hsa::LoaderTable& loader, hsa::LoadedCodeObject object,
                               std::string_view bytes, std::string_view place,
                               std::string_view descriptor, std::uint64_t kernel_object,
                               const CodeReader& read) {
  const auto differs = [&] {
    return fail(ErrorCode::refused,
                fmt::format("{} has changed since the program loaded the kernel's code object from "
                            "it: what is there now is not the code that the GPU runs",
                            place));
  };
  const auto loaded = place_of(loader, object);
  if (!loaded)
    return fail(ErrorCode::refused,
                fmt::format("the kernel's code object was found in {} after it was loaded, and the "
                            "runtime does not say where it lies now, to compare them",
                            place));
  PERFLAB_TRY(const code::Elf elf, code::Elf::read(bytes, "the code object of the kernel"));
  bool is_there = false;
  PERFLAB_TRY_VOID(elf.visit_symbols(kLongestSymbol, [&](const code::ElfSymbol& symbol) {
    is_there =
        is_there || (symbol.name == descriptor && symbol.value + loaded->delta == kernel_object);
  }));
  if (!is_there) return differs();
  bool compared = false;
  for (const code::ElfSection& section : elf.sections()) {
    if (!section.name.starts_with(".text") || section.bytes.empty()) continue;
    const std::uint64_t address = section.address + loaded->delta;
    if (!loaded->holds(address, section.bytes.size())) return differs();
    PERFLAB_TRY(const bool equal, equal_in_memory(section.bytes, address, read));
    if (!equal) return differs();
    compared = true;
  }
  return compared ? Result<void>() : differs();
}

}  // namespace perflab::isolate
