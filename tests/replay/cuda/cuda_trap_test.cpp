// The trap for left memory on CUDA's driver: what it launches, on a driver of functions that note
// it, and that the assembler gives its kernels what they are for, where there is one.
#include "replay/cuda/cuda_trap.h"

#include <gmock/gmock.h>

#include <cstring>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/temp_folder.h"

namespace perflab::replay {
namespace {

using cuda::DriverResult;

/// What the driver was asked for.
struct Asked {
  struct Launched {
    std::string kernel;
    std::uint32_t blocks, threads, shared_bytes, pattern, words, never;
  };
  std::vector<std::string> images, unloaded;
  std::vector<Launched> launches;
  int most_shared = 0;
  DriverResult load = DriverResult::success, synchronize = DriverResult::success;
};
Asked asked;

/// Modules and functions are texts: the image, the kernel's name.
cuda::Driver noting_driver() {
  cuda::Driver driver{};
  driver.device_get_attribute = [](int* value, cuda::DeviceAttribute which, cuda::Device) {
    using enum cuda::DeviceAttribute;
    *value = which == multiprocessor_count                ? 132
             : which == max_threads_per_multiprocessor    ? 2048
             : which == max_shared_memory_per_block_optin ? 232448
                                                          : 0;
    return DriverResult::success;
  };
  driver.module_load_data = [](cuda::Module* module, const void* image) {
    asked.images.emplace_back(static_cast<const char*>(image));
    if (asked.load == DriverResult::success)
      *module = reinterpret_cast<cuda::Module>(new std::string(asked.images.back()));
    return asked.load;
  };
  driver.module_unload = [](cuda::Module module) {
    auto* const image = reinterpret_cast<std::string*>(module);
    asked.unloaded.push_back(*image);
    delete image;
    return DriverResult::success;
  };
  driver.module_get_function = [](cuda::Function* function, cuda::Module module, const char* name) {
    const auto& image = *reinterpret_cast<const std::string*>(module);
    *function = reinterpret_cast<cuda::Function>(const_cast<char*>(name));
    return image.find(name) == std::string::npos ? DriverResult::invalid_value
                                                 : DriverResult::success;
  };
  driver.function_set_attribute = [](cuda::Function, cuda::FunctionAttribute which, int value) {
    EXPECT_EQ(which, cuda::FunctionAttribute::max_dynamic_shared_bytes);
    asked.most_shared = value;
    return DriverResult::success;
  };
  driver.function_get_attribute = [](int* value, cuda::FunctionAttribute which, cuda::Function) {
    EXPECT_EQ(which, cuda::FunctionAttribute::registers);
    *value = 254;
    return DriverResult::success;
  };
  driver.launch_kernel = [](cuda::Function function, std::uint32_t x, std::uint32_t, std::uint32_t,
                            std::uint32_t threads, std::uint32_t, std::uint32_t,
                            std::uint32_t shared_bytes, cuda::Stream, void** parameters, void**) {
    const auto word = [&](int i) { return *static_cast<const std::uint32_t*>(parameters[i]); };
    asked.launches.push_back({reinterpret_cast<const char*>(function), x, threads, shared_bytes,
                              word(0), word(1), word(2)});
    return DriverResult::success;
  };
  driver.stream_synchronize = [](cuda::Stream) { return asked.synchronize; };
  return driver;
}

class CudaTrapTest : public ::testing::Test {
 protected:
  CudaTrapTest() { asked = {}; }
  cuda::Driver driver_ = noting_driver();
};

TEST_F(CudaTrapTest, FillsEveryMultiprocessorAndTheScratchOfTheNextLaunch) {
  {
    CudaTrap trap(driver_, 0);
    const auto first = trap.dirty({}, {}, 2);
    ASSERT_TRUE(first.has_value() && first->what);
    EXPECT_EQ(first->what->lds_bytes, 232448U);
    EXPECT_EQ(first->what->scratch_bytes, 0U);
    EXPECT_EQ(first->what->vgprs, 508U);
    ASSERT_EQ(asked.launches.size(), 1U);
    EXPECT_EQ(asked.most_shared, 232448);
    Launch next;
    next.private_segment_bytes = 40;
    const auto second = trap.dirty({}, next, 3);
    ASSERT_TRUE(second.has_value() && second->what);
    EXPECT_EQ(second->what->scratch_bytes, 40U);
    next.private_segment_bytes = 48;  // the same kernel
    ASSERT_TRUE(trap.dirty({}, next, 4).has_value());
    ASSERT_EQ(asked.images.size(), 2U);
    EXPECT_THAT(asked.images[1], ::testing::HasSubstr("left_local[48]"));
  }
  EXPECT_EQ(asked.unloaded.size(), 2U);
  ASSERT_EQ(asked.launches.size(), 5U);
  for (const Asked::Launched& launched : asked.launches) {
    const bool scratch = launched.kernel == "left_memory_scratch";
    EXPECT_EQ(launched.threads, 256U);
    EXPECT_EQ(launched.blocks, scratch ? 2U * 132 * 8 : 2U * 132);
    EXPECT_EQ(launched.shared_bytes, scratch ? 0U : 232448U);
    EXPECT_EQ(launched.words, scratch ? 12U : 58112U);
    EXPECT_EQ(launched.never, ~launched.pattern);
  }
  EXPECT_EQ(asked.launches[0].pattern, left_memory_pattern(2));
  EXPECT_EQ(asked.launches[1].kernel, "left_memory_scratch");  // its threads leave registers too
  EXPECT_EQ(asked.launches[2].pattern, left_memory_pattern(3));
}

TEST_F(CudaTrapTest, SaysWhyNothingIsDirtied) {
  asked.load = DriverResult::invalid_value;
  CudaTrap refused(driver_, 0);
  for (int i = 0; i < 2; ++i) {
    const auto dirtied = refused.dirty({}, {}, 1);
    ASSERT_TRUE(dirtied.has_value());
    EXPECT_FALSE(dirtied->what);
    EXPECT_THAT(dirtied->missing_because, ::testing::HasSubstr("left_memory_registers: error 1"));
  }
  EXPECT_EQ(asked.images.size(), 1U);
  driver_.launch_kernel = nullptr;
  CudaTrap old(driver_, 0);
  EXPECT_THAT(old.dirty({}, {}, 1)->missing_because, ::testing::HasSubstr("lacks calls"));
}

TEST_F(CudaTrapTest, AKernelThatDoesNotEndWellIsAnError) {
  asked.synchronize = DriverResult::invalid_value;
  CudaTrap trap(driver_, 0);
  const auto dirtied = trap.dirty({}, {}, 1);
  ASSERT_FALSE(dirtied.has_value());
  EXPECT_EQ(dirtied.error().code, ErrorCode::missing_tool);
  EXPECT_THAT(dirtied.error().message, ::testing::StartsWith("cuda_call_failed: the kernel that"));
}

TEST_F(CudaTrapTest, WithoutRoomForTheLocalMemoryNothingIsDirtied) {
  asked.synchronize = DriverResult::out_of_memory;
  CudaTrap trap(driver_, 0);
  Launch next;
  next.private_segment_bytes = 65536;
  const auto dirtied = trap.dirty({}, next, 1);
  ASSERT_TRUE(dirtied.has_value());
  EXPECT_FALSE(dirtied->what);
  EXPECT_THAT(dirtied->missing_because, ::testing::HasSubstr("no room for 65536 bytes"));
  asked.synchronize = DriverResult::success;
  next.private_segment_bytes = 16;
  EXPECT_TRUE(trap.dirty({}, next, 2)->what.has_value());  // the next has its own
}

/// What ptxas -v says of a text.
std::string assembled(const std::string& ptx, const std::string& processor) {
  const test::TempFolder folder;
  EXPECT_TRUE(write_file_atomically(folder / "trap.ptx", ptx));
  const auto ptxas = find_program("ptxas");
  ProcessOptions options;
  options.standard_error = StreamMode::capture;
  const auto done = run_program(
      {ptxas ? ptxas->string() : "/usr/local/cuda/bin/ptxas", "-v", "-arch=" + processor,
       (folder / "trap.ptx").string(), "-o", (folder / "trap.cubin").string()},
      options);
  return done && done->succeeded() ? done->error.tail : std::string();
}

TEST(CudaTrapCode, UsesAllRegistersAndAllLocalMemory) {
  if (assembled(trap_registers_ptx(), "sm_90").empty()) GTEST_SKIP() << "ptxas is not here";
  for (const char* processor : {"sm_80", "sm_90", "sm_100", "sm_120"}) {
    const std::string said = assembled(trap_registers_ptx(), processor);
    EXPECT_THAT(said, ::testing::ContainsRegex("Used 25[0-5] registers")) << processor;
    EXPECT_THAT(said, ::testing::HasSubstr("0 bytes spill stores")) << processor;
    EXPECT_THAT(assembled(trap_scratch_ptx(4096), processor),
                ::testing::HasSubstr("4096 bytes stack frame"))
        << processor;
  }
}

}  // namespace
}  // namespace perflab::replay
