// Sentences in the words of a platform.
#include "hal/terms.h"

#include <gtest/gtest.h>

namespace perflab::hal {
namespace {

TEST(Terms, SentencesAreSaidInThePlatformsWords) {
  const auto said = [](std::string_view text) { return in_terms(text, Platform::nvidia); };
  EXPECT_EQ(said("give the launch more work-groups"), "give the launch more blocks");
  EXPECT_EQ(said("waves that a CU can hold"), "warps that an SM can hold");
  EXPECT_EQ(said("a work-group of 256 work-items"), "a block of 256 threads");
  EXPECT_EQ(said("keep data in registers or LDS."), "keep data in registers or shared memory.");
  EXPECT_EQ(said("12 VGPRs, scratch; roctx"), "12 registers, local memory; NVTX");
}

TEST(Terms, PartsOfWordsAndNamesStay) {
  for (const char* text : {"waves_per_simd", "microwave", "LDS_BYTES", "wave64", "CUDA", "SIMDize",
                           "counters.occupancy_reached", "valu-wave-count", "queue for the ALU"})
    EXPECT_EQ(in_terms(text, Platform::nvidia), text);
}

TEST(Terms, OnAmdNothingChanges) {
  constexpr std::string_view kText = "a CU holds waves of work-groups";
  EXPECT_EQ(in_terms(kText, Platform::amd), kText);
}

TEST(Terms, NamesOfFieldsAsWords) {
  EXPECT_EQ(field_in_terms("occupancy.busy_cus_waves", Platform::nvidia),
            "occupancy busy SMs warps");
  EXPECT_EQ(field_in_terms("mfma", Platform::nvidia), "tensor");
  EXPECT_EQ(field_in_terms("lds", Platform::nvidia), "shared memory");
  EXPECT_EQ(field_in_terms("hbm", Platform::nvidia), "DRAM");
  EXPECT_EQ(field_in_terms("hbm", Platform::amd), "hbm");
  EXPECT_EQ(field_in_terms("occupancy.busy_cus_waves", Platform::amd), "occupancy busy cus waves");
  EXPECT_EQ(field_in_terms("", Platform::nvidia), "");
}

}  // namespace
}  // namespace perflab::hal
