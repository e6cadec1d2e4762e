// One block of the first kernel has a multiprocessor for itself: 256 threads of 254 registers are
// all its registers, and its shared memory is all that a block may have. As many blocks of the
// second as the GPU holds fill their local memory: of the next launch's size at least, because
// where a thread's local memory lies depends on that. Both stay for some microseconds, so that
// blocks lie beside each other; nobody says that each multiprocessor got one. The registers hold
// what is loaded from shared memory until a factor has come that their sum needs, and no compiler
// knows the sum.
#include "replay/cuda/cuda_trap.h"

#include <fmt/format.h>

#include <array>

#include "replay/failures.h"

namespace perflab::replay {
namespace {

constexpr std::uint32_t kTrapThreads = 256;
constexpr int kLoadedWords = 240;  // registers that are loaded; the compiler needs some more
constexpr std::uint32_t kBlocksPerMultiprocessor = 2;
/// Lanes of a multiprocessor: 4 sub-partitions of 32.
constexpr std::uint32_t kSmLanes = 128;
constexpr std::uint32_t kLocalStep = 16;  // bytes of local memory

constexpr const char* kPtxHead = R"(.version 6.4
.target sm_70
.address_size 64
)";
constexpr const char* kRegistersHead = R"(.extern .shared .align 16 .b8 left_shared[];
.visible .entry left_memory_registers(.param .u32 pattern, .param .u32 words, .param .u32 never)
.maxntid 256, 1, 1
{
  .reg .pred %p<2>;
  .reg .u32 %r<240>, %pattern, %words, %never, %at, %address, %base, %factor, %sum;
  ld.param.u32 %pattern, [pattern];
  ld.param.u32 %words, [words];
  ld.param.u32 %never, [never];
  mov.u32 %at, %tid.x;
  mov.u32 %base, left_shared;
fill:
  setp.ge.u32 %p0, %at, %words;
  @%p0 bra filled;
  shl.b32 %address, %at, 2;
  add.u32 %address, %address, %base;
  st.volatile.shared.u32 [%address], %pattern;
  add.u32 %at, %at, 256;
  bra fill;
filled:
  bar.sync 0;
)";
constexpr const char* kRegistersTail = R"(  setp.ne.u32 %p1, %sum, %never;
  @%p1 bra done;
  st.volatile.shared.u32 [%base], %sum;
done:
  ret;
}
)";
constexpr const char* kScratchBody = R"(  .reg .pred %p<2>;
  .reg .u32 %pattern, %never, %at, %base, %end, %word;
  ld.param.u32 %pattern, [pattern];
  ld.param.u32 %never, [never];
  mov.u32 %base, left_local;
  add.u32 %end, %base, LOCAL_BYTES;
  mov.u32 %at, %base;
fill:
  st.local.u32 [%at], %pattern;
  add.u32 %at, %at, 4;
  setp.lt.u32 %p0, %at, %end;
  @%p0 bra fill;
  nanosleep.u32 3000;
  and.b32 %at, %never, 12;
  add.u32 %at, %at, %base;
  ld.local.u32 %word, [%at];
  setp.ne.u32 %p1, %word, %never;
  @%p1 bra done;
  trap;
done:
  ret;
}
)";

std::string error_text(cuda::DriverResult result) {
  return fmt::format("error {}", static_cast<std::int64_t>(result));
}

}  // namespace

std::string trap_registers_ptx() {
  std::string text = std::string(kPtxHead) + kRegistersHead;
  for (int i = 0; i < kLoadedWords; ++i)
    text += fmt::format("  ld.volatile.shared.u32 %r{}, [%base+{}];\n", i, 4 * i);
  text +=
      "  nanosleep.u32 3000;\n  ld.volatile.shared.u32 %factor, [%base];\n"
      "  mov.u32 %sum, %factor;\n";
  for (int i = 0; i < kLoadedWords; ++i)
    text += fmt::format("  mad.lo.u32 %sum, %sum, %factor, %r{};\n", i);
  return text + kRegistersTail;
}

std::string trap_scratch_ptx(std::uint32_t local_bytes) {
  std::string body = kScratchBody;
  constexpr std::string_view kPlace = "LOCAL_BYTES";
  body.replace(body.find(kPlace), kPlace.size(), fmt::format("{}", local_bytes));
  return fmt::format(
      "{}.visible .entry left_memory_scratch(.param .u32 pattern, .param .u32 words, .param .u32 "
      "never)\n.maxntid 256, 1, 1\n{{\n  .local .align 16 .b8 left_local[{}];\n{}",
      kPtxHead, local_bytes, body);
}

CudaTrap::~CudaTrap() {
  if (abandoned_) return;
  if (registers_) driver_.module_unload(registers_->module);
  for (const auto& [bytes, loaded] : scratch_) driver_.module_unload(loaded.module);
}

int CudaTrap::attribute(cuda::DeviceAttribute which) const {
  int value = 0;
  return driver_.device_get_attribute(&value, which, device_) == cuda::DriverResult::success ? value
                                                                                             : 0;
}

std::optional<CudaTrap::Loaded> CudaTrap::load(const std::string& ptx, const char* kernel) {
  Loaded loaded;
  cuda::DriverResult result = driver_.module_load_data(&loaded.module, ptx.c_str());
  if (result == cuda::DriverResult::success) {
    result = driver_.module_get_function(&loaded.function, loaded.module, kernel);
    if (result == cuda::DriverResult::success) return loaded;
    driver_.module_unload(loaded.module);
  }
  missing_because_ =
      fmt::format("the driver does not load the kernel {}: {}", kernel, error_text(result));
  return std::nullopt;
}

void CudaTrap::open() {
  if (driver_.module_load_data == nullptr || driver_.module_get_function == nullptr ||
      driver_.module_unload == nullptr || driver_.function_set_attribute == nullptr ||
      driver_.function_get_attribute == nullptr || driver_.launch_kernel == nullptr ||
      driver_.stream_synchronize == nullptr) {
    missing_because_ = "the driver lacks calls for modules and launches";
    return;
  }
  multiprocessors_ =
      static_cast<std::uint32_t>(attribute(cuda::DeviceAttribute::multiprocessor_count));
  threads_ =
      static_cast<std::uint32_t>(attribute(cuda::DeviceAttribute::max_threads_per_multiprocessor));
  const int shared = attribute(cuda::DeviceAttribute::max_shared_memory_per_block_optin);
  if (multiprocessors_ == 0 || threads_ == 0 || shared < 4 * kLoadedWords) {
    missing_because_ =
        "the driver does not say how many multiprocessors there are, or what they "
        "have";
    return;
  }
  registers_ = load(trap_registers_ptx(), "left_memory_registers");
  if (!registers_) return;
  int registers = 0;
  if (const auto result = driver_.function_set_attribute(
          registers_->function, cuda::FunctionAttribute::max_dynamic_shared_bytes, shared);
      result != cuda::DriverResult::success ||
      driver_.function_get_attribute(&registers, cuda::FunctionAttribute::registers,
                                     registers_->function) != cuda::DriverResult::success) {
    missing_because_ = fmt::format("the driver does not give a block {} bytes of shared memory: {}",
                                   shared, error_text(result));
    return;
  }
  fills_ = {.lds_bytes = static_cast<std::uint32_t>(shared),
            .scratch_bytes = 0,
            .vgprs = static_cast<std::uint32_t>(registers) * kTrapThreads / kSmLanes};
}

cuda::DriverResult CudaTrap::launch(cuda::Stream stream, const Loaded& kernel, std::uint32_t blocks,
                                    std::uint32_t shared_bytes, std::uint32_t words,
                                    std::uint32_t pattern) const {
  std::uint32_t never = ~pattern;
  std::array<void*, 3> parameters{&pattern, &words, &never};
  const cuda::DriverResult result =
      driver_.launch_kernel(kernel.function, blocks, 1, 1, kTrapThreads, 1, 1, shared_bytes, stream,
                            parameters.data(), nullptr);
  return result == cuda::DriverResult::success ? driver_.stream_synchronize(stream) : result;
}

Result<Dirtied> CudaTrap::dirty(cuda::Stream stream, const Launch& next, std::uint64_t seed) {
  if (!opened_) open();
  opened_ = true;
  const std::uint32_t local =
      (next.private_segment_bytes + kLocalStep - 1) / kLocalStep * kLocalStep;
  if (missing_because_.empty() && local > 0 && !scratch_.contains(local))
    if (const auto loaded = load(trap_scratch_ptx(local), "left_memory_scratch"))
      scratch_.emplace(local, *loaded);
  if (!missing_because_.empty())
    return Dirtied{.what = std::nullopt, .missing_because = missing_because_};
  const std::uint32_t pattern = left_memory_pattern(seed);
  const std::uint32_t blocks = kBlocksPerMultiprocessor * multiprocessors_;
  cuda::DriverResult result = cuda::DriverResult::success;
  if (local > 0) {
    result =
        launch(stream, scratch_.at(local), blocks * threads_ / kTrapThreads, 0, local / 4, pattern);
    // A launch of fewer threads may still have room for its own.
    if (result == cuda::DriverResult::out_of_memory)
      return Dirtied{
          .what = std::nullopt,
          .missing_because = fmt::format(
              "the GPU has no room for {} bytes of local memory of as many threads as it "
              "can hold",
              local)};
  }
  if (result == cuda::DriverResult::success)
    result = launch(stream, *registers_, blocks, fills_.lds_bytes, fills_.lds_bytes / 4, pattern);
  // No fault of what is to be launched: the same kernel in every replay.
  if (result != cuda::DriverResult::success)
    return fail(Failure::cuda_call_failed,
                fmt::format("the kernel that dirties shared memory, registers and local memory "
                            "before launches did not end well: {}",
                            error_text(result)),
                "run it again; when it repeats, the GPU or its driver is broken: `rocm-perf "
                "doctor --self-test`");
  Dirtied dirtied{.what = fills_, .missing_because = {}};
  dirtied.what->scratch_bytes = next.private_segment_bytes;
  return dirtied;
}

}  // namespace perflab::replay
