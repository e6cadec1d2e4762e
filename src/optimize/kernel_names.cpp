// Demangled names as LLVM and libstdc++ write them.
#include "optimize/kernel_names.h"

#include "analyze/inspect/static_kernel.h"

namespace perflab::optimize {

std::string bare_kernel_name(std::string_view recorded) {
  if (recorded.ends_with(".kd")) recorded.remove_suffix(3);
  std::string name = recorded.starts_with("_Z") ? analyze::demangled(std::string(recorded))
                                                : std::string(recorded);
  for (const std::string_view hidden : {"(anonymous namespace)::", " [clone .kd]"})
    for (std::size_t at = name.find(hidden); at != std::string::npos; at = name.find(hidden))
      name.erase(at, hidden.size());
  // What is in <> goes, wherever it is; parameters end the name; a blank before them ends the
  // return type.
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0 && c == '(') break;
    if (depth == 0 && c == ' ') out.clear();
    if (depth == 0 && c != ' ' && c != '*' && c != '&') out += c;
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

}  // namespace perflab::optimize
