// CUPTI's names of calls: docs/facts/cuda_cupti.md "Records". Demangling: the C++ ABI's own
// (https://itanium-cxx-abi.github.io/cxx-abi/abi.html#demangler).
#include "record/activity/text.h"

#include <cxxabi.h>

#include <cstdlib>

namespace perflab::record {

std::string_view call_name(std::string_view name) {
  constexpr std::size_t kLeastDigits = 4;  // _v3020 is a runtime's version, _v2 a driver's function
  const std::size_t digits = name.size() - (name.find_last_not_of("0123456789") + 1);
  if (digits < kLeastDigits || digits + 2 >= name.size()) return name;
  const std::string_view rest = name.substr(0, name.size() - digits);
  return rest.ends_with("_v") ? rest.substr(0, rest.size() - 2) : name;
}

std::string demangled(const std::string& name) {
  int failed = 0;
  char* text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed);
  if (text == nullptr) return name;
  std::string result = failed == 0 ? text : name;
  std::free(text);
  return result;
}

}  // namespace perflab::record
