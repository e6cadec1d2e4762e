// A replay::Device without any runtime: ranges are host memory at the very addresses that were
// asked for, kernels are C++ functions by symbol. Every call is logged, and any can be made to
// fail.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "hsa/types.h"
#include "replay/device.h"
#include "replay/failures.h"

namespace perflab::test {

/// A kernel of the fake. `body` gets the launch, whose addresses are those of this process.
struct FakeKernel {
  std::function<void(const replay::Launch&)> body;
  replay::LoadedKernel loaded{};  ///< `object` is filled in by the device
};

/// The 64-bit (32-bit, ...) argument at this offset of a launch's kernargs.
template <class T>
T argument(const replay::Launch& launch, std::size_t offset) {
  T value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(launch.kernarg_address) + offset,
              sizeof(value));
  return value;
}

class FakeDevice final : public replay::Device {
 public:
  FakeDevice() {
    facts_.isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
    facts_.agent_name = "gfx942";
    facts_.product_name = "Fake";
    facts_.runtime_version = "1.21";
  }
  FakeDevice(const FakeDevice&) = delete;
  FakeDevice(FakeDevice&&) = delete;
  FakeDevice& operator=(const FakeDevice&) = delete;
  FakeDevice& operator=(FakeDevice&&) = delete;
  ~FakeDevice() override {
    for (const auto& [base, size] : mapped_) ::munmap(reinterpret_cast<void*>(base), size);
  }

  replay::DeviceFacts facts_;
  /// Kernels of every code object that is not in `objects`, by symbol.
  std::map<std::string, FakeKernel> kernels;
  /// Kernels of one code object, by the content hash of its bytes: see define().
  std::map<std::uint64_t, std::map<std::string, FakeKernel>> objects;
  /// Variables of every code object: name and size. Each load gives them a new address.
  std::map<std::string, std::uint64_t> variables;
  /// GPU time of each dispatch, the last again and again.
  std::vector<Nanos> times{Nanos{1000}};
  /// Set by a body: what this dispatch answers instead of its time.
  std::optional<Error> fault;
  /// What kernels find in LDS and scratch: what the last launch left, or the trap before it.
  std::vector<std::uint32_t> left = std::vector<std::uint32_t>(1024);
  std::string no_trap_because;      ///< set: nothing is dirtied
  std::uint64_t room = UINT64_MAX;  ///< the largest buffer that allocate() has
  std::byte garbage{0xcd};          ///< what placed memory and variables hold at first

  std::vector<std::string> log;                ///< "place 0x1000 0x2000", "run", "copy 0x... 0x..."
  std::map<std::string, int> calls;            ///< by name
  std::map<std::string, std::uint64_t> bytes;  ///< moved by write, read, zero and copy

  /// Gives one code object its own kernel.
  void define(std::string_view code_object, const std::string& name, FakeKernel kernel) {
    objects[content_hash(code_object)][name] = std::move(kernel);
  }
  /// Makes the nth call (from 1) of this name fail; 0: every call.
  void inject(const std::string& name, int nth, Error error) {
    failures_.emplace(std::pair{name, nth}, std::move(error));
  }
  void inject(const std::string& name, int nth, replay::Failure failure) {
    inject(name, nth, replay::fail(failure, "injected", "").error());
  }
  [[nodiscard]] int count(const std::string& name) const {
    const auto at = calls.find(name);
    return at == calls.end() ? 0 : at->second;
  }
  /// Forgets what was logged and counted.
  void forget() {
    log.clear();
    calls.clear();
    bytes.clear();
  }

  [[nodiscard]] const replay::DeviceFacts& facts() const override { return facts_; }

  Result<void> place(const replay::FixedRange& range) override {
    PERFLAB_TRY_VOID(
        note("place", fmt::format(" {:#x} {:#x} {}", range.base, range.bytes,
                                  range.on_gpu ? fmt::format("gpu {}", range.agent_index)
                                               : std::string("host"))));
    return map(range.base, range.bytes);
  }
  Result<std::optional<std::uint64_t>> allocate(std::uint64_t bytes_wanted) override {
    PERFLAB_TRY_VOID(note("allocate", fmt::format(" {:#x}", bytes_wanted)));
    if (bytes_wanted > room) return std::optional<std::uint64_t>{};
    void* const memory = ::mmap(nullptr, bytes_wanted, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
      return replay::fail(replay::Failure::hsa_call_failed, "no memory in the fake", "end others");
    mapped_.emplace_back(reinterpret_cast<std::uint64_t>(memory), bytes_wanted);
    return std::optional(mapped_.back().first);
  }

  Result<void> load(std::span<const std::byte> code_object) override {
    PERFLAB_TRY_VOID(note("load", fmt::format(" {}", code_object.size())));
    const auto own = objects.find(
        content_hash({reinterpret_cast<const char*>(code_object.data()), code_object.size()}));
    loaded_ = own == objects.end() ? &kernels : &own->second;
    variable_memory_.emplace_back();
    for (const auto& [name, size] : variables) variable_memory_.back()[name].assign(size, garbage);
    return {};
  }
  Result<replay::LoadedKernel> kernel(const std::string& name) override {
    PERFLAB_TRY_VOID(note("kernel", " " + name));
    const auto found = loaded_ == nullptr ? kernels.end() : loaded_->find(name);
    if (loaded_ == nullptr || found == loaded_->end())
      return replay::fail(replay::Failure::kernel_not_found,
                          fmt::format("no {} in the fake", name));
    replay::LoadedKernel answer = found->second.loaded;
    answer.object = reinterpret_cast<std::uint64_t>(&found->second);
    return answer;
  }
  Result<std::optional<std::uint64_t>> variable(const std::string& name,
                                                std::uint64_t size) override {
    PERFLAB_TRY_VOID(note("variable", " " + name));
    if (variable_memory_.empty()) return std::optional<std::uint64_t>{};
    const auto found = variable_memory_.back().find(name);
    if (found == variable_memory_.back().end() || found->second.size() != size)
      return std::optional<std::uint64_t>{};
    return std::optional(reinterpret_cast<std::uint64_t>(found->second.data()));
  }

  Result<void> write(std::uint64_t address, std::span<const std::byte> from) override {
    PERFLAB_TRY_VOID(note("write", fmt::format(" {:#x} {:#x}", address, from.size()), from.size()));
    std::memcpy(reinterpret_cast<void*>(address), from.data(), from.size());
    return {};
  }
  Result<void> read(std::uint64_t address, std::span<std::byte> to) override {
    PERFLAB_TRY_VOID(note("read", fmt::format(" {:#x} {:#x}", address, to.size()), to.size()));
    std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
    return {};
  }
  Result<void> zero(std::uint64_t address, std::uint64_t size) override {
    PERFLAB_TRY_VOID(note("zero", fmt::format(" {:#x} {:#x}", address, size), size));
    void* const to = reinterpret_cast<void*>(address);
    // Whole pages go back to the kernel, so that sparse gigabytes stay cheap.
    if (address % 4096 == 0 && size % 4096 == 0 && ::madvise(to, size, MADV_DONTNEED) == 0)
      return {};
    std::memset(to, 0, size);
    return {};
  }
  Result<void> copy(std::span<const replay::CopyRun> runs) override {
    std::uint64_t moved = 0;
    for (const replay::CopyRun& run : runs) moved += run.bytes;
    PERFLAB_TRY_VOID(note("copy", fmt::format(" {} runs {:#x}", runs.size(), moved), moved));
    for (const auto& [to, from, size] : runs)
      std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
    return {};
  }

  Result<replay::Dirtied> dirty(const replay::Launch& next, std::uint64_t seed) override {
    if (!no_trap_because.empty())
      return replay::Dirtied{.what = std::nullopt, .missing_because = no_trap_because};
    std::ranges::fill(left, replay::left_memory_pattern(seed));
    return replay::Dirtied{
        .what = replay::LeftMemory{.lds_bytes = static_cast<std::uint32_t>(left.size() * 4),
                                   .scratch_bytes = next.private_segment_bytes,
                                   .vgprs = 512},
        .missing_because = {}};
  }
  Result<Nanos> run(const replay::Launch& launch, Nanos limit) override {
    PERFLAB_TRY_VOID(note("run", ""));
    last_launch = launch;
    last_limit = limit;
    fault.reset();
    const auto* const which = reinterpret_cast<const FakeKernel*>(launch.kernel_object);
    if (which->body) which->body(launch);
    if (fault) return std::unexpected(*fault);
    const auto turn = static_cast<std::size_t>(calls["run"]) - 1;
    return times[std::min(turn, times.size() - 1)];
  }

  replay::Launch last_launch;
  Nanos last_limit;

 private:
  Result<void> note(const std::string& name, const std::string& arguments,
                    std::uint64_t moved = 0) {
    log.push_back(name + arguments);
    const int turn = ++calls[name];
    bytes[name] += moved;
    for (const int nth : {turn, 0})
      if (const auto found = failures_.find({name, nth}); found != failures_.end())
        return std::unexpected(found->second);
    return {};
  }
  Result<void> map(std::uint64_t base, std::uint64_t size) {
    void* const wish = reinterpret_cast<void*>(base);
    void* const memory =
        ::mmap(wish, size, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (memory != wish) {
      if (memory != MAP_FAILED) ::munmap(memory, size);
      return replay::fail(replay::Failure::relocated, fmt::format("{:#x} is taken", base));
    }
    mapped_.emplace_back(base, size);
    // Not all of it: a sparse gigabyte stays cheap.
    std::memset(memory, std::to_integer<int>(garbage), std::min<std::uint64_t>(size, 1U << 20U));
    return {};
  }

  std::vector<std::pair<std::uint64_t, std::uint64_t>> mapped_;
  std::map<std::pair<std::string, int>, Error> failures_;
  std::map<std::string, FakeKernel>* loaded_ = nullptr;
  std::vector<std::map<std::string, std::vector<std::byte>>> variable_memory_;
};

}  // namespace perflab::test
