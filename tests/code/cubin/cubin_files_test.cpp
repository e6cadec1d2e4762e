// code/cubin/fatbin.h and cubin_files.h on written files.
#include "code/cubin/cubin_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "code/cubin/cubin.h"
#include "code/files/unpack.h"
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
      {.architecture = 80, .bytes = old, .packing = FatbinPacking::lz4},
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
  EXPECT_THAT(message_of("text"), HasSubstr("neither a cubin"));
  EXPECT_THAT(message_of(test::write_cuda_host_file(".data", "x")), HasSubstr("no cubin in it"));
  EXPECT_THAT(message_of(test::write_cuda_host_file("__nv_relfatbin", "x")),
              HasSubstr("not linked yet"));
  const std::vector<WrittenFatbinEntry> wrong{{.bytes = "not a cubin"}};
  EXPECT_THAT(message_of(test::write_fatbin(wrong)), HasSubstr("is none"));
  std::string cut = test::write_fatbin(wrong);
  cut.resize(cut.size() - 8);
  EXPECT_THAT(message_of(cut), HasSubstr("damaged fat binary"));
  for (const FatbinPacking packing : {FatbinPacking::zstd, FatbinPacking::lz4}) {
    const std::vector<WrittenFatbinEntry> bomb{
        {.bytes = std::string(1 << 20, '\0'), .packing = packing}};
    const auto limited = find_cubins(test::write_fatbin(bomb), "app", 1000);
    ASSERT_FALSE(limited.has_value());
    EXPECT_THAT(limited.error().message, HasSubstr("size of a compressed entry"));
  }
}

TEST(CubinFiles, ABlockOfLz4IsWhatItsFormatSays) {
  using namespace std::string_literals;
  // Five literals, a match of nine at distance three that makes what it copies, five literals.
  EXPECT_EQ(unpack_lz4("\x55"
                       "xyabc\x03\x00"
                       "\x50"
                       "vwxyz"s,
                       19),
            "xyabcabcabcabcvwxyz");
  EXPECT_EQ(unpack_lz4("\xf0\x00"
                       "0123456789abcde"s,
                       15),
            "0123456789abcde");
  // The literals are cut off; a length is; a distance of zero; one before the beginning; too much
  // and too little.
  EXPECT_FALSE(unpack_lz4("\x50"
                          "abc"s,
                          5)
                   .has_value());
  EXPECT_FALSE(unpack_lz4("\xf0\xff\xff"s, 600).has_value());
  EXPECT_FALSE(unpack_lz4("\x14"
                          "a\x00\x00\x00"s,
                          9)
                   .has_value());
  EXPECT_FALSE(unpack_lz4("\x14"
                          "a\x02\x00\x00"s,
                          9)
                   .has_value());
  EXPECT_FALSE(unpack_lz4("\x14"
                          "a\x01\x00\x00"s,
                          8)
                   .has_value());
  EXPECT_FALSE(unpack_lz4("\x50"
                          "vwxyz"s,
                          6)
                   .has_value());
}

}  // namespace
}  // namespace perflab::code
