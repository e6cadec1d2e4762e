// Modules of the stand-in driver and kernels that really run: what the driver says of them, every
// form of a launch, the order of streams, faults and kernels that wait.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "cuda_sim/driver_run.h"
#include "cuda_sim/sim_cubins.h"
#include "hsa_sim/kernel_arguments.h"

namespace perflab::cuda_sim {
namespace {

using cuda::DevicePointer;
using cuda::DriverResult;
using hsa::sim::ArrayArguments;
using hsa::sim::SlowArguments;
using hsa::sim::VaddArguments;

cuda::Module loaded(const std::string& image) {
  cuda::Module module = nullptr;
  EXPECT_EQ(ready_driver().module_load_data(&module, image.data()), DriverResult::success);
  return module;
}

cuda::Function function_of(cuda::Module module, const char* name) {
  cuda::Function function = nullptr;
  EXPECT_EQ(ready_driver().module_get_function(&function, module, name), DriverResult::success)
      << name;
  return function;
}

float* floats(std::vector<float> values) {
  const cuda::Driver& driver = ready_driver();
  DevicePointer made = 0;
  EXPECT_EQ(driver.memory_allocate(&made, values.size() * sizeof(float)), DriverResult::success);
  EXPECT_EQ(driver.copy_to_device(made, values.data(), values.size() * sizeof(float)),
            DriverResult::success);
  return reinterpret_cast<float*>(made);
}

template <class T>
DriverResult launch(cuda::Function function, T arguments, std::uint32_t blocks,
                    std::uint32_t threads, std::uint32_t shared = 0,
                    cuda::Stream stream = nullptr) {
  std::size_t bytes = sizeof arguments;
  void* extra[] = {reinterpret_cast<void*>(cuda::launch_parameter::buffer_pointer), &arguments,
                   reinterpret_cast<void*>(cuda::launch_parameter::buffer_size), &bytes, nullptr};
  return ready_driver().launch_kernel(function, blocks, 1, 1, threads, 1, 1, shared, stream,
                                      nullptr, extra);
}

TEST(CudaSimKernels, AFunctionSaysWhatItsImageSays) {
  const cuda::Driver& driver = ready_driver();
  const std::string image = test::sim_cubin({{.name = "_Z4vaddPKfS0_Pfj",
                                              .body = "vadd",
                                              .registers = 22,
                                              .shared_bytes = 512,
                                              .local_bytes = 48,
                                              .max_threads = 256}});
  cuda::Module module = loaded(image);
  cuda::Function function = function_of(module, "_Z4vaddPKfS0_Pfj");
  const auto attribute = [&](cuda::FunctionAttribute which) {
    int value = -2;
    EXPECT_EQ(driver.function_get_attribute(&value, which, function), DriverResult::success);
    return value;
  };
  EXPECT_EQ(attribute(cuda::FunctionAttribute::registers), 22);
  EXPECT_EQ(attribute(cuda::FunctionAttribute::shared_bytes), 512);
  EXPECT_EQ(attribute(cuda::FunctionAttribute::local_bytes), 48);
  EXPECT_EQ(attribute(cuda::FunctionAttribute::max_threads_per_block), 256);
  EXPECT_EQ(attribute(cuda::FunctionAttribute::max_dynamic_shared_bytes), 49152);
  EXPECT_EQ(attribute(cuda::FunctionAttribute::preferred_shared_carveout), -1);
  const char* name = nullptr;
  EXPECT_EQ(driver.function_get_name(&name, function), DriverResult::success);
  EXPECT_STREQ(name, "_Z4vaddPKfS0_Pfj");
  cuda::Module owner = nullptr;
  EXPECT_EQ(driver.function_get_module(&owner, function), DriverResult::success);
  EXPECT_EQ(owner, module);
  std::size_t offset = 0, bytes = 0;
  EXPECT_EQ(driver.function_get_parameter(function, 3, &offset, &bytes), DriverResult::success);
  EXPECT_EQ(offset, 24U);
  EXPECT_EQ(bytes, 4U);
  EXPECT_EQ(driver.function_get_parameter(function, 4, &offset, &bytes),
            DriverResult::invalid_value);
  cuda::Function none = nullptr;
  EXPECT_EQ(driver.module_get_function(&none, module, "vadd"), DriverResult::not_found);
  EXPECT_EQ(driver.module_load_data(&module,
                                    "no image, and long enough to be looked at as if it "
                                    "were one of 64 bytes"),
            DriverResult::invalid_image);
}

TEST(CudaSimKernels, EveryFormOfALaunchRuns) {
  const cuda::Driver& driver = ready_driver();
  cuda::Function vadd = function_of(loaded(test::sim_cubin({{.name = "vadd"}})), "vadd");
  float* const a = floats({1, 2, 3, 4});
  float* const b = floats({10, 20, 30, 40});
  float* c = floats({0, 0, 0, 0});
  EXPECT_EQ(launch(vadd, VaddArguments{a, b, c, 4}, 1, 4), DriverResult::success);
  EXPECT_EQ(driver.context_synchronize(), DriverResult::success);
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{11, 22, 33, 44}));

  float* const second = floats({0, 0, 0, 0});
  const float* left = a;
  const float* right = c;
  float* out = second;
  std::uint32_t n = 3;
  void* parameters[] = {&left, &right, &out, &n};
  EXPECT_EQ(driver.launch_kernel(vadd, 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr),
            DriverResult::success);
  cuda::LaunchAttribute attributes[2]{};
  attributes[0].id = cuda::LaunchAttributeId::cluster_dimension;
  for (std::uint32_t& size : attributes[0].value.cluster) size = 1;
  attributes[1].id = cuda::LaunchAttributeId::cooperative;
  attributes[1].value.cooperative = 1;
  const cuda::LaunchConfiguration shape{.grid = {4, 1, 1},
                                        .block = {1, 1, 1},
                                        .shared_bytes = 0,
                                        .stream = nullptr,
                                        .attributes = attributes,
                                        .attribute_count = 2};
  left = second;
  EXPECT_EQ(driver.launch_kernel_ex(&shape, vadd, parameters, nullptr), DriverResult::success);
  EXPECT_EQ(driver.context_synchronize(), DriverResult::success);
  // The second launch had the first one's answer.
  EXPECT_EQ(std::vector<float>(second, second + 4), (std::vector<float>{23, 46, 69, 0}));
  EXPECT_EQ(driver.launch_kernel(vadd, 1, 1, 1, 4, 1, 1, 0, nullptr, nullptr, nullptr),
            DriverResult::invalid_value);
}

TEST(CudaSimKernels, MoreSharedMemoryHasToBeAllowed) {
  const cuda::Driver& driver = ready_driver();
  cuda::Function reverse = function_of(loaded(test::sim_cubin({{.name = "reverse"}})), "reverse");
  float* const x = floats({1, 2, 3});
  EXPECT_EQ(launch(reverse, ArrayArguments{x, 3}, 1, 3, 100'000), DriverResult::invalid_value);
  EXPECT_EQ(driver.function_set_attribute(
                reverse, cuda::FunctionAttribute::max_dynamic_shared_bytes, 300'000),
            DriverResult::invalid_value);
  EXPECT_EQ(driver.function_set_attribute(
                reverse, cuda::FunctionAttribute::max_dynamic_shared_bytes, 100'000),
            DriverResult::success);
  EXPECT_EQ(launch(reverse, ArrayArguments{x, 3}, 1, 3, 100'000), DriverResult::success);
  EXPECT_EQ(driver.context_synchronize(), DriverResult::success);
  EXPECT_EQ(std::vector<float>(x, x + 3), (std::vector<float>{3, 2, 1}));
}

TEST(CudaSimKernels, VariablesAreThoseOfTheModule) {
  const cuda::Driver& driver = ready_driver();
  const std::string image = test::sim_cubin({{.name = "scale"}});
  cuda::Module first = loaded(image);
  cuda::Module second = loaded(image);
  DevicePointer here = 0, there = 0;
  std::size_t bytes = 0;
  ASSERT_EQ(driver.module_get_global(&here, &bytes, first, "factor"), DriverResult::success);
  ASSERT_EQ(driver.module_get_global(&there, nullptr, second, "factor"), DriverResult::success);
  EXPECT_EQ(bytes, sizeof(float));
  EXPECT_NE(here, there);
  const float factor = 3;
  ASSERT_EQ(driver.copy_to_device(there, &factor, sizeof factor), DriverResult::success);
  float* const x = floats({2});
  launch(function_of(first, "scale"), ArrayArguments{x, 1}, 1, 1);
  launch(function_of(second, "scale"), ArrayArguments{x, 1}, 1, 1);
  EXPECT_EQ(driver.context_synchronize(), DriverResult::success);
  EXPECT_EQ(*x, 15);
  EXPECT_EQ(driver.module_get_global(&here, &bytes, first, "no"), DriverResult::not_found);
  EXPECT_EQ(driver.module_unload(first), DriverResult::success);
}

TEST(CudaSimKernels, AKernelOfALibraryIsNoFunction) {
  const cuda::Driver& driver = ready_driver();
  const std::string image = test::sim_cubin({{.name = "inplace"}});
  cuda::Library library = nullptr;
  ASSERT_EQ(
      driver.library_load_data(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
      DriverResult::success);
  cuda::Kernel kernel = nullptr;
  ASSERT_EQ(driver.library_get_kernel(&kernel, library, "inplace"), DriverResult::success);
  auto* const handle = reinterpret_cast<cuda::Function>(kernel);
  const char* name = nullptr;
  EXPECT_EQ(driver.function_get_name(&name, handle), DriverResult::invalid_handle);
  float* const x = floats({1});
  EXPECT_EQ(launch(handle, ArrayArguments{x, 1}, 1, 1), DriverResult::success);
  EXPECT_EQ(driver.context_synchronize(), DriverResult::success);
  EXPECT_EQ(*x, 2);
  cuda::Function function = nullptr;
  ASSERT_EQ(driver.kernel_get_function(&function, kernel), DriverResult::success);
  EXPECT_EQ(driver.function_get_name(&name, function), DriverResult::success);
  EXPECT_STREQ(name, "inplace");
  cuda::Module module = nullptr, owner = nullptr;
  EXPECT_EQ(driver.library_get_module(&module, library), DriverResult::success);
  EXPECT_EQ(driver.function_get_module(&owner, function), DriverResult::success);
  EXPECT_EQ(module, owner);
}

TEST(CudaSimKernels, StreamsKeepTheirOrderAndEventsTime) {
  const cuda::Driver& driver = ready_driver();
  cuda::Module module = loaded(test::sim_cubin({{.name = "slow"}, {.name = "inplace"}}));
  cuda::Stream stream = nullptr;
  ASSERT_EQ(driver.stream_create(&stream, 0), DriverResult::success);
  cuda::Event before = nullptr, behind = nullptr;
  ASSERT_EQ(driver.event_create(&before, 0), DriverResult::success);
  ASSERT_EQ(driver.event_create(&behind, 0), DriverResult::success);
  float* const x = floats({0});
  ASSERT_EQ(driver.event_record(before, stream), DriverResult::success);
  ASSERT_EQ(launch(function_of(module, "slow"), SlowArguments{x, 1, 5, 100}, 1, 1, 0, stream),
            DriverResult::success);
  ASSERT_EQ(launch(function_of(module, "inplace"), ArrayArguments{x, 1}, 1, 1, 0, stream),
            DriverResult::success);
  ASSERT_EQ(driver.event_record(behind, stream), DriverResult::success);
  EXPECT_EQ(driver.event_query(behind), DriverResult::not_ready);
  EXPECT_EQ(driver.stream_query(stream), DriverResult::not_ready);
  float found = 0;
  // A copy on the default stream waits for the other one.
  EXPECT_EQ(driver.copy_to_host(&found, reinterpret_cast<DevicePointer>(x), sizeof found),
            DriverResult::success);
  EXPECT_EQ(found, 6);
  EXPECT_EQ(driver.event_synchronize(behind), DriverResult::success);
  float milliseconds = 0;
  EXPECT_EQ(driver.event_elapsed_time(&milliseconds, before, behind), DriverResult::success);
  EXPECT_GE(milliseconds, 100);
  EXPECT_LT(milliseconds, 10'000);
  EXPECT_EQ(driver.stream_destroy(stream), DriverResult::success);
}

TEST(CudaSimKernels, AKernelThatWaitsForTheHostLetsOtherStreamsGoOn) {
  const cuda::Driver& driver = ready_driver();
  cuda::Module module = loaded(test::sim_cubin({{.name = "wait_flag"}, {.name = "inplace"}}));
  void* host = nullptr;
  ASSERT_EQ(driver.host_allocate(&host, 64, cuda::host_memory::device_map), DriverResult::success);
  auto* const flag = static_cast<volatile float*>(host);
  flag[0] = 0;
  flag[1] = 0;
  constexpr std::uint32_t kNonBlocking = 1;
  cuda::Stream waiting = nullptr, other = nullptr;
  ASSERT_EQ(driver.stream_create(&waiting, kNonBlocking), DriverResult::success);
  ASSERT_EQ(driver.stream_create(&other, kNonBlocking), DriverResult::success);
  ASSERT_EQ(launch(function_of(module, "wait_flag"), ArrayArguments{static_cast<float*>(host), 2},
                   1, 1, 0, waiting),
            DriverResult::success);
  float* const x = floats({1});
  ASSERT_EQ(launch(function_of(module, "inplace"), ArrayArguments{x, 1}, 1, 1, 0, other),
            DriverResult::success);
  EXPECT_EQ(driver.stream_synchronize(other), DriverResult::success);
  EXPECT_EQ(*x, 2);
  EXPECT_EQ(driver.stream_query(waiting), DriverResult::not_ready);
  flag[0] = 4;
  EXPECT_EQ(driver.stream_synchronize(waiting), DriverResult::success);
  EXPECT_EQ(flag[1], 4);
  driver.stream_destroy(waiting);
  driver.stream_destroy(other);
}

// The context is dead behind it, so that it has a process of its own, forked before CUDA is used.
TEST(CudaSimKernelsDeathTest, AnIllegalAddressEndsTheContext) {
  EXPECT_EXIT(
      {
        const cuda::Driver& driver = ready_driver();
        cuda::Module module = loaded(test::sim_cubin({{.name = "wild"}, {.name = "inplace"}}));
        float* const x = floats({1});
        launch(function_of(module, "wild"), ArrayArguments{x, 1}, 1, 1);
        const bool faulted = driver.context_synchronize() == DriverResult::illegal_address;
        const bool dead = launch(function_of(module, "inplace"), ArrayArguments{x, 1}, 1, 1) ==
                              DriverResult::illegal_address &&
                          driver.stream_query(nullptr) == DriverResult::illegal_address;
        std::_Exit(faulted && dead && *x == 1 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CudaSimKernels, SharedAndLocalMemoryOutliveLaunchesUntilTheTrapDirtiesThem) {
  const cuda::Driver& driver = ready_driver();
  const cuda::Module module = loaded(test::sim_cubin({{.name = "reverse"},
                                                      {.name = "reverse_left"},
                                                      {.name = "spill", .local_bytes = 16},
                                                      {.name = "spill_left", .local_bytes = 16}}));
  const auto run = [&](const char* kernel, float* x) {
    EXPECT_EQ(launch(function_of(module, kernel), ArrayArguments{.x = x, .n = 2}, 1, 2, 8),
              DriverResult::success);
    EXPECT_EQ(driver.context_synchronize(), DriverResult::success);
    return std::vector<float>{x[0], x[1]};
  };
  EXPECT_EQ(run("reverse", floats({1, 2})), (std::vector<float>{2, 1}));
  EXPECT_EQ(run("reverse_left", floats({7, 7})), (std::vector<float>{2, 1}));
  EXPECT_EQ(run("spill", floats({1, 2})), (std::vector<float>{2, 3}));
  EXPECT_EQ(run("spill_left", floats({7, 7})), (std::vector<float>{2, 3}));

  const auto ptx = [](const std::string& name) {
    return ".version 6.4\n.visible .entry " + name +
           "(.param .u32 pattern, .param .u32 words)\n.maxntid 256, 1, 1\n{\n"
           ".local .align 16 .b8 left_local[16];\n}\n";
  };
  struct Trap {
    std::uint32_t pattern, words;
  };
  for (const char* name : {"left_memory_registers", "left_memory_scratch"}) {
    const cuda::Function trap = function_of(loaded(ptx(name)), name);
    EXPECT_EQ(launch(trap, Trap{0x40400000, 4}, 132 * 8, 256, 16), DriverResult::success);
  }
  EXPECT_EQ(run("reverse_left", floats({7, 7})), (std::vector<float>{3, 3}));
  EXPECT_EQ(run("spill_left", floats({7, 7})), (std::vector<float>{3, 3}));
}

}  // namespace
}  // namespace perflab::cuda_sim
