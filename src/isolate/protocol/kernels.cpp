// The table of kernel objects: keys are set once and stay, so that a reader can follow the probes
// without a lock; a kernel object that is gone has no name.
#include "isolate/protocol/kernels.h"

#include <cxxabi.h>

#include <cstdlib>

#include "base/random.h"
#include "base/text/json.h"
#include "isolate/protocol/fixed_table.h"

namespace perflab::isolate {
namespace {

// HIP's and its runtime's own kernels (docs/facts/hsa_runtime.md "Code of HIP").
constexpr std::string_view kOwnKernels = "__amd_rocclr_";

}  // namespace

std::string demangled(const std::string& symbol) {
  // Without the prefix it is no C++ name, but may be the code of a type: "f" is float.
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text != nullptr ? text.get() : symbol;
}

bool wanted(const Pattern& pattern, const std::string& symbol) {
  if (symbol.starts_with(kOwnKernels) && pattern.text().find(kOwnKernels) == std::string::npos)
    return false;
  return pattern.found_in(demangled(symbol));
}

Kernels::Kernels(Pattern pattern, const StatusLog& status)
    : pattern_(std::move(pattern)),
      status_(status),
      slots_(static_cast<Slot*>(arena(kSlots * sizeof(Slot)))) {}

KernelName* Kernels::find(std::uint64_t kernel_object) const {
  if (slots_ == nullptr || kernel_object == 0) return nullptr;
  for (std::size_t at = mixed_bits(kernel_object) & (kSlots - 1);; at = (at + 1) & (kSlots - 1)) {
    const std::uint64_t object = slots_[at].object.load(std::memory_order_acquire);
    if (object == kernel_object) return slots_[at].name.load(std::memory_order_acquire);
    if (object == 0) return nullptr;
  }
}

KernelName* Kernels::named(const std::string& symbol) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<KernelName>& entry = names_[symbol];
  if (entry == nullptr) {
    entry = std::make_unique<KernelName>();
    entry->symbol = symbol;
    entry->quoted = Json(symbol).dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
    entry->wanted = wanted(pattern_, symbol);
    entry->slot = static_cast<std::uint32_t>(names_.size() - 1);
    entry->count = status_.counter(entry->slot);
    if (entry->count == nullptr) entry->count = &entry->own_count;
  }
  return entry.get();
}

bool Kernels::bind(std::uint64_t kernel_object, KernelName* name) {
  const std::lock_guard lock(mutex_);
  if (slots_ == nullptr || kernel_object == 0) return false;
  std::size_t at = mixed_bits(kernel_object) & (kSlots - 1);
  for (; slots_[at].object.load(std::memory_order_relaxed) != 0; at = (at + 1) & (kSlots - 1)) {
    if (slots_[at].object.load(std::memory_order_relaxed) != kernel_object) continue;
    slots_[at].name.store(name, std::memory_order_release);
    return true;
  }
  if (used_ == kSlots / 2) return false;
  ++used_;
  slots_[at].name.store(name, std::memory_order_relaxed);
  slots_[at].object.store(kernel_object, std::memory_order_release);
  return true;
}

void Kernels::unbind(std::uint64_t kernel_object) {
  if (find(kernel_object) != nullptr) bind(kernel_object, nullptr);
}

void Kernels::count(KernelName& name) const {
  if (name.count->fetch_add(1, std::memory_order_relaxed) == 0)
    status_.say_kernel(name.slot, name.quoted);
}

}  // namespace perflab::isolate
