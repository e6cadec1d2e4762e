// code/cubin/cubin.h on written cubins of both layouts.
#include "code/cubin/cubin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/code_writer.h"
#include "support/cubin_writer.h"

namespace perflab::code {
namespace {

using test::WrittenCubin;
using test::WrittenCubinKernel;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

WrittenCubin full_cubin() {
  WrittenCubin spec;
  spec.kernels = {{.name = "_Z4tilePKfPfcd",
                   .registers = 14,
                   .shared_bytes = 4224,
                   .parameters = {{0, 8}, {8, 8}, {16, 1}, {24, 8}},
                   .max_threads = {{256, 1, 1}}},
                  {.name = "_Z6spillyPKdPd",
                   .registers = 32,
                   .frame_bytes = 2096,
                   .stack_bytes = 2112,
                   .spills = 1127,
                   .parameters = {{0, 8}, {8, 8}},
                   .required_threads = {{64, 2, 1}},
                   .cluster = {{2, 1, 1}},
                   .local = true},
                  {.name = "$_Z4tile$_Z6helperfi", .entry = false},
                  {.name = "_Z3big3BigPc", .parameters = {{0, 20000}, {20000, 8}}}};
  spec.variables = {{.name = "weights", .contents = std::string(256, 'w'), .constant = true},
                    {.name = "counter", .zeros = 4, .local = false},
                    {.name = "initialised", .contents = "abcdefgh"},
                    {.name = "shared_with_host", .contents = "four", .managed = true},
                    {.name = "$str", .contents = "%d\n"}};
  return spec;
}

TEST(Cubin, SaysOfKernelsWhatTheCompilerWrote) {
  const std::string bytes = test::write_cubin(full_cubin());
  ASSERT_TRUE(is_cubin(bytes));
  EXPECT_EQ(cubin_architecture(bytes), 90);
  const auto cubin = read_cubin(bytes, "made.cubin");
  ASSERT_TRUE(cubin.has_value()) << cubin.error().message;
  EXPECT_EQ(cubin->architecture, 90);
  EXPECT_EQ(cubin->abi_version, 8);
  ASSERT_EQ(cubin->kernels.size(), 3U);
  EXPECT_THAT(cubin->functions, ElementsAre("$_Z4tile$_Z6helperfi"));

  const CubinKernel& tile = cubin->kernels[0];
  EXPECT_EQ(tile.name, "_Z4tilePKfPfcd");
  EXPECT_THAT(tile.registers, Optional(14U));
  EXPECT_EQ(tile.shared_bytes, 4224U);
  EXPECT_THAT(tile.local_bytes(), Optional(0U));
  EXPECT_THAT(tile.spill_instructions, Optional(0U));
  EXPECT_THAT(tile.parameters, ElementsAre(CubinParameter{0, 0, 8}, CubinParameter{1, 8, 8},
                                           CubinParameter{2, 16, 1}, CubinParameter{3, 24, 8}));
  EXPECT_EQ(tile.parameter_bytes, 32U);
  EXPECT_EQ(tile.max_threads, (std::array<std::uint32_t, 3>{256, 1, 1}));
  EXPECT_FALSE(tile.required_threads);
  EXPECT_EQ(tile.code, std::string(128, '\x15'));

  const CubinKernel& spilly = cubin->kernels[1];
  EXPECT_THAT(spilly.frame_bytes, Optional(2096U));
  EXPECT_THAT(spilly.local_bytes(), Optional(2112U));
  EXPECT_THAT(spilly.spill_instructions, Optional(1127U));
  EXPECT_EQ(spilly.required_threads, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(spilly.cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(spilly.shared_bytes, 0U);

  EXPECT_THAT(cubin->kernels[2].parameters,
              ElementsAre(CubinParameter{0, 0, 20000}, CubinParameter{1, 20000, 8}));
}

TEST(Cubin, VariablesHaveTheirPlaceAndContents) {
  const std::string bytes = test::write_cubin(full_cubin());
  const auto cubin = read_cubin(bytes, "made.cubin");
  ASSERT_TRUE(cubin.has_value()) << cubin.error().message;
  ASSERT_EQ(cubin->variables.size(), 4U) << "the compiler's own text is none";
  EXPECT_EQ(cubin->variables[0].space, CubinSpace::constant);
  EXPECT_EQ(cubin->variables[0].contents, std::string(256, 'w'));
  EXPECT_EQ(cubin->variables[1].name, "counter");
  EXPECT_EQ(cubin->variables[1].size, 4U);
  EXPECT_EQ(cubin->variables[1].contents, "");
  EXPECT_EQ(cubin->variables[2].contents, "abcdefgh");
  EXPECT_EQ(cubin->variables[3].space, CubinSpace::managed);
}

TEST(Cubin, OlderLayoutsAreRead) {
  WrittenCubin spec = full_cubin();
  spec.architecture = 80;
  spec.abi_version = 7;
  spec.cuda_version = 124;
  const std::string bytes = test::write_cubin(spec);
  const auto cubin = read_cubin(bytes, "old.cubin");
  ASSERT_TRUE(cubin.has_value()) << cubin.error().message;
  EXPECT_EQ(cubin->architecture, 80);
  EXPECT_EQ(cubin_architecture(bytes), 80);
  EXPECT_THAT(cubin->kernels[0].registers, Optional(14U));
  EXPECT_EQ(cubin->kernels[0].shared_bytes, 4224U) << "nothing is reserved before sm_90";
  EXPECT_FALSE(cubin->kernels[0].spill_instructions)
      << "that none are listed says nothing about a compiler that lists none";
}

TEST(Cubin, SharedMemoryIsWithoutWhatTheSystemReserves) {
  WrittenCubin spec;
  spec.kernels = {{.name = "dynamic_only", .shared_section = true}, {.name = "none"}};
  const std::string bytes = test::write_cubin(spec);
  const auto cubin = read_cubin(bytes, "made.cubin");
  ASSERT_TRUE(cubin.has_value());
  EXPECT_EQ(cubin->kernels[0].shared_bytes, 0U);
  EXPECT_EQ(cubin->kernels[1].shared_bytes, 0U);
}

TEST(Cubin, WhatIsNoneIsRefusedByName) {
  const auto message_of = [](const std::string& bytes) {
    const auto cubin = read_cubin(bytes, "a file");
    EXPECT_FALSE(cubin.has_value());
    return cubin ? std::string() : cubin.error().message + " / " + cubin.error().remedy;
  };
  EXPECT_THAT(message_of("PTX"), HasSubstr("not an ELF file"));
  EXPECT_THAT(message_of(test::write_code_object(test::sample_code_object(1))),
              HasSubstr("for machine 224, not a cubin"));
  WrittenCubin spec = full_cubin();
  spec.type = 1;
  EXPECT_THAT(message_of(test::write_cubin(spec)), HasSubstr("not linked yet"));
  spec = full_cubin();
  spec.abi_version = 9;
  EXPECT_THAT(message_of(test::write_cubin(spec)), HasSubstr("ABI version 9"));
  EXPECT_EQ(cubin_architecture(test::write_cubin(spec)), std::nullopt);
  spec = full_cubin();
  spec.kernels.push_back(spec.kernels.front());
  EXPECT_THAT(message_of(test::write_cubin(spec)), HasSubstr("two kernels are named"));
}

TEST(Cubin, KernelsAreFoundWithoutTheirUnit) {
  WrittenCubin spec;
  spec.kernels = {{.name = "_ZN33_GLOBAL__N__643c1924_4_b_cu_table5innerEPi"}, {.name = "plain"}};
  const std::string bytes = test::write_cubin(spec);
  const auto cubin = read_cubin(bytes, "made.cubin");
  ASSERT_TRUE(cubin.has_value());
  EXPECT_EQ(kernel_named(*cubin, "_ZN37_GLOBAL__N__e2a86b8a_8_again_cu_table5innerEPi"),
            &cubin->kernels[0]);
  EXPECT_EQ(kernel_named(*cubin, "plain"), &cubin->kernels[1]);
  EXPECT_EQ(kernel_named(*cubin, "_ZN37_GLOBAL__N__e2a86b8a_8_again_cu_table5otherEPi"), nullptr);
}

}  // namespace
}  // namespace perflab::code
