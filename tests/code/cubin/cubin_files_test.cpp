// code/cubin/fatbin.h and cubin_files.h on written files.
#include "code/cubin/cubin_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "code/cubin/cubin.h"
#include "support/cubin_writer.h"

namespace perflab::code {
namespace {

using test::FatbinPacking;
using test::WrittenFatbinEntry;
using testing::HasSubstr;

std::string small_cubin(std::uint32_t architecture) {
  test::WrittenCubin spec;
  spec.architecture = architecture;
  spec.kernels = {{.name = "k"}};
  return test::write_cubin(spec);
}

TEST(CubinFiles, ACubinAloneIsItself) {
  const std::string bytes = small_cubin(90);
  const auto found = find_cubins(bytes, "k.cubin");
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->cubins.size(), 1U);
  EXPECT_EQ(found->cubins[0].bytes, bytes);
  EXPECT_EQ(found->cubins[0].architecture, 90);
}

TEST(CubinFiles, FatBinariesAreUnpacked) {
  const std::string old = small_cubin(80), now = small_cubin(90);
  const std::vector<WrittenFatbinEntry> entries{
      {.architecture = 80, .bytes = old},
      {.architecture = 90, .bytes = now, .packing = FatbinPacking::zstd},
      {.architecture = 90, .bytes = ".version 9.0", .ptx = true}};
  const std::string fatbin = test::write_fatbin(entries);
  // As a file; in a host file; and two of them in one section, padded.
  const std::string twice = fatbin + std::string(16, '\0') + fatbin;
  for (const auto& [bytes, count] :
       {std::pair{fatbin, 2U}, std::pair{test::write_cuda_host_file(".nv_fatbin", fatbin), 2U},
        std::pair{test::write_cuda_host_file(".nv_fatbin", twice), 4U}}) {
    const auto found = find_cubins(bytes, "app");
    ASSERT_TRUE(found.has_value()) << found.error().message;
    ASSERT_EQ(found->cubins.size(), count);
    EXPECT_EQ(found->cubins[0].bytes, old);
    EXPECT_EQ(found->cubins[1].bytes, now);
    EXPECT_EQ(found->cubins[1].architecture, 90);
  }
}

TEST(CubinFiles, WhatHoldsNoneSaysWhy) {
  const auto message_of = [](const std::string& bytes) {
    const auto found = find_cubins(bytes, "app");
    EXPECT_FALSE(found.has_value());
    return found ? std::string() : found.error().message + " / " + found.error().remedy;
  };
  const std::vector<WrittenFatbinEntry> ptx{{.architecture = 75, .bytes = "//", .ptx = true}};
  EXPECT_THAT(message_of(test::write_fatbin(ptx)), HasSubstr("only PTX for compute_75"));
  const std::vector<WrittenFatbinEntry> lz4{{.bytes = "??", .packing = FatbinPacking::lz4}};
  EXPECT_THAT(message_of(test::write_fatbin(lz4)),
              testing::AllOf(HasSubstr("LZ4"), HasSubstr("--no-compress")));
  EXPECT_THAT(message_of("text"), HasSubstr("neither a cubin"));
  EXPECT_THAT(message_of(test::write_cuda_host_file(".data", "x")), HasSubstr("no cubin in it"));
  EXPECT_THAT(message_of(test::write_cuda_host_file("__nv_relfatbin", "x")),
              HasSubstr("not linked yet"));
  const std::vector<WrittenFatbinEntry> wrong{{.bytes = "not a cubin"}};
  EXPECT_THAT(message_of(test::write_fatbin(wrong)), HasSubstr("is none"));
  std::string cut = test::write_fatbin(wrong);
  cut.resize(cut.size() - 8);
  EXPECT_THAT(message_of(cut), HasSubstr("damaged fat binary"));
  const std::vector<WrittenFatbinEntry> bomb{
      {.bytes = std::string(1 << 20, '\0'), .packing = FatbinPacking::zstd}};
  const auto limited = find_cubins(test::write_fatbin(bomb), "app", 1000);
  ASSERT_FALSE(limited.has_value());
  EXPECT_THAT(limited.error().message, HasSubstr("size of a compressed entry"));
}

}  // namespace
}  // namespace perflab::code
