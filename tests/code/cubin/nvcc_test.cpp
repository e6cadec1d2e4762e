// code/cubin/cubin.h against nvcc itself, where it is installed: what the reader says of cubins is
// what ptxas said when it made them (-Xptxas -v).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "base/system/files.h"
#include "base/system/subprocess.h"
#include "base/text/numbers.h"
#include "code/cubin/cubin.h"
#include "code/cubin/cubin_files.h"
#include "code/tools/temporary_folder.h"

namespace perflab::code {
namespace {

using testing::ElementsAre;
using testing::Optional;

/// The number in front of a word of a line.
std::optional<std::uint64_t> number_before(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::string_view digits = line.substr(begin, at - begin);
  return take_number<std::uint64_t>(digits);
}

/// What ptxas says of one kernel.
struct SaidByPtxas {
  std::uint64_t registers = 0, shared = 0, frame = 0, spilled = 0;
};

std::map<std::string, SaidByPtxas> read_ptxas(const std::string& text) {
  std::map<std::string, SaidByPtxas> out;
  std::string kernel;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view kEntry = "Compiling entry function '";
    if (const std::size_t at = line.find(kEntry); at != std::string::npos) {
      const std::string rest = line.substr(at + kEntry.size());
      kernel = rest.substr(0, rest.find('\''));
    }
    SaidByPtxas& said = out[kernel];
    if (const auto frame = number_before(line, " bytes stack frame")) {
      said.frame = *frame;
      said.spilled = number_before(line, " bytes spill stores").value_or(0) +
                     number_before(line, " bytes spill loads").value_or(0);
    }
    if (const auto registers = number_before(line, " registers")) {
      said.registers = *registers;
      said.shared = number_before(line, " bytes smem").value_or(0);
    }
  }
  out.erase("");
  return out;
}

class NvccFixture : public testing::Test {
 protected:
  void SetUp() override {
    nvcc_ = find_program("nvcc");
    if (!nvcc_) GTEST_SKIP() << "skipped: nvcc is not installed";
    auto folder = detail::TemporaryFolder::make();
    ASSERT_TRUE(folder.has_value());
    folder_.emplace(std::move(*folder));
  }

  /// Runs nvcc on kernels.cu; what it printed.
  std::string compile(std::vector<std::string> arguments, const std::string& out) {
    std::vector<std::string> command{nvcc_->string(),
                                     "-std=c++17",
                                     "-Xptxas",
                                     "-v",
                                     "-o",
                                     (*folder_ / out).string(),
                                     PERFLAB_SOURCE_DIR "/tests/code/cubin/kernels.cu"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    ProcessOptions options;
    options.standard_error = StreamMode::capture;
    options.standard_output = StreamMode::capture;
    const auto ended = run_program(command, options);
    EXPECT_TRUE(ended.has_value() && ended->succeeded());
    return ended ? ended->error.tail : "";
  }

  std::optional<std::filesystem::path> nvcc_;
  std::optional<detail::TemporaryFolder> folder_;
};

class NvccTest : public NvccFixture, public testing::WithParamInterface<int> {};

TEST_P(NvccTest, TheReaderSaysWhatPtxasSaid) {
  const std::string arch = fmt::format("-arch=sm_{}", GetParam());
  const auto said = read_ptxas(compile({"-cubin", arch}, "k.cubin"));
  ASSERT_EQ(said.size(), 5U);
  const auto bytes = read_file(*folder_ / "k.cubin");
  ASSERT_TRUE(bytes.has_value());
  const auto cubin = read_cubin(*bytes, "k.cubin");
  ASSERT_TRUE(cubin.has_value()) << cubin.error().message;
  EXPECT_EQ(cubin->architecture, GetParam());
  EXPECT_EQ(cubin->kernels.size(), said.size());
  for (const auto& [name, expected] : said) {
    const CubinKernel* const kernel = kernel_named(*cubin, name);
    ASSERT_NE(kernel, nullptr) << name;
    EXPECT_THAT(kernel->registers, Optional(expected.registers)) << name;
    EXPECT_EQ(kernel->shared_bytes, expected.shared) << name;
    EXPECT_THAT(kernel->frame_bytes, Optional(expected.frame)) << name;
    EXPECT_FALSE(kernel->code.empty());
    if (!kernel->spill_instructions) continue;  // before CUDA 13
    // An instruction moves 4 to 16 bytes.
    EXPECT_LE(*kernel->spill_instructions * 4, expected.spilled) << name;
    EXPECT_GE(*kernel->spill_instructions * 16, expected.spilled) << name;
  }
  EXPECT_GT(said.at("_Z8spillingPKdPd").spilled, 0U) << "else the test says little";

  EXPECT_THAT(kernel_named(*cubin, "axpy")->parameters,
              ElementsAre(CubinParameter{0, 0, 4}, CubinParameter{1, 8, 8},
                          CubinParameter{2, 16, 8}, CubinParameter{3, 24, 4}));
  EXPECT_EQ(kernel_named(*cubin, "axpy")->parameter_bytes, 28U);
  EXPECT_EQ(kernel_named(*cubin, "_Z4tilePKfPfcd")->max_threads,
            (std::array<std::uint32_t, 3>{256, 1, 1}));
  const CubinKernel* const large = kernel_named(*cubin, "_Z8by_value5LargePci");
  EXPECT_THAT(large->parameters, ElementsAre(CubinParameter{0, 0, 3000}, CubinParameter{1, 3000, 8},
                                             CubinParameter{2, 3008, 4}));
  std::map<std::string, std::pair<CubinSpace, std::uint64_t>> variables;
  for (const CubinVariable& one : cubin->variables) variables[one.name] = {one.space, one.size};
  EXPECT_THAT(variables,
              ElementsAre(testing::Pair("counter", std::pair(CubinSpace::global, 4U)),
                          testing::Pair("initialised", std::pair(CubinSpace::global, 12U)),
                          testing::Pair("weights", std::pair(CubinSpace::constant, 256U))));
}

TEST_F(NvccFixture, FatBinariesAndObjectsHoldTheSameCubin) {
  const std::string arch = "-arch=sm_90";
  compile({"-cubin", arch}, "k.cubin");
  compile({"-fatbin", arch, "--compress-mode=size"}, "k.fatbin");
  compile({"-fatbin", arch, "--compress-mode=speed", "-Xfatbin", "-compress-all"}, "lz4.fatbin");
  compile({"-fatbin", arch, "--no-compress"}, "plain.fatbin");
  compile({"-c", arch}, "k.o");
  const auto alone = open_cubins(*folder_ / "k.cubin");
  ASSERT_TRUE(alone.has_value());
  for (const char* name : {"k.fatbin", "lz4.fatbin", "plain.fatbin", "k.o"}) {
    const auto found = open_cubins(*folder_ / name);
    ASSERT_TRUE(found.has_value()) << found.error().message;
    ASSERT_EQ(found->cubins.size(), 1U) << name;
    const auto cubin = read_cubin(found->cubins[0].bytes, name);
    ASSERT_TRUE(cubin.has_value()) << cubin.error().message;
    EXPECT_EQ(kernel_named(*cubin, "axpy")->code,
              kernel_named(*read_cubin(alone->cubins[0].bytes, "k.cubin"), "axpy")->code);
  }
}

// Seen with 75, 86, 89 and 120, too; each costs seconds.
INSTANTIATE_TEST_SUITE_P(Archs, NvccTest, testing::Values(80, 90, 100));

}  // namespace
}  // namespace perflab::code
