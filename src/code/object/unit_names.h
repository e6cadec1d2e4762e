// Names that compilers derive from where and how a translation unit is compiled, not from its
// source: two builds of one source in two folders differ in them. Seen with clang 15 to 22 on HIP,
// and with nvcc 13.0, whose hash also depends on the text (docs/facts/cuda_code.md "Names of a
// unit").
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace perflab::code {

/// Whether a symbol is named like the marker of a translation unit: "__hip_cuid_" and a hash of the
/// unit's path and options, at most 16 lower-case hexadecimal digits (none with -fuse-cuid=none).
/// The name alone proves nothing: a source can give it to anything.
bool is_unit_marker_name(std::string_view symbol);

/// A symbol without the name of its translation unit. With -fgpu-rdc clang appends ".static.ID" to
/// variables and ".intern.ID" to kernels that the source keeps inside of the unit and the host
/// uses; ID is the hash above or, without one, numbers of the file and a hash of the macros
/// ("52641bfe00_059a4aa7"). What stands behind it (".kd", ".managed") stays. nvcc names unnamed
/// namespaces after the unit ("33_GLOBAL__N__643c1924_4_b_cu_table" in a mangled name) and, with
/// -rdc=true, puts the unit in front of what stays inside of it
/// ("__nv_static_22__643c1924_4_b_cu_table_state"). Any other name comes back as it is.
std::string without_unit(std::string_view symbol);

/// The one of `all` whose member `symbol` has this name; else the only one that has it but for the
/// name of the translation unit; nullptr: there is none.
template <class T>
const T* named_but_for_unit(const std::vector<T>& all, std::string T::* symbol,
                            std::string_view name) {
  const auto exact = std::ranges::find(all, name, symbol);
  if (exact != all.end()) return &*exact;
  const std::string plain = without_unit(name);
  if (plain == name) return nullptr;
  const T* found = nullptr;
  for (const T& one : all) {
    if (without_unit(one.*symbol) != plain || one.*symbol == plain) continue;
    if (found != nullptr) return nullptr;
    found = &one;
  }
  return found;
}

/// Pairs of names of two objects: equal ones; then those that are equal without their unit, when
/// only one name of each object is left for it.
struct NamePairs {
  std::map<std::string, std::string> same;  ///< name in the first object -> name in the second
  std::vector<std::string> gone, fresh;     ///< in the first only, in the second only; sorted
};
NamePairs pair_names(std::vector<std::string> before, std::vector<std::string> after);

}  // namespace perflab::code
