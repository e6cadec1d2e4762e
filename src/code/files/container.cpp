// See container.h: what kind of file it is, and the entries of its bundles as code objects. Host
// files are searched in host_file.cpp.
#include "code/files/container.h"

#include <fmt/format.h>

#include "base/system/files.h"
#include "code/elf/bytes.h"
#include "code/elf/elf.h"
#include "code/files/host_file.h"
#include "code/object/code_object.h"

namespace perflab::code {
namespace {

constexpr std::string_view kArchiveMagic = "!<arch>\n";

/// Puts the device code of the bundles into the container.
void add_bundle_objects(Container& container) {
  for (std::size_t i = 0; i < container.bundles.size(); ++i) {
    const Bundle& bundle = container.bundles[i];
    for (const BundleEntry& entry : bundle.entries) {
      std::optional<std::uint64_t> offset;
      if (bundle.unpacked == nullptr) offset = bundle.offset + entry.offset;
      add_object(container, {.bytes = entry.bytes,
                             .target = entry.target.value_or(TargetId{}),
                             .entry = entry.id,
                             .bundle = i,
                             .file_offset = offset});
    }
  }
}

Result<void> search(std::string_view bytes, std::string_view what, std::uint64_t most_unpacked,
                    Container& container) {
  if (is_bundle(bytes)) {
    container.kind = ContainerKind::bundle;
    PERFLAB_TRY(container.bundles, read_bundles(bytes, what, most_unpacked));
    add_bundle_objects(container);
    return {};
  }
  if (!is_elf(bytes)) {
    if (bytes.starts_with(kArchiveMagic))
      return fail(ErrorCode::bad_input,
                  fmt::format("{}: a static library, which is not read", what),
                  "take its members out with `ar x`");
    return fail(
        ErrorCode::bad_input,
        fmt::format("{}: {}", what,
                    bytes.empty() ? "an empty file" : "neither an ELF file nor an offload bundle"));
  }
  if (is_code_object(bytes)) {
    container.kind = ContainerKind::code_object;
    container.objects.push_back({.bytes = bytes,
                                 .target = code_object_target(bytes).value_or(TargetId{}),
                                 .entry = {},
                                 .bundle = {},
                                 .file_offset = 0});
    return {};
  }
  container.kind = ContainerKind::host_elf;
  PERFLAB_TRY_VOID(search_host_file(bytes, what, most_unpacked, container));
  add_bundle_objects(container);
  return {};
}

}  // namespace

bool may_hold_code(std::string_view start) {
  return is_elf(start) || is_bundle(start);
}

Result<Container> find_code_objects(std::string bytes, std::string_view what,
                                    std::uint64_t most_unpacked) {
  Container container;
  container.file = std::make_shared<const std::string>(std::move(bytes));
  PERFLAB_TRY_VOID(search(*container.file, what, most_unpacked, container));
  if (!container.objects.empty()) return container;
  const std::string looked_for =
      container.kind == ContainerKind::host_elf
          ? "no device code in it (looked for .hip_fatbin, .llvm.offloading and "
            "__CLANG_OFFLOAD_BUNDLE__ sections, and for HIPF wrappers)"
          : "no device code in its bundles";
  auto error = fail(ErrorCode::bad_input, fmt::format("{}: {}", what, looked_for),
                    "give the program or library that the kernels are linked into");
  error.error().notes = std::move(container.notes);
  return error;
}

Result<Container> open_container(const std::filesystem::path& path) {
  PERFLAB_TRY(std::string bytes, read_file(path, kMostUnpackedBytes));
  return find_code_objects(std::move(bytes), path.string());
}

}  // namespace perflab::code
