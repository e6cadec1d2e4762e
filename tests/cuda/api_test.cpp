// Versions that are known, entry points that are missing, names of results.
#include "cuda/api.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace perflab::cuda {
namespace {

TEST(CudaApi, VersionsOfKnownLayouts) {
  // docs/facts/cuda_cupti.md "Versions".
  EXPECT_EQ(api_generation(130000), ApiGeneration::cuda_13);
  EXPECT_EQ(api_generation(130001), ApiGeneration::cuda_13);
  EXPECT_EQ(api_generation(139999), ApiGeneration::cuda_13);
  EXPECT_EQ(api_generation(26), ApiGeneration::cuda_12);
  EXPECT_EQ(api_generation(28), ApiGeneration::cuda_12);
  for (const std::uint32_t other : {0U, 1U, 24U, 25U, 29U, 129999U, 140000U, 4294967295U})
    EXPECT_EQ(api_generation(other), ApiGeneration::unknown) << other;
}

TEST(CudaApi, EntriesHaveDistinctNamesOfTheirLibrary) {
  std::set<std::string> names;
  for (const EntryName& entry : driver_entries()) {
    EXPECT_EQ(std::string(entry.name).substr(0, 2), "cu");
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
  for (const EntryName& entry : cupti_entries()) {
    EXPECT_EQ(std::string(entry.name).substr(0, 5), "cupti");
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
  }
}

TEST(CudaApi, ALibraryWithoutEntriesLacksTheFirstNeededOne) {
  void* const c_library = dlopen("libc.so.6", RTLD_NOW);
  ASSERT_NE(c_library, nullptr);
  const Driver driver = driver_of_library(c_library);
  EXPECT_EQ(driver.init, nullptr);
  EXPECT_STREQ(missing_entry(driver), "cuInit");
  EXPECT_STREQ(missing_entry(cupti_of_library(c_library)), "cuptiGetVersion");
}

TEST(CudaApi, OnlyNeededEntriesCanBeMissing) {
  Cupti cupti{};
  std::vector<void*> entries(cupti_entries().size(), static_cast<void*>(&cupti));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::vector<void*> without = entries;
    without[i] = nullptr;
    std::memcpy(&cupti, without.data(), sizeof cupti);
    const EntryName& entry = cupti_entries()[i];
    if (entry.needed) {
      EXPECT_STREQ(missing_entry(cupti), entry.name);
    } else {
      EXPECT_EQ(missing_entry(cupti), nullptr) << entry.name;
    }
  }
}

CuptiResult only_not_initialized(CuptiResult result, const char** text) {
  if (result != CuptiResult::not_initialized) return CuptiResult::invalid_parameter;
  *text = "CUPTI_ERROR_NOT_INITIALIZED";
  return CuptiResult::success;
}

TEST(CudaApi, NamesOfResultsAreTheLibrarys) {
  Cupti cupti{};
  EXPECT_STREQ(result_name(cupti, CuptiResult::not_initialized), "unknown");
  cupti.get_result_string = &only_not_initialized;
  EXPECT_STREQ(result_name(cupti, CuptiResult::not_initialized), "CUPTI_ERROR_NOT_INITIALIZED");
  EXPECT_STREQ(result_name(cupti, CuptiResult::hardware), "unknown");
}

}  // namespace
}  // namespace perflab::cuda
