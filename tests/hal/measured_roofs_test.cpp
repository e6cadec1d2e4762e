// hal/measured_roofs.h on written files: the columns of the versions, what is left out, errors.
#include "hal/measured_roofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/temp_folder.h"

namespace perflab::hal {
namespace {

using ::testing::HasSubstr;

class MeasuredRoofsTest : public testing::Test {
 protected:
  MeasuredRoofs read(std::string_view text, std::optional<int> device = std::nullopt) {
    Result<MeasuredRoofs> roofs = read_measured_roofs(folder_.write("roofline.csv", text), device);
    if (roofs) return std::move(*roofs);
    ADD_FAILURE() << describe(roofs.error());
    return {};
  }
  Error error_of(std::string_view text, std::optional<int> device = std::nullopt) {
    const auto path = folder_.write("roofline.csv", text);
    const Result<MeasuredRoofs> roofs = read_measured_roofs(path, device);
    if (roofs) {
      ADD_FAILURE() << "no error: " << text;
      return {};
    }
    EXPECT_THAT(roofs.error().message, HasSubstr(path.string()));
    return roofs.error();
  }

  test::TempFolder folder_;
};

double value_of(const MeasuredRoofs& roofs, Pipe pipe, Precision precision) {
  const MeasuredRoof* const roof = roofs.of(pipe, precision);
  return roof == nullptr ? -1 : roof->value;
}

// The spelling of older files: "hbmBwHigh", "MFMAFI8OpsLow".
TEST_F(MeasuredRoofsTest, OfAnOlderFile) {
  const MeasuredRoofs roofs = read(
      "device,HBMBw,HBMBwLow,hbmBwHigh,L2Bw,L1Bw,LDSBw,FP32Flops,FP64Flops,MFMABF16Flops,"
      "MFMAI8Ops,MFMAFI8OpsLow,MFMAI8OpsHigh\n"
      "0,1400.5,1399,1402.25,5000,9000,17000,21000,20000,170000,166000,165000,167000\n");
  EXPECT_EQ(roofs.device, 0);
  ASSERT_TRUE(roofs.memory && roofs.l2 && roofs.l1 && roofs.lds);
  EXPECT_EQ(roofs.memory->value, 1400.5);
  EXPECT_EQ(roofs.memory->low, 1399);
  EXPECT_EQ(roofs.memory->high, 1402.25);
  EXPECT_EQ(roofs.memory->column, "HBMBw");
  EXPECT_EQ(roofs.l2->value, 5000);
  EXPECT_EQ(roofs.l2->low, std::nullopt);
  EXPECT_EQ(roofs.l1->value, 9000);
  EXPECT_EQ(roofs.lds->value, 17000);
  EXPECT_FALSE(roofs.infinity_cache);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::fp32), 21000);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::fp64), 20000);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::bf16), 170000);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp16), -1);
  const MeasuredRoof* const int8 = roofs.of(Pipe::matrix, Precision::int8);
  ASSERT_NE(int8, nullptr);
  EXPECT_EQ(int8->low, 165000);
  EXPECT_EQ(int8->high, 167000);
}

TEST_F(MeasuredRoofsTest, EveryColumnOfANewFileHasItsPlace) {
  const MeasuredRoofs roofs = read(
      "device,HBMBw,MALLBw,L2Bw,L1Bw,LDSBw,FP16Flops,FP32Flops,FP64Flops,I8Ops,I32Ops,I64Ops,"
      "MFMAF4Flops,MFMAF6Flops,MFMAF6F4Flops,MFMAF8Flops,MFMAF16Flops,MFMABF16Flops,"
      "MFMAF32Flops,MFMAF64Flops,MFMAI8Ops\n"
      "3,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20\n");
  EXPECT_EQ(roofs.device, 3);
  ASSERT_TRUE(roofs.memory && roofs.infinity_cache && roofs.l2 && roofs.l1 && roofs.lds);
  EXPECT_EQ(roofs.infinity_cache->value, 2);
  EXPECT_EQ(roofs.lds->value, 5);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::fp16), 6);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::int8), 9);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp4), 12);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp6), 13);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp8), 15);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp16), 16);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::bf16), 17);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp32), 18);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp64), 19);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::int8), 20);
  EXPECT_EQ(roofs.rates.size(), 12U);
}

TEST_F(MeasuredRoofsTest, WhatDidNotRunIsLeftOut) {
  const MeasuredRoofs roofs =
      read("device,HBMBw,HBMBwLow,L2Bw,FP32Flops,MFMAF6Flops,MFMAF6F4Flops\n0,0,0,,5,0.0,9\n");
  EXPECT_FALSE(roofs.memory);
  EXPECT_FALSE(roofs.l2);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::fp32), 5);
  // FP6 by FP4 was measured, FP6 alone was not.
  const MeasuredRoof* const fp6 = roofs.of(Pipe::matrix, Precision::fp6);
  ASSERT_NE(fp6, nullptr);
  EXPECT_EQ(fp6->value, 9);
  EXPECT_EQ(fp6->column, "MFMAF6F4Flops");
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp4), 9);
}

TEST_F(MeasuredRoofsTest, OfRdna) {
  const MeasuredRoofs roofs = read("device,L1Bw,L0Bw,WMMAF16Flops\n0,100,200,300\n");
  ASSERT_TRUE(roofs.l1);
  EXPECT_EQ(roofs.l1->column, "L0Bw");
  EXPECT_EQ(roofs.l1->value, 200);
  EXPECT_EQ(value_of(roofs, Pipe::matrix, Precision::fp16), 300);
}

TEST_F(MeasuredRoofsTest, TheDeviceIsTheOneAskedForElseTheFirst) {
  const std::string text = "device,HBMBw\n2,10\n0,20\n1,30\n";
  EXPECT_EQ(read(text).memory->value, 10);
  EXPECT_EQ(read(text, 1).memory->value, 30);
  EXPECT_EQ(read(text, 0).device, 0);
  const Error error = error_of(text, 7);
  EXPECT_EQ(error.code, ErrorCode::usage);
  EXPECT_THAT(error.message, HasSubstr("has no device 7; it has 2, 0, 1"));
}

TEST_F(MeasuredRoofsTest, BadFilesAreOneError) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "has no header line"},
      {"a,b\n1,2\n", "is not a table of measured ceilings"},
      {"device,Speed\n0,2\n", "is not a table of measured ceilings"},
      {"HBMBw,L2Bw\n1,2\n", "is not a table of measured ceilings"},
      {"device,HBMBw\n", "has a header line only"},
      {"device,HBMBw\n0,fast\n", "line 2, column HBMBw: \"fast\" is not a number"},
      {"device,HBMBw\n0,nan\n", "is not a number"},
      {"device,HBMBw\n0,inf\n", "is not a number"},
      {"device,HBMBw\n0,-3\n", "line 2, column HBMBw: \"-3\" is below 0"},
      {"device,HBMBw,HBMBwLow\n0,5,x\n", "column HBMBwLow: \"x\" is not a number"},
      {"device,HBMBw\nx,3\n", "\"x\" is not a device number"},
      {"device,HBMBw\n-1,3\n", "is not a device number"},
      {"device,HBMBw\n0,3\n0,4\n", "has two rows of device 0"},
      {"device,HBMBw\n0\n", "line 2 has 1 field, the header has 2"},
      {"device,HBMBw\n\n1,1.1e9\n0,1e9\n", "line 3, column HBMBw: \"1.1e9\" is more than any GPU"},
      {"device,L2BwHigh,L2Bw\n0,2e9,5\n", "line 2, column L2BwHigh: \"2e9\" is more than"},
      {"device,FP32Flops\n0,1.1e12\n", "column FP32Flops: \"1.1e12\" is more than any GPU"},
      {"device,HBMBw\n0,0.0009\n", "column HBMBw: \"0.0009\" is less than any GPU gives"},
      {"device,HBMBw\n0,\"f\na\"\n", "line 2, column HBMBw: \"f a\" is not a number"},
      {std::string("\x7f"
                   "ELF\0\1\n",
                   7),
       "holds a NUL byte"},
      {"\x7f\xff\n", "is not a table of measured ceilings"},
      {"device,HBMBw\n0,\"14", "is never closed"},
  };
  for (const auto& [text, message] : cases) {
    const Error error = error_of(text);
    EXPECT_EQ(error.code, ErrorCode::bad_input);
    EXPECT_THAT(error.message, HasSubstr(message)) << text;
    EXPECT_THAT(error.remedy, HasSubstr("rocprof-compute profile writes")) << text;
    EXPECT_EQ(error.message.find('\n'), std::string::npos);
  }
  EXPECT_FALSE(read_measured_roofs(folder_ / "not there").has_value());
}

TEST_F(MeasuredRoofsTest, TheLargestFiguresAreFigures) {
  const MeasuredRoofs roofs = read("device,HBMBw,FP32Flops,FP64Flops\n0,1e9,1e12,0.001\n");
  EXPECT_EQ(roofs.memory->value, 1e9);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::fp32), 1e12);
  EXPECT_EQ(value_of(roofs, Pipe::vector, Precision::fp64), 0.001);
}

TEST_F(MeasuredRoofsTest, RowsAreOfAtMost1024Devices) {
  std::string text = "device,HBMBw\n";
  for (int i = 0; i < 1024; ++i) text += std::to_string(i) + ",5\n";
  EXPECT_EQ(read(text, 1023).device, 1023);
  EXPECT_EQ(read(text).other_devices.size(), 1023U);
  EXPECT_THAT(error_of(text + "1024,5\n").message, HasSubstr("has rows of more than 1024 devices"));
}

}  // namespace
}  // namespace perflab::hal
