// What holds the parts together: runtime, memory, code object, queue. The order of events is
// device.h's: placing, contents, loading, dispatches.
#include "replay/hsa/hsa_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "replay/addresses/placeholders.h"
#include "replay/code_choice.h"
#include "replay/failures.h"
#include "replay/hsa/hsa_code.h"
#include "replay/hsa/hsa_memory.h"
#include "replay/hsa/hsa_queue.h"
#include "replay/hsa/hsa_runtime.h"
#include "replay/hsa/hsa_trap.h"

namespace perflab::replay {
namespace {

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
    if (trap_) trap_->abandon();
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
  Result<LoadedKernel> kernel(const std::string& name) override {
    PERFLAB_CHECK(code_ != nullptr);
    return code_->kernel(name);
  }
  Result<std::optional<std::uint64_t>> variable(const std::string& name,
                                                std::uint64_t bytes) override;
  Result<Dirtied> dirty(const Launch& next, std::uint64_t seed) override {
    PERFLAB_TRY_VOID(have_queue());
    if (trap_ == nullptr) {
      PERFLAB_TRY(trap_, HsaTrap::open(*runtime_, gpu_, memory_));
    }
    return trap_->dirty(*queue_, next, seed);
  }
  Result<Nanos> run(const Launch& launch, Nanos limit) override {
    PERFLAB_TRY_VOID(have_queue());
    return queue_->run(launch, limit);
  }

 private:
  /// Calls into a runtime whose GPU hangs may never come back.
  [[nodiscard]] Result<void> usable() const {
    if (queue_ == nullptr || !queue_->lost()) return {};
    return fail(Failure::kernel_fault, "the GPU was lost in an earlier dispatch");
  }

  Result<void> have_queue() {
    if (queue_ == nullptr) {
      PERFLAB_TRY(queue_, HsaQueue::create(*runtime_, gpu_));
    }
    return usable();
  }

  // Destroyed from below: queue and code before the memory, the runtime last.
  std::unique_ptr<HsaRuntime> runtime_;
  const HsaAgent& gpu_;
  DeviceFacts facts_;
  HsaMemory memory_;
  std::unique_ptr<HsaCode> code_;
  std::unique_ptr<HsaTrap> trap_;
  std::unique_ptr<HsaQueue> queue_;
};

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
