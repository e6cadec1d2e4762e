// What holds the parts together: runtime, memory, code object, queue. The order of events is
// device.h's: placing, contents, loading, dispatches.
#include "replay/hsa/hsa_device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "replay/addresses/placeholders.h"
#include "replay/code_choice.h"
#include "replay/failures.h"
#include "replay/hsa/hsa_memory.h"
#include "replay/hsa/hsa_queue.h"
#include "replay/hsa/hsa_runtime.h"

namespace perflab::replay {
namespace {

/// Names of kernels that an error lists at most.
constexpr std::size_t kMostKernels = 10;

/// A loaded code object.
class HsaCode {
 public:
  HsaCode(const HsaRuntime& runtime, const HsaAgent& gpu) : runtime_(runtime), gpu_(gpu) {}
  HsaCode(const HsaCode&) = delete;
  HsaCode(HsaCode&&) = delete;
  HsaCode& operator=(const HsaCode&) = delete;
  HsaCode& operator=(HsaCode&&) = delete;
  ~HsaCode() {
    if (abandoned_) return;
    if (executable_.handle != 0) runtime_.core().executable_destroy(executable_);
    if (reader_.handle != 0) runtime_.core().code_object_reader_destroy(reader_);
  }
  void abandon() { abandoned_ = true; }

  Result<void> load(std::span<const std::byte> bytes) {
    const hsa::Core& core = runtime_.core();
    bytes_.assign(bytes.begin(), bytes.end());
    PERFLAB_TRY_VOID(check_call(
        core.code_object_reader_create_from_memory(bytes_.data(), bytes_.size(), &reader_),
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

  /// Missing: there is no symbol of that name.
  Result<std::optional<hsa::ExecutableSymbol>> symbol(const std::string& name) const {
    hsa::ExecutableSymbol found{};
    const hsa::Status status = runtime_.core().executable_get_symbol_by_name(
        executable_, name.c_str(), &gpu_.handle, &found);
    if (status == hsa::Status::invalid_symbol_name) return std::optional<hsa::ExecutableSymbol>{};
    PERFLAB_TRY_VOID(
        check_call(status, fmt::format("hsa_executable_get_symbol_by_name({})", name)));
    return std::optional(found);
  }

  template <class T>
  Result<T> info(hsa::ExecutableSymbol symbol, std::uint32_t attribute, const char* what) const {
    T value{};
    PERFLAB_TRY_VOID(
        check_call(runtime_.core().executable_symbol_get_info(symbol, attribute, &value),
                   fmt::format("hsa_executable_symbol_get_info({})", what)));
    return value;
  }

  /// Names of the kernels, sorted, without ".kd".
  Result<std::vector<std::string>> kernel_names() const {
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

 private:
  const HsaRuntime& runtime_;
  const HsaAgent& gpu_;
  std::vector<std::byte> bytes_;
  hsa::CodeObjectReader reader_{};
  hsa::Executable executable_{};
  bool abandoned_ = false;
};

class HsaDevice final : public Device {
 public:
  HsaDevice(std::unique_ptr<HsaRuntime> runtime, const HsaAgent& gpu, std::vector<Span> planned,
            Placeholders placeholders, Span area)
      : runtime_(std::move(runtime)),
        gpu_(gpu),
        facts_(runtime_->facts_of(gpu)),
        memory_(*runtime_, gpu, std::move(planned), std::move(placeholders), area) {}
  HsaDevice(const HsaDevice&) = delete;
  HsaDevice(HsaDevice&&) = delete;
  HsaDevice& operator=(const HsaDevice&) = delete;
  HsaDevice& operator=(HsaDevice&&) = delete;
  ~HsaDevice() override {
    // What hangs or has failed would take the calls that give things back with it.
    if (queue_ == nullptr || !queue_->lost()) return;
    runtime_->abandon();
    memory_.abandon();
    if (code_) code_->abandon();
  }

  [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
  Result<void> place(const FixedRange& range) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.place(range);
  }
  Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.allocate(bytes);
  }
  Result<void> write(std::uint64_t address, std::span<const std::byte> bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.write(address, bytes);
  }
  Result<void> read(std::uint64_t address, std::span<std::byte> bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.read(address, bytes);
  }
  Result<void> zero(std::uint64_t address, std::uint64_t bytes) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.zero(address, bytes);
  }
  Result<void> copy(std::span<const CopyRun> runs) override {
    PERFLAB_TRY_VOID(usable());
    return memory_.copy(runs);
  }

  Result<void> load(std::span<const std::byte> code_object) override {
    PERFLAB_TRY_VOID(usable());
    code_.reset();
    code_ = std::make_unique<HsaCode>(*runtime_, gpu_);
    return code_->load(code_object);
  }
  Result<LoadedKernel> kernel(const std::string& name) override;
  Result<std::optional<std::uint64_t>> variable(const std::string& name,
                                                std::uint64_t bytes) override;
  Result<Nanos> run(const Launch& launch, Nanos limit) override {
    if (queue_ == nullptr) {
      PERFLAB_TRY(queue_, HsaQueue::create(*runtime_, gpu_));
    }
    PERFLAB_TRY_VOID(usable());
    return queue_->run(launch, limit);
  }

 private:
  /// Calls into a runtime whose GPU hangs may never come back.
  [[nodiscard]] Result<void> usable() const {
    if (queue_ == nullptr || !queue_->lost()) return {};
    return fail(Failure::kernel_fault, "the GPU was lost in an earlier dispatch");
  }

  // Destroyed from below: queue and code before the memory, the runtime last.
  std::unique_ptr<HsaRuntime> runtime_;
  const HsaAgent& gpu_;
  DeviceFacts facts_;
  HsaMemory memory_;
  std::unique_ptr<HsaCode> code_;
  std::unique_ptr<HsaQueue> queue_;
};

Result<LoadedKernel> HsaDevice::kernel(const std::string& name) {
  PERFLAB_CHECK(code_ != nullptr);
  PERFLAB_TRY(const auto symbol, code_->symbol(name + ".kd"));
  if (!symbol) {
    PERFLAB_TRY(std::vector<std::string> names, code_->kernel_names());
    const std::size_t all = names.size();
    names.resize(std::min(all, kMostKernels));
    return fail(
        Failure::kernel_not_found, fmt::format("the code object has no kernel {}", name),
        fmt::format("it has: {}{}", fmt::join(names, ", "),
                    all > names.size() ? fmt::format(", and {} more", all - names.size()) : ""));
  }
  using namespace hsa::symbol_info;
  LoadedKernel loaded;
  PERFLAB_TRY(loaded.object, code_->info<std::uint64_t>(*symbol, kernel_object, "KERNEL_OBJECT"));
  PERFLAB_TRY(loaded.kernarg_bytes,
              code_->info<std::uint32_t>(*symbol, kernarg_segment_size, "KERNARG_SEGMENT_SIZE"));
  PERFLAB_TRY(loaded.group_segment_bytes,
              code_->info<std::uint32_t>(*symbol, group_segment_size, "GROUP_SEGMENT_SIZE"));
  PERFLAB_TRY(loaded.private_segment_bytes,
              code_->info<std::uint32_t>(*symbol, private_segment_size, "PRIVATE_SEGMENT_SIZE"));
  return loaded;
}

Result<std::optional<std::uint64_t>> HsaDevice::variable(const std::string& name,
                                                         std::uint64_t bytes) {
  PERFLAB_CHECK(code_ != nullptr);
  const std::optional<std::uint64_t> none;
  PERFLAB_TRY(const auto symbol, code_->symbol(name));
  if (!symbol) return none;
  PERFLAB_TRY(const auto kind, code_->info<std::uint32_t>(*symbol, hsa::symbol_info::type, "TYPE"));
  if (kind != static_cast<std::uint32_t>(hsa::SymbolKind::variable)) return none;
  PERFLAB_TRY(const auto size, code_->info<std::uint32_t>(*symbol, hsa::symbol_info::variable_size,
                                                          "VARIABLE_SIZE"));
  if (size != bytes) return none;
  PERFLAB_TRY(
      const auto address,
      code_->info<std::uint64_t>(*symbol, hsa::symbol_info::variable_address, "VARIABLE_ADDRESS"));
  return std::optional(address);
}

Result<Placeholders> hold_addresses(const std::vector<Span>& spans, bool may_restart) {
  PERFLAB_TRY(Placeholders placeholders, Placeholders::hold(spans));
  if (placeholders.conflicts().empty()) return placeholders;
  if (may_restart) restart_with_other_addresses();
  const Placeholders::Conflict& first = placeholders.conflicts().front();
  return fail(Failure::occupied,
              fmt::format("{:#x}-{:#x} is taken in this process by {}", first.span.base,
                          first.span.end(), first.holder),
              "run it again: addresses are random");
}

}  // namespace

void set_address_mode(const std::string& address_mode) {
  if (address_mode == "mmap") ::unsetenv("HSA_RESERVE_SVM");
  if (address_mode == "reserved") ::setenv("HSA_RESERVE_SVM", "1", 1);
}

Result<std::unique_ptr<Device>> open_hsa_device(const capture::Description& description,
                                                const HsaOptions& options) {
  PERFLAB_TRY(const AddressPlan plan, plan_addresses(description, kSystemPage));
  std::vector<Span> spans = reservations(plan);
  set_address_mode(description.machine.address_mode);
  PERFLAB_TRY(Placeholders placeholders, hold_addresses(spans, options.may_restart));
  PERFLAB_TRY(const std::vector<Mapping> before, own_mappings());
  PERFLAB_TRY(HsaRuntime opened, HsaRuntime::open());
  PERFLAB_TRY(const std::vector<Mapping> after, own_mappings());
  auto runtime = std::make_unique<HsaRuntime>(std::move(opened));
  PERFLAB_TRY(const HsaAgent* const gpu, runtime->gpu(description.machine.gpu_index));
  PERFLAB_TRY_VOID(check_isa(description.machine.isa, gpu->isa));
  return std::make_unique<HsaDevice>(std::move(runtime), *gpu, std::move(spans),
                                     std::move(placeholders), svm_area(before, after));
}

}  // namespace perflab::replay
