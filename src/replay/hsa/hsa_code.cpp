// See hsa_code.h.
#include "replay/hsa/hsa_code.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "code/object/code_object.h"
#include "replay/failures.h"

namespace perflab::replay {
namespace {

/// Names of kernels that an error lists at most.
constexpr std::size_t kMostKernels = 10;

/// Whether the metadata, which stripping leaves alone, has this kernel.
bool describes(const std::vector<std::byte>& bytes, const std::string& kernel) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto object = code::read_code_object(text, "code object");
  return object && code::kernel_named(*object, kernel) != nullptr;
}

}  // namespace

HsaCode::~HsaCode() {
  if (abandoned_) return;
  if (executable_.handle != 0) runtime_.core().executable_destroy(executable_);
  if (reader_.handle != 0) runtime_.core().code_object_reader_destroy(reader_);
}

Result<void> HsaCode::load(std::span<const std::byte> bytes) {
  const hsa::Core& core = runtime_.core();
  bytes_.assign(bytes.begin(), bytes.end());
  PERFLAB_TRY_VOID(
      check_call(core.code_object_reader_create_from_memory(bytes_.data(), bytes_.size(), &reader_),
                 "hsa_code_object_reader_create_from_memory()"));
  PERFLAB_TRY_VOID(
      check_call(core.executable_create_alt(hsa::Profile::full, hsa::RoundingMode::by_default,
                                            nullptr, &executable_),
                 "hsa_executable_create_alt()"));
  PERFLAB_TRY_VOID(check_call(
      core.executable_load_agent_code_object(executable_, gpu_.handle, reader_, nullptr, nullptr),
      "hsa_executable_load_agent_code_object()"));
  return check_call(core.executable_freeze(executable_, nullptr), "hsa_executable_freeze()");
}

Result<std::optional<hsa::ExecutableSymbol>> HsaCode::symbol(const std::string& name) const {
  hsa::ExecutableSymbol found{};
  const hsa::Status status = runtime_.core().executable_get_symbol_by_name(
      executable_, name.c_str(), &gpu_.handle, &found);
  if (status == hsa::Status::invalid_symbol_name) return std::optional<hsa::ExecutableSymbol>{};
  PERFLAB_TRY_VOID(check_call(status, fmt::format("hsa_executable_get_symbol_by_name({})", name)));
  return std::optional(found);
}

Result<std::vector<std::string>> HsaCode::kernel_names() const {
  std::vector<hsa::ExecutableSymbol> symbols;
  const auto keep = [](hsa::Executable, hsa::Agent, hsa::ExecutableSymbol symbol, void* list) {
    static_cast<std::vector<hsa::ExecutableSymbol>*>(list)->push_back(symbol);
    return hsa::Status::success;
  };
  PERFLAB_TRY_VOID(check_call(
      runtime_.core().executable_iterate_agent_symbols(executable_, gpu_.handle, keep, &symbols),
      "hsa_executable_iterate_agent_symbols()"));
  std::vector<std::string> names;
  for (const hsa::ExecutableSymbol symbol : symbols) {
    PERFLAB_TRY(const auto length,
                info<std::uint32_t>(symbol, hsa::symbol_info::name_length, "NAME_LENGTH"));
    std::string name(length, '\0');
    PERFLAB_TRY_VOID(check_call(
        runtime_.core().executable_symbol_get_info(symbol, hsa::symbol_info::name, name.data()),
        "hsa_executable_symbol_get_info(NAME)"));
    if (name.ends_with(".kd")) names.push_back(name.substr(0, name.size() - 3));
  }
  std::ranges::sort(names);
  return names;
}

Result<LoadedKernel> HsaCode::kernel(const std::string& name) const {
  PERFLAB_TRY(const auto found, symbol(name + ".kd"));
  if (!found) {
    PERFLAB_TRY(std::vector<std::string> names, kernel_names());
    if (names.empty() && describes(bytes_, name))
      return fail(
          Failure::kernel_not_found,
          fmt::format("the code object describes a kernel {}, but the HSA runtime looks for "
                      "it in the symbol table (.symtab), which is stripped",
                      name),
          "link it without --strip-all (-s)");
    const std::size_t all = names.size();
    names.resize(std::min(all, kMostKernels));
    return fail(
        Failure::kernel_not_found, fmt::format("the code object has no kernel {}", name),
        fmt::format("it has: {}{}", fmt::join(names, ", "),
                    all > names.size() ? fmt::format(", and {} more", all - names.size()) : ""));
  }
  using namespace hsa::symbol_info;
  LoadedKernel loaded;
  PERFLAB_TRY(loaded.object, info<std::uint64_t>(*found, kernel_object, "KERNEL_OBJECT"));
  PERFLAB_TRY(loaded.kernarg_bytes,
              info<std::uint32_t>(*found, kernarg_segment_size, "KERNARG_SEGMENT_SIZE"));
  PERFLAB_TRY(loaded.group_segment_bytes,
              info<std::uint32_t>(*found, group_segment_size, "GROUP_SEGMENT_SIZE"));
  PERFLAB_TRY(loaded.private_segment_bytes,
              info<std::uint32_t>(*found, private_segment_size, "PRIVATE_SEGMENT_SIZE"));
  return loaded;
}

}  // namespace perflab::replay
