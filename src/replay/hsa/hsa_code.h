// A code object that is loaded on a GPU through the HSA runtime, and its symbols. Facts:
// docs/facts/hsa_runtime.md "Variables and symbols".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "replay/device.h"
#include "replay/hsa/hsa_runtime.h"

namespace perflab::replay {

class HsaCode {
 public:
  HsaCode(const HsaRuntime& runtime, const HsaAgent& gpu) : runtime_(runtime), gpu_(gpu) {}
  HsaCode(const HsaCode&) = delete;
  HsaCode(HsaCode&&) = delete;
  HsaCode& operator=(const HsaCode&) = delete;
  HsaCode& operator=(HsaCode&&) = delete;
  ~HsaCode();
  /// Gives nothing back: the runtime cannot be trusted any more.
  void abandon() { abandoned_ = true; }

  /// Once. Error: hsa_call_failed.
  Result<void> load(std::span<const std::byte> bytes);
  /// Missing: there is no symbol of that name.
  Result<std::optional<hsa::ExecutableSymbol>> symbol(const std::string& name) const;
  /// By its exact symbol, without ".kd". Error "kernel_not_found": what the object has is named.
  Result<LoadedKernel> kernel(const std::string& name) const;
  template <class T>
  Result<T> info(hsa::ExecutableSymbol symbol, std::uint32_t attribute, const char* what) const {
    T value{};
    PERFLAB_TRY_VOID(
        check_call(runtime_.core().executable_symbol_get_info(symbol, attribute, &value),
                   "hsa_executable_symbol_get_info(" + std::string(what) + ")"));
    return value;
  }

 private:
  /// Names of the kernels, sorted, without ".kd".
  Result<std::vector<std::string>> kernel_names() const;

  const HsaRuntime& runtime_;
  const HsaAgent& gpu_;
  std::vector<std::byte> bytes_;
  hsa::CodeObjectReader reader_{};
  hsa::Executable executable_{};
  bool abandoned_ = false;
};

}  // namespace perflab::replay
