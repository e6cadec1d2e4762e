// Where CUPTI is looked for, and the real one of this machine if there is one (it answers without a
// GPU). The rest of the search is tested with the stand-in libraries: tests/cuda_sim.
#include "cuda/libraries.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace perflab::cuda {
namespace {

/// Sets variables for one test.
class CudaEnvironment : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* const name : {"CUDA_HOME", "CUDA_PATH"}) {
      const char* const value = std::getenv(name);
      saved_.emplace_back(name, value == nullptr ? "" : value);
      unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : saved_) {
      if (value.empty()) {
        unsetenv(name.c_str());
      } else {
        setenv(name.c_str(), value.c_str(), 1);
      }
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> saved_;
};

TEST_F(CudaEnvironment, FoldersOfToolkits) {
  EXPECT_EQ(cupti_folders(), (std::vector<std::string>{"/usr/local/cuda/lib64",
                                                       "/usr/local/cuda/extras/CUPTI/lib64"}));
  setenv("CUDA_HOME", "/opt/a", 1);
  setenv("CUDA_PATH", "not/absolute", 1);
  EXPECT_EQ(cupti_folders(),
            (std::vector<std::string>{"/usr/local/cuda/lib64", "/usr/local/cuda/extras/CUPTI/lib64",
                                      "/opt/a/lib64", "/opt/a/extras/CUPTI/lib64"}));
}

TEST(CudaLibraries, TheRealCuptiAnswers) {
  const CuptiLibrary cupti = open_cupti();
  if (cupti.problem == LibraryProblem::not_found) GTEST_SKIP() << cupti.detail;
  if (cupti.problem == LibraryProblem::unknown_version) GTEST_SKIP() << cupti.detail;
  ASSERT_EQ(cupti.problem, LibraryProblem::none) << cupti.detail;
  EXPECT_EQ(cupti.detail, "");
  EXPECT_EQ(cupti.path.front(), '/');
  EXPECT_EQ(cupti.generation, api_generation(cupti.version));

  const char* name = nullptr;
  ASSERT_EQ(
      cupti.api.get_callback_name(CallbackDomain::driver_api, driver_call::launch_kernel, &name),
      CuptiResult::success);
  EXPECT_STREQ(name, "cuLaunchKernel");
  ASSERT_EQ(cupti.api.get_callback_name(CallbackDomain::runtime_api, 211, &name),
            CuptiResult::success);
  EXPECT_STREQ(name, "cudaLaunchKernel_v7000");
  EXPECT_NE(cupti.api.get_callback_name(CallbackDomain::runtime_api, 100000, &name),
            CuptiResult::success);
  EXPECT_STREQ(result_name(cupti.api, CuptiResult::multiple_subscribers_not_supported),
               "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
}

TEST(CudaLibraries, TheDriverIsThereOrNamed) {
  const DriverLibrary driver = open_driver();
  if (driver.problem == LibraryProblem::not_found) {
    EXPECT_NE(driver.detail.find("libcuda.so.1"), std::string::npos);
    GTEST_SKIP() << driver.detail;
  }
  ASSERT_EQ(driver.problem, LibraryProblem::none) << driver.detail;
  int version = 0;
  EXPECT_EQ(driver.api.driver_get_version(&version), DriverResult::success);
  EXPECT_GE(version, 11000);
}

}  // namespace
}  // namespace perflab::cuda
