// The stand-in driver in the process of a test: opened, with a context of device 0.
#pragma once

#include <gtest/gtest.h>

#include <dlfcn.h>

#include "cuda/api.h"

namespace perflab::cuda_sim {

inline const cuda::Driver& ready_driver() {
  static const cuda::Driver driver = [] {
    void* const library = dlopen(PERFLAB_CUDA_SIM_FOLDER "/libcuda.so.1", RTLD_NOW);
    EXPECT_NE(library, nullptr) << dlerror();
    const cuda::Driver made = cuda::driver_of_library(library);
    EXPECT_EQ(made.init(0), cuda::DriverResult::success);
    return made;
  }();
  cuda::Context context = nullptr;
  EXPECT_EQ(driver.primary_context_retain(&context, 0), cuda::DriverResult::success);
  EXPECT_EQ(driver.context_set_current(context), cuda::DriverResult::success);
  return driver;
}

}  // namespace perflab::cuda_sim
