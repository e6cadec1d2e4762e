// Asking for the loader extension.
#include "hsa/loader_table.h"

#include <algorithm>
#include <iterator>

namespace perflab::hsa {
namespace {

/// Entries of 1.0, 1.1, ...
constexpr std::size_t kEntries[] = {3, 5, 6, 7, 9};

}  // namespace

std::size_t loader_table_bytes(std::uint16_t minor) {
  return kEntries[std::min<std::size_t>(minor, std::size(kEntries) - 1)] * sizeof(void*);
}

LoaderTable loader_of(const Core& core) {
  LoaderTable table{};
  if (core.system_get_major_extension_table != nullptr &&
      core.system_get_major_extension_table(loader::extension, loader::major, sizeof table,
                                            &table) == Status::success)
    return table;
  // The older call knows exact versions only.
  if (core.system_get_extension_table == nullptr) return {};
  for (auto minor = static_cast<std::uint16_t>(std::size(kEntries)); minor-- > 0;) {
    table = {};
    if (core.system_get_extension_table(loader::extension, loader::major, minor, &table) ==
        Status::success)
      return table;
  }
  return {};
}

}  // namespace perflab::hsa
